//! The documents of pods: what a client may ask for, and what kubelets and controllers write into them.
//!
//! When each of it happens is `pod_work.rs`'s; nothing here changes the site.

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use crate::objects::ObjectError;
use crate::random::Random;
use crate::scheduler::tolerates;
use crate::time::{Instant, Span};

/// Kubernetes' own default for `terminationGracePeriodSeconds`.
const DEFAULT_GRACE_SECONDS: i64 = 30;

/// How long pods tolerate a node that is not ready or not reachable, as the API server's admission fills it in.
const DEFAULT_TOLERATION_SECONDS: i64 = 300;

/// Everything that a kubelet may have to do about one of its pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Start,
    End,
}

/// Fills in what the API server fills in, and refuses what no kubelet could run.
pub(crate) fn prepare_new(pod: &mut Value) -> Result<(), ObjectError> {
    check_containers(pod)?;
    let quality = quality_of_service(pod);
    let Some(spec) = pod["spec"].as_object_mut() else { return Err(ObjectError::Invalid("spec: Required value".to_owned())) };
    for (field, value) in [
        ("restartPolicy", json!("Always")),
        ("terminationGracePeriodSeconds", json!(DEFAULT_GRACE_SECONDS)),
        ("dnsPolicy", json!("ClusterFirst")),
        ("schedulerName", json!("default-scheduler")),
        ("serviceAccountName", json!("default")),
        ("securityContext", json!({})),
        ("tolerations", json!([])),
    ] {
        spec.entry(field).or_insert(value);
    }
    let tolerations = spec.get_mut("tolerations").and_then(Value::as_array_mut);
    tolerations.into_iter().for_each(add_default_tolerations);
    pod["status"] = json!({"phase": "Pending", "qosClass": quality});
    Ok(())
}

/// Without a word on it a pod bears for a while with a node that is not ready, or that nobody hears from.
fn add_default_tolerations(tolerations: &mut Vec<Value>) {
    for taint in ["not-ready", "unreachable"] {
        let taint = json!({"key": format!("node.kubernetes.io/{taint}"), "effect": "NoExecute"});
        if !tolerations.iter().any(|toleration| tolerates(toleration, &taint)) {
            let (key, effect) = (&taint["key"], &taint["effect"]);
            tolerations.push(json!({"key": key, "operator": "Exists", "effect": effect, "tolerationSeconds": DEFAULT_TOLERATION_SECONDS}));
        }
    }
}

pub(crate) fn check_containers(pod: &Value) -> Result<(), ObjectError> {
    let required = |field: &str| Err(ObjectError::Invalid(format!("{field}: Required value")));
    let Some(containers) = pod["spec"]["containers"].as_array().filter(|containers| !containers.is_empty()) else {
        return required("spec.containers");
    };
    for (index, container) in containers.iter().enumerate() {
        for field in ["name", "image"] {
            if container[field].as_str().is_none_or(str::is_empty) {
                return required(&format!("spec.containers[{index}].{field}"));
            }
        }
    }
    match &pod["spec"]["terminationGracePeriodSeconds"] {
        Value::Null => {}
        seconds if seconds.as_i64().is_some_and(|seconds| seconds >= 0) => {}
        other => {
            let why = "must be a whole number that is not negative";
            return Err(ObjectError::Invalid(format!("spec.terminationGracePeriodSeconds: Invalid value: {other}: {why}")));
        }
    }
    Ok(())
}

/// A pod is what it was made as: of its spec, only images, tolerations and the grace may change.
pub(crate) fn check_change(old: &Value, new: &Value) -> Result<(), ObjectError> {
    check_containers(new)?;
    if without_changeable(&old["spec"]) == without_changeable(&new["spec"]) {
        return Ok(());
    }
    let why = "pod updates may not change fields other than `spec.containers[*].image`, `spec.tolerations` or \
               `spec.terminationGracePeriodSeconds`";
    Err(ObjectError::Invalid(format!("spec: Forbidden: {why}")))
}

