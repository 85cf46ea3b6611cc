//! What is shown of workloads and of the volumes they claim.

use serde_json::{Value, json};

use super::Shown::{Always, Wide};
use super::{Column, age, name};

pub(super) static DEPLOYMENTS: [Column; 8] = [
    ("Name", Always, name),
    ("Ready", Always, |deployment, _| ready_of(deployment)),
    ("Up-to-date", Always, |deployment, _| count(&deployment["status"]["updatedReplicas"])),
    ("Available", Always, |deployment, _| count(&deployment["status"]["availableReplicas"])),
    ("Age", Always, age),
    ("Containers", Wide, |workload, _| containers(workload, "name")),
    ("Images", Wide, |workload, _| containers(workload, "image")),
    ("Selector", Wide, |workload, _| labels(&workload["spec"]["selector"]["matchLabels"])),
];

pub(super) static REPLICA_SETS: [Column; 8] = [
    ("Name", Always, name),
    ("Desired", Always, |set, _| count(&set["spec"]["replicas"])),
    ("Current", Always, |set, _| count(&set["status"]["replicas"])),
    ("Ready", Always, |set, _| count(&set["status"]["readyReplicas"])),
    ("Age", Always, age),
    ("Containers", Wide, |workload, _| containers(workload, "name")),
    ("Images", Wide, |workload, _| containers(workload, "image")),
    ("Selector", Wide, |workload, _| labels(&workload["spec"]["selector"]["matchLabels"])),
];

pub(super) static STATEFUL_SETS: [Column; 5] = [
    ("Name", Always, name),
    ("Ready", Always, |set, _| ready_of(set)),
    ("Age", Always, age),
    ("Containers", Wide, |workload, _| containers(workload, "name")),
    ("Images", Wide, |workload, _| containers(workload, "image")),
];

pub(super) static DAEMON_SETS: [Column; 11] = [
    ("Name", Always, name),
    ("Desired", Always, |set, _| count(&set["status"]["desiredNumberScheduled"])),
    ("Current", Always, |set, _| count(&set["status"]["currentNumberScheduled"])),
    ("Ready", Always, |set, _| count(&set["status"]["numberReady"])),
    ("Up-to-date", Always, |set, _| count(&set["status"]["updatedNumberScheduled"])),
    ("Available", Always, |set, _| count(&set["status"]["numberAvailable"])),
    ("Node Selector", Always, |set, _| labels(&set["spec"]["template"]["spec"]["nodeSelector"])),
    ("Age", Always, age),
    ("Containers", Wide, |workload, _| containers(workload, "name")),
    ("Images", Wide, |workload, _| containers(workload, "image")),
    ("Selector", Wide, |workload, _| labels(&workload["spec"]["selector"]["matchLabels"])),
];

pub(super) static CLAIMS: [Column; 8] = [
    ("Name", Always, name),
    ("Status", Always, |claim, _| claim["status"]["phase"].clone()),
    ("Volume", Always, |claim, _| or_empty(&claim["spec"]["volumeName"])),
    ("Capacity", Always, |claim, _| or_empty(&claim["status"]["capacity"]["storage"])),
    ("Access Modes", Always, |claim, _| access_modes(&claim["status"]["accessModes"])),
    ("StorageClass", Always, |claim, _| or_empty(&claim["spec"]["storageClassName"])),
    ("VolumeAttributesClass", Always, |_, _| json!("<unset>")),
    ("Age", Always, age),
];

fn count(value: &Value) -> Value {
    json!(value.as_i64().unwrap_or(0))
}

fn or_empty(value: &Value) -> Value {
    if value.is_null() { json!("") } else { value.clone() }
}

fn ready_of(workload: &Value) -> Value {
    let ready = workload["status"]["readyReplicas"].as_i64().unwrap_or(0);
    json!(format!("{ready}/{}", workload["spec"]["replicas"].as_i64().unwrap_or(1)))
}

fn containers(workload: &Value, field: &str) -> Value {
    let containers = workload["spec"]["template"]["spec"]["containers"].as_array();
    let shown: Vec<&str> = containers.into_iter().flatten().filter_map(|container| container[field].as_str()).collect();
    json!(shown.join(","))
}

fn labels(labels: &Value) -> Value {
    let pairs: Vec<String> =
        labels.as_object().into_iter().flatten().map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
    json!(if pairs.is_empty() { "<none>".to_owned() } else { pairs.join(",") })
}

fn access_modes(modes: &Value) -> Value {
    let short = |mode: &str| match mode {
        "ReadWriteOnce" => "RWO",
        "ReadOnlyMany" => "ROX",
        "ReadWriteMany" => "RWX",
        "ReadWriteOncePod" => "RWOP",
        _ => "",
    };
    let modes: Vec<&str> = modes.as_array().into_iter().flatten().filter_map(Value::as_str).map(short).collect();
    json!(modes.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_counted_yet_is_none() {
        let set = json!({"spec": {"replicas": 3}, "status": {"readyReplicas": 2}});
        assert_eq!(ready_of(&set), "2/3");
        assert_eq!(ready_of(&json!({"spec": {"replicas": 3}})), "0/3");
        assert_eq!(access_modes(&json!(["ReadWriteOnce", "ReadOnlyMany"])), "RWO,ROX");
        assert_eq!(labels(&Value::Null), "<none>");
        assert_eq!(labels(&json!({"app": "web"})), "app=web");
    }
}
