//! Pods, namespaces, budgets and evictions over time.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::eviction::EvictionRefusal;
use crate::layout::Layout;
use crate::machine::ResetType;
use crate::objects::EVENTS;
use crate::pace::Pace;
use crate::persist::Record;
use crate::site::World;

const START: Instant = Instant(1_800_000_000_000);
const NODE: &str = "rack1compute01";

fn at(seconds: i64) -> Instant {
    START + Span::seconds(seconds)
}

fn layout() -> Layout {
    Layout::new("east", 4, 4, 1).unwrap()
}

fn site() -> World {
    World::new(layout(), Pace::REAL, START)
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("default", name)
}

fn create_pod(world: &mut World, name: &str, node: &str, now: Instant) {
    let pod = json!({
        "metadata": {"name": name, "labels": {"app": "db"}},
        "spec": {"nodeName": node, "containers": [{"name": "main", "image": "db:1"}]},
    });
    world.create_object(&PODS, "default", pod, now).unwrap();
}

fn create_budget(world: &mut World, name: &str, least: i64, now: Instant) {
    let budget = json!({"metadata": {"name": name}, "spec": {"minAvailable": least, "selector": {"matchLabels": {"app": "db"}}}});
    world.create_object(&DISRUPTION_BUDGETS, "default", budget, now).unwrap();
}

fn pod(world: &World, name: &str) -> Option<Arc<Value>> {
    world.objects().get(&PODS, &key(name)).cloned()
}

/// `Running ready`, `Pending`, `Running leaving`, `gone`.
fn state(world: &World, name: &str) -> String {
    let Some(pod) = pod(world, name) else { return "gone".to_owned() };
    let ready = if pod::is_ready(&pod) { " ready" } else { "" };
    let leaving = if is_terminating(&pod) { " leaving" } else { "" };
    format!("{}{ready}{leaving}", pod::phase(&pod))
}

fn allowed(world: &World, budget: &str) -> i64 {
    world.objects().get(&DISRUPTION_BUDGETS, &key(budget)).unwrap()["status"]["disruptionsAllowed"].as_i64().unwrap()
}

fn delete(world: &mut World, name: &str, grace_seconds: Option<i64>, now: Instant) -> Deleted {
    world.delete_object(&PODS, &key(name), &DeleteOptions { grace_seconds, ..DeleteOptions::default() }, now).unwrap()
}

#[test]
fn a_pod_bound_to_a_running_host_runs_and_an_unbound_one_waits() {
    let mut world = site();
    create_pod(&mut world, "a", NODE, at(10));
    create_pod(&mut world, "free", "", at(10));
    create_pod(&mut world, "lost", "no-such-node", at(10));
    assert_eq!(state(&world, "a"), "Pending");
    world.advance(at(12));
    assert_eq!(["a", "free", "lost"].map(|name| state(&world, name)), ["Running ready", "Pending", "Pending"]);
    assert_eq!(pod(&world, "a").unwrap()["status"]["containerStatuses"][0]["restartCount"], 0);
    assert_eq!(pod(&world, "a").unwrap()["spec"]["terminationGracePeriodSeconds"], 30);
    let events: Vec<_> =
        world.objects().list(&EVENTS, Some("default")).filter(|(_, event)| event["involvedObject"]["kind"] == "Pod").collect();
    assert_eq!(events.len(), 1);
}

