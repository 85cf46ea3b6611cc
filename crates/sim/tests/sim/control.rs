//! The control face: who may use it, and what it says and does.

use axum::Router;
use axum::body::Body;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use sim::{Control, control};
use tower::ServiceExt;

use crate::harness::Harness;

const TOKEN: &str = "a-token";

async fn call(router: &Router, token: &str, method: Method, path: &str, body: &str) -> (StatusCode, Value) {
    let request = Request::builder().method(method).uri(path).header("authorization", format!("Bearer {token}"));
    let response = router.clone().oneshot(request.body(Body::from(body.to_owned())).unwrap()).await.unwrap();
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

async fn face() -> (Harness, Router) {
    let harness = Harness::start().await;
    let router = control(Control { sites: vec![harness.site.clone()], token: TOKEN.to_owned() });
    (harness, router)
}

#[tokio::test(start_paused = true)]
async fn without_its_token_nothing_is_told_or_done() {
    let (harness, router) = face().await;
    for (method, path) in [(Method::GET, "/v1/faults"), (Method::POST, "/v1/sites/east/faults"), (Method::DELETE, "/v1/faults?all=true")] {
        let (status, body) = call(&router, "wrong", method, path, "api-down api").await;
        assert_eq!((status, body["error"]["code"].as_str()), (StatusCode::UNAUTHORIZED, Some("Unauthorized")));
    }
    assert!(harness.site.faults().is_empty());
}

#[tokio::test(start_paused = true)]
async fn faults_are_added_listed_and_cleared() {
    let (harness, router) = face().await;
    let (status, added) = call(&router, TOKEN, Method::POST, "/v1/sites/east/faults", "bmc-slow rack1compute01 for 10m ms=100").await;
    assert_eq!((status, added["value"][0]["setting"].as_str()), (StatusCode::CREATED, Some("ms=100")));
    call(&router, TOKEN, Method::POST, "/v1/sites/east/faults", "bmc-unreachable rack2").await;
    let (_, listed) = call(&router, TOKEN, Method::GET, "/v1/faults?site=east", "").await;
    assert_eq!(listed["value"].as_array().unwrap().len(), 5);
    assert_eq!(listed["value"][0]["until"], "2026-11-15T09:10:00Z");
    let (_, cleared) = call(&router, TOKEN, Method::DELETE, "/v1/faults?target=rack2", "").await;
    assert_eq!(cleared["value"].as_array().unwrap().len(), 4);
    let id = listed["value"][0]["id"].as_str().unwrap();
    call(&router, TOKEN, Method::DELETE, &format!("/v1/faults?id={id}"), "").await;
    assert!(harness.site.faults().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_refusal_names_what_there_is_and_changes_nothing() {
    let (harness, router) = face().await;
    for (path, body, code, status) in [
        ("/v1/sites/east/faults", "bmc-slo rack1compute01", "UnknownKind", 400),
        ("/v1/sites/east/faults", "bmc-slow rack1compue01", "UnknownTarget", 400),
        ("/v1/sites/west/faults", "bmc-slow rack1compute01", "UnknownSite", 404),
        ("/v1/sites/east/faults", "bmc-slow rack1compute01 ms=0", "BadFault", 400),
        ("/v1/sites/east/script", "after 1m api-down api\nafter 2m nonsense api", "UnknownKind", 400),
    ] {
        let (answered, refusal) = call(&router, TOKEN, Method::POST, path, body).await;
        assert_eq!((answered.as_u16(), refusal["error"]["code"].as_str()), (status, Some(code)), "{refusal}");
        assert_eq!(refusal["error"]["known"].is_array(), code != "BadFault");
    }
    let (status, _) = call(&router, TOKEN, Method::DELETE, "/v1/faults", "").await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "all is asked for in so many words");
    assert!(harness.site.faults().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_script_is_played_in_the_time_of_the_site() {
    let (harness, router) = face().await;
    let script = "# a bad night\nafter 5m bmc-unreachable rack1compute01 for 10m\nafter 20m api-down api\n";
    let (status, taken) = call(&router, TOKEN, Method::POST, "/v1/sites/east/script", script).await;
    assert_eq!((status, taken["count"].as_u64()), (StatusCode::CREATED, Some(2)));
    let states = || harness.site.faults().iter().map(|fault| format!("{} {}", fault.kind, fault.state)).collect::<Vec<_>>();
    assert_eq!(states(), ["bmc-unreachable Planned", "api-down Planned"]);
    crate::harness::pass(5 * 60).await;
    assert_eq!(states(), ["bmc-unreachable Active", "api-down Planned"]);
    crate::harness::pass(15 * 60).await;
    assert_eq!(states(), ["api-down Active"]);
}

#[tokio::test(start_paused = true)]
async fn every_kind_is_told_with_what_it_does() {
    let (_harness, router) = face().await;
    let (_, kinds) = call(&router, TOKEN, Method::GET, "/v1/kinds", "").await;
    assert_eq!(kinds["value"].as_array().unwrap().len(), sim::FaultKind::ALL.len());
    let (_, sites) = call(&router, TOKEN, Method::GET, "/v1/sites", "").await;
    assert_eq!(sites["value"][0]["name"], "east");
}
