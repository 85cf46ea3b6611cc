//! Traces: sent to a collector that is named, and to nobody else; a dead collector costs nothing.

use std::sync::{Arc, Mutex};
use std::thread;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use http::{HeaderMap, Uri};

use crate::server::{MACHINES, Server, run, until};

#[derive(Default)]
pub struct Received {
    paths: Vec<String>,
    types: Vec<String>,
    pub bytes: Vec<u8>,
}

pub type Collector = Arc<Mutex<Received>>;

/// A collector that listens for as long as the process runs, and its address.
pub fn collector() -> (Collector, String) {
    let collector = Collector::default();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let endpoint = format!("http://{}", listener.local_addr().expect("it listens"));
    listener.set_nonblocking(true).expect("a socket need not block");
    let router = Router::new().fallback(receive).with_state(collector.clone());
    let serve = async move { axum::serve(tokio::net::TcpListener::from_std(listener).expect("it listens"), router).await };
    thread::spawn(|| tokio::runtime::Runtime::new().expect("threads can be had").block_on(serve));
    (collector, endpoint)
}

async fn receive(State(collector): State<Collector>, uri: Uri, headers: HeaderMap, body: Bytes) {
    let mut received = collector.lock().expect("nobody panicked");
    received.paths.push(uri.path().to_owned());
    received.types.push(headers["content-type"].to_str().expect("a type is text").to_owned());
    received.bytes.extend_from_slice(&body);
}

#[test]
fn a_request_its_verdict_and_what_follows_are_traced() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let (collector, endpoint) = collector();
    let server = Server::up(home, &["--otlp-endpoint", &endpoint]);
    server.until_ready();
    let path = format!("{MACHINES}/rack1compute01/restart?api-version=1");
    let head = server
        .door()
        .head("POST", &path, 0)
        .expect("there is a token")
        .replace("Host:", "x-ms-correlation-request-id: traced-by-the-test\r\nHost:");
    let mut stream = server.door().connect().expect("the server listens");
    std::io::Write::write_all(&mut stream, head.as_bytes()).expect("the request is sent");
    assert_eq!(crate::door::read_answer(stream).expect("it answers").0, 202);
    assert!(run(home, &["operation", "list"]).status.success());
    until("the restart to end", || server.json("/rackwright/v1/operations")["value"][0]["endedAt"].is_string().then_some(()));
    assert_eq!(server.stop(), Some(0));

    let received = collector.lock().expect("nobody panicked");
    assert!(received.paths.iter().all(|path| path == "/v1/traces"), "{:?}", received.paths);
    assert!(received.types.iter().all(|kind| kind == "application/x-protobuf"), "{:?}", received.types);
    let holds = |text: &str| received.bytes.windows(text.len()).filter(|bytes| *bytes == text.as_bytes()).count();
    for span in ["request", "verdict", "round", "plan", "commit", "device call", "graceful-off", "rackwright"] {
        assert!(holds(span) > 0, "no `{span}` was sent");
    }
    assert!(holds("traced-by-the-test") >= 4, "the request, its verdict and the device calls carry the correlation id");
}

#[test]
fn a_dead_collector_slows_nothing_and_is_told_once() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port is free").port();
    let server = Server::up(home, &["--otlp-endpoint", &format!("http://127.0.0.1:{port}")]);
    server.until_ready();
    assert!(run(home, &["bmm", "restart", "rack1compute01"]).status.success());
    let complaint = "traces cannot be sent and are lost";
    until("the complaint", || server.err().contains(complaint).then_some(()));
    assert!(run(home, &["bmm", "restart", "rack1compute01"]).status.success());
    assert_eq!(server.err().matches(complaint).count(), 1);
    assert_eq!(server.stop(), Some(0), "everything is put away, but for the traces");
}

#[test]
fn a_collector_that_is_no_address_is_wrong_usage() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let refused = run(directory.path(), &["up", "--listen", "127.0.0.1:0", "--otlp-endpoint", "collector:4317"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}