#[test]
fn a_pod_ends_after_its_grace_and_can_be_hurried_but_not_slowed() {
    let mut world = site();
    for name in ["own", "short", "forced", "hurried"] {
        create_pod(&mut world, name, NODE, at(0));
    }
    world.advance(at(5));
    assert!(matches!(delete(&mut world, "own", None, at(10)), Deleted::Leaving(_)));
    delete(&mut world, "short", Some(5), at(10));
    assert!(matches!(delete(&mut world, "forced", Some(0), at(10)), Deleted::Gone(_)));
    delete(&mut world, "hurried", None, at(10));
    delete(&mut world, "hurried", Some(3), at(11));
    delete(&mut world, "hurried", Some(100), at(12));
    assert_eq!(pod(&world, "own").unwrap()["metadata"]["deletionTimestamp"], at(40).to_seconds_text());
    let present =
        |world: &World| ["own", "short", "forced", "hurried"].into_iter().filter(|name| pod(world, name).is_some()).collect::<Vec<_>>();
    assert_eq!(present(&world), ["own", "short", "hurried"]);
    world.advance(at(14));
    assert_eq!(present(&world), ["own", "short"]);
    world.advance(at(15));
    assert_eq!(present(&world), ["own"]);
    world.advance(at(39));
    assert_eq!(state(&world, "own"), "Running ready leaving");
    world.advance(at(40));
    assert_eq!(present(&world), [] as [&str; 0]);
}

#[test]
fn a_host_that_is_down_leaves_its_pods_terminating_until_it_returns() {
    let mut world = site();
    let machine = world.layout().index_of(NODE).unwrap();
    for name in ["leaving", "staying"] {
        create_pod(&mut world, name, NODE, at(0));
    }
    world.advance(at(5));
    world.reset(machine, ResetType::ForceOff, at(10));
    world.advance(at(20));
    delete(&mut world, "leaving", None, at(20));
    assert_eq!(state(&world, "staying"), "Running ready");
    world.advance(at(300));
    assert_eq!(["leaving", "staying"].map(|name| state(&world, name)), ["Running leaving", "Running"]);
    world.reset(machine, ResetType::On, at(300));
    world.advance(at(300 + 20 + 264 + 3));
    assert_eq!(["leaving", "staying"].map(|name| state(&world, name)), ["gone", "Running ready"]);
    assert_eq!(pod(&world, "staying").unwrap()["status"]["containerStatuses"][0]["restartCount"], 1);
}

#[test]
fn pods_that_ran_on_while_the_control_plane_was_away_are_as_they_were() {
    let mut world = site();
    create_pod(&mut world, "a", NODE, at(0));
    world.advance(at(5));
    let voters = ["rack1control01", "rack2control01"].map(|name| world.layout().index_of(name).unwrap());
    for voter in voters {
        world.reset(voter, ResetType::ForceOff, at(10));
    }
    world.advance(at(100));
    assert!(!world.is_api_available());
    for voter in voters {
        world.reset(voter, ResetType::On, at(100));
    }
    world.advance(at(500));
    assert_eq!(state(&world, "a"), "Running ready");
    assert_eq!(pod(&world, "a").unwrap()["status"]["containerStatuses"][0]["restartCount"], 0);
}

#[test]
fn an_eviction_spends_from_the_budget_until_it_is_exhausted() {
    let mut world = site();
    for name in ["a", "b", "c"] {
        create_pod(&mut world, name, NODE, at(0));
    }
    world.advance(at(5));
    create_budget(&mut world, "db", 2, at(6));
    assert_eq!(allowed(&world, "db"), 1);
    world.evict_pod(&key("a"), &DeleteOptions::default(), at(10)).unwrap();
    assert_eq!(pod(&world, "a").unwrap()["status"]["conditions"].as_array().unwrap().last().unwrap()["type"], "DisruptionTarget");
    assert_eq!(allowed(&world, "db"), 0);
    let refused = world.evict_pod(&key("b"), &DeleteOptions::default(), at(11));
    assert_eq!(refused, Err(EvictionRefusal::Exhausted { budget: "db".to_owned(), needed: 2, healthy: 2 }));
    assert_eq!(world.evict_pod(&key("a"), &DeleteOptions::default(), at(12)), Ok(()), "asking again changes nothing");
    world.advance(at(41));
    assert_eq!(["a", "b"].map(|name| state(&world, name)), ["gone", "Running ready"]);
    assert_eq!(world.evict_pod(&key("a"), &DeleteOptions::default(), at(42)), Err(EvictionRefusal::Object(ObjectError::NotFound)));
    create_budget(&mut world, "also", 0, at(43));
    assert_eq!(world.evict_pod(&key("b"), &DeleteOptions::default(), at(44)), Err(EvictionRefusal::Ambiguous));
}

