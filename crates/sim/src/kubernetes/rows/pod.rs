//! What is shown of pods.

use serde_json::{Value, json};

use super::Shown::{Always, Wide};
use super::{Column, age, name};

pub(super) static COLUMNS: [Column; 9] = [
    ("Name", Always, name),
    ("Ready", Always, |pod, _| json!(format!("{}/{}", ready_containers(pod), containers(pod)))),
    ("Status", Always, |pod, _| json!(pod_status(pod))),
    ("Restarts", Always, |pod, _| json!(restarts(pod).to_string())),
    ("Age", Always, age),
    ("IP", Wide, |pod, _| or_none(&pod["status"]["podIP"])),
    ("Node", Wide, |pod, _| or_none(&pod["spec"]["nodeName"])),
    ("Nominated Node", Wide, |pod, _| or_none(&pod["status"]["nominatedNodeName"])),
    ("Readiness Gates", Wide, |_, _| json!("<none>")),
];

fn statuses(pod: &Value) -> &[Value] {
    pod["status"]["containerStatuses"].as_array().map_or(&[], Vec::as_slice)
}

fn containers(pod: &Value) -> usize {
    pod["spec"]["containers"].as_array().map_or(0, Vec::len)
}

fn ready_containers(pod: &Value) -> usize {
    statuses(pod).iter().filter(|status| status["ready"] == true).count()
}

fn restarts(pod: &Value) -> i64 {
    statuses(pod).iter().filter_map(|status| status["restartCount"].as_i64()).sum()
}

/// A pod that is to go says so, unless it has finished by itself.
fn pod_status(pod: &Value) -> &str {
    let phase = pod["status"]["phase"].as_str().unwrap_or("Unknown");
    match phase {
        "Succeeded" => "Completed",
        "Failed" => pod["status"]["reason"].as_str().unwrap_or("Error"),
        _ if pod["metadata"]["deletionTimestamp"].is_string() => "Terminating",
        phase => phase,
    }
}

fn or_none(value: &Value) -> Value {
    if value.as_str().is_none_or(str::is_empty) { json!("<none>") } else { value.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_that_is_to_go_says_so_unless_it_has_finished() {
        let status = |phase: &str| {
            pod_status(&json!({"metadata": {"deletionTimestamp": "2026-11-15T09:00:00Z"}, "status": {"phase": phase}})).to_owned()
        };
        assert_eq!(["Running", "Pending", "Succeeded", "Failed"].map(status), ["Terminating", "Terminating", "Completed", "Error"]);
        assert_eq!(pod_status(&json!({"status": {"phase": "Running"}})), "Running");
    }
}
