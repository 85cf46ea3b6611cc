//! The API on its socket, met by clients that are wrong, slow, too many, or no clients at all.

mod crowd;
mod garbage;
mod requests;
mod slow;
mod tls;

use std::net::SocketAddr;

use axum::Router;
use axum::extract::Request;
use gate::OpenHouse;
use http::{HeaderValue, header};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::converse;
use crate::Api;
use crate::call::Peer;
use crate::fixtures::{Documents, cluster, machine};

const HERE: Peer = Peer(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));
const MACHINES: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines";

/// One machine, and a cache that follows.
async fn site(stop: &CancellationToken) -> Api {
    let api = Documents::default().cluster(&cluster("site")).machine(&machine("site", "rack1", "m1")).serve().await;
    tokio::spawn(api.cache.clone().follow(api.store.clone(), stop.clone()));
    api
}

/// Everybody comes with a token: what is tested here comes before, or has nothing to do with it.
fn let_in(api: &Api) -> Router {
    let token = format!("Bearer {}", OpenHouse::around(api.gate.clone()).token("anonymous"));
    let token = HeaderValue::from_str(&token).expect("a token is plain ASCII");
    let show = move |mut request: Request| {
        request.headers_mut().insert(header::AUTHORIZATION, token.clone());
        std::future::ready(request)
    };
    crate::router(api.clone()).layer(axum::middleware::map_request(show))
}

/// The API on a real socket.
struct Served {
    api: Api,
    address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

async fn served(max_connections: usize) -> Served {
    let stop = CancellationToken::new();
    let api = site(&stop).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(super::serve(listener, let_in(&api), max_connections, stop.clone()));
    Served { api, address, stop, serving }
}

/// One connection in memory, for paused time.
async fn connected(buffer: usize) -> (DuplexStream, JoinHandle<()>) {
    let api = site(&CancellationToken::new()).await;
    let (client, server) = tokio::io::duplex(buffer);
    (client, tokio::spawn(converse(server, HERE, let_in(&api), CancellationToken::new())))
}

/// What came back.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .find_map(|line| line.split_once(": ").filter(|(found, _)| found.eq_ignore_ascii_case(name)))
            .map(|(_, value)| value)
    }
}

/// Takes apart what a server said to its end; every answer has its length.
fn answers(mut bytes: &[u8]) -> Vec<Answer> {
    let mut answers = Vec::new();
    while let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
        let head = std::str::from_utf8(&bytes[..end]).expect("a head is text").to_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("no status: {head}"));
        let mut answer = Answer { status, head, body: Vec::new() };
        let length = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
        bytes = &bytes[end + 4..];
        let (body, rest) = bytes.split_at(length.min(bytes.len()));
        answer.body = body.to_vec();
        bytes = rest;
        answers.push(answer);
    }
    assert!(bytes.is_empty(), "something follows the last answer: {:?}", String::from_utf8_lossy(bytes));
    answers
}

/// Sends bytes and reads until the server hangs up.
async fn exchange(address: SocketAddr, bytes: &[u8]) -> Vec<Answer> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let (mut reading, mut writing) = stream.split();
    let mut said = Vec::new();
    // A server that has heard enough may hang up before everything is sent.
    let (_, read) = tokio::join!(writing.write_all(bytes), reading.read_to_end(&mut said));
    read.unwrap();
    answers(&said)
}
