//! Getting a token, and coming in with it.

use access::{PrincipalId, Scope};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::Api;
use crate::fixtures::{Documents, cluster, machine, send, send_with};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const MACHINE: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1?api-version=1";

pub(super) async fn site() -> Api {
    Documents::default().cluster(&cluster("site")).machine(&machine("site", "rack1", "m1")).serve().await
}

/// A service principal with a secret, and a form that asks for its token.
async fn principal(api: &Api) -> (PrincipalId, String) {
    let principal = api.gate.create_principal("deployer").await.unwrap();
    let (principal, secret) = api.gate.add_secret(principal.id, None, None).await.unwrap();
    let form = format!("grant_type=client_credentials&client_id={}&client_secret={}", principal.client_id, secret.text());
    (principal.id, form)
}

#[tokio::test]
async fn a_secret_gives_a_token_and_a_role_lets_it_see() {
    let api = site().await;
    let (id, form) = principal(&api).await;
    let (status, answer) = send_with(&api, Method::POST, "/adfs/oauth2/token", &form, &[FORM]).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "a token does not ask for a token: {answer}");
    let (status, answer) = ask(&api, &form).await;
    assert_eq!((status, &answer["token_type"]), (StatusCode::OK, &json!("Bearer")));
    assert!((3_590..=3_600).contains(&answer["expires_in"].as_u64().unwrap()));
    let bearer = format!("Bearer {}", answer["access_token"].as_str().unwrap());
    let read = async || send_with(&api, Method::GET, MACHINE, "", &[("authorization", &bearer)]).await;
    let (status, refused) = read().await;
    let message = format!(
        "`deployer` ({id}) may not perform `Microsoft.NetworkCloud/bareMetalMachines/read` at \
         `/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1`: no role assigned there or around it grants that"
    );
    assert_eq!((status, refused["error"]["message"].as_str()), (StatusCode::FORBIDDEN, Some(message.as_str())));
    let house = gate::OpenHouse::around(api.gate.clone());
    house.assign(id, access::roles::READER.id, Scope::parse("/subscriptions/S1/resourcegroups/g1").unwrap()).await;
    assert_eq!(read().await.0, StatusCode::OK);
    api.gate.set_disabled(id, true).await.unwrap();
    assert_eq!(read().await.0, StatusCode::UNAUTHORIZED, "at once, and not when the token expires");
    assert_eq!(ask(&api, &form).await.0, StatusCode::UNAUTHORIZED);
}

/// Asks for a token, without having one.
pub(super) async fn ask(api: &Api, form: &str) -> (StatusCode, Value) {
    ask_at(api, "/adfs/oauth2/token", form).await
}

pub(super) async fn ask_at(api: &Api, path: &str, form: &str) -> (StatusCode, Value) {
    use axum::body::Body;
    use http_body_util::BodyExt;
    let request = http::Request::post(path).header("host", "localhost").header(FORM.0, FORM.1);
    let response = crate::answer(axum::extract::State(api.clone()), request.body(Body::from(form.to_owned())).unwrap()).await;
    let (parts, body) = response.into_parts();
    (parts.status, serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap())
}

pub(super) async fn read_machine(api: &Api, token: &str) -> (StatusCode, Value) {
    send_with(api, Method::GET, MACHINE, "", &[("authorization", &format!("Bearer {token}"))]).await
}

#[tokio::test]
async fn what_asks_wrongly_is_told_so_in_oauths_words_and_learns_nothing() {
    let api = site().await;
    let (_, form) = principal(&api).await;
    let (right_id, _) = form.split_once("&client_secret=").unwrap();
    let cases = [
        (String::new(), 400, "invalid_request"),
        ("grant_type=password".to_owned(), 400, "unsupported_grant_type"),
        (format!("{form}&grant_type=x"), 400, "invalid_request"),
        ("grant_type=client_credentials".to_owned(), 400, "invalid_request"),
        (format!("{form}&resource=https://graph.microsoft.com/"), 400, "invalid_target"),
        (format!("{right_id}&client_secret={}", "A".repeat(43)), 401, "invalid_client"),
        (form.replace("client_id=", "client_id=x"), 401, "invalid_client"),
    ];
    let mut unauthorized = Vec::new();
    for (form, status, error) in cases {
        let (found, answer) = ask(&api, &form).await;
        assert_eq!((found.as_u16(), answer["error"].as_str()), (status, Some(error)), "{form}: {answer}");
        if status == 401 {
            let id = answer["correlation_id"].as_str().unwrap();
            unauthorized.push(answer["error_description"].as_str().unwrap().replace(id, "…"));
        }
    }
    assert!(unauthorized.windows(2).all(|two| two[0] == two[1]), "a wrong id and a wrong secret read the same: {unauthorized:?}");
}

#[tokio::test]
async fn nobody_is_told_anything_without_a_token() {
    let api = site().await;
    for path in [MACHINE, "/subscriptions?api-version=1", "/nowhere", "/metrics", "/rackwright/v1/status"] {
        let (status, answer) = send_with(&api, Method::GET, path, "", &[("authorization", "Negotiate x")]).await;
        assert_eq!((status, answer["error"]["code"].as_str()), (StatusCode::UNAUTHORIZED, Some("AuthenticationFailed")), "{path}");
    }
    for path in ["/healthz", "/metadata/endpoints", "/adfs/.well-known/openid-configuration", "/adfs/discovery/keys"] {
        let (status, _) = send_with(&api, Method::GET, path, "", &[("authorization", "")]).await;
        assert_eq!(status, StatusCode::OK, "{path}");
    }
    assert_eq!(send(&api, Method::GET, MACHINE, "").await.0, StatusCode::OK);
}
