//! Members of etcd that say what they are told to say, and remember what they were asked.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use etcd::{EtcdCluster, Transport};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};

/// What a member does with a request.
#[derive(Clone, Debug)]
pub enum Says {
    Answer(u16, String),
    /// Nobody listens.
    Refused,
    /// The connection breaks after the request was read.
    Lost,
    Nothing,
}

/// By `host path`, what is said; what was asked, in order.
#[derive(Clone, Debug, Default)]
pub struct Fake {
    says: Arc<Mutex<BTreeMap<String, Says>>>,
    heard: Arc<Mutex<Vec<String>>>,
}

pub const LIST: &str = "/v3/cluster/member/list";
pub const ADD: &str = "/v3/cluster/member/add";
pub const REMOVE: &str = "/v3/cluster/member/remove";
pub const PROMOTE: &str = "/v3/cluster/member/promote";
pub const STATUS: &str = "/v3/maintenance/status";

/// As etcd 3.5.1 answers, but for the line breaks.
pub const MEMBERS: &str = r#"{"header":{"cluster_id":"12710523097779060526","member_id":"2112099209303110098","raft_term":"2"},"members":[
{"ID":"699910767417160330","name":"b","peerURLs":["http://127.0.0.1:23073"],"clientURLs":["http://127.0.0.1:23072"]},
{"ID":"2112099209303110098","name":"a","peerURLs":["http://127.0.0.1:23071"],"clientURLs":["http://127.0.0.1:23070"]},
{"ID":"13816227832226578937","peerURLs":["http://127.0.0.1:23075"],"isLearner":true}]}"#;

/// The status of a member of that version, with the leader's id and how far it is.
pub fn status(version: &str, id: u64, leader: u64, raft_index: u64) -> Says {
    Says::Answer(
        200,
        format!(
            r#"{{"header":{{"cluster_id":"12710523097779060526","member_id":"{id}","revision":"1","raft_term":"2"}},"version":"{version}","dbSize":"20480","leader":"{leader}","raftIndex":"{raft_index}","raftTerm":"2","raftAppliedIndex":"{raft_index}","dbSizeInUse":"16384"}}"#
        ),
    )
}

/// A refusal as the gateway of 3.5 writes it.
pub fn refusal(status: u16, code: u32, words: &str) -> Says {
    Says::Answer(status, format!(r#"{{"error":"{words}","code":{code},"message":"{words}"}}"#))
}

impl Fake {
    pub fn say(&self, host: &str, path: &str, says: Says) -> &Fake {
        self.says.lock().unwrap().insert(format!("{host} {path}"), says);
        self
    }

    /// A member of 3.5 that takes requests.
    pub fn live(&self, host: &str) -> &Fake {
        self.say(host, STATUS, status("3.5.1", 1, 1, 10)).say(host, LIST, Says::Answer(200, MEMBERS.to_owned()))
    }

    /// What was asked since the last call, in order.
    pub fn heard(&self) -> Vec<String> {
        std::mem::take(&mut self.heard.lock().unwrap())
    }

    /// A cluster with an endpoint for each host.
    pub fn cluster(&self, hosts: &[&str]) -> EtcdCluster {
        let fake = self.clone();
        let service = tower::service_fn(move |request| {
            let fake = fake.clone();
            async move { fake.answer(request).await }
        });
        let endpoints = hosts.iter().map(|host| format!("https://{host}:2379").parse().unwrap());
        EtcdCluster::new(Transport::in_process(service), endpoints)
    }

    async fn answer(&self, request: Request<Full<Bytes>>) -> Result<Response<Full<Bytes>>, io::Error> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let key = format!("{} {}", head.uri.host().unwrap(), head.uri.path());
        self.heard.lock().unwrap().push(format!("{key} {}", String::from_utf8_lossy(&body)));
        let says = self.says.lock().unwrap().get(&key).cloned().unwrap_or(Says::Refused);
        match says {
            Says::Answer(status, body) => Ok(Response::builder().status(status).body(Full::new(body.into())).unwrap()),
            Says::Refused => Err(io::ErrorKind::ConnectionRefused.into()),
            Says::Lost => Err(io::ErrorKind::ConnectionReset.into()),
            Says::Nothing => {
                tokio::time::sleep(Duration::from_secs(3_600)).await;
                Err(io::ErrorKind::TimedOut.into())
            }
        }
    }
}
