//! A machine whose member is out of etcd before its installation begins.

use expect_test::expect;
use model::{DeviceAsk, Fact, InstallTrouble, Operation, Role, Span};

use super::stage::{ending, reimage, site, succeeded, target};
use crate::rig::board::Agent;
use crate::rig::etcd::peer_url;

fn peers(operation: &Operation) -> String {
    let (url, others) = operation.etcd_peers().expect("peers");
    let others: Vec<&str> = others.iter().map(|other| other.name.as_str()).collect();
    format!("{url} beside {}", others.join(", "))
}

#[test]
fn a_reimage_after_one_that_failed_tells_the_new_system_of_its_member_all_the_same() {
    let mut rig = site();
    let machine = target(Role::ControlPlane);
    rig.device(&machine).board.agent = Agent::GivesUp(InstallTrouble::ImageUnreachable);
    let first = reimage(&mut rig, Role::ControlPlane);
    assert!(!succeeded(&first) && !rig.etcd.has(&machine), "{}", ending(&first));
    let second = reimage(&mut rig, Role::ControlPlane);
    assert!(!succeeded(&second), "{}", ending(&second));
    rig.device(&machine).board.agent = Agent::Works;
    let third = reimage(&mut rig, Role::ControlPlane);
    assert!(succeeded(&third), "{}", ending(&third));
    assert!(third.last_asked(DeviceAsk::LeaveEtcd).is_none() && third.was_seen(model::StepKind::PromoteEtcd));
    assert_eq!([&first, &second, &third].map(peers), [peers(&first), peers(&first), peers(&first)]);
    expect!["https://rack1control01:2380 beside rack2control01, rack3control01"].assert_eq(&peers(&third));
    assert_eq!(rig.etcd.members.iter().filter(|member| !member.is_learner).count(), 3);
}

#[test]
fn a_member_that_was_removed_by_hand_comes_back_by_its_nodes_address() {
    let mut rig = site();
    let machine = target(Role::ControlPlane);
    rig.device(&machine).node.as_mut().unwrap().internal_ip = Some("10.0.0.7".into());
    rig.run_for(Span::minutes(2));
    rig.etcd.members.retain(|member| member.peer_urls != [peer_url(&machine)]);
    let operation = reimage(&mut rig, Role::ControlPlane);
    assert!(succeeded(&operation), "{}", ending(&operation));
    expect!["https://10.0.0.7:2380 beside rack2control01, rack3control01"].assert_eq(&peers(&operation));
    assert!(rig.etcd.members.iter().any(|member| member.name == machine.as_str() && !member.is_learner));
}

#[test]
fn a_machine_that_could_not_become_a_member_again_is_not_touched() {
    let mut rig = site();
    let machine = target(Role::ControlPlane);
    rig.etcd.members.retain(|member| member.peer_urls != [peer_url(&machine)]);
    let operation = reimage(&mut rig, Role::ControlPlane);
    let is_off = |entry: &model::Entry| matches!(entry.fact, Fact::Asked { ask: DeviceAsk::GracefulOff | DeviceAsk::ForceOff, .. });
    assert!(!operation.journal.iter().any(is_off), "{}", ending(&operation));
    expect![[r#"
        Failed (EtcdFailed): reimage failed: no peer URL is known for `rack1control01`, so it cannot be added to etcd. Left behind: power On; holds none
        next: rackwright bmm show rack1control01
    "#]]
    .assert_eq(&ending(&operation));
}
