//! Members that come and go, and what becomes of the API meanwhile.

use super::*;
use crate::fault::{FaultOrder, FaultTarget};
use crate::machine::ResetType;
use crate::pace::Pace;

const START: Instant = Instant(1_800_000_000_000);
const KCP: [&str; 3] = ["rack1control01", "rack2control01", "rack3control01"];

fn at(seconds: i64) -> Instant {
    START + Span::seconds(seconds)
}

fn site() -> World {
    World::new(Layout::new("east", 4, 4, 1).unwrap(), Pace::REAL, START)
}

fn index(world: &World, name: &str) -> usize {
    world.layout().index_of(name).unwrap()
}

fn member(world: &World, name: &str) -> EtcdMember {
    world.etcd_members().into_iter().find(|member| member.name == name).unwrap()
}

/// The members, a learner in brackets, one that was never heard from by its URL.
fn roll(world: &World) -> String {
    let shown = |member: &EtcdMember| {
        let name = if member.name.is_empty() { member.peer_url.clone() } else { member.name.clone() };
        if member.is_learner { format!("({name})") } else { name }
    };
    world.etcd_members().iter().map(shown).collect::<Vec<_>>().join(" ")
}

fn power(world: &mut World, name: &str, reset: ResetType, now: Instant) {
    let machine = index(world, name);
    world.reset(machine, reset, now);
}

fn strike(world: &mut World, kind: FaultKind, target: FaultTarget, now: Instant) {
    world.add_faults(&[FaultOrder { kind, target, after: Span::ZERO, lasting: None, setting: None }], now).unwrap();
}

/// The site as whoever starts the simulator again finds it.
fn restarted(world: &mut World, saved: &mut BTreeMap<String, serde_json::Value>, now: Instant) -> World {
    for record in world.take_records() {
        match record.value {
            Some(value) => saved.insert(record.key, value),
            None => saved.remove(&record.key),
        };
    }
    World::restore(world.layout().clone(), Pace::REAL, saved.clone(), now).unwrap()
}

#[test]
fn every_control_plane_machine_has_a_member_and_the_spare_has_none() {
    let world = site();
    assert_eq!(roll(&world), KCP.join(" "));
    let first = member(&world, KCP[0]);
    let address = world.layout().machines()[index(&world, KCP[0])].host_address;
    assert_eq!(first.peer_url, format!("https://{address}:2380"));
    assert_eq!(first.client_url, Some(format!("https://{address}:2379")));
    assert_eq!(first.id, member(&site(), KCP[0]).id, "ids are the same in every run");
    assert!(KCP.iter().all(|name| world.is_etcd_reachable(index(&world, name))));
    assert!(!world.is_etcd_reachable(index(&world, "rack4control01")));
}

#[test]
fn a_member_leaves_is_wiped_learns_and_votes_again() {
    let mut world = site();
    let (name, machine) = (KCP[0], index(&world, KCP[0]));
    let before = member(&world, name);
    world.remove_etcd_member(before.id, at(1)).unwrap();
    assert_eq!(roll(&world), KCP[1..].join(" "));
    assert!(!world.is_etcd_reachable(machine), "its process has ended");
    assert_eq!(world.remove_etcd_member(before.id, at(2)), Err(EtcdRefusal::MemberNotFound));
    power(&mut world, name, ResetType::ForceOff, at(3));
    world.wipe_etcd(machine, at(10));
    let added = world.add_etcd_learner(&before.peer_url, at(20)).unwrap();
    assert_ne!(added.id, before.id);
    assert_eq!(roll(&world), format!("{} ({})", KCP[1..].join(" "), before.peer_url));
    assert_eq!(world.promote_etcd_learner(added.id, at(21)), Err(EtcdRefusal::NotInSync), "it does not even run");
    power(&mut world, name, ResetType::On, at(30));
    world.advance(at(400));
    assert!(world.is_etcd_reachable(machine));
    assert_eq!(roll(&world), format!("{} ({name})", KCP[1..].join(" ")));
    let since = world.etcd.members.last().unwrap().learning_since.unwrap();
    world.now = since + Span::seconds(1);
    assert_eq!(world.promote_etcd_learner(added.id, world.now), Err(EtcdRefusal::NotInSync));
    let (learner, leader) = (world.etcd_status(machine).unwrap(), world.etcd_status(index(&world, KCP[1])).unwrap());
    assert!(learner.raft_index < leader.raft_index, "{learner:?} {leader:?}");
    world.promote_etcd_learner(added.id, since + Pace::REAL.etcd_catch_up).unwrap();
    assert_eq!(world.promote_etcd_learner(added.id, at(600)), Err(EtcdRefusal::NotLearner), "nobody is promoted twice");
    assert_eq!(roll(&world), format!("{} {name}", KCP[1..].join(" ")));
}

