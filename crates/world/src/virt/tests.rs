use std::fmt::Write;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;
use crate::clusters::ClusterName;
use crate::layout::Layout;
use crate::machine::ResetType;
use crate::objects::{CLAIMS, DATA_VOLUMES, NODES, PODS, Part, VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES};
use crate::pace::Pace;
use crate::site::World;
use crate::tenancy::{ClusterNode, Tenancy, TenantCluster, TenantVm, VmManner, VmPower};
use crate::time::{Instant, Span};
use crate::writes::DeleteOptions;
use crate::{ObjectError, VmRefusal};

const START: Instant = Instant(1_794_000_000_000);
const FIRST: &str = "rack1compute01";
const SECOND: &str = "rack1compute02";

fn at(seconds: i64) -> Instant {
    START + Span::seconds(seconds)
}

fn node(name: &str, machine: &str, pool: Option<&str>) -> ClusterNode {
    ClusterNode { name: name.to_owned(), machine: machine.to_owned(), pool: pool.map(str::to_owned), cores: 4, memory_gib: 16 }
}

fn tenancy() -> Tenancy {
    let stopped = TenantVm { power: VmPower::Stopped, ..TenantVm::new("idle", FIRST, 2, 8) };
    let stubborn = TenantVm { manner: VmManner::Stubborn, ..TenantVm::new("deaf", SECOND, 2, 8) };
    Tenancy {
        vms: vec![TenantVm::new("web", FIRST, 2, 8), stopped, stubborn],
        clusters: vec![TenantCluster {
            name: "naks-01".to_owned(),
            version: "v1.32.4".to_owned(),
            nodes: vec![
                node("naks-01-agentpool1-md-tjr8k-4qqx4", FIRST, Some("agentpool1")),
                node("naks-01-control-plane-rmwqr", SECOND, None),
            ],
            workloads: Vec::new(),
        }],
    }
}

fn site() -> World {
    World::with_tenants(Layout::new("east", 4, 4, 1).unwrap(), Pace::REAL, START, &tenancy())
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced(TENANT_NAMESPACE, name)
}

/// Each virtual machine as `kubectl get vm,vmi` would show it.
fn vms(world: &World) -> String {
    let mut text = String::new();
    for (key, vm) in world.objects().list(&VIRTUAL_MACHINES, None) {
        let instance = world.objects().get(&VIRTUAL_MACHINE_INSTANCES, key);
        let field = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let ready = if vm["status"]["ready"] == true { "ready" } else { "not ready" };
        let phase = instance.map_or("-".to_owned(), |instance| field(&instance["status"]["phase"]));
        let node = instance.map_or("-".to_owned(), |instance| field(&instance["status"]["nodeName"]));
        writeln!(text, "{}: {}, {ready}; {phase} on {node}", key.name, field(&vm["status"]["printableStatus"])).unwrap();
    }
    text
}

fn nodes(world: &World) -> String {
    let mut text = String::new();
    for (key, node) in world.kube(&ClusterName::Tenant("naks-01".to_owned())).unwrap().objects().list(&NODES, None) {
        let machine = &node["metadata"]["labels"]["topology.kubernetes.io/baremetalmachine"];
        writeln!(text, "{} {} {}", key.name, machine.as_str().unwrap(), crate::node::ready_status(node).unwrap_or("-")).unwrap();
    }
    text
}

fn check(actual: &str, expected: &Expect) {
    expected.assert_eq(actual);
}

fn status(world: &World, name: &str) -> String {
    let vm = world.objects().get(&VIRTUAL_MACHINES, &key(name));
    vm.map_or("gone".to_owned(), |vm| vm["status"]["printableStatus"].as_str().unwrap_or("-").to_owned())
}

