//! The Kubernetes driver against the tenants of a simulated site, which share no types with it: KubeVirt, Cluster API, and a
//! tenant cluster behind its kubeconfig.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt};
use kubernetes::{Door, InsideEvent, NetworkDoor, TenantCluster, TenantsEvent, Undercloud};
use model::{DiskRef, InstancePhase, NodeRole, OsDiskSeen, RunStrategy, Shutdown, VmState};
use scenarios::{authorized_kubernetes, door_of};
use sim::{ClusterNode, SiteSpec, Tenancy, TenantVm, Workload, WorkloadKind};
use store::{MemoryStore, SharedStore};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const WORKER: &str = "naks-01-agentpool1-md-tjr8k-4qqx4";

struct Place {
    site: sim::Site,
    undercloud: Undercloud,
    shutdown: CancellationToken,
    running: JoinHandle<()>,
}

fn node(name: &str, machine: &str, pool: Option<&str>) -> ClusterNode {
    ClusterNode { name: name.to_owned(), machine: machine.to_owned(), pool: pool.map(str::to_owned), cores: 4, memory_gib: 8 }
}

async fn place() -> Place {
    let nodes = vec![node("naks-01-control-plane-8lv2n", "rack1compute01", None), node(WORKER, "rack1compute02", Some("agentpool1"))];
    let web = Workload { min_available: Some(2), ..Workload::new(WorkloadKind::Deployment, "web", 2) };
    let cluster = sim::TenantCluster { name: "naks-01".to_owned(), version: "v1.36.4".to_owned(), nodes, workloads: vec![web] };
    let tenancy = Tenancy { vms: vec![TenantVm::new("firewallvnf", "rack1compute01", 2, 4)], clusters: vec![cluster] };
    let clock: Arc<dyn model::Clock> = Arc::new(store::TokioClock::starting_at(model::Timestamp::EPOCH));
    let store: SharedStore = Arc::new(MemoryStore::new(clock.clone()));
    let site = sim::Site::open(SiteSpec::new("site1", 1, 6, 1).with_tenancy(tenancy), store, clock).await.unwrap();
    let shutdown = CancellationToken::new();
    let (world, stop) = (site.clone(), shutdown.clone());
    let running = tokio::spawn(async move { world.run(stop).await.unwrap() });
    let undercloud = Undercloud::in_process(authorized_kubernetes(&site));
    Place { site, undercloud, shutdown, running }
}

impl Place {
    async fn enter(&self) -> TenantCluster {
        let secret = self.undercloud.observe_tenant_secret("naks-01-kubeconfig").await.unwrap().unwrap();
        let kubeconfig = std::str::from_utf8(secret.data.get("value").unwrap()).unwrap().to_owned();
        door_of(&self.site).open(&kubeconfig).await.unwrap()
    }

    async fn close(self) {
        self.shutdown.cancel();
        self.running.await.unwrap();
    }
}

