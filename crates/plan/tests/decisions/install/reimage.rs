//! Installations that go well, by role and by way.

use expect_test::{Expect, expect};
use model::{BootWay, DeviceAsk, Fact, MachineReport, Operation, Role, RunStrategy, Span};

use super::stage::{REIMAGE, ask, bundle, ending, latest, left, reimage, site, succeeded, target, verdict};
use crate::rig::board::{Agent, Disk};

/// What was asked and seen, in its order.
fn told(operation: &Operation) -> String {
    let lines = operation.journal.iter().filter_map(|entry| match &entry.fact {
        Fact::Asked { ask, attempt: 1 } => Some(format!("  {ask}\n")),
        Fact::Asked { ask, attempt } => Some(format!("  {ask}, attempt {attempt}\n")),
        Fact::Seen { step } => Some(format!("{}\n", step.title())),
        Fact::Skipped { step, reason } => Some(format!("{} left out: {reason}\n", step.title())),
        Fact::Reported { report, .. } => Some(format!("  told: {}\n", words(report))),
        Fact::Installing { round, way, .. } => Some(format!("  attempt {round} by {way}\n")),
        Fact::LeavingEtcd { member } => Some(format!("  member {} is to go\n", member.id)),
        Fact::Faulted { ask, fault, .. } => Some(format!("  {ask} was answered: {fault}\n")),
        _ => None,
    });
    lines.collect()
}

fn words(report: &MachineReport) -> String {
    match report {
        MachineReport::Written { digest } => format!("written, {}", digest.short()),
        other => format!("{other:?}"),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a case reads best as what it comes to")]
fn check(role: Role, expected: Expect) {
    let mut rig = site();
    let operation = reimage(&mut rig, role);
    rig.run_for(Span::minutes(10));
    expected.assert_eq(&format!("{}{}{}", told(&operation), ending(&operation), left(&rig, &target(role))));
}

#[test]
fn a_compute_machine_is_reimaged() {
    check(
        Role::Compute,
        expect![[r#"
        Survey
          cordon
        Cordon
        Leave etcd left out: the machine has no member of etcd
          graceful shutdown
        Power Off
          attempt 1 by virtual media
          insertion of the agent's image
        Insert Media
          boot from virtual media
        Boot Agent
          power-on for the agent
        Agent On
          told: Exchange
          told: Progress { percent: 10 }
          told: Progress { percent: 20 }
          told: Progress { percent: 30 }
          told: Progress { percent: 40 }
          told: Progress { percent: 50 }
          told: Progress { percent: 60 }
          told: Progress { percent: 70 }
          told: Progress { percent: 80 }
          told: Progress { percent: 90 }
          told: Progress { percent: 100 }
          told: written, abababababab
        Write Image
          power-off after the agent
        Agent Off
          ejection of the agent's image
        Eject Media
          boot from disk
        Boot Disk
        Join etcd left out: the machine has no member of etcd
          join token
        Mint Join Token
          power-on of the new system
        System On
          told: PhonedHome
        Phone Home
        Rejoin
        Promote in etcd left out: the machine has no member of etcd
          removal of the join token
        Drop Join Token
        Succeeded: `rack1compute01` was reimaged with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01
        next: rackwright bmm uncordon rack1compute01
        Provisioned; installed 4.7.8; held by installation by alice, operation op1 (reimaged; to be uncordoned by a person); waits for 
    "#]],
    );
}

#[test]
fn a_control_plane_machine_leaves_etcd_and_comes_back_as_a_voter() {
    check(
        Role::ControlPlane,
        expect![[r#"
        Survey
          cordon
        Cordon
          member a1 is to go
          removal from etcd
        Leave etcd
          graceful shutdown
        Power Off
          attempt 1 by virtual media
          insertion of the agent's image
        Insert Media
          boot from virtual media
        Boot Agent
          power-on for the agent
        Agent On
          told: Exchange
          told: Progress { percent: 10 }
          told: Progress { percent: 20 }
          told: Progress { percent: 30 }
          told: Progress { percent: 40 }
          told: Progress { percent: 50 }
          told: Progress { percent: 60 }
          told: Progress { percent: 70 }
          told: Progress { percent: 80 }
          told: Progress { percent: 90 }
          told: Progress { percent: 100 }
          told: written, abababababab
        Write Image
          power-off after the agent
        Agent Off
          ejection of the agent's image
        Eject Media
          boot from disk
        Boot Disk
          addition to etcd
        Join etcd
          join token
        Mint Join Token
          power-on of the new system
        System On
          told: PhonedHome
        Phone Home
        Rejoin
          promotion in etcd
          promotion in etcd was answered: busy: etcdserver: can only promote a learner member which is in sync with leader
          promotion in etcd, attempt 2
          promotion in etcd was answered: busy: etcdserver: can only promote a learner member which is in sync with leader
          promotion in etcd, attempt 3
          promotion in etcd was answered: busy: etcdserver: can only promote a learner member which is in sync with leader
          promotion in etcd, attempt 4
          promotion in etcd was answered: busy: etcdserver: can only promote a learner member which is in sync with leader
          promotion in etcd, attempt 5
          promotion in etcd was answered: busy: etcdserver: can only promote a learner member which is in sync with leader
          promotion in etcd, attempt 6
        Promote in etcd
          removal of the join token
        Drop Join Token
        Succeeded: `rack1control01` was reimaged with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1control01
        next: rackwright bmm uncordon rack1control01
        Provisioned; installed 4.7.8; held by installation by alice, operation op1 (reimaged; to be uncordoned by a person); waits for 
    "#]],
    );
}

#[test]
fn a_management_machine_is_reimaged_as_a_compute_machine_is() {
    let mut rig = site();
    let operation = reimage(&mut rig, Role::Management);
    assert!(succeeded(&operation), "{}", ending(&operation));
}
