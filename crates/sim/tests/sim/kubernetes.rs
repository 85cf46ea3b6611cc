//! The Kubernetes API as a client meets it.

use http::StatusCode;
use serde_json::{Value, json};

use crate::harness::{Harness, pass, ready, send};

#[tokio::test(start_paused = true)]
async fn a_machine_that_goes_off_is_unknown_after_the_grace_period_and_ready_after_its_next_boot() {
    let harness = Harness::start().await;
    let machine = "rack2compute01";
    let first_boot = harness.node(machine).await["status"]["nodeInfo"]["bootID"].clone();
    harness.reset(machine, "ForceOff").await;
    pass(5 + 29).await;
    assert_eq!(harness.ready(machine).await, "True");
    pass(12).await;
    assert_eq!(harness.ready(machine).await, "Unknown");
    harness.reset(machine, "On").await;
    pass(20 + 265).await;
    let node = harness.node(machine).await;
    assert_eq!(ready(&node), "True");
    assert_ne!(node["status"]["nodeInfo"]["bootID"], first_boot);
    let events = harness.get(&format!("/api/v1/events?fieldSelector=involvedObject.name%3D{machine}")).await.body;
    let mut reasons: Vec<&str> = events["items"].as_array().unwrap().iter().map(|event| event["reason"].as_str().unwrap()).collect();
    reasons.sort_unstable();
    assert_eq!(reasons, ["NodeNotReady", "NodeReady", "Rebooted", "Starting"]);
}

#[tokio::test(start_paused = true)]
async fn without_quorum_the_api_is_unavailable() {
    let harness = Harness::start().await;
    for machine in ["rack1control01", "rack2control01"] {
        harness.reset(machine, "ForceOff").await;
    }
    pass(6).await;
    let reply = harness.get("/api/v1/nodes").await;
    assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(reply.body["kind"], "Status");
    harness.reset("rack1control01", "On").await;
    pass(20 + 265).await;
    assert_eq!(harness.ready("rack3compute01").await, "True");
}

#[tokio::test(start_paused = true)]
async fn strangers_learn_the_version_and_nothing_else() {
    let harness = Harness::start().await;
    let ask = |path: &'static str| send(harness.site.kubernetes(), "GET", path, &[], "");
    assert_eq!(ask("/version").await.body["gitVersion"], "v1.33.7");
    assert_eq!(ask("/readyz").await.body, "ok");
    assert_eq!(ask("/api/v1/nodes").await.status, StatusCode::UNAUTHORIZED);
    let wrong = send(harness.site.kubernetes(), "GET", "/api", &[("authorization", "Bearer no")], "").await;
    assert_eq!(wrong.body["reason"], "Unauthorized");
}