#[test]
fn an_eviction_that_means_another_pod_burns_a_disruption_for_two_minutes() {
    let mut world = site();
    for name in ["a", "b"] {
        create_pod(&mut world, name, NODE, at(0));
    }
    world.advance(at(5));
    create_budget(&mut world, "db", 1, at(6));
    let only_if = Preconditions { uid: Some("another".to_owned()), resource_version: None };
    let refused = world.evict_pod(&key("a"), &DeleteOptions { only_if, grace_seconds: None }, at(10));
    assert!(matches!(refused, Err(EvictionRefusal::Object(ObjectError::UidMismatch { .. }))));
    assert_eq!((state(&world, "a").as_str(), allowed(&world, "db")), ("Running ready", 0));
    world.advance(at(129));
    assert_eq!(allowed(&world, "db"), 0);
    world.advance(at(130));
    assert_eq!(allowed(&world, "db"), 1);
}

#[test]
fn a_namespace_takes_its_content_with_it() {
    let mut world = site();
    world.create_object(&NAMESPACES, "", json!({"metadata": {"name": "team"}}), at(0)).unwrap();
    let spec = json!({"nodeName": NODE, "containers": [{"name": "main", "image": "db:1"}]});
    world.create_object(&PODS, "team", json!({"metadata": {"name": "a"}, "spec": spec}), at(0)).unwrap();
    world.create_object(&SECRETS, "team", json!({"metadata": {"name": "s"}, "data": {}}), at(0)).unwrap();
    world.advance(at(5));
    let name = ObjectKey::cluster("team");
    let deleted = world.delete_object(&NAMESPACES, &name, &DeleteOptions::default(), at(10)).unwrap();
    let Deleted::Leaving(leaving) = deleted else { panic!("{deleted:?}") };
    assert_eq!(leaving["status"]["phase"], "Terminating");
    let late = world.create_object(&SECRETS, "team", json!({"metadata": {"name": "t"}}), at(11));
    assert_eq!(late, Err(ObjectError::NamespaceTerminating { namespace: "team".to_owned() }));
    let member = ObjectKey::namespaced("team", "a");
    let refused = Err(EvictionRefusal::Object(ObjectError::NamespaceTerminating { namespace: "team".to_owned() }));
    for (after, is_leaving) in [(14, false), (15, true)] {
        world.advance(at(after));
        assert_eq!(world.objects().list(&SECRETS, Some("team")).next().is_none(), is_leaving, "after {after} s");
        assert_eq!(is_terminating(world.objects().get(&PODS, &member).unwrap()), is_leaving, "after {after} s");
        assert_eq!(world.evict_pod(&member, &DeleteOptions::default(), at(after)), refused, "after {after} s");
    }
    world.advance(at(45));
    assert!(world.objects().get(&NAMESPACES, &name).is_none());
    let immortal = world.delete_object(&NAMESPACES, &ObjectKey::cluster("default"), &DeleteOptions::default(), at(46));
    assert!(matches!(immortal, Err(ObjectError::Forbidden(_))));
}

#[test]
fn a_namespace_goes_on_leaving_after_a_restart_of_the_simulator() {
    let mut world = site();
    let name = ObjectKey::cluster("team");
    world.create_object(&NAMESPACES, "", json!({"metadata": {"name": "team"}}), at(0)).unwrap();
    world.create_object(&SECRETS, "team", json!({"metadata": {"name": "s"}, "data": {}}), at(0)).unwrap();
    world.delete_object(&NAMESPACES, &name, &DeleteOptions::default(), at(10)).unwrap();
    let records = world.take_records().into_iter().filter_map(|record| Some((record.key, record.value?)));
    let mut later = World::restore(world.layout().clone(), Pace::REAL, records.collect::<Vec<_>>(), at(12)).unwrap();
    later.advance(at(14));
    assert!(later.objects().get(&NAMESPACES, &name).is_some());
    later.advance(at(15));
    assert!(later.objects().get(&NAMESPACES, &name).is_none());
}

