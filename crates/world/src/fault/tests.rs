//! Each fault of a machine or of the API, begun, lived with, and ended.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::hardware::{BootEnabled, BootOverride, BootTarget};
use crate::layout::Layout;
use crate::machine::ResetAnswer;
use crate::objects::{NODES, ObjectKey};
use crate::pace::Pace;

const START: Instant = Instant(1_800_000_000_000);
const MACHINE: &str = "rack1compute01";

fn at(seconds: i64) -> Instant {
    START + Span::seconds(seconds)
}

fn site() -> World {
    World::new(Layout::new("east", 4, 4, 1).unwrap(), Pace::REAL, START)
}

/// The same site, with a virtual machine `web` and a cluster `naks-01` in which a pod `tool` runs.
fn tenanted() -> World {
    let node = |name: &str, pool: Option<&str>| crate::ClusterNode {
        name: name.to_owned(),
        machine: MACHINE.to_owned(),
        pool: pool.map(str::to_owned),
        cores: 4,
        memory_gib: 8,
    };
    let cluster = crate::TenantCluster {
        name: "naks-01".to_owned(),
        version: "v1.32.4".to_owned(),
        nodes: vec![node("naks-01-cp", None), node("naks-01-worker", Some("agentpool1"))],
        workloads: vec![crate::Workload::new(crate::WorkloadKind::Bare, "tool", 1)],
    };
    let tenancy = crate::Tenancy { vms: vec![crate::TenantVm::new("web", MACHINE, 2, 4)], clusters: vec![cluster] };
    World::with_tenants(Layout::new("east", 4, 4, 1).unwrap(), Pace::REAL, START, &tenancy)
}

fn index(world: &World) -> usize {
    world.layout().index_of(MACHINE).unwrap()
}

fn order(world: &World, kind: FaultKind) -> FaultOrder {
    let target = match kind.aim() {
        crate::fault::Aim::Api => FaultTarget::Api,
        crate::fault::Aim::Machine => FaultTarget::Machine(index(world)),
        crate::fault::Aim::Tenant => FaultTarget::Tenant("naks-01".to_owned()),
        crate::fault::Aim::Pod => {
            FaultTarget::Pod { cluster: "naks-01".to_owned(), namespace: "default".to_owned(), name: "tool".to_owned() }
        }
        crate::fault::Aim::Vm => FaultTarget::Vm("web".to_owned()),
    };
    FaultOrder { kind, target, after: Span::ZERO, lasting: None, setting: None }
}

fn add(world: &mut World, kind: FaultKind, now: Instant) -> FaultId {
    let order = order(world, kind);
    world.add_faults(&[order], now).unwrap()[0]
}

fn add_for(world: &mut World, kind: FaultKind, lasting: Span, now: Instant) -> FaultId {
    let order = FaultOrder { lasting: Some(lasting), ..order(world, kind) };
    world.add_faults(&[order], now).unwrap()[0]
}

fn condition(world: &World, kind: &str) -> String {
    let node = world.objects().get(&NODES, &ObjectKey::cluster(MACHINE)).unwrap();
    let conditions = node["status"]["conditions"].as_array().unwrap();
    let found = conditions.iter().find(|condition| condition["type"] == kind);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    found.map_or("absent".to_owned(), |found| format!("{} {}: {}", text(&found["status"]), text(&found["reason"]), text(&found["message"])))
}

fn ready(world: &World) -> String {
    condition(world, "Ready").split(' ').next().unwrap().to_owned()
}

#[test]
fn a_stale_bmc_reports_what_was_while_the_machine_goes_its_way() {
    let mut world = site();
    let machine = index(&world);
    let id = add(&mut world, FaultKind::BmcStale, at(0));
    world.reset(machine, ResetType::ForceOff, at(1));
    world.advance(at(60));
    assert_eq!(world.power_state(machine), PowerState::On);
    assert_eq!(world.bmc_log(machine).counters().powered_off, 1);
    world.clear_faults(&[id], at(61));
    assert_eq!(world.power_state(machine), PowerState::Off);
}

#[test]
fn a_bmc_that_ignores_requests_writes_them_down_and_does_nothing() {
    let mut world = site();
    let machine = index(&world);
    add(&mut world, FaultKind::BmcIgnores, at(0));
    assert_eq!(world.reset(machine, ResetType::ForceOff, at(1)), ResetAnswer::Ignored);
    world.advance(at(600));
    assert_eq!(world.power_state(machine), PowerState::On);
    assert_eq!(world.bmc_log(machine).counters().resets_requested, 1);
}

