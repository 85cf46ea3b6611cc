//! What speaks against a reimage or a replace, and what a preview says of them.

use expect_test::{Expect, expect};
use model::{
    Action, Ask, Connection, Delivery, Evacuate, Fault, FaultClass, Outage, Power, Preview, Provisioning, Role, RunStrategy, Safeguard,
    Span, StoragePolicy, Unhealthy, Verdict,
};

use super::stage::{REIMAGE, ask, ending, latest, reimage, site, succeeded, target, verdict};
use crate::desk;
use crate::rig::Rig;

const UNGUARDED: Action = Action::Reimage { safeguard: Safeguard::None };
const REPLACE: Action = Action::Replace { storage: StoragePolicy::Preserve, safeguard: Safeguard::All };

fn change(rig: &mut Rig, role: Role, change: impl FnOnce(&mut model::Machine)) {
    let mut machine = (*rig.desk.snapshot.machines[&target(role)]).clone();
    change(&mut machine);
    rig.desk.add(machine);
    rig.run_for(Span::seconds(1));
}

#[expect(clippy::needless_pass_by_value, reason = "a case reads best as what it comes to")]
fn refused(role: Role, action: Action, prepare: impl FnOnce(&mut Rig), expected: Expect) {
    let mut rig = site();
    prepare(&mut rig);
    let id = ask(&mut rig, &target(role), action);
    assert_eq!(rig.desk.snapshot.running_count(), 0);
    expected.assert_eq(&verdict(&rig, &id));
}

fn occupy(rig: &mut Rig) {
    let (now, host) = (rig.desk.now, target(Role::Compute));
    rig.lodging.add_vm("fw1", &host, RunStrategy::Always, None);
    rig.lodging.add_vm("fw2", &host, RunStrategy::Halted, None);
    rig.lodging.add_node("n1", "naks01", "pool1", &host, now);
    rig.lodging.add_pod("web-1", "naks01", "n1", Some("Deployment"));
    rig.run_for(Span::minutes(1));
}

