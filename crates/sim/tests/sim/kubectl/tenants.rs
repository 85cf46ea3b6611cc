//! A tenant's own cluster, over TLS and with the kubeconfig that Cluster API keeps.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sim::{ClusterNode, DescribedMachine, Pace, Role, Site, SiteSpec, Tenancy, TenantCluster, TenantVm, Workload, WorkloadKind};
use store::{MemoryStore, SharedStore, SystemClock};
use tokio_util::sync::CancellationToken;

use super::clients;

/// Three control-plane machines, and the article's two compute machines, with its names.
fn machines() -> Vec<DescribedMachine> {
    let named = [("rack1-control01", Role::ControlPlane), ("rack1-compute01", Role::Compute), ("rack1-compute02", Role::Compute)];
    let described = |(slot, (name, role)): (u32, (&str, Role))| DescribedMachine {
        name: name.to_owned(),
        rack: "rack1".to_owned(),
        slot,
        role,
        vendor: None,
        serial_number: format!("S{slot}"),
        bmc_mac: format!("D0:8E:79:00:00:{slot:02X}"),
        boot_mac: format!("D0:8E:79:00:01:{slot:02X}"),
    };
    (1..).zip(named).map(described).collect()
}

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
        nodes: vec![
            node("naks-01-agentpool1-md-tjr8k-4qqx4", "rack1-compute01", Some("agentpool1")),
            node("naks-01-agentpool2-md-zzrw8-gg8rx", "rack1-compute01", Some("agentpool2")),
            node("naks-01-agentpool2-md-zzrw8-lqrmt", "rack1-compute02", Some("agentpool2")),
            node("naks-01-control-plane-rmwqr", "rack1-compute02", None),
        ],
        workloads: vec![Workload { min_available: Some(2), ..Workload::new(WorkloadKind::Deployment, "web", 3) }],
    };
    Tenancy { vms: vec![TenantVm::new("firewallvnf", "rack1-compute01", 4, 16)], clusters: vec![cluster] }
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
async fn kubectl_prints_the_articles_table_from_the_tenants_own_cluster() {
    let clients = tokio::task::spawn_blocking(clients).await.unwrap();
    for program in clients {
        let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
        let spec = SiteSpec::described("seed-000", machines(), 1).with_pace(Pace::instant()).with_tenancy(tenancy());
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

        let columns = r"custom-columns=NODE:.metadata.name,BMM:.metadata.labels.topology\.kubernetes\.io/baremetalmachine";
        let table = run(&program, &tenant, &["get", "nodes", "-o", columns]).await.unwrap();
        let expected = [
            ["NODE", "BMM"],
            ["naks-01-agentpool1-md-tjr8k-4qqx4", "rack1-compute01"],
            ["naks-01-agentpool2-md-zzrw8-gg8rx", "rack1-compute01"],
            ["naks-01-agentpool2-md-zzrw8-lqrmt", "rack1-compute02"],
            ["naks-01-control-plane-rmwqr", "rack1-compute02"],
        ];
        let words: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words, expected);
        let vms = run(&program, &undercloud, &["get", "virtualmachines", "-n", "tenants", "-o", "name"]).await.unwrap();
        assert_eq!(vms.lines().count(), 5, "{vms}");
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
