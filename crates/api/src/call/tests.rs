//! A request's ids and its body.

use bytes::Bytes;
use http::StatusCode;

use super::*;
use crate::fixtures::{Documents, cluster, send_with};

/// A call with one header more than it needs.
fn call(name: &str, value: &[u8]) -> Call {
    let request = HttpRequest::get("/").header("host", "localhost").header(name, HeaderValue::from_bytes(value).unwrap());
    Call::begin(request.body(Body::empty()).unwrap()).0
}

fn refusal(name: &str, value: &[u8]) -> Option<String> {
    call(name, value).check_identity().err().map(|refused| refused.body()["error"]["message"].as_str().unwrap().to_owned())
}

#[test]
fn an_id_that_cannot_go_back_is_refused() {
    for name in [CORRELATION_HEADER, REQUEST_ID_HEADER] {
        assert_eq!(refusal(name, &[b'x'; IDENTITY_MAX]), None);
        assert_eq!(refusal(name, &[b'x'; IDENTITY_MAX + 1]).unwrap(), format!("the header `{name}` is longer than 128 characters"));
        assert_eq!(refusal(name, "ü".as_bytes()).unwrap(), format!("the header `{name}` has a character that is not printable ASCII"));
    }
}

/// A call of somebody.
async fn call_of(client: Option<u128>, issuer: Option<&str>, name: &str) -> Call {
    let api = Documents::default().cluster(&cluster("site")).serve().await;
    let call = call("accept", b"x");
    call.enter(Sight::new(
        api.gate.clone(),
        0,
        Caller {
            principal: access::PrincipalId::new(Uuid::from_u128(7)),
            client: client.map(|client| access::ClientId::new(Uuid::from_u128(client))),
            tenant: gate::TENANT,
            name: name.to_owned(),
            logged_in_at: api.clock.now(),
            credential: None,
            vouched_by: issuer.map(str::to_owned),
        },
    ));
    call
}

#[tokio::test]
async fn no_person_can_be_called_like_a_service_principal() {
    let id = Uuid::from_u128(7);
    assert_eq!(call_of(Some(8), None, "deploy").await.caller(), "deploy");
    let person = call_of(None, Some("https://login.example"), "deploy").await;
    assert_eq!((person.caller(), person.name()), (format!("deploy ({id})"), "deploy".to_owned()));
    assert_eq!(person.author().unwrap().name, person.caller(), "what they make says so too");
    let posing = call_of(None, Some("https://login.example"), &format!("deploy ({})", Uuid::nil())).await;
    assert!(posing.caller().ends_with(&format!("({id})")), "{}", posing.caller());
    let long = call_of(None, Some("https://login.example"), &"ü".repeat(IDENTITY_MAX)).await.caller();
    assert!(long.chars().count() <= IDENTITY_MAX && long.ends_with(&format!("({id})")), "{long}");
}

#[tokio::test]
async fn the_answer_names_the_header() {
    let api = Documents::default().cluster(&cluster("site")).serve().await;
    let long = "x".repeat(IDENTITY_MAX + 1);
    let (status, body) = send_with(&api, Method::GET, "/rackwright/v1/status", "", &[(CORRELATION_HEADER, &long)]).await;
    assert_eq!((status, &body["error"]["target"]), (StatusCode::BAD_REQUEST, &CORRELATION_HEADER.into()), "{body}");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_slow_at_a_stop_is_told_so() {
    let (call, stopping) = (call("accept", b"x"), CancellationToken::new());
    let begin = tokio::time::Instant::now();
    let never = || Body::from_stream(futures::stream::pending::<Result<Bytes, std::io::Error>>());
    stopping.cancel();
    let refused = call.read_body(never(), &stopping).await.unwrap_err();
    assert_eq!((refused.status(), refused.code()), (StatusCode::SERVICE_UNAVAILABLE, "ServerStopping"));
    assert_eq!(begin.elapsed(), BODY_TIMEOUT_AT_STOP.to_std());
    assert_eq!(**call.read_body(Body::from("{}"), &stopping).await.unwrap(), *b"{}", "what is there is taken");
}
