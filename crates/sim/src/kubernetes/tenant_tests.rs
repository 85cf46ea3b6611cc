//! The API of a tenant cluster over HTTP, in process on virtual time.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use model::{Clock, Timestamp};
use serde_json::{Value, json};
use store::{MemoryStore, SharedStore, TokioClock};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use world::{ClusterName, TenantNode, TenantRole};

use crate::faults::Wire;
use crate::site::Site;
use crate::spec::SiteSpec;

const TENANT: &str = "naks-01";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const PODS: &str = "/api/v1/namespaces/default/pods";

fn cluster() -> ClusterName {
    ClusterName::Tenant(TENANT.to_owned())
}

fn node(name: &str) -> TenantNode {
    let worker = TenantRole::Worker { pool: "agentpool1".to_owned(), mode: "System".to_owned() };
    TenantNode {
        name: name.to_owned(),
        role: if name.starts_with("cp") { TenantRole::ControlPlane } else { worker },
        machine: "rack1compute01".to_owned(),
        zone: "rack1".to_owned(),
        cpu_cores: 4,
        memory_mib: 8_192,
        address: Ipv4Addr::new(10, 9, 0, 1),
        uuid: format!("uuid-of-{name}"),
        version: "v1.32.4".to_owned(),
        labels: BTreeMap::new(),
    }
}

struct Desk {
    site: Site,
    store: SharedStore,
    clock: Arc<dyn Clock>,
}

impl Desk {
    /// A site with a tenant cluster of one control-plane node and two workers.
    async fn open() -> Desk {
        let clock: Arc<dyn Clock> = Arc::new(TokioClock::starting_at(Timestamp::parse("2026-11-15T09:00:00Z").unwrap()));
        let store: SharedStore = Arc::new(MemoryStore::new(clock.clone()));
        let desk = Desk::on(store, clock).await;
        desk.site.change(|world, now| {
            world.tenant_add(TENANT, now);
            for name in ["cp-1", "w-1", "w-2"] {
                world.tenant_host_up(TENANT, &node(name), "boot-1", now);
            }
        });
        desk
    }

    async fn on(store: SharedStore, clock: Arc<dyn Clock>) -> Desk {
        let site = Site::open(SiteSpec::new("east", 4, 4, 1), store.clone(), clock.clone()).await.unwrap();
        Desk { site, store, clock }
    }

    fn wire(&self) -> Wire {
        self.site.tenant_kubernetes(TENANT).unwrap()
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> Request<Body> {
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let token = format!("Bearer {}", self.site.layout().token_of(&cluster()));
        Request::builder().method(method).uri(path).header("authorization", token).header("content-type", kind).body(body).unwrap()
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> (StatusCode, Value) {
        read(self.wire(), self.request(method, path, body)).await
    }

    async fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path, &Value::Null).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        body
    }

