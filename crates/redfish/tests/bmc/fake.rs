//! A BMC that answers from a list, to show the driver what the simulator never would.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use model::Fault;
use redfish::{Bmc, Credentials, Login, Transport};
use serde_json::{Value, json};

pub const SYSTEM: &str = "/redfish/v1/Systems/1";

/// What the fake does when asked.
#[derive(Clone, Debug)]
pub enum Reply {
    Answer { status: u16, headers: Vec<(&'static str, String)>, body: String },
    Slow(Duration, Box<Reply>),
    Never,
    Break(io::ErrorKind),
}

#[derive(Clone, Default)]
pub struct Fake {
    replies: Arc<Mutex<BTreeMap<String, VecDeque<Reply>>>>,
    log: Arc<Mutex<Vec<String>>>,
}

struct Root;

#[async_trait]
impl Credentials for Root {
    async fn login(&self) -> Result<Login, Fault> {
        Ok(Login::new("root", "calvin"))
    }
}

pub fn json(status: u16, body: &Value) -> Reply {
    text(status, &body.to_string())
}

/// A document with an ETag, and the methods that its resource allows, unless it does not tell.
pub fn tagged(document: &Value, etag: &str, allow: &str) -> Reply {
    let mut headers = vec![("etag", etag.to_owned())];
    if !allow.is_empty() {
        headers.push(("allow", allow.to_owned()));
    }
    Reply::Answer { status: 200, headers, body: document.to_string() }
}

/// A 202 that points to a job.
pub fn accepted(location: &str) -> Reply {
    Reply::Answer { status: 202, headers: vec![("location", location.to_owned())], body: String::new() }
}

pub fn text(status: u16, body: &str) -> Reply {
    Reply::Answer { status, headers: Vec::new(), body: body.to_owned() }
}

pub fn session(number: u32) -> Reply {
    let headers = vec![
        ("x-auth-token", format!("token{number}")),
        ("location", format!("http://10.0.0.1/redfish/v1/SessionService/Sessions/{number}")),
    ];
    Reply::Answer { status: 201, headers, body: "{}".to_owned() }
}

impl Fake {
    /// A BMC with a root, sessions, and one System that is on.
    pub fn ordinary() -> Fake {
        Fake::default()
            .on("GET /redfish/v1/", json(200, &json!({"Systems": {"@odata.id": "/redfish/v1/Systems"}})))
            .on("POST /redfish/v1/SessionService/Sessions", session(1))
            .on("GET /redfish/v1/Systems", json(200, &json!({"Members": [{"@odata.id": SYSTEM}]})))
            .on("GET /redfish/v1/Systems/1", json(200, &json!({"PowerState": "On"})))
            .on("POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset", text(204, ""))
    }

    /// Adds a reply to those for `request`. They are given in order, the last for ever.
    pub fn on(self, request: &str, reply: Reply) -> Fake {
        self.replies.lock().unwrap().entry(request.to_owned()).or_default().push_back(reply);
        self
    }

    /// Replaces the replies for `request`.
    pub fn now(self, request: &str, reply: Reply) -> Fake {
        self.replies.lock().unwrap().remove(request);
        self.on(request, reply)
    }

    /// Adds documents to be read.
    pub fn holding(self, documents: &[(&str, Value)]) -> Fake {
        documents.iter().fold(self, |fake, (path, document)| fake.now(&format!("GET {path}"), json(200, document)))
    }

    /// What was asked to change since the last time.
    pub fn take_requests(&self) -> String {
        let log = self.take_log();
        log.lines().filter(|line| !line.starts_with("GET") && !line.contains("Sessions")).map(|line| format!("{line}\n")).collect()
    }

    pub fn transport(&self) -> Transport {
        let fake = self.clone();
        Transport::in_process(tower::service_fn(move |request| fake.clone().answer(request)))
    }

    pub fn bmc(&self) -> Bmc {
        bmc(self.transport(), "http://10.0.0.1")
    }

    /// The driver for the machine with this serial number.
    pub fn bmc_of(&self, serial: &str) -> Bmc {
        Bmc::of_machine(self.transport(), "http://10.0.0.1".parse().unwrap(), Arc::new(Root), serial)
    }

    /// What was asked since the last time, with the credentials and the content that came with it.
    pub fn take_log(&self) -> String {
        std::mem::take(&mut *self.log()).join("\n") + "\n"
    }

    fn log(&self) -> MutexGuard<'_, Vec<String>> {
        self.log.lock().unwrap()
    }

    async fn answer(self, request: Request<Full<Bytes>>) -> io::Result<Response<Full<Bytes>>> {
        let (head, body) = request.into_parts();
        let asked = format!("{} {}", head.method, head.uri.path());
        let header = |name: &str| head.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        let pass = header("x-auth-token").or(header("authorization"));
        let body = body.collect().await.unwrap_or_else(|never: Infallible| match never {}).to_bytes();
        let line: Vec<String> = [
            Some(asked.clone()),
            pass,
            header("if-match").map(|etag| format!("if {etag}")),
            Some(String::from_utf8_lossy(&body).into_owned()),
        ]
        .into_iter()
        .flatten()
        .collect();
        self.log().push(line.join(" ").trim().to_owned());
        let mut reply = self.next_reply(&asked);
        loop {
            match reply {
                Reply::Slow(span, then) => {
                    tokio::time::sleep(span).await;
                    reply = *then;
                }
                Reply::Never => std::future::pending().await,
                Reply::Break(kind) => return Err(io::Error::from(kind)),
                Reply::Answer { status, headers, body } => {
                    let mut response = Response::builder().status(status);
                    for (name, value) in headers {
                        response = response.header(name, value);
                    }
                    return Ok(response.body(Full::from(body)).unwrap());
                }
            }
        }
    }

    fn next_reply(&self, asked: &str) -> Reply {
        let mut replies = self.replies.lock().unwrap();
        match replies.get_mut(asked) {
            Some(queue) if queue.len() > 1 => queue.pop_front().unwrap(),
            Some(queue) => queue[0].clone(),
            None => text(404, ""),
        }
    }
}

pub fn bmc(transport: Transport, base: &str) -> Bmc {
    Bmc::new(transport, base.parse().unwrap(), Arc::new(Root))
}
