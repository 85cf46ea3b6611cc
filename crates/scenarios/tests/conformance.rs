//! What an API server answers to evictions, row by row, and what our driver makes of it. The same suite runs against the simulated
//! cluster of a tenant and, if `RACKWRIGHT_TEST_KUBECONFIG` names the kubeconfig of another cluster, against that one.
//!
//! A budget that was not counted yet is not among the rows: no client can bring it about for certain. What the answer means is in
//! the driver's own table.

use std::time::Duration;

use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use kube::{Client, Config};
use kubernetes::TenantCluster;
use model::{EvictionAnswer, Grace, PodRef};
use serde_json::{Value, json};
use sim::{ClusterNode, SiteSpec, Tenancy};
use std::sync::Arc;
use store::{MemoryStore, SharedStore};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// How long a pod may take to become ready, or to go.
const PATIENCE: Duration = Duration::from_secs(120);

/// One that does nothing and ends at once.
const IMAGE: &str = "registry.k8s.io/pause:3.10";

/// A namespace of its own in the cluster under test.
struct Bench {
    client: Client,
    driver: TenantCluster,
    namespace: String,
}

fn resource(group: &str, kind: &str, plural: &str) -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, "v1", kind), plural)
}

impl Bench {
    async fn set_up(client: Client, namespace: &str) -> Bench {
        let bench = Bench { driver: TenantCluster::new(client.clone()), client, namespace: namespace.to_owned() };
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        bench.namespaces().create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
        bench
    }

    fn namespaces(&self) -> Api<DynamicObject> {
        Api::all_with(self.client.clone(), &resource("", "Namespace", "namespaces"))
    }

    fn pods(&self) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &self.namespace, &resource("", "Pod", "pods"))
    }

    fn budgets(&self) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &self.namespace, &resource("policy", "PodDisruptionBudget", "poddisruptionbudgets"))
    }

    /// Makes a pod and waits until it is ready.
    async fn pod(&self, name: &str, app: &str, annotations: Value) -> PodRef {
        let spec = json!({
            "containers": [{"name": "main", "image": IMAGE, "resources": {"requests": {"cpu": "1m", "memory": "1Mi"}}}],
            "terminationGracePeriodSeconds": 20,
            "automountServiceAccountToken": false,
        });
        let metadata = json!({"name": name, "labels": {"app": app}, "annotations": annotations});
        let object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec});
        self.pods().create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
        self.until(&format!("{name} is ready"), async || {
            let pod = self.pods().get(name).await.unwrap();
            let conditions = pod.data["status"]["conditions"].as_array().cloned().unwrap_or_default();
            conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
        })
        .await;
        self.reference(name).await
    }

    async fn reference(&self, name: &str) -> PodRef {
        let uid = self.pods().get(name).await.unwrap().metadata.uid.unwrap();
        PodRef { namespace: self.namespace.clone(), name: name.to_owned(), uid }
    }

    /// Makes a budget and waits until it has been counted.
    async fn budget(&self, name: &str, app: &str, least: u32) {
        let spec = json!({"minAvailable": least, "selector": {"matchLabels": {"app": app}}});
        let object = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": spec});
        self.budgets().create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
        self.until(&format!("{name} is counted"), async || {
            self.budgets().get(name).await.unwrap().data["status"]["expectedPods"].as_i64().unwrap_or_default() > 0
        })
        .await;
    }

    async fn is_there(&self, name: &str) -> bool {
        self.pods().get_opt(name).await.unwrap().is_some()
    }

    async fn until(&self, what: &str, is_so: impl AsyncFn() -> bool) {
        let look = async {
            while !is_so().await {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        tokio::time::timeout(PATIENCE, look).await.unwrap_or_else(|_| panic!("{what} in {PATIENCE:?}"));
    }

    async fn evict(&self, pod: &PodRef) -> Result<EvictionAnswer, model::Fault> {
        self.driver.request_eviction(pod, Grace::Own).await
    }
}

/// Every row of the table that can be brought about.
async fn every_row(client: Client, namespace: &str) {
    let bench = Bench::set_up(client, namespace).await;
    allowed_and_repeated(&bench).await;
    kept_by_budgets(&bench).await;
    gone_and_another(&bench).await;
    mirrored(&bench).await;
    leaving_with_its_namespace(&bench).await;
}

async fn allowed_and_repeated(bench: &Bench) {
    let pod = bench.pod("allowed", "allowed", json!({})).await;
    assert_eq!(bench.evict(&pod).await, Ok(EvictionAnswer::Accepted));
    if bench.is_there("allowed").await {
        assert_eq!(bench.evict(&pod).await, Ok(EvictionAnswer::Accepted), "a pod that is terminating already");
    }
    bench.until("the pod is gone", async || !bench.is_there("allowed").await).await;
    assert_eq!(bench.evict(&pod).await, Ok(EvictionAnswer::AlreadyGone));
}

async fn kept_by_budgets(bench: &Bench) {
    let pod = bench.pod("kept", "kept", json!({})).await;
    bench.budget("keeps", "kept", 1).await;
    let blocked = bench.evict(&pod).await;
    let Ok(EvictionAnswer::Blocked { why, retry_after: None }) = &blocked else { panic!("{blocked:?}") };
    assert!(why.contains("keeps"), "the budget is named: {why}");
    let code = dry_run(bench, &pod).await;
    assert_eq!(code, 429, "a try without effect says so too");
    bench.budget("also", "kept", 1).await;
    let misconfigured = bench.evict(&pod).await;
    assert!(matches!(misconfigured, Ok(EvictionAnswer::Misconfigured { .. })), "{misconfigured:?}");
    assert!(bench.is_there("kept").await);
}

async fn dry_run(bench: &Bench, pod: &PodRef) -> u16 {
    let path = format!("/api/v1/namespaces/{}/pods/{}/eviction?dryRun=All", pod.namespace, pod.name);
    let body = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod.name, "namespace": pod.namespace}});
    let request = http::Request::post(path).header("content-type", "application/json").body(body.to_string().into_bytes()).unwrap();
    match bench.client.request_text(request).await {
        Err(kube::Error::Api(status)) => status.code,
        other => panic!("{other:?}"),
    }
}

