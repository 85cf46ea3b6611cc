//! The token endpoint, met by those who guess, hurry, copy, or send what is no form. In virtual time.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use access::attempts::{LOGINS_FROM_ADDRESS, LOGINS_OF_PRINCIPAL};
use access::principal::{Certificate, ServicePrincipal};
use axum::body::Body;
use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use gate::Gate;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use model::Span;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Value, json};
use store::{MemoryStore, SharedStore, Vault};
use tokio::time::advance;

use crate::call::Peer;
use crate::fixtures::{Documents, cluster};
use crate::{Api, BODY_MAX};

const FORM: &str = "application/x-www-form-urlencoded";

/// The API with the limits that it really has, and a principal with a secret and a certificate.
struct House {
    api: Api,
    gate: Arc<Gate>,
    principal: ServicePrincipal,
    secret: String,
}

async fn house() -> House {
    let api = Documents::default().cluster(&cluster("site")).serve().await;
    // The certificate is younger than the documents.
    advance(Span::hours(30 * 24).to_std()).await;
    let store: SharedStore = Arc::new(MemoryStore::new(api.clock.clone()));
    let vault = Arc::new(Vault::ephemeral(store.clone()));
    let gate = Arc::new(Gate::open(store, vault, api.clock.clone()).await.unwrap());
    let id = gate.create_principal("deploy").await.unwrap().id;
    let certificate = Certificate::from_der(include_bytes!("../../../access/src/fixtures/client.der")).unwrap();
    gate.add_certificate(id, certificate).await.unwrap();
    let (principal, secret) = gate.add_secret(id, None, None).await.unwrap();
    let secret = secret.text().to_owned();
    House { api: Api { gate: gate.clone(), ..api }, gate, principal, secret }
}

/// What came back: the status, OAuth's error, and how long to wait.
type Answer = (StatusCode, Option<String>, Option<u64>);

impl House {
    async fn post(&self, from: u8, headers: &[(&str, &str)], body: impl Into<Body>) -> (Answer, Value) {
        self.post_to("localhost", from, headers, body).await
    }

    async fn post_to(&self, host: &str, from: u8, headers: &[(&str, &str)], body: impl Into<Body>) -> (Answer, Value) {
        let mut request = Request::post("/adfs/oauth2/token").header("host", host);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(body.into()).unwrap();
        request.extensions_mut().insert(Peer(address(from)));
        let (parts, body) = crate::answer(State(self.api.clone()), request).await.into_parts();
        let body: Value = serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap();
        let wait = parts.headers.get("retry-after").map(|wait| wait.to_str().unwrap().parse().unwrap());
        assert_eq!(parts.headers["cache-control"], "no-store");
        let error = body["error"].as_str().or(body["error"]["code"].as_str()).map(str::to_owned);
        ((parts.status, error, wait), body)
    }

    async fn try_secret(&self, from: u8, client: &str, secret: &str) -> Answer {
        let body = format!("grant_type=client_credentials&client_id={client}&client_secret={secret}");
        self.post(from, &[("content-type", FORM)], body).await.0
    }

    async fn log_in(&self, from: u8) -> Answer {
        self.try_secret(from, &self.principal.client_id.to_string(), &self.secret).await
    }

    async fn show(&self, from: u8, assertion: &str) -> Answer {
        self.show_to("localhost", from, assertion).await
    }

    async fn show_to(&self, host: &str, from: u8, assertion: &str) -> Answer {
        let kind = "urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer";
        let body = format!("grant_type=client_credentials&client_assertion_type={kind}&client_assertion={assertion}");
        self.post_to(host, from, &[("content-type", FORM)], body).await.0
    }

    /// An assertion as Azure's clients make it, with some claims changed.
    fn assertion(&self, id: &str, changes: &Value) -> String {
        self.assertion_for("localhost", id, changes)
    }

