//! Virtual machines over HTTP: KubeVirt's objects and its subresources.

use std::time::Duration;

use http::StatusCode;
use serde_json::json;
use sim::{Tenancy, TenantVm};

use crate::harness::{Harness, spec};

const VMS: &str = "/apis/kubevirt.io/v1/namespaces/tenants/virtualmachines";
const ACTIONS: &str = "/apis/subresources.kubevirt.io/v1/namespaces/tenants/virtualmachines";

async fn site() -> Harness {
    let tenancy = Tenancy { vms: vec![TenantVm::new("web", "rack1compute01", 2, 8)], clusters: Vec::new() };
    Harness::of_spec(spec().with_tenancy(tenancy)).await
}

async fn status(harness: &Harness) -> String {
    let vm = harness.kube("GET", &format!("{VMS}/web"), "application/json", "").await.body;
    vm["status"]["printableStatus"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_virtual_machine_is_stopped_and_started_by_subresource() {
    let harness = site().await;
    assert_eq!(status(&harness).await, "Running");
    let act = async |verb: &str, body: &str| harness.kube("PUT", &format!("{ACTIONS}/web/{verb}"), "application/json", body).await;
    let refused = act("start", "").await;
    assert_eq!((refused.status, &refused.body["reason"]), (StatusCode::CONFLICT, &json!("Conflict")));
    assert!(refused.body["message"].as_str().unwrap().ends_with("VM is already running"), "{}", refused.body);
    assert_eq!(act("stop", "").await.status, StatusCode::ACCEPTED);
    assert_eq!(status(&harness).await, "Stopping");
    assert_eq!(act("stop", r#"{"gracePeriod": 0}"#).await.status, StatusCode::ACCEPTED);
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(status(&harness).await, "Stopped");
    let refused = act("stop", "").await;
    assert!(refused.body["message"].as_str().unwrap().ends_with("VM is not running"), "{}", refused.body);
    assert_eq!(act("start", "").await.status, StatusCode::ACCEPTED);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(status(&harness).await, "Running");
    assert_eq!(act("restart", "").await.status, StatusCode::ACCEPTED);
    assert_eq!(status(&harness).await, "Stopping");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(status(&harness).await, "Running");
}

#[tokio::test(start_paused = true)]
async fn what_makes_no_sense_is_refused() {
    let harness = site().await;
    for (method, path, body, expected) in [
        ("PUT", format!("{ACTIONS}/nobody/stop"), "", StatusCode::NOT_FOUND),
        ("PUT", format!("{ACTIONS}/web/fly"), "", StatusCode::NOT_FOUND),
        ("GET", format!("{ACTIONS}/web/stop"), "", StatusCode::METHOD_NOT_ALLOWED),
        ("PUT", format!("{ACTIONS}/web/stop"), r#"{"gracePeriod": -1}"#, StatusCode::BAD_REQUEST),
        ("PUT", format!("{ACTIONS}/web/stop"), "not JSON", StatusCode::BAD_REQUEST),
    ] {
        assert_eq!(harness.kube(method, &path, "application/json", body).await.status, expected, "{method} {path} {body}");
    }
    assert_eq!(harness.kube("PUT", &format!("{ACTIONS}/web/stop?dryRun=All"), "application/json", "").await.status, StatusCode::ACCEPTED);
    assert_eq!(status(&harness).await, "Running");
}
