//! Workloads that outlive the simulator, and that end alike however often somebody looks.

use proptest::prelude::*;

use super::*;
use crate::persist::Record;

fn save(world: &mut World, saved: &mut BTreeMap<String, Value>) {
    for Record { key, value } in world.take_records() {
        match value {
            Some(value) => saved.insert(key, value),
            None => saved.remove(&key),
        };
    }
}

/// Every object of the tenant without what a restart renews: heartbeats, leases and versions.
fn essence(world: &World) -> String {
    let mut lines = Vec::new();
    for resource in [&PODS, &DEPLOYMENTS, &REPLICA_SETS, &STATEFUL_SETS, &DAEMON_SETS, &DISRUPTION_BUDGETS, &CLAIMS] {
        for (key, object) in kube(world).objects().list(resource, None) {
            let mut object = Value::clone(object);
            object["metadata"]["resourceVersion"] = Value::Null;
            lines.push(format!("{} {key:?} {object}", resource.plural));
        }
    }
    lines.join("\n")
}

#[test]
fn a_saved_world_with_tenants_is_restored_with_the_same_objects_and_goes_on() {
    let (mut world, mut saved) = (site(), BTreeMap::new());
    create(&mut world, &DEPLOYMENTS, workload("web", 3, "1"), at(0));
    create(&mut world, &STATEFUL_SETS, workload("db", 2, "1"), at(0));
    world.advance(at(10));
    save(&mut world, &mut saved);
    world.tenant_host_down(TENANT, "w-2", at(10));
    world.advance(at(15));
    world.mark_progress();
    save(&mut world, &mut saved);
    let mut restored = World::restore(layout(), Pace::REAL, saved.clone(), at(1_015)).unwrap();
    assert_eq!(essence(&restored), essence(&world));
    assert!(kube(&restored).objects().changes_after(&PODS, kube(&world).objects().version()).is_err());
    world.advance(at(700));
    restored.advance(at(1_700));
    assert_eq!(pods(&restored), pods(&world));
    assert!(pods(&world).contains("db-1 on w-2: Running leaving"), "{}", pods(&world));

    restored.tenant_remove(TENANT);
    save(&mut restored, &mut saved);
    assert!(!saved.keys().any(|key| key.starts_with("tenant/")), "nothing of it is left");
}

#[test]
fn a_tenant_of_whom_half_is_saved_is_not_restored() {
    let (mut world, mut saved) = (site(), BTreeMap::new());
    save(&mut world, &mut saved);
    saved.remove("tenant/naks-01/progress").unwrap();
    let error = World::restore(layout(), Pace::REAL, saved, at(10)).unwrap_err();
    assert_eq!(error.to_string(), "the record `tenant/naks-01/progress` is missing");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn workloads_end_where_they_would_however_often_somebody_looks(
        events in proptest::collection::vec((0usize..3, 0usize..4, 1i64..200), 1..10),
        cuts in proptest::collection::vec(1i64..40_000, 1..40),
    ) {
        let (mut stepped, mut direct) = (site(), site());
        for world in [&mut stepped, &mut direct] {
            create(world, &DEPLOYMENTS, workload("web", 4, "1"), START);
            create(world, &STATEFUL_SETS, workload("db", 2, "1"), START);
        }
        let mut now = START;
        let mut cuts = cuts.into_iter().cycle();
        for (worker, event, after) in events {
            let target = now + Span::seconds(after);
            while now < target {
                now = target.min(now + Span(cuts.next().unwrap_or(1)));
                stepped.advance(now);
            }
            for world in [&mut stepped, &mut direct] {
                world.advance(now);
                let name = format!("w-{}", worker + 1);
                match event {
                    0 => world.tenant_host_down(TENANT, &name, now),
                    1 => world.tenant_host_up(TENANT, &tenant_node(&name, "rack1compute01"), &format!("boot-{}", now.0), now),
                    2 => world.tenant_host_forget(TENANT, &name, now),
                    _ => change(world, &DEPLOYMENTS, &key("web"), now, |web| web["spec"]["replicas"] = json!(after % 7)),
                }
            }
        }
        prop_assert_eq!(format!("{:?}", kube(&stepped)), format!("{:?}", kube(&direct)));
        let pods = kube(&direct).objects().list(&PODS, Some("default"));
        let members = pods.filter(|(key, _)| key.name.starts_with("db-")).count();
        prop_assert!(members <= 2, "a stateful pod is there at most once");
    }
}
