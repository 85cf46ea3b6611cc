//! The face with a keeper that says yes to everything, or to nothing.

mod exchanging;
mod fetching;
mod imaging;
mod limits;
mod telling;
mod troubled;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use model::{
    Artefact, Ask, Attempt, BootWay, Bundle, ClusterName, Entry, Fact, JoinFacts, MachineName, MachineReport, Operation, OperationId,
    OsTarget, Refusal, Role, Rule, RuntimeVersion, Timestamp, Verdict, keys,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use store::Commit;
use ticket::{InstallKey, Purpose};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::depot::tests::origin::{Mood, Origin, content};
use super::*;
use crate::fixtures::{Documents, NOW, cluster, machine, of_json, operation};

const URL: &str = "http://10.0.0.1:7226";
const IMAGE_URL: &str = "http://images/agent.iso";

/// What the stub of a keeper answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeper {
    SaysYes,
    SaysNo,
}

struct Rig {
    face: InstallFace,
    router: Router,
    reports: Arc<std::sync::Mutex<Vec<MachineReport>>>,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

/// Serves what machines are started from, and the operating system.
struct Shelf {
    agent: Origin,
    system: Origin,
}

impl Fetch for Shelf {
    fn open<'a>(&'a self, url: &'a str, rest: &'a Rest) -> BoxFuture<'a, Result<Coming, Unfetched>> {
        if url == IMAGE_URL { self.agent.open(url, rest) } else { self.system.open(url, rest) }
    }
}

/// Never there.
fn gone() -> Origin {
    Origin::new(Bytes::new(), &[Mood::Refuses; 100])
}

/// The operating system: several pieces and a bit.
fn system() -> Bytes {
    content(3, 500_321)
}

fn agent_image() -> Bytes {
    let mut bytes = vec![7; 5_000];
    bytes.extend_from_slice(MARKER.as_bytes());
    bytes.resize(5_000 + AREA_BYTES, b'.');
    bytes.extend_from_slice(&[9; 70_000]);
    bytes.into()
}

fn artefact(bytes: &[u8]) -> Artefact {
    let digest: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    of_json(json!({ "url": IMAGE_URL, "sha256": digest, "bytes": bytes.len() }))
}

fn bundle() -> Bundle {
    let template = "phone_home: {url: {{ phone_home_url }}, token: {{ phone_home_token }}}\n\
                    join: {api_url: {{ api_url }}, token: {{ join_token }}}\n\
                    role: {{ role }}\n";
    let agent = artefact(&agent_image());
    of_json(json!({
        "version": "4.9.2", "osName": "Azure Linux 3.0", "kubernetesVersion": "v1.33.7",
        "osImage": Artefact { url: "http://images/os.img".to_owned(), ..artefact(&system()) },
        "boot": { "agentImage": agent, "http": agent, "pxe": agent },
        "userData": { "ControlPlane": template, "Management": "role: {{ nothing }}", "Compute": template },
    }))
}

fn installing(id: &str, name: &str, way: BootWay) -> Operation {
    let at = Timestamp::parse(NOW).unwrap();
    let mut operation = operation(id, "site", name, at);
    let version = RuntimeVersion::parse("4.9.2").unwrap();
    for round in [1, 2] {
        let network = (name == "m2")
            .then(|| of_json(json!({ "mac": "AA:BB:CC:00:00:01", "address": "10.0.2.50/24", "gateway": "10.0.2.2", "dns": ["10.0.2.3"] })));
        let fact = Fact::Installing { round, way, version, image: bundle().os_image.sha256, network };
        operation.journal.push(Entry { at, fact });
    }
    operation
}

fn attempt(name: &str, id: &str, round: u32) -> Attempt {
    Attempt { cluster: ClusterName::new("site").unwrap(), machine: MachineName::new(name).unwrap(), operation: OperationId::new(id), round }
}

fn key() -> InstallKey {
    InstallKey::from_bytes(&[7; 32]).unwrap()
}

fn token(purpose: Purpose, attempt: &Attempt) -> String {
    key().token(purpose, attempt).to_string()
}

/// `m1` and `m2`, which has no volumes, are being installed from virtual media, `m3` over PXE and with a template that cannot be
/// rendered, each for the second time; `op0` is over.
async fn rig_with(keeper: Keeper, image: Option<Bytes>) -> Rig {
    let agent = image.map_or_else(gone, |image| Origin::new(image, &[]));
    let shelf = Shelf { agent, system: Origin::new(system(), &[]) };
    rig_of(keeper, Images::new(Arc::new(shelf)), &bundle()).await
}

