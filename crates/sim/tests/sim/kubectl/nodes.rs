//! Nodes and what a person does with them.

use std::io::{BufRead, BufReader};

use super::{Desk, row, with_each_client};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_shows_nodes_as_a_person_knows_them() {
    with_each_client(async |desk| {
        let nodes = desk.ok("get nodes").await;
        assert_eq!(row(&nodes, "NAME"), ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]);
        assert_eq!(row(&nodes, "rack1control01")[1..3], ["Ready", "control-plane"]);
        assert_eq!(nodes.lines().count(), 16);
        let wide = desk.ok("get nodes -o wide").await;
        assert!(wide.contains("INTERNAL-IP") && wide.contains("containerd://"), "{wide}");
        let columns = r"get nodes -o custom-columns=NODE:.metadata.name,BMM:.metadata.labels.topology\.kubernetes\.io/baremetalmachine";
        assert_eq!(row(&desk.ok(columns).await, "rack2compute01"), ["rack2compute01", "rack2compute01"]);
        assert_eq!(desk.ok("get nodes --chunk-size=4 -o name").await.lines().count(), 15);
        assert_eq!(desk.ok("get nodes --field-selector spec.unschedulable=true -o name").await, "");
        let leases = desk.ok("get leases -A").await;
        assert_eq!(row(&leases, "kube-node-lease")[1], "rack1compute01");
        assert!(desk.ok("version").await.contains("v1.33.7"));
        let kinds = desk.ok("api-resources").await;
        assert_eq!(row(&kinds, "poddisruptionbudgets")[1..], ["pdb", "policy/v1", "true", "PodDisruptionBudget"]);
        assert!(kinds.contains("coordination.k8s.io/v1"), "{kinds}");
        desk.ok("wait --for=condition=Ready node/rack1compute01 --timeout=10s").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_cordons_labels_taints_and_describes_a_node() {
    with_each_client(async |desk| {
        desk.ok("cordon rack1compute01").await;
        assert_eq!(row(&desk.ok("get nodes").await, "rack1compute01")[1], "Ready,SchedulingDisabled");
        let description = desk.ok("describe node rack1compute01").await;
        let parts =
            ["node.kubernetes.io/unschedulable:NoSchedule", "KubeletReady", "RenewTime:", "NodeNotSchedulable", "Non-terminated Pods:"];
        for part in parts {
            assert!(description.contains(part), "{part} is missing in\n{description}");
        }
        desk.ok("uncordon rack1compute01").await;
        assert_eq!(row(&desk.ok("get node rack1compute01").await, "rack1compute01")[1], "Ready");
        desk.ok("label node rack1compute01 team=red").await;
        assert_eq!(desk.ok("get nodes -l team=red -o name").await, "node/rack1compute01\n");
        assert_eq!(desk.ok("get nodes -l team -o name").await, "node/rack1compute01\n");
        desk.ok("taint node rack1compute01 a=b:NoSchedule").await;
        desk.ok("taint node rack1compute01 a-").await;
        assert_eq!(desk.ok("get node rack1compute01 -o jsonpath={.spec.taints}").await, "");
        desk.ok("annotate node rack1compute01 note=one").await;
        assert!(desk.ok("get events").await.contains("NodeNotSchedulable"));
    })
    .await;
}

/// Lets kubectl watch the nodes, cordons one, and returns the words of the first line that shows it.
async fn watched_after_cordon(desk: &Desk) -> Vec<String> {
    let mut watching = desk.begin("get nodes --watch --request-timeout=60s");
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let (listed, is_listed) = tokio::sync::oneshot::channel();
    let reading = tokio::task::spawn_blocking(move || {
        let first: Vec<String> = lines.by_ref().take(16).map(Result::unwrap).collect();
        listed.send(first).unwrap();
        lines.map(Result::unwrap).find(|line| line.contains("SchedulingDisabled")).expect("kubectl shows the cordon")
    });
    is_listed.await.unwrap();
    desk.ok("cordon rack4compute01").await;
    let line = reading.await.unwrap();
    watching.kill().unwrap();
    watching.wait().unwrap();
    line.split_whitespace().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_watches_nodes() {
    with_each_client(async |desk| assert_eq!(watched_after_cordon(desk).await[1], "Ready,SchedulingDisabled")).await;
}
