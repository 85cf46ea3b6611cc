//! The driver over TCP.

use expect_test::expect;
use fake::bmc;
use model::{Delivery, FaultClass, Power};
use redfish::{ANSWER_TIMEOUT, Transport};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
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
