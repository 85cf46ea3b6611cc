//! The Kubernetes driver against the simulated undercloud, which share no types: in one process, and over a socket.

use axum::body::Body;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use kubernetes::{JoinToken, NamespacePhase, SecretData, SecretWanted, Undercloud};
use model::{EvictionAnswer, Grace, PodPhase, PodRef, PodSeen, Readiness, Span, Timestamp};
use scenarios::{House, authorized_kubernetes};
use serde_json::{Value, json};
use sim::{Pace, SiteSpec, Wire};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;
use store::{MemoryStore, SharedStore, SystemClock};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

const NODE: &str = "rack1compute01";

/// Far less than the minutes for which the client's own retries would go on, far more than a loopback answer takes.
const AT_ONCE: Duration = Duration::from_secs(5);

/// Somebody else's hands on the same cluster.
struct Tenant {
    api: Wire,
    token: String,
}

impl Tenant {
    fn of(site: &sim::Site) -> Tenant {
        Tenant { api: site.kubernetes(), token: site.layout().kubernetes_token() }
    }

    async fn call(&self, method: &str, path: &str, body: &Value) -> (StatusCode, Value) {
        let request = Request::builder().method(method).uri(path).header("authorization", format!("Bearer {}", self.token));
        let response = self.api.clone().oneshot(request.body(Body::from(body.to_string())).unwrap()).await.unwrap();
        let status = response.status();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap())
    }

    async fn create(&self, path: &str, body: &Value) {
        let (status, answer) = self.call("POST", path, body).await;
        assert_eq!(status, StatusCode::CREATED, "{answer}");
    }

    async fn create_pod(&self, name: &str, extra: &Value) {
        let mut pod = json!({
            "metadata": {"name": name, "labels": {"app": "db"}},
            "spec": {"nodeName": NODE, "containers": [{"name": "main", "image": "db:1"}]},
        });
        for (part, fields) in extra.as_object().into_iter().flatten() {
            for (field, value) in fields.as_object().unwrap() {
                pod[part][field] = value.clone();
            }
        }
        self.create("/api/v1/namespaces/default/pods", &pod).await;
    }

    async fn limit(&self, name: &str, least: i64) {
        let budget = json!({"metadata": {"name": name}, "spec": {"minAvailable": least, "selector": {"matchLabels": {"app": "db"}}}});
        self.create("/apis/policy/v1/namespaces/default/poddisruptionbudgets", &budget).await;
    }
}

async fn seen(undercloud: &Undercloud, name: &str) -> Option<PodSeen> {
    undercloud.observe_pods(NODE).await.unwrap().into_iter().find(|seen| seen.pod.name == name)
}

async fn pod_ref(undercloud: &Undercloud, name: &str) -> PodRef {
    seen(undercloud, name).await.unwrap_or_else(|| panic!("{name} is on {NODE}")).pod
}