#[test]
fn a_restarting_bmc_is_away_for_three_minutes_and_remembers_that_it_restarted() {
    let mut world = site();
    let machine = index(&world);
    world.restart_bmc(machine, at(0));
    assert!(!world.is_bmc_up(machine) && !world.is_bmc_reachable(machine));
    world.advance(at(179));
    assert!(!world.is_bmc_up(machine));
    world.advance(at(180));
    assert!(world.is_bmc_up(machine) && world.is_bmc_reachable(machine));
    assert_eq!(world.bmc_restarts(machine), 1);
    assert!(world.faults().is_empty());
}

#[test]
fn a_bmc_restart_can_take_longer_and_can_be_cut_short() {
    let mut world = site();
    let machine = index(&world);
    let id = add_for(&mut world, FaultKind::BmcRestart, Span::minutes(20), at(0));
    world.advance(at(600));
    assert!(!world.is_bmc_up(machine));
    world.clear_faults(&[id], at(601));
    assert!(world.is_bmc_up(machine) && world.is_bmc_reachable(machine));
    assert_eq!(world.bmc_restarts(machine), 1);
}

#[test]
fn a_hung_host_falls_silent_ignores_a_shutdown_and_wakes_up_after_a_power_cycle() {
    let mut world = site();
    let machine = index(&world);
    add(&mut world, FaultKind::HostHangs, at(0));
    world.advance(at(60));
    assert_eq!((ready(&world).as_str(), world.power_state(machine)), ("Unknown", PowerState::On));
    assert_eq!(world.reset(machine, ResetType::GracefulShutdown, at(61)), ResetAnswer::Ignored);
    world.reset(machine, ResetType::ForceOff, at(700));
    world.advance(at(720));
    assert!(world.faults().is_empty(), "a hang ends with its boot");
    world.reset(machine, ResetType::On, at(721));
    world.advance(at(1100));
    assert_eq!(ready(&world), "True");
}

#[test]
fn a_host_that_comes_out_of_its_hang_reports_at_once() {
    let mut world = site();
    add_for(&mut world, FaultKind::HostHangs, Span::minutes(2), at(0));
    world.advance(at(119));
    assert_eq!(ready(&world), "Unknown");
    world.advance(at(120));
    assert_eq!(ready(&world), "True");
}

#[test]
fn a_panic_boots_the_host_anew_and_a_lasting_one_does_so_again_and_again() {
    let mut world = site();
    let machine = index(&world);
    add(&mut world, FaultKind::HostPanics, at(0));
    assert!(world.faults().is_empty() && !world.is_host_up(machine));
    assert_eq!(world.power_state(machine), PowerState::On);
    world.advance(at(300));
    assert!(world.is_host_up(machine));
    add_for(&mut world, FaultKind::HostPanics, Span::minutes(10), at(300));
    world.advance(at(899));
    assert_eq!(ready(&world), "Unknown");
    world.advance(at(1200));
    assert_eq!((ready(&world).as_str(), world.bmc_log(machine).counters().powered_off), ("True", 0));
}

#[test]
fn a_panic_is_a_boot_that_uses_up_what_was_set_for_the_next_one() {
    let mut world = site();
    let machine = index(&world);
    let once = BootOverride { enabled: BootEnabled::Once, target: BootTarget::Pxe, ..world.hardware(machine).boot.clone() };
    world.set_boot_override(machine, once, at(0));
    add(&mut world, FaultKind::HostPanics, at(1));
    assert_eq!(world.hardware(machine).boot.enabled, BootEnabled::Disabled);
}

#[test]
fn a_host_that_panics_at_every_boot_does_not_stop_time_in_a_world_without_durations() {
    let mut world = World::new(Layout::new("east", 4, 4, 1).unwrap(), Pace::instant(), START);
    add_for(&mut world, FaultKind::HostPanics, Span::minutes(1), at(0));
    world.advance(at(120));
    assert!(world.is_host_up(index(&world)));
}

#[test]
fn a_slow_boot_takes_four_times_as_long() {
    let mut world = site();
    let machine = index(&world);
    add(&mut world, FaultKind::HostBootsSlowly, at(0));
    world.reset(machine, ResetType::ForceRestart, at(1));
    world.advance(at(12 * 60));
    assert!(!world.is_host_up(machine));
    world.advance(at(18 * 60));
    assert!(world.is_host_up(machine));
}

#[test]
fn a_read_only_root_is_told_by_the_node_until_the_host_boots_again() {
    let mut world = site();
    let machine = index(&world);
    assert_eq!(condition(&world, "ReadonlyFilesystem"), "absent");
    add(&mut world, FaultKind::HostReadOnlyRoot, at(0));
    assert_eq!(condition(&world, "ReadonlyFilesystem"), "True FilesystemIsReadOnly: Filesystem is read-only");
    assert_eq!(ready(&world), "True");
    world.reset(machine, ResetType::ForceRestart, at(1));
    world.advance(at(100));
    assert_eq!(condition(&world, "ReadonlyFilesystem"), "True FilesystemIsReadOnly: Filesystem is read-only", "nobody knows better yet");
    world.advance(at(600));
    assert_eq!(condition(&world, "ReadonlyFilesystem"), "False FilesystemIsNotReadOnly: Filesystem is not read-only");
}

