//! What goes wrong on our side: the client gets an answer with an id, the log has the same id, and everybody else goes on.
//!
//! In a process of its own, because what is logged is collected for the whole of it.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::Body;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use model::{Clock, ClusterName, MachineName, Timestamp, keys};
use serde_json::{Value, json};
use store::{Commit, MemoryStore, SharedStore, Store, SystemClock, TokioClock};
use tower::ServiceExt;

/// A clock whose reading is a mistake of ours.
#[derive(Debug)]
struct BrokenClock;

impl Clock for BrokenClock {
    fn now(&self) -> Timestamp {
        panic!("the clock has no hands");
    }
}

/// A clock that works until it is broken.
#[derive(Debug, Default)]
struct CrackedClock(AtomicBool);

impl CrackedClock {
    fn breaks(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Clock for CrackedClock {
    fn now(&self) -> Timestamp {
        if self.0.load(Ordering::Relaxed) { BrokenClock.now() } else { Timestamp::EPOCH }
    }
}

/// What was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn holds(&self, text: &str) -> bool {
        String::from_utf8_lossy(&self.0.lock().unwrap()).contains(text)
    }

    fn lines_with(&self, text: &str) -> Vec<String> {
        let log = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        log.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// An API on a clock of its own, and a store on another. There is one cluster with a machine, and whoever has the token owns everything.
struct Served {
    api: api::Api,
    token: String,
}

async fn serve(clock: Arc<dyn Clock>, store: MemoryStore) -> Served {
    let home = json!({ "subscription": "s1", "resourceGroup": "g1", "location": "local" });
    let cluster = json!({
        "name": "site", "home": home, "createdAt": Timestamp::EPOCH, "version": "4.9.2", "detailedStatus": "Running",
        "connection": "Connected", "connectionSince": Timestamp::EPOCH,
    });
    let machine = json!({
        "name": "m1", "cluster": "site", "createdAt": Timestamp::EPOCH, "role": "Compute", "provisioning": "Provisioned",
        "desiredPower": "On", "management": { "kind": "managed" }, "lastSeen": { "power": null, "node": null, "bmcFault": null },
        "hardware": {
            "rack": "r1", "slot": 1, "sku": "x", "serialNumber": "x", "bmcAddress": "x", "bmcMac": "x", "bootMac": "x", "credentials": "x",
        },
    });
    let (site, m1) = (ClusterName::new("site").unwrap(), MachineName::new("m1").unwrap());
    let documents = Commit::default().put(keys::cluster(&site), cluster.to_string()).put(keys::machine(&site, &m1), machine.to_string());
    store.commit(documents).await.unwrap();
    let store: SharedStore = Arc::new(store);
    let cache = api::Cache::load(&store).await.unwrap();
    let house = gate::OpenHouse::open(Arc::new(SystemClock)).await;
    let token = house.token("anybody");
    let api = api::Api::new(store, clock, cache, Arc::default(), api::Process::default(), house.gate());
    Served { api, token }
}

impl Served {
    /// The status, the request id and the whole of an answer, headers and all.
    async fn send(&self, method: Method, path: &str, body: String) -> (StatusCode, String, String) {
        let request = Request::builder().method(method).uri(path).header("host", "localhost");
        let request = request.header("authorization", format!("Bearer {}", self.token)).body(Body::from(body)).unwrap();
        let (parts, body) = api::router(self.api.clone()).oneshot(request).await.unwrap().into_parts();
        let id = parts.headers["x-ms-request-id"].to_str().unwrap().to_owned();
        let body = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        (parts.status, id, format!("{:?}\n{body}", parts.headers))
    }

    async fn get(&self, path: &str) -> (StatusCode, String, String) {
        self.send(Method::GET, path, String::new()).await
    }
}

/// What is logged from here on, by tracing and by panics.
fn listen() -> Log {
    let log = Log::default();
    let (writer, heard) = (log.clone(), log.clone());
    tracing_subscriber::fmt().with_ansi(false).with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).init();
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        drop(writeln!(heard.clone(), "{panic}"));
        usual(panic);
    }));
    log
}

const GROUP: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud";

