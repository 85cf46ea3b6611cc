//! The columns of each kind's table and what stands in them.

use serde_json::{Value, json};
use world::{EVENTS, Instant, LEASES, NAMESPACES, NODES, PODS, Resource, Span};

/// A column's name, and whether it is printed without `-o wide`.
type Column = (&'static str, Shown);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Always,
    Wide,
}

fn layout(resource: &Resource) -> &'static [Column] {
    use Shown::{Always, Wide};
    if resource == &NODES {
        &[
            ("Name", Always),
            ("Status", Always),
            ("Roles", Always),
            ("Age", Always),
            ("Version", Always),
            ("Internal-IP", Wide),
            ("External-IP", Wide),
            ("OS-Image", Wide),
            ("Kernel-Version", Wide),
            ("Container-Runtime", Wide),
        ]
    } else if resource == &LEASES {
        &[("Name", Always), ("Holder", Always), ("Age", Always)]
    } else if resource == &EVENTS {
        &[
            ("Last Seen", Always),
            ("Type", Always),
            ("Reason", Always),
            ("Object", Always),
            ("Source", Wide),
            ("Message", Always),
            ("First Seen", Wide),
            ("Count", Wide),
            ("Name", Wide),
        ]
    } else if resource == &PODS || resource == &NAMESPACES {
        &[("Name", Always), ("Status", Always), ("Age", Always)]
    } else {
        &[("Name", Always), ("Age", Always)]
    }
}

pub(super) fn columns(resource: &Resource) -> Vec<Value> {
    layout(resource)
        .iter()
        .map(|(name, shown)| {
            let format = if *name == "Name" { "name" } else { "" };
            let priority = if *shown == Shown::Always { 0 } else { 1 };
            let kind = if *name == "Count" { "integer" } else { "string" };
            json!({"name": name, "type": kind, "format": format, "description": "", "priority": priority})
        })
        .collect()
}

pub(super) fn cells(resource: &Resource, object: &Value, now: Instant) -> Vec<Value> {
    layout(resource).iter().map(|(name, _)| cell(resource, name, object, now)).collect()
}

fn cell(resource: &Resource, column: &str, object: &Value, now: Instant) -> Value {
    let info = &object["status"]["nodeInfo"];
    match column {
        "Name" => object["metadata"]["name"].clone(),
        "Age" => json!(age(&object["metadata"]["creationTimestamp"], now)),
        "Status" if resource == &NODES => json!(node_status(object)),
        "Status" => object["status"]["phase"].clone(),
        "Roles" => json!(roles(object)),
        "Version" => info["kubeletVersion"].clone(),
        "Internal-IP" => address(object, "InternalIP"),
        "External-IP" => address(object, "ExternalIP"),
        "OS-Image" => info["osImage"].clone(),
        "Kernel-Version" => info["kernelVersion"].clone(),
        "Container-Runtime" => info["containerRuntimeVersion"].clone(),
        "Holder" => object["spec"]["holderIdentity"].clone(),
        "Last Seen" => json!(age(&object["lastTimestamp"], now)),
        "First Seen" => json!(age(&object["firstTimestamp"], now)),
        "Type" => object["type"].clone(),
        "Reason" => object["reason"].clone(),
        "Object" => {
            let about = &object["involvedObject"];
            json!(format!("{}/{}", about["kind"].as_str().unwrap_or_default().to_lowercase(), about["name"].as_str().unwrap_or_default()))
        }
        "Source" => object["source"]["component"].clone(),
        "Message" => object["message"].clone(),
        "Count" => object["count"].clone(),
        _ => Value::Null,
    }
}

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

fn age(since: &Value, now: Instant) -> String {
    match since.as_str().and_then(Instant::parse) {
        Some(since) => short_span(now - since),
        None => "<unknown>".to_owned(),
    }
}

/// An age in at most two units, coarser the older it is, as kubectl's readers know it.
fn short_span(span: Span) -> String {
    let seconds = (span.0 / 1_000).max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    let two = |large: i64, unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{large}{unit}"),
        small => format!("{large}{unit}{small}{small_unit}"),
    };
    match seconds {
        ..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        _ => format!("{days}d"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_as_in_kubectl() {
        let ages = [0, 119, 125, 180, 3_599, 10_980, 30_000, 180_000, 8_640_000].map(|seconds| short_span(Span::seconds(seconds)));
        assert_eq!(ages, ["0s", "119s", "2m5s", "3m", "59m", "3h3m", "8h", "2d2h", "100d"]);
    }

    #[test]
    fn a_cordoned_silent_node_says_both() {
        let node = json!({"spec": {"unschedulable": true}, "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}});
        assert_eq!(node_status(&node), "NotReady,SchedulingDisabled");
    }
}