async fn gone_and_another(bench: &Bench) {
    let pod = bench.pod("another", "another", json!({})).await;
    bench.budget("spare", "another", 0).await;
    let meant = PodRef { uid: "00000000-0000-4000-8000-000000000000".to_owned(), ..pod.clone() };
    assert_eq!(bench.evict(&meant).await, Ok(EvictionAnswer::AnotherPod));
    assert_eq!(bench.reference("another").await, pod, "it lives");
    let never = PodRef { name: "never".to_owned(), ..pod };
    assert_eq!(bench.evict(&never).await, Ok(EvictionAnswer::AlreadyGone));
}

/// The server does not protect what only mirrors a file of a kubelet: whoever drains must leave it alone.
async fn mirrored(bench: &Bench) {
    let pod = bench.pod("mirror", "mirror", json!({"kubernetes.io/config.mirror": "x"})).await;
    assert_eq!(bench.evict(&pod).await, Ok(EvictionAnswer::Accepted));
}

async fn leaving_with_its_namespace(bench: &Bench) {
    let pod = bench.pod("member", "member", json!({})).await;
    bench.namespaces().delete(&bench.namespace, &DeleteParams::default()).await.unwrap();
    let answer = bench.evict(&pod).await;
    // Where its namespace has told it to end first, the eviction changes nothing.
    assert!(matches!(answer, Ok(EvictionAnswer::NamespaceTerminating | EvictionAnswer::Accepted)), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn a_simulated_tenant_cluster_answers_evictions_as_kubernetes_does() {
    let clock: Arc<dyn model::Clock> = Arc::new(store::TokioClock::starting_at(model::Timestamp::EPOCH));
    let store: SharedStore = Arc::new(MemoryStore::new(clock.clone()));
    let node = |name: &str, machine: &str, pool: Option<&str>| ClusterNode {
        name: name.to_owned(),
        machine: machine.to_owned(),
        pool: pool.map(str::to_owned),
        cores: 4,
        memory_gib: 8,
    };
    let nodes = vec![node("naks-01-cp", "rack1compute01", None), node("naks-01-w1", "rack1compute02", Some("agentpool1"))];
    let cluster = sim::TenantCluster { name: "naks-01".to_owned(), version: "v1.36.4".to_owned(), nodes, workloads: Vec::new() };
    let tenancy = Tenancy { vms: Vec::new(), clusters: vec![cluster] };
    let site = sim::Site::open(SiteSpec::new("site1", 1, 6, 1).with_tenancy(tenancy), store, clock).await.unwrap();
    let shutdown = CancellationToken::new();
    let (running, stop) = (site.clone(), shutdown.clone());
    let task = tokio::spawn(async move { running.run(stop).await.unwrap() });
    let undercloud = kubernetes::Undercloud::in_process(scenarios::authorized_kubernetes(&site));
    let secret = undercloud.observe_tenant_secret("naks-01-kubeconfig").await.unwrap().expect("Cluster API made a kubeconfig");
    let kubeconfig = String::from_utf8(secret.data.get("value").unwrap().to_vec()).unwrap();
    every_row(in_process_client(&site, &kubeconfig), "conformance").await;
    shutdown.cancel();
    task.await.unwrap();
}

/// A client as anybody would have it, with the token of the kubeconfig.
fn in_process_client(site: &sim::Site, kubeconfig: &str) -> Client {
    let token = kubeconfig.split_once("token: ").unwrap().1.lines().next().unwrap().trim_matches(['"', ' ', '}', ']']).to_owned();
    let api = site.tenant_kubernetes("naks-01").unwrap();
    let api = api.map_request(move |mut request: http::Request<kube::client::Body>| {
        request.headers_mut().insert(http::header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
        request.map(axum::body::Body::new)
    });
    Client::new(api, "default")
}

#[tokio::test]
async fn another_cluster_answers_evictions_as_we_believe() {
    let Ok(path) = std::env::var("RACKWRIGHT_TEST_KUBECONFIG") else { return };
    let kubeconfig = kube::config::Kubeconfig::read_from(path).unwrap();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &kube::config::KubeConfigOptions::default()).await.unwrap();
    config.default_retry = false;
    let namespace = format!("rackwright-conformance-{}", std::process::id());
    every_row(Client::try_from(config).unwrap(), &namespace).await;
}
