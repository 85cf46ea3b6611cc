use std::net::{IpAddr, Ipv4Addr};

use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gate::{OpenHouse, Shown};
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::Api;
use crate::fixtures::{Documents, cluster, read_pages, send};

const ALL: &str = "/rackwright/v1/principals";

async fn service() -> Api {
    Documents::default().cluster(&cluster("site")).serve().await
}

async fn create(api: &Api, name: &str) -> Value {
    let (status, made) = send(api, Method::POST, ALL, &json!({ "displayName": name }).to_string()).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    made
}

fn path(principal: &Value, rest: &str) -> String {
    format!("{ALL}/{}{rest}", principal["id"].as_str().unwrap())
}

fn code(answer: &(StatusCode, Value)) -> (u16, &str) {
    (answer.0.as_u16(), answer.1["error"]["code"].as_str().unwrap_or("-"))
}

fn can_log_in(api: &Api, principal: &Value, secret: &Value) -> bool {
    let (client, secret) = (principal["clientId"].as_str().unwrap(), secret.as_str().unwrap());
    api.gate.log_in(Shown::Secret { client, secret }, IpAddr::V4(Ipv4Addr::LOCALHOST)).is_ok()
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_told_once_and_nothing_of_it_ever_again() {
    let api = service().await;
    let made = create(&api, "pipeline").await;
    assert_eq!((&made["displayName"], &made["enabled"], &made["secrets"]), (&json!("pipeline"), &json!(true), &json!([])));
    let (status, shown) = send(&api, Method::POST, &path(&made, "/secrets"), r#"{"days":30,"displayName":"first"}"#).await;
    assert_eq!((status, &shown["clientId"]), (StatusCode::CREATED, &made["clientId"]));
    assert!(can_log_in(&api, &made, &shown["secret"]));
    let (_, one) = send(&api, Method::GET, &path(&made, ""), "").await;
    let (_, list) = send(&api, Method::GET, ALL, "").await;
    assert_eq!((&one["secrets"][0]["id"], &list["value"][0]), (&shown["secretId"], &one));
    assert_eq!(one["secrets"][0]["displayName"], "first");
    for answer in [&one, &list] {
        let text = answer.to_string();
        assert!(!text.contains(shown["secret"].as_str().unwrap()) && !text.contains("digest"), "{text}");
    }
    let secret = path(&made, &format!("/secrets/{}", shown["secretId"].as_str().unwrap()));
    assert_eq!(send(&api, Method::DELETE, &secret, "").await.0, StatusCode::OK);
    assert!(!can_log_in(&api, &made, &shown["secret"]));
    assert_eq!(code(&send(&api, Method::DELETE, &secret, "").await), (404, "ResourceNotFound"));
}

#[tokio::test(start_paused = true)]
async fn a_principal_that_is_disabled_or_gone_does_not_come_in() {
    let api = service().await;
    let made = create(&api, "pipeline").await;
    let (_, shown) = send(&api, Method::POST, &path(&made, "/secrets"), "").await;
    let (status, disabled) = send(&api, Method::POST, &path(&made, "/disable"), "").await;
    assert_eq!((status, &disabled["enabled"]), (StatusCode::OK, &json!(false)));
    assert!(!can_log_in(&api, &made, &shown["secret"]));
    assert_eq!(send(&api, Method::POST, &path(&made, "/enable"), "").await.1["enabled"], true);
    assert!(can_log_in(&api, &made, &shown["secret"]));
    let token = OpenHouse::around(api.gate.clone()).token("anybody");
    let request = http::Request::builder().method(Method::DELETE).uri(path(&made, "")).header("host", "localhost");
    let request = request.header("authorization", format!("Bearer {token}")).body(axum::body::Body::empty()).unwrap();
    assert_eq!(crate::answer(State(api.clone()), request).await.status(), StatusCode::NO_CONTENT);
    assert!(!can_log_in(&api, &made, &shown["secret"]));
    assert_eq!(code(&send(&api, Method::GET, &path(&made, ""), "").await), (404, "ResourceNotFound"));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_is_refused_and_changes_nothing() {
    let api = service().await;
    let made = create(&api, "pipeline").await;
    let cases = [
        (ALL.to_owned(), r#"{"displayName":"PIPELINE"}"#, (409, "OperationNotAllowed")),
        (ALL.to_owned(), r#"{"displayName":""}"#, (400, "InvalidRequestContent")),
        (ALL.to_owned(), r#"{"displayName":7}"#, (400, "InvalidRequestContent")),
        (ALL.to_owned(), "{}", (400, "InvalidRequestContent")),
        (ALL.to_owned(), r#"{"displayName":"a","secret":"mine"}"#, (400, "InvalidRequestContent")),
        (path(&made, "/secrets"), r#"{"days":0}"#, (400, "InvalidRequestContent")),
        (path(&made, "/secrets"), r#"{"days":733}"#, (400, "InvalidRequestContent")),
        (path(&made, "/secrets"), r#"{"days":9223372036854775807}"#, (400, "InvalidRequestContent")),
        (path(&made, "/secrets"), r#"{"days":"ten"}"#, (400, "InvalidRequestContent")),
        (path(&made, "/certificates"), r#"{"pem":"-----BEGIN NONSENSE-----"}"#, (400, "InvalidRequestContent")),
        (path(&made, "/certificates"), "{}", (400, "InvalidRequestContent")),
        (format!("{ALL}/bob/secrets"), "{}", (404, "ResourceNotFound")),
        (format!("{ALL}/{}/disable", uuid::Uuid::nil()), "", (404, "ResourceNotFound")),
    ];
    for (path, body, expected) in cases {
        assert_eq!(code(&send(&api, Method::POST, &path, body).await), expected, "{path} {body}");
    }
    assert_eq!(send(&api, Method::GET, &path(&made, ""), "").await.1, made);
}

#[tokio::test(start_paused = true)]
async fn a_certificate_is_known_by_its_thumbprint() {
    let api = service().await;
    let made = create(&api, "pipeline").await;
    let block = |label: &str, der: &[u8]| format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der));
    let pem = block("PRIVATE KEY", b"key") + &block("CERTIFICATE", include_bytes!("../../../../access/src/fixtures/client.der"));
    let body = json!({ "pem": pem }).to_string();
    let (status, with_it) = send(&api, Method::POST, &path(&made, "/certificates"), &body).await;
    assert_eq!(status, StatusCode::OK, "{with_it}");
    assert!(!with_it.to_string().contains("PRIVATE"), "{with_it}");
    assert_eq!(code(&send(&api, Method::POST, &path(&made, "/certificates"), &body).await), (409, "OperationNotAllowed"));
    let thumbprint = with_it["certificates"][0]["sha256"].as_str().unwrap();
    let gone = send(&api, Method::DELETE, &path(&made, &format!("/certificates/{thumbprint}")), "").await;
    assert_eq!((gone.0, &gone.1["certificates"]), (StatusCode::OK, &json!([])));
    assert_eq!(code(&send(&api, Method::DELETE, &path(&made, "/certificates/x"), "").await), (404, "ResourceNotFound"));
}

#[tokio::test(start_paused = true)]
async fn pages_of_any_size_hold_each_principal_once() {
    let api = service().await;
    for number in 0..5 {
        create(&api, &format!("p{number}")).await;
    }
    for top in 1..=6 {
        let (pages, ids) = read_pages(&api, &format!("{ALL}?$top={top}"), "id").await;
        assert_eq!((pages, ids.len()), (5_usize.div_ceil(top).max(1), 5), "{top}");
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_stay_good_when_the_signing_key_is_changed() {
    let api = service().await;
    let token = OpenHouse::around(api.gate.clone()).token("anybody");
    tokio::time::advance(std::time::Duration::from_secs(1)).await;
    let (status, keys) = send(&api, Method::POST, "/rackwright/v1/signingKeys/rotate", "").await;
    assert_eq!((status, keys["keys"].as_array().map(Vec::len)), (StatusCode::OK, Some(2)));
    let request = http::Request::get(ALL).header("host", "localhost").header("authorization", format!("Bearer {token}"));
    let response = crate::answer(State(api), request.body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert!(response.into_body().collect().await.is_ok());
}
