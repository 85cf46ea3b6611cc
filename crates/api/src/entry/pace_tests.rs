//! How many requests a caller may send, in virtual time, and what every answer carries.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use gate::{Gate, OpenHouse};
use http::Request;
use model::Span;
use store::{MemoryStore, SharedStore, Vault};
use tokio::time::advance;

use crate::Api;
use crate::fixtures::{Documents, cluster, machine};

/// The API with the limits that it really has.
async fn service() -> Api {
    let api = Documents::default().cluster(&cluster("site")).machine(&machine("site", "rack1", "m1")).serve().await;
    let store: SharedStore = Arc::new(MemoryStore::new(api.clock.clone()));
    let vault = Arc::new(Vault::ephemeral(store.clone()));
    let gate = Gate::open(store, vault, api.clock.clone()).await.unwrap();
    Api { gate: Arc::new(gate), ..api }
}

async fn send(api: &Api, path: &str, headers: &[(&str, &str)]) -> Response {
    let mut request = Request::get(path).header("host", "localhost");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    crate::answer(State(api.clone()), request.body(Body::empty()).unwrap()).await
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers().get(name).map(|value| value.to_str().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_loop_gone_wild_is_slowed_down_and_nobody_else() {
    let api = service().await;
    let house = OpenHouse::around(api.gate.clone());
    let token = |n: u128, name: &str| format!("Bearer {}", house.token_of(access::PrincipalId::new(uuid::Uuid::from_u128(n)), name));
    let (wild, calm) = (token(1, "wild"), token(2, "calm"));
    let path = "/subscriptions?api-version=1";
    let burst = access::attempts::REQUESTS_OF_CALLER.burst;
    for n in 0..burst {
        assert_eq!(send(&api, path, &[("authorization", &wild)]).await.status(), 200, "{n}");
    }
    let refused = send(&api, path, &[("authorization", &wild)]).await;
    let told = (refused.status().as_u16(), header(&refused, "x-ms-error-code"), header(&refused, "retry-after"));
    assert_eq!(told, (429, Some("TooManyRequests"), Some("1")));
    assert_eq!(send(&api, path, &[("authorization", &calm)]).await.status(), 200, "another caller is not concerned");
    assert_eq!(send(&api, "/healthz", &[("authorization", &wild)]).await.status(), 200);
    advance(Span::seconds(1).to_std()).await;
    let mut passed = 0;
    while send(&api, path, &[("authorization", &wild)]).await.status() == 200 {
        passed += 1;
    }
    assert_eq!(passed, 200, "as many as a second gives back");
}

#[tokio::test(start_paused = true)]
async fn every_answer_has_its_ids_and_is_kept_by_nobody() {
    let api = service().await;
    let house = OpenHouse::around(api.gate.clone());
    let token = format!("Bearer {}", house.token_of(access::PrincipalId::new(uuid::Uuid::from_u128(3)), "stranger"));
    let machine = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1?api-version=1";
    let ids = [("x-ms-correlation-request-id", "c-1"), ("x-ms-client-request-id", "r-1")];
    type Headers<'a> = &'a [(&'a str, &'a str)];
    let cases: [(&str, Headers, u16); 8] = [
        ("/healthz", &[], 200),
        ("/adfs/discovery/keys", &[], 200),
        (machine, &[], 401),
        (machine, &[("authorization", "Bearer x")], 401),
        (machine, &[("authorization", &token)], 403),
        ("/nowhere", &[], 401),
        ("/nowhere", &[("authorization", &token)], 404),
        ("/healthz", &[("origin", "https://evil.example")], 403),
    ];
    for (path, headers, status) in cases {
        let asks = [&ids[..], headers, &[("x-ms-return-client-request-id", "true")]].concat();
        let response = send(&api, path, &asks).await;
        assert_eq!(response.status().as_u16(), status, "{path}");
        assert_eq!(header(&response, "x-ms-request-id").map(str::len), Some(36), "{path}");
        assert_eq!(header(&response, "x-ms-correlation-request-id"), Some("c-1"), "{path}");
        assert_eq!(header(&response, "x-ms-client-request-id"), Some("r-1"), "{path}");
        assert_eq!(header(&response, "strict-transport-security"), Some("max-age=31536000"), "{path}");
        assert_eq!(header(&response, "x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(header(&response, "cache-control"), Some("no-store"), "{path}");
        assert_eq!(header(&response, "content-security-policy"), Some("default-src 'none'; frame-ancestors 'none'"), "{path}");
        assert_eq!(header(&response, "referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(header(&response, "server"), None, "{path}");
        let silent = send(&api, path, &[&ids[..], headers].concat()).await;
        assert_eq!(header(&silent, "x-ms-client-request-id"), None, "{path}: it was not asked for");
    }
}

#[tokio::test]
async fn whoever_comes_without_tls_is_told_so_with_ids_and_promised_nothing() {
    use tower::ServiceExt;
    let request = Request::get("/subscriptions").header("host", "localhost").header("x-ms-correlation-request-id", "c-1");
    let response = crate::https_router().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!((response.status().as_u16(), header(&response, "x-ms-error-code")), (400, Some("HttpsRequired")));
    assert_eq!((header(&response, "x-ms-correlation-request-id"), header(&response, "cache-control")), (Some("c-1"), Some("no-store")));
    assert_eq!(header(&response, "strict-transport-security"), None);
}
