//! Tokens that are not good, as a client of the API meets them.

use std::sync::Arc;

use access::principal::ServicePrincipal;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gate::{Gate, OpenHouse};
use http::{Method, StatusCode};
use model::{SecretRef, Span, Timestamp};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use store::{MemoryStore, SharedStore, TokioClock, Vault};
use tokio::time::advance;

use crate::fixtures::{Documents, NOW, cluster, send_with};
use crate::{Api, HEADER_BYTES_MAX};

const PATH: &str = "/rackwright/v1/status";
const SEED: [u8; 32] = [7; 32];

/// The API, with a key that the test knows too, and somebody who may come in.
struct House {
    api: Api,
    gate: Arc<Gate>,
    kid: String,
    principal: ServicePrincipal,
}

async fn house() -> House {
    let api = Documents::default().cluster(&cluster("site")).serve().await;
    let clock = api.clock.clone();
    let store: SharedStore = Arc::new(MemoryStore::new(clock.clone()));
    let vault = Arc::new(Vault::ephemeral(store.clone()));
    let seeds = json!([{ "signs_from": clock.now() - Span::hours(2), "seed": SEED }]);
    vault.save(&SecretRef::new("access/signing-keys"), seeds.to_string().as_bytes()).await.unwrap();
    let gate = Arc::new(Gate::open(store, vault, clock).await.unwrap());
    let principal = gate.create_principal("deploy").await.unwrap();
    let kid = gate.jwks()["keys"][0]["kid"].as_str().unwrap().to_owned();
    House { api: Api { gate: gate.clone(), ..api }, gate, kid, principal }
}

impl House {
    fn seconds(&self, from_now: i64) -> i64 {
        self.api.clock.now().as_millis() / 1_000 + from_now
    }

    fn header(&self) -> Value {
        json!({ "typ": "JWT", "alg": "HS256", "kid": self.kid })
    }

    fn claims(&self) -> Value {
        json!({
            "iss": gate::issuer(), "aud": gate::AUDIENCE, "sub": self.principal.id, "oid": self.principal.id,
            "appid": self.principal.client_id, "tid": gate::TENANT, "name": "deploy",
            "iat": self.seconds(0), "nbf": self.seconds(0), "exp": self.seconds(3_600), "jti": uuid::Uuid::from_u128(9),
        })
    }

    /// A token with some claims changed, signed with the right key.
    fn signed_with(&self, changes: &Value) -> String {
        let mut claims = self.claims();
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        token(&self.header(), &claims, ours)
    }

    async fn come_with(&self, authorization: &str) -> (StatusCode, String) {
        let (status, body) = send_with(&self.api, Method::GET, PATH, "", &[("authorization", authorization)]).await;
        (status, body["error"]["code"].as_str().unwrap_or_default().to_owned())
    }
}

fn ours(message: &[u8]) -> Vec<u8> {
    hmac(&hmac(&SEED, b"rackwright tokens that only rackwright reads, 1"), message)
}

fn hmac(secret: &[u8], message: &[u8]) -> Vec<u8> {
    ring::hmac::sign(&ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret), message).as_ref().to_vec()
}

/// What we sign what others read with.
fn ours_for_others(message: &[u8]) -> Vec<u8> {
    Ed25519KeyPair::from_seed_unchecked(&SEED).unwrap().sign(message).as_ref().to_vec()
}