/// The same with these images.
async fn rig_of(keeper: Keeper, images: Images, bundle: &Bundle) -> Rig {
    let mut site = cluster("site");
    site.join = Some(JoinFacts { api_url: "https://10.0.0.5:6443".to_owned(), ca_hash: None });
    let mut documents = Documents::default().cluster(&site);
    for (number, name) in ["m1", "m2", "m3"].into_iter().enumerate() {
        let mut machine = machine("site", "rack1", name);
        machine.role = if name == "m3" { Role::Management } else { Role::Compute };
        machine.hardware.boot_mac = format!("AA:BB:CC:00:00:0{number}");
        documents = documents.machine(&machine);
    }
    let mut over = installing("op0", "m1", BootWay::VirtualMedia);
    over.ended = Some(of_json(json!({ "at": NOW, "result": "Succeeded", "message": "x" })));
    let mut on_drive = installing("op2", "m2", BootWay::VirtualMedia);
    on_drive
        .journal
        .push(Entry { at: on_drive.accepted_at, fact: Fact::SystemDisk { disk: OsTarget::disk("S1"), wipe: vec!["S2".to_owned()] } });
    let documents = documents
        .operation(&over)
        .operation(&installing("op1", "m1", BootWay::VirtualMedia))
        .operation(&on_drive)
        .operation(&installing("op3", "m3", BootWay::Pxe));
    let api = documents.serve().await;
    let runtime = keys::runtime(&site.name, bundle.version);
    api.store.commit(Commit::default().put(runtime, serde_json::to_vec(bundle).unwrap())).await.unwrap();
    let api = Api { cache: crate::Cache::load(&api.store).await.unwrap(), ..api };
    tokio::spawn(api.cache.clone().follow(api.store.clone(), CancellationToken::new()));
    let reports = Arc::default();
    tokio::spawn(keep(api.clone(), keeper, Arc::clone(&reports)));
    let face = InstallFace::new(api, BTreeMap::from([(site.name, key())]), images, URL);
    let router = install_router(face.clone());
    Rig { face, router, reports }
}

async fn rig() -> Rig {
    rig_with(Keeper::SaysYes, Some(agent_image())).await
}

/// Judges whatever comes, and writes accepted reports into their journals as a keeper would.
async fn keep(api: Api, keeper: Keeper, reports: Arc<std::sync::Mutex<Vec<MachineReport>>>) {
    let mut changes = api.cache.changes();
    loop {
        let open = api.cache.view().requests.values().find(|request| request.verdict.is_none()).cloned();
        if let Some(request) = open {
            let Ask::Report { attempt, report } = &request.ask else { panic!("only reports come from here") };
            let mut judged = (*request).clone();
            let mut commit = Commit::default();
            if keeper == Keeper::SaysYes {
                reports.lock().unwrap().push(report.clone());
                let mut operation = (*api.cache.view().operations[&attempt.operation]).clone();
                let fact = Fact::Reported { round: attempt.round, report: report.clone() };
                operation.journal.push(Entry { at: api.clock.now(), fact });
                let key = keys::operation(&operation.cluster, &operation.id);
                commit = commit.put(key, serde_json::to_vec(&operation).unwrap());
                judged.verdict = Some(Verdict::Done);
            } else {
                let refusal = Refusal {
                    rule: Rule::AttemptRunning,
                    message: "no".to_owned(),
                    evidence: vec!["used before".to_owned()],
                    remedy: "none".to_owned(),
                };
                judged.verdict = Some(Verdict::Refused { refusal });
            }
            let key = keys::request(&request.cluster, &request.id);
            api.store.commit(commit.put(key, serde_json::to_vec(&judged).unwrap())).await.unwrap();
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}

impl Rig {
    async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let (parts, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        Answer { status: parts.status, headers: parts.headers, body: body.collect().await.unwrap().to_bytes().to_vec() }
    }

    /// Sends to a path of an attempt with a token.
    async fn tell(&self, attempt: &Attempt, what: &str, token: &str, body: &str) -> Answer {
        let path = ticket::exchange_path(attempt).replace("exchange", what);
        let method = if what == "seed" { Method::GET } else { Method::POST };
        self.send(method, &path, &[("authorization", &format!("Bearer {token}"))], body).await
    }

    fn reports(&self) -> Vec<MachineReport> {
        self.reports.lock().unwrap().clone()
    }
}
