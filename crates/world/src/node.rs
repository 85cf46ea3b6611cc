//! The documents of nodes and leases, as kubelets and controllers write them.

use serde_json::{Map, Value, json};

use crate::KUBERNETES_VERSION;
use crate::layout::{MachineSpec, Role};
use crate::time::{Instant, Span};

/// Set by the cloud on every node: which role the machine plays for the platform.
const ROLE_LABEL_PREFIX: &str = "platform.afo-nc.microsoft.com";

const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// A condition's type, its healthy status, and the reason and message of a healthy one.
const CONDITIONS: [(&str, &str, &str, &str); 4] = [
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
];

/// A node as its kubelet first registers it.
pub(crate) fn registration(spec: &MachineSpec) -> Value {
    let mut taints = Vec::new();
    if spec.role == Role::ControlPlane {
        taints.push(json!({"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}));
    }
    let mut node = json!({
        "metadata": {
            "name": spec.name,
            "labels": labels(spec),
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        },
        "spec": {"providerID": format!("rackwright-sim://{}", spec.uuid)},
    });
    if !taints.is_empty() {
        node["spec"]["taints"] = Value::Array(taints);
    }
    node
}

fn labels(spec: &MachineSpec) -> Value {
    let mut labels = Map::new();
    let mut label = |key: &str, value: &str| labels.insert(key.to_owned(), json!(value));
    label("kubernetes.io/arch", "amd64");
    label("kubernetes.io/os", "linux");
    label("kubernetes.io/hostname", &spec.name);
    label("topology.kubernetes.io/zone", spec.rack_name());
    label("topology.kubernetes.io/baremetalmachine", &spec.name);
    let plane = match spec.role {
        Role::ControlPlane | Role::SpareControlPlane => {
            label("node-role.kubernetes.io/control-plane", "");
            "control-plane"
        }
        Role::Management => "management-plane",
        Role::Compute => "compute-plane",
    };
    label(&format!("{ROLE_LABEL_PREFIX}/{plane}"), "true");
    Value::Object(labels)
}

/// The node with the status that a healthy kubelet posts.
pub(crate) fn with_kubelet_status(node: &Value, spec: &MachineSpec, boot_id: &str, at: Instant) -> Value {
    let mut node = node.clone();
    let conditions: Vec<Value> = CONDITIONS
        .iter()
        .map(|(kind, status, reason, message)| {
            let mut condition = condition(&node, kind, status, reason, message, at);
            condition["lastHeartbeatTime"] = json!(at.to_seconds_text());
            condition
        })
        .collect();
    let (cores, memory) = if spec.role == Role::Compute { ("96", "528280960Ki") } else { ("64", "263856128Ki") };
    let capacity = json!({"cpu": cores, "memory": memory, "pods": "110", "ephemeral-storage": "460437140Ki"});
    node["status"] = json!({
        "addresses": [
            {"type": "InternalIP", "address": spec.host_address.to_string()},
            {"type": "Hostname", "address": spec.name},
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
            "kubeletVersion": KUBERNETES_VERSION,
            "machineID": spec.uuid.replace('-', ""),
            "operatingSystem": "linux",
            "osImage": "Microsoft Azure Linux 3.0",
            "systemUUID": spec.uuid,
        },
    });
    node
}

/// The node after its kubelet stopped posting.
pub(crate) fn with_unknown_conditions(node: &Value, at: Instant) -> Value {
    let mut node = node.clone();
    let conditions: Vec<Value> = CONDITIONS
        .iter()
        .map(|(kind, ..)| condition(&node, kind, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.", at))
        .collect();
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
