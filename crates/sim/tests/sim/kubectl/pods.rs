//! Pods, budgets, and draining a node of them.

use super::{Desk, row, with_each_client};

const POD: &str = "apiVersion: v1
kind: Pod
metadata:
  name: db-0
  labels: {app: db}
spec:
  nodeName: rack1compute01
  containers:
  - {name: main, image: 'db:1'}
";

const BUDGET: &str = "apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: db}
spec:
  minAvailable: 1
  selector: {matchLabels: {app: db}}
";

async fn create_pod(desk: &Desk) {
    desk.write("pod.yaml", POD);
    assert_eq!(desk.ok("create -f pod.yaml").await, "pod/db-0 created\n");
    desk.ok("wait --for=condition=Ready pod/db-0 --timeout=10s").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_creates_shows_and_deletes_a_pod() {
    with_each_client(async |desk| {
        create_pod(desk).await;
        let pods = desk.ok("get pods -o wide").await;
        assert_eq!(row(&pods, "NAME")[..6], ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP"]);
        let shown = row(&pods, "db-0");
        assert_eq!((shown[1], shown[2], shown[3], shown[6]), ("1/1", "Running", "0", "rack1compute01"));
        assert_eq!(desk.ok("get pods -A --field-selector spec.nodeName=rack1compute01 -o name").await, "pod/db-0\n");
        assert_eq!(desk.ok("get pods -A --field-selector spec.nodeName=rack1compute02 -o name").await, "");
        assert!(desk.ok("get all").await.contains("pod/db-0"));
        let description = desk.ok("describe pod db-0").await;
        for part in ["Node:", "rack1compute01/", "Restart Count:  0", "QoS Class:", "Started containers"] {
            assert!(description.contains(part), "{part} is missing in\n{description}");
        }
        let node = desk.ok("describe node rack1compute01").await;
        assert!(node.contains("db-0") && node.contains("(1 in total)"), "{node}");
        assert_eq!(desk.ok("delete pod db-0").await, "pod \"db-0\" deleted\n");
        assert!(desk.fails("get pod db-0").await.err.contains("(NotFound): pods \"db-0\" not found"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_drains_a_node_when_the_budget_lets_it() {
    with_each_client(async |desk| {
        create_pod(desk).await;
        desk.write("budget.yaml", BUDGET);
        desk.ok("apply -f budget.yaml").await;
        assert_eq!(row(&desk.ok("get pdb").await, "db")[..4], ["db", "1", "N/A", "0"]);
        let unforced = desk.fails("drain rack1compute01").await.err;
        assert!(unforced.contains("default/db-0") && unforced.contains("--force"), "{unforced}");
        let blocked = desk.fails("drain rack1compute01 --force --timeout=1s").await.err;
        assert!(blocked.contains("Cannot evict pod as it would violate the pod's disruption budget."), "{blocked}");
        assert!(blocked.contains("global timeout reached: 1s"), "{blocked}");
        assert_eq!(row(&desk.ok("get pods").await, "db-0")[2], "Running");
        desk.ok("delete pdb db").await;
        let drained = desk.ok("drain rack1compute01 --force --timeout=30s").await;
        assert!(drained.contains("pod/db-0 evicted"), "{drained}");
        assert_eq!(desk.ok("get pods -o name").await, "");
        desk.ok("uncordon rack1compute01").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_applies_a_pod_and_changes_its_image() {
    with_each_client(async |desk| {
        desk.write("pod.yaml", POD);
        assert_eq!(desk.ok("apply -f pod.yaml").await, "pod/db-0 created\n");
        assert_eq!(desk.ok("apply -f pod.yaml").await, "pod/db-0 unchanged\n");
        desk.write("pod.yaml", &POD.replace("db:1", "db:2"));
        assert_eq!(desk.ok("apply -f pod.yaml").await, "pod/db-0 configured\n");
        assert_eq!(desk.ok("get pod db-0 -o jsonpath={.spec.containers[0].image}").await, "db:2");
        desk.write("pod.yaml", &POD.replace("rack1compute01", "rack2compute01"));
        assert!(desk.fails("apply -f pod.yaml").await.err.contains("pod updates may not change fields"));
        let refused = desk.fails("apply --server-side -f pod.yaml").await.err;
        assert!(refused.contains("Server-side apply not available on the server"), "{refused}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_can_ask_what_would_happen() {
    with_each_client(async |desk| {
        desk.write("pod.yaml", POD);
        assert_eq!(desk.ok("create --dry-run=server -f pod.yaml").await, "pod/db-0 created (server dry run)\n");
        assert_eq!(desk.ok("get pods -o name").await, "");
        create_pod(desk).await;
        assert_eq!(desk.ok("delete --dry-run=server pod db-0").await, "pod \"db-0\" deleted (server dry run)\n");
        desk.ok("cordon --dry-run=server rack1compute01").await;
        assert_eq!(row(&desk.ok("get pods").await, "db-0")[2], "Running");
        assert_eq!(row(&desk.ok("get node rack1compute01").await, "rack1compute01")[1], "Ready");
    })
    .await;
}
