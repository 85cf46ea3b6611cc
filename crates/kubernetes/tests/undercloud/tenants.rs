//! The watch of tenants' virtual machines and clusters: what it joins, and how it does without.

use std::pin::pin;

use expect_test::expect;
use fake::{End, Fake, Reply, bookmark, event, list, refusal};
use futures::StreamExt;
use kubernetes::{MOST_VMS, TenantsEvent};
use model::OsDiskSeen;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, timeout};

use crate::fake;

const VMS: &str = "/apis/kubevirt.io/v1/namespaces/tenants/virtualmachines";
const INSTANCES: &str = "/apis/kubevirt.io/v1/namespaces/tenants/virtualmachineinstances";
const CLUSTERS: &str = "/apis/cluster.x-k8s.io/v1beta2/namespaces/tenants/clusters";
const DEPLOYMENTS: &str = "/apis/cluster.x-k8s.io/v1beta2/namespaces/tenants/machinedeployments";
const DISKS: &str = "/apis/cdi.kubevirt.io/v1beta1/namespaces/tenants/datavolumes";
const MACHINES: &str = "/apis/cluster.x-k8s.io/v1beta2/namespaces/tenants/machines";

async fn first(count: usize, fake: &Fake) -> String {
    let began = Instant::now();
    let undercloud = fake.undercloud();
    let mut events = pin!(undercloud.watch_tenants());
    let mut told = String::new();
    while told.lines().count() < count {
        let event = timeout(Duration::from_secs(3_600), events.next()).await.expect("the watch has more to say").unwrap();
        let text = match event {
            TenantsEvent::Listed { vms, clusters } => {
                let vms: Vec<String> = vms.iter().map(|vm| format!("{} on {}", vm.name, vm.node().unwrap_or("nothing"))).collect();
                let clusters: Vec<String> =
                    clusters.iter().map(|cluster| format!("{} of {} machines", cluster.name, cluster.machines.len())).collect();
                format!("listed [{}] [{}]", vms.join(", "), clusters.join(", "))
            }
            TenantsEvent::VmChanged(vm) => {
                let disk = vm.os_disk.as_ref().map(|disk| match disk {
                    OsDiskSeen::Absent => " with no disk yet".to_owned(),
                    OsDiskSeen::There { disk, is_ending: true } => format!(" with a disk {} that ends", disk.uid),
                    OsDiskSeen::There { disk, is_ending: false } => format!(" with disk {}", disk.uid),
                });
                format!("changed {} {:?} on {}{}", vm.name, vm.state, vm.node().unwrap_or("nothing"), disk.unwrap_or_default())
            }
            TenantsEvent::VmGone { name } => format!("gone {name}"),
            TenantsEvent::ClusterChanged(cluster) => format!("changed {} of {} machines", cluster.name, cluster.machines.len()),
            TenantsEvent::ClusterGone { name } => format!("gone {name}"),
            TenantsEvent::Heard => continue,
            TenantsEvent::Lost(fault) => format!("lost: {fault}"),
        };
        told += &format!("{}s {text}\n", began.elapsed().as_secs());
    }
    told
}

fn groups(names: &[&str]) -> Reply {
    let version = json!({"groupVersion": "cluster.x-k8s.io/v1beta2", "version": "v1beta2"});
    let older = json!({"groupVersion": "cluster.x-k8s.io/v1beta1", "version": "v1beta1"});
    let groups: Vec<Value> =
        names.iter().map(|name| json!({"name": name, "versions": [older, version], "preferredVersion": version})).collect();
    Reply::Answer(200, json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
}

fn vm(name: &str, state: &str, version: u32) -> Value {
    json!({"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": name, "uid": name, "namespace": "tenants", "resourceVersion": version.to_string()},
        "spec": {"runStrategy": "Always"}, "status": {"printableStatus": state}})
}

fn instance(name: &str, node: &str, version: u32) -> Value {
    json!({"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance", "metadata": {"name": name, "uid": "i", "namespace": "tenants", "resourceVersion": version.to_string()},
        "status": {"phase": "Running", "nodeName": node}})
}

fn machine(name: &str, version: u32) -> Value {
    json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": {"name": name, "uid": name, "namespace": "tenants", "resourceVersion": version.to_string(),
        "labels": {"cluster.x-k8s.io/cluster-name": "naks-01"}}})
}

/// An undercloud with one tenant cluster, and nothing else to tell.
fn furnished() -> Fake {
    let cluster = json!({"apiVersion": "x/v1", "kind": "Cluster", "metadata": {"name": "naks-01", "uid": "c"}});
    let fake = Fake::default().on("LIST /apis", groups(&["apps", "cluster.x-k8s.io"])).on("WATCH", Reply::Stream(vec![], End::FallSilent));
    fake.on(&format!("LIST {CLUSTERS}"), list(10, &[cluster])).on(&format!("LIST {DEPLOYMENTS}"), list(10, &[]))
}