fn token(header: &Value, claims: &Value, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header.to_string()), URL_SAFE_NO_PAD.encode(claims.to_string()));
    let signature = sign(message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn with(value: &Value, name: &str, changed: Value) -> Value {
    let mut value = value.clone();
    value[name] = changed;
    value
}

#[tokio::test(start_paused = true)]
async fn a_token_of_ours_is_let_in_and_no_forgery_of_it() {
    let house = house().await;
    let good = house.signed_with(&json!({}));
    assert_eq!(house.come_with(&format!("Bearer {good}")).await.0, StatusCode::OK);
    assert_eq!(house.come_with(&format!("bearer {good}")).await.0, StatusCode::OK, "schemes have no case");

    let (header, claims) = (house.header(), house.claims());
    let public = Ed25519KeyPair::from_seed_unchecked(&SEED).unwrap().public_key().as_ref().to_vec();
    let stranger = |message: &[u8]| hmac(&[8; 32], message);
    let (head, rest) = good.split_once('.').unwrap();
    let (body, signature) = rest.split_once('.').unwrap();
    let other_body = URL_SAFE_NO_PAD.encode(with(&claims, "oid", json!(uuid::Uuid::from_u128(1))).to_string());
    let forgeries = [
        ("another's signature", token(&header, &claims, stranger)),
        ("another body", format!("{head}.{other_body}.{signature}")),
        ("alg none", token(&with(&header, "alg", json!("none")), &claims, |_| vec![])),
        ("alg None, with our signature", token(&with(&header, "alg", json!("None")), &claims, ours)),
        ("the public key as a secret", token(&header, &claims, |message| hmac(&public, message))),
        ("no secret", token(&header, &claims, |message| hmac(&[], message))),
        ("what is for others", token(&with(&header, "alg", json!("EdDSA")), &claims, ours_for_others)),
        ("an unknown key", token(&with(&header, "kid", json!("x")), &claims, ours)),
        ("a key's id that is a path", token(&with(&header, "kid", json!("../../etc/passwd")), &claims, ours)),
        ("no key", token(&json!({ "alg": "HS256" }), &claims, ours)),
        ("a key of its own", token(&json!({ "alg": "HS256", "jwk": { "kty": "oct", "k": "AA" } }), &claims, ours)),
        ("a demand", token(&with(&header, "crit", json!(["exp"])), &claims, ours)),
        ("cut in its signature", good[..good.len() - 4].to_owned()),
        ("cut in its body", format!("{head}.{}.{signature}", &body[..body.len() - 3])),
        ("without a signature", format!("{head}.{body}.")),
        ("two parts", format!("{head}.{body}")),
        ("four parts", format!("{good}.{signature}")),
        ("no token", "x".to_owned()),
        ("oversized", format!("{good}{}", "A".repeat(access::token::TOKEN_MAX))),
        ("another issuer", house.signed_with(&json!({ "iss": "urn:other" }))),
        ("another audience", house.signed_with(&json!({ "aud": "https://management.azure.com/" }))),
        ("no audience", house.signed_with(&json!({ "aud": null }))),
        ("not yet valid", house.signed_with(&json!({ "nbf": house.seconds(121) }))),
        ("a principal that is none", house.signed_with(&json!({ "oid": "root" }))),
    ];
    for (what, token) in forgeries {
        let answer = house.come_with(&format!("Bearer {token}")).await;
        assert_eq!(answer, (StatusCode::UNAUTHORIZED, "InvalidAuthenticationToken".to_owned()), "{what}");
    }
    let expired = house.signed_with(&json!({ "exp": house.seconds(-121) }));
    let answer = house.come_with(&format!("Bearer {expired}")).await;
    assert_eq!(answer, (StatusCode::UNAUTHORIZED, "ExpiredAuthenticationToken".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_bearer_token_is_none() {
    let house = house().await;
    let good = house.signed_with(&json!({}));
    let basic = base64::engine::general_purpose::STANDARD.encode(format!("{}:secret", house.principal.client_id));
    for authorization in [format!("Basic {basic}"), good.clone(), "Bearer".to_owned(), "Bearer  ".to_owned(), format!("Token {good}")] {
        let answer = house.come_with(&authorization).await;
        assert_eq!(answer, (StatusCode::UNAUTHORIZED, "AuthenticationFailed".to_owned()), "{authorization}");
    }
    let (forged, good) = (format!("Bearer {good}x"), format!("Bearer {good}"));
    for twice in [[&good, &good], [&good, &forged], [&forged, &good]] {
        let headers = twice.map(|line| ("authorization", line.as_str()));
        let (status, body) = send_with(&house.api, Method::GET, PATH, "", &headers).await;
        assert_eq!((status, &body["error"]["code"]), (StatusCode::UNAUTHORIZED, &Value::from("AuthenticationFailed")));
    }
    const { assert!(access::token::TOKEN_MAX < HEADER_BYTES_MAX, "the longest token fits into a request") };
}

#[tokio::test(start_paused = true)]
async fn clocks_may_differ_by_two_minutes_and_no_more() {
    let house = house().await;
    let ahead = house.signed_with(&json!({ "nbf": house.seconds(119), "iat": house.seconds(119) }));
    assert_eq!(house.come_with(&format!("Bearer {ahead}")).await.0, StatusCode::OK);
    let token = format!("Bearer {}", house.signed_with(&json!({})));
    advance(Span::minutes(61).to_std()).await;
    assert_eq!(house.come_with(&token).await.0, StatusCode::OK, "a minute late is a clock's difference");
    advance(Span::minutes(1).to_std()).await;
    assert_eq!(house.come_with(&token).await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test(start_paused = true)]
async fn a_principal_that_is_disabled_or_removed_is_out_at_once_whatever_its_token_says() {
    let house = house().await;
    let token = format!("Bearer {}", house.signed_with(&json!({})));
    assert_eq!(house.come_with(&token).await.0, StatusCode::OK);
    house.gate.set_disabled(house.principal.id, true).await.unwrap();
    assert_eq!(house.come_with(&token).await, (StatusCode::UNAUTHORIZED, "InvalidAuthenticationToken".to_owned()));
    house.gate.set_disabled(house.principal.id, false).await.unwrap();
    assert_eq!(house.come_with(&token).await.0, StatusCode::OK);
    house.gate.remove_principal(house.principal.id).await.unwrap();
    assert_eq!(house.come_with(&token).await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test(start_paused = true)]
async fn the_challenge_says_where_to_log_in_and_repeats_nothing_of_the_token() {
    let clock = Arc::new(TokioClock::starting_at(Timestamp::parse(NOW).unwrap()));
    let other = OpenHouse::open(clock).await.token("somebody");
    let house = house().await;
    let request = http::Request::get(PATH).header("host", "site.example:7225").header("authorization", format!("Bearer {other}"));
    let response = crate::answer(axum::extract::State(house.api), request.body(axum::body::Body::empty()).unwrap()).await;
    let challenge = response.headers()["www-authenticate"].to_str().unwrap().to_owned();
    assert!(challenge.starts_with("Bearer authorization_uri=\"https://site.example:7225/adfs\", error=\"invalid_token\""), "{challenge}");
    let text = format!("{challenge}{:?}", http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes());
    assert!(!other.split('.').any(|part| text.contains(part)), "{text}");
}
