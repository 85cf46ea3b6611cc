//! The documents of virtual machines: what somebody wants of one, and what KubeVirt's controller says about it.

use serde_json::{Value, json};

use crate::objects::ObjectError;
use crate::time::Instant;
use crate::virt::{disk, instance};

/// Keeps a deleted virtual machine until its instance has ended and its disks are gone.
pub(crate) const FINALIZER: &str = "kubevirt.io/virtualMachineControllerFinalize";

/// Set on a virtual machine of the simulator: its guest does not answer to a shutdown.
pub(crate) const IGNORES_SHUTDOWN: &str = "sim.rackwright.dev/ignores-shutdown";

/// `spec.runStrategy`, with the older `spec.running` in the same words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunStrategy {
    Always,
    Halted,
    Manual,
    RerunOnFailure,
    Once,
}

impl RunStrategy {
    pub fn name(self) -> &'static str {
        match self {
            RunStrategy::Always => "Always",
            RunStrategy::Halted => "Halted",
            RunStrategy::Manual => "Manual",
            RunStrategy::RerunOnFailure => "RerunOnFailure",
            RunStrategy::Once => "Once",
        }
    }

    fn parse(name: &str) -> Option<RunStrategy> {
        use RunStrategy::{Always, Halted, Manual, Once, RerunOnFailure};
        [Always, Halted, Manual, RerunOnFailure, Once].into_iter().find(|strategy| strategy.name() == name)
    }

    pub fn of(vm: &Value) -> RunStrategy {
        match (vm["spec"]["runStrategy"].as_str(), vm["spec"]["running"].as_bool()) {
            (Some(name), _) => RunStrategy::parse(name).unwrap_or(RunStrategy::Halted),
            (None, Some(true)) => RunStrategy::Always,
            (None, _) => RunStrategy::Halted,
        }
    }
}

/// Refuses what KubeVirt's admission refuses, as far as it would break the controller.
pub(crate) fn prepare(vm: &mut Value) -> Result<(), ObjectError> {
    let spec = &vm["spec"];
    match (&spec["runStrategy"], &spec["running"]) {
        (Value::Null, Value::Null) => {
            return Err(ObjectError::Invalid("spec.running: Required value: one of running or runStrategy must be specified".to_owned()));
        }
        (Value::Null, Value::Bool(_)) => {}
        (Value::String(name), Value::Null) if RunStrategy::parse(name).is_some() => {}
        (other, Value::Null) => return Err(ObjectError::Invalid(format!("spec.runStrategy: Invalid value: {other}"))),
        _ => return Err(ObjectError::Invalid("spec.running: Invalid value: running and runStrategy are mutually exclusive".to_owned())),
    }
    if !spec["template"]["spec"]["domain"].is_object() {
        return Err(ObjectError::Invalid("spec.template.spec.domain: Required value".to_owned()));
    }
    for (index, template) in disk::templates(vm).iter().enumerate() {
        if template["metadata"]["name"].as_str().is_none_or(str::is_empty) {
            return Err(ObjectError::Invalid(format!("spec.dataVolumeTemplates[{index}].metadata.name: Required value")));
        }
    }
    Ok(())
}

/// What the controller is asked to do beside the strategy: the first of the requests that it has not carried out.
pub(crate) fn asked(vm: &Value) -> Option<&str> {
    vm["status"]["stateChangeRequests"][0]["action"].as_str()
}

/// Whether there should be an instance; an instance that has ended may be there and still have to make way.
pub(crate) fn wants_instance(vm: &Value, instance: Option<&Value>) -> bool {
    let is_there = instance.is_some();
    match (RunStrategy::of(vm), asked(vm)) {
        (_, Some("Stop")) => false,
        (RunStrategy::Always, _) => true,
        (RunStrategy::Halted, _) => false,
        (RunStrategy::Manual, Some("Start")) => true,
        (RunStrategy::Manual, _) => is_there,
        (RunStrategy::RerunOnFailure, Some("Start")) => true,
        // One that ended by itself is over until somebody starts it.
        (RunStrategy::RerunOnFailure, _) => is_there || vm["status"]["created"] != false,
        (RunStrategy::Once, _) => is_there || vm["status"]["created"].is_null(),
    }
}