fn without_changeable(spec: &Value) -> Value {
    let mut spec = spec.clone();
    for container in spec["containers"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        container.remove("image");
    }
    spec["tolerations"] = Value::Null;
    spec["terminationGracePeriodSeconds"] = Value::Null;
    spec
}

fn quality_of_service(pod: &Value) -> &'static str {
    let containers = pod["spec"]["containers"].as_array().map_or(&[][..], Vec::as_slice);
    let (mut any, mut all_bound) = (false, true);
    for container in containers {
        let (limits, requests) = (&container["resources"]["limits"], &container["resources"]["requests"]);
        for resource in ["cpu", "memory"] {
            let (limit, request) = (&limits[resource], &requests[resource]);
            any |= !limit.is_null() || !request.is_null();
            all_bound &= !limit.is_null() && (request.is_null() || request == limit);
        }
    }
    match (any, all_bound) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// The node that runs the pod; nothing while it is bound to none.
pub(crate) fn node_name(pod: &Value) -> Option<&str> {
    pod["spec"]["nodeName"].as_str().filter(|name| !name.is_empty())
}

pub(crate) fn phase(pod: &Value) -> &str {
    pod["status"]["phase"].as_str().unwrap_or("Pending")
}

pub(crate) fn is_finished(pod: &Value) -> bool {
    matches!(phase(pod), "Succeeded" | "Failed")
}

