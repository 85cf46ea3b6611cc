//! A machine that is not simulated joins the undercloud with a bootstrap token, as a kubelet does.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use serde_json::{Value, json};

use crate::harness::{Harness, Reply, pass, ready, send};

const TOKEN: &str = "abcdef.0123456789abcdef";
const NODES: &str = "/api/v1/nodes";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const SECRETS: &str = "/api/v1/namespaces/kube-system/secrets";

async fn mint(harness: &Harness) {
    let text = |value: &str| STANDARD.encode(value);
    let secret = json!({
        "metadata": {"name": "bootstrap-token-abcdef"},
        "type": "bootstrap.kubernetes.io/token",
        "data": {
            "token-id": text("abcdef"), "token-secret": text("0123456789abcdef"), "usage-bootstrap-authentication": text("true"),
        },
    });
    assert_eq!(harness.kube("POST", SECRETS, "application/json", &secret.to_string()).await.status, StatusCode::CREATED);
}

/// A request by whoever holds the token.
async fn joining(harness: &Harness, method: &str, path: &str, body: &Value) -> Reply {
    let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let authorization = format!("Bearer {TOKEN}");
    let headers = [("authorization", authorization.as_str()), ("content-type", kind)];
    send(harness.site.kubernetes(), method, path, &headers, &body.to_string()).await
}

fn node(name: &str) -> Value {
    json!({"metadata": {"name": name}, "status": status()})
}

fn status() -> Value {
    json!({"conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"bootID": "1"}})
}

fn lease(name: &str) -> Value {
    // Its clock is far off, and that must not matter.
    json!({"metadata": {"name": name}, "spec": {"holderIdentity": name, "renewTime": "1970-01-01T00:00:07.000000Z"}})
}

async fn join(harness: &Harness, name: &str) {
    assert_eq!(joining(harness, "POST", NODES, &node(name)).await.status, StatusCode::CREATED);
    let patched = joining(harness, "PATCH", &format!("{NODES}/{name}/status"), &json!({"status": status()})).await;
    assert_eq!(patched.status, StatusCode::OK, "{}", patched.body);
    assert_eq!(joining(harness, "POST", LEASES, &lease(name)).await.status, StatusCode::CREATED);
}

#[tokio::test(start_paused = true)]
async fn a_machine_outside_is_ready_while_it_renews_its_lease_and_unknown_when_it_stops() {
    let harness = Harness::start().await;
    assert_eq!(joining(&harness, "POST", NODES, &node("metal01")).await.status, StatusCode::UNAUTHORIZED, "there is no such token");
    mint(&harness).await;
    join(&harness, "metal01").await;
    harness.merge_patch(&format!("{NODES}/metal01"), r#"{"spec":{"unschedulable":true}}"#).await;
    let taints = harness.node("metal01").await["spec"]["taints"].clone();
    assert_eq!(taints[0]["key"], "node.kubernetes.io/unschedulable");
    let path = format!("{LEASES}/metal01");
    for _ in 0..6 {
        pass(20).await;
        assert_eq!(joining(&harness, "PATCH", &path, &lease("metal01")).await.status, StatusCode::OK);
    }
    assert_eq!(harness.ready("metal01").await, "True");
    // The token is deleted once its node has joined: whoever is that node goes on, and nobody else comes.
    harness.kube("DELETE", &format!("{SECRETS}/bootstrap-token-abcdef"), "application/json", "").await;
    assert_eq!(joining(&harness, "PUT", &path, &lease("metal01")).await.status, StatusCode::OK);
    pass(60).await;
    let silent = harness.node("metal01").await;
    assert_eq!(ready(&silent), "Unknown");
    assert!(silent["spec"]["taints"].to_string().contains("node.kubernetes.io/unreachable"));
}

#[tokio::test(start_paused = true)]
async fn whoever_joins_speaks_for_one_node_and_for_nothing_else() {
    let harness = Harness::start().await;
    mint(&harness).await;
    let none = Value::Null;
    let forbidden = |method: &'static str, path: String, body: Value| {
        let harness = &harness;
        async move {
            let reply = joining(harness, method, &path, &body).await;
            assert_eq!((reply.status, &reply.body["reason"]), (StatusCode::FORBIDDEN, &json!("Forbidden")), "{method} {path}");
        }
    };
    forbidden("POST", LEASES.to_owned(), lease("rack1compute01")).await;
    forbidden("PATCH", format!("{NODES}/rack1compute01/status"), json!({"status": {}})).await;
    join(&harness, "metal01").await;
    for (method, path, body) in [
        ("POST", NODES.to_owned(), node("metal02")),
        ("PATCH", format!("{NODES}/rack1compute01/status"), json!({"status": {}})),
        ("PATCH", format!("{NODES}/metal01"), json!({"spec": {"unschedulable": false}})),
        ("DELETE", format!("{NODES}/metal01"), none.clone()),
        ("GET", NODES.to_owned(), none.clone()),
        ("GET", SECRETS.to_owned(), none.clone()),
        ("PATCH", format!("{LEASES}/rack1compute01"), lease("rack1compute01")),
        ("GET", "/api/v1/pods".to_owned(), none.clone()),
    ] {
        forbidden(method, path, body).await;
    }
    assert_eq!(joining(&harness, "GET", &format!("{NODES}/metal01"), &none).await.status, StatusCode::OK);
    assert_eq!(joining(&harness, "POST", NODES, &node("metal01")).await.status, StatusCode::CONFLICT, "it is there already");
}

#[tokio::test(start_paused = true)]
async fn a_simulator_that_starts_again_gives_a_node_outside_its_full_grace() {
    let harness = Harness::start().await;
    mint(&harness).await;
    join(&harness, "metal01").await;
    let harness = harness.crash_and_reopen(std::time::Duration::from_secs(600)).await;
    pass(20).await;
    assert_eq!(harness.ready("metal01").await, "True");
    pass(60).await;
    assert_eq!(harness.ready("metal01").await, "Unknown");
}
