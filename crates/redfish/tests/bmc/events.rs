//! Events over a stream that goes on, breaks, falls silent, or floods.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use expect_test::expect;
use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::Frame;
use model::Timestamp;
use redfish::{BmcEvent, EventStream, KEEP_ALIVE_TIMEOUT, MAX_EVENT_BYTES, Transport};
use serde_json::json;
use tokio::time::Instant;

use crate::fake::bmc;

/// What happens on the stream, in order.
#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Pause(Duration),
    Break,
    Silence,
}

type Body = UnsyncBoxBody<Bytes, std::io::Error>;

fn whole(text: &str) -> Body {
    Full::from(text.to_owned()).map_err(|never: Infallible| match never {}).boxed_unsync()
}

fn streamed(pieces: Vec<Piece>) -> Body {
    let steps = stream::unfold(VecDeque::from(pieces), |mut pieces| async move {
        loop {
            match pieces.pop_front()? {
                Piece::Text(text) => return Some((Ok(Frame::data(Bytes::from(text))), pieces)),
                Piece::Pause(span) => tokio::time::sleep(span).await,
                Piece::Break => return Some((Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset)), pieces)),
                Piece::Silence => std::future::pending().await,
            }
        }
    });
    StreamBody::new(steps).boxed_unsync()
}

/// A BMC with this event service, whose stream has these pieces; gives what was asked.
fn listening(service: &str, pieces: Vec<Piece>) -> (Transport, Arc<Mutex<Vec<String>>>) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let (service, heard) = (service.to_owned(), log.clone());
    let answer = move |request: Request<Full<Bytes>>| {
        let accept = request.headers()["accept"].to_str().unwrap_or_default().to_owned();
        let token = request.headers().get("x-auth-token").map(|token| token.to_str().unwrap_or_default().to_owned());
        heard.lock().unwrap().push(format!("{} {accept} {}", request.uri().path(), token.unwrap_or_default()));
        let response = match request.uri().path() {
            "/redfish/v1/" => Response::new(whole(r#"{"EventService": {"@odata.id": "/e"}}"#)),
            "/e" => Response::new(whole(&service)),
            "/e/sse" => Response::new(streamed(pieces.clone())),
            _ => Response::builder().status(201).header("x-auth-token", "t1").body(whole("{}")).unwrap(),
        };
        async move { Ok::<_, std::io::Error>(response) }
    };
    (Transport::in_process(tower::service_fn(answer)), log)
}

async fn watch(pieces: Vec<Piece>) -> EventStream {
    let (transport, _) = listening(r#"{"ServerSentEventUri": "/e/sse"}"#, pieces);
    bmc(transport, "http://10.0.0.1").watch_events().await.unwrap().unwrap()
}

fn event(text: &str) -> Piece {
    Piece::Text(format!("data: {text}\n\n"))
}

fn named(id: &str) -> BmcEvent {
    BmcEvent { message_id: Some(id.to_owned()), ..BmcEvent::default() }
}

#[tokio::test]
async fn events_arrive_one_by_one_and_what_is_no_event_is_left_out() {
    let first = json!({"Events": [
        {"MessageId": "ResourceEvent.1.3.PowerStateChanged", "Message": "Off.", "Severity": "OK",
         "OriginOfCondition": {"@odata.id": "/redfish/v1/Systems/1"}, "EventTimestamp": "2026-01-02T03:04:05Z"},
        "broken", {"MessageId": "second"},
    ]});
    let first = first.to_string();
    let (one, other) = first.split_at(20);
    let pieces = vec![
        Piece::Text(format!("id: 1\ndata: {one}")),
        Piece::Text(format!("{other}\n\n")),
        event("not json"),
        event("{}"),
        event(r#"{"Events": [{"MessageId": "third"}]}"#),
    ];
    let events: Vec<_> = watch(pieces).await.map(Result::unwrap).collect().await;
    let power = BmcEvent {
        message_id: Some("ResourceEvent.1.3.PowerStateChanged".into()),
        message: Some("Off.".into()),
        severity: Some("OK".into()),
        origin: Some("/redfish/v1/Systems/1".into()),
        at: Timestamp::parse("2026-01-02T03:04:05Z"),
    };
    assert_eq!(events, [power, named("second"), named("third")]);
}

#[tokio::test]
async fn the_stream_is_asked_for_with_our_session() {
    let (transport, log) = listening(r#"{"ServerSentEventUri": "/e/sse"}"#, vec![]);
    let mut events = bmc(transport, "http://10.0.0.1").watch_events().await.unwrap().unwrap();
    assert!(events.next().await.is_none(), "the BMC ended it");
    assert_eq!(log.lock().unwrap().last().unwrap(), "/e/sse text/event-stream t1");
}

#[tokio::test]
async fn a_bmc_without_a_stream_offers_none() {
    for service in ["{}", r#"{"ServerSentEventUri": ""}"#, r#"{"ServiceEnabled": false, "ServerSentEventUri": "/e/sse"}"#] {
        let (transport, _) = listening(service, vec![]);
        assert!(bmc(transport, "http://10.0.0.1").watch_events().await.unwrap().is_none(), "{service}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_showed_life_and_falls_silent_is_unreachable() {
    let pieces = vec![
        Piece::Text(": alive\n".into()),
        Piece::Pause(Duration::from_secs(60)),
        event(r#"{"Events": [{"MessageId": "x"}]}"#),
        Piece::Silence,
    ];
    let mut events = watch(pieces).await;
    assert_eq!(events.next().await, Some(Ok(named("x"))));
    let began = Instant::now();
    let fault = events.next().await.unwrap().unwrap_err();
    assert_eq!(began.elapsed(), KEEP_ALIVE_TIMEOUT.to_std());
    expect!["unreachable: GET /e/sse: the event stream fell silent"].assert_eq(&fault.to_string());
    assert!(events.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_never_showed_life_may_be_silent_for_days() {
    let pieces = vec![Piece::Pause(Duration::from_secs(3 * 86_400)), event(r#"{"Events": [{"MessageId": "late"}]}"#)];
    assert_eq!(watch(pieces).await.next().await, Some(Ok(named("late"))));
}

#[tokio::test]
async fn a_stream_that_breaks_or_floods_ends_with_a_fault() {
    let mut events = watch(vec![Piece::Break, event(r#"{"Events": [{"MessageId": "x"}]}"#)]).await;
    expect!["unreachable: GET /e/sse: the event stream broke"].assert_eq(&events.next().await.unwrap().unwrap_err().to_string());
    assert!(events.next().await.is_none());
    let mut events = watch(vec![Piece::Text("data: ".to_owned() + &"x".repeat(MAX_EVENT_BYTES))]).await;
    expect!["garbled: GET /e/sse: an event is longer than 262144 bytes"].assert_eq(&events.next().await.unwrap().unwrap_err().to_string());
}
