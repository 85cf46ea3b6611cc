//! The undercloud's etcd as whoever changes its members sees it.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use sim::{Pace, Site};
use store::{MemoryStore, SharedStore, SystemClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::harness::{Harness, Reply, pass, send, spec};

const KCP: [&str; 3] = ["rack1control01", "rack2control01", "rack3control01"];

impl Harness {
    /// A request to the member on a machine.
    async fn etcd(&self, machine: &str, path: &str, body: &Value) -> Reply {
        let url = format!("https://{}:2379/v3/{path}", self.machine(machine).host_address);
        send(self.site.etcd(), "POST", &url, &[], &body.to_string()).await
    }

    /// The names of the members, those of learners in brackets.
    async fn members(&self, machine: &str) -> Vec<String> {
        let reply = self.etcd(machine, "cluster/member/list", &json!({ "linearizable": true })).await;
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
        let name = |member: &Value| {
            let name = member["name"].as_str().unwrap_or("?");
            if member["isLearner"] == true { format!("({name})") } else { name.to_owned() }
        };
        reply.body["members"].as_array().unwrap().iter().map(name).collect()
    }

    async fn id_of(&self, asked: &str, machine: &str) -> String {
        let url = format!("https://{}:2380", self.machine(machine).host_address);
        let reply = self.etcd(asked, "cluster/member/list", &json!({})).await;
        let members = reply.body["members"].as_array().unwrap();
        members.iter().find(|member| member["peerURLs"][0] == url.as_str()).unwrap()["ID"].as_str().unwrap().to_owned()
    }

    async fn etcd_failure(&self, machine: &str) -> ErrorKind {
        let url = format!("https://{}:2379/version", self.machine(machine).host_address);
        self.site.etcd().oneshot(Request::get(url).body(Body::empty()).unwrap()).await.unwrap_err().kind()
    }
}

#[tokio::test(start_paused = true)]
async fn a_removed_member_is_gone_and_comes_back_as_a_learner_that_is_refused_until_it_has_caught_up() {
    let harness = Harness::start().await;
    assert_eq!(harness.members(KCP[1]).await, KCP);
    let id = harness.id_of(KCP[1], KCP[0]).await;
    let removed = harness.etcd(KCP[1], "cluster/member/remove", &json!({ "ID": id })).await;
    assert_eq!((removed.status, removed.body["members"].as_array().unwrap().len()), (StatusCode::OK, 2));
    let again = harness.etcd(KCP[1], "cluster/member/remove", &json!({ "ID": id })).await;
    assert_eq!(again.status, StatusCode::NOT_FOUND);
    assert_eq!(again.body, json!({"error": "etcdserver: member not found", "code": 5, "message": "etcdserver: member not found"}));
    assert_eq!(harness.etcd_failure(KCP[0]).await, ErrorKind::ConnectionRefused, "its process has ended");
    assert_eq!(harness.get("/api/v1/nodes").await.status, StatusCode::OK, "the others carry on");

    let url = format!("https://{}:2380", harness.machine(KCP[0]).host_address);
    let added = harness.etcd(KCP[1], "cluster/member/add", &json!({ "peerURLs": [url], "isLearner": true })).await;
    assert_eq!((added.status, &added.body["member"]["isLearner"]), (StatusCode::OK, &json!(true)));
    let learner = added.body["member"]["ID"].clone();
    assert_ne!(learner, json!(id));
    let early = harness.etcd(KCP[1], "cluster/member/promote", &json!({ "ID": learner })).await;
    let words = "etcdserver: can only promote a learner member which is in sync with leader";
    assert_eq!((early.status, &early.body["message"], &early.body["code"]), (StatusCode::BAD_REQUEST, &json!(words), &json!(9)));
    let taken = harness.etcd(KCP[1], "cluster/member/add", &json!({ "peerURLs": [url], "isLearner": true })).await;
    assert_eq!(taken.body["message"], "etcdserver: Peer URLs already exists");
    assert_eq!(harness.members(KCP[2]).await, [KCP[1], KCP[2], "(?)"]);
}

#[tokio::test(start_paused = true)]
async fn a_list_without_quorum_fails_as_etcd_fails() {
    let harness = Harness::start().await;
    for machine in &KCP[..2] {
        harness.reset(machine, "ForceOff").await;
    }
    pass(30).await;
    let began = tokio::time::Instant::now();
    let reply = harness.etcd(KCP[2], "cluster/member/list", &json!({ "linearizable": true })).await;
    assert_eq!((reply.status, &reply.body["message"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("etcdserver: request timed out")));
    assert_eq!(began.elapsed(), Duration::from_secs(7));
    let old = harness.etcd(KCP[2], "cluster/member/list", &json!({})).await;
    assert_eq!(old.body["members"].as_array().unwrap().len(), 3, "what it knew before, it tells whoever does not insist");
    let status = harness.etcd(KCP[2], "maintenance/status", &json!({})).await;
    assert_eq!((&status.body["errors"][0], &status.body["leader"]), (&json!("etcdserver: no leader"), &Value::Null));
    let id = harness.id_of(KCP[2], KCP[0]).await;
    let remove = json!({ "ID": id });
    let removal = harness.etcd(KCP[2], "cluster/member/remove", &remove);
    assert!(tokio::time::timeout(Duration::from_secs(60), removal).await.is_err(), "a change is neither made nor refused");
}

#[tokio::test(start_paused = true)]
async fn an_etcd_that_cannot_be_reached_refuses_connections_and_the_api_still_answers() {
    let harness = Harness::start().await;
    harness.fault("etcd-unreachable api for 10m").await;
    assert_eq!(harness.etcd_failure(KCP[0]).await, ErrorKind::ConnectionRefused);
    assert_eq!(harness.get("/api/v1/nodes").await.status, StatusCode::OK);
    pass(600).await;
    assert_eq!(harness.members(KCP[0]).await, KCP);
}

#[tokio::test(start_paused = true)]
async fn a_change_of_members_is_durable_before_it_is_answered() {
    let harness = Harness::start().await;
    let id = harness.id_of(KCP[1], KCP[0]).await;
    harness.etcd(KCP[1], "cluster/member/remove", &json!({ "ID": id })).await;
    let harness = harness.crash_and_reopen(Duration::from_secs(60)).await;
    assert_eq!(harness.members(KCP[1]).await, &KCP[1..]);
}

#[tokio::test(start_paused = true)]
async fn nonsense_is_refused_and_changes_nothing() {
    let harness = Harness::start().await;
    for (path, body, status) in [
        ("cluster/member/remove", json!({ "ID": "xyz" }), 400),
        ("cluster/member/remove", json!({}), 400),
        ("cluster/member/promote", json!({ "ID": "12345" }), 404),
        ("cluster/member/add", json!({ "peerURLs": ["nonsense"], "isLearner": true }), 400),
        ("cluster/member/add", json!({}), 400),
        ("cluster/nonsense", json!({}), 404),
    ] {
        assert_eq!(harness.etcd(KCP[0], path, &body).await.status.as_u16(), status, "{path} {body}");
    }
    assert_eq!(harness.members(KCP[0]).await, KCP);
}

async fn ask(address: std::net::SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"GET /version HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[tokio::test]
async fn over_sockets_somebody_listens_exactly_where_a_member_runs() {
    let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
    let site = Site::open(spec().with_pace(Pace::instant()), store, Arc::new(SystemClock)).await.unwrap();
    let endpoints = site.listen(IpAddr::V4(Ipv4Addr::LOCALHOST)).await.unwrap();
    let shutdown = CancellationToken::new();
    let (running, until) = (site.clone(), shutdown.clone());
    let task = tokio::spawn(async move { running.run(until).await.unwrap() });
    assert_eq!(endpoints.etcd.keys().collect::<Vec<_>>(), [KCP[0], KCP[1], KCP[2], "rack4control01"]);
    for machine in KCP {
        assert!(ask(endpoints.etcd[machine]).await.unwrap().contains("\"etcdserver\""));
    }
    let spare = endpoints.etcd["rack4control01"];
    let refused = async {
        while ask(spare).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), refused).await.expect("the spare has no member");
    shutdown.cancel();
    task.await.unwrap();
}
