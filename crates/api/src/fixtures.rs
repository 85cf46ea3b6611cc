//! Documents and a service for the tests of this crate.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use gate::OpenHouse;
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use model::{Cluster, Machine, Operation, Rack, Request, TenantCluster, Timestamp, Validation, Verdict, Vm, keys};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use store::{Commit, MemoryStore, SharedStore, TokioClock};
use tokio_util::sync::CancellationToken;

use crate::{Api, Cache};

pub const NOW: &str = "2026-11-15T14:00:00.000Z";

pub fn of_json<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("the document is as the model says")
}

pub fn cluster(name: &str) -> Cluster {
    of_json(json!({
        "name": name, "home": { "subscription": "s1", "resourceGroup": "g1", "location": "local" }, "createdAt": NOW,
        "version": "4.9.2", "detailedStatus": "Running", "connection": "Connected", "connectionSince": NOW,
    }))
}

pub fn rack(cluster: &str, name: &str) -> Rack {
    of_json(json!({
        "name": name, "cluster": cluster, "createdAt": NOW, "availabilityZone": "1", "location": "row 1",
        "serialNumber": "R1", "sku": "simulated",
    }))
}

pub fn machine(cluster: &str, rack: &str, name: &str) -> Machine {
    of_json(json!({
        "name": name, "cluster": cluster, "createdAt": NOW, "role": "Compute", "provisioning": "Provisioned",
        "desiredPower": "On", "management": { "kind": "managed" },
        "lastSeen": { "power": null, "node": null, "bmcFault": null },
        "hardware": {
            "rack": rack, "slot": 1, "sku": "x", "serialNumber": "x", "bmcAddress": "x", "bmcMac": "x", "bootMac": "x",
            "credentials": "x",
        },
    }))
}

/// A virtual machine that runs on a machine.
pub fn vm(cluster: &str, name: &str, machine: &str) -> Vm {
    of_json(json!({
        "name": name, "cluster": cluster, "createdAt": NOW, "edition": 1, "provisioning": "Succeeded", "uid": "u1", "machine": machine,
        "spec": { "cpuCores": 4, "memoryGb": 8, "image": "registry/fw:1", "adminUsername": "azureuser", "osDisk": { "sizeGb": 20 } },
        "lastSeen": { "at": NOW, "what": {
            "name": name, "uid": "u1", "run": "Always", "state": "Running", "cpuCores": 4, "memoryBytes": 8_u64 << 30, "grace": 180_000,
        } },
    }))
}

/// A tenant cluster with one pool, and a node of it on each of the machines.
pub fn tenant_cluster(cluster: &str, name: &str, machines: &[&str]) -> TenantCluster {
    let node = |(n, machine): (usize, &&str)| {
        let node = json!({
            "role": "Worker", "pool": "agentpool1", "machine": machine, "vm": "Running", "ready": "True", "isUnschedulable": false,
            "version": "v1.31.4", "cpuCores": 8, "memoryBytes": 32_u64 << 30, "since": NOW,
        });
        (format!("{name}-agentpool1-md-{n}"), node)
    };
    let nodes: serde_json::Map<String, Value> = machines.iter().enumerate().map(node).collect();
    of_json(json!({
        "name": name, "cluster": cluster, "createdAt": NOW, "nodes": nodes,
        "lastSeen": {
            "name": name, "uid": "u2", "phase": "Provisioned", "version": "v1.31.4", "machines": [],
            "pools": [{ "name": "agentpool1", "count": machines.len(), "version": "v1.31.4" }],
        },
    }))
}

/// A running restart with one entry in its journal.
pub fn operation(id: &str, cluster: &str, machine: &str, accepted_at: Timestamp) -> Operation {
    of_json(json!({
        "format": 1, "id": id, "cluster": cluster, "machine": machine, "action": { "kind": "restart" }, "caller": "alice",
        "correlationId": "c", "acceptedAt": accepted_at, "deadlineAt": accepted_at,
        "journal": [{ "at": accepted_at, "fact": { "kind": "resumed" } }],
    }))
}

/// What a store is filled with.
#[derive(Default)]
pub struct Documents(Commit);

impl Documents {
    fn put(self, key: String, document: &impl serde::Serialize) -> Documents {
        Documents(self.0.put(key, serde_json::to_vec(document).expect("documents are JSON")))
    }

    pub fn cluster(self, cluster: &Cluster) -> Documents {
        self.put(keys::cluster(&cluster.name), cluster)
    }

    pub fn rack(self, rack: &Rack) -> Documents {
        self.put(keys::rack(&rack.cluster, &rack.name), rack)
    }

    pub fn machine(self, machine: &Machine) -> Documents {
        self.put(keys::machine(&machine.cluster, &machine.name), machine)
    }