#[test]
fn a_host_without_network_is_unknown_while_its_bmc_answers_and_can_still_be_shut_down() {
    let mut world = site();
    let machine = index(&world);
    add(&mut world, FaultKind::HostNetworkLoss, at(0));
    world.advance(at(60));
    assert_eq!(ready(&world), "Unknown");
    assert!(world.is_bmc_reachable(machine) && world.is_host_up(machine));
    assert_eq!(world.reset(machine, ResetType::GracefulShutdown, at(61)), ResetAnswer::Accepted);
}

#[test]
fn links_that_are_down_or_flap_are_told_by_the_node() {
    let mut world = site();
    let machine = index(&world);
    let down = add(&mut world, FaultKind::LinkDown, at(0));
    assert_eq!(condition(&world, "BmmNetworkLinksUp"), "False PortDown: Physical link(s) down: 4b_p1");
    assert!(!world.is_link_up(machine, 2) && world.is_link_up(machine, 1));
    world.clear_faults(&[down], at(1));
    assert_eq!(condition(&world, "BmmNetworkLinksUp"), "True PortsUp: All physical links are up");
    let flapping = add(&mut world, FaultKind::LinkFlapping, at(10));
    assert!(!world.is_link_up(machine, 2));
    world.advance(at(70));
    assert!(world.is_link_up(machine, 2));
    let told = "False PortFlappingDetected: Port flapping in the last 15 mins: 4b_p1 (2 times)";
    assert_eq!(condition(&world, "BmmNetworkLinksStable"), told);
    world.clear_faults(&[flapping], at(100));
    world.advance(at(14 * 60));
    assert_eq!(condition(&world, "BmmNetworkLinksStable"), told, "it is counted for a while");
    world.advance(at(16 * 60));
    assert_eq!(condition(&world, "BmmNetworkLinksStable"), "True NoPortFlapping: No port flapping in the last 15 mins");
}

#[test]
fn while_the_api_is_down_nobody_is_judged_and_when_it_is_back_everybody_is_heard() {
    let mut world = site();
    add_for(&mut world, FaultKind::ApiDown, Span::minutes(10), at(0));
    world.advance(at(599));
    assert!(!world.is_api_available() && world.is_api_down());
    world.advance(at(600));
    assert!(world.is_api_available());
    assert_eq!(ready(&world), "True");
}

#[test]
fn a_hung_majority_of_the_control_plane_takes_the_api_with_it() {
    let mut world = site();
    let hang = |world: &World, name: &str| FaultOrder {
        target: FaultTarget::Machine(world.layout().index_of(name).unwrap()),
        ..order(world, FaultKind::HostHangs)
    };
    let orders = [hang(&world, "rack1control01"), hang(&world, "rack2control01")];
    let ids = world.add_faults(&orders, at(0)).unwrap();
    assert!(!world.is_api_available() && !world.is_api_down());
    world.clear_faults(&ids[..1], at(10));
    assert!(world.is_api_available());
}

#[test]
fn a_planned_fault_begins_and_ends_by_itself_in_the_time_of_its_site() {
    let pace = Pace::REAL.scaled(60.0);
    let mut world = World::new(Layout::new("east", 4, 4, 1).unwrap(), pace, START);
    let machine = index(&world);
    let planned = FaultOrder { after: Span::minutes(5), lasting: Some(Span::minutes(10)), ..order(&world, FaultKind::BmcUnreachable) };
    world.add_faults(&[planned], at(0)).unwrap();
    for (seconds, reachable) in [(4, true), (5, false), (14, false), (15, true)] {
        world.advance(at(seconds));
        assert_eq!(world.is_bmc_reachable(machine), reachable, "after {seconds} s");
    }
}

#[test]
fn an_order_that_makes_no_sense_changes_nothing() {
    let mut world = site();
    let good = order(&world, FaultKind::BmcSlow);
    let wrong = [
        (FaultOrder { target: FaultTarget::Api, ..good.clone() }, "`bmc-slow` strikes a machine, not the API server"),
        (FaultOrder { kind: FaultKind::ApiDown, ..good.clone() }, "`api-down` strikes the API server; its target is `api`"),
        (FaultOrder { setting: Some(0), ..good.clone() }, "`ms` of `bmc-slow` is from 1 to 600000, not 0"),
        (FaultOrder { kind: FaultKind::HostHangs, setting: Some(1), ..good.clone() }, "`host-hangs` takes no number"),
        (FaultOrder { lasting: Some(Span::ZERO), ..good.clone() }, "a span is from 1 second to 30 days"),
        (FaultOrder { after: Span::minutes(31 * 24 * 60), ..good.clone() }, "a span is from 1 second to 30 days"),
    ];
    for (order, words) in wrong {
        assert_eq!(world.add_faults(&[good.clone(), order], at(0)).unwrap_err().to_string(), words);
        assert!(world.faults().is_empty());
    }
    let many = vec![FaultOrder { after: Span::minutes(1), ..good }; crate::fault::FAULTS_MAX + 1];
    assert_eq!(world.add_faults(&many, at(0)), Err(FaultError::TooMany));
    assert!(world.faults().is_empty());
}

