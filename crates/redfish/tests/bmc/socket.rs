//! The driver over TCP.

use std::sync::Arc;

use expect_test::expect;
use fake::bmc;
use futures::StreamExt;
use model::{Delivery, FaultClass, Power};
use redfish::{ANSWER_TIMEOUT, Transport};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::fake;

/// Answers each request on one connection from what its first line holds; gives how many there were.
pub async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> usize {
    let mut requests = 0;
    let mut buffer = vec![0; 4096];
    while let Ok(read) = stream.read(&mut buffer).await {
        let request = String::from_utf8_lossy(&buffer[..read]).into_owned();
        let Some(line) = request.lines().next() else { break };
        requests += 1;
        let (head, body) = match line {
            "GET /redfish/v1/ HTTP/1.1" => ("200 OK\r\n", "{}"),
            "GET /redfish/v1/Systems HTTP/1.1" => ("200 OK\r\n", r#"{"Members": [{"@odata.id": "/redfish/v1/Systems/1"}]}"#),
            "GET /redfish/v1/Systems/1 HTTP/1.1" => ("200 OK\r\n", r#"{"PowerState": "PoweringOff"}"#),
            _ => ("201 Created\r\nX-Auth-Token: t\r\n", "{}"),
        };
        let answer = format!("HTTP/1.1 {head}Content-Length: {}\r\n\r\n{body}", body.len());
        if stream.write_all(answer.as_bytes()).await.is_err() {
            break;
        }
    }
    requests
}

#[tokio::test]
async fn looks_in_a_row_share_one_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        // A second connection would not be accepted, and the call would fail.
        serve(stream).await;
    });
    let bmc = bmc(Transport::tcp(), &base);
    for _ in 0..3 {
        assert_eq!(bmc.observe_power().await, Ok(Power::PoweringOff));
    }
    server.abort();
}

#[tokio::test]
async fn a_glance_has_a_connection_of_its_own_and_hangs_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (first, _) = listener.accept().await.unwrap();
        let first = tokio::spawn(serve(first));
        let (second, _) = listener.accept().await.unwrap();
        let requests = serve(second).await;
        first.abort();
        requests
    });
    let bmc = bmc(Transport::tcp(), &base);
    bmc.observe_power().await.unwrap();
    assert_eq!(bmc.glance_at_power().await, Ok(Power::PoweringOff));
    // It ends when the second connection does; the driver lives on, and with it the first.
    let requests = tokio::time::timeout(ANSWER_TIMEOUT.to_std(), server).await.expect("it hangs up");
    assert_eq!(requests.unwrap(), 1);
    drop(bmc);
}

#[tokio::test]
async fn a_refused_connection_is_unreachable_and_nothing_was_delivered() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let fault = bmc(Transport::tcp(), &base).observe_power().await.unwrap_err();
    expect!["unreachable: GET /redfish/v1/: no connection (connection refused)"].assert_eq(&fault.to_string());
    assert_eq!(fault.delivery, Delivery::No);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_accepts_and_never_answers_is_given_up_on() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let began = Instant::now();
    let fault = bmc(Transport::tcp(), &base).observe_power().await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Unreachable);
    assert!(began.elapsed() <= ANSWER_TIMEOUT.to_std());
}

#[tokio::test]
async fn an_address_without_a_host_is_unreachable() {
    let fault = bmc(Transport::tcp(), "/redfish").observe_power().await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Unreachable);
}

#[tokio::test]
async fn events_arrive_while_the_stream_goes_on_and_letting_go_hangs_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let let_go = Arc::new(Notify::new());
    let noticed = let_go.clone();
    let server = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let noticed = noticed.clone();
            tokio::spawn(async move {
                if answer_with_events(&mut stream).await == Ending::AfterEvents {
                    noticed.notify_one();
                }
            });
        }
    });
    let mut events = bmc(Transport::tcp(), &base).watch_events().await.unwrap().unwrap();
    let event = events.next().await.unwrap().unwrap();
    assert_eq!(event.message_id.as_deref(), Some("ResourceEvent.1.3.PowerStateChanged"));
    drop(events);
    // The connection with the stream ends, which nothing but letting go of it brings about.
    let_go.notified().await;
    server.abort();
}

#[derive(PartialEq, Eq)]
enum Ending {
    BeforeEvents,
    AfterEvents,
}

/// Answers until the peer hangs up; gives whether it had asked for events.
async fn answer_with_events(stream: &mut TcpStream) -> Ending {
    let event = r#"data: {"Events": [{"MessageId": "ResourceEvent.1.3.PowerStateChanged"}]}"#;
    let mut ending = Ending::BeforeEvents;
    let mut buffer = vec![0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        let request = String::from_utf8_lossy(&buffer[..read]).into_owned();
        let body = match request.lines().next().unwrap_or_default() {
            "GET /redfish/v1/ HTTP/1.1" => r#"{"EventService": {"@odata.id": "/redfish/v1/EventService"}}"#,
            "GET /redfish/v1/EventService HTTP/1.1" => r#"{"ServerSentEventUri": "/redfish/v1/EventService/SSE"}"#,
            "GET /redfish/v1/EventService/SSE HTTP/1.1" => {
                ending = Ending::AfterEvents;
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
                let answer = format!("{head}{:x}\r\n{event}\n\n\r\n", event.len() + 2);
                stream.write_all(answer.as_bytes()).await.unwrap();
                continue;
            }
            _ => "{}",
        };
        let answer = format!("HTTP/1.1 200 OK\r\nX-Auth-Token: t\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
    ending
}
