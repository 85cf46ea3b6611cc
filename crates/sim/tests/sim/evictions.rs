//! Pods, deletions and evictions as a client of the API meets them.

use http::StatusCode;
use serde_json::{Value, json};

use crate::harness::{Harness, Reply, pass};

const PODS: &str = "/api/v1/namespaces/default/pods";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

async fn post(harness: &Harness, path: &str, body: &Value) -> Reply {
    harness.kube("POST", path, "application/json", &body.to_string()).await
}

/// A pod on rack1compute01 that runs.
async fn run_pod(harness: &Harness, name: &str) -> String {
    let pod = json!({
        "metadata": {"name": name, "labels": {"app": "db"}},
        "spec": {"nodeName": "rack1compute01", "containers": [{"name": "main", "image": "db:1"}]},
    });
    let created = post(harness, PODS, &pod).await;
    assert_eq!((created.status, &created.body["status"]["phase"]), (StatusCode::CREATED, &json!("Pending")));
    pass(3).await;
    let running = harness.get(&format!("{PODS}/{name}")).await.body;
    assert_eq!(running["status"]["phase"], "Running");
    running["metadata"]["uid"].as_str().unwrap().to_owned()
}

async fn limit(harness: &Harness, name: &str, least: i64) {
    let budget = json!({"metadata": {"name": name}, "spec": {"minAvailable": least, "selector": {"matchLabels": {"app": "db"}}}});
    assert_eq!(post(harness, BUDGETS, &budget).await.status, StatusCode::CREATED);
}

async fn evict(harness: &Harness, name: &str, parameters: &str, options: &Value) -> Reply {
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}, "deleteOptions": options});
    post(harness, &format!("{PODS}/{name}/eviction{parameters}"), &eviction).await
}

async fn allowed(harness: &Harness) -> Value {
    harness.get(&format!("{BUDGETS}/db")).await.body["status"]["disruptionsAllowed"].clone()
}

#[tokio::test(start_paused = true)]
async fn an_eviction_is_answered_as_the_real_server_answers() {
    let harness = Harness::start().await;
    for name in ["a", "b"] {
        run_pod(&harness, name).await;
    }
    limit(&harness, "db", 1).await;
    let nothing = Value::Null;
    let first = evict(&harness, "a", "", &nothing).await;
    assert_eq!((first.status, &first.body["kind"], &first.body["status"]), (StatusCode::CREATED, &json!("Status"), &json!("Success")));
    assert_eq!(evict(&harness, "a", "", &nothing).await.status, StatusCode::CREATED, "it is terminating already");
    for parameters in ["", "?dryRun=All"] {
        let blocked = evict(&harness, "b", parameters, &nothing).await;
        assert_eq!((blocked.status, &blocked.body["reason"]), (StatusCode::TOO_MANY_REQUESTS, &json!("TooManyRequests")));
        let cause = json!({"reason": "DisruptionBudget", "message": "The disruption budget db needs 1 healthy pods and has 1 currently"});
        assert_eq!(blocked.body["details"], json!({"causes": [cause]}));
        assert_eq!(blocked.headers.get("retry-after"), None);
    }
    pass(31).await;
    let gone = evict(&harness, "a", "", &nothing).await;
    assert_eq!((gone.status, &gone.body["details"]["kind"]), (StatusCode::NOT_FOUND, &json!("pods")));
    limit(&harness, "also", 0).await;
    let ambiguous = evict(&harness, "b", "", &nothing).await;
    assert_eq!((ambiguous.status, ambiguous.body.get("reason")), (StatusCode::INTERNAL_SERVER_ERROR, None));
    assert!(ambiguous.body["message"].as_str().unwrap().starts_with("This pod has more than one PodDisruptionBudget"));
}