/// The first event that is the one waited for.
async fn until<E, T>(what: &str, events: &mut (impl Stream<Item = E> + Unpin), find: impl Fn(E) -> Option<T>) -> T {
    let look = async {
        loop {
            if let Some(found) = find(events.next().await.expect("a watch never ends")) {
                return found;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(3_600), look).await.unwrap_or_else(|_| panic!("{what}"))
}

#[tokio::test(start_paused = true)]
async fn virtual_machines_and_tenant_clusters_are_seen_whole() {
    let place = place().await;
    let mut events = pin!(place.undercloud.watch_tenants());
    let (vms, clusters) = until("everything is listed", &mut events, |event| match event {
        TenantsEvent::Listed { vms, clusters } => Some((vms, clusters)),
        _ => None,
    })
    .await;
    let firewall = vms.iter().find(|vm| vm.name.as_str() == "firewallvnf").expect("the tenant's own");
    assert_eq!((firewall.run, firewall.cpu_cores, firewall.memory_bytes), (RunStrategy::Always, 2, 4 << 30));
    assert_eq!((firewall.node(), &firewall.node_of), (Some("rack1compute01"), &None));
    let worker = vms.iter().find(|vm| vm.name.as_str() == WORKER).expect("the node's");
    let node_of = worker.node_of.as_ref().unwrap();
    assert_eq!((node_of.cluster.as_str(), node_of.pool.as_ref().unwrap().as_str()), ("naks-01", "agentpool1"));
    assert_eq!(worker.instance.as_ref().unwrap().phase, InstancePhase::Running);
    let [cluster] = clusters.as_slice() else { panic!("{clusters:?}") };
    assert_eq!((cluster.name.as_str(), cluster.version.as_str(), cluster.pools.len()), ("naks-01", "v1.36.4", 1));
    let roles: Vec<(&str, NodeRole)> = cluster.machines.iter().map(|machine| (machine.name.as_str(), machine.role)).collect();
    assert_eq!(roles, [(WORKER, NodeRole::Worker), ("naks-01-control-plane-8lv2n", NodeRole::ControlPlane)]);
    place.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_virtual_machine_is_stopped_and_started_and_each_may_be_asked_twice() {
    let place = place().await;
    let mut events = pin!(place.undercloud.watch_tenants());
    let vm = until("the virtual machine is listed", &mut events, |event| match event {
        TenantsEvent::Listed { vms, .. } => vms.into_iter().find(|vm| vm.name.as_str() == "firewallvnf"),
        _ => None,
    })
    .await;
    let meant = vm.reference();
    for (wanted, is_stop) in [(VmState::Stopped, true), (VmState::Running, false)] {
        for _ in 0..2 {
            let asked = if is_stop {
                place.undercloud.request_vm_stop(&meant, Shutdown::Graceful, vm.node()).await
            } else {
                place.undercloud.request_vm_start(&meant).await
            };
            assert_eq!(asked, Ok(()), "{wanted:?}");
        }
        // The object and its instance are told of apart, in either order.
        until("the effect is seen", &mut events, |event| match event {
            TenantsEvent::VmChanged(vm) => (vm.name == meant.name && vm.state == wanted && vm.has_instance() != is_stop).then_some(()),
            _ => None,
        })
        .await;
    }
    let another = model::VmRef { uid: "another".to_owned(), ..meant.clone() };
    let fault = place.undercloud.request_vm_stop(&another, Shutdown::Skip, None).await.unwrap_err();
    assert_eq!(fault.class, model::FaultClass::Missing);
    let fault = place.undercloud.request_vm_stop(&meant, Shutdown::Skip, Some("rack9compute09")).await.unwrap_err();
    assert_eq!((fault.class, fault.delivery), (model::FaultClass::Missing, model::Delivery::No), "{fault}");
    place.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_is_thrown_away_is_seen_to_be_gone_and_the_next_to_be_another() {
    let place = place().await;
    let mut events = pin!(place.undercloud.watch_tenants());
    let vm = until("the virtual machine is listed", &mut events, |event| match event {
        TenantsEvent::Listed { vms, .. } => vms.into_iter().find(|vm| vm.name.as_str() == "firewallvnf"),
        _ => None,
    })
    .await;
    let Some(OsDiskSeen::There { disk: old, is_ending: false }) = vm.os_disk.clone() else { panic!("{:?}", vm.os_disk) };
    let another = DiskRef { uid: "another".to_owned(), ..old.clone() };
    assert_eq!(place.undercloud.request_disk_discard(&another).await, Ok(()), "it is not that one, and stays");
    for _ in 0..2 {
        assert_eq!(place.undercloud.request_disk_discard(&old).await, Ok(()));
    }
    let new = until("another disk is seen", &mut events, |event| match event {
        TenantsEvent::VmChanged(seen) if seen.name == vm.name => match seen.os_disk {
            Some(OsDiskSeen::There { disk, .. }) if disk != old => Some(disk),
            _ => None,
        },
        _ => None,
    })
    .await;
    assert_eq!(new.name, old.name);
    place.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_tenant_cluster_tells_of_its_nodes_pods_and_budgets_and_obeys() {
    let place = place().await;
    let cluster = place.enter().await;
    // Its control plane and its controllers need a while.
    tokio::time::sleep(Duration::from_secs(120)).await;
    let mut events = pin!(cluster.watch());
    let (mut nodes, mut pods, mut budgets) = (None, None, None);
    while nodes.is_none() || pods.is_none() || budgets.is_none() {
        match events.next().await.unwrap() {
            InsideEvent::Nodes(listed) => nodes = Some(listed),
            InsideEvent::Pods(listed) => pods = Some(listed),
            InsideEvent::Budgets(listed) => budgets = Some(listed),
            InsideEvent::Lost(fault) => panic!("{fault}"),
            _ => {}
        }
    }
    let nodes = nodes.unwrap();
    let worker = nodes.iter().find(|node| node.name == WORKER).expect("the worker is a node");
    assert_eq!(worker.machine.as_deref(), Some("rack1compute02"));
    assert_eq!(worker.version, "v1.36.4", "a node has its own cluster's Kubernetes, not the site's");
    assert!(worker.allocatable.cpu_millis > 0 && worker.allocatable.memory_bytes > 0 && !worker.is_unschedulable, "{worker:?}");
    let web: Vec<_> = pods.as_ref().unwrap().iter().filter(|pod| pod.labels.values().any(|value| value == "web")).collect();
    assert_eq!(web.len(), 2);
    assert!(web.iter().all(|pod| pod.requests.cpu_millis == 100 && pod.node.is_some()), "{web:?}");
    assert_eq!(budgets.unwrap().iter().map(|budget| (budget.needed, budget.allowed)).collect::<Vec<_>>(), [(2, 0)]);
    assert_eq!(cluster.request_cordon(WORKER, "evacuation").await, Ok(()));
    let seen = until("the cordon is seen", &mut events, |event| match event {
        InsideEvent::NodeChanged(node) if node.name == WORKER && node.is_unschedulable => Some(node),
        _ => None,
    })
    .await;
    assert!(seen.is_cordoned_by_us);
    assert_eq!(cluster.request_out_of_service(WORKER).await, Ok(()));
    until("the taint is seen", &mut events, |event| match event {
        InsideEvent::NodeChanged(node) if node.name == WORKER && node.is_out_of_service => Some(()),
        _ => None,
    })
    .await;
    assert_eq!(cluster.request_in_service(WORKER).await, Ok(()));
    assert_eq!(cluster.request_uncordon(WORKER).await, Ok(()));
    place.close().await;
}

/// Certificates and tokens count only over a socket, where the client brings layers of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_a_socket_a_tenant_cluster_is_trusted_by_its_kubeconfig_and_trusts_its_token() {
    let nodes = vec![node("naks-01-control-plane-8lv2n", "rack1compute01", None), node(WORKER, "rack1compute02", Some("agentpool1"))];
    let cluster = sim::TenantCluster { name: "naks-01".to_owned(), version: "v1.36.4".to_owned(), nodes, workloads: Vec::new() };
    let tenancy = Tenancy { vms: Vec::new(), clusters: vec![cluster] };
    let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(store::SystemClock)));
    let spec = SiteSpec::new("site1", 1, 6, 1).with_pace(sim::Pace::instant()).with_tenancy(tenancy);
    let site = sim::Site::open(spec, store, Arc::new(store::SystemClock)).await.unwrap();
    let endpoints = site.listen(std::net::Ipv4Addr::LOCALHOST.into()).await.unwrap();
    let shutdown = CancellationToken::new();
    let (world, stop) = (site.clone(), shutdown.clone());
    let running = tokio::spawn(async move { world.run(stop).await.unwrap() });
    let undercloud = Undercloud::from_kubeconfig(&site.kubeconfig(&endpoints)).await.unwrap();
    let secret = undercloud.observe_tenant_secret("naks-01-kubeconfig").await.unwrap().unwrap();
    let kubeconfig = std::str::from_utf8(secret.data.get("value").unwrap()).unwrap().to_owned();
    let ask = async |kubeconfig: &str| {
        let cluster = NetworkDoor.open(kubeconfig).await.unwrap();
        let asked = async {
            // Its nodes join when their virtual machines have booted.
            loop {
                match cluster.request_cordon(WORKER, "x").await {
                    Err(fault) if fault.class == model::FaultClass::Missing => tokio::task::yield_now().await,
                    other => return other,
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), asked).await.expect("it answers at once")
    };
    assert_eq!(ask(&kubeconfig).await, Ok(()));
    let line = |key: &str| kubeconfig.lines().find(|line| line.contains(key)).unwrap_or_else(|| panic!("{key} in {kubeconfig}")).to_owned();
    let fault = ask(&kubeconfig.replace(&line("token:"), "    token: another")).await.unwrap_err();
    assert_eq!(fault.class, model::FaultClass::Denied, "{fault}");
    let stranger = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap().cert.pem();
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, stranger);
    let other_ca = format!("    certificate-authority-data: {encoded}");
    let fault = ask(&kubeconfig.replace(&line("certificate-authority-data:"), &other_ca)).await.unwrap_err();
    assert_eq!((fault.class, fault.delivery), (model::FaultClass::Untrusted, model::Delivery::No), "{fault}");
    shutdown.cancel();
    running.await.unwrap();
}