    fn assertion_for(&self, host: &str, id: &str, changes: &Value) -> String {
        let seconds = |from_now: i64| self.api.clock.now().as_millis() / 1_000 + from_now;
        let client = self.principal.client_id;
        let mut claims = json!({
            "aud": format!("https://{host}/adfs/oauth2/token"), "iss": client, "sub": client, "jti": id, "iat": seconds(0), "exp": seconds(600),
        });
        for (name, by) in changes.as_object().unwrap() {
            claims[name] = json!(seconds(by.as_i64().unwrap()));
        }
        let header = json!({ "typ": "JWT", "alg": "RS256", "x5t": self.principal.certificates[0].sha1 });
        let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header.to_string()), URL_SAFE_NO_PAD.encode(claims.to_string()));
        let pair = RsaKeyPair::from_pkcs8(include_bytes!("../../../access/src/fixtures/client-key.der")).unwrap();
        let mut signature = vec![0; pair.public().modulus_len()];
        pair.sign(&RSA_PKCS1_SHA256, &ring::rand::SystemRandom::new(), message.as_bytes(), &mut signature).unwrap();
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

fn address(last: u8) -> IpAddr {
    Ipv4Addr::new(192, 0, 2, last).into()
}

fn refused() -> Answer {
    (StatusCode::UNAUTHORIZED, Some("invalid_client".into()), None)
}

fn granted() -> Answer {
    (StatusCode::OK, None, None)
}

#[tokio::test(start_paused = true)]
async fn whoever_guesses_at_a_principal_is_slowed_down_wherever_they_come_from() {
    let house = house().await;
    let client = house.principal.client_id.to_string();
    for n in 0..LOGINS_OF_PRINCIPAL.burst {
        assert_eq!(house.try_secret(u8::try_from(n).unwrap(), &client, "wrong").await, refused());
    }
    let later = (StatusCode::TOO_MANY_REQUESTS, Some("temporarily_unavailable".to_owned()), Some(3));
    assert_eq!(house.try_secret(99, &client, "wrong").await, later);
    assert_eq!(house.log_in(98).await, later, "who it is cannot be known before it was looked at");
    advance(Span::seconds(3).to_std()).await;
    assert_eq!(house.log_in(98).await, granted());
    assert_eq!(house.log_in(98).await, granted(), "what succeeds is given back");
}

#[tokio::test(start_paused = true)]
async fn whoever_guesses_from_one_address_is_slowed_down_and_nobody_else() {
    let house = house().await;
    for n in 0..LOGINS_FROM_ADDRESS.burst {
        // Half of them do not even say whose they are.
        let answer = if n % 2 == 0 { house.try_secret(1, &format!("guess{n}"), "x").await } else { house.show(1, "x").await };
        assert_eq!(answer, refused(), "{n}");
    }
    let later = (StatusCode::TOO_MANY_REQUESTS, Some("temporarily_unavailable".to_owned()), Some(1));
    assert_eq!(
        [house.try_secret(1, "guess", "x").await, house.show(1, "x").await, house.log_in(1).await],
        [later.clone(), later.clone(), later]
    );
    assert_eq!(house.log_in(2).await, granted());
    advance(Span::seconds(1).to_std()).await;
    assert_eq!(house.log_in(1).await, granted());
}

#[tokio::test(start_paused = true)]
async fn an_assertion_is_shown_again_by_whoever_showed_it_and_by_no_other() {
    let house = house().await;
    let assertion = house.assertion("one", &json!({}));
    assert_eq!([house.show(1, &assertion).await, house.show(1, &assertion).await], [granted(), granted()]);
    assert_eq!(house.show(2, &assertion).await, refused(), "a copy");
    assert_eq!(house.show(2, &house.assertion("two", &json!({}))).await, granted());
    assert_eq!(house.show(1, &house.assertion("", &json!({}))).await, refused());
    advance(Span::minutes(13).to_std()).await;
    assert_eq!(house.show(1, &assertion).await, refused(), "it has expired");
}

#[tokio::test(start_paused = true)]
async fn an_assertion_that_was_meant_for_another_host_is_good_for_nothing_whatever_the_request_says() {
    let house = house().await;
    for (host, answer) in [("localhost:8443", granted()), ("127.0.0.1", granted()), ("[::1]:8443", granted()), ("evil.example", refused())]
    {
        assert_eq!(house.show_to(host, 1, &house.assertion_for(host, host, &json!({}))).await, answer, "{host}");
    }
    assert_eq!(house.show(1, &house.assertion_for("evil.example", "honest", &json!({}))).await, refused());
}

