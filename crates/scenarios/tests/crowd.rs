//! A thousand clients that want the same at the same moment, over sockets and so in wall time.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use model::keys;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use scenarios::{House, machine_path};
use serde_json::Value;
use store::Revision;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

const CLIENTS: usize = 1_000;

/// Both ends of a thousand connections are in this process. More memory than this for them would be a leak.
const MEMORY_MAX: usize = 256 * 1024 * 1024;

/// How long a busy machine may take to sweep judged requests away.
const SWEPT_WITHIN: Duration = Duration::from_secs(10);

/// Sends a restart once everybody is connected; returns the status and the body.
async fn restart(address: SocketAddr, token: Arc<str>, everybody: Arc<Barrier>) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).await.expect("every client is let in");
    everybody.wait().await;
    let line = format!("POST {}/restart?api-version=1 HTTP/1.1", machine_path("rack1compute01"));
    let request = format!("{line}\r\nhost: localhost\r\nauthorization: Bearer {token}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("the request is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("the answer is text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
    assert!(head.contains("\r\nx-ms-request-id: "), "{head}");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("an answer has a status");
    (status, serde_json::from_str(body).expect("an answer is JSON"))
}

/// The most memory that this process ever had, in bytes.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("the system tells about processes");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the peak is told");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("it is a number") * 1024
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_thousand_restarts_of_one_machine_one_is_accepted_and_the_others_are_told_why_not() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).expect("the limit can be raised");
    let mut house = House::build(1, 4).await;
    let address = house.listen().await;
    let before = peak_memory();
    let (everybody, token) = (Arc::new(Barrier::new(CLIENTS)), Arc::<str>::from(house.gate.token("alice")));
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        clients.spawn(restart(address, token.clone(), everybody.clone()));
    }
    let mut answers: BTreeMap<(u16, String), usize> = BTreeMap::new();
    while let Some(answer) = clients.join_next().await {
        let (status, body) = answer.expect("every client is answered");
        let code = body["error"]["code"].as_str().unwrap_or_default().to_owned();
        *answers.entry((status, code)).or_default() += 1;
    }
    assert_eq!(answers.values().sum::<usize>(), CLIENTS);
    assert_eq!(answers.remove(&(202, String::new())), Some(1), "{answers:?}");
    let clear = |(status, code): &(u16, String)| {
        let known = [(409, "OneActionPerMachine"), (429, "TooManyRequests"), (503, "RequestExpired"), (503, "KeeperUnavailable")];
        known.contains(&(*status, code.as_str()))
    };
    assert!(answers.keys().all(clear), "{answers:?}");
    assert!(peak_memory() - before < MEMORY_MAX, "{} bytes", peak_memory() - before);

    // Those that were judged last are swept away a moment after their answers.
    let mut changes = house.store.watch(keys::REQUESTS, Revision(0)).await.expect("the store can be watched");
    while !house.store.list(keys::REQUESTS).await.expect("the store can be read").documents.is_empty() {
        let change = tokio::time::timeout(SWEPT_WITHIN, changes.next()).await;
        change.expect("what was judged is swept away").expect("the store can be watched");
    }
    let operations = house.get("/rackwright/v1/operations").await;
    assert_eq!(operations["value"].as_array().map(Vec::len), Some(1), "{operations}");
    assert_eq!(operations["value"][0]["status"], "InProgress");
    house.close().await;
}