/// Whether an instance in its last phase makes way for another.
pub(crate) fn reruns(vm: &Value, instance: &Value) -> bool {
    match (RunStrategy::of(vm), instance::phase(instance)) {
        (RunStrategy::Always, "Succeeded" | "Failed") | (RunStrategy::RerunOnFailure, "Failed") => true,
        (RunStrategy::Manual | RunStrategy::RerunOnFailure, "Succeeded" | "Failed") => asked(vm) == Some("Start"),
        _ => false,
    }
}

/// The one word that `kubectl get vm` shows.
pub(crate) fn printable_status(vm: &Value, instance: Option<&Value>, are_disks_ready: bool) -> &'static str {
    let is_leaving = |object: &Value| object["metadata"]["deletionTimestamp"].is_string();
    if is_leaving(vm) {
        return "Terminating";
    }
    let Some(instance) = instance else {
        let wanted = wants_instance(vm, None);
        return match (wanted, are_disks_ready, is_backing_off(vm)) {
            (false, _, _) => "Stopped",
            (true, false, _) => "Provisioning",
            (true, true, true) => "CrashLoopBackOff",
            (true, true, false) => "Starting",
        };
    };
    match instance::phase(instance) {
        _ if is_leaving(instance) => "Stopping",
        "Succeeded" | "Failed" if is_backing_off(vm) => "CrashLoopBackOff",
        "Succeeded" | "Failed" => "Stopped",
        "Running" => "Running",
        _ if instance::is_unschedulable(instance) => "ErrorUnschedulable",
        _ => "Starting",
    }
}

fn is_backing_off(vm: &Value) -> bool {
    vm["status"]["startFailure"]["consecutiveFailCount"].as_i64().is_some_and(|count| count > 0)
}

/// The virtual machine with the status that the controller writes.
pub(crate) fn with_status(vm: &Value, instance: Option<&Value>, are_disks_ready: bool, at: Instant) -> Value {
    let mut new = vm.clone();
    if !new["status"].is_object() {
        new["status"] = json!({});
    }
    let is_ready = instance.is_some_and(instance::is_ready);
    let printable = printable_status(vm, instance, are_disks_ready);
    let status = &mut new["status"];
    // Null means that it never had an instance.
    if instance.is_some() || !status["created"].is_null() {
        status["created"] = json!(instance.is_some());
    }
    status["ready"] = json!(is_ready);
    status["printableStatus"] = json!(printable);
    status["runStrategy"] = json!(RunStrategy::of(vm).name());
    status["desiredGeneration"] = vm["metadata"]["generation"].clone();
    status["observedGeneration"] = vm["metadata"]["generation"].clone();
    let (reason, message) = match instance {
        _ if is_ready => (Value::Null, Value::Null),
        None => (json!("VMINotExists"), json!("VMI does not exist")),
        Some(_) => (json!("GuestNotRunning"), json!("Guest VM is not reported as running")),
    };
    let ready = json!({"type": "Ready", "status": if is_ready { "True" } else { "False" }, "reason": reason, "message": message});
    let mut conditions = vec![since(vm, ready, at)];
    if let Some(unscheduled) = instance.and_then(instance::unschedulable) {
        conditions.push(since(vm, unscheduled.clone(), at));
    }
    status["conditions"] = Value::Array(conditions);
    new
}

/// A condition that keeps its transition time if its status stays.
pub(crate) fn since(object: &Value, mut condition: Value, at: Instant) -> Value {
    let before = object["status"]["conditions"].as_array().into_iter().flatten().find(|before| before["type"] == condition["type"]);
    let same = before.filter(|before| before["status"] == condition["status"]);
    condition["lastTransitionTime"] = same.map_or_else(|| json!(at.to_seconds_text()), |before| before["lastTransitionTime"].clone());
    if let Some(fields) = condition.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    condition
}