#[test]
fn a_finalizer_keeps_an_object_until_it_is_taken_away() {
    let mut world = site();
    let lease = json!({"metadata": {"name": "kept", "finalizers": ["example.com/wait"]}, "spec": {}});
    world.create_object(&crate::LEASES, "default", lease, at(0)).unwrap();
    let deleted = world.delete_object(&crate::LEASES, &key("kept"), &DeleteOptions::default(), at(1)).unwrap();
    assert!(matches!(deleted, Deleted::Leaving(_)));
    let release = |lease: &Value| {
        let mut lease = lease.clone();
        lease["metadata"]["finalizers"] = json!([]);
        Ok::<_, ObjectError>(lease)
    };
    world.modify_object(&crate::LEASES, &key("kept"), Part::Main, at(2), release).unwrap();
    assert!(world.objects().get(&crate::LEASES, &key("kept")).is_none());
}

#[test]
fn a_finalizer_keeps_a_pod_that_has_ended() {
    let mut world = site();
    let spec = json!({"nodeName": NODE, "containers": [{"name": "main", "image": "db:1"}], "terminationGracePeriodSeconds": 5});
    let document = json!({"metadata": {"name": "a", "finalizers": ["example.com/wait"]}, "spec": spec});
    world.create_object(&PODS, "default", document, at(0)).unwrap();
    world.advance(at(5));
    delete(&mut world, "a", None, at(10));
    world.advance(at(60));
    assert_eq!(state(&world, "a"), "Running leaving");
    assert_eq!(pod(&world, "a").unwrap()["metadata"]["deletionGracePeriodSeconds"], 0);
    let release = |pod: &Value| {
        let mut pod = pod.clone();
        pod["metadata"]["finalizers"] = json!([]);
        Ok::<_, ObjectError>(pod)
    };
    world.modify_object(&PODS, &key("a"), Part::Main, at(61), release).unwrap();
    assert_eq!(state(&world, "a"), "gone");
}

#[test]
fn a_pod_stays_what_it_was_made_as() {
    let mut world = site();
    create_pod(&mut world, "a", NODE, at(0));
    let mut set = |field: &str, value: Value| {
        world.modify_object(&PODS, &key("a"), Part::Main, at(1), |pod| {
            let mut pod = pod.clone();
            pod["spec"][field] = value;
            Ok::<_, ObjectError>(pod)
        })
    };
    assert!(matches!(set("nodeName", json!("rack2compute01")), Err(ObjectError::Invalid(_))));
    assert!(set("containers", json!([{"name": "main", "image": "db:2"}])).is_ok());
    world.advance(at(5));
    let status = &pod(&world, "a").unwrap()["status"]["containerStatuses"][0];
    assert_eq!((&status["image"], &status["restartCount"]), (&json!("db:2"), &json!(0)), "it had not started when its image changed");
    let image = |pod: &Value| {
        let mut pod = pod.clone();
        pod["spec"]["containers"][0]["image"] = json!("db:3");
        Ok::<_, ObjectError>(pod)
    };
    world.modify_object(&PODS, &key("a"), Part::Main, at(6), image).unwrap();
    world.advance(at(9));
    let status = &pod(&world, "a").unwrap()["status"]["containerStatuses"][0];
    assert_eq!((&status["image"], &status["restartCount"]), (&json!("db:3"), &json!(1)));
    let nothing_to_run = world.create_object(&PODS, "default", json!({"metadata": {"name": "b"}, "spec": {}}), at(2));
    assert_eq!(nothing_to_run, Err(ObjectError::Invalid("spec.containers: Required value".to_owned())));
    let service = world.create_object(&crate::SERVICES, "default", json!({"metadata": {"name": "b"}}), at(2));
    assert!(matches!(service, Err(ObjectError::Forbidden(_))));
}

