//! kubectl, which others wrote, against the site.

use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr};
use std::process::Stdio;
use std::sync::Arc;

use sim::{Endpoints, Pace, Site};
use store::{MemoryStore, SharedStore, SystemClock};
use tokio_util::sync::CancellationToken;

use crate::harness::spec;

/// Runs kubectl as a person would and returns what it prints.
async fn kubectl(kubeconfig: &std::path::Path, arguments: &'static str) -> String {
    let kubeconfig = kubeconfig.to_owned();
    let run = move || {
        let home = kubeconfig.parent().unwrap();
        let mut command = std::process::Command::new("kubectl");
        command.arg("--kubeconfig").arg(&kubeconfig).args(arguments.split(' ')).env("HOME", home).stdin(Stdio::null());
        command.output().expect("kubectl must be installed for this test; `./test` installs it")
    };
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "kubectl {arguments}\n{out}\n{err}");
    out.into_owned()
}

async fn serve() -> (Site, Endpoints, CancellationToken, tokio::task::JoinHandle<()>) {
    let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
    let site = Site::open(spec().with_pace(Pace::instant()), store, Arc::new(SystemClock)).await.unwrap();
    let endpoints = site.listen(IpAddr::V4(Ipv4Addr::LOCALHOST)).await.unwrap();
    let shutdown = CancellationToken::new();
    let (running, until) = (site.clone(), shutdown.clone());
    let task = tokio::spawn(async move { running.run(until).await.unwrap() });
    (site, endpoints, shutdown, task)
}

/// The words of the line that starts with `name`.
fn row<'a>(table: &'a str, name: &str) -> Vec<&'a str> {
    let line = table.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in\n{table}"));
    line.split_whitespace().collect()
}

/// Lets kubectl watch the nodes, cordons one, and returns the words of the first line that shows it.
async fn watched_after_cordon(kubeconfig: &std::path::Path) -> Vec<String> {
    let mut watching = std::process::Command::new("kubectl")
        .args(["get", "nodes", "--watch", "--request-timeout=60s", "--kubeconfig"])
        .arg(kubeconfig)
        .env("HOME", kubeconfig.parent().unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let (listed, is_listed) = tokio::sync::oneshot::channel();
    let reading = tokio::task::spawn_blocking(move || {
        let first: Vec<String> = lines.by_ref().take(16).map(Result::unwrap).collect();
        listed.send(first).unwrap();
        lines.map(Result::unwrap).find(|line| line.contains("SchedulingDisabled")).expect("kubectl shows the cordon")
    });
    is_listed.await.unwrap();
    kubectl(kubeconfig, "cordon rack4compute01").await;
    let line = reading.await.unwrap();
    watching.kill().unwrap();
    watching.wait().unwrap();
    line.split_whitespace().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_works_as_a_person_uses_it() {
    let (site, endpoints, shutdown, task) = serve().await;
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("kubeconfig");
    std::fs::write(&config, site.kubeconfig(&endpoints)).unwrap();

    let nodes = kubectl(&config, "get nodes").await;
    assert_eq!(row(&nodes, "NAME"), ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]);
    assert_eq!(row(&nodes, "rack1control01")[1..3], ["Ready", "control-plane"]);
    assert_eq!(nodes.lines().count(), 16);
    let wide = kubectl(&config, "get nodes -o wide").await;
    assert!(wide.contains("INTERNAL-IP") && wide.contains("containerd://"), "{wide}");
    let columns = r"get nodes -o custom-columns=NODE:.metadata.name,BMM:.metadata.labels.topology\.kubernetes\.io/baremetalmachine";
    assert_eq!(row(&kubectl(&config, columns).await, "rack2compute01"), ["rack2compute01", "rack2compute01"]);

    kubectl(&config, "cordon rack1compute01").await;
    assert_eq!(row(&kubectl(&config, "get nodes").await, "rack1compute01")[1], "Ready,SchedulingDisabled");
    let description = kubectl(&config, "describe node rack1compute01").await;
    for part in ["node.kubernetes.io/unschedulable:NoSchedule", "KubeletReady", "RenewTime:", "NodeNotSchedulable", "Non-terminated Pods:"]
    {
        assert!(description.contains(part), "{part} is missing in\n{description}");
    }
    kubectl(&config, "uncordon rack1compute01").await;
    assert_eq!(row(&kubectl(&config, "get node rack1compute01").await, "rack1compute01")[1], "Ready");
    kubectl(&config, "label node rack1compute01 team=red").await;
    assert_eq!(kubectl(&config, "get nodes -l team=red -o name").await, "node/rack1compute01\n");
    kubectl(&config, "taint node rack1compute01 a=b:NoSchedule").await;
    kubectl(&config, "annotate node rack1compute01 note=one").await;

    assert!(kubectl(&config, "get events").await.contains("NodeNotSchedulable"));
    let leases = kubectl(&config, "get leases -A").await;
    assert_eq!(row(&leases, "kube-node-lease")[1], "rack1compute01");
    assert!(kubectl(&config, "get namespaces").await.contains("Active"));
    assert!(kubectl(&config, "api-resources").await.contains("coordination.k8s.io/v1"));
    assert_eq!(watched_after_cordon(&config).await[1], "Ready,SchedulingDisabled");

    shutdown.cancel();
    task.await.unwrap();
}