#[test]
fn workloads_are_named() {
    refused(
        Role::Compute,
        REIMAGE,
        occupy,
        expect![[r#"
        `rack1compute01` cannot be reimaged: rule machine-has-workloads: node `n1` of tenant cluster `naks01` runs on it; virtual machine `fw1` runs on it
        remedy: empty it first: `rackwright bmm cordon rack1compute01 --evacuate`; or let the platform do it: `rackwright bmm reimage rack1compute01 --safeguard-mode None`"#]],
    );
}

#[test]
fn workloads_that_cannot_be_seen_are_not_taken_for_none() {
    let blind = |rig: &mut Rig| {
        occupy(rig);
        rig.lodging.watch_fault = Some(Fault::new(FaultClass::Denied, Delivery::No, "no right to list"));
        rig.run_for(Span::minutes(1));
    };
    refused(
        Role::Compute,
        REIMAGE,
        blind,
        expect![[r#"
        `rack1compute01` cannot be reimaged: rule machine-has-workloads: which virtual machines run on it is not known: nothing is heard of them
        remedy: empty it first: `rackwright bmm cordon rack1compute01 --evacuate`; or let the platform do it: `rackwright bmm reimage rack1compute01 --safeguard-mode None`"#]],
    );
}

#[test]
fn one_that_was_given_up_needs_a_replace() {
    let given_up = |rig: &mut Rig| {
        change(rig, Role::Compute, |machine| {
            machine.unhealthy = Some(Unhealthy { since: machine.created_at, because: "it did not come back".into() });
        });
    };
    refused(
        Role::Compute,
        UNGUARDED,
        given_up,
        expect![[r#"
        `rack1compute01` cannot be reimaged: rule machine-unhealthy: it was given up at 10:00:00Z: it did not come back
        remedy: repair it, then `rackwright bmm replace rack1compute01`: nothing else brings it back"#]],
    );
    refused(
        Role::Compute,
        Action::Uncordon,
        given_up,
        expect![[r#"
        `rack1compute01` cannot be uncordoned: rule machine-unhealthy: it was given up at 10:00:00Z: it did not come back
        remedy: repair it, then `rackwright bmm replace rack1compute01`: nothing else brings it back"#]],
    );
    refused(
        Role::Compute,
        Action::Restart,
        |rig: &mut Rig| {
            given_up(rig);
            change(rig, Role::Compute, |machine| machine.provisioning = Provisioning::Error);
        },
        expect![[r#"
        `rack1compute01` cannot be restarted: rule machine-provisioned: `rack1compute01` is Error: its installation failed, and it has no operating system to rely on
        remedy: repair it, then `rackwright bmm replace rack1compute01`: nothing else brings it back"#]],
    );
}

#[test]
fn a_healthy_machine_is_not_replaced() {
    refused(
        Role::Compute,
        REPLACE,
        |_| {},
        expect![[r#"
        `rack1compute01` cannot be replaced: rule machine-healthy: cannot replace healthy machine (powered on, ready, provisioned, joined to cluster). Use --safeguard-mode None to override
        remedy: nothing to repair; to replace it all the same: `rackwright bmm replace rack1compute01 --safeguard-mode None`"#]],
    );
}

/// The undercloud has fallen silent; it does not count as lost yet.
fn silent(rig: &mut Rig) {
    rig.undercloud_fault = Some(Fault::new(FaultClass::Unreachable, Delivery::No, "connection refused"));
    rig.run_for(Span::seconds(10));
    assert_eq!(rig.desk.snapshot.cluster.connection, Connection::Connected);
}

#[test]
fn a_machine_that_was_healthy_is_not_replaced_because_nobody_sees_it() {
    refused(
        Role::Compute,
        REPLACE,
        silent,
        expect![[r#"
            `rack1compute01` cannot be replaced: rule machine-healthy: whether `rack1compute01` is healthy cannot be told: the undercloud does not answer (unreachable: connection refused), and nothing was wrong with it when it was last seen
            remedy: ask again when it can be; to replace it all the same: `rackwright bmm replace rack1compute01 --safeguard-mode None`"#]],
    );
    let unseen = |rig: &mut Rig| {
        rig.device(&target(Role::Compute)).bmc_fault = Some(Fault::new(FaultClass::Unreachable, Delivery::No, "no route to host"));
        rig.desk.crash();
    };
    let mut rig = site();
    unseen(&mut rig);
    let act = Ask::Act { machine: target(Role::Compute), action: REPLACE, outage: Outage::Refused, replacement: None };
    let id = rig.desk.request("alice", act, None);
    let plan = rig.desk.plan();
    rig.desk.commit(&plan);
    expect![[r#"
        `rack1compute01` cannot be replaced: rule machine-healthy: whether `rack1compute01` is healthy cannot be told: its node has not been seen yet: the keeper has just started, and nothing was wrong with it when it was last seen
        remedy: ask again when it can be; to replace it all the same: `rackwright bmm replace rack1compute01 --safeguard-mode None`"#]].assert_eq(&verdict(&rig, &id));
}

#[test]
fn a_silent_bmc_does_not_make_a_machine_ill_whose_node_is_ready() {
    let silent_bmc = |rig: &mut Rig| {
        rig.device(&target(Role::Compute)).bmc_fault = Some(Fault::new(FaultClass::Unreachable, Delivery::No, "no route to host"));
        rig.die();
        rig.run_for(Span::seconds(5));
        assert_eq!(rig.desk.snapshot.observation(&target(Role::Compute)).power, None);
    };
    refused(
        Role::Compute,
        REPLACE,
        silent_bmc,
        expect![[r#"
            `rack1compute01` cannot be replaced: rule machine-healthy: cannot replace healthy machine (powered on, ready, provisioned, joined to cluster). Use --safeguard-mode None to override
            remedy: nothing to repair; to replace it all the same: `rackwright bmm replace rack1compute01 --safeguard-mode None`"#]],
    );
}

#[test]
fn a_machine_that_was_down_when_it_was_last_seen_can_be_replaced_while_nobody_sees_it() {
    let mut rig = site();
    rig.device(&target(Role::Compute)).node.as_mut().unwrap().ready = model::Readiness::Unknown;
    rig.run_for(Span::minutes(1));
    silent(&mut rig);
    let id = ask(&mut rig, &target(Role::Compute), REPLACE);
    assert_eq!(verdict(&rig, &id), "accepted");
}

#[test]
fn machines_that_could_not_reach_us_are_not_touched() {
    let on_loopback = |rig: &mut Rig| rig.desk.snapshot.install_url = Some("http://127.0.0.1:46229".into());
    refused(
        Role::Compute,
        REIMAGE,
        on_loopback,
        expect![[r#"
        `rack1compute01` cannot be reimaged: rule install-ready: machines would be told to call http://127.0.0.1:46229, which neither the machine nor its BMC (bmc) can reach
        remedy: start the server with an address that they reach: `rackwright serve --install-listen ADDRESS`"#]],
    );
    let without_cluster = |rig: &mut Rig| {
        let mut cluster = (*rig.desk.snapshot.cluster).clone();
        cluster.join = None;
        rig.desk.snapshot.cluster = std::sync::Arc::new(cluster);
    };
    refused(
        Role::Compute,
        REIMAGE,
        without_cluster,
        expect![[r#"
        `rack1compute01` cannot be reimaged: rule install-ready: how nodes join the undercloud of `site1` is not known
        remedy: name the undercloud's kubeconfig in the site file"#]],
    );
}

#[test]
fn a_firmware_job_stands_against_both_modes() {
    let busy = |rig: &mut Rig| rig.device(&target(Role::Compute)).board.busy_with_firmware();
    refused(
        Role::Compute,
        REIMAGE,
        busy,
        expect![[r#"
        `rack1compute01` cannot be reimaged: rule firmware-job: the BMC of `rack1compute01` has a firmware job in its queue: `Firmware Update: iDRAC` (50 %)
        remedy: wait until it has ended, or take it out of the BMC's queue"#]],
    );
    refused(
        Role::Compute,
        UNGUARDED,
        busy,
        expect![[r#"
        `rack1compute01` cannot be reimaged: rule firmware-job: the BMC of `rack1compute01` has a firmware job in its queue: `Firmware Update: iDRAC` (50 %)
        remedy: wait until it has ended, or take it out of the BMC's queue"#]],
    );
}

#[test]
fn the_runtime_must_be_known() {
    refused(
        Role::Compute,
        REIMAGE,
        |rig| rig.desk.snapshot.runtimes.clear(),
        expect![[r#"
        `rack1compute01` cannot be reimaged: rule runtime-exists: cluster `site1` runs 4.7.8; it knows none
        remedy: make it known: `rackwright runtime import FILE`"#]],
    );
}

#[test]
fn etcd_must_be_known() {
    let silent = |rig: &mut Rig| rig.etcd.fault = Some(Fault::new(FaultClass::Unreachable, Delivery::No, "connection refused"));
    refused(
        Role::ControlPlane,
        REIMAGE,
        silent,
        expect![[r#"
        `rack1control01` cannot be reimaged: rule etcd-known: etcd does not tell its members: unreachable: connection refused
        remedy: make sure that etcd can be reached, and that the site file says how; then ask again"#]],
    );
}

#[test]
fn a_member_is_not_wiped_while_another_is_down() {
    let one_down = |rig: &mut Rig| {
        let now = rig.desk.now;
        rig.device(&desk::name("rack2control01")).switch(Power::Off, now);
        rig.run_for(Span::minutes(2));
    };
    refused(
        Role::ControlPlane,
        UNGUARDED,
        one_down,
        expect![[r#"
        `rack1control01` cannot be reimaged: rule kcp-others-healthy: `rack2control01` is off since 10:01:00Z; etcd voters: 2 of 3 now, 1 of 3 after; quorum is 2
        remedy: bring the other control-plane machines back first: `rackwright status` names them"#]],
    );
}

#[test]
fn the_only_copy_of_etcd_is_not_wiped() {
    let mut rig = site();
    for other in ["rack2control01", "rack3control01"] {
        rig.devices.remove(&desk::name(other));
        rig.desk.snapshot.forget_machine(&desk::name(other));
    }
    rig.etcd.members.truncate(1);
    let ask = Ask::Act { machine: target(Role::ControlPlane), action: REIMAGE, outage: Outage::Accepted, replacement: None };
    let id = rig.desk.request("alice", ask, None);
    rig.run_for(Span::seconds(4));
    expect![[r#"
        `rack1control01` cannot be reimaged: rule kcp-sole-voter: `rack1control01` has the only copy of etcd's data, and its disk would be written anew; etcd voters: 1 of 1 now, 0 of 1 after; quorum is 1
        remedy: add a control-plane machine first"#]].assert_eq(&verdict(&rig, &id));
}

#[test]
fn the_spare_and_what_is_being_prepared_have_nothing_to_reimage() {
    let spare = |rig: &mut Rig| change(rig, Role::ControlPlane, |machine| machine.provisioning = Provisioning::Available);
    refused(
        Role::ControlPlane,
        REIMAGE,
        spare,
        expect![[r#"
        `rack1control01` cannot be reimaged: rule machine-provisioned: `rack1control01` is the spare control-plane machine: it has no operating system and no node
        remedy: nothing to do: the platform activates the spare when it is needed"#]],
    );
    let preparing = |rig: &mut Rig| change(rig, Role::Compute, |machine| machine.provisioning = Provisioning::Preparing);
    refused(
        Role::Compute,
        REIMAGE,
        preparing,
        expect![[r#"
        `rack1compute01` cannot be reimaged: rule machine-provisioned: `rack1compute01` is Preparing: it has no operating system to run
        remedy: wait until it is Provisioned"#]],
    );
}

#[test]
fn without_the_undercloud_nothing_is_installed() {
    let cut_off = |rig: &mut Rig| {
        rig.undercloud_fault = Some(Fault::new(FaultClass::Unreachable, Delivery::No, "connection refused"));
        rig.run_for(Span::minutes(3));
        assert_ne!(rig.desk.snapshot.cluster.connection, Connection::Connected);
    };
    refused(
        Role::Compute,
        UNGUARDED,
        cut_off,
        expect![[r#"
        `rack1compute01` cannot be reimaged: rule cluster-connected: the undercloud of `site1` is Timeout since 10:03:00Z (unreachable: connection refused)
        remedy: bring the undercloud back first; `start`, and `restart` of a control-plane machine that is not voting, are allowed meanwhile"#]],
    );
}

#[test]
fn a_verdict_waits_for_a_slow_bmc_but_not_for_ever() {
    let mut rig = site();
    rig.look_takes = Span::seconds(20);
    let act = Ask::Act { machine: target(Role::Compute), action: REIMAGE, outage: Outage::Refused, replacement: None };
    let id = rig.desk.request("alice", act, None);
    rig.run_for(Span::millis(2_900));
    assert_eq!(rig.desk.snapshot.requests[&id].verdict, None);
    rig.run_for(Span::millis(200));
    assert_eq!(verdict(&rig, &id), "accepted");
}

#[test]
fn without_the_safeguard_the_machine_is_emptied_and_what_ran_comes_back_on_uncordon() {
    let mut rig = site();
    occupy(&mut rig);
    let id = ask(&mut rig, &target(Role::Compute), UNGUARDED);
    assert_eq!(verdict(&rig, &id), "accepted");
    assert!(rig.run_until_idle(Span::hours(4)));
    assert!(succeeded(&latest(&rig)), "{}", ending(&latest(&rig)));
    returns_on_uncordon(&mut rig);
}

#[test]
fn what_was_emptied_before_comes_back_after_the_reimage() {
    let mut rig = site();
    occupy(&mut rig);
    ask(&mut rig, &target(Role::Compute), Action::Cordon { evacuate: Evacuate::Yes });
    assert!(rig.run_until_idle(Span::hours(1)));
    let machine = |rig: &Rig| rig.desk.snapshot.machines[&target(Role::Compute)].clone();
    let (memory, baseline) = (machine(&rig).evacuated.clone(), machine(&rig).baseline.clone());
    rig.run_for(Span::minutes(1));
    assert!(succeeded(&reimage(&mut rig, Role::Compute)));
    let names =
        |memory: &Option<model::Evacuated>| memory.as_ref().map(|memory| memory.vms.iter().map(|vm| vm.vm.clone()).collect::<Vec<_>>());
    assert_eq!(names(&machine(&rig).evacuated), names(&memory));
    assert_eq!(machine(&rig).baseline, baseline, "how it was before it was emptied is what people want back");
    assert_eq!(baseline.unwrap().vms.len(), 2);
    returns_on_uncordon(&mut rig);
}

fn returns_on_uncordon(rig: &mut Rig) {
    rig.run_for(Span::minutes(10));
    let runs =
        |rig: &Rig| rig.lodging.vms.values().filter(|vm| vm.seen.instance.is_some()).map(|vm| vm.seen.name.to_string()).collect::<Vec<_>>();
    assert_eq!(runs(rig), Vec::<String>::new(), "nothing comes back by itself");
    let id = ask(rig, &target(Role::Compute), Action::Uncordon);
    assert_eq!(verdict(rig, &id), "accepted");
    assert!(rig.run_until_idle(Span::hours(1)));
    rig.run_for(Span::minutes(5));
    assert_eq!(runs(rig), ["fw1", "n1"]);
    let machine = &rig.desk.snapshot.machines[&target(Role::Compute)];
    assert_eq!((machine.holds.len(), machine.evacuated.is_some()), (0, false));
    assert!(!rig.lodging.nodes["n1"].is_unschedulable);
}

fn preview(rig: &mut Rig, role: Role, action: Action) -> Preview {
    let id = rig.desk.request("alice", Ask::Preview { machine: target(role), action, outage: Outage::Refused, replacement: None }, None);
    rig.run_for(Span::seconds(4));
    match rig.desk.snapshot.requests[&id].verdict.clone().expect("a verdict") {
        Verdict::Previewed { preview } => *preview,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_preview_tells_what_stops_what_stands_against_it_and_how_long_it_takes() {
    let mut rig = site();
    occupy(&mut rig);
    let guarded = preview(&mut rig, Role::Compute, REIMAGE);
    assert_eq!(guarded.refusal.map(|refusal| refusal.rule.name()), Some("machine-has-workloads"));
    let unguarded = preview(&mut rig, Role::Compute, UNGUARDED);
    assert_eq!(unguarded.refusal, None);
    assert_eq!(unguarded.vms.iter().filter(|vm| vm.outcome == model::VmOutcome::Stopped).count(), 2);
    let of_member = preview(&mut rig, Role::ControlPlane, REIMAGE);
    assert_eq!((of_member.refusal, of_member.unknowns), (None, Vec::new()));
    let quorum = of_member.quorum.unwrap();
    assert_eq!((quorum.members, quorum.needed, quorum.voting_before, quorum.voting_after), (3, 2, 3, 2));
    expect!["47m 30s of at most 3h 00m: assumed: no such reimage has ended here yet"]
        .assert_eq(&format!("{} of at most {}: {}", of_member.duration.expected, of_member.duration.at_most, of_member.duration.basis));
    rig.device(&target(Role::ControlPlane)).board.busy_with_firmware();
    rig.run_for(Span::minutes(1));
    let busy = preview(&mut rig, Role::ControlPlane, REIMAGE);
    assert_eq!(busy.refusal.map(|refusal| refusal.rule.name()), Some("firmware-job"));
}
