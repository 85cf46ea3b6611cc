//! The driver over TCP, where the client brings layers of its own.

use std::time::Duration;

use expect_test::expect;
use kubernetes::{CALL_TIMEOUT, Undercloud};
use model::{Delivery, Grace, PodRef};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::timeout;

/// Far less than the minutes for which the client's own retries would go on, far more than a loopback answer takes.
const AT_ONCE: Duration = Duration::from_secs(5);

fn kubeconfig(server: &str) -> String {
    format!(
        "apiVersion: v1
kind: Config
current-context: site
clusters: [{{name: site, cluster: {{server: '{server}'}}}}]
users: [{{name: keeper, user: {{token: s3cret}}}}]
contexts: [{{name: site, context: {{cluster: site, user: keeper}}}}]
"
    )
}

async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    (listener, server)
}

#[tokio::test]
async fn a_busy_server_is_asked_once_and_its_answer_told_at_once() {
    let (listener, server) = listen().await;
    let requests = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let body = r#"{"kind":"Status","status":"Failure","code":429,"message":"too many requests"}"#;
        let answer = format!("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let mut received = Vec::new();
        // Reads until the client has gone, so that a repeated request would show.
        while let Ok(read @ 1..) = stream.read_buf(&mut received).await {
            if received[received.len() - read..].ends_with(b"}") {
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
        String::from_utf8(received).unwrap()
    });
    let undercloud = Undercloud::from_kubeconfig(&kubeconfig(&server)).await.unwrap();
    let fault = timeout(AT_ONCE, undercloud.request_cordon("n1", "x")).await.expect("the client does not retry").unwrap_err();
    expect!["busy: PATCH node n1 answered 429: too many requests"].assert_eq(&fault.to_string());
    drop(undercloud);
    let received = timeout(AT_ONCE, requests).await.expect("the client has gone").unwrap();
    assert_eq!(received.matches("PATCH /api/v1/nodes/n1").count(), 1);
    assert!(received.contains("authorization: Bearer s3cret"), "the token of the kubeconfig is sent");
}

#[tokio::test]
async fn a_refused_connection_is_unreachable_and_nothing_was_delivered() {
    let (listener, server) = listen().await;
    drop(listener);
    let undercloud = Undercloud::from_kubeconfig(&kubeconfig(&server)).await.unwrap();
    let fault = timeout(AT_ONCE, undercloud.request_cordon("n1", "x")).await.expect("a refusal is quick").unwrap_err();
    expect!["unreachable: PATCH node n1: connection refused"].assert_eq(&fault.to_string());
    assert_eq!(fault.delivery, Delivery::No);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_accepts_and_never_answers_is_given_up_on() {
    let (_listener, server) = listen().await;
    let undercloud = Undercloud::from_kubeconfig(&kubeconfig(&server)).await.unwrap();
    let fault = undercloud.observe_contact().await.unwrap_err();
    assert_eq!(fault.class, model::FaultClass::Unreachable);
    let pod = PodRef { namespace: "team".to_owned(), name: "db-0".to_owned(), uid: "u-1".to_owned() };
    let began = tokio::time::Instant::now();
    let fault = undercloud.request_eviction(&pod, Grace::Own).await.unwrap_err();
    assert_eq!((fault.class, fault.delivery), (model::FaultClass::Unreachable, Delivery::Maybe));
    assert_eq!(began.elapsed(), CALL_TIMEOUT.to_std());
}
