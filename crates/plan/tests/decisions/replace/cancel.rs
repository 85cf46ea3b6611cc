//! A replace that somebody cancels, in each of its steps: how its machine is left, and that another one brings it back.

use std::fmt::Write;

use expect_test::{Expect, expect};
use model::{Action, Ask, Fact, Operation, OperationId, Outage, Role, SourceSeen, Span, StepKind};

use super::stage::{REPLACE, ask, latest, new_board, replace, site, target};
use crate::install::stage::succeeded;
use crate::rig::Rig;

fn exchanged(role: Role) -> Rig {
    let mut rig = site();
    rig.device(&target(role)).board.parts.serial_number = "sn2".into();
    rig
}

/// The steps of a replace that nobody disturbs, in the order in which they are done.
fn steps(role: Role) -> Vec<StepKind> {
    let operation = replace(&mut exchanged(role), role, REPLACE, Some(new_board()));
    assert!(succeeded(&operation));
    let done = operation.journal.iter().filter_map(|entry| match &entry.fact {
        Fact::Seen { step } | Fact::Skipped { step, .. } => Some(*step),
        _ => None,
    });
    done.collect()
}

/// A replace that is cancelled as soon as this step is done, and its end.
fn cancelled_after(rig: &mut Rig, role: Role, step: StepKind) -> Operation {
    let replace = Ask::Act { machine: target(role), action: REPLACE, outage: Outage::Refused, replacement: Some(Box::new(new_board())) };
    let id = rig.desk.request("alice", replace, None);
    assert!(rig.run_until(Span::hours(2), |rig| rig.operations().any(|operation| operation.done_at(step).is_some())), "{step:?}");
    rig.desk.request("bob", Ask::Cancel { operation: OperationId::new(id.as_str()) }, None);
    assert!(rig.run_until_idle(Span::hours(2)), "{step:?}: it does not end");
    rig.check_log();
    latest(rig)
}

/// What each cancel leaves, told by the step that was the last to be done.
#[expect(clippy::needless_pass_by_value, reason = "a case reads best as what it comes to")]
fn check(role: Role, expected: Expect) {
    let name = target(role);
    let mut table = String::new();
    for step in steps(role) {
        let mut rig = exchanged(role);
        let operation = cancelled_after(&mut rig, role, step);
        let ended = operation.ended.as_ref().expect("it has ended");
        let provisioning = rig.desk.snapshot.machines[&name].provisioning;
        let _ = writeln!(table, "{}: {:?}, {provisioning:?}: {}", step.title(), ended.result, ended.message);
        let board = &rig.device(&name).board;
        assert_eq!((&board.media, board.source), (&None, SourceSeen::Disk), "{step:?}: nobody starts a dead agent by hand");
        rig.run_for(Span::minutes(10));
        let again = replace(&mut rig, role, REPLACE, Some(new_board()));
        assert!(succeeded(&again), "{step:?}: {again:?}");
        ask(&mut rig, &name, Action::Uncordon, None);
        assert!(rig.run_until_idle(Span::hours(1)));
        let machine = &rig.desk.snapshot.machines[&name];
        assert!(machine.is_ready() && machine.holds.is_empty(), "{step:?}: {machine:?}");
        assert_eq!(rig.etcd.members.iter().filter(|member| !member.is_learner).count(), 3, "{step:?}");
    }
    expected.assert_eq(&table);
}

