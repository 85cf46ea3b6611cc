//! The event stream as a listener hears it.

mod hearing;
mod leaving;
mod resuming;

use axum::body::BodyDataStream;
use axum::extract::State;
use futures::StreamExt;
use http::{HeaderMap, Request, StatusCode};
use model::{ClusterName, MachineName, keys};
use serde_json::Value;
use store::{Commit, Revision};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::Api;
use crate::fixtures::{Documents, cluster, machine};

const EVENTS: &str = "/rackwright/v1/events";

/// A site whose cache follows its store.
async fn site() -> (Api, CancellationToken, JoinHandle<()>) {
    let api = Documents::default().cluster(&cluster("site")).serve().await;
    let (stop, follower) = follow(&api);
    (api, stop, follower)
}

fn follow(api: &Api) -> (CancellationToken, JoinHandle<()>) {
    let stop = CancellationToken::new();
    let follower = tokio::spawn(api.cache.clone().follow(api.store.clone(), stop.clone()));
    (stop, follower)
}

fn machine_key(name: &str) -> String {
    keys::machine(&ClusterName::new("site").unwrap(), &MachineName::new(name).unwrap())
}

fn put(commit: Commit, name: &str) -> Commit {
    commit.put(machine_key(name), serde_json::to_vec(&machine("site", "rack1", name)).unwrap())
}

async fn put_machine(api: &Api, name: &str) -> Revision {
    api.store.commit(put(Commit::default(), name)).await.unwrap()
}

async fn call(api: &Api, method: &str, path: &str, last_seen: Option<u64>) -> (StatusCode, HeaderMap, BodyDataStream) {
    let token = gate::OpenHouse::around(api.gate.clone()).token("anonymous");
    call_as(api, &token, method, path, last_seen).await
}

async fn call_as(api: &Api, token: &str, method: &str, path: &str, last_seen: Option<u64>) -> (StatusCode, HeaderMap, BodyDataStream) {
    let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
    request = request.header("authorization", format!("Bearer {token}"));
    if let Some(id) = last_seen {
        request = request.header("last-event-id", id);
    }
    let response = crate::answer(State(api.clone()), request.body(axum::body::Body::empty()).unwrap()).await;
    let (parts, body) = response.into_parts();
    (parts.status, parts.headers, body.into_data_stream())
}

/// An event as a listener hears it.
#[derive(Clone, Debug, PartialEq)]
struct Heard {
    event: String,
    data: Value,
    /// The id that came with it; the last of a commit has one.
    id: Option<u64>,
}

impl Heard {
    /// The revision, what happened, and to what.
    fn in_short(&self) -> (u64, String, String) {
        let text = |field: &str| self.data[field].as_str().unwrap_or_default().to_owned();
        (self.data["revision"].as_u64().unwrap_or_default(), text("change"), text("name"))
    }
}

/// A listener that reads the stream as the specification of server-sent events says.
struct Ear {
    body: BodyDataStream,
    text: String,
    last_id: Option<u64>,
}

impl Ear {
    async fn open(api: &Api, path: &str, last_seen: Option<u64>) -> Ear {
        let (status, headers, body) = call(api, "GET", path, last_seen).await;
        assert_eq!((status, headers["content-type"].to_str().unwrap()), (StatusCode::OK, "text/event-stream"));
        Ear { body, text: String::new(), last_id: None }
    }

    /// The next block, whether or not it is an event; nothing when the stream has ended.
    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                if let Some(id) = field(&block, "id") {
                    self.last_id = Some(id.parse().expect("an id is a revision"));
                }
                return Some(block);
            }
            self.text.push_str(std::str::from_utf8(&self.body.next().await?.expect("the stream is whole")).expect("events are text"));
        }
    }

    async fn next(&mut self) -> Option<Heard> {
        loop {
            let block = self.block().await?;
            let Some(event) = field(&block, "event") else { continue };
            let data = serde_json::from_str(field(&block, "data").expect("an event has data")).expect("data are JSON");
            return Some(Heard { event: event.to_owned(), data, id: field(&block, "id").map(|id| id.parse().unwrap()) });
        }
    }

    async fn take(&mut self, count: usize) -> Vec<Heard> {
        let mut heard = Vec::new();
        while heard.len() < count {
            heard.push(self.next().await.expect("the stream goes on"));
        }
        heard
    }
}

fn field<'a>(block: &'a str, name: &str) -> Option<&'a str> {
    block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// What the store says has happened to machines after a revision.
async fn history(api: &Api, after: Revision) -> Vec<(u64, String, String)> {
    let changes = api.store.history(keys::MACHINES, usize::MAX).await.unwrap();
    let short = changes.into_iter().filter(|change| change.revision > after).map(|change| {
        let what = if change.value.is_some() { "put" } else { "gone" };
        (change.revision.0, what.to_owned(), change.key.rsplit('/').next().unwrap().to_owned())
    });
    short.collect()
}
