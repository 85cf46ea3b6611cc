//! What is shown of nodes.

use serde_json::{Value, json};

use super::Shown::{Always, Wide};
use super::{Column, age, name};

pub(super) static COLUMNS: [Column; 10] = [
    ("Name", Always, name),
    ("Status", Always, |node, _| json!(node_status(node))),
    ("Roles", Always, |node, _| json!(roles(node))),
    ("Age", Always, age),
    ("Version", Always, |node, _| node["status"]["nodeInfo"]["kubeletVersion"].clone()),
    ("Internal-IP", Wide, |node, _| address(node, "InternalIP")),
    ("External-IP", Wide, |node, _| address(node, "ExternalIP")),
    ("OS-Image", Wide, |node, _| node["status"]["nodeInfo"]["osImage"].clone()),
    ("Kernel-Version", Wide, |node, _| node["status"]["nodeInfo"]["kernelVersion"].clone()),
    ("Container-Runtime", Wide, |node, _| node["status"]["nodeInfo"]["containerRuntimeVersion"].clone()),
];

fn node_status(node: &Value) -> String {
    let conditions = node["status"]["conditions"].as_array().map_or(&[][..], Vec::as_slice);
    let mut status = match conditions.iter().find(|condition| condition["type"] == "Ready").map(|ready| &ready["status"]) {
        Some(ready) if *ready == "True" => "Ready".to_owned(),
        Some(_) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if node["spec"]["unschedulable"] == true {
        status += ",SchedulingDisabled";
    }
    status
}

fn roles(node: &Value) -> String {
    let labels = node["metadata"]["labels"].as_object();
    let roles: Vec<&str> = labels.into_iter().flatten().filter_map(|(label, _)| label.strip_prefix("node-role.kubernetes.io/")).collect();
    if roles.is_empty() { "<none>".to_owned() } else { roles.join(",") }
}

fn address(node: &Value, kind: &str) -> Value {
    let addresses = node["status"]["addresses"].as_array();
    let found = addresses.and_then(|addresses| addresses.iter().find(|address| address["type"] == kind));
    found.map_or_else(|| json!("<none>"), |address| address["address"].clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cordoned_silent_node_says_both() {
        let node = json!({"spec": {"unschedulable": true}, "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}});
        assert_eq!(node_status(&node), "NotReady,SchedulingDisabled");
    }
}