#[test]
fn tenants_have_been_there_since_before_anybody_looked() {
    let world = site();
    check(
        &vms(&world),
        &expect![[r#"
            deaf: Running, ready; Running on rack1compute02
            idle: Stopped, not ready; - on -
            naks-01-agentpool1-md-tjr8k-4qqx4: Running, ready; Running on rack1compute01
            naks-01-control-plane-rmwqr: Running, ready; Running on rack1compute02
            web: Running, ready; Running on rack1compute01
        "#]],
    );
    check(
        &nodes(&world),
        &expect![[r#"
            naks-01-agentpool1-md-tjr8k-4qqx4 rack1compute01 True
            naks-01-control-plane-rmwqr rack1compute02 True
        "#]],
    );
    assert!(world.virt.next_at().is_none(), "everything has settled");
}

#[test]
fn a_stop_takes_the_guest_its_time_and_a_start_brings_it_back_where_its_disk_is() {
    let mut world = site();
    world.act_on_vm(&key("web"), VmAction::Stop { grace_seconds: None }, at(0)).unwrap();
    assert_eq!(status(&world, "web"), "Stopping");
    world.advance(at(19));
    assert_eq!(status(&world, "web"), "Stopping");
    world.advance(at(21));
    assert_eq!(status(&world, "web"), "Stopped");
    assert_eq!(
        world.act_on_vm(&key("web"), VmAction::Stop { grace_seconds: None }, at(22)),
        Err(VmRefusal::Conflict("VM is not running".to_owned()))
    );
    world.act_on_vm(&key("web"), VmAction::Start, at(30)).unwrap();
    assert_eq!(world.act_on_vm(&key("web"), VmAction::Start, at(30)), Err(VmRefusal::Conflict("VM is already running".to_owned())));
    world.advance(at(90));
    assert!(vms(&world).contains("web: Running, ready; Running on rack1compute01"), "{}", vms(&world));
    assert_eq!(world.act_on_vm(&key("nobody"), VmAction::Start, at(91)), Err(VmRefusal::Object(ObjectError::NotFound)));
}

#[test]
fn a_deaf_guest_stops_only_when_it_is_forced() {
    let mut world = site();
    world.act_on_vm(&key("deaf"), VmAction::Stop { grace_seconds: None }, at(0)).unwrap();
    world.advance(at(3_600));
    assert_eq!(status(&world, "deaf"), "Stopping");
    world.act_on_vm(&key("deaf"), VmAction::Stop { grace_seconds: Some(0) }, at(3_600)).unwrap();
    world.advance(at(3_602));
    assert_eq!(status(&world, "deaf"), "Stopped");
}

#[test]
fn virtual_machines_die_with_their_host_and_come_back_with_it() {
    let mut world = site();
    let machine = world.layout().index_of(FIRST).unwrap();
    world.reset(machine, ResetType::ForceOff, at(0));
    world.advance(at(10));
    assert!(vms(&world).contains("web: Running, ready"), "nobody has noticed yet");
    world.advance(at(60));
    check(
        &vms(&world),
        &expect![[r#"
            deaf: Running, ready; Running on rack1compute02
            idle: Stopped, not ready; - on -
            naks-01-agentpool1-md-tjr8k-4qqx4: Running, not ready; Running on rack1compute01
            naks-01-control-plane-rmwqr: Running, ready; Running on rack1compute02
            web: Running, not ready; Running on rack1compute01
        "#]],
    );
    check(
        &nodes(&world),
        &expect![[r#"
            naks-01-agentpool1-md-tjr8k-4qqx4 rack1compute01 Unknown
            naks-01-control-plane-rmwqr rack1compute02 True
        "#]],
    );
    world.advance(at(7 * 60));
    assert!(vms(&world).contains("web: Stopping, not ready; Failed on rack1compute01"), "its pod cannot end: {}", vms(&world));
    world.reset(machine, ResetType::On, at(8 * 60));
    world.advance(at(20 * 60));
    assert!(vms(&world).contains("web: Running, ready; Running on rack1compute01"), "{}", vms(&world));
    assert!(!nodes(&world).contains("Unknown"), "{}", nodes(&world));
}

#[test]
fn a_deleted_virtual_machine_takes_its_instance_and_its_disks_along() {
    let mut world = site();
    let disk = key("web-os");
    assert!(world.objects().get(&DATA_VOLUMES, &disk).is_some() && world.objects().get(&CLAIMS, &disk).is_some());
    world.delete_object(&VIRTUAL_MACHINES, &key("web"), &DeleteOptions::default(), at(0)).unwrap();
    assert_eq!(status(&world, "web"), "Terminating");
    world.advance(at(60));
    assert_eq!(status(&world, "web"), "gone");
    for (resource, key) in [(&VIRTUAL_MACHINE_INSTANCES, key("web")), (&DATA_VOLUMES, disk.clone()), (&CLAIMS, disk)] {
        assert!(world.objects().get(resource, &key).is_none(), "{}", resource.kind);
    }
    assert!(!world.objects().list(&PODS, Some(TENANT_NAMESPACE)).any(|(key, _)| key.name.contains("web")));
}

#[test]
fn a_control_plane_that_is_gone_takes_its_api_along() {
    let mut world = site();
    assert!(world.is_tenant_reachable("naks-01"));
    world.act_on_vm(&key("naks-01-control-plane-rmwqr"), VmAction::Stop { grace_seconds: Some(0) }, at(0)).unwrap();
    world.advance(at(5));
    assert!(!world.is_tenant_reachable("naks-01"));
    world.act_on_vm(&key("naks-01-control-plane-rmwqr"), VmAction::Start, at(10)).unwrap();
    world.advance(at(120));
    assert!(world.is_tenant_reachable("naks-01"));
}

#[test]
fn a_saved_site_goes_on_with_its_tenants() {
    let mut world = site();
    world.act_on_vm(&key("web"), VmAction::Stop { grace_seconds: None }, at(0)).unwrap();
    let records: Vec<(String, Value)> = world.take_records().into_iter().filter_map(|record| Some((record.key, record.value?))).collect();
    let layout = Layout::new("east", 4, 4, 1).unwrap();
    let mut again = World::restore(layout, Pace::REAL, records, at(100_000)).unwrap();
    assert_eq!(vms(&again), vms(&world));
    assert_eq!(nodes(&again), nodes(&world));
    again.advance(at(100_100));
    assert_eq!(status(&again, "web"), "Stopped");
    assert!(!nodes(&again).contains("Unknown"));
}

#[test]
fn what_kubevirt_refuses_is_refused() {
    let mut world = site();
    let mut create = |spec: Value| {
        let object = json!({"metadata": {"name": "new"}, "spec": spec});
        world.create_object(&VIRTUAL_MACHINES, TENANT_NAMESPACE, object, at(0)).map(drop)
    };
    for (spec, words) in [
        (json!({}), "one of running or runStrategy must be specified"),
        (json!({"runStrategy": "Sometimes"}), "spec.runStrategy: Invalid value: \"Sometimes\""),
        (json!({"runStrategy": "Always", "running": true}), "mutually exclusive"),
        (json!({"runStrategy": "Always"}), "spec.template.spec.domain: Required value"),
    ] {
        let refused = create(spec);
        assert!(matches!(&refused, Err(ObjectError::Invalid(message)) if message.contains(words)), "{refused:?}");
    }
    let taken = world.modify_object(&VIRTUAL_MACHINES, &key("web"), Part::Main, at(1), |vm| {
        let mut vm = vm.clone();
        vm["spec"]["runStrategy"] = json!("Never");
        Ok::<_, ObjectError>(vm)
    });
    assert!(taken.is_err());
}

fn cordon(world: &mut World, machine: &str, is_closed: bool, now: Instant) {
    let changed = world.modify_object(&NODES, &ObjectKey::cluster(machine), Part::Main, now, |node| {
        let mut node = node.clone();
        node["spec"]["unschedulable"] = json!(is_closed);
        Ok::<_, ObjectError>(node)
    });
    changed.unwrap();
}

#[test]
fn one_whose_machine_is_cordoned_waits_for_it() {
    let mut world = site();
    world.act_on_vm(&key("web"), VmAction::Stop { grace_seconds: Some(0) }, at(0)).unwrap();
    cordon(&mut world, FIRST, true, at(5));
    world.act_on_vm(&key("web"), VmAction::Start, at(10)).unwrap();
    world.advance(at(60));
    assert_eq!(status(&world, "web"), "ErrorUnschedulable");
    let vm = world.objects().get(&VIRTUAL_MACHINES, &key("web")).unwrap();
    let told = vm["status"]["conditions"][1]["message"].as_str().unwrap();
    assert!(told.contains("1 node(s) were unschedulable") && told.contains("PersistentVolume's node affinity"), "{told}");
    cordon(&mut world, FIRST, false, at(70));
    world.advance(at(120));
    assert!(vms(&world).contains("web: Running, ready; Running on rack1compute01"), "{}", vms(&world));
}

fn create(world: &mut World, name: &str, affinity: &Value, now: Instant) {
    let spec = json!({"affinity": affinity, "domain": {"cpu": {"cores": 2}, "memory": {"guest": "4Gi"}}, "volumes": [{"name": "os", "dataVolume": {"name": format!("{name}-os")}}]});
    let object = json!({
        "metadata": {"name": name},
        "spec": {
            "runStrategy": "Always",
            "dataVolumeTemplates": [{"metadata": {"name": format!("{name}-os")}, "spec": {"storage": {"resources": {"requests": {"storage": "8Gi"}}}}}],
            "template": {"spec": spec},
        },
    });
    world.create_object(&VIRTUAL_MACHINES, TENANT_NAMESPACE, object, now).unwrap();
}

fn place(world: &World, name: &str) -> String {
    let instance = world.objects().get(&VIRTUAL_MACHINE_INSTANCES, &key(name));
    instance.and_then(|instance| instance["status"]["nodeName"].as_str().map(str::to_owned)).unwrap_or_default()
}

#[test]
fn a_new_one_gets_a_disk_then_a_place_and_then_runs_on_a_compute_machine() {
    let mut world = site();
    create(&mut world, "new", &Value::Null, at(0));
    assert_eq!(status(&world, "new"), "Provisioning");
    world.advance(at(59));
    assert_eq!(status(&world, "new"), "Provisioning");
    world.advance(at(61));
    assert_eq!(status(&world, "new"), "Starting");
    world.advance(at(70));
    assert_eq!(status(&world, "new"), "Running");
    assert!(place(&world, "new").contains("compute"), "{}", place(&world, "new"));
}

/// Whether a machine is one that a hint allows.
type Rightness = fn(&str) -> bool;

/// Hints as they are rendered: towards or away from `web` on the first machine, by machine or by rack, hard or soft.
#[test]
fn placement_hints_are_obeyed() {
    let term = |topology: &str| json!({"labelSelector": {"matchLabels": {"vm.kubevirt.io/name": "web"}}, "topologyKey": topology});
    let hard = |topology: &str| json!({"requiredDuringSchedulingIgnoredDuringExecution": [term(topology)]});
    let soft =
        |topology: &str| json!({"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term(topology)}]});
    let (machine, rack) = ("kubernetes.io/hostname", "topology.kubernetes.io/zone");
    let hints: [(&str, Value, Rightness); 8] = [
        ("near-machine-hard", json!({"podAffinity": hard(machine)}), |place| place == FIRST),
        ("near-machine-soft", json!({"podAffinity": soft(machine)}), |place| place == FIRST),
        ("near-rack-hard", json!({"podAffinity": hard(rack)}), |place| place.starts_with("rack1compute")),
        ("near-rack-soft", json!({"podAffinity": soft(rack)}), |place| place.starts_with("rack1compute")),
        ("off-machine-hard", json!({"podAntiAffinity": hard(machine)}), |place| place != FIRST),
        ("off-machine-soft", json!({"podAntiAffinity": soft(machine)}), |place| place != FIRST),
        ("off-rack-hard", json!({"podAntiAffinity": hard(rack)}), |place| !place.starts_with("rack1")),
        ("off-rack-soft", json!({"podAntiAffinity": soft(rack)}), |place| !place.starts_with("rack1")),
    ];
    let mut world = site();
    for (name, affinity, _) in &hints {
        create(&mut world, name, affinity, at(0));
    }
    world.advance(at(120));
    for (name, _, is_right) in hints {
        let place = place(&world, name);
        assert!(!place.is_empty() && is_right(&place), "{name} is on {place:?}");
    }
}

#[test]
fn a_reimaged_disk_is_made_again() {
    let mut world = site();
    world.act_on_vm(&key("web"), VmAction::Stop { grace_seconds: Some(0) }, at(0)).unwrap();
    world.delete_object(&DATA_VOLUMES, &key("web-os"), &DeleteOptions::default(), at(5)).unwrap();
    world.act_on_vm(&key("web"), VmAction::Start, at(6)).unwrap();
    assert_eq!(status(&world, "web"), "Provisioning");
    world.advance(at(80));
    assert_eq!(status(&world, "web"), "Running");
}

#[test]
fn a_description_that_cannot_be_is_refused_in_words() {
    let layout = Layout::new("east", 4, 4, 1).unwrap();
    let vm = |change: fn(&mut TenantVm)| {
        let mut tenancy = tenancy();
        change(&mut tenancy.vms[0]);
        tenancy.check(&layout).unwrap_err().to_string()
    };
    let cluster = |change: fn(&mut TenantCluster)| {
        let mut tenancy = tenancy();
        change(&mut tenancy.clusters[0]);
        tenancy.check(&layout).unwrap_err().to_string()
    };
    for (told, words) in [
        (vm(|vm| vm.name = "Web".to_owned()), "`Web` is no name; one has 1 to 63 small letters"),
        (vm(|vm| vm.name = "idle".to_owned()), "`idle` is there twice"),
        (vm(|vm| vm.machine = "rack9".to_owned()), "`web` is on `rack9`, which is no machine of the site"),
        (vm(|vm| vm.machine = "rack1control01".to_owned()), "`web` is on `rack1control01`, which is no compute machine"),
        (vm(|vm| vm.cores = 97), "`web` has 1 to 96 cores, not 97"),
        (vm(|vm| vm.memory_gib = 0), "`web` has 1 to 480 GiB of memory, not 0"),
        (cluster(|cluster| cluster.nodes.truncate(1)), "`naks-01` has no control-plane node"),
        (cluster(|cluster| cluster.version = "1.32".to_owned()), "`1.32` is no version of Kubernetes for `naks-01`"),
        (
            cluster(|cluster| cluster.workloads.push(crate::Workload::new(crate::WorkloadKind::Bare, "many", 20_001))),
            "`many` has at most 20000 replicas, not 20001",
        ),
    ] {
        assert!(told.starts_with(words), "{told}");
    }
    assert_eq!(tenancy().check(&layout), Ok(()));
    let many =
        Tenancy { vms: (0..20_001).map(|number| TenantVm::new(&format!("vm{number}"), FIRST, 1, 1)).collect(), clusters: Vec::new() };
    assert_eq!(many.check(&layout).unwrap_err().to_string(), "a site begins with at most 20000 virtual machines, not 20001");
}
