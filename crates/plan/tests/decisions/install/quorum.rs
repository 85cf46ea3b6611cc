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
    let request =
        model::Ask::Act { machine: target(Role::ControlPlane), action: REIMAGE, outage: model::Outage::Refused, replacement: None };
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

/// As kubeadm names members: after their nodes, which are not called as their machines.
fn name_after_hosts(rig: &mut Rig) {
    for member in &mut rig.etcd.members {
        member.name = format!("{}.site.example", member.name);
    }
}

#[test]
fn a_member_that_is_not_called_as_its_machine_is_known_by_its_address() {
    let mut rig = site();
    name_after_hosts(&mut rig);
    let operation = reimage(&mut rig, Role::ControlPlane);
    assert!(succeeded(&operation), "{}", ending(&operation));
    assert!(operation.was_seen(model::StepKind::LeaveEtcd));
    assert_eq!(rig.etcd.members.iter().filter(|member| !member.is_learner).count(), 3);
}

#[test]
fn a_member_that_is_called_as_its_node_has_its_machines_vote() {
    let mut rig = site();
    name_after_hosts(&mut rig);
    for (number, member) in rig.etcd.members.iter_mut().enumerate() {
        member.peer_urls = vec![format!("https://10.9.9.{number}:2380")];
    }
    for device in rig.devices.values_mut() {
        let node = device.node.as_mut().unwrap();
        node.name = format!("{}.site.example", node.name);
    }
    another_kubelet(&mut rig, Readiness::False);
    let id = ask(&mut rig, &target(Role::ControlPlane), REIMAGE);
    expect![[r#"
        `rack1control01` cannot be reimaged: rule kcp-others-healthy: `rack2control01`: its node is not ready (Ready=False); etcd voters: 2 of 3 now, 1 of 3 after; quorum is 2
        remedy: bring the other control-plane machines back first: `rackwright status` names them"#]].assert_eq(&verdict(&rig, &id));
}

#[test]
fn a_voter_that_may_be_the_machines_is_not_left_behind() {
    let mut rig = site();
    rig.etcd.members[0].name = "host17".into();
    rig.etcd.members[0].peer_urls = vec!["https://10.9.9.9:2380".into()];
    let id = ask(&mut rig, &target(Role::ControlPlane), REIMAGE);
    expect![[r#"
        `rack1control01` cannot be reimaged: rule etcd-known: etcd lists `host17` (https://10.9.9.9:2380, id a1), which is no machine's by name or address, and nothing that is `rack1control01`'s
        remedy: give etcd's members the names of their machines or nodes; or remove the one that is left over: `etcdctl member remove ID`"#]].assert_eq(&verdict(&rig, &id));
    let other = ask(&mut rig, &desk::name("rack2control01"), REIMAGE);
    expect![[r#"
        `rack2control01` cannot be reimaged: rule kcp-others-healthy: `rack1control01` has no member of etcd that is known to vote; etcd voters: 3 of 3 now, 2 of 3 after; quorum is 2
        remedy: bring the other control-plane machines back first: `rackwright status` names them"#]].assert_eq(&verdict(&rig, &other));
}

#[test]
fn a_voter_leaves_as_soon_as_the_others_are_seen_to_vote_again() {
    let mut rig = site();
    rig.look_takes = Span::seconds(1);
    let request =
        model::Ask::Act { machine: target(Role::ControlPlane), action: REIMAGE, outage: model::Outage::Refused, replacement: None };
    rig.desk.request("alice", request, None);
    rig.run_for(Span::millis(1_500));
    rig.etcd.members[1].is_learner = true;
    rig.run_for(Span::minutes(5));
    expect!["the control plane (`rack2control01` has no member of etcd that is known to vote)"]
        .assert_eq(&rig.desk.snapshot.machines[&target(Role::ControlPlane)].waits[0].kind.to_string());
    rig.etcd.members[1].is_learner = false;
    rig.run_for(Span::minutes(2));
    assert!(latest(&rig).was_seen(model::StepKind::LeaveEtcd), "it goes by what etcd tells now");
    assert!(rig.run_until_idle(Span::hours(2)));
    assert!(succeeded(&latest(&rig)), "{}", ending(&latest(&rig)));
}

#[test]
fn a_machine_without_a_member_is_not_installed_while_etcd_has_a_learner_of_another() {
    let mut rig = site();
    rig.etcd.members.remove(0);
    rig.etcd.members[0].is_learner = true;
    let id = ask(&mut rig, &target(Role::ControlPlane), REIMAGE);
    expect![[r#"
        `rack1control01` cannot be reimaged: rule kcp-others-healthy: etcd has a learner already, and takes one at a time: `rack2control01` (https://rack2control01:2380, id a2)
        remedy: let that member be promoted, or have it removed, first"#]].assert_eq(&verdict(&rig, &id));
    rig.etcd.members[0].is_learner = false;
    rig.run_for(Span::minutes(1));
    let id = ask(&mut rig, &target(Role::ControlPlane), REIMAGE);
    assert_eq!(verdict(&rig, &id), "accepted");
}

#[test]
fn a_machine_whose_member_was_removed_by_hand_can_be_installed() {
    let mut rig = site();
    rig.etcd.members.remove(0);
    let id = ask(&mut rig, &target(Role::ControlPlane), REIMAGE);
    assert_eq!(verdict(&rig, &id), "accepted");
}
