//! A whole site over time: power, nodes, quorum, stopping and going on.

use proptest::prelude::*;

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::objects::{EVENTS, LEASES, NODES, ObjectError, ObjectKey, Part};
use crate::persist::Record;
use crate::time::Span;

const START: Instant = Instant(1_800_000_000_000);

fn at(seconds: i64) -> Instant {
    START + Span::seconds(seconds)
}

fn site() -> World {
    World::new(Layout::new("east", 4, 4, 1).unwrap(), Pace::REAL, START)
}

fn index(world: &World, name: &str) -> usize {
    world.layout().index_of(name).unwrap()
}

fn node(world: &World, name: &str) -> Arc<Value> {
    world.objects().get(&NODES, &ObjectKey::cluster(name)).unwrap().clone()
}

fn ready(world: &World, name: &str) -> String {
    crate::node::ready_status(&node(world, name)).unwrap().to_owned()
}

fn boot_id(world: &World, name: &str) -> String {
    node(world, name)["status"]["nodeInfo"]["bootID"].as_str().unwrap().to_owned()
}

fn taints(world: &World, name: &str) -> Vec<String> {
    let node = node(world, name);
    let taints = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
    taints.iter().map(|taint| format!("{}:{}", taint["key"].as_str().unwrap(), taint["effect"].as_str().unwrap())).collect()
}