#[tokio::test(start_paused = true)]
async fn virtual_machines_and_clusters_are_joined_from_their_parts_and_followed() {
    let changes = vec![event("DELETED", &instance("a", "rack1compute01", 11)), event("ADDED", &instance("a", "rack1compute02", 12))];
    let fake = furnished()
        .on(&format!("LIST {VMS}"), list(10, &[vm("a", "Running", 5), vm("b", "Stopped", 6)]))
        .on(&format!("LIST {INSTANCES}"), list(10, &[instance("a", "rack1compute01", 7)]))
        .on(&format!("LIST {MACHINES}"), list(10, &[machine("m1", 5)]))
        .on(&format!("WATCH {INSTANCES}"), Reply::Stream(changes, End::FallSilent))
        .on(
            &format!("WATCH {VMS}"),
            Reply::Slow(Duration::from_secs(5), Box::new(Reply::Stream(vec![event("DELETED", &vm("b", "Stopped", 13))], End::FallSilent))),
        )
        .on(
            &format!("WATCH {MACHINES}"),
            Reply::Slow(Duration::from_secs(9), Box::new(Reply::Stream(vec![event("ADDED", &machine("m2", 14))], End::FallSilent))),
        );
    expect![[r#"
        0s listed [a on rack1compute01, b on nothing] [naks-01 of 1 machines]
        0s changed a Running on nothing
        0s changed a Running on rack1compute02
        5s gone b
        9s changed naks-01 of 2 machines
    "#]]
    .assert_eq(&first(5, &fake).await);
}

fn disk(uid: &str, version: u32, deleted_at: Option<&str>) -> Value {
    let owner = json!([{"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "name": "a", "uid": "a", "controller": true}]);
    json!({"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": "DataVolume", "metadata": {"name": "a-os", "uid": uid, "namespace": "tenants",
        "resourceVersion": version.to_string(), "ownerReferences": owner, "deletionTimestamp": deleted_at}})
}

#[tokio::test(start_paused = true)]
async fn the_disk_that_one_boots_from_is_followed_until_another_is_in_its_place() {
    let mut booting = vm("a", "Stopped", 5);
    booting["spec"] = json!({"runStrategy": "Halted", "dataVolumeTemplates": [{"metadata": {"name": "a-os"}}],
        "template": {"spec": {"volumes": [{"name": "os", "dataVolume": {"name": "a-os"}}]}}});
    let ends = disk("d-1", 11, Some("2026-11-15T14:00:00Z"));
    let mut data = disk("d-9", 12, None);
    data["metadata"]["name"] = json!("a-data");
    let changes = [event("MODIFIED", &ends), event("ADDED", &data), event("DELETED", &ends), event("ADDED", &disk("d-2", 13, None))];
    let fake = furnished()
        .on(&format!("LIST {VMS}"), list(10, &[booting]))
        .on(&format!("LIST {INSTANCES}"), list(10, &[]))
        .on(&format!("LIST {MACHINES}"), list(10, &[]))
        .on(&format!("LIST {DISKS}"), list(10, &[disk("d-1", 9, None)]))
        .on(&format!("WATCH {DISKS}"), Reply::Stream(changes.to_vec(), End::FallSilent));
    expect![[r#"
        0s listed [a on nothing] [naks-01 of 0 machines]
        0s changed a Stopped on nothing with a disk d-1 that ends
        0s changed a Stopped on nothing with no disk yet
        0s changed a Stopped on nothing with disk d-2
    "#]]
    .assert_eq(&first(4, &fake).await);
}

#[tokio::test(start_paused = true)]
async fn an_undercloud_without_kubevirt_and_cluster_api_has_no_tenants_and_is_looked_at_again_each_minute() {
    let fake = Fake::default()
        .on("LIST", refusal(404, "404 page not found"))
        .on("LIST /apis", groups(&["apps"]))
        .on("WATCH", Reply::Stream(vec![bookmark(20)], End::FallSilent))
        .on(&format!("LIST {VMS}"), refusal(404, "404 page not found"))
        .on(&format!("LIST {VMS}"), list(10, &[vm("a", "Running", 5)]));
    expect![[r#"
        0s listed [] []
        60s changed a Running on nothing
    "#]]
    .assert_eq(&first(2, &fake).await);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_was_there_and_is_not_found_is_a_fault_and_not_an_empty_list() {
    let fake = Fake::default()
        .on("LIST", refusal(404, "404 page not found"))
        .on("LIST /apis", groups(&["apps"]))
        .on("WATCH", Reply::Stream(vec![bookmark(20)], End::FallSilent))
        .on(&format!("LIST {VMS}"), list(10, &[vm("a", "Running", 5)]))
        .on(&format!("WATCH {VMS}"), Reply::Stream(Vec::new(), End::Close))
        .on(&format!("WATCH {VMS}"), refusal(410, "too old resource version"))
        .on(&format!("LIST {VMS}"), refusal(404, "404 page not found"));
    let told = first(2, &fake).await;
    assert!(told.starts_with("0s listed [a on nothing] []") && told.contains("lost: missing:"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_missing_right_is_a_fault_that_says_which() {
    let forbidden = r#"machines.cluster.x-k8s.io is forbidden: User "rackwright" cannot list resource "machines""#;
    let fake = furnished()
        .on(&format!("LIST {VMS}"), list(10, &[]))
        .on(&format!("LIST {INSTANCES}"), list(10, &[]))
        .on(&format!("LIST {MACHINES}"), refusal(403, forbidden));
    expect![[r#"
        0s lost: denied: GET machines answered 403: machines.cluster.x-k8s.io is forbidden: User "rackwright" cannot list resource "machines"
    "#]]
    .assert_eq(&first(1, &fake).await);
}

#[tokio::test(start_paused = true)]
async fn more_virtual_machines_than_are_kept_are_a_fault_that_says_how_many() {
    let vms: Vec<Value> = (0..500).map(|number| vm(&format!("v{number}"), "Running", 1)).collect();
    let page = Reply::Answer(200, json!({"metadata": {"resourceVersion": "1", "continue": "more"}, "items": vms}));
    let fake = Fake::default()
        .on(&format!("LIST {VMS}"), page)
        .on("LIST /apis", groups(&[]))
        .on("LIST", list(1, &[]))
        .on("WATCH", Reply::Stream(vec![], End::FallSilent));
    let told = first(1, &fake).await;
    assert_eq!(told, format!("0s lost: unsupported: GET virtualmachines: there are more than {MOST_VMS} of them\n"));
}
