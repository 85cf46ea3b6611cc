//! Who votes, where a member of the control plane is installed: etcd's own list says so, and the guard, the steps and what must stay
//! true of a plan all go by it.

use expect_test::expect;
use model::{OperationResult, Readiness, Role, Span};

use super::stage::{REIMAGE, ask, ending, latest, reimage, site, succeeded, target, verdict};
use crate::desk;
use crate::rig::Rig;

/// The kubelet of another member is down; its etcd is not.
fn another_kubelet(rig: &mut Rig, ready: Readiness) {
    rig.device(&desk::name("rack2control01")).node.as_mut().unwrap().ready = ready;
    rig.run_for(Span::minutes(1));
}

#[test]
fn a_learner_with_a_ready_node_costs_no_vote() {
    let mut rig = site();
    rig.etcd.catches_up_after = None;
    assert!(!succeeded(&reimage(&mut rig, Role::ControlPlane)));
    rig.etcd.catches_up_after = Some(Span::seconds(45));
    another_kubelet(&mut rig, Readiness::False);
    let operation = reimage(&mut rig, Role::ControlPlane);
    assert!(succeeded(&operation), "{}", ending(&operation));
    assert_eq!(rig.etcd.members.iter().filter(|member| !member.is_learner).count(), 3);
}

#[test]
fn a_voter_does_not_leave_while_another_node_is_not_ready_and_the_rest_of_the_site_is_kept() {
    let mut rig = site();
    rig.look_takes = Span::seconds(1);
    let request = model::Ask::Act { machine: target(Role::ControlPlane), action: REIMAGE, outage: model::Outage::Refused, replacement: None };
    rig.desk.request("alice", request, None);
    rig.run_for(Span::millis(1_500));
    assert_eq!(rig.desk.snapshot.running_count(), 1);
    another_kubelet(&mut rig, Readiness::False);
    let compute = ask(&mut rig, &target(Role::Compute), REIMAGE);
    assert_eq!(verdict(&rig, &compute), "accepted");
    rig.run_for(Span::minutes(30));
    expect!["the control plane (etcd voters: 1 of 2 would be left able to vote; quorum is 2 then)"]
        .assert_eq(&rig.desk.snapshot.machines[&target(Role::ControlPlane)].waits[0].kind.to_string());
    assert_eq!(rig.etcd.members.len(), 3);
    another_kubelet(&mut rig, Readiness::True);
    assert!(rig.run_until_idle(Span::hours(2)));
    assert!(rig.operations().all(|operation| operation.ended.as_ref().is_some_and(|ended| ended.result == OperationResult::Succeeded)));
    assert!(succeeded(&latest(&rig)));
}

#[test]
fn one_that_has_left_etcd_is_switched_off_whatever_has_become_of_the_others() {
    let mut rig = site();
    ask(&mut rig, &target(Role::ControlPlane), REIMAGE);
    while latest(&rig).done_at(model::StepKind::LeaveEtcd).is_none() {
        rig.run_for(Span::millis(100));
    }
    rig.device(&target(Role::ControlPlane)).habits.shutdown_takes = None;
    another_kubelet(&mut rig, Readiness::False);
    rig.die();
    assert!(rig.run_until_idle(Span::hours(4)));
    assert!(succeeded(&latest(&rig)), "{}", ending(&latest(&rig)));
}
