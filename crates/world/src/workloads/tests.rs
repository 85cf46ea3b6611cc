//! Workloads of a tenant cluster over time: replacement, placement, budgets, dead nodes.

mod lasting;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use expect_test::expect;

use super::*;
use crate::clusters::ClusterName;
use crate::eviction::EvictionRefusal;
use crate::host::{TenantNode, TenantRole};
use crate::layout::Layout;
use crate::node;
use crate::objects::{CLAIMS, DISRUPTION_BUDGETS, NODES, Preconditions};
use crate::pace::Pace;
use crate::site::World;
use crate::time::Span;
use crate::writes::{DeleteOptions, Deleted};

const START: Instant = Instant(1_800_000_000_000);
const TENANT: &str = "naks-01";

fn at(seconds: i64) -> Instant {
    START + Span::seconds(seconds)
}

fn cluster() -> ClusterName {
    ClusterName::Tenant(TENANT.to_owned())
}

fn layout() -> Layout {
    Layout::new("east", 4, 4, 1).unwrap()
}

fn tenant_node(name: &str, machine: &str) -> TenantNode {
    let role = match name.starts_with("cp") {
        true => TenantRole::ControlPlane,
        false => TenantRole::Worker { pool: "agentpool1".to_owned(), mode: "System".to_owned() },
    };
    TenantNode {
        name: name.to_owned(),
        role,
        machine: machine.to_owned(),
        zone: "rack1".to_owned(),
        cpu_cores: 4,
        memory_mib: 8_192,
        address: Ipv4Addr::new(10, 9, 0, 1),
        uuid: format!("uuid-of-{name}"),
        version: "v1.32.4".to_owned(),
        labels: BTreeMap::new(),
    }
}

/// A site with a tenant cluster of one control-plane node and three workers of four cores.
fn site() -> World {
    let mut world = World::new(layout(), Pace::REAL, START);
    world.tenant_add(TENANT, START);
    for name in ["cp-1", "w-1", "w-2", "w-3"] {
        world.tenant_host_up(TENANT, &tenant_node(name, "rack1compute01"), &format!("boot-1-of-{name}"), START);
    }
    world
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("default", name)
}

fn workload(name: &str, replicas: i64, cpu: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": "web:1", "resources": {"requests": {"cpu": cpu}}}]},
            },
        },
    })
}

fn create(world: &mut World, resource: &Resource, object: Value, now: Instant) {
    world.create_object_in(&cluster(), resource, "default", object, now).unwrap();
}

fn change(world: &mut World, resource: &Resource, key: &ObjectKey, now: Instant, change: impl Fn(&mut Value)) {
    let changed = world.modify_object_in(&cluster(), resource, key, Part::Main, now, |old| {
        let mut new = old.clone();
        change(&mut new);
        Ok::<_, ObjectError>(new)
    });
    changed.unwrap();
}

fn kube(world: &World) -> &Kube {
    world.kube(&cluster()).unwrap()
}

/// One line per pod of the default namespace: name without its random part, node, state.
fn pods(world: &World) -> String {
    let mut lines: Vec<String> = kube(world)
        .objects()
        .list(&PODS, Some("default"))
        .map(|(key, pod)| {
            let name = match pod["metadata"]["generateName"].as_str() {
                Some(prefix) => format!("{}*", prefix.split('-').next().unwrap()),
                None => key.name.clone(),
            };
            let leaving = if pod::is_terminating(pod) { " leaving" } else { "" };
            let ready = if pod::is_ready(pod) { " ready" } else { "" };
            format!("{name} on {}: {}{ready}{leaving}\n", pod::node_name(pod).unwrap_or("-"), pod::phase(pod))
        })
        .collect();
    lines.sort();
    lines.concat()
}

fn status(world: &World, resource: &Resource, name: &str) -> Value {
    kube(world).objects().get(resource, &key(name)).unwrap()["status"].clone()
}

fn pod_on(world: &World, node: &str) -> ObjectKey {
    let mut pods = kube(world).objects().list(&PODS, Some("default"));
    pods.find(|(_, pod)| pod::node_name(pod) == Some(node) && !pod::is_terminating(pod)).unwrap().0.clone()
}

fn evict(world: &mut World, pod: &ObjectKey, now: Instant) -> Result<(), EvictionRefusal> {
    world.evict_pod_in(&cluster(), pod, &DeleteOptions::default(), now)
}

