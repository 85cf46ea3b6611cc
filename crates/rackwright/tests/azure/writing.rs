//! What `az` writes and asks for, and what it makes of a no.

use expect_test::{Expect, expect};

use crate::house::{House, SUBSCRIPTION};

fn id(kind: &str, name: &str) -> String {
    format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/site1/providers/Microsoft.NetworkCloud/{kind}/{name}")
}

fn check(house: &House, line: &str, expected: &Expect) {
    expected.assert_eq(&house.az_line(line).normalised());
}

#[test]
fn az_writes_tags_and_is_told_what_cannot_be_written() {
    let house = House::open();
    let (machine, vm) = (id("bareMetalMachines", "rack1compute01"), id("virtualMachines", "firewallvnf"));
    // One sends the whole resource back, the others only what is named.
    check(
        &house,
        &format!("resource update --ids {machine} --set tags.row=7 --query tags.row -o tsv"),
        &expect![[r#"
        7
    "#]],
    );
    let patch = r#"--is-full-object --properties '{"tags":{"row":"9"}}'"#;
    check(
        &house,
        &format!("resource patch --ids {machine} {patch} --query tags.row -o tsv"),
        &expect![[r#"
        9
    "#]],
    );
    check(
        &house,
        &format!("resource tag --ids {machine} --tags row=8 --query tags.row -o tsv"),
        &expect![[r#"
        8
    "#]],
    );
    // Made past us: what nobody knows of it is not told, and need not be sent back.
    check(
        &house,
        &format!("resource update --ids {vm} --set tags.a=b --query tags.a -o tsv"),
        &expect![[r#"
        b
    "#]],
    );
    check(
        &house,
        &format!("resource update --ids {machine} --set properties.rackSlot=99"),
        &expect![[r#"
        (exit code 1)
        ERROR: (PropertyChangeNotAllowed) `properties.rackSlot` cannot be changed here: it is 3, and comes from the site file
        Code: PropertyChangeNotAllowed
        Message: `properties.rackSlot` cannot be changed here: it is 3, and comes from the site file
        Target: properties.rackSlot
    "#]],
    );
    check(
        &house,
        &format!("resource delete --ids {machine}"),
        &expect![[r#"
        (exit code 1)
        ERROR: Some resources failed to be deleted (run with `--verbose` for more information):
        /subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/site1/providers/Microsoft.NetworkCloud/bareMetalMachines/rack1compute01
    "#]],
    );
    check(&house, &format!("resource delete --ids {}", id("virtualMachines", "gone")), &expect![[""]]);
    check(
        &house,
        &format!("resource show --ids {}", id("bareMetalMachines", "nobody")),
        &expect![[r#"
        (exit code 3)
        ERROR: (ResourceNotFound) there is no bare-metal machine `nobody`
        Code: ResourceNotFound
        Message: there is no bare-metal machine `nobody`
        Target: nobody
    "#]],
    );
}

#[test]
fn az_waits_for_what_it_asks_for_and_fails_with_it() {
    let house = House::open();
    let machine = id("bareMetalMachines", "rack1compute01");
    let act =
        |verb: &str, machine: &str, more: &str| house.az_line(&format!("resource invoke-action --action {verb} --ids {machine} {more}"));
    let cordon = format!("resource show --ids {machine} --query properties.cordonStatus -o tsv");
    act("cordon", &machine, "--request-body '{\"evacuate\":\"True\"}'").fine();
    check(
        &house,
        &cordon,
        &expect![[r#"
        Cordoned
    "#]],
    );
    act("uncordon", &machine, "").fine();
    check(
        &house,
        &cordon,
        &expect![[r#"
        Uncordoned
    "#]],
    );
    // Refused at once.
    let refused = act("start", &id("bareMetalMachines", "rack4control01"), "");
    expect![[r#"
        (exit code 1)
        ERROR: (MachineProvisioned) `rack4control01` cannot be started: `rack4control01` is the spare control-plane machine: it has no operating system and no node
        Code: MachineProvisioned
        Message: `rack4control01` cannot be started: `rack4control01` is the spare control-plane machine: it has no operating system and no node
        Target: machine-provisioned
        Exception Details:	(Evidence) `rack4control01` is the spare control-plane machine: it has no operating system and no node
        	Code: Evidence
        	Message: `rack4control01` is the spare control-plane machine: it has no operating system and no node	(Remedy) nothing to do: the platform activates the spare when it is needed
        	Code: Remedy
        	Message: nothing to do: the platform activates the spare when it is needed
    "#]].assert_eq(&refused.normalised());
    // Accepted, and failed in the end.
    house.rackwright("sim fault add memory-missing rack3compute01").fine();
    let broken = id("bareMetalMachines", "rack3compute01");
    let failed = act("replace", &broken, "--request-body '{\"safeguardMode\":\"None\"}'");
    assert_eq!(failed.code, 1, "{}{}", failed.out, failed.err);
    assert!(failed.err.contains("(ValidationFailed) replace failed: System test(s) failed: [memory_capacity_GB]"), "{}", failed.err);
    // What is asked for without waiting goes on by itself.
    act("restart", &machine, "--no-wait").fine();
    let over = "properties.actionStates[0].status=='Completed'";
    house.az(&["resource", "wait", "--ids", &machine, "--interval", "1", "--timeout", "120", "--custom", over]).fine();
    let asked = "[?caller=='administrator' && status.value!='Started'].[operationName.value, status.value]";
    let log = house.az(&["monitor", "activity-log", "list", "--max-events", "1000", "--query", asked, "-o", "tsv"]);
    expect![[r#"
        Microsoft.NetworkCloud/bareMetalMachines/restart/action	Succeeded
        Microsoft.NetworkCloud/bareMetalMachines/restart/action	Accepted
        Microsoft.NetworkCloud/bareMetalMachines/replace/action	Failed
        Microsoft.NetworkCloud/bareMetalMachines/replace/action	Accepted
        Microsoft.NetworkCloud/bareMetalMachines/start/action	Failed
        Microsoft.NetworkCloud/bareMetalMachines/uncordon/action	Succeeded
        Microsoft.NetworkCloud/bareMetalMachines/uncordon/action	Accepted
        Microsoft.NetworkCloud/bareMetalMachines/cordon/action	Succeeded
        Microsoft.NetworkCloud/bareMetalMachines/holds/write	Succeeded
        Microsoft.NetworkCloud/bareMetalMachines/cordon/action	Accepted
        Microsoft.NetworkCloud/clusters/write	Succeeded
        Microsoft.NetworkCloud/clusters/write	Succeeded
        Microsoft.NetworkCloud/clusters/write	Succeeded
        Microsoft.NetworkCloud/clusters/write	Succeeded
    "#]]
    .assert_eq(&log.normalised());
}

/// A restart takes minutes of a machine's time, which is ours here.
#[test]
fn az_returns_at_once_where_it_is_told_not_to_wait() {
    let house = House::open_at("1");
    let machine = id("bareMetalMachines", "rack1compute01");
    let begun = house.az_line(&format!("resource invoke-action --action restart --ids {machine} --no-wait"));
    assert_eq!(begun.fine(), "", "there is nothing to tell yet");
    check(
        &house,
        &format!("resource show --ids {machine} --query properties.actionStates[0].[actionType,status] -o tsv"),
        &expect![[r#"
        Microsoft.NetworkCloud/bareMetalMachines/restart/action
        InProgress
    "#]],
    );
}

#[test]
fn az_makes_locks_that_hold_and_removes_them() {
    let house = House::open();
    let vm = id("virtualMachines", "router");
    let of_machine = "--resource rack1compute01 --resource-type Microsoft.NetworkCloud/bareMetalMachines -g site1";
    check(
        &house,
        "lock create -n keep -g site1 --lock-type CanNotDelete --notes 'somebody works here' -o table",
        &expect![[r#"
        Level         Name    Notes                ResourceGroup
        ------------  ------  -------------------  ---------------
        CanNotDelete  keep    somebody works here  site1
    "#]],
    );
    check(
        &house,
        &format!("lock create -n still {of_machine} --lock-type ReadOnly -o table"),
        &expect![[r#"
        Level     Name    ResourceGroup
        --------  ------  ---------------
        ReadOnly  still   site1
    "#]],
    );
    check(
        &house,
        "lock list -g site1 --query 'sort_by([].{name:name, level:level, notes:notes}, &name)' -o table",
        &expect![[r#"
        Name    Level         Notes
        ------  ------------  -------------------
        keep    CanNotDelete  somebody works here
        still   ReadOnly
    "#]],
    );
    // Asked for with two slashes in a row.
    check(
        &house,
        &format!("lock list {of_machine} --query [].name -o tsv"),
        &expect![[r#"
        still
    "#]],
    );
    check(
        &house,
        &format!("rest --method delete --url {vm}?api-version=2026-07-01"),
        &expect![[r#"
        (exit code 1)
        ERROR: Conflict({"error":{"code":"ScopeLocked","message":"The scope '/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/site1/providers/Microsoft.NetworkCloud/virtualMachines/router' cannot perform delete operation because following scope(s) are locked: '/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/site1', by the CanNotDelete lock `keep`. Please remove the lock and try again.","target":"/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/site1"}})
    "#]],
    );
    let machine = id("bareMetalMachines", "rack1compute01");
    check(
        &house,
        &format!("resource invoke-action --action restart --ids {machine}"),
        &expect![[r#"
        (exit code 1)
        ERROR: (ScopeLocked) The scope '/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/site1/providers/Microsoft.NetworkCloud/bareMetalMachines/rack1compute01' cannot perform action operation because following scope(s) are locked: '/subscriptions/00000000-0000-4000-8000-000000000001/resourcegroups/site1/providers/Microsoft.NetworkCloud/bareMetalMachines/rack1compute01', by the ReadOnly lock `still`. Please remove the lock and try again.
        Code: ScopeLocked
        Message: The scope '/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/site1/providers/Microsoft.NetworkCloud/bareMetalMachines/rack1compute01' cannot perform action operation because following scope(s) are locked: '/subscriptions/00000000-0000-4000-8000-000000000001/resourcegroups/site1/providers/Microsoft.NetworkCloud/bareMetalMachines/rack1compute01', by the ReadOnly lock `still`. Please remove the lock and try again.
        Target: /subscriptions/00000000-0000-4000-8000-000000000001/resourcegroups/site1/providers/Microsoft.NetworkCloud/bareMetalMachines/rack1compute01
    "#]],
    );
    check(&house, &format!("lock delete -n still {of_machine}"), &expect![[""]]);
    check(&house, "lock delete -n keep -g site1", &expect![[""]]);
    check(&house, "lock list -o tsv", &expect![[""]]);
    check(&house, "provider register -n Microsoft.NetworkCloud --query registrationState -o tsv", &expect![[""]]);
}