#[test]
fn pods_and_budgets_go_on_after_a_restart_of_the_simulator() {
    let mut world = site();
    for name in ["a", "b", "c"] {
        create_pod(&mut world, name, NODE, at(0));
    }
    world.advance(at(5));
    create_budget(&mut world, "db", 1, at(6));
    world.evict_pod(&key("a"), &DeleteOptions::default(), at(10)).unwrap();
    create_pod(&mut world, "new", NODE, at(10));
    let records: Vec<Record> = world.take_records();
    let saved = records.into_iter().filter_map(|record| Some((record.key, record.value?)));
    let mut restored = World::restore(layout(), Pace::REAL, saved, at(20)).unwrap();
    assert_eq!(["a", "b", "new"].map(|name| state(&restored, name)), ["Running ready leaving", "Running ready", "Pending"]);
    restored.advance(at(40));
    assert_eq!(["a", "b", "new"].map(|name| state(&restored, name)), ["gone", "Running ready", "Running ready"]);
    assert_eq!(allowed(&restored, "db"), 2);
    assert_eq!(pod(&restored, "b").unwrap()["status"]["containerStatuses"][0]["restartCount"], 0);
}

/// Something that a client or a hand does to a site.
fn act(world: &mut World, kind: usize, machine: usize, now: Instant) {
    let name = format!("p{machine}");
    let node = world.layout().machines()[machine].name.clone();
    // What is refused is refused in both worlds.
    match kind {
        0 | 1 => {
            let spec = json!({"nodeName": node, "containers": [{"name": "main", "image": "db:1"}]});
            let pod = json!({"metadata": {"name": name, "labels": {"app": "db"}}, "spec": spec});
            let _ = world.create_object(&PODS, "default", pod, now);
        }
        2 => drop(world.evict_pod(&key(&name), &DeleteOptions::default(), now)),
        3 => drop(world.delete_object(&PODS, &key(&name), &DeleteOptions { grace_seconds: Some(5), ..DeleteOptions::default() }, now)),
        4 => {
            let only_if = Preconditions { uid: Some("another".to_owned()), resource_version: None };
            let _ = world.evict_pod(&key(&name), &DeleteOptions { only_if, grace_seconds: None }, now);
        }
        reset => drop(world.reset(machine, ResetType::ALL[reset - 5], now)),
    }
}

/// The pods and the budget, but for what counts writes.
fn pods_and_budget(world: &World) -> String {
    let pods =
        world.objects().list(&PODS, None).map(|(key, pod)| format!("{key:?} {} {}", pod["metadata"]["deletionTimestamp"], pod["status"]));
    let budgets = world.objects().list(&DISRUPTION_BUDGETS, None).map(|(_, budget)| budget["status"].to_string());
    pods.chain(budgets).collect::<Vec<_>>().join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn pods_are_where_they_would_be_however_often_somebody_looks(
        acts in proptest::collection::vec((0usize..11, 0usize..6, 0i64..120), 1..24),
        cuts in proptest::collection::vec(1i64..20_000, 1..40),
    ) {
        let (mut stepped, mut direct) = (site(), site());
        for world in [&mut stepped, &mut direct] {
            create_budget(world, "db", 2, START);
        }
        let mut now = START;
        let mut cuts = cuts.into_iter().cycle();
        for (kind, machine, after) in acts.into_iter().chain([(3, 0, 700)]) {
            let target = now + Span::seconds(after);
            while now < target {
                now = target.min(now + Span(cuts.next().unwrap_or(1)));
                stepped.advance(now);
            }
            act(&mut stepped, kind, machine, now);
            act(&mut direct, kind, machine, now);
            prop_assert_eq!(pods_and_budget(&stepped), pods_and_budget(&direct));
        }
        prop_assert_eq!(format!("{:?}", stepped.states), format!("{:?}", direct.states));
    }
}
