//! A site in one process with virtual time, and a small client for it.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use base64::Engine;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use model::{Clock, Timestamp};
use serde_json::Value;
use sim::{MachineSpec, Role, Site, SiteSpec, Vendor, Wire};
use store::{MemoryStore, SharedStore, TokioClock};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

pub struct Harness {
    pub site: Site,
    pub store: SharedStore,
    pub clock: Arc<dyn Clock>,
    running: Option<(tokio::task::JoinHandle<()>, CancellationToken)>,
}

pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Value,
}

pub fn spec() -> SiteSpec {
    SiteSpec::new("east", 4, 4, 1)
}

impl Harness {
    /// Four racks of four machines at the pace of real servers, running.
    pub async fn start() -> Harness {
        let clock: Arc<dyn Clock> = Arc::new(TokioClock::starting_at(Timestamp::parse("2026-11-15T09:00:00Z").unwrap()));
        let store: SharedStore = Arc::new(MemoryStore::new(clock.clone()));
        Harness::on(store, clock).await
    }

    /// Another site than the usual one, running.
    pub async fn of_spec(spec: SiteSpec) -> Harness {
        let clock: Arc<dyn Clock> = Arc::new(TokioClock::starting_at(Timestamp::parse("2026-11-15T09:00:00Z").unwrap()));
        let store: SharedStore = Arc::new(MemoryStore::new(clock.clone()));
        Harness::open(spec, store, clock).await
    }

    pub async fn on(store: SharedStore, clock: Arc<dyn Clock>) -> Harness {
        Harness::open(spec(), store, clock).await
    }

    async fn open(spec: SiteSpec, store: SharedStore, clock: Arc<dyn Clock>) -> Harness {
        let site = Site::open(spec, store.clone(), clock.clone()).await.unwrap();
        let mut harness = Harness { site, store, clock, running: None };
        harness.run();
        harness
    }

    fn run(&mut self) {
        let (site, shutdown) = (self.site.clone(), CancellationToken::new());
        let until = shutdown.clone();
        let task = tokio::spawn(async move { site.run(until).await.unwrap() });
        self.running = Some((task, shutdown));
    }

    pub async fn stop(&mut self) {
        if let Some((task, shutdown)) = self.running.take() {
            shutdown.cancel();
            task.await.unwrap();
        }
    }

    /// Dies without saving anything more, and comes back on the same store after `away`.
    pub async fn crash_and_reopen(mut self, away: Duration) -> Harness {
        if let Some((task, _)) = self.running.take() {
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
        }
        let Harness { site, store, clock, .. } = self;
        drop(site);
        tokio::time::sleep(away).await;
        Harness::on(store, clock).await
    }

    /// Breaks something, in the words of `sim fault add`.
    pub async fn fault(&self, phrase: &str) {
        let orders = sim::parse_order(phrase, self.site.layout()).unwrap();
        self.site.add_faults(&orders).await.unwrap();
    }

    /// Mends everything.
    pub async fn mend(&self) {
        self.site.clear_faults(|_| true).await.unwrap();
    }

    pub fn machine(&self, name: &str) -> MachineSpec {
        let layout = self.site.layout();
        layout.machines()[layout.index_of(name).unwrap()].clone()
    }

    /// A request to a machine's BMC with its password.
    pub async fn bmc(&self, machine: &str, method: &str, path: &str, body: &str) -> Reply {
        let spec = self.machine(machine);
        let login = base64::engine::general_purpose::STANDARD.encode(format!("{}:{}", spec.bmc_user, spec.bmc_password));
        send(self.site.redfish(machine).unwrap(), method, path, &[("authorization", &format!("Basic {login}"))], body).await
    }

    /// The name of a compute machine with a BMC of the vendor.
    pub fn of(&self, vendor: Vendor) -> String {
        let mut machines = self.site.layout().machines().iter();
        machines.find(|machine| machine.vendor == vendor && machine.role == Role::Compute).unwrap().name.clone()
    }

    /// A request to a machine's BMC as somebody, with more headers.
    pub async fn bmc_as(&self, machine: &str, login: (&str, &str), headers: &[(&str, &str)], request: (&str, &str), body: &Value) -> Reply {
        let encoded = base64::engine::general_purpose::STANDARD.encode(format!("{}:{}", login.0, login.1));
        let authorization = format!("Basic {encoded}");
        let mut all = vec![("authorization", authorization.as_str())];
        all.extend_from_slice(headers);
        let body = if body.is_null() { String::new() } else { body.to_string() };
        send(self.site.redfish(machine).unwrap(), request.0, request.1, &all, &body).await
    }

    /// Whether the machine's BMC is there: its root, which is open to everybody, can be read.
    pub async fn answers(&self, machine: &str) -> bool {
        let request = Request::get("/redfish/v1/").body(Body::empty()).unwrap();
        let answer = self.site.redfish(machine).unwrap().oneshot(request).await;
        answer.is_ok_and(|response| response.status() == StatusCode::OK)
    }