    pub fn vm(self, vm: &Vm) -> Documents {
        self.put(keys::vm(&vm.cluster, &vm.name), vm)
    }

    pub fn tenant_cluster(self, tenant: &TenantCluster) -> Documents {
        self.put(keys::tenant_cluster(&tenant.cluster, &tenant.name), tenant)
    }

    pub fn operation(self, operation: &Operation) -> Documents {
        self.put(keys::operation(&operation.cluster, &operation.id), operation)
    }

    pub fn validation(self, validation: &Validation) -> Documents {
        self.put(keys::validation(&validation.cluster, &validation.machine), validation)
    }

    /// A service over them. Its cache has read them and follows nothing.
    pub async fn serve(self) -> Api {
        let clock = Arc::new(TokioClock::starting_at(Timestamp::parse(NOW).expect("a constant instant")));
        let store: SharedStore = Arc::new(MemoryStore::new(clock.clone()));
        store.commit(self.0).await.expect("memory takes documents");
        let cache = Cache::load(&store).await.expect("memory can be read");
        let house = OpenHouse::open(clock.clone()).await;
        Api::new(store, clock, cache, Arc::default(), crate::Process::default(), house.gate())
    }
}

/// Judges every request as it comes, as a keeper would; what was asked is kept.
pub fn keep(api: &Api, judge: impl Fn(&Request) -> Verdict + Send + 'static) -> Asked {
    tokio::spawn(api.cache.clone().follow(api.store.clone(), CancellationToken::new()));
    let asked = Asked::default();
    let (api, kept) = (api.clone(), asked.clone());
    tokio::spawn(async move {
        let mut changes = api.cache.changes();
        while changes.changed().await.is_ok() {
            let open = api.cache.view().requests.values().find(|request| request.verdict.is_none()).cloned();
            let Some(request) = open else { continue };
            let verdict = judge(&request);
            kept.0.lock().unwrap().push((*request).clone());
            let mut commit = Commit::default();
            if let Verdict::Accepted { operation: id } = &verdict {
                let begun = operation(id.as_str(), request.cluster.as_str(), "m1", request.received_at);
                commit = commit.put(keys::operation(&begun.cluster, id), serde_json::to_vec(&begun).unwrap());
            }
            let judged = Request { verdict: Some(verdict), ..(*request).clone() };
            let key = keys::request(&request.cluster, &request.id);
            api.store.commit(commit.put(key, serde_json::to_vec(&judged).unwrap())).await.unwrap();
        }
    });
    asked
}

/// What a keeper was asked.
#[derive(Clone, Default)]
pub struct Asked(Arc<std::sync::Mutex<Vec<Request>>>);

impl Asked {
    pub fn last(&self) -> Request {
        self.0.lock().unwrap().last().expect("somebody asked").clone()
    }

    pub fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

pub async fn send(api: &Api, method: Method, path: &str, body: &str) -> (StatusCode, Value) {
    send_with(api, method, path, body, &[]).await
}

/// The same with headers.
pub async fn send_with(api: &Api, method: Method, path: &str, body: &str, headers: &[(&str, &str)]) -> (StatusCode, Value) {
    let mut request = http::Request::builder().method(method).uri(path).header("host", "localhost");
    if !headers.iter().any(|(name, _)| *name == "authorization") {
        request = request.header("authorization", format!("Bearer {}", OpenHouse::around(api.gate.clone()).token("anonymous")));
    }
    for (name, value) in headers {
        request = request.header(*name, value.as_bytes());
    }
    let request = request.body(Body::from(body.to_owned()));
    answered(api, request.expect("the request is well formed")).await
}

async fn answered(api: &Api, request: http::Request<Body>) -> (StatusCode, Value) {
    let (parts, body) = crate::answer(State(api.clone()), request).await.into_parts();
    let bytes = body.collect().await.expect("the body is whole").to_bytes();
    let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).expect("answers are JSON") };
    (parts.status, body)
}

/// A field of every item of a list, page after page. A list that goes round in circles fails the test.
pub async fn read_pages(api: &Api, path: &str, field: &str) -> (usize, Vec<String>) {
    const PAGES_MAX: usize = 1_000;
    let (mut next, mut items) = (path.to_owned(), Vec::new());
    for pages in 1..=PAGES_MAX {
        let (status, page) = send(api, Method::GET, &next, "").await;
        assert_eq!(status, StatusCode::OK, "{page:#}");
        items.extend(page["value"].as_array().expect("a page has items").iter().map(|item| item[field].as_str().unwrap().to_owned()));
        match page["nextLink"].as_str() {
            Some(link) => next = link.strip_prefix("https://localhost").expect("a link leads back").to_owned(),
            None => return (pages, items),
        }
    }
    panic!("{path} goes on for ever: {:?}", &items[..10]);
}
