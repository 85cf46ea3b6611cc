//! What speaks against acting on a virtual machine or a tenant's node.

use expect_test::expect;
use model::{Action, Ask, Conditions};

use super::rig::Rig;
use super::script::{check, vm_name};

#[test]
fn what_is_not_there_and_what_is_no_virtual_machine_of_its_own() {
    check(
        "
        machine rack1compute01
        node naks-01-agentpool1-a of naks-01 agentpool1 on rack1compute01
        > alice start fw
        > alice update fw tag:row=7
        > alice power-off naks-01-agentpool1-a
        > alice create naks-01-agentpool1-a
        > alice restart-node naks-02 naks-01-agentpool1-a
        > alice restart-node naks-01 nobody
        > naks-01-agentpool1-a vanishes
        > alice restart-node naks-01 naks-01-agentpool1-a
        ",
        expect![[r#"
            10:00:00 > alice start fw
                     refused: there is no virtual machine `fw`
                       rule vm-exists: none of the 0 virtual machines of cluster `site1` has that name
                       remedy: `rackwright vm list` names them
            10:00:00 > alice update fw tag:row=7
                     refused: there is no virtual machine `fw`
                       rule vm-exists: none of the 0 virtual machines of cluster `site1` has that name
                       remedy: `rackwright vm list` names them
            10:00:00 > alice power-off naks-01-agentpool1-a
                     refused: `naks-01-agentpool1-a` is no virtual machine of its own
                       rule vm-node-of-tenant: `naks-01-agentpool1-a` is a node of the tenant cluster `naks-01`
                       remedy: `rackwright kubernetescluster restart-node naks-01 --node-name naks-01-agentpool1-a` restarts it; for a new virtual machine choose another name
            10:00:00 > alice create naks-01-agentpool1-a
                     refused: `naks-01-agentpool1-a` is no virtual machine of its own
                       rule vm-node-of-tenant: `naks-01-agentpool1-a` is a node of the tenant cluster `naks-01`
                       remedy: `rackwright kubernetescluster restart-node naks-01 --node-name naks-01-agentpool1-a` restarts it; for a new virtual machine choose another name
            10:00:00 > alice restart-node naks-02 naks-01-agentpool1-a
                     refused: there is no tenant cluster `naks-02`
                       rule tenant-cluster-exists: none of the 1 tenant clusters of cluster `site1` has that name
                       remedy: `rackwright kubernetescluster list` names them
            10:00:00 > alice restart-node naks-01 nobody
                     refused: `naks-01` has no node `nobody` that could be restarted
                       rule tenant-node-exists: none of the 1 nodes of `naks-01` has that name
                       remedy: `rackwright kubernetescluster show naks-01` names its nodes
            10:00:00 > naks-01-agentpool1-a vanishes
            10:00:00 > alice restart-node naks-01 naks-01-agentpool1-a
                     refused: `naks-01` has no node `naks-01-agentpool1-a` that could be restarted
                       rule tenant-node-exists: the undercloud has no virtual machine `naks-01-agentpool1-a`
                       remedy: `rackwright kubernetescluster show naks-01` names its nodes
        "#]],
    );
}

#[test]
fn one_action_at_a_time_and_none_while_it_is_being_made() {
    check(
        "
        machine rack1compute01
        vm db running rack1compute01
        node naks-01-agentpool1-a of naks-01 agentpool1 on rack1compute01
        > alice restart db key=k
        > bob power-off db
        > alice restart db key=k
        > alice create fw
        > bob restart fw
        > bob delete fw
        > alice restart-node naks-01 naks-01-agentpool1-a
        > bob restart-node naks-01 naks-01-agentpool1-a
        ",
        expect![[r#"
            10:00:00 > alice restart db key=k
                     accepted as op1
                     op1: asks for the shutdown of `db`
                     op1 waits for 1 virtual machine to stop: db since 10:00:00
                     db: Succeeded, stopping on rack1compute01, edition 1
            10:00:00 > bob power-off db
                     refused: `db` cannot be powered off
                       rule one-action-per-vm: `db` is being restarted since 10:00:00Z (operation op1)
                       remedy: wait with `rackwright operation wait op1`, or stop it with `rackwright operation cancel op1`
            10:00:00 > alice restart db key=k
                     accepted as op1
            10:00:00 > alice create fw
                     accepted as op4
                     op4: asks for the creation of `fw`
                     op4 waits for the effect of the creation of `fw` since 10:00:00
                     fw: Provisioning, unseen, edition 1
                     op4: Create seen
                     op4 waits for `fw` to be running since 10:00:00
                     fw: Provisioning, starting, edition 1
            10:00:00 > bob restart fw
                     refused: `fw` cannot be restarted
                       rule vm-provisioning: `fw` is still being provisioned
                       remedy: wait until `rackwright vm show fw` says Succeeded
            10:00:00 > bob delete fw
                     refused: `fw` cannot be deleted
                       rule one-action-per-vm: `fw` is being created since 10:00:00Z (operation op4)
                       remedy: wait with `rackwright operation wait op4`, or stop it with `rackwright operation cancel op4`
            10:00:00 > alice restart-node naks-01 naks-01-agentpool1-a
                     accepted as op7
                     op7: asks for the forced stop of `naks-01-agentpool1-a`
                     op7 waits for 1 virtual machine to stop: naks-01-agentpool1-a since 10:00:00
            10:00:00 > bob restart-node naks-01 naks-01-agentpool1-a
                     refused: `naks-01-agentpool1-a` cannot be restarted
                       rule one-action-per-vm: `naks-01-agentpool1-a` is being restarted since 10:00:00Z (operation op7)
                       remedy: wait with `rackwright operation wait op7`, or stop it with `rackwright operation cancel op7`
        "#]],
    );
}

#[test]
fn nothing_begins_through_an_undercloud_that_is_not_heard() {
    check(
        "
        machine rack1compute01
        vm fw stopped rack1compute01
        > undercloud silent
        > wait 3m
        > alice start fw
        > alice create db
        > alice update fw tag:row=7
        ",
        expect![[r#"
            10:00:00 > undercloud silent
            10:00:00 > wait 3m
            10:03:00 > alice start fw
                     refused: `fw` cannot be started
                       rule cluster-connected: the undercloud of `site1` is Timeout since 10:02:00Z (unreachable: as the story says)
                       remedy: bring the undercloud back first: `rackwright status` tells since when it does not answer
            10:03:00 > alice create db
                     refused: `db` cannot be created
                       rule cluster-connected: the undercloud of `site1` is Timeout since 10:02:00Z (unreachable: as the story says)
                       remedy: bring the undercloud back first: `rackwright status` tells since when it does not answer
            10:03:00 > alice update fw tag:row=7
                     done
                     fw: Succeeded, stopped, edition 2, tags {"row": "7"}
        "#]],
    );
}

#[test]
fn what_a_machine_is_emptied_of_is_left_to_that_operation() {
    let (mut rig, _) = super::script::play(
        "
        machine rack1compute01
        vm fw running rack1compute01
        ",
    );
    let restart = Ask::Act {
        machine: crate::desk::name("rack1compute01"),
        action: Action::Restart,
        outage: model::Outage::Refused,
        replacement: None,
    };
    rig.request("bob", restart, None);
    let id = rig.request("alice", Ask::ActOnVm { vm: vm_name("fw"), action: Action::Restart, conditions: Conditions::default() }, None);
    rig.work(&mut |_, _, _, _| {});
    let Some(model::Verdict::Refused { refusal }) = &rig.snapshot.requests[&id].verdict else { panic!("it is refused") };
    expect!["`fw` cannot be restarted: rule held-by-operation: `rack1compute01` is being restarted since 10:00:00Z (operation op1), and what runs there with it"].assert_eq(&refusal.to_string());
}

#[test]
fn an_action_that_virtual_machines_do_not_know_is_refused() {
    let (mut rig, _) = super::script::play("machine rack1compute01\nvm fw running rack1compute01");
    let id = rig.request("alice", Ask::ActOnVm { vm: vm_name("fw"), action: Action::Uncordon, conditions: Conditions::default() }, None);
    rig.work(&mut |_, _, _, _| {});
    let Some(model::Verdict::Refused { refusal }) = &rig.snapshot.requests[&id].verdict else { panic!("it is refused") };
    expect!["`fw` cannot be uncordoned: rule action-known: the keeper of its cluster knows no uncordon of a virtual machine"]
        .assert_eq(&refusal.to_string());
}

#[test]
fn a_cluster_takes_so_many_operations_and_no_more() {
    let mut rig = Rig::new();
    rig.add_machine("rack1compute01");
    rig.see_machine("rack1compute01", true);
    for n in 0..=plan::MAX_RUNNING_OPERATIONS {
        rig.kubevirt.add(&format!("vm{n}"), "rack1compute01", false, None);
    }
    rig.look();
    let everything = plan::plan(&rig.snapshot, &plan::Visit::All, rig.now);
    rig.snapshot = plan::invariants::apply(&rig.snapshot, &everything);
    let ask = |n: usize| Ask::ActOnVm { vm: vm_name(&format!("vm{n}")), action: Action::Start, conditions: Conditions::default() };
    let ids: Vec<_> = (0..=plan::MAX_RUNNING_OPERATIONS).map(|n| rig.request("alice", ask(n), None)).collect();
    let judged = plan::plan(&rig.snapshot, &plan::Visit::All, rig.now).changes.requests;
    let refused = ids.iter().filter_map(|id| match &judged[id].verdict {
        Some(model::Verdict::Refused { refusal }) => Some(refusal.to_string()),
        _ => None,
    });
    let refused = refused.collect::<Vec<_>>();
    assert_eq!(refused.len(), 1);
    assert!(refused[0].contains("rule queue-full: 4096 operations are running in this cluster"), "{}", refused[0]);
}

#[test]
fn nothing_begins_while_nothing_is_heard_of_virtual_machines() {
    let (mut rig, _) = super::script::play("machine rack1compute01\nvm fw stopped rack1compute01");
    let denied = model::Fault::new(model::FaultClass::Denied, model::Delivery::No, "virtualmachines is forbidden");
    rig.snapshot.tenants.contact.failed(rig.now, denied);
    let id = rig.request("alice", Ask::ActOnVm { vm: vm_name("fw"), action: Action::Start, conditions: Conditions::default() }, None);
    rig.work(&mut |_, _, _, _| {});
    let Some(model::Verdict::Refused { refusal }) = &rig.snapshot.requests[&id].verdict else { panic!("it is refused") };
    expect!["`fw` cannot be started: rule cluster-connected: nothing is heard of the virtual machines of `site1` since 10:00:00Z (denied: virtualmachines is forbidden)"].assert_eq(&refusal.to_string());
    let cluster = &rig.snapshot.cluster;
    assert_eq!(cluster.connection, model::Connection::Connected, "its nodes are heard of");
    let waits: Vec<String> = cluster.waits.iter().map(|wait| format!("{} until {}", wait.kind, wait.ends_when())).collect();
    expect!["the undercloud's API for workloads (denied: virtualmachines is forbidden) until the undercloud's API for workloads accepts our credentials, which a person must mend; it is tried again at least every 1m 00s"].assert_eq(&waits.join("\n"));
}