pub(crate) fn is_terminating(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

pub(crate) fn is_ready(pod: &Value) -> bool {
    pod["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// How long the pod is given to end, if whoever deletes it does not say.
pub(crate) fn own_grace_seconds(pod: &Value) -> i64 {
    // A pod that nobody runs has nothing to end.
    if node_name(pod).is_none() || is_finished(pod) {
        return 0;
    }
    pod["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap_or(DEFAULT_GRACE_SECONDS)
}

/// What is left of the grace of a terminating pod.
pub(crate) fn remaining_grace(pod: &Value, at: Instant) -> Span {
    let gone_at = pod["metadata"]["deletionTimestamp"].as_str().and_then(Instant::parse);
    gone_at.map_or(Span::ZERO, |gone_at| (gone_at - at).max(Span::ZERO))
}

/// What the kubelet of this boot has to do about the pod.
pub(crate) fn work(pod: &Value, boot_id: &str) -> Option<Work> {
    if is_terminating(pod) {
        // A pod whose grace has run out has ended, and only waits for its finalizers.
        return (pod["metadata"]["deletionGracePeriodSeconds"] != 0).then_some(Work::End);
    }
    let statuses = pod["status"]["containerStatuses"].as_array().map_or(&[][..], Vec::as_slice);
    let runs = |container: &Value| statuses.iter().any(|status| status["containerID"] == container_id(pod, container, boot_id));
    let is_as_wanted = pod["spec"]["containers"].as_array().is_some_and(|containers| containers.iter().all(runs));
    (!is_finished(pod) && !is_as_wanted).then_some(Work::Start)
}

/// A container is one run of one image: it outlives neither its host's boot nor a change of the image, and the next one
/// has another id.
fn container_id(pod: &Value, container: &Value, boot_id: &str) -> String {
    let purpose = format!("container/{}/{}/{}/{boot_id}", pod["metadata"]["uid"], container["name"], container["image"]);
    let mut random = Random::new(0, &purpose);
    format!("containerd://{:016x}{:016x}{:016x}{:016x}", random.next_u64(), random.next_u64(), random.next_u64(), random.next_u64())
}

/// The pod with its containers started on this boot of its host.
pub(crate) fn with_started(pod: &Value, address: Ipv4Addr, boot_id: &str, at: Instant) -> Value {
    let mut new = pod.clone();
    let is_restart = phase(pod) != "Pending";
    if is_restart && pod["spec"]["restartPolicy"] == "Never" {
        new["status"]["phase"] = json!("Failed");
        set_ready(&mut new, "False", at);
        return new;
    }
    let host = address.to_string();
    let before = pod["status"]["containerStatuses"].as_array().cloned().unwrap_or_default();
    let containers = pod["spec"]["containers"].as_array().cloned().unwrap_or_default();
    let statuses: Vec<Value> = containers
        .iter()
        .map(|container| {
            let restarts = before
                .iter()
                .find(|status| status["name"] == container["name"])
                .map_or(0, |status| status["restartCount"].as_i64().unwrap_or(0) + 1);
            json!({
                "name": container["name"],
                "image": container["image"],
                "imageID": container["image"],
                "containerID": container_id(pod, container, boot_id),
                "ready": true,
                "started": true,
                "restartCount": restarts,
                "state": {"running": {"startedAt": at.to_seconds_text()}},
                "lastState": {},
            })
        })
        .collect();
    let status = &mut new["status"];
    status["phase"] = json!("Running");
    status["hostIP"] = json!(host);
    status["hostIPs"] = json!([{"ip": host}]);
    if status["podIP"].is_null() {
        let address = if pod["spec"]["hostNetwork"] == true { host } else { pod_address(pod) };
        status["podIP"] = json!(address);
        status["podIPs"] = json!([{"ip": address}]);
    }
    if status["startTime"].is_null() {
        status["startTime"] = json!(at.to_seconds_text());
    }
    status["containerStatuses"] = Value::Array(statuses);
    for condition in ["PodScheduled", "Initialized"] {
        set_condition(&mut new, &json!({"type": condition, "status": "True"}), at);
    }
    set_ready(&mut new, "True", at);
    new
}

/// An address out of 10.244.0.0/16, the usual range of pods. Two pods may share one: nothing here sends packets.
fn pod_address(pod: &Value) -> String {
    let mut random = Random::new(0, &format!("pod-address/{}", pod["metadata"]["uid"]));
    format!("10.244.{}.{}", random.below(256), 1 + random.below(254))
}

pub(crate) fn with_ready(pod: &Value, status: &str, at: Instant) -> Value {
    let mut new = pod.clone();
    set_ready(&mut new, status, at);
    new
}

fn set_ready(pod: &mut Value, status: &str, at: Instant) {
    for condition in ["ContainersReady", "Ready"] {
        set_condition(pod, &json!({"type": condition, "status": status}), at);
    }
}

/// The pod with the mark that others than its owner leave on what they end: the reason and the message.
pub(crate) fn with_disruption_target(pod: &Value, (reason, message): (&str, &str), at: Instant) -> Value {
    let mut new = pod.clone();
    set_condition(&mut new, &json!({"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message}), at);
    new
}

/// The pod bound to a node.
pub(crate) fn with_node(pod: &Value, node: &str, at: Instant) -> Value {
    let mut new = pod.clone();
    new["spec"]["nodeName"] = json!(node);
    set_condition(&mut new, &json!({"type": "PodScheduled", "status": "True"}), at);
    new
}

/// The pod with why it fits on no node.
pub(crate) fn with_unschedulable(pod: &Value, message: &str, at: Instant) -> Value {
    let mut new = pod.clone();
    set_condition(&mut new, &json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}), at);
    new
}

/// Sets a condition, which keeps its transition time if its status stays.
fn set_condition(pod: &mut Value, condition: &Value, at: Instant) {
    let mut condition = condition.clone();
    let conditions = &mut pod["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(conditions) = conditions.as_array_mut() else { return };
    let before = conditions.iter().position(|present| present["type"] == condition["type"]);
    let since = before.map(|index| &conditions[index]).filter(|present| present["status"] == condition["status"]);
    condition["lastTransitionTime"] = since.map_or_else(|| json!(at.to_seconds_text()), |present| present["lastTransitionTime"].clone());
    condition["lastProbeTime"] = Value::Null;
    match before {
        Some(index) => conditions[index] = condition,
        None => conditions.push(condition),
    }
}