#[test]
fn a_learner_starts_only_on_a_system_that_was_told_of_it() {
    let mut world = site();
    let (name, machine) = (KCP[0], index(&world, KCP[0]));
    let before = member(&world, name);
    world.remove_etcd_member(before.id, at(1)).unwrap();
    world.wipe_etcd(machine, at(2));
    world.configure_etcd(machine, None, at(3));
    let added = world.add_etcd_learner(&before.peer_url, at(4)).unwrap();
    assert!(!world.is_etcd_reachable(machine));
    assert_eq!(world.promote_etcd_learner(added.id, at(90_000)), Err(EtcdRefusal::NotInSync));
    world.configure_etcd(machine, Some("https://10.0.0.9:2380".into()), at(90_001));
    assert!(!world.is_etcd_reachable(machine), "that is another");
    world.configure_etcd(machine, Some(before.peer_url), at(90_002));
    assert!(world.is_etcd_reachable(machine));
}

#[test]
fn the_api_answers_while_most_of_the_voters_run_whoever_they_are() {
    let mut world = site();
    world.remove_etcd_member(member(&world, KCP[0]).id, at(1)).unwrap();
    power(&mut world, KCP[0], ResetType::ForceOff, at(2));
    world.advance(at(60));
    assert!(world.is_api_available(), "one without a vote is not missed");
    power(&mut world, KCP[1], ResetType::ForceOff, at(61));
    world.advance(at(120));
    assert!(!world.is_api_available(), "of two voters both are needed");
    assert_eq!(world.remove_etcd_member(1, at(121)), Err(EtcdRefusal::NoQuorum));
    assert_eq!(world.etcd_status(index(&world, KCP[2])).unwrap().leader, None);
    power(&mut world, KCP[1], ResetType::On, at(130));
    world.advance(at(600));
    assert!(world.is_api_available());
}

#[test]
fn a_voter_whose_disk_was_wiped_votes_no_more() {
    let mut world = site();
    for name in &KCP[..2] {
        world.wipe_etcd(index(&world, name), at(1));
    }
    assert!(!world.is_api_available());
    power(&mut world, KCP[0], ResetType::ForceRestart, at(2));
    world.advance(at(600));
    assert!(!world.is_api_available(), "a member that had started does not begin anew with nothing");
}

#[test]
fn a_learner_does_not_start_from_the_disk_of_the_member_that_was_removed() {
    let mut world = site();
    let before = member(&world, KCP[0]);
    world.remove_etcd_member(before.id, at(1)).unwrap();
    world.add_etcd_learner(&before.peer_url, at(2)).unwrap();
    power(&mut world, KCP[0], ResetType::ForceRestart, at(3));
    world.advance(at(600));
    assert!(!world.is_etcd_reachable(index(&world, KCP[0])));
    world.wipe_etcd(index(&world, KCP[0]), at(601));
    assert!(world.is_etcd_reachable(index(&world, KCP[0])));
}