    async fn deploy(&self, name: &str, replicas: i64, cpu: &str) {
        let container = json!({"name": "main", "image": "web:1", "resources": {"requests": {"cpu": cpu}}});
        let template = json!({"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}});
        let spec = json!({"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template});
        let (status, body) = self.ask("POST", DEPLOYMENTS, &json!({"metadata": {"name": name}, "spec": spec})).await;
        assert_eq!(status, StatusCode::CREATED, "{body}");
    }
}

async fn read(wire: Wire, request: Request<Body>) -> (StatusCode, Value) {
    let response = wire.oneshot(request).await.unwrap();
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn a_tenant_has_its_own_token_nodes_and_kinds() {
    let desk = Desk::open().await;
    assert_eq!(desk.site.tenants(), [TENANT]);
    assert!(desk.site.tenant_kubernetes("naks-02").is_none());
    let nodes = desk.get("/api/v1/nodes").await;
    let names: Vec<&str> = nodes["items"].as_array().unwrap().iter().map(|node| node["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["cp-1", "w-1", "w-2"]);
    assert_eq!(nodes["items"][1]["status"]["nodeInfo"]["kubeletVersion"], "v1.32.4");
    assert_eq!(desk.get("/version").await["gitVersion"], "v1.32.4");
    let groups = desk.get("/apis").await;
    let groups: Vec<&str> = groups["groups"].as_array().unwrap().iter().map(|group| group["name"].as_str().unwrap()).collect();
    assert_eq!(groups, ["apps", "coordination.k8s.io", "policy"]);
    assert_eq!(desk.ask("GET", "/apis/kubevirt.io/v1/virtualmachines", &Value::Null).await.0, StatusCode::NOT_FOUND);
    // Neither token opens the other's door.
    let (ours, theirs) = (desk.request("GET", "/api/v1/nodes", &Value::Null), desk.site.layout().kubernetes_token());
    assert_eq!(read(desk.site.kubernetes(), ours).await.0, StatusCode::UNAUTHORIZED);
    let request = Request::get("/api/v1/nodes").header("authorization", format!("Bearer {theirs}")).body(Body::empty()).unwrap();
    assert_eq!(read(desk.wire(), request).await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test(start_paused = true)]
async fn an_evicted_pod_is_replaced_where_there_is_room_and_waits_with_a_reason_where_not() {
    let desk = Desk::open().await;
    desk.deploy("web", 2, "3").await;
    pass(10).await;
    let request = Request::get(DEPLOYMENTS).header("authorization", format!("Bearer {}", desk.site.layout().token_of(&cluster())));
    let request = request.header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io").body(Body::empty()).unwrap();
    let table = read(desk.wire(), request).await.1;
    assert_eq!(table["rows"][0]["cells"].as_array().unwrap()[..4], [json!("web"), json!("2/2"), json!(2), json!(2)]);

    desk.ask("PATCH", "/api/v1/nodes/w-1", &json!({"spec": {"unschedulable": true}})).await;
    let pods = desk.get(&format!("{PODS}?fieldSelector=spec.nodeName=w-1")).await;
    let name = pods["items"][0]["metadata"]["name"].as_str().unwrap();
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
    assert_eq!(desk.ask("POST", &format!("{PODS}/{name}/eviction"), &eviction).await.0, StatusCode::CREATED);
    pass(40).await;
    let pending = desk.get(&format!("{PODS}?fieldSelector=status.phase=Pending")).await;
    let reason = pending["items"][0]["status"]["conditions"][0]["message"].as_str().unwrap();
    assert!(reason.starts_with("0/3 nodes are available: 1 Insufficient cpu, "), "{reason}");
    desk.ask("PATCH", "/api/v1/nodes/w-1", &json!({"spec": {"unschedulable": false}})).await;
    pass(5).await;
    assert_eq!(desk.get(&format!("{DEPLOYMENTS}/web")).await["status"]["availableReplicas"], 2);
}

#[tokio::test(start_paused = true)]
async fn a_watch_tells_of_the_tenants_own_pods_and_breaks_when_its_control_plane_goes() {
    let desk = Desk::open().await;
    let (site, shutdown) = (desk.site.clone(), CancellationToken::new());
    let until = shutdown.clone();
    let running = tokio::spawn(async move { site.run(until).await.unwrap() });
    let version = desk.get(PODS).await["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let watch = desk.request("GET", &format!("{PODS}?watch=true&resourceVersion={version}"), &Value::Null);
    let mut stream = desk.wire().oneshot(watch).await.unwrap().into_body();
    desk.deploy("web", 1, "1").await;
    let line = stream.frame().await.unwrap().unwrap().into_data().unwrap();
    let event: Value = serde_json::from_slice(line.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    assert_eq!((&event["type"], &event["object"]["metadata"]["labels"]["app"]), (&json!("ADDED"), &json!("web")));

    desk.site.change(|world, now| world.tenant_host_down(TENANT, "cp-1", now));
    let has_broken = loop {
        match stream.frame().await {
            Some(Ok(_)) => {}
            Some(Err(_)) => break true,
            None => break false,
        }
    };
    assert!(has_broken);
    let refused = desk.wire().oneshot(desk.request("GET", PODS, &Value::Null)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    desk.site.change(|world, now| world.tenant_host_up(TENANT, &node("cp-1"), "boot-2", now));
    assert_eq!(desk.get(PODS).await["items"].as_array().unwrap().len(), 1);
    shutdown.cancel();
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn without_a_majority_some_answer_that_they_cannot() {
    let desk = Desk::open().await;
    desk.site.change(|world, now| {
        for name in ["cp-2", "cp-3"] {
            world.tenant_host_up(TENANT, &node(name), "boot-1", now);
        }
        world.tenant_host_down(TENANT, "cp-2", now);
        world.tenant_host_down(TENANT, "cp-3", now);
    });
    assert_eq!(desk.ask("GET", PODS, &Value::Null).await.0, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test(start_paused = true)]
async fn a_tenant_outlives_the_simulator() {
    let desk = Desk::open().await;
    desk.deploy("web", 2, "1").await;
    pass(10).await;
    let shown = |list: Value| -> Vec<Value> {
        let shown = |pod: &Value| json!([pod["metadata"]["uid"], pod["spec"]["nodeName"], pod["status"]["phase"]]);
        list["items"].as_array().unwrap().iter().map(shown).collect()
    };
    let before = shown(desk.get(PODS).await);
    assert_eq!(before.len(), 2);
    let Desk { site, store, clock } = desk;
    drop(site);
    pass(3_600).await;
    let desk = Desk::on(store, clock).await;
    assert_eq!(shown(desk.get(PODS).await), before);
    // Once it is removed, nothing of it comes back.
    desk.site.change(|world, _| world.tenant_remove(TENANT));
    assert!(desk.site.tenants().is_empty());
    desk.site.settle().await.unwrap();
    assert!(Desk::on(desk.store, desk.clock).await.site.tenants().is_empty());
}
