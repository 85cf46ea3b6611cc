//! A control plane as agents see it: a server of HTTP or HTTPS that does as docs/installing.md says, unless a test tells it otherwise.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::Response;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

pub const TOKEN: &str = "the-token";
pub const SESSION: &str = "the-session";

/// A request that came.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The last part of its path.
    pub what: String,
    pub bearer: Option<String>,
    pub range: Option<String>,
    pub body: String,
    /// How many of the same came before.
    pub nth: usize,
}

/// What is answered.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
    /// The connection is cut after this many bytes of the body.
    pub cut: Option<usize>,
    /// The length of the body is not announced.
    pub is_chunked: bool,
}

impl Reply {
    pub fn status(status: u16) -> Reply {
        Reply { status, ..Reply::default() }
    }

    fn json(of: &Value) -> Reply {
        Reply { body: of.to_string().into(), ..Reply::status(200) }
    }
}

/// What a test has the server answer instead of what it would.
type Script = Box<dyn Fn(&Seen, Reply) -> Reply + Send + Sync>;

/// What the control plane wants to have installed.
pub struct Plan {
    /// The image as it is sent.
    pub sent: Bytes,
    pub grant: Value,
    pub seed: Value,
    pub script: Script,
}

impl Plan {
    pub fn raw(image: &[u8], os_disk: &Value) -> Plan {
        let grant = json!({"session": SESSION, "hostname": "m1", "osDisk": os_disk,
            "image": {"url": "", "sha256": sha256(image), "bytes": image.len()}});
        let seed = json!({"userData": "#cloud-config\nhostname: m1\n", "metaData": "instance-id: o1\n"});
        Plan { sent: image.to_vec().into(), grant, seed, script: Box::new(|_, reply| reply) }
    }

    pub fn packed(image: &[u8], os_disk: &Value) -> Plan {
        let sent = zstd::encode_all(image, 3).unwrap();
        let mut plan = Plan::raw(image, os_disk);
        plan.grant["image"]["packed"] = json!({"format": "zstd", "sha256": sha256(&sent), "bytes": sent.len()});
        Plan { sent: sent.into(), ..plan }
    }

    pub fn scripted(self, script: impl Fn(&Seen, Reply) -> Reply + Send + Sync + 'static) -> Plan {
        Plan { script: Box::new(script), ..self }
    }

    fn reply(&self, seen: &Seen) -> Reply {
        let usual = match seen.what.as_str() {
            "exchange" if seen.bearer.as_deref() != Some(TOKEN) => Reply::status(401),
            "exchange" => Reply::json(&self.grant),
            _ if seen.bearer.as_deref() != Some(SESSION) => Reply::status(401),
            "seed" => Reply::json(&self.seed),
            "image" => self.part(seen.range.as_deref()),
            _ => Reply::status(204),
        };
        (self.script)(seen, usual)
    }

    fn part(&self, range: Option<&str>) -> Reply {
        let headers = vec![("etag", "\"one\"".to_owned())];
        let Some(from) = range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok()) else {
            return Reply { headers, body: self.sent.clone(), ..Reply::status(200) };
        };
        let part = format!("bytes {from}-{}/{}", self.sent.len() - 1, self.sent.len());
        Reply { headers: [headers, vec![("content-range", part)]].concat(), body: self.sent.slice(from..), ..Reply::status(206) }
    }
}

/// The server, while it runs.
pub struct ControlPlane {
    pub url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    _runtime: tokio::runtime::Runtime,
}

impl ControlPlane {
    pub fn start(plan: Plan) -> ControlPlane {
        ControlPlane::serve(plan, None)
    }

    pub fn start_with_tls(plan: Plan, tls: rustls::ServerConfig) -> ControlPlane {
        ControlPlane::serve(plan, Some(TlsAcceptor::from(Arc::new(tls))))
    }

    fn serve(mut plan: Plan, tls: Option<TlsAcceptor>) -> ControlPlane {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0)))).unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        if plan.grant["image"]["url"] == "" {
            plan.grant["image"]["url"] = format!("{url}/install/v1/attempts/c1/o1/1/image").into();
        }
        let seen = Arc::new(Mutex::new(Vec::new()));
        runtime.spawn(accept(listener, tls, Arc::new(plan), seen.clone()));
        ControlPlane { url, seen, _runtime: runtime }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// What came, in its order; progress is left out.
    pub fn story(&self) -> Vec<String> {
        let told = self.seen().into_iter().filter(|seen| !seen.body.contains("\"progress\""));
        told.map(|seen| if seen.what == "report" { format!("report {}", seen.kind()) } else { seen.what }).collect()
    }

    /// The bodies of requests of one kind.
    pub fn bodies(&self, what: &str) -> Vec<String> {
        self.seen().into_iter().filter(|seen| seen.what == what).map(|seen| seen.body).collect()
    }

    /// The last report.
    pub fn last_report(&self) -> Value {
        serde_json::from_str(self.bodies("report").last().map_or("null", String::as_str)).unwrap()
    }
}

impl Seen {
    fn kind(&self) -> String {
        serde_json::from_str::<Value>(&self.body).unwrap()["kind"].as_str().unwrap().to_owned()
    }
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, plan: Arc<Plan>, seen: Arc<Mutex<Vec<Seen>>>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let (plan, seen, tls) = (plan.clone(), seen.clone(), tls.clone());
        tokio::spawn(async move {
            let service = hyper::service::service_fn(move |request| answer(plan.clone(), seen.clone(), Request::map(request, Body::new)));
            let connection = hyper::server::conn::http1::Builder::new();
            // An agent that does not trust us hangs up, and so does one whose body we cut.
            let _ = match tls {
                None => connection.serve_connection(TokioIo::new(stream), service).await,
                Some(tls) => match tls.accept(stream).await {
                    Ok(stream) => connection.serve_connection(TokioIo::new(stream), service).await,
                    Err(_) => return,
                },
            };
        });
    }
}

async fn answer(plan: Arc<Plan>, seen: Arc<Mutex<Vec<Seen>>>, request: Request) -> Result<Response, Infallible> {
    let (head, body) = request.into_parts();
    let header = |name: &str| head.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    let what = head.uri.path().rsplit('/').next().unwrap_or_default().to_owned();
    let body = String::from_utf8(axum::body::to_bytes(body, usize::MAX).await.unwrap().to_vec()).unwrap();
    let bearer = header("authorization").and_then(|value| value.strip_prefix("Bearer ").map(str::to_owned));
    let seen = {
        let mut all = seen.lock().unwrap();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for seen in all.iter() {
            *counts.entry(&seen.what).or_default() += 1;
        }
        let nth = counts.get(what.as_str()).copied().unwrap_or(0);
        let seen = Seen { what, bearer, range: header("range"), body, nth };
        all.push(seen.clone());
        seen
    };
    Ok(send(&plan.reply(&seen)))
}

fn send(reply: &Reply) -> Response {
    let mut response = Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        response = response.header(*name, value);
    }
    if !reply.is_chunked && reply.status != 204 {
        response = response.header("content-length", reply.body.len());
    }
    let kept = reply.cut.unwrap_or(usize::MAX).min(reply.body.len());
    let whole = [Ok(reply.body.slice(..kept))];
    let cut = (kept < reply.body.len()).then(|| Err(std::io::Error::other("cut")));
    response.body(Body::from_stream(futures::stream::iter(whole.into_iter().chain(cut)))).unwrap()
}

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