#[tokio::test(start_paused = true)]
async fn the_clock_of_a_client_may_be_two_minutes_off_and_no_more() {
    let house = house().await;
    for (changes, answer) in [
        (json!({ "iat": 119 }), granted()),
        (json!({ "iat": 121 }), refused()),
        (json!({ "nbf": 119 }), granted()),
        (json!({ "nbf": 121 }), refused()),
        (json!({ "exp": -119 }), granted()),
        (json!({ "exp": -121 }), refused()),
        (json!({ "exp": 3_719 }), granted()),
        (json!({ "exp": 3_721 }), refused()),
    ] {
        assert_eq!(house.show(1, &house.assertion(&changes.to_string(), &changes)).await, answer, "{changes}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_principal_that_is_disabled_or_removed_gets_no_token_and_is_not_told_why() {
    let house = house().await;
    house.gate.set_disabled(house.principal.id, true).await.unwrap();
    let wrong = house.try_secret(1, &house.principal.client_id.to_string(), "wrong").await;
    assert_eq!([house.log_in(1).await, house.show(1, &house.assertion("a", &json!({}))).await], [wrong.clone(), wrong]);
    house.gate.remove_principal(house.principal.id).await.unwrap();
    assert_eq!([house.log_in(1).await, house.show(1, &house.assertion("b", &json!({}))).await], [refused(), refused()]);
}

/// What is wrong, the headers and the body of a request, and what comes back.
type Case<'a> = (&'a str, Vec<(&'a str, &'a str)>, Vec<u8>, u16, &'a str);

#[tokio::test(start_paused = true)]
async fn what_is_no_form_or_too_much_of_one_is_refused() {
    let house = house().await;
    let right = format!("grant_type=client_credentials&client_id={}&client_secret={}", house.principal.client_id, house.secret);
    let basic = format!("Basic {}", STANDARD.encode(format!("{}:{}", house.principal.client_id, house.secret)));
    let form = ("content-type", FORM);
    let cases: Vec<Case> = vec![
        ("JSON", vec![("content-type", "application/json")], b"{}".to_vec(), 415, "UnsupportedMediaType"),
        ("nothing", vec![form], vec![], 400, "invalid_request"),
        ("too much", vec![form], vec![b'x'; BODY_MAX + 1], 413, "RequestBodyTooLarge"),
        ("no UTF-8", vec![form], b"grant_type=\xff".to_vec(), 400, "invalid_request"),
        ("escaped no UTF-8", vec![form], b"grant_type=%ff".to_vec(), 400, "invalid_request"),
        ("another grant", vec![form], b"grant_type=password&username=a&password=b".to_vec(), 400, "unsupported_grant_type"),
        ("a grant twice", vec![form], format!("grant_type=client_credentials&{right}").into(), 400, "invalid_request"),
        ("a secret twice", vec![form], format!("{right}&client_secret=x").into(), 400, "invalid_request"),
        ("two ways at once", vec![form, ("authorization", &basic)], right.clone().into(), 400, "invalid_request"),
        ("a bearer", vec![form, ("authorization", "Bearer x")], right.clone().into(), 400, "invalid_request"),
        ("another audience", vec![form], format!("{right}&resource=https://graph.microsoft.com/").into(), 400, "invalid_target"),
    ];
    for (what, headers, body, status, error) in cases {
        let ((found, code, _), body) = house.post(1, &headers, body).await;
        assert_eq!((found.as_u16(), code.as_deref()), (status, Some(error)), "{what}: {body}");
        assert!(!body.to_string().contains(&house.secret), "{what}");
    }
    assert_eq!(house.log_in(1).await, granted());
}

#[tokio::test(start_paused = true)]
async fn a_form_that_does_not_come_is_not_waited_for() {
    let house = house().await;
    let never = Body::from_stream(futures::stream::pending::<Result<bytes::Bytes, std::io::Error>>());
    let ((status, code, _), _) = house.post(1, &[("content-type", FORM)], never).await;
    assert_eq!((status, code.as_deref()), (StatusCode::REQUEST_TIMEOUT, Some("RequestTimeout")));
}