#[tokio::test(start_paused = true)]
async fn an_eviction_of_another_pod_is_a_conflict_that_costs_a_disruption_for_a_while() {
    let harness = Harness::start().await;
    for name in ["a", "b"] {
        run_pod(&harness, name).await;
    }
    limit(&harness, "db", 1).await;
    let meant = json!({"preconditions": {"uid": "somebody-else"}});
    assert_eq!(evict(&harness, "a", "?dryRun=All", &meant).await.status, StatusCode::CONFLICT);
    assert_eq!(allowed(&harness).await, 1, "a dry run spends nothing");
    let conflict = evict(&harness, "a", "", &meant).await;
    assert_eq!((conflict.status, &conflict.body["reason"]), (StatusCode::CONFLICT, &json!("Conflict")));
    assert_eq!(harness.get(&format!("{PODS}/a")).await.body["metadata"]["deletionTimestamp"], Value::Null);
    assert_eq!(allowed(&harness).await, 0);
    pass(121).await;
    assert_eq!(allowed(&harness).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_of_an_eviction_ends_nothing() {
    let harness = Harness::start().await;
    run_pod(&harness, "a").await;
    assert_eq!(evict(&harness, "a", "?dryRun=All", &Value::Null).await.status, StatusCode::CREATED);
    assert_eq!(evict(&harness, "a", "", &json!({"dryRun": ["All"]})).await.status, StatusCode::CREATED);
    assert_eq!(harness.get(&format!("{PODS}/a")).await.body["metadata"]["deletionTimestamp"], Value::Null);
    assert_eq!(evict(&harness, "a", "?dryRun=Some", &Value::Null).await.status, StatusCode::BAD_REQUEST);
    let odd = json!({"apiVersion": "policy/v2", "kind": "Eviction"});
    assert_eq!(post(&harness, &format!("{PODS}/a/eviction"), &odd).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_pod_is_shown_until_its_grace_is_over() {
    let harness = Harness::start().await;
    run_pod(&harness, "a").await;
    let from = harness.get(PODS).await.body["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let mut lines = harness.watch(&format!("{PODS}?watch=1&resourceVersion={from}")).await;
    let wrong = harness.kube("DELETE", &format!("{PODS}/a"), "application/json", r#"{"preconditions":{"uid":"x"}}"#).await;
    assert_eq!(wrong.status, StatusCode::CONFLICT);
    let senseless = harness.kube("DELETE", &format!("{PODS}/a?gracePeriodSeconds=-1"), "application/json", "").await;
    assert_eq!(senseless.status, StatusCode::BAD_REQUEST);
    let leaving = harness.kube("DELETE", &format!("{PODS}/a"), "application/json", r#"{"gracePeriodSeconds":10}"#).await.body;
    assert_eq!((&leaving["kind"], &leaving["metadata"]["deletionGracePeriodSeconds"]), (&json!("Pod"), &json!(10)));
    assert_eq!(lines.next_brief().await.unwrap(), "MODIFIED a");
    pass(9).await;
    assert_eq!(harness.get(&format!("{PODS}/a")).await.status, StatusCode::OK);
    assert_eq!(lines.next_brief().await.unwrap(), "DELETED a");
    assert_eq!(harness.get(&format!("{PODS}/a")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test(start_paused = true)]
async fn a_terminating_namespace_takes_nothing_new_and_evicts_nobody() {
    let harness = Harness::start().await;
    assert_eq!(post(&harness, "/api/v1/namespaces", &json!({"metadata": {"name": "team"}})).await.status, StatusCode::CREATED);
    let pods = "/api/v1/namespaces/team/pods";
    let pod = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "rack1compute01", "containers": [{"name": "c", "image": "i"}]}});
    post(&harness, pods, &pod).await;
    pass(3).await;
    let leaving = harness.kube("DELETE", "/api/v1/namespaces/team", "application/json", "").await.body;
    assert_eq!(leaving["status"]["phase"], "Terminating");
    let eviction = json!({"apiVersion": "policy/v1beta1", "kind": "Eviction", "metadata": {"name": "a"}});
    let refusals = [post(&harness, &format!("{pods}/a/eviction"), &eviction).await, post(&harness, pods, &pod).await];
    for refused in refusals {
        assert_eq!((refused.status, &refused.body["reason"]), (StatusCode::FORBIDDEN, &json!("Forbidden")));
        assert_eq!(refused.body["details"]["causes"][0]["reason"], "NamespaceTerminating");
    }
    // Five seconds until what is in it is told to end, and the thirty that the pod then has.
    pass(34).await;
    assert_eq!(harness.get(&format!("{pods}/a")).await.status, StatusCode::OK);
    pass(2).await;
    assert_eq!(harness.get("/api/v1/namespaces/team").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test(start_paused = true)]
async fn pods_and_secrets_survive_a_crash_of_the_simulator() {
    let harness = Harness::start().await;
    let uid = run_pod(&harness, "a").await;
    let secrets = "/api/v1/namespaces/default/secrets";
    post(&harness, secrets, &json!({"metadata": {"name": "s"}, "stringData": {"k": "v"}, "immutable": true})).await;
    let harness = harness.crash_and_reopen(std::time::Duration::from_secs(60)).await;
    let pod = harness.get(&format!("{PODS}/a")).await.body;
    assert_eq!((&pod["metadata"]["uid"], &pod["status"]["phase"]), (&json!(uid), &json!("Running")));
    assert_eq!(harness.get(&format!("{secrets}/s")).await.body["data"]["k"], "dg==");
    let changed = harness.merge_patch(&format!("{secrets}/s"), r#"{"data":{"k":"dw=="}}"#).await;
    assert_eq!((changed.status, &changed.body["reason"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("Invalid")));
}

#[tokio::test(start_paused = true)]
async fn a_collection_is_deleted_by_selector_and_namespaces_must_agree() {
    let harness = Harness::start().await;
    let maps = "/api/v1/namespaces/default/configmaps";
    for (name, tier) in [("a", "gold"), ("b", "gold"), ("c", "tin")] {
        post(&harness, maps, &json!({"metadata": {"name": name, "labels": {"tier": tier}}})).await;
    }
    let deleted = harness.kube("DELETE", &format!("{maps}?labelSelector=tier%3Dgold"), "application/json", "").await;
    assert_eq!(deleted.body["status"], "Success");
    let left = harness.get(maps).await.body;
    assert_eq!(left["items"].as_array().unwrap().len(), 1);
    let elsewhere = post(&harness, maps, &json!({"metadata": {"name": "d", "namespace": "kube-system"}})).await;
    assert_eq!(elsewhere.status, StatusCode::BAD_REQUEST);
    let service = post(&harness, "/api/v1/namespaces/default/services", &json!({"metadata": {"name": "d"}})).await;
    assert_eq!((service.status, &service.body["reason"]), (StatusCode::METHOD_NOT_ALLOWED, &json!("MethodNotAllowed")));
}

#[tokio::test(start_paused = true)]
async fn odd_documents_are_refused_and_harm_nothing() {
    let harness = Harness::start().await;
    let uid = run_pod(&harness, "a").await;
    let collections = [
        "/api/v1/namespaces",
        "/api/v1/nodes",
        PODS,
        BUDGETS,
        "/api/v1/namespaces/default/secrets",
        "/api/v1/namespaces/default/configmaps",
    ];
    let mut odd =
        vec![json!([]), json!("x"), json!(1), Value::Null, json!({}), json!({"metadata": []}), json!({"metadata": {"name": ["x"]}})];
    for part in ["spec", "status", "data", "stringData"] {
        odd.push(json!({"metadata": {"name": "x"}, "data": {}, part: "y"}));
    }
    for (field, value) in [("labels", json!(3)), ("labels", json!({"a": 1})), ("annotations", json!("b")), ("finalizers", json!("c"))] {
        odd.push(json!({"metadata": {"name": "x", field: value}}));
    }
    for path in collections {
        for document in &odd {
            let reply = post(&harness, path, document).await;
            assert!(reply.status.is_client_error(), "POST {path} {document}: {}", reply.status);
        }
    }
    let pod = format!("{PODS}/a");
    for patch in [r#"{"spec":{"containers":["x"]}}"#, r#"{"spec":"x"}"#, r#"{"metadata":"x"}"#, r#"{"metadata":{"labels":[]}}"#, "[]", "3"]
    {
        assert!(harness.merge_patch(&pod, patch).await.status.is_client_error(), "PATCH {pod} {patch}");
        // A node's spec is not read as closely; whatever is kept of it must not trip the kubelet.
        harness.merge_patch("/api/v1/nodes/rack1compute01", patch).await;
    }
    assert_eq!(harness.merge_patch(&format!("{pod}/status"), r#"{"status":"x"}"#).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    let for_ever = format!("{pod}?gracePeriodSeconds={}", i64::MAX);
    assert_eq!(harness.kube("DELETE", &for_ever, "application/json", "").await.status, StatusCode::OK);
    pass(600).await;
    assert_eq!(harness.get(&pod).await.body["metadata"]["uid"], json!(uid));
    assert_eq!(harness.ready("rack1compute01").await, "True");
}