#[test]
fn of_two_faults_of_one_kind_the_younger_counts_and_the_older_again_after_it() {
    let mut world = site();
    let target = FaultTarget::Machine(index(&world));
    let slow = FaultOrder { setting: Some(8_000), ..order(&world, FaultKind::BmcSlow) };
    world.add_faults(&[slow], at(0)).unwrap();
    add_for(&mut world, FaultKind::BmcSlow, Span::minutes(1), at(10));
    assert_eq!(world.active_fault(FaultKind::BmcSlow, target.clone()).unwrap().setting, 5_000);
    world.advance(at(70));
    assert_eq!(world.active_fault(FaultKind::BmcSlow, target).unwrap().setting, 8_000);
}

#[test]
fn two_ports_of_a_machine_are_down_each_for_itself() {
    let mut world = site();
    let machine = index(&world);
    let down = |port| FaultOrder { setting: Some(port), ..order(&world, FaultKind::LinkDown) };
    let orders = [down(1), down(2)];
    let ids = world.add_faults(&orders, at(0)).unwrap();
    assert!(!world.is_link_up(machine, 1) && !world.is_link_up(machine, 2));
    world.clear_faults(&ids[..1], at(5));
    assert!(world.is_link_up(machine, 1) && !world.is_link_up(machine, 2));
}

#[test]
fn a_bmc_that_restarts_while_it_restarts_comes_back_after_the_second_time() {
    let mut world = site();
    add(&mut world, FaultKind::BmcRestart, at(0));
    add(&mut world, FaultKind::BmcRestart, at(60));
    assert_eq!(world.faults().len(), 1);
    world.advance(at(239));
    assert!(!world.is_bmc_reachable(index(&world)));
    world.advance(at(240));
    assert!(world.is_bmc_reachable(index(&world)));
}

fn restored(world: &mut World, now: Instant) -> World {
    let records = world.take_records().into_iter().filter_map(|record| Some((record.key, record.value?)));
    World::restore(world.layout().clone(), Pace::REAL, records.collect::<Vec<_>>(), now).unwrap()
}

#[test]
fn faults_outlive_the_simulator_and_stand_still_with_it() {
    let mut world = site();
    let machine = index(&world);
    add_for(&mut world, FaultKind::BmcUnreachable, Span::minutes(10), at(0));
    add(&mut world, FaultKind::HostHangs, at(0));
    add(&mut world, FaultKind::LinkFlapping, at(0));
    world.advance(at(100));
    world.mark_progress();
    let mut later = restored(&mut world, at(10_100));
    assert_eq!(later.faults().len(), 3);
    later.advance(at(10_100 + 499));
    assert!(!later.is_bmc_reachable(machine));
    assert_eq!(ready(&later), "Unknown");
    later.advance(at(10_100 + 500));
    assert!(later.is_bmc_reachable(machine));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is broken meanwhile, one long step and many short ones come to the same.
    #[test]
    fn faults_are_the_same_in_one_step_and_in_many(
        kinds in prop::collection::vec((0..FaultKind::ALL.len(), 0i64..600, 1i64..900), 1..6), pauses in prop::collection::vec(1i64..200, 1..20)
    ) {
        let mut whole = tenanted();
        let orders: Vec<FaultOrder> = kinds.iter().map(|(kind, after, lasting)| FaultOrder {
            after: Span::seconds(*after), lasting: Some(Span::seconds(*lasting)), ..order(&whole, FaultKind::ALL[*kind])
        }).collect();
        whole.add_faults(&orders, at(0)).unwrap();
        let machine = index(&whole);
        whole.reset(machine, ResetType::PowerCycle, at(5));
        let mut parts = whole.clone();
        let mut now = 5;
        for pause in pauses {
            now += pause;
            parts.advance(at(now));
        }
        whole.advance(at(now));
        prop_assert_eq!(whole.faults(), parts.faults());
        prop_assert_eq!(format!("{:?} {:?}", whole.states, whole.undercloud), format!("{:?} {:?}", parts.states, parts.undercloud));
        prop_assert_eq!(format!("{:?}", whole.tenants), format!("{:?}", parts.tenants));
    }
}
