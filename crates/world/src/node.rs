//! The documents of nodes and leases, as kubelets and controllers write them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::hardware::Release;
use crate::host::{HostFacts, TenantNode, TenantRole};
use crate::layout::{MachineSpec, Role};
use crate::time::{Instant, Span};

/// Set by the cloud on every node: which role the machine plays for the platform.
const ROLE_LABEL_PREFIX: &str = "platform.afo-nc.microsoft.com";

/// The label and the taint of a node that runs a control plane.
pub(crate) const CONTROL_PLANE_ROLE: &str = "node-role.kubernetes.io/control-plane";

pub(crate) const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
pub(crate) const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// A condition's type, its healthy status, and the reason and message of a healthy one.
const CONDITIONS: [(&str, &str, &str, &str); 4] = [
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
];

/// What an agent on the node watches beside the kubelet: a condition's type, and its healthy status, reason and message.
///
/// The first is node-problem-detector's. A node gets them with its first problem, and keeps them.
const WATCHED: [(&str, &str, &str, &str); 3] = [
    ("ReadonlyFilesystem", "False", "FilesystemIsNotReadOnly", "Filesystem is not read-only"),
    ("BmmNetworkLinksUp", "True", "PortsUp", "All physical links are up"),
    ("BmmNetworkLinksStable", "True", "NoPortFlapping", "No port flapping in the last 15 mins"),
];

/// Something that the agent on a node has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    ReadOnlyRoot,
    PortDown { port: String },
    PortFlapping { port: String, times: usize },
}

impl Problem {
    /// The condition's type, status, reason and message.
    fn condition(&self) -> (&'static str, &'static str, &'static str, String) {
        match self {
            Problem::ReadOnlyRoot => ("ReadonlyFilesystem", "True", "FilesystemIsReadOnly", "Filesystem is read-only".to_owned()),
            Problem::PortDown { port } => ("BmmNetworkLinksUp", "False", "PortDown", format!("Physical link(s) down: {port}")),
            Problem::PortFlapping { port, times } => {
                let message = format!("Port flapping in the last 15 mins: {port} ({times} times)");
                ("BmmNetworkLinksStable", "False", "PortFlappingDetected", message)
            }
        }
    }
}

/// A node as its kubelet first registers it.
pub(crate) fn registration(host: &HostFacts) -> Value {
    let taints: Vec<Value> = host.taints.iter().map(|key| json!({"key": key, "effect": "NoSchedule"})).collect();
    let mut node = json!({
        "metadata": {
            "name": host.name,
            "labels": host.labels,
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        },
        "spec": {"providerID": host.provider_id},
    });
    if !taints.is_empty() {
        node["spec"]["taints"] = Value::Array(taints);
    }
    node
}

/// What every node is labelled with: its own name, and the machine and the rack it stands in.
fn place_labels(name: &str, machine: &str, zone: &str) -> BTreeMap<String, String> {
    let labels = [
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/os", "linux"),
        ("kubernetes.io/hostname", name),
        ("topology.kubernetes.io/zone", zone),
        ("topology.kubernetes.io/baremetalmachine", machine),
    ];
    labels.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

pub(crate) fn machine_labels(spec: &MachineSpec) -> BTreeMap<String, String> {
    let mut labels = place_labels(&spec.name, &spec.name, spec.rack_name());
    let plane = match spec.role {
        Role::ControlPlane | Role::SpareControlPlane => {
            labels.insert(CONTROL_PLANE_ROLE.to_owned(), String::new());
            "control-plane"
        }
        Role::Management => "management-plane",
        Role::Compute => "compute-plane",
    };
    labels.insert(format!("{ROLE_LABEL_PREFIX}/{plane}"), "true".to_owned());
    labels
}

pub(crate) fn tenant_labels(node: &TenantNode) -> BTreeMap<String, String> {
    let mut labels = place_labels(&node.name, &node.machine, &node.zone);
    match &node.role {
        TenantRole::ControlPlane => drop(labels.insert(CONTROL_PLANE_ROLE.to_owned(), String::new())),
        TenantRole::Worker { pool, mode } => {
            labels.insert("kubernetes.azure.com/agentpool".to_owned(), pool.clone());
            labels.insert("kubernetes.azure.com/mode".to_owned(), mode.to_lowercase());
        }
    }
    labels.extend(node.labels.clone());
    labels
}

/// The node with these labels beside whatever else it is labelled with: a virtual machine may boot on another machine.
pub(crate) fn with_labels(node: &Value, labels: &BTreeMap<String, String>) -> Value {
    let mut node = node.clone();
    for (key, value) in labels {
        node["metadata"]["labels"][key] = json!(value);
    }
    node
}

/// The node with the status that a healthy kubelet posts.
pub(crate) fn with_kubelet_status(node: &Value, host: &HostFacts, boot_id: &str, problems: &[Problem], at: Instant) -> Value {
    let mut node = node.clone();
    let mut conditions: Vec<Value> = CONDITIONS
        .iter()
        .map(|(kind, status, reason, message)| {
            let mut condition = condition(&node, kind, status, reason, message, at);
            condition["lastHeartbeatTime"] = json!(at.to_seconds_text());
            condition
        })
        .collect();
    conditions.extend(watched_conditions(&node, problems, at));
    let release = host.release.clone().unwrap_or_else(Release::delivered);
    let capacity = json!({"cpu": host.cpu, "memory": host.memory, "pods": "110", "ephemeral-storage": "460437140Ki"});
    node["status"] = json!({
        "addresses": [
            {"type": "InternalIP", "address": host.address.to_string()},
            {"type": "Hostname", "address": host.name},
        ],
        "allocatable": capacity,
        "capacity": capacity,
        "conditions": conditions,
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": boot_id,
            "containerRuntimeVersion": "containerd://2.0.5",
            "kernelVersion": "6.6.96.2-1.azl3",
            "kubeProxyVersion": "",
            "kubeletVersion": host.release.as_ref().map_or(&host.version, |release| &release.kubernetes_version),
            "machineID": host.uuid.replace('-', ""),
            "operatingSystem": "linux",
            "osImage": release.os_name,
            "systemUUID": host.uuid,
        },
    });
    node
}

