//! People: whom another issuer vouches for, and their devices.

use access::roles::READER;
use access::token::{Bearer, Mint, SigningKey, SigningKeys};
use access::{PrincipalId, Scope, TenantId};
use gate::{DEVICE_CODE_LIFE, Gate, OpenHouse, SESSION_LIFE};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use super::tests::{ask, ask_at, read_machine, site};
use crate::Api;
use crate::fixtures::{send, send_with};

const ISSUER: &str = "https://login.example.com";
const PROGRAM: &str = "04b07795-8ddb-461a-bbee-02f9e1bf7b46";

/// An issuer elsewhere, and what it says of somebody.
fn elsewhere(api: &Api) -> Mint {
    let mut keys = SigningKeys::default();
    keys.add(SigningKey::from_seed(&[7; 32], api.clock.now()).unwrap());
    Mint::new(ISSUER, vec!["rackwright".to_owned(), "somebody else".to_owned()], keys).for_anybody()
}

fn vouched(api: &Api, audience: &str) -> String {
    let bearer = Bearer {
        principal: PrincipalId::new(Uuid::from_u128(5)),
        client: None,
        tenant: TenantId::new(Uuid::nil()),
        name: "alice@example.com".into(),
        logged_in_at: api.clock.now(),
        credential: None,
        vouched_by: None,
    };
    elsewhere(api).mint(&bearer, audience, Uuid::nil(), api.clock.now()).unwrap().text.as_str().to_owned()
}

async fn exchange(api: &Api, assertion: &str) -> (StatusCode, Value) {
    ask(api, &format!("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&client_id={PROGRAM}&assertion={assertion}")).await
}

async fn trust(api: &Api) -> (StatusCode, Value) {
    let body = json!({ "issuer": ISSUER, "audiences": ["rackwright"], "keys": elsewhere(api).keys().jwks(api.clock.now()) });
    send(api, Method::PUT, "/rackwright/v1/issuers/corporate", &body.to_string()).await
}

#[tokio::test]
async fn somebody_whom_a_trusted_issuer_knows_comes_in_and_may_what_was_assigned_to_them() {
    let api = site().await;
    let not_granted = (StatusCode::BAD_REQUEST, json!("invalid_grant"));
    let refused = async |assertion: &str| {
        let (status, answer) = exchange(&api, assertion).await;
        (status, answer["error"].clone())
    };
    assert_eq!(refused(&vouched(&api, "rackwright")).await, not_granted, "nobody trusts the issuer yet");
    let (status, shown) = trust(&api).await;
    assert_eq!((status, &shown["keyCount"], &shown["keysGiven"]), (StatusCode::OK, &json!(1), &json!(true)), "{shown}");
    let (status, answer) = exchange(&api, &vouched(&api, "rackwright")).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let bearer = answer["access_token"].as_str().unwrap();
    let (status, forbidden) = read_machine(&api, bearer).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert!(forbidden["error"]["message"].as_str().unwrap().starts_with("`alice@example.com` ("), "{forbidden}");
    let subject = PrincipalId::new(Uuid::from_u128(5)).to_string();
    OpenHouse::around(api.gate.clone()).assign(Gate::person(ISSUER, &subject), READER.id, Scope::root()).await;
    assert_eq!(read_machine(&api, bearer).await.0, StatusCode::OK);
    for wrong in [vouched(&api, "somebody else"), vouched(&api, "rackwright") + "x", "nonsense".to_owned()] {
        assert_eq!(refused(&wrong).await, not_granted, "{wrong}");
    }
    assert_eq!(
        send_with(&api, Method::GET, "/rackwright/v1/status", "", &[("authorization", &format!("Bearer {}", vouched(&api, "rackwright")))])
            .await
            .0,
        StatusCode::UNAUTHORIZED,
        "another issuer's token is none of ours"
    );
    assert_eq!(send(&api, Method::DELETE, "/rackwright/v1/issuers/Corporate", "").await.0, StatusCode::NO_CONTENT);
    assert_eq!(refused(&vouched(&api, "rackwright")).await, not_granted);
    assert_eq!(read_machine(&api, bearer).await.0, StatusCode::UNAUTHORIZED, "nobody vouches for them any more");
}

