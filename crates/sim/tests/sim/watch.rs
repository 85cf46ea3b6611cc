//! Watching the Kubernetes API.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Harness, pass};

async fn version(harness: &Harness) -> String {
    harness.get("/api/v1/nodes?limit=1").await.body["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_a_version_gets_exactly_what_comes_after() {
    let harness = Harness::start().await;
    let from = version(&harness).await;
    let mut lines = harness.watch(&format!("/api/v1/nodes?watch=true&resourceVersion={from}")).await;
    harness.merge_patch("/api/v1/nodes/rack1compute01", r#"{"spec":{"unschedulable":true}}"#).await;
    // The cordon itself, and the taint that the controller adds.
    assert_eq!(lines.next_brief().await.unwrap(), "MODIFIED rack1compute01");
    assert_eq!(lines.next_brief().await.unwrap(), "MODIFIED rack1compute01");
    harness.kube("DELETE", "/api/v1/nodes/rack1compute02", "application/json", "").await;
    assert_eq!(lines.next_brief().await.unwrap(), "DELETED rack1compute02");
}

#[tokio::test(start_paused = true)]
async fn a_watch_without_a_version_starts_with_what_is_there() {
    let harness = Harness::start().await;
    for parameters in ["", "&resourceVersion=0"] {
        let mut lines = harness.watch(&format!("/api/v1/nodes?watch=1&timeoutSeconds=1{parameters}")).await;
        let mut added = 0;
        while let Some(event) = lines.next().await {
            assert_eq!(event["type"], "ADDED");
            added += 1;
        }
        assert_eq!(added, 15);
    }
}

#[tokio::test(start_paused = true)]
async fn initial_events_end_with_a_marked_bookmark() {
    let harness = Harness::start().await;
    let parameters = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut lines = harness.watch(&format!("/api/v1/namespaces?{parameters}")).await;
    for name in ["default", "kube-node-lease", "kube-public", "kube-system", "tenants"] {
        assert_eq!(lines.next_brief().await.unwrap(), format!("ADDED {name}"));
    }
    let bookmark = lines.next().await.unwrap();
    assert_eq!(bookmark["type"], "BOOKMARK");
    assert_eq!(bookmark["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
}

#[tokio::test(start_paused = true)]
async fn bookmarks_come_every_minute_and_can_be_resumed_from() {
    let harness = Harness::start().await;
    let from = version(&harness).await;
    let mut lines = harness.watch(&format!("/api/v1/namespaces?watch=1&allowWatchBookmarks=true&resourceVersion={from}")).await;
    let bookmark = lines.next().await.unwrap();
    assert_eq!(bookmark["type"], "BOOKMARK");
    let marked = bookmark["object"]["metadata"]["resourceVersion"].as_str().unwrap();
    assert!(marked.parse::<u64>().unwrap() > from.parse::<u64>().unwrap(), "heartbeats moved the version on");
    let mut resumed = harness.watch(&format!("/api/v1/namespaces?watch=1&timeoutSeconds=1&resourceVersion={marked}")).await;
    assert_eq!(resumed.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_selector_turns_leaving_into_deletion_and_entering_into_addition() {
    let harness = Harness::start().await;
    let from = version(&harness).await;
    let mut lines = harness.watch(&format!("/api/v1/nodes?watch=1&labelSelector=team%3Dred&resourceVersion={from}")).await;
    let path = "/api/v1/nodes/rack1compute01";
    for team in ["red", "blue"] {
        harness.merge_patch(path, &json!({"metadata": {"labels": {"team": team}}}).to_string()).await;
    }
    assert_eq!(lines.next_brief().await.unwrap(), "ADDED rack1compute01");
    assert_eq!(lines.next_brief().await.unwrap(), "DELETED rack1compute01");
}

#[tokio::test(start_paused = true)]
async fn a_version_from_before_a_restart_is_gone() {
    let harness = Harness::start().await;
    let from = version(&harness).await;
    let harness = harness.crash_and_reopen(Duration::from_secs(60)).await;
    let mut lines = harness.watch(&format!("/api/v1/nodes?watch=1&resourceVersion={from}")).await;
    let error = lines.next().await.unwrap();
    assert_eq!((&error["type"], &error["object"]["code"], &error["object"]["reason"]), (&json!("ERROR"), &json!(410), &json!("Expired")));
    assert_eq!(lines.next().await, None);
    let newer: u64 = version(&harness).await.parse().unwrap();
    assert!(newer > from.parse().unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_page_that_goes_on_from_before_a_restart_is_gone() {
    let harness = Harness::start().await;
    let token = harness.get("/api/v1/nodes?limit=4").await.body["metadata"]["continue"].as_str().unwrap().to_owned();
    let harness = harness.crash_and_reopen(Duration::from_secs(1)).await;
    let reply = harness.get(&format!("/api/v1/nodes?limit=4&continue={token}")).await;
    assert_eq!((reply.status.as_u16(), &reply.body["reason"]), (410, &json!("Expired")));
}

#[tokio::test(start_paused = true)]
async fn a_version_from_the_future_is_not_waited_for() {
    let harness = Harness::start().await;
    let reply = harness.get("/api/v1/nodes?watch=1&resourceVersion=999999999").await;
    assert_eq!(reply.status.as_u16(), 504);
    assert_eq!(harness.get("/api/v1/nodes?watch=1&resourceVersion=x").await.status.as_u16(), 400);
}

#[tokio::test(start_paused = true)]
async fn watches_end_when_quorum_is_lost_and_when_the_site_stops() {
    let mut harness = Harness::start().await;
    let from = version(&harness).await;
    let mut lines = harness.watch(&format!("/api/v1/namespaces?watch=1&resourceVersion={from}")).await;
    harness.reset("rack1control01", "ForceOff").await;
    harness.reset("rack2control01", "ForceOff").await;
    assert_eq!(lines.next().await, None);

    harness.reset("rack1control01", "On").await;
    pass(300).await;
    let from = version(&harness).await;
    let mut lines = harness.watch(&format!("/api/v1/namespaces?watch=1&resourceVersion={from}")).await;
    harness.stop().await;
    assert_eq!(lines.next().await, None);
    assert_eq!(harness.get("/api/v1/nodes").await.status.as_u16(), 503);
}

#[tokio::test(start_paused = true)]
async fn leases_are_renewed_every_ten_seconds() {
    let harness = Harness::start().await;
    let path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/rack1compute01";
    let renewed = |lease: Value| lease["spec"]["renewTime"].as_str().unwrap().to_owned();
    let first = renewed(harness.get(path).await.body);
    pass(11).await;
    assert_ne!(renewed(harness.get(path).await.body), first);
}