/// A virtual machine with a secret wherever one may be, and what else the body says.
fn vm(more: &Value) -> Value {
    let mut vm = json!({
        "location": "local",
        "properties": {
            "adminUsername": "azureuser", "cpuCores": 2, "memorySizeGB": 4, "vmImage": "registry/fw:1",
            "storageProfile": { "osDisk": { "diskSizeGB": 20, "createOption": "Ephemeral" } },
            "userDataContent": STANDARD.encode("#cloud-config MARKER-user-data"),
            "networkDataContent": STANDARD.encode("MARKER-network-data"),
            "vmImageRepositoryCredentials": { "registryUrl": "registry", "username": "u", "password": "MARKER-registry-password" },
        },
    });
    vm["properties"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    vm
}

fn replacement(more: &Value) -> Value {
    let mut replacement = json!({ "bmcCredentials": { "username": "root", "password": "MARKER-bmc-password" }, "safeguardMode": "None" });
    replacement.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    replacement
}

/// A body with secrets, and what is added to it.
type Secretive = fn(&Value) -> Value;

/// What was sent, as it is and as base64 or a list of bytes would show it.
fn markers() -> Vec<String> {
    let sent = ["MARKER-user-data", "MARKER-network-data", "MARKER-registry-password", "MARKER-bmc-password", "MARKER-in-a-query"];
    let numbers = |text: &str| text.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>().join(", ");
    let encoded = ["#cloud-config MARKER-user-data", "MARKER-network-data"].map(|text| STANDARD.encode(text));
    sent.iter().map(|text| numbers(text)).chain(encoded).chain(["MARKER".to_owned()]).collect()
}

#[tokio::test]
async fn a_panic_is_answered_logged_under_its_id_without_what_was_sent_and_hurts_nobody_else() {
    let log = listen();
    let sound = || MemoryStore::new(Arc::new(TokioClock::starting_at(Timestamp::EPOCH)));
    let served = serve(Arc::new(BrokenClock), sound()).await;

    let (status, id, answer) = served.get("/rackwright/v1/status").await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(answer.contains("InternalError") && !answer.contains("hands"), "what went wrong inside is not told to clients: {answer}");
    let lines = log.lines_with(&id);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("the clock has no hands"), "{lines:?}");
    assert!(lines[1].contains("/rackwright/v1/status") && lines[1].contains("InternalError"), "{lines:?}");

    // The API's clock is read when a body with secrets has been read; the store's, when the vault keeps the first of them.
    let cracked = Arc::new(CrackedClock::default());
    let kept = serve(Arc::new(SystemClock), MemoryStore::new(cracked.clone())).await;
    cracked.breaks();
    let (put, replace) = (format!("{GROUP}/virtualMachines/fw"), format!("{GROUP}/bareMetalMachines/m1/replace"));
    let cases: [(&Served, Method, &str, Secretive); 3] =
        [(&served, Method::PUT, &put, vm), (&served, Method::POST, &replace, replacement), (&kept, Method::PUT, &put, vm)];
    for (served, method, path, body) in cases {
        let path = format!("{path}?api-version=1&note=MARKER-in-a-query");
        let (status, _, refused) = served.send(method.clone(), &path, body(&json!({ "colour": "red" })).to_string()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "the body is read before anything goes wrong: {refused}");
        let (status, id, answer) = served.send(method, &path, body(&json!({})).to_string()).await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "{path}: {answer}");
        assert!(log.holds("server_errors.rs"), "the panic itself was written");
        assert!(log.lines_with(&id).iter().any(|line| line.contains("the clock has no hands")), "{path}");
        for marker in markers().iter().chain([&served.token]) {
            assert!(!refused.contains(marker) && !answer.contains(marker), "the answer has a secret");
            assert!(!log.holds(marker), "the log has a secret");
        }
    }

    assert_eq!(served.get("/healthz").await.0, StatusCode::OK);
    let (status, id, _) = served.get("/nowhere").await;
    let errors: Vec<String> = log.lines_with(&id).into_iter().filter(|line| line.contains("ERROR") || line.contains("WARN")).collect();
    assert_eq!((status, errors), (StatusCode::NOT_FOUND, vec![]), "a client's mistake is not the server's");
}