fn reasons(world: &World, name: &str) -> Vec<String> {
    let mut events: Vec<_> =
        world.objects().list(&EVENTS, None).map(|(_, event)| event).filter(|event| event["involvedObject"]["name"] == name).collect();
    events.sort_by_key(|event| event["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap());
    events.iter().map(|event| event["reason"].as_str().unwrap().to_owned()).collect()
}

fn cordon(world: &mut World, name: &str, closed: bool, now: Instant) {
    let change = |node: &Value| -> Result<Value, ObjectError> {
        let mut node = node.clone();
        node["spec"]["unschedulable"] = json!(closed);
        Ok(node)
    };
    world.modify_object(&NODES, &ObjectKey::cluster(name), Part::Main, now, change).unwrap();
}

/// All that a site is, apart from the instant.
fn essence(world: &World) -> String {
    format!("{:?} {:?} {:?} {:?}", world.states, world.undercloud.hosts, world.undercloud.objects, world.undercloud.posted_events)
}

#[test]
fn a_new_site_is_up_and_joined_but_for_its_spare() {
    let world = site();
    assert!(world.is_api_available());
    assert_eq!(world.objects().list(&NODES, None).count(), 15);
    assert!(world.objects().get(&NODES, &ObjectKey::cluster("rack4control01")).is_none());
    assert_eq!(world.power_state(index(&world, "rack4control01")), PowerState::Off);
    let labels = &node(&world, "rack2control01")["metadata"]["labels"];
    assert_eq!(labels["topology.kubernetes.io/zone"], "rack2");
    assert_eq!(labels["topology.kubernetes.io/baremetalmachine"], "rack2control01");
    assert_eq!(labels["platform.afo-nc.microsoft.com/control-plane"], "true");
    assert_eq!(labels["node-role.kubernetes.io/control-plane"], "");
}

#[test]
fn a_node_is_unknown_a_grace_period_after_its_machine_went_off_and_ready_after_it_booted() {
    let mut world = site();
    let first_boot = boot_id(&world, "rack1compute01");
    let machine = index(&world, "rack1compute01");
    world.reset(machine, ResetType::ForceOff, at(100));
    world.advance(at(106));
    assert_eq!(world.power_state(machine), PowerState::Off);
    assert_eq!(ready(&world, "rack1compute01"), "True");
    world.advance(at(146));
    assert_eq!(ready(&world, "rack1compute01"), "Unknown");
    assert_eq!(taints(&world, "rack1compute01"), ["node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"]);
    world.reset(machine, ResetType::On, at(200));
    world.advance(at(220 + 264));
    assert_eq!(ready(&world, "rack1compute01"), "True");
    assert_eq!(taints(&world, "rack1compute01"), [] as [&str; 0]);
    assert_ne!(boot_id(&world, "rack1compute01"), first_boot);
    assert_eq!(reasons(&world, "rack1compute01"), ["NodeNotReady", "Starting", "Rebooted", "NodeReady"]);
}

#[test]
fn a_restart_within_the_grace_period_shows_only_as_a_new_boot() {
    let mut world = World::new(Layout::new("east", 4, 4, 1).unwrap(), Pace { boot: Span::seconds(10), ..Pace::REAL }, START);
    let first_boot = boot_id(&world, "rack1compute01");
    let machine = index(&world, "rack1compute01");
    world.reset(machine, ResetType::ForceRestart, at(100));
    world.advance(at(300));
    assert_eq!(reasons(&world, "rack1compute01"), ["Starting", "Rebooted"]);
    assert_ne!(boot_id(&world, "rack1compute01"), first_boot);
}

#[test]
fn the_bmc_remembers_what_it_was_asked_and_what_its_power_did() {
    let mut world = site();
    let machine = index(&world, "rack1compute01");
    world.reset(machine, ResetType::ForceOff, at(10));
    world.note_bad_reset(machine, "Sideways", 400, at(11));
    world.reset(machine, ResetType::ForceOff, at(20));
    world.reset(machine, ResetType::On, at(30));
    world.advance(at(60));
    let log: Vec<String> = world
        .bmc_log(machine)
        .entries()
        .map(|entry| match &entry.logged {
            Logged::ResetRequested { reset, status } => format!("{reset} {status}"),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(log, ["ForceOff 204", "Sideways 400", "PoweredOff", "ForceOff 204", "On 204", "PoweredOn"]);
    assert_eq!(world.bmc_log(machine).counters().resets_requested, 4);
}

#[test]
fn a_cordoned_node_carries_the_taint_and_everybody_elses_stay() {
    let mut world = site();
    cordon(&mut world, "rack1control01", true, at(1));
    assert_eq!(
        taints(&world, "rack1control01"),
        ["node-role.kubernetes.io/control-plane:NoSchedule", "node.kubernetes.io/unschedulable:NoSchedule"]
    );
    cordon(&mut world, "rack1control01", false, at(2));
    assert_eq!(taints(&world, "rack1control01"), ["node-role.kubernetes.io/control-plane:NoSchedule"]);
    assert_eq!(reasons(&world, "rack1control01"), ["NodeNotSchedulable", "NodeSchedulable"]);
}

#[test]
fn a_cordon_survives_a_reboot() {
    let mut world = site();
    cordon(&mut world, "rack1compute01", true, at(1));
    let machine = index(&world, "rack1compute01");
    world.reset(machine, ResetType::PowerCycle, at(2));
    world.advance(at(600));
    assert_eq!(ready(&world, "rack1compute01"), "True");
    assert_eq!(taints(&world, "rack1compute01"), ["node.kubernetes.io/unschedulable:NoSchedule"]);
}

#[test]
fn without_a_majority_of_its_control_plane_the_api_is_away_and_nobody_is_judged() {
    let mut world = site();
    let compute = index(&world, "rack1compute01");
    for name in ["rack1control01", "rack2control01"] {
        let machine = index(&world, name);
        world.reset(machine, ResetType::ForceOff, at(10));
    }
    world.reset(compute, ResetType::ForceOff, at(11));
    world.advance(at(16));
    assert!(!world.is_api_available());
    let version = world.objects().version();
    world.advance(at(4_000));
    assert_eq!(world.objects().version(), version, "nothing is written while the API is away");

    let back = index(&world, "rack1control01");
    world.reset(back, ResetType::On, at(4_000));
    let returned = loop {
        let next = world.next_event_at().unwrap();
        world.advance(next);
        if world.is_api_available() {
            break next;
        }
    };
    assert_eq!(ready(&world, "rack3compute01"), "True");
    assert_eq!(ready(&world, "rack1compute01"), "True", "a silent node gets a full grace period again");
    let lease = world.objects().get(&LEASES, &ObjectKey::namespaced("kube-node-lease", "rack3compute01")).unwrap();
    assert_eq!(lease["spec"]["renewTime"], returned.to_micros_text());
    world.advance(returned + Span::seconds(40));
    assert_eq!(ready(&world, "rack1compute01"), "Unknown");
    assert_eq!(ready(&world, "rack3compute01"), "True");
}

#[test]
fn a_deleted_node_stays_away_until_its_kubelet_starts_again() {
    let mut world = site();
    let key = ObjectKey::cluster("rack1compute01");
    world.delete_object(&NODES, &key, &crate::DeleteOptions::default(), at(1)).unwrap();
    world.advance(at(1_000));
    assert!(world.objects().get(&NODES, &key).is_none());
    let machine = index(&world, "rack1compute01");
    world.reset(machine, ResetType::ForceRestart, at(1_000));
    world.advance(at(1_300));
    assert_eq!(ready(&world, "rack1compute01"), "True");
}

#[test]
fn an_instant_world_has_restarted_when_the_bmc_answers() {
    let mut world = World::new(Layout::new("east", 4, 4, 1).unwrap(), Pace::instant(), START);
    let machine = index(&world, "rack1compute01");
    let first_boot = boot_id(&world, "rack1compute01");
    world.reset(machine, ResetType::ForceOff, at(1));
    assert_eq!(world.power_state(machine), PowerState::Off);
    world.reset(machine, ResetType::On, at(1));
    assert_eq!(world.power_state(machine), PowerState::On);
    assert_ne!(boot_id(&world, "rack1compute01"), first_boot);
}

fn save(world: &mut World, saved: &mut std::collections::BTreeMap<String, Value>) {
    for Record { key, value } in world.take_records() {
        match value {
            Some(value) => saved.insert(key, value),
            None => saved.remove(&key),
        };
    }
}

#[test]
fn while_it_is_stopped_the_world_stands_still() {
    let mut world = site();
    let mut saved = std::collections::BTreeMap::new();
    let silent = index(&world, "rack1compute01");
    let booting = index(&world, "rack1compute02");
    world.reset(silent, ResetType::ForceOff, at(10));
    world.reset(booting, ResetType::PowerCycle, at(10));
    world.advance(at(20));
    save(&mut world, &mut saved);
    let old_version = world.objects().version();

    let night = 8 * 3_600;
    let mut world = World::restore(Layout::new("east", 4, 4, 1).unwrap(), Pace::REAL, saved, at(20 + night)).unwrap();
    assert_eq!(world.power_state(silent), PowerState::Off);
    assert_eq!(world.power_state(booting), PowerState::PoweringOn);
    world.advance(at(40 + night));
    assert!(world.objects().list(&NODES, None).all(|(_, node)| crate::node::ready_status(node) == Some("True")));
    assert_eq!(world.power_state(booting), PowerState::On);
    assert_eq!(world.bmc_log(booting).entries().len(), 3);
    world.advance(at(60 + night));
    assert_eq!(ready(&world, "rack1compute01"), "Unknown");
    assert!(world.objects().version() > old_version, "versions are never handed out twice");
    assert!(world.objects().changes_after(&NODES, old_version).is_err(), "watchers of before must list again");
}

#[test]
fn heartbeats_are_not_saved() {
    let mut world = site();
    world.take_records();
    world.advance(at(3_600));
    assert_eq!(world.take_records(), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn many_small_steps_end_where_one_large_step_ends(
        resets in proptest::collection::vec((0usize..16, 0usize..6, 0i64..400), 1..12),
        cuts in proptest::collection::vec(1i64..90_000, 1..60),
    ) {
        let (mut stepped, mut direct) = (site(), site());
        let mut now = START;
        let mut cuts = cuts.into_iter().cycle();
        for (machine, kind, after) in resets {
            let target = now + Span::seconds(after);
            while now < target {
                now = target.min(now + Span(cuts.next().unwrap_or(1)));
                stepped.advance(now);
            }
            let answers = (stepped.reset(machine, ResetType::ALL[kind], now), direct.reset(machine, ResetType::ALL[kind], now));
            prop_assert_eq!(answers.0, answers.1);
        }
        let end = now + Span::seconds(700);
        while now < end {
            now = end.min(now + Span(cuts.next().unwrap_or(1)));
            stepped.advance(now);
        }
        direct.advance(end);
        prop_assert_eq!(essence(&stepped), essence(&direct));
    }

    #[test]
    fn a_site_that_is_saved_and_loaded_at_once_ends_in_the_same_state_of_power_and_readiness(
        resets in proptest::collection::vec((0usize..16, 0usize..6, 0i64..200), 1..8),
        pause in 0i64..100_000,
    ) {
        let (mut whole, mut broken) = (site(), site());
        let mut saved = std::collections::BTreeMap::new();
        let mut now = START;
        for (machine, kind, after) in resets {
            now = now + Span::seconds(after);
            whole.reset(machine, ResetType::ALL[kind], now);
            broken.reset(machine, ResetType::ALL[kind], now);
        }
        broken.mark_progress();
        save(&mut broken, &mut saved);
        let later = now + Span::seconds(pause);
        let mut broken = World::restore(whole.layout().clone(), Pace::REAL, saved, later).unwrap();
        whole.advance(now + Span::seconds(900));
        broken.advance(later + Span::seconds(900));
        for machine in 0..16 {
            prop_assert_eq!(whole.power_state(machine), broken.power_state(machine));
            prop_assert_eq!(whole.is_host_up(machine), broken.is_host_up(machine));
            prop_assert_eq!(whole.bmc_log(machine).counters(), broken.bmc_log(machine).counters());
            prop_assert_eq!(whole.undercloud.host(machine).node.verdict, broken.undercloud.host(machine).node.verdict);
        }
    }
}