#[test]
fn etcd_protects_its_quorum() {
    let mut world = site();
    power(&mut world, KCP[2], ResetType::ForceOff, at(1));
    world.advance(at(60));
    let [first, last] = [KCP[0], KCP[2]].map(|name| member(&world, name).id);
    assert_eq!(world.remove_etcd_member(first, at(61)), Err(EtcdRefusal::Unhealthy), "two of three run, and one of them would go");
    assert_eq!(world.add_etcd_learner("https://10.0.0.9:2380", at(62)), Err(EtcdRefusal::Unhealthy));
    world.remove_etcd_member(last, at(63)).unwrap();
    let learner = world.add_etcd_learner("https://10.0.0.9:2380", at(64)).unwrap();
    assert_eq!(world.add_etcd_learner("https://10.0.0.9:2380", at(65)), Err(EtcdRefusal::PeerUrlExists));
    assert_eq!(world.add_etcd_learner("https://10.0.0.8:2380", at(66)), Err(EtcdRefusal::TooManyLearners));
    for url in ["", "10.0.0.8:2380", "https://10.0.0.8", "https://10.0.0.8/x:1", "ftp://10.0.0.8:1"] {
        assert_eq!(world.add_etcd_learner(url, at(67)), Err(EtcdRefusal::InvalidUrl), "{url}");
    }
    world.remove_etcd_member(learner.id, at(68)).unwrap();
    world.remove_etcd_member(first, at(69)).unwrap();
    let only = member(&world, KCP[1]).id;
    assert_eq!(world.remove_etcd_member(only, at(70)), Err(EtcdRefusal::NotEnoughStarted), "the last one stays");
}

#[test]
fn a_learner_that_never_catches_up_is_never_promoted() {
    let mut world = site();
    let machine = index(&world, KCP[0]);
    let before = member(&world, KCP[0]);
    strike(&mut world, FaultKind::EtcdLearnerNeverCatchesUp, FaultTarget::Machine(machine), at(0));
    world.remove_etcd_member(before.id, at(1)).unwrap();
    world.wipe_etcd(machine, at(2));
    let added = world.add_etcd_learner(&before.peer_url, at(3)).unwrap();
    assert_eq!(world.promote_etcd_learner(added.id, at(90_000)), Err(EtcdRefusal::NotInSync));
    let leader = world.etcd_status(index(&world, KCP[1])).unwrap().raft_index;
    assert_eq!(world.etcd_status(machine).unwrap().raft_index, leader * 40 / 100);
    let fault = world.faults()[0].id;
    world.clear_faults(&[fault], at(90_001));
    world.promote_etcd_learner(added.id, at(90_002)).unwrap();
}

#[test]
fn an_etcd_that_cannot_be_reached_goes_on_all_the_same() {
    let mut world = site();
    strike(&mut world, FaultKind::EtcdUnreachable, FaultTarget::Api, at(1));
    assert!(!world.is_etcd_reachable(index(&world, KCP[0])));
    assert!(world.is_api_available());
}

#[test]
fn members_outlive_the_simulator_and_learn_on_after_it() {
    let mut world = site();
    let mut saved = BTreeMap::new();
    world = restarted(&mut world, &mut saved, at(1));
    assert_eq!(roll(&world), KCP.join(" "), "a site that was saved before its etcd changed has the members that it was made with");
    assert!(!saved.contains_key("etcd"));
    let (machine, before) = (index(&world, KCP[0]), member(&world, KCP[0]));
    world.remove_etcd_member(before.id, at(2)).unwrap();
    world.wipe_etcd(machine, at(3));
    let added = world.add_etcd_learner(&before.peer_url, at(4)).unwrap();
    let expected = roll(&world);
    world = restarted(&mut world, &mut saved, at(10_000));
    assert_eq!(roll(&world), expected);
    assert_eq!(world.promote_etcd_learner(added.id, at(10_001)), Err(EtcdRefusal::NotInSync), "while it stood still, nobody learned");
    world.promote_etcd_learner(added.id, at(10_060)).unwrap();
    assert!(world.is_api_available());
}