#[tokio::test]
async fn an_issuer_that_cannot_be_one_is_refused() {
    let api = site().await;
    let keys = elsewhere(&api).keys().jwks(api.clock.now());
    for (name, body) in [
        ("a_b", json!({ "issuer": ISSUER, "audiences": ["a"], "keys": keys })),
        ("a", json!({ "issuer": "http://login.example.com", "audiences": ["a"], "keys": keys })),
        ("a", json!({ "issuer": ISSUER, "audiences": [], "keys": keys })),
        ("a", json!({ "issuer": ISSUER, "audiences": ["a"], "keys": { "keys": [] } })),
        ("a", json!({ "issuer": ISSUER, "audiences": ["a"], "colour": "red" })),
    ] {
        let (status, answer) = send(&api, Method::PUT, &format!("/rackwright/v1/issuers/{name}"), &body.to_string()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
    }
    assert_eq!(send(&api, Method::GET, "/rackwright/v1/issuers", "").await.1, json!({ "value": [] }));
}

async fn begin(api: &Api) -> Value {
    ask_at(api, "/adfs/oauth2/devicecode", &format!("client_id={PROGRAM}")).await.1
}

/// As often as a device was told to.
async fn poll(api: &Api, device: &str) -> (StatusCode, Value) {
    tokio::time::sleep(gate::DEVICE_POLL_EVERY.to_std()).await;
    ask(api, &format!("grant_type=device_code&client_id={PROGRAM}&device_code={device}")).await
}

#[tokio::test(start_paused = true)]
async fn a_device_is_whoever_says_that_it_is_theirs() {
    let api = site().await;
    let begun = begin(&api).await;
    let (device, user) = (begun["device_code"].as_str().unwrap(), begun["user_code"].as_str().unwrap());
    assert_eq!((user.len(), &begun["interval"]), (9, &json!(2)), "{begun}");
    let (status, answer) = poll(&api, device).await;
    assert_eq!((status, &answer["error"]), (StatusCode::BAD_REQUEST, &json!("authorization_pending")));
    let approve = async |code: &str| send(&api, Method::POST, &format!("/rackwright/v1/deviceLogins/{code}/approve"), "").await;
    assert_eq!(approve("ZZZZ-ZZZZ").await.0, StatusCode::NOT_FOUND);
    assert_eq!(approve(&user.to_lowercase().replace('-', "")).await.1, json!({ "approved": true, "caller": "anonymous" }));
    assert_eq!(approve(user).await.0, StatusCode::NOT_FOUND, "it is somebody's already");
    let (status, answer) = poll(&api, device).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(read_machine(&api, answer["access_token"].as_str().unwrap()).await.0, StatusCode::OK);
    assert_eq!(poll(&api, device).await.1["error"], json!("expired_token"), "a code is good once");
    for not_a_token in ["id_token", "refresh_token"] {
        let (status, _) = read_machine(&api, answer[not_a_token].as_str().unwrap()).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{not_a_token}");
    }
    let session = answer["refresh_token"].as_str().unwrap();
    let resume = async || ask(&api, &format!("grant_type=refresh_token&client_id={PROGRAM}&refresh_token={session}")).await;
    tokio::time::sleep(SESSION_LIFE.to_std() - std::time::Duration::from_secs(60)).await;
    let (status, answer) = resume().await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(answer["refresh_token"], json!(session), "a session is not prolonged by being used");
    assert_eq!(read_machine(&api, answer["access_token"].as_str().unwrap()).await.0, StatusCode::OK);
    tokio::time::sleep(std::time::Duration::from_secs(300)).await;
    assert_eq!(resume().await.1["error"], json!("invalid_grant"));
}

#[tokio::test(start_paused = true)]
async fn a_code_expires_and_not_too_many_wait() {
    let api = site().await;
    let begun = begin(&api).await;
    tokio::time::sleep(DEVICE_CODE_LIFE.to_std()).await;
    let device = begun["device_code"].as_str().unwrap();
    assert_eq!(poll(&api, device).await.1["error"], json!("expired_token"));
    for number in 0..u32::try_from(gate::DEVICES_MAX).unwrap() {
        api.gate.begin_device(std::net::Ipv4Addr::from_bits(0x0A00_0000 + number).into()).expect("there is room");
    }
    let (status, answer) = ask_at(&api, "/adfs/oauth2/devicecode", "").await;
    assert_eq!((status, &answer["error"]["code"]), (StatusCode::TOO_MANY_REQUESTS, &json!("TooManyRequests")));
}
