//! What tenants see and do, past the control plane: virtctl on the undercloud, kubectl on a tenant's cluster.

use std::fmt::Write;

use axum::body::Body;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::house::House;

/// The namespace of the undercloud in which tenants' virtual machines are.
const NAMESPACE: &str = "tenants";

impl House {
    /// Each virtual machine, as the undercloud tells it.
    pub async fn vms(&self) -> String {
        let list = async |plural: &str| {
            self.undercloud(Method::GET, &format!("/apis/kubevirt.io/v1/namespaces/{NAMESPACE}/{plural}"), &Value::Null).await.1
        };
        let (vms, instances) = (list("virtualmachines").await, list("virtualmachineinstances").await);
        let mut told = String::new();
        for vm in items(&vms) {
            let name = &vm["metadata"]["name"];
            let node = items(&instances).find(|found| found["metadata"]["name"] == *name).map(|found| found["status"]["nodeName"].clone());
            let place = node.as_ref().and_then(Value::as_str).map_or_else(String::new, |node| format!(" on {node}"));
            writeln!(told, "{} {}{place}", text(name), text(&vm["status"]["printableStatus"])).expect("a string takes text");
        }
        told
    }

    /// `start`, `stop` or `restart` as virtctl asks for it. Returns the status code.
    pub async fn virtctl(&self, verb: &str, vm: &str) -> u16 {
        let path = format!("/apis/subresources.kubevirt.io/v1/namespaces/{NAMESPACE}/virtualmachines/{vm}/{verb}");
        self.undercloud(Method::PUT, &path, &Value::Null).await.0.as_u16()
    }

    /// The nodes of a tenant's cluster, as it tells them itself.
    pub async fn tenant_nodes(&self, cluster: &str) -> String {
        let (_, nodes) = self.tenant(cluster, Method::GET, "/api/v1/nodes", &Value::Null).await;
        let mut told = String::new();
        for node in items(&nodes) {
            let ready = items_of(&node["status"]["conditions"]).find(|found| found["type"] == "Ready").map(|found| text(&found["status"]));
            let ready = match ready.as_deref() {
                Some("True") => "Ready",
                _ => "NotReady",
            };
            let closed = if node["spec"]["unschedulable"] == true { ",SchedulingDisabled" } else { "" };
            let is_out = items_of(&node["spec"]["taints"]).any(|taint| taint["key"] == "node.kubernetes.io/out-of-service");
            let closed = if is_out { format!("{closed},OutOfService") } else { closed.to_owned() };
            let machine = text(&node["metadata"]["labels"]["topology.kubernetes.io/baremetalmachine"]);
            writeln!(told, "{} {ready}{closed} {machine}", text(&node["metadata"]["name"])).expect("a string takes text");
        }
        told
    }

    /// The pods of a tenant's cluster that are not its own machinery. Names that are drawn are cut to what is not.
    pub async fn tenant_pods(&self, cluster: &str) -> String {
        let (_, pods) = self.tenant(cluster, Method::GET, "/api/v1/namespaces/default/pods", &Value::Null).await;
        let mut told: Vec<String> = items(&pods).map(pod_line).collect();
        told.sort();
        told.iter().map(|line| format!("{line}\n")).collect()
    }

    /// `kubectl delete vm`. Returns the status code.
    pub async fn delete_vm(&self, vm: &str) -> u16 {
        let path = format!("/apis/kubevirt.io/v1/namespaces/{NAMESPACE}/virtualmachines/{vm}");
        self.undercloud(Method::DELETE, &path, &Value::Null).await.0.as_u16()
    }

    /// `cordon`, `uncordon` or `delete` of a node in a tenant's cluster, as its owner does it. Returns the status code.
    pub async fn tenant_kubectl(&self, verb: &str, node: &str) -> u16 {
        let (method, patch) = match verb {
            "cordon" => (Method::PATCH, json!({"spec": {"unschedulable": true}})),
            "uncordon" => (Method::PATCH, json!({"spec": {"unschedulable": null}})),
            "delete" => (Method::DELETE, Value::Null),
            _ => panic!("`tenant kubectl {verb}` is not in the language"),
        };
        for cluster in self.site.tenants() {
            let (status, _) = self.tenant(&cluster, method.clone(), &format!("/api/v1/nodes/{node}"), &patch).await;
            if status != StatusCode::NOT_FOUND {
                return status.as_u16();
            }
        }
        StatusCode::NOT_FOUND.as_u16()
    }

    /// An eviction as the owner of a tenant's cluster asks for it. Returns the status code.
    pub async fn tenant_evict(&self, cluster: &str, pod: &str) -> u16 {
        let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}});
        let path = format!("/api/v1/namespaces/default/pods/{pod}/eviction");
        self.tenant(cluster, Method::POST, &path, &eviction).await.0.as_u16()
    }

    /// A budget is to keep another number of pods, as the owner of a tenant's cluster asks for it. Returns the status code.
    pub async fn tenant_budget(&self, cluster: &str, budget: &str, least: &str) -> u16 {
        let least: u32 = least.parse().unwrap_or_else(|_| panic!("`{least}` is not a number of pods"));
        let path = format!("/apis/policy/v1/namespaces/default/poddisruptionbudgets/{budget}");
        self.tenant(cluster, Method::PATCH, &path, &json!({"spec": {"minAvailable": least}})).await.0.as_u16()
    }

    /// A request to the undercloud's API with its token.
    pub async fn undercloud(&self, method: Method, path: &str, body: &Value) -> (StatusCode, Value) {
        send(self.site.kubernetes(), &self.site.layout().kubernetes_token(), method, path, body).await
    }

    /// A request to the API of a tenant's cluster with its token.
    pub async fn tenant(&self, cluster: &str, method: Method, path: &str, body: &Value) -> (StatusCode, Value) {
        let wire = self.site.tenant_kubernetes(cluster).unwrap_or_else(|| panic!("there is no tenant cluster `{cluster}`"));
        send(wire, &self.site.tenant_token(cluster), method, path, body).await
    }
}

async fn send(wire: sim::Wire, token: &str, method: Method, path: &str, body: &Value) -> (StatusCode, Value) {
    let kind = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    let request = Request::builder().method(method).uri(path);
    let request = request.header("authorization", format!("Bearer {token}")).header("content-type", kind);
    let request = request.body(body).expect("the test's request is well formed");
    // A server that is away is as good as one that cannot answer.
    let Ok(response) = wire.oneshot(request).await else { return (StatusCode::SERVICE_UNAVAILABLE, Value::Null) };
    let status = response.status();
    let bytes = response.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

/// Pods of controllers are told by their controller, since their names are drawn.
fn pod_line(pod: &Value) -> String {
    let owner = items_of(&pod["metadata"]["ownerReferences"]).find(|owner| owner["controller"] == true);
    let name = match owner.map(|owner| text(&owner["kind"])).as_deref() {
        Some("ReplicaSet" | "DaemonSet") => format!("{}-*", text(&pod["metadata"]["labels"]["app"])),
        _ => text(&pod["metadata"]["name"]),
    };
    let leaving = if pod["metadata"]["deletionTimestamp"].is_string() { " Terminating" } else { "" };
    let place = pod["spec"]["nodeName"].as_str().map_or_else(String::new, |node| format!(" on {node}"));
    format!("{name} {}{leaving}{place}", text(&pod["status"]["phase"]))
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    items_of(&list["items"])
}

fn items_of(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("-").to_owned()
}