/// The node as the agent on it finds it, its kubelet's conditions as they are.
pub(crate) fn with_problems(node: &Value, problems: &[Problem], at: Instant) -> Value {
    let watched = watched_conditions(node, problems, at);
    let mut conditions = other_conditions(node, |kind| !WATCHED.iter().any(|(watched, ..)| *watched == kind));
    conditions.extend(watched);
    let mut node = node.clone();
    node["status"]["conditions"] = Value::Array(conditions);
    node
}

/// The conditions of what is wrong now, and of what once was.
fn watched_conditions(node: &Value, problems: &[Problem], at: Instant) -> Vec<Value> {
    let told = |(kind, status, reason, message): &(&str, &str, &str, &str)| {
        let problem = problems.iter().map(Problem::condition).find(|(of, ..)| of == kind);
        match problem {
            Some((_, status, reason, message)) => Some(condition(node, kind, status, reason, &message, at)),
            None => find_condition(node, kind).map(|_| condition(node, kind, status, reason, message, at)),
        }
    };
    WATCHED.iter().filter_map(told).collect()
}

fn other_conditions(node: &Value, is_other: impl Fn(&str) -> bool) -> Vec<Value> {
    let present = node["status"]["conditions"].as_array().into_iter().flatten();
    present.filter(|condition| condition["type"].as_str().is_some_and(&is_other)).cloned().collect()
}

/// The node after its kubelet stopped posting. What the agent on it found last stays.
pub(crate) fn with_unknown_conditions(node: &Value, at: Instant) -> Value {
    let mut node = node.clone();
    let mut conditions: Vec<Value> = CONDITIONS
        .iter()
        .map(|(kind, ..)| condition(&node, kind, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.", at))
        .collect();
    conditions.extend(other_conditions(&node, |kind| !CONDITIONS.iter().any(|(kubelet, ..)| *kubelet == kind)));
    node["status"]["conditions"] = Value::Array(conditions);
    node
}

/// A condition that keeps its heartbeat, and its transition time if its status does not change.
fn condition(node: &Value, kind: &str, status: &str, reason: &str, message: &str, at: Instant) -> Value {
    let before = find_condition(node, kind);
    let since = match before {
        Some(before) if before["status"] == status => before["lastTransitionTime"].clone(),
        _ => json!(at.to_seconds_text()),
    };
    let heartbeat = before.map_or_else(|| json!(at.to_seconds_text()), |before| before["lastHeartbeatTime"].clone());
    json!({
        "type": kind,
        "status": status,
        "lastHeartbeatTime": heartbeat,
        "lastTransitionTime": since,
        "reason": reason,
        "message": message,
    })
}

fn find_condition<'a>(node: &'a Value, kind: &str) -> Option<&'a Value> {
    node["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == kind)
}

/// `True`, `False`, `Unknown`, or nothing if no kubelet has posted yet.
pub(crate) fn ready_status(node: &Value) -> Option<&str> {
    find_condition(node, "Ready")?["status"].as_str()
}

pub(crate) fn is_ready(node: &Value) -> bool {
    ready_status(node) == Some("True")
}

pub(crate) fn is_unschedulable(node: &Value) -> bool {
    node["spec"]["unschedulable"] == true
}

/// The node with exactly the taints that the controllers keep, and everybody else's untouched.
pub(crate) fn with_controller_taints(node: &Value, at: Instant) -> Value {
    let mut wanted = Vec::new();
    if is_unschedulable(node) {
        wanted.push((UNSCHEDULABLE, "NoSchedule"));
    }
    if ready_status(node) == Some("Unknown") {
        wanted.push((UNREACHABLE, "NoSchedule"));
        wanted.push((UNREACHABLE, "NoExecute"));
    }
    let present = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
    let is = |taint: &Value, (key, effect): &(&str, &str)| taint["key"] == *key && taint["effect"] == *effect;
    let mut taints: Vec<Value> = present
        .into_iter()
        .filter(|taint| {
            let ours = taint["key"] == UNSCHEDULABLE || taint["key"] == UNREACHABLE;
            !ours || wanted.iter().any(|wanted| is(taint, wanted))
        })
        .collect();
    for wanted in &wanted {
        if !taints.iter().any(|taint| is(taint, wanted)) {
            taints.push(json!({"key": wanted.0, "effect": wanted.1, "timeAdded": at.to_seconds_text()}));
        }
    }
    let mut node = node.clone();
    if let Some(spec) = node.get_mut("spec").and_then(Value::as_object_mut) {
        if taints.is_empty() {
            spec.remove("taints");
        } else {
            spec.insert("taints".to_owned(), Value::Array(taints));
        }
    }
    node
}

/// A kubelet's first lease.
pub(crate) fn lease(node: &str, node_uid: Option<&Value>, duration: Span, at: Instant) -> Value {
    let mut lease = json!({
        "metadata": {"name": node},
        "spec": {
            "holderIdentity": node,
            "leaseDurationSeconds": (duration.0 / 1_000).max(1),
            "renewTime": at.to_micros_text(),
        },
    });
    if let Some(uid) = node_uid {
        lease["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "Node", "name": node, "uid": uid}]);
    }
    lease
}
