//! An API server that answers from a list, to show the driver what the simulator never would.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use kube::client::Body;
use kubernetes::{TenantCluster, Undercloud};
use serde_json::{Value, json};

/// What the fake does when asked.
#[derive(Clone, Debug)]
pub enum Reply {
    Answer(u16, Value),
    /// Sends these lines, and then does this.
    Stream(Vec<Value>, End),
    Slow(Duration, Box<Reply>),
    Never,
    Break(io::ErrorKind),
}

#[derive(Clone, Copy, Debug)]
pub enum End {
    Close,
    FallSilent,
    Break,
}

#[derive(Clone, Default)]
pub struct Fake {
    replies: Arc<Mutex<BTreeMap<String, VecDeque<Reply>>>>,
    log: Arc<Mutex<Vec<String>>>,
}

pub fn node(name: &str, version: u32) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "resourceVersion": version.to_string()}})
}

pub fn list(version: u32, nodes: &[Value]) -> Reply {
    Reply::Answer(
        200,
        json!({"apiVersion": "v1", "kind": "NodeList", "metadata": {"resourceVersion": version.to_string()}, "items": nodes}),
    )
}

pub fn status(code: u16, message: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "message": message})
}

pub fn refusal(code: u16, message: &str) -> Reply {
    Reply::Answer(code, status(code, message))
}

pub fn event(kind: &str, object: &Value) -> Value {
    json!({"type": kind, "object": object})
}

pub fn bookmark(version: u32) -> Value {
    event("BOOKMARK", &json!({"apiVersion": "v1", "kind": "Node", "metadata": {"resourceVersion": version.to_string()}}))
}

impl Fake {
    /// Adds a reply to those for `LIST`, `WATCH` or `PATCH`, or for one of them at a path: `LIST /apis`. They are given in order, the last for ever.
    pub fn on(self, request: &str, reply: Reply) -> Fake {
        self.replies.lock().unwrap().entry(request.to_owned()).or_default().push_back(reply);
        self
    }

    pub fn undercloud(&self) -> Undercloud {
        let fake = self.clone();
        Undercloud::in_process(tower::service_fn(move |request| fake.clone().answer(request)))
    }

    pub fn tenant_cluster(&self) -> TenantCluster {
        let fake = self.clone();
        TenantCluster::new(kube::Client::new(tower::service_fn(move |request| fake.clone().answer(request)), "default"))
    }

    /// What was asked since the last time.
    pub fn take_log(&self) -> String {
        std::mem::take(&mut *self.log.lock().unwrap()).join("\n") + "\n"
    }

    async fn answer(self, request: Request<Body>) -> io::Result<Response<UnsyncBoxBody<Bytes, io::Error>>> {
        let (head, body) = request.into_parts();
        let is_watch = head.uri.query().is_some_and(|query| query.contains("watch=true"));
        let kind = match head.method.as_str() {
            "GET" if is_watch => "WATCH",
            "GET" => "LIST",
            method => method,
        };
        let content_type = head.headers.get("content-type").map(|value| value.to_str().unwrap()).unwrap_or_default();
        let body = body.collect_bytes().await.unwrap();
        let line = format!("{} {} {content_type} {}", head.method, head.uri, String::from_utf8_lossy(&body));
        self.log.lock().unwrap().push(line.trim().to_owned());
        let mut reply = self.next_reply(kind, head.uri.path());
        while let Reply::Slow(span, then) = reply {
            tokio::time::sleep(span).await;
            reply = *then;
        }
        match reply {
            Reply::Slow(..) => unreachable!("it was waited for"),
            Reply::Never => std::future::pending().await,
            Reply::Break(kind) => Err(io::Error::from(kind)),
            Reply::Answer(status, body) => Ok(response(status, vec![body], End::Close)),
            Reply::Stream(lines, end) => Ok(response(200, lines, end)),
        }
    }

    fn next_reply(&self, kind: &str, path: &str) -> Reply {
        let mut replies = self.replies.lock().unwrap();
        let at_path = format!("{kind} {path}");
        let key = if replies.contains_key(&at_path) { at_path.as_str() } else { kind };
        match replies.get_mut(key) {
            Some(queue) if queue.len() > 1 => queue.pop_front().unwrap(),
            Some(queue) => queue[0].clone(),
            None => refusal(404, "not found"),
        }
    }
}

fn response(status: u16, lines: Vec<Value>, end: End) -> Response<UnsyncBoxBody<Bytes, io::Error>> {
    let lines = stream::iter(lines).map(|line| Ok(Frame::data(Bytes::from(format!("{line}\n")))));
    let end = match end {
        End::Close => stream::empty().boxed(),
        End::FallSilent => stream::pending().boxed(),
        End::Break => stream::once(async { Err(io::Error::from(io::ErrorKind::ConnectionReset)) }).boxed(),
    };
    Response::builder().status(status).body(StreamBody::new(lines.chain(end)).boxed_unsync()).unwrap()
}