#[tokio::test(start_paused = true)]
async fn discovery_lists_what_is_served() {
    let harness = Harness::start().await;
    assert_eq!(harness.get("/api").await.body["versions"], json!(["v1"]));
    let groups = harness.get("/apis").await.body["groups"].clone();
    let groups: Vec<&str> =
        groups.as_array().unwrap().iter().map(|group| group["preferredVersion"]["groupVersion"].as_str().unwrap()).collect();
    let expected = [
        "apps/v1",
        "cdi.kubevirt.io/v1beta1",
        "cluster.x-k8s.io/v1beta2",
        "coordination.k8s.io/v1",
        "kubevirt.io/v1",
        "policy/v1",
        "subresources.kubevirt.io/v1",
    ];
    assert_eq!(groups, expected);
    let core = harness.get("/api/v1").await.body;
    let names: Vec<&str> = core["resources"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    let expected = [
        "namespaces",
        "namespaces/status",
        "nodes",
        "nodes/status",
        "pods",
        "pods/status",
        "pods/eviction",
        "persistentvolumeclaims",
        "persistentvolumeclaims/status",
        "services",
        "configmaps",
        "secrets",
        "events",
    ];
    assert_eq!(names, expected);
    assert_eq!(harness.get("/apis/coordination.k8s.io/v1").await.body["resources"][0]["name"], "leases");
    assert_eq!(harness.get("/apis/apps/v1/widgets").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test(start_paused = true)]
async fn lists_come_in_pages_and_by_selector() {
    let harness = Harness::start().await;
    let (mut names, mut pages, mut token) = (Vec::new(), 0, String::new());
    loop {
        let page = harness.get(&format!("/api/v1/nodes?limit=4&continue={token}")).await.body;
        names.extend(page["items"].as_array().unwrap().iter().map(|node| node["metadata"]["name"].as_str().unwrap().to_owned()));
        pages += 1;
        match page["metadata"]["continue"].as_str() {
            Some(next) => token = next.to_owned(),
            None => break,
        }
    }
    assert_eq!((pages, names.len()), (4, 15));
    assert!(names.is_sorted());
    let count = |list: Value| list["items"].as_array().unwrap().len();
    assert_eq!(count(harness.get("/api/v1/nodes?labelSelector=topology.kubernetes.io/zone%3Drack1").await.body), 4);
    assert_eq!(count(harness.get("/api/v1/nodes?fieldSelector=metadata.name%3Drack1control01").await.body), 1);
    assert_eq!(count(harness.get("/apis/coordination.k8s.io/v1/leases").await.body), 15);
    assert_eq!(count(harness.get("/api/v1/pods?fieldSelector=spec.nodeName%3Drack1control01").await.body), 0);
    assert_eq!(harness.get("/api/v1/nodes?fieldSelector=spec.podCIDR%3Dx").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test(start_paused = true)]
async fn a_cordon_shows_as_a_taint_and_an_event() {
    let harness = Harness::start().await;
    let path = "/api/v1/nodes/rack2compute01";
    let cordon = harness.kube("PATCH", path, "application/strategic-merge-patch+json", r#"{"spec":{"unschedulable":true}}"#).await;
    assert_eq!(cordon.status, StatusCode::OK);
    assert_eq!(harness.node("rack2compute01").await["spec"]["taints"][0]["key"], "node.kubernetes.io/unschedulable");
    harness.merge_patch(path, r#"{"spec":{"unschedulable":null}}"#).await;
    assert_eq!(harness.node("rack2compute01").await["spec"]["taints"], Value::Null);
    let test = r#"[{"op":"add","path":"/metadata/annotations/a","value":"b"}]"#;
    assert_eq!(harness.kube("PATCH", path, "application/json-patch+json", test).await.body["metadata"]["annotations"]["a"], "b");
    assert_eq!(harness.kube("PATCH", path, "application/apply-patch+yaml", "{}").await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_changes_nothing() {
    let harness = Harness::start().await;
    let patched = harness.merge_patch("/api/v1/nodes/rack2compute01?dryRun=All", r#"{"spec":{"unschedulable":true}}"#).await;
    assert_eq!(patched.body["spec"]["unschedulable"], true);
    assert_eq!(harness.node("rack2compute01").await["spec"]["unschedulable"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn a_write_with_an_old_version_is_a_conflict() {
    let harness = Harness::start().await;
    let path = "/api/v1/nodes/rack2compute01";
    let stale = harness.node("rack2compute01").await;
    harness.merge_patch(path, r#"{"metadata":{"labels":{"a":"b"}}}"#).await;
    let put = harness.kube("PUT", path, "application/json", &stale.to_string()).await;
    assert_eq!((put.status, &put.body["reason"]), (StatusCode::CONFLICT, &json!("Conflict")));
    let version = &stale["metadata"]["resourceVersion"];
    let patch = harness.merge_patch(path, &json!({"metadata": {"resourceVersion": version, "labels": {"c": "d"}}}).to_string()).await;
    assert_eq!(patch.status, StatusCode::CONFLICT);
}

#[tokio::test(start_paused = true)]
async fn objects_are_created_and_deleted() {
    let harness = Harness::start().await;
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    let lease = r#"{"metadata":{"name":"mine"},"spec":{"holderIdentity":"me"}}"#;
    assert_eq!(harness.kube("POST", leases, "application/json", lease).await.status, StatusCode::CREATED);
    let again = harness.kube("POST", leases, "application/json", lease).await;
    assert_eq!((again.status, &again.body["reason"]), (StatusCode::CONFLICT, &json!("AlreadyExists")));
    let elsewhere = leases.replace("default", "nowhere");
    assert_eq!(harness.kube("POST", &elsewhere, "application/json", lease).await.status, StatusCode::NOT_FOUND);
    let mine = format!("{leases}/mine");
    let wrong_uid = harness.kube("DELETE", &mine, "application/json", r#"{"preconditions":{"uid":"other"}}"#).await;
    assert_eq!(wrong_uid.status, StatusCode::CONFLICT);
    assert_eq!(harness.kube("DELETE", &mine, "application/json", "").await.body["status"], "Success");
    assert_eq!(harness.get(&mine).await.body["reason"], "NotFound");
}