    /// The status of an answer whose body may never end.
    pub async fn begins(&self, machine: &str, path: &str) -> StatusCode {
        let spec = self.machine(machine);
        let login = base64::engine::general_purpose::STANDARD.encode(format!("{}:{}", spec.bmc_user, spec.bmc_password));
        let request = Request::get(path).header("authorization", format!("Basic {login}")).body(Body::empty()).unwrap();
        self.site.redfish(machine).unwrap().oneshot(request).await.unwrap().status()
    }

    pub async fn read(&self, machine: &str, path: &str) -> Value {
        let reply = self.bmc(machine, "GET", path, "").await;
        assert_eq!(reply.status, StatusCode::OK, "{machine} {path} {}", reply.body);
        reply.body
    }

    pub async fn post(&self, machine: &str, path: &str, body: &Value) -> Reply {
        self.bmc(machine, "POST", path, &body.to_string()).await
    }

    /// A change of a resource as it is now, for BMCs that want to be told which version is meant.
    pub async fn patch(&self, machine: &str, path: &str, body: &Value) -> Reply {
        let etag = self.bmc(machine, "GET", path, "").await.headers["etag"].to_str().unwrap().to_owned();
        let spec = self.machine(machine);
        self.bmc_as(machine, (&spec.bmc_user, &spec.bmc_password), &[("if-match", &etag)], ("PATCH", path), body).await
    }

    pub async fn system_path(&self, machine: &str) -> String {
        let systems = self.bmc(machine, "GET", "/redfish/v1/Systems", "").await;
        systems.body["Members"][0]["@odata.id"].as_str().unwrap().to_owned()
    }

    pub async fn power(&self, machine: &str) -> String {
        let path = self.system_path(machine).await;
        self.bmc(machine, "GET", &path, "").await.body["PowerState"].as_str().unwrap().to_owned()
    }

    pub async fn reset(&self, machine: &str, reset: &str) -> StatusCode {
        let path = format!("{}/Actions/ComputerSystem.Reset", self.system_path(machine).await);
        self.bmc(machine, "POST", &path, &format!("{{\"ResetType\":\"{reset}\"}}")).await.status
    }

    /// A request to the Kubernetes API with its token.
    pub async fn kube(&self, method: &str, path: &str, content_type: &str, body: &str) -> Reply {
        let token = format!("Bearer {}", self.site.layout().kubernetes_token());
        send(self.site.kubernetes(), method, path, &[("authorization", &token), ("content-type", content_type)], body).await
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.kube("GET", path, "application/json", "").await
    }

    pub async fn merge_patch(&self, path: &str, body: &str) -> Reply {
        self.kube("PATCH", path, "application/merge-patch+json", body).await
    }

    /// A watch as its stream of lines.
    pub async fn watch(&self, path: &str) -> Lines {
        let request = Request::get(path).header("authorization", format!("Bearer {}", self.site.layout().kubernetes_token()));
        let response = self.site.kubernetes().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        Lines { body: response.into_body(), buffer: String::new() }
    }

    pub async fn node(&self, name: &str) -> Value {
        let reply = self.get(&format!("/api/v1/nodes/{name}")).await;
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
        reply.body
    }

    pub async fn ready(&self, name: &str) -> String {
        ready(&self.node(name).await)
    }
}

pub fn ready(node: &Value) -> String {
    let conditions = node["status"]["conditions"].as_array().unwrap();
    conditions.iter().find(|condition| condition["type"] == "Ready").unwrap()["status"].as_str().unwrap().to_owned()
}

pub async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

pub async fn send(wire: Wire, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = wire.oneshot(request.body(Body::from(body.to_owned())).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    Reply { status: parts.status, headers: parts.headers, body }
}

/// The kind of error that a BMC or the API fails with.
/// How a service that is not there fails.
pub async fn failure(wire: Wire) -> ErrorKind {
    wire.oneshot(Request::get("/redfish/v1").body(Body::empty()).unwrap()).await.unwrap_err().kind()
}

pub struct Lines {
    body: Body,
    buffer: String,
}

impl Lines {
    /// The next event; nothing when the stream has ended.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((line, rest)) = self.buffer.split_once('\n') {
                let event = serde_json::from_str(line).unwrap();
                self.buffer = rest.to_owned();
                return Some(event);
            }
            let frame = self.body.frame().await?.unwrap();
            self.buffer += std::str::from_utf8(frame.data_ref().unwrap()).unwrap();
        }
    }

    /// Whether the stream ends with a broken connection rather than with its own end.
    pub async fn ends_broken(&mut self) -> bool {
        loop {
            match self.body.frame().await {
                Some(Ok(_)) => {}
                Some(Err(_)) => return true,
                None => return false,
            }
        }
    }

    /// `ADDED rack1compute01`, and so on.
    pub async fn next_brief(&mut self) -> Option<String> {
        let event = self.next().await?;
        Some(format!("{} {}", event["type"].as_str().unwrap(), event["object"]["metadata"]["name"].as_str().unwrap_or("-")))
    }
}
