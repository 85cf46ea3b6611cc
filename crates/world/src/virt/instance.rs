//! The documents of virtual machine instances: one run of a virtual machine, from its pod's first hour to its last.

use serde_json::{Value, json};

use crate::pod;
use crate::time::Instant;
use crate::virt::vm::since;

/// KubeVirt's own: the object stays until the launcher's pod is gone.
pub(crate) const FINALIZER: &str = "foregroundDeleteVirtualMachine";

/// How long a guest has to shut down when its template does not say: KubeVirt's default.
const DEFAULT_GRACE_SECONDS: i64 = 180;

/// An instance as the controller makes it from its virtual machine.
pub(crate) fn of_vm(vm: &Value) -> Value {
    let template = &vm["spec"]["template"];
    let name = vm["metadata"]["name"].as_str().unwrap_or_default();
    let mut labels = template["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    labels.insert("kubevirt.io/vm".to_owned(), json!(name));
    labels.insert("vm.kubevirt.io/name".to_owned(), json!(name));
    let mut spec = template["spec"].clone();
    if spec["terminationGracePeriodSeconds"].is_null() {
        spec["terminationGracePeriodSeconds"] = json!(DEFAULT_GRACE_SECONDS);
    }
    json!({
        "metadata": {
            "name": name,
            "labels": labels,
            "annotations": template["metadata"]["annotations"].as_object().cloned().unwrap_or_default(),
            "finalizers": [FINALIZER],
            "ownerReferences": [{
                "apiVersion": "kubevirt.io/v1",
                "kind": "VirtualMachine",
                "name": name,
                "uid": vm["metadata"]["uid"],
                "controller": true,
                "blockOwnerDeletion": true,
            }],
        },
        "spec": spec,
        "status": {"phase": "Pending"},
    })
}

pub(crate) fn phase(instance: &Value) -> &str {
    instance["status"]["phase"].as_str().unwrap_or("Pending")
}

pub(crate) fn is_final(instance: &Value) -> bool {
    matches!(phase(instance), "Succeeded" | "Failed")
}

pub(crate) fn is_ready(instance: &Value) -> bool {
    has_condition(instance, "Ready")
}

/// Whether the operating system of the guest has come up.
pub(crate) fn is_guest_up(instance: &Value) -> bool {
    has_condition(instance, "AgentConnected")
}

fn has_condition(instance: &Value, kind: &str) -> bool {
    condition(instance, kind).is_some_and(|condition| condition["status"] == "True")
}

fn condition<'a>(instance: &'a Value, kind: &str) -> Option<&'a Value> {
    instance["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == kind)
}

pub(crate) fn grace_seconds(instance: &Value) -> i64 {
    instance["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap_or(DEFAULT_GRACE_SECONDS)
}

/// The condition that says why no node takes the launcher's pod.
pub(crate) fn unschedulable(instance: &Value) -> Option<&Value> {
    condition(instance, "PodScheduled").filter(|condition| condition["status"] == "False")
}

pub(crate) fn is_unschedulable(instance: &Value) -> bool {
    unschedulable(instance).is_some()
}

/// What is seen of the guest that the launcher's pod has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guest {
    Booting,
    Up,
}

/// The instance as its launcher's pod shows it.
pub(crate) fn with_launcher(instance: &Value, launcher: Option<&Value>, guest: Guest, at: Instant) -> Value {
    if is_final(instance) {
        return with_ready(instance, "False", "PodTerminating", at);
    }
    let mut new = instance.clone();
    let Some(launcher) = launcher else {
        // Without its pod an instance that was somewhere has ended; one that was nowhere gets a pod.
        let was_placed = matches!(phase(instance), "Scheduled" | "Running");
        new["status"]["phase"] = json!(if was_placed { "Failed" } else { "Pending" });
        return with_ready(&new, "False", "PodNotExists", at);
    };
    let phase = match (pod::phase(launcher), pod::node_name(launcher)) {
        ("Failed", _) => "Failed",
        ("Succeeded", _) => "Succeeded",
        ("Running", _) => "Running",
        (_, Some(_)) => "Scheduled",
        (_, None) => "Scheduling",
    };
    new["status"]["phase"] = json!(phase);
    if let Some(node) = pod::node_name(launcher) {
        new["status"]["nodeName"] = json!(node);
        new["metadata"]["labels"]["kubevirt.io/nodeName"] = json!(node);
        new["status"]["activePods"] = json!({launcher["metadata"]["uid"].as_str().unwrap_or_default(): node});
    }
    let scheduled = launcher["status"]["conditions"].as_array().into_iter().flatten().find(|found| found["type"] == "PodScheduled");
    let unscheduled = scheduled.filter(|found| found["status"] == "False");
    set(
        &mut new,
        "PodScheduled",
        unscheduled.map(|found| json!({"status": "False", "reason": found["reason"], "message": found["message"]})),
        at,
    );
    let connected = phase == "Running" && guest == Guest::Up;
    set(&mut new, "AgentConnected", connected.then(|| json!({"status": "True"})), at);
    if phase == "Running" && pod::is_ready(launcher) && !pod::is_terminating(launcher) {
        set(&mut new, "Ready", Some(json!({"status": "True"})), at);
        return new;
    }
    let reason = if phase == "Running" { "PodConditionMissing" } else { "GuestNotRunning" };
    with_ready(&new, "False", reason, at)
}

/// The instance after nobody has heard of its node for too long.
pub(crate) fn with_lost_node(instance: &Value, at: Instant) -> Value {
    let mut new = instance.clone();
    new["status"]["phase"] = json!("Failed");
    new["status"]["reason"] = json!("NodeUnresponsive");
    set(&mut new, "AgentConnected", None, at);
    with_ready(&new, "False", "NodeUnresponsive", at)
}

fn with_ready(instance: &Value, status: &str, reason: &str, at: Instant) -> Value {
    let mut new = instance.clone();
    set(&mut new, "Ready", Some(json!({"status": status, "reason": reason, "message": "Guest VM is not reported as running"})), at);
    new
}

/// Sets a condition, or takes it away.
fn set(instance: &mut Value, kind: &str, condition: Option<Value>, at: Instant) {
    let new = condition.map(|mut condition| {
        condition["type"] = json!(kind);
        since(instance, condition, at)
    });
    let conditions = &mut instance["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(conditions) = conditions.as_array_mut() else { return };
    let place = conditions.iter().position(|found| found["type"] == kind);
    match (place, new) {
        (Some(place), Some(new)) => conditions[place] = new,
        (Some(place), None) => drop(conditions.remove(place)),
        (None, Some(new)) => conditions.push(new),
        (None, None) => {}
    }
}
