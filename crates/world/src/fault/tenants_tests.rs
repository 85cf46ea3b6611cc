//! Faults of a tenant's cluster: budgets that nobody counts, and what a restart of the simulator leaves of it all.

use serde_json::json;

use super::*;
use crate::eviction::EvictionRefusal;
use crate::fault::{FaultId, FaultOrder};
use crate::layout::Layout;
use crate::objects::DISRUPTION_BUDGETS;
use crate::pace::Pace;
use crate::time::Span;
use crate::writes::DeleteOptions;

const START: Instant = Instant(1_800_000_000_000);
const TENANT: &str = "naks-01";

fn at(seconds: i64) -> Instant {
    START + Span::seconds(seconds)
}

fn cluster() -> ClusterName {
    ClusterName::Tenant(TENANT.to_owned())
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("default", name)
}

/// A site with a cluster in which two pods of their own run.
fn site() -> World {
    let node = |name: &str, pool: Option<&str>| crate::ClusterNode {
        name: name.to_owned(),
        machine: "rack1compute01".to_owned(),
        pool: pool.map(str::to_owned),
        cores: 4,
        memory_gib: 8,
    };
    let cluster = crate::TenantCluster {
        name: TENANT.to_owned(),
        version: "v1.32.4".to_owned(),
        nodes: vec![node("naks-01-cp", None), node("naks-01-worker", Some("agentpool1"))],
        workloads: vec!["one", "two"].into_iter().map(|name| crate::Workload::new(crate::WorkloadKind::Bare, name, 1)).collect(),
    };
    let tenancy = crate::Tenancy { vms: Vec::new(), clusters: vec![cluster] };
    World::with_tenants(Layout::new("east", 1, 4, 1).unwrap(), Pace::REAL, START, &tenancy)
}

fn strike(world: &mut World, kind: FaultKind, now: Instant) -> FaultId {
    let target = FaultTarget::Tenant(TENANT.to_owned());
    world.add_faults(&[FaultOrder { kind, target, after: Span::ZERO, lasting: None, setting: None }], now).unwrap()[0]
}

/// A budget that keeps `least` of the pods with a label that both have.
fn budget(world: &mut World, least: i64, now: Instant) {
    let spec = json!({"minAvailable": least, "selector": {}});
    world.create_object_in(&cluster(), &DISRUPTION_BUDGETS, "default", json!({"metadata": {"name": "both"}, "spec": spec}), now).unwrap();
}

fn evict(world: &mut World, pod: &str, now: Instant) -> Result<(), EvictionRefusal> {
    world.evict_pod_in(&cluster(), &key(pod), &DeleteOptions::default(), now)
}

fn allowed(world: &World) -> i64 {
    let budget = world.kube(&cluster()).unwrap().objects().get(&DISRUPTION_BUDGETS, &key("both")).unwrap();
    budget["status"]["disruptionsAllowed"].as_i64().unwrap()
}

fn restored(world: &mut World, now: Instant) -> World {
    world.mark_progress();
    let records = world.take_records().into_iter().filter_map(|record| Some((record.key, record.value?)));
    World::restore(world.layout().clone(), Pace::REAL, records.collect::<Vec<_>>(), now).unwrap()
}

fn not_observed() -> Result<(), EvictionRefusal> {
    Err(EvictionRefusal::NotObserved { budget: "both".to_owned() })
}

#[test]
fn a_budget_that_is_made_while_nobody_counts_lets_no_pod_go_until_it_is_counted() {
    let mut world = site();
    world.advance(at(120));
    let id = strike(&mut world, FaultKind::TenantBudgetsUncounted, at(120));
    budget(&mut world, 1, at(121));
    assert_eq!(evict(&mut world, "one", at(122)), not_observed());
    world.advance(at(600));
    assert_eq!(evict(&mut world, "one", at(600)), not_observed());
    world.clear_faults(&[id], at(601));
    assert_eq!(allowed(&world), 1);
    assert_eq!(evict(&mut world, "one", at(602)), Ok(()));
}

#[test]
fn a_counted_budget_keeps_its_count_while_nobody_counts_and_loses_it_when_it_is_changed() {
    let mut world = site();
    budget(&mut world, 0, at(120));
    strike(&mut world, FaultKind::TenantBudgetsUncounted, at(121));
    assert_eq!(evict(&mut world, "one", at(122)), Ok(()));
    assert_eq!(allowed(&world), 1, "the API server itself takes what is spent");
    // What was spent is given back by the controller alone, which would have done so by now.
    world.advance(at(600));
    assert_eq!(allowed(&world), 1);
    let changed = |budget: &Value| {
        let mut budget = budget.clone();
        budget["spec"]["minAvailable"] = json!(1);
        Ok::<_, ObjectError>(budget)
    };
    world.modify_object_in(&cluster(), &DISRUPTION_BUDGETS, &key("both"), Part::Main, at(601), changed).unwrap();
    assert_eq!(evict(&mut world, "two", at(602)), not_observed());
}

#[test]
fn budgets_that_nobody_counted_are_counted_when_the_fault_ends_after_a_restart_of_the_simulator() {
    let mut world = site();
    world.advance(at(120));
    let id = strike(&mut world, FaultKind::TenantBudgetsUncounted, at(120));
    budget(&mut world, 1, at(121));
    let mut later = restored(&mut world, at(200));
    assert_eq!(evict(&mut later, "one", at(201)), not_observed());
    later.clear_faults(&[id], at(202));
    assert_eq!(evict(&mut later, "one", at(203)), Ok(()));
}

#[test]
fn a_tenants_api_that_is_down_stays_down_through_a_restart_of_the_simulator() {
    let mut world = site();
    world.advance(at(120));
    assert!(world.is_tenant_reachable(TENANT));
    let id = strike(&mut world, FaultKind::TenantApiDown, at(120));
    let mut later = restored(&mut world, at(200));
    assert!(!later.is_tenant_reachable(TENANT));
    later.clear_faults(&[id], at(210));
    assert!(later.is_tenant_reachable(TENANT));
}