#[test]
fn a_replace_of_a_compute_machine_that_was_cancelled_anywhere_can_be_asked_for_again() {
    check(
        Role::Compute,
        expect![[r#"
            Survey: Canceled, Provisioned: cancelled by bob during Hardware Validation. Left behind: power On; holds none.
            Cordon: Canceled, Provisioned: cancelled by bob during BMC Login. Left behind: power On; holds none.
            BMC Login: Canceled, Provisioned: cancelled by bob during Hardware Validation. Left behind: power On; holds none.
            Hardware Validation: Canceled, Provisioned: cancelled by bob during Power Off. Left behind: power On; holds none.
            Leave etcd: Canceled, Provisioned: cancelled by bob during Power Off. Left behind: power On; holds none.
            Power Off: Canceled, Provisioned: cancelled by bob during Discard Volumes. Left behind: power Off; holds power-off by operation op1.
            Wait for Deprovisioning: Canceled, Provisioned: cancelled by bob during Discard Volumes. Left behind: power Off; holds power-off by operation op1.
            Discard Volumes: Canceled, Error: cancelled by bob during Make OS Volume. Left behind: power Off; holds installation by alice, operation op1.
            Make OS Volume: Canceled, Error: cancelled by bob during Insert Media. Left behind: power Off; holds installation by alice, operation op1.
            Insert Media: Canceled, Error: cancelled by bob during Agent On. Left behind: power Off; holds installation by alice, operation op1.
            Boot Agent: Canceled, Error: cancelled by bob during Write Image. Left behind: power Off; holds installation by alice, operation op1.
            Agent On: Canceled, Error: cancelled by bob during Write Image. Left behind: power Off; holds installation by alice, operation op1.
            Write Image: Canceled, Error: cancelled by bob during Agent Off. Left behind: power Off; holds installation by alice, operation op1.
            Agent Off: Canceled, Error: cancelled by bob during Eject Media. Left behind: power Off; holds installation by alice, operation op1.
            Eject Media: Canceled, Error: cancelled by bob during Mint Join Token. Left behind: power Off; holds installation by alice, operation op1.
            Boot Disk: Canceled, Error: cancelled by bob during System On. Left behind: power Off; holds installation by alice, operation op1.
            Join etcd: Canceled, Error: cancelled by bob during System On. Left behind: power Off; holds installation by alice, operation op1.
            Mint Join Token: Canceled, Error: cancelled by bob during Phone Home. Left behind: power On; holds installation by alice, operation op1.
            System On: Canceled, Error: cancelled by bob during Phone Home. Left behind: power On; holds installation by alice, operation op1.
            Phone Home: Succeeded, Provisioned: `rack1compute01` was replaced with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01
            Rejoin: Succeeded, Provisioned: `rack1compute01` was replaced with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01
            Promote in etcd: Succeeded, Provisioned: `rack1compute01` was replaced with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01
            Drop Join Token: Succeeded, Provisioned: `rack1compute01` was replaced with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01
        "#]],
    );
}

#[test]
fn a_replace_of_a_control_plane_machine_that_was_cancelled_anywhere_leaves_no_vote_lost() {
    check(
        Role::ControlPlane,
        expect![[r#"
            Survey: Canceled, Provisioned: cancelled by bob during Hardware Validation. Left behind: power On; holds none.
            Cordon: Canceled, Provisioned: cancelled by bob during BMC Login. Left behind: power On; holds none.
            BMC Login: Canceled, Provisioned: cancelled by bob during Hardware Validation. Left behind: power On; holds none.
            Hardware Validation: Canceled, Provisioned: cancelled by bob during Leave etcd. Left behind: power On; holds none.
            Leave etcd: Canceled, Error: cancelled by bob during Power Off. Left behind: power On; holds installation by alice, operation op1; its member has left etcd: 2 others vote.
            Power Off: Canceled, Error: cancelled by bob during Discard Volumes. Left behind: power Off; holds installation by alice, operation op1; its member has left etcd: 2 others vote.
            Wait for Deprovisioning: Canceled, Error: cancelled by bob during Discard Volumes. Left behind: power Off; holds installation by alice, operation op1; its member has left etcd: 2 others vote.
            Discard Volumes: Canceled, Error: cancelled by bob during Make OS Volume. Left behind: power Off; holds installation by alice, operation op1; its member has left etcd: 2 others vote.
            Make OS Volume: Canceled, Error: cancelled by bob during Insert Media. Left behind: power Off; holds installation by alice, operation op1; its member has left etcd: 2 others vote.
            Insert Media: Canceled, Error: cancelled by bob during Agent On. Left behind: power Off; holds installation by alice, operation op1; its member has left etcd: 2 others vote.
            Boot Agent: Canceled, Error: cancelled by bob during Write Image. Left behind: power Off; holds installation by alice, operation op1; its member has left etcd: 2 others vote.
            Agent On: Canceled, Error: cancelled by bob during Write Image. Left behind: power Off; holds installation by alice, operation op1; its member has left etcd: 2 others vote.
            Write Image: Canceled, Error: cancelled by bob during Agent Off. Left behind: power Off; holds installation by alice, operation op1; its member has left etcd: 2 others vote.
            Agent Off: Canceled, Error: cancelled by bob during Eject Media. Left behind: power Off; holds installation by alice, operation op1; its member has left etcd: 2 others vote.
            Eject Media: Canceled, Error: cancelled by bob during Join etcd. Left behind: power Off; holds installation by alice, operation op1; its member has left etcd: 2 others vote.
            Boot Disk: Canceled, Error: cancelled by bob during Join etcd. Left behind: power Off; holds installation by alice, operation op1; its member has left etcd: 2 others vote.
            Join etcd: Canceled, Error: cancelled by bob during System On. Left behind: power Off; holds installation by alice, operation op1; its member of etcd is a learner: 2 others vote.
            Mint Join Token: Canceled, Error: cancelled by bob during Phone Home. Left behind: power On; holds installation by alice, operation op1; its member of etcd is a learner: 2 others vote.
            System On: Canceled, Error: cancelled by bob during Phone Home. Left behind: power On; holds installation by alice, operation op1; its member of etcd is a learner: 2 others vote.
            Phone Home: Canceled, Error: cancelled by bob during Promote in etcd. Left behind: power On; holds installation by alice, operation op1; its member of etcd is a learner: 2 others vote.
            Rejoin: Canceled, Error: cancelled by bob during Promote in etcd. Left behind: power On; holds installation by alice, operation op1; its member of etcd is a learner: 2 others vote.
            Promote in etcd: Succeeded, Provisioned: `rack1control01` was replaced with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1control01
            Drop Join Token: Succeeded, Provisioned: `rack1control01` was replaced with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1control01
        "#]],
    );
}
