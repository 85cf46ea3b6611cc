//! A tenant's own cluster, over TLS and with the kubeconfig that Cluster API keeps.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sim::{ClusterNode, Pace, Site, SiteSpec, Tenancy, TenantCluster, TenantVm, Workload, WorkloadKind};
use store::{MemoryStore, SharedStore, SystemClock};
use tokio_util::sync::CancellationToken;

use super::{clients, row};

fn tenancy() -> Tenancy {
    let node = |name: &str, machine: &str, pool: Option<&str>| ClusterNode {
        name: name.to_owned(),
        machine: machine.to_owned(),
        pool: pool.map(str::to_owned),
        cores: 4,
        memory_gib: 16,
    };
    let cluster = TenantCluster {
        name: "naks-01".to_owned(),
        version: "v1.32.4".to_owned(),
        nodes: vec![node("naks-01-cp", "rack1compute02", None), node("naks-01-worker", "rack1compute01", Some("agentpool1"))],
        workloads: vec![Workload { min_available: Some(2), ..Workload::new(WorkloadKind::Deployment, "web", 3) }],
    };
    Tenancy { vms: vec![TenantVm::new("firewallvnf", "rack1compute01", 4, 16)], clusters: vec![cluster] }
}

/// The kubeconfig as the undercloud's Secret holds it.
async fn kubeconfig_of(program: &PathBuf, undercloud: &std::path::Path) -> String {
    let arguments = ["-n", "tenants", "get", "secret", "naks-01-kubeconfig", "-o", "json"];
    let secret = run(program, undercloud, &arguments).await.unwrap();
    let secret: Value = serde_json::from_str(&secret).unwrap();
    assert_eq!(secret["type"], "cluster.x-k8s.io/secret");
    String::from_utf8(STANDARD.decode(secret["data"]["value"].as_str().unwrap()).unwrap()).unwrap()
}

async fn run(program: &PathBuf, kubeconfig: &std::path::Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(program);
    command.arg("--kubeconfig").arg(kubeconfig).args(arguments).env("HOME", kubeconfig.parent().unwrap());
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().expect("kubectl starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_looks_into_a_tenants_cluster_with_the_kubeconfig_of_its_secret() {
    let clients = tokio::task::spawn_blocking(clients).await.unwrap();
    for program in clients {
        let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
        let spec = SiteSpec::new("site1", 1, 6, 1).with_pace(Pace::instant()).with_tenancy(tenancy());
        let site = Site::open(spec, store, Arc::new(SystemClock)).await.unwrap();
        let endpoints = site.listen(IpAddr::V4(Ipv4Addr::LOCALHOST)).await.unwrap();
        let shutdown = CancellationToken::new();
        let (running, until) = (site.clone(), shutdown.clone());
        let task = tokio::spawn(async move { running.run(until).await.unwrap() });
        let home = tempfile::tempdir().unwrap();
        let (undercloud, tenant) = (home.path().join("undercloud"), home.path().join("tenant"));
        std::fs::write(&undercloud, site.kubeconfig(&endpoints)).unwrap();
        let kubeconfig = kubeconfig_of(&program, &undercloud).await;
        assert_eq!(kubeconfig, endpoints.tenants["naks-01"].kubeconfig);
        std::fs::write(&tenant, kubeconfig).unwrap();

        let nodes = run(&program, &tenant, &["get", "nodes", "-L", "topology.kubernetes.io/baremetalmachine"]).await.unwrap();
        assert_eq!(row(&nodes, "naks-01-cp").last(), Some(&"rack1compute02"), "{nodes}");
        assert_eq!(row(&nodes, "naks-01-worker").last(), Some(&"rack1compute01"), "{nodes}");
        let vms = run(&program, &undercloud, &["get", "virtualmachines", "-n", "tenants", "-o", "name"]).await.unwrap();
        assert_eq!(vms.lines().count(), 3, "{vms}");
        let pods = run(&program, &tenant, &["get", "pods", "-l", "app=web"]).await.unwrap();
        assert_eq!(pods.lines().filter(|line| line.contains("Running")).count(), 3, "{pods}");

        // A certificate of somebody else is not trusted, and the right one is again.
        let untrusted = sim::parse_order("tenant-api-tls naks-01", site.layout()).unwrap();
        site.add_faults(&untrusted).await.unwrap();
        let refused = run(&program, &tenant, &["get", "nodes"]).await.unwrap_err();
        assert!(refused.contains("certificate"), "{refused}");
        site.clear_faults(|_| true).await.unwrap();
        run(&program, &tenant, &["get", "nodes"]).await.unwrap();
        shutdown.cancel();
        task.await.unwrap();
    }
}
