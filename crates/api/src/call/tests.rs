//! Who sent a request, as far as headers tell.

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
fn a_caller_is_taken_by_their_own_name() {
    for name in ["alice", "Jürgen Müller", "田中さん", &"ü".repeat(IDENTITY_MAX)] {
        let call = call(CALLER_HEADER, name.as_bytes());
        assert!(call.check_identity().is_ok(), "{name}");
        assert_eq!(call.caller(), name);
    }
    assert_eq!(call(CALLER_HEADER, "al\u{202e}i\tce".as_bytes()).caller(), "ali ce", "what cannot be seen is left out");
    assert_eq!(call(CALLER_HEADER, b" ").caller(), "anonymous");
    assert_eq!(call("accept", b"x").caller(), "anonymous");
}

#[test]
fn who_cannot_be_named_is_refused_and_is_nobody_else() {
    let long = "x".repeat(IDENTITY_MAX + 1);
    assert_eq!(refusal(CALLER_HEADER, long.as_bytes()).unwrap(), "the header `x-ms-client-principal-name` is longer than 128 characters");
    assert_eq!(refusal(CALLER_HEADER, b"\xff").unwrap(), "the header `x-ms-client-principal-name` is not UTF-8");
    assert_eq!(call(CALLER_HEADER, long.as_bytes()).caller(), format!("{}…", "x".repeat(IDENTITY_MAX - 1)));
}

#[test]
fn an_id_that_cannot_go_back_is_refused() {
    for name in [CORRELATION_HEADER, REQUEST_ID_HEADER] {
        assert_eq!(refusal(name, &[b'x'; IDENTITY_MAX]), None);
        assert_eq!(refusal(name, &[b'x'; IDENTITY_MAX + 1]).unwrap(), format!("the header `{name}` is longer than 128 characters"));
        assert_eq!(refusal(name, "ü".as_bytes()).unwrap(), format!("the header `{name}` has a character that is not printable ASCII"));
    }
}

#[tokio::test]
async fn the_answer_names_the_header() {
    let api = Documents::default().cluster(&cluster("site")).serve().await;
    let long = "x".repeat(IDENTITY_MAX + 1);
    let (status, body) = send_with(&api, Method::GET, "/rackwright/v1/status", "", &[(CALLER_HEADER, &long)]).await;
    assert_eq!((status, &body["error"]["target"]), (StatusCode::BAD_REQUEST, &CALLER_HEADER.into()), "{body}");
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
    assert_eq!(call.read_body(Body::from("{}"), &stopping).await.unwrap(), "{}", "what is there is taken");
}