#[test]
fn tenant_nodes_register_with_the_labels_of_their_machine_and_pool() {
    let mut world = site();
    let node = |world: &World, name: &str| kube(world).objects().get(&NODES, &ObjectKey::cluster(name)).unwrap().clone();
    assert!(kube(&world).is_available());
    expect![[r#"
        {"kubernetes.azure.com/agentpool":"agentpool1","kubernetes.azure.com/mode":"system","kubernetes.io/arch":"amd64","kubernetes.io/hostname":"w-1","kubernetes.io/os":"linux","topology.kubernetes.io/baremetalmachine":"rack1compute01","topology.kubernetes.io/zone":"rack1"}"#]]
    .assert_eq(&node(&world, "w-1")["metadata"]["labels"].to_string());
    assert_eq!(node(&world, "w-1")["status"]["allocatable"]["memory"], "8192Mi");
    assert_eq!(node(&world, "cp-1")["metadata"]["labels"]["node-role.kubernetes.io/control-plane"], "");
    world.advance(at(60));
    world.tenant_host_down(TENANT, "w-1", at(60));
    world.advance(at(101));
    assert_eq!(node::ready_status(&node(&world, "w-1")), Some("Unknown"));
    world.tenant_host_up(TENANT, &tenant_node("w-1", "rack2compute01"), "boot-2", at(101));
    assert_eq!(node::ready_status(&node(&world, "w-1")), Some("True"));
    assert_eq!(node(&world, "w-1")["metadata"]["labels"]["topology.kubernetes.io/baremetalmachine"], "rack2compute01");
    // The undercloud has heard nothing of all that.
    assert!(world.objects().get(&NODES, &ObjectKey::cluster("w-1")).is_none());
}

#[test]
fn a_tenant_without_a_majority_of_its_control_plane_does_not_answer() {
    let mut world = site();
    for name in ["cp-2", "cp-3"] {
        world.tenant_host_up(TENANT, &tenant_node(name, "rack2compute01"), "boot-1", START);
    }
    world.tenant_host_down(TENANT, "cp-1", at(10));
    assert!(kube(&world).is_available());
    world.tenant_host_down(TENANT, "cp-2", at(20));
    assert!(!kube(&world).is_available() && world.is_tenant_reachable(TENANT));
    let version = kube(&world).objects().version();
    world.tenant_host_down(TENANT, "cp-3", at(30));
    world.advance(at(300));
    assert!(!world.is_tenant_reachable(TENANT));
    assert_eq!(kube(&world).objects().version(), version, "nothing is written while the API is away");
    for name in ["cp-1", "cp-2"] {
        world.tenant_host_up(TENANT, &tenant_node(name, "rack2compute01"), "boot-2", at(300));
    }
    assert!(kube(&world).is_available());
    world.tenant_hold_down(TENANT, true, at(310));
    assert!(!kube(&world).is_available() && !world.is_tenant_reachable(TENANT));
    world.tenant_hold_down(TENANT, false, at(320));
    assert!(kube(&world).is_available());
}

#[test]
fn a_deployment_keeps_its_pods_and_an_evicted_one_is_replaced_elsewhere_or_pending() {
    let mut world = site();
    create(&mut world, &DEPLOYMENTS, workload("web", 3, "3"), at(0));
    world.advance(at(10));
    expect![[r#"
        web* on w-1: Running ready
        web* on w-2: Running ready
        web* on w-3: Running ready
    "#]]
    .assert_eq(&pods(&world));
    assert_eq!(status(&world, &DEPLOYMENTS, "web")["availableReplicas"], 3);

    change(&mut world, &NODES, &ObjectKey::cluster("w-1"), at(20), |node| node["spec"]["unschedulable"] = json!(true));
    let evicted = pod_on(&world, "w-1");
    evict(&mut world, &evicted, at(20)).unwrap();
    world.advance(at(60));
    let stuck = kube(&world).objects().list(&PODS, Some("default")).find(|(_, pod)| pod::node_name(pod).is_none()).unwrap().1.clone();
    let condition = &stuck["status"]["conditions"][0];
    assert_eq!(
        (&condition["type"], &condition["status"], &condition["reason"]),
        (&json!("PodScheduled"), &json!("False"), &json!("Unschedulable"))
    );
    expect![[
        "0/4 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 1 node(s) were unschedulable, 2 Insufficient cpu."
    ]]
    .assert_eq(condition["message"].as_str().unwrap());
    assert_eq!(status(&world, &DEPLOYMENTS, "web")["unavailableReplicas"], 1);

    change(&mut world, &DEPLOYMENTS, &key("web"), at(70), |web| web["spec"]["replicas"] = json!(2));
    world.advance(at(120));
    expect![[r#"
        web* on w-2: Running ready
        web* on w-3: Running ready
    "#]]
    .assert_eq(&pods(&world));
    change(&mut world, &DEPLOYMENTS, &key("web"), at(130), |web| web["spec"]["replicas"] = json!(3));
    change(&mut world, &NODES, &ObjectKey::cluster("w-1"), at(140), |node| node["spec"]["unschedulable"] = json!(false));
    world.advance(at(150));
    assert_eq!(status(&world, &DEPLOYMENTS, "web")["readyReplicas"], 3);
    world.delete_object_in(&cluster(), &DEPLOYMENTS, &key("web"), &DeleteOptions::default(), at(160)).unwrap();
    world.advance(at(200));
    assert_eq!(pods(&world), "");
    assert_eq!(kube(&world).objects().list(&REPLICA_SETS, None).count(), 0);
}

#[test]
fn a_budget_expects_as_many_pods_as_the_deployment_asks_for() {
    let mut world = site();
    create(&mut world, &DEPLOYMENTS, workload("web", 4, "2"), at(0));
    let spec = json!({"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}});
    create(&mut world, &DISRUPTION_BUDGETS, json!({"metadata": {"name": "web"}, "spec": spec}), at(0));
    world.advance(at(10));
    let counts = |world: &World| {
        let status = status(world, &DISRUPTION_BUDGETS, "web");
        ["expectedPods", "currentHealthy", "desiredHealthy", "disruptionsAllowed"].map(|field| status[field].as_i64().unwrap())
    };
    assert_eq!(counts(&world), [4, 4, 3, 1]);
    let (first, second) = (pod_on(&world, "w-1"), pod_on(&world, "w-2"));
    evict(&mut world, &first, at(20)).unwrap();
    assert_eq!(counts(&world), [4, 3, 3, 0]);
    assert!(matches!(evict(&mut world, &second, at(20)), Err(EvictionRefusal::Exhausted { needed: 3, healthy: 3, .. })));
    // The replacement is up long before the evicted pod has used its grace.
    world.advance(at(25));
    assert_eq!(counts(&world), [4, 4, 3, 1]);
    change(&mut world, &DEPLOYMENTS, &key("web"), at(30), |web| web["spec"]["replicas"] = json!(6));
    assert_eq!(counts(&world), [6, 4, 5, 0]);
}

#[test]
fn a_stateful_pod_on_a_dead_node_is_stuck_until_the_node_is_declared_out_of_service() {
    let mut world = site();
    let mut set = workload("db", 3, "2");
    set["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}, "spec": {"storageClassName": "nexus-volume", "resources": {"requests": {"storage": "1Gi"}}}}]);
    create(&mut world, &STATEFUL_SETS, set, at(0));
    world.advance(at(10));
    expect![[r#"
        db-0 on w-1: Running ready
        db-1 on w-2: Running ready
        db-2 on w-3: Running ready
    "#]]
    .assert_eq(&pods(&world));
    assert_eq!(status(&world, &CLAIMS, "data-db-1")["phase"], "Bound");
    let first = kube(&world).objects().get(&PODS, &key("db-1")).unwrap()["metadata"]["uid"].clone();

    world.tenant_host_down(TENANT, "w-2", at(10));
    // A grace period of 40 s until the node is unknown, and five minutes that its pods tolerate that.
    world.advance(at(335));
    assert!(pods(&world).contains("db-1 on w-2: Running\n"), "{}", pods(&world));
    world.advance(at(352));
    assert!(pods(&world).contains("db-1 on w-2: Running leaving\n"), "{}", pods(&world));
    let pod = kube(&world).objects().get(&PODS, &key("db-1")).unwrap();
    let marks = pod["status"]["conditions"].as_array().unwrap().iter().filter(|condition| condition["type"] == "DisruptionTarget");
    assert_eq!(marks.map(|mark| mark["reason"].as_str().unwrap()).collect::<Vec<_>>(), ["DeletionByTaintManager"]);
    world.advance(at(3_600));
    assert!(pods(&world).contains("db-1 on w-2: Running leaving\n"), "{}", pods(&world));

    let taint = json!({"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"});
    change(&mut world, &NODES, &ObjectKey::cluster("w-2"), at(3_601), |node| {
        node["spec"]["taints"].as_array_mut().unwrap().push(taint.clone());
    });
    world.advance(at(3_630));
    let next = kube(&world).objects().get(&PODS, &key("db-1")).unwrap();
    assert_ne!(next["metadata"]["uid"], first);
    assert!(["w-1", "w-3"].contains(&pod::node_name(next).unwrap()) && pod::is_ready(next), "{next}");
}

#[test]
fn a_daemon_set_has_a_pod_on_every_node_that_takes_it_and_it_outlasts_cordon_and_silence() {
    let mut world = site();
    let mut set = workload("agent", 0, "100m");
    set["spec"].as_object_mut().unwrap().remove("replicas");
    create(&mut world, &DAEMON_SETS, set, at(0));
    change(&mut world, &NODES, &ObjectKey::cluster("w-1"), at(5), |node| node["spec"]["unschedulable"] = json!(true));
    world.advance(at(10));
    assert_eq!(status(&world, &DAEMON_SETS, "agent")["numberReady"], 3);
    world.tenant_host_down(TENANT, "w-1", at(10));
    world.advance(at(3_600));
    expect![[r#"
        agent* on w-1: Running
        agent* on w-2: Running ready
        agent* on w-3: Running ready
    "#]]
    .assert_eq(&pods(&world));
    let evicted = pod_on(&world, "w-2");
    evict(&mut world, &evicted, at(3_600)).unwrap();
    world.tenant_host_forget(TENANT, "w-1", at(3_600));
    world.advance(at(3_700));
    expect![[r#"
        agent* on w-2: Running ready
        agent* on w-3: Running ready
    "#]]
    .assert_eq(&pods(&world));
    world.tenant_host_up(TENANT, &tenant_node("w-4", "rack2compute02"), "boot-1", at(3_700));
    world.advance(at(3_710));
    assert_eq!(status(&world, &DAEMON_SETS, "agent")["desiredNumberScheduled"], 3);
}

#[test]
fn a_mirror_pod_comes_back_while_its_kubelet_runs_and_stays_when_it_does_not() {
    let mut world = site();
    world.advance(at(10));
    let mirror = ObjectKey::namespaced("kube-system", "etcd-cp-1");
    let find = |world: &World| kube(world).objects().get(&PODS, &mirror).cloned();
    let pod = find(&world).unwrap();
    assert!(pod["metadata"]["annotations"]["kubernetes.io/config.mirror"].is_string() && pod::is_ready(&pod));
    assert_eq!(pod["metadata"]["ownerReferences"][0]["kind"], "Node");
    let deleted = world.delete_object_in(&cluster(), &PODS, &mirror, &DeleteOptions::default(), at(20)).unwrap();
    assert!(matches!(deleted, Deleted::Leaving(_)));
    world.advance(at(30));
    let again = find(&world).unwrap();
    assert_ne!(again["metadata"]["uid"], pod["metadata"]["uid"]);
    assert!(pod::is_ready(&again) && !pod::is_terminating(&again));
}

#[test]
fn pods_tolerate_a_silent_node_for_five_minutes_of_the_sites_time() {
    let pace = Pace::REAL.scaled(60.0);
    let mut world = World::new(layout(), pace, START);
    world.tenant_add(TENANT, START);
    for name in ["cp-1", "w-1"] {
        world.tenant_host_up(TENANT, &tenant_node(name, "rack1compute01"), "boot-1", START);
    }
    let pod = json!({"metadata": {"name": "bare"}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}});
    create(&mut world, &PODS, pod, at(0));
    world.advance(at(1));
    world.tenant_host_down(TENANT, "w-1", at(1));
    world.advance(at(8));
    assert_eq!(pods(&world), "bare on w-1: Running\n");
    world.advance(at(11));
    assert_eq!(pods(&world), "bare on w-1: Running leaving\n");
    // It returns: the pod that ran on ends, and nobody makes it anew.
    world.tenant_host_up(TENANT, &tenant_node("w-1", "rack1compute01"), "boot-2", at(20));
    world.advance(at(30));
    assert_eq!(pods(&world), "");
}

#[test]
fn a_node_that_returns_in_time_keeps_its_pods() {
    let mut world = site();
    create(&mut world, &DEPLOYMENTS, workload("web", 3, "1"), at(0));
    world.advance(at(10));
    let before = pods(&world);
    world.tenant_host_down(TENANT, "w-1", at(10));
    world.advance(at(200));
    assert_ne!(pods(&world), before);
    world.tenant_host_up(TENANT, &tenant_node("w-1", "rack1compute01"), "boot-2", at(200));
    world.advance(at(900));
    assert_eq!(pods(&world), before);
}

#[test]
fn a_preconditioned_deletion_of_another_pod_is_refused_in_a_tenant_too() {
    let mut world = site();
    create(&mut world, &DEPLOYMENTS, workload("web", 1, "1"), at(0));
    world.advance(at(10));
    let (name, _) = kube(&world).objects().list(&PODS, Some("default")).next().map(|(key, pod)| (key.clone(), pod.clone())).unwrap();
    let only_if = Preconditions { uid: Some("another".to_owned()), resource_version: None };
    let refused = world.delete_object_in(&cluster(), &PODS, &name, &DeleteOptions { only_if, grace_seconds: None }, at(20));
    assert!(matches!(refused, Err(ObjectError::UidMismatch { .. })));
    let nobody = ClusterName::Tenant("nobody".to_owned());
    assert_eq!(world.create_object_in(&nobody, &PODS, "default", json!({}), at(20)), Err(ObjectError::NotFound));
}