/// Looks again and again, in wall time, until it is so.
async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let look = async {
        while !is_so().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(AT_ONCE, look).await.unwrap_or_else(|_| panic!("{what} in {AT_ONCE:?}"));
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn the_pods_of_a_node_are_seen_with_what_decides_about_them() {
    let house = House::without_control_plane(1, 4).await;
    let (undercloud, tenant) = (Undercloud::in_process(authorized_kubernetes(&house.site)), Tenant::of(&house.site));
    let owner = json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "logs", "uid": "x", "controller": true}]);
    tenant.create_pod("plain", &json!({})).await;
    tenant.create_pod("daemon", &json!({"metadata": {"ownerReferences": owner}})).await;
    tenant.create_pod("mirror", &json!({"metadata": {"annotations": {"kubernetes.io/config.mirror": "h"}}})).await;
    tenant.create_pod("scratch", &json!({"spec": {"volumes": [{"name": "v", "emptyDir": {}}], "terminationGracePeriodSeconds": 7}})).await;
    tenant.create_pod("elsewhere", &json!({"spec": {"nodeName": "rack1compute02"}})).await;
    assert_eq!(seen(&undercloud, "plain").await.unwrap().phase, PodPhase::Pending);
    pass(3).await;
    let pods = undercloud.observe_pods(NODE).await.unwrap();
    assert_eq!(pods.iter().map(|seen| seen.pod.name.as_str()).collect::<Vec<_>>(), ["daemon", "mirror", "plain", "scratch"]);
    assert!(pods.iter().all(|seen| seen.phase == PodPhase::Running && seen.ready == Readiness::True && seen.termination.is_none()));
    assert_eq!(pods[0].owner.as_ref().unwrap().kind, "DaemonSet");
    assert_eq!(pods.iter().map(|seen| seen.is_mirror).collect::<Vec<_>>(), [false, true, false, false]);
    assert_eq!(pods.iter().map(|seen| seen.has_local_storage).collect::<Vec<_>>(), [false, false, false, true]);
    assert_eq!(pods[3].grace, Span::seconds(7));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_eviction_ends_the_pod_that_is_meant_and_no_other() {
    let house = House::without_control_plane(1, 4).await;
    let (undercloud, tenant) = (Undercloud::in_process(authorized_kubernetes(&house.site)), Tenant::of(&house.site));
    for name in ["a", "b", "c"] {
        tenant.create_pod(name, &json!({})).await;
    }
    pass(3).await;
    tenant.limit("db", 1).await;
    let first = pod_ref(&undercloud, "a").await;
    assert_eq!(undercloud.request_eviction(&first, Grace::Own).await, Ok(EvictionAnswer::Accepted));
    assert_eq!(undercloud.request_eviction(&first, Grace::Own).await, Ok(EvictionAnswer::Accepted), "asking twice is the same as once");
    let leaving = seen(&undercloud, "a").await.unwrap().termination.unwrap();
    assert_eq!(leaving.until.since(leaving.since), Span::seconds(30));
    pass(31).await;
    assert_eq!(seen(&undercloud, "a").await, None);
    assert_eq!(undercloud.request_eviction(&first, Grace::Own).await, Ok(EvictionAnswer::AlreadyGone));
    // Somebody makes a pod of the same name: it is not the one that was meant, and lives.
    tenant.create_pod("a", &json!({})).await;
    pass(3).await;
    assert_eq!(undercloud.request_eviction(&first, Grace::Own).await, Ok(EvictionAnswer::AnotherPod));
    let successor = seen(&undercloud, "a").await.unwrap();
    assert_eq!((successor.phase, successor.termination), (PodPhase::Running, None));
    assert_ne!(successor.pod.uid, first.uid);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn what_stands_in_the_way_of_an_eviction_is_told_apart() {
    let house = House::without_control_plane(1, 4).await;
    let (undercloud, tenant) = (Undercloud::in_process(authorized_kubernetes(&house.site)), Tenant::of(&house.site));
    tenant.create_pod("a", &json!({})).await;
    pass(3).await;
    tenant.limit("db", 1).await;
    let pod = pod_ref(&undercloud, "a").await;
    let why = "The disruption budget db needs 1 healthy pods and has 1 currently".to_owned();
    assert_eq!(undercloud.request_eviction(&pod, Grace::Own).await, Ok(EvictionAnswer::Blocked { why, retry_after: None }));
    tenant.limit("also", 0).await;
    let misconfigured = undercloud.request_eviction(&pod, Grace::Own).await;
    assert!(matches!(misconfigured, Ok(EvictionAnswer::Misconfigured { .. })), "{misconfigured:?}");
    tenant.create("/api/v1/namespaces", &json!({"metadata": {"name": "team"}})).await;
    let spec = json!({"nodeName": NODE, "containers": [{"name": "main", "image": "x"}]});
    tenant.create("/api/v1/namespaces/team/pods", &json!({"metadata": {"name": "t"}, "spec": spec})).await;
    pass(3).await;
    let member = pod_ref(&undercloud, "t").await;
    assert_eq!(undercloud.observe_namespace("team").await.unwrap().unwrap().phase, NamespacePhase::Active);
    tenant.call("DELETE", "/api/v1/namespaces/team", &json!({})).await;
    assert_eq!(undercloud.observe_namespace("team").await.unwrap().unwrap().phase, NamespacePhase::Terminating);
    assert_eq!(undercloud.request_eviction(&member, Grace::Own).await, Ok(EvictionAnswer::NamespaceTerminating));
    // Five seconds until what is in it is told to end, and the thirty that the pod then has.
    pass(36).await;
    assert_eq!(undercloud.observe_namespace("team").await, Ok(None));
    assert_eq!(undercloud.request_eviction(&member, Grace::Own).await, Ok(EvictionAnswer::AlreadyGone));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_put_there_twice_and_read_back() {
    let house = House::without_control_plane(1, 4).await;
    let undercloud = Undercloud::in_process(authorized_kubernetes(&house.site));
    assert_eq!(undercloud.observe_secret("kube-system", "join").await, Ok(None));
    let mut wanted = SecretWanted {
        namespace: "kube-system".to_owned(),
        name: "join".to_owned(),
        kind: "bootstrap.kubernetes.io/token".to_owned(),
        labels: BTreeMap::new(),
        data: SecretData::default().with("token-id", "abc").with("old", "x"),
    };
    undercloud.request_secret(&wanted).await.unwrap();
    wanted.data = SecretData::default().with("token-id", vec![0xff, 0x00]);
    undercloud.request_secret(&wanted).await.unwrap();
    let stored = undercloud.observe_secret("kube-system", "join").await.unwrap().unwrap();
    assert_eq!((stored.kind.as_str(), &stored.data), ("bootstrap.kubernetes.io/token", &wanted.data));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_token_by_which_a_node_joins_is_put_there_and_ended_however_often_it_is_asked_for() {
    let house = House::without_control_plane(1, 4).await;
    let undercloud = Undercloud::in_process(authorized_kubernetes(&house.site));
    let mut token = JoinToken {
        id: "abc234".to_owned(),
        secret: "qwertyuiopasdfgh".to_owned().into(),
        description: "Rackwright: rack1compute01 joins, operation 8f3c".to_owned(),
        expires_at: Timestamp::parse("2026-11-15T15:00:00Z").unwrap(),
    };
    for end in ["2026-11-15T15:00:00Z", "2026-11-15T16:00:00Z"] {
        token.expires_at = Timestamp::parse(end).unwrap();
        undercloud.request_join_token(&token).await.unwrap();
        let stored = undercloud.observe_secret("kube-system", "bootstrap-token-abc234").await.unwrap().unwrap();
        assert_eq!(stored.data.get("expiration").map(String::from_utf8_lossy).as_deref(), Some(token.expires_at.to_string().as_str()));
    }
    for _ in 0..2 {
        undercloud.request_join_token_end(&token.id).await.unwrap();
        assert_eq!(undercloud.observe_secret("kube-system", "bootstrap-token-abc234").await, Ok(None));
    }
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_off_keeps_its_pods_terminating() {
    let house = House::without_control_plane(1, 4).await;
    let (undercloud, tenant) = (Undercloud::in_process(authorized_kubernetes(&house.site)), Tenant::of(&house.site));
    tenant.create_pod("a", &json!({})).await;
    pass(3).await;
    house.reset_by_hand(NODE, "ForceOff").await;
    pass(60).await;
    let lost = seen(&undercloud, "a").await.unwrap();
    assert_eq!((lost.phase, lost.ready), (PodPhase::Running, Readiness::False));
    assert_eq!(undercloud.request_eviction(&lost.pod, Grace::Within(Span::seconds(1))).await, Ok(EvictionAnswer::Accepted));
    pass(600).await;
    assert!(seen(&undercloud, "a").await.unwrap().termination.is_some(), "nothing but its kubelet ends it");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_a_socket_a_blocked_eviction_is_told_at_once_and_the_uid_counts() {
    let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
    let spec = SiteSpec::new("site1", 1, 4, 1).with_pace(Pace::instant());
    let site = sim::Site::open(spec, store, Arc::new(SystemClock)).await.unwrap();
    let endpoints = site.listen(IpAddr::V4(Ipv4Addr::LOCALHOST)).await.unwrap();
    let shutdown = CancellationToken::new();
    let (running, stop) = (site.clone(), shutdown.clone());
    let task = tokio::spawn(async move { running.run(stop).await.unwrap() });
    let undercloud = Undercloud::from_kubeconfig(&site.kubeconfig(&endpoints)).await.unwrap();
    let tenant = Tenant::of(&site);
    for name in ["a", "b"] {
        tenant.create_pod(name, &json!({})).await;
    }
    until("both pods are ready", async || {
        let pods = undercloud.observe_pods(NODE).await.unwrap();
        pods.len() == 2 && pods.iter().all(|seen| seen.ready == Readiness::True)
    })
    .await;
    tenant.limit("db", 2).await;
    let pod = pod_ref(&undercloud, "a").await;
    let blocked = tokio::time::timeout(AT_ONCE, undercloud.request_eviction(&pod, Grace::Own)).await.expect("nobody retries");
    assert!(matches!(blocked, Ok(EvictionAnswer::Blocked { retry_after: None, .. })), "{blocked:?}");
    tenant.call("DELETE", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/db", &json!({})).await;
    let another = PodRef { uid: "another".to_owned(), ..pod.clone() };
    assert_eq!(undercloud.request_eviction(&another, Grace::Own).await, Ok(EvictionAnswer::AnotherPod));
    assert_eq!(seen(&undercloud, "a").await.unwrap().termination, None);
    assert_eq!(undercloud.request_eviction(&pod, Grace::Own).await, Ok(EvictionAnswer::Accepted));
    until("the pod is gone", async || seen(&undercloud, "a").await.is_none()).await;
    shutdown.cancel();
    task.await.unwrap();
}
