//! What of a Kubernetes Node matters to us, and the marks that we leave on it.

use k8s_openapi::api::core::v1::{Node, NodeStatus};
use kube::Api;
use kube::api::{Patch, PatchParams};
use model::{Fault, NodeProblem, NodeSeen, ProblemKind, Readiness, Timestamp};
use serde_json::{Value, json};

use crate::fault::Purpose;
use crate::name;
use crate::undercloud::{FIELD_MANAGER, within};

/// The annotation that says that a cordon is ours, and why we made it.
pub const CORDONED: &str = "rackwright.dev/cordoned";

/// The label that names the machine on which a node runs.
pub const MACHINE: &str = "topology.kubernetes.io/baremetalmachine";

/// The conditions that tell of a problem, and with which status. The first is node-problem-detector's; the others are
/// those of the agent that watches a machine's network cards.
const PROBLEMS: [(&str, &str, ProblemKind); 3] = [
    ("ReadonlyFilesystem", "True", ProblemKind::ReadOnlyRoot),
    ("BmmNetworkLinksUp", "False", ProblemKind::PortDown),
    ("BmmNetworkLinksStable", "False", ProblemKind::PortFlapping),
];

/// A node as decisions see it; nothing if it has no name, which no API server should send.
pub fn node_seen(node: &Node) -> Option<NodeSeen> {
    let name = node.metadata.name.clone()?;
    let label = node.metadata.labels.as_ref().and_then(|labels| labels.get(MACHINE));
    let runs = node.status.as_ref().and_then(|status| status.node_info.as_ref());
    Some(NodeSeen {
        ready: readiness(node.status.as_ref()),
        unschedulable: node.spec.as_ref().and_then(|spec| spec.unschedulable).unwrap_or(false),
        cordoned_by_us: node.metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(CORDONED)),
        boot_id: runs.map(|runs| runs.boot_id.clone()).unwrap_or_default(),
        kubelet_version: runs.map(|runs| runs.kubelet_version.clone()).unwrap_or_default(),
        os_image: runs.map(|runs| runs.os_image.clone()).unwrap_or_default(),
        machine: label.filter(|machine| !machine.is_empty()).unwrap_or(&name).clone(),
        internal_ip: internal_ip(node.status.as_ref()),
        problems: problems(node.status.as_ref()),
        name,
    })
}

/// A node that has not reported yet is as unknown as one that has stopped.
fn readiness(status: Option<&NodeStatus>) -> Readiness {
    let conditions = status.and_then(|status| status.conditions.as_ref()).into_iter().flatten();
    match conditions.filter(|condition| condition.type_ == "Ready").map(|condition| condition.status.as_str()).next() {
        Some("True") => Readiness::True,
        Some("False") => Readiness::False,
        _ => Readiness::Unknown,
    }
}

fn problems(status: Option<&NodeStatus>) -> Vec<NodeProblem> {
    let conditions = || status.and_then(|status| status.conditions.as_ref()).into_iter().flatten();
    let found = PROBLEMS.iter().filter_map(|(name, bad, kind)| {
        let condition = conditions().find(|condition| condition.type_ == *name && condition.status == *bad)?;
        let since = condition.last_transition_time.as_ref().map(|time| Timestamp::from_millis(time.0.as_millisecond()));
        Some(NodeProblem { kind: *kind, message: steady_words(condition.message.as_deref().unwrap_or_default()), since })
    });
    found.collect()
}

/// An agent's words without a count at their end, such as `(2 times)`: it grows while nothing else happens.
fn steady_words(message: &str) -> String {
    let is_count = |end: &str| end.starts_with(|c: char| c.is_ascii_digit()) && end.ends_with(" times)");
    let words = message.rsplit_once(" (").filter(|(_, end)| is_count(end)).map_or(message, |(words, _)| words);
    model::shortened(words)
}

fn internal_ip(status: Option<&NodeStatus>) -> Option<String> {
    let mut addresses = status.and_then(|status| status.addresses.as_ref()).into_iter().flatten();
    addresses.find(|address| address.type_ == "InternalIP").map(|address| address.address.clone())
}

/// The merge patch that cordons. Mark and cordon go in one patch, so that there is never one of ours without its mark.
pub(crate) fn cordon_patch(reason: &str) -> Value {
    json!({"metadata": {"annotations": {CORDONED: reason}}, "spec": {"unschedulable": true}})
}

/// The merge patch that lifts a cordon and its mark.
pub(crate) fn uncordon_patch() -> Value {
    json!({"metadata": {"annotations": {CORDONED: null}}, "spec": {"unschedulable": null}})
}

pub(crate) async fn request_patch(nodes: &Api<Node>, node: &str, patch: &Value) -> Result<(), Fault> {
    name::check("a node", node)?;
    let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    within(&format!("PATCH node {node}"), Purpose::Request, nodes.patch(node, &params, &Patch::Merge(patch))).await.map(drop)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(node: Value, expected: &Expect) {
        let node: Node = serde_json::from_value(node).unwrap();
        expected.assert_debug_eq(&node_seen(&node));
    }

    #[test]
    fn a_full_node_is_read_in_full() {
        check(
            json!({
                "metadata": {
                    "name": "rack1compute01",
                    "labels": {"topology.kubernetes.io/baremetalmachine": "rack1-compute01"},
                    "annotations": {"rackwright.dev/cordoned": "restart 8f3c"},
                },
                "spec": {"unschedulable": true},
                "status": {
                    "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "True"}],
                    "addresses": [{"type": "Hostname", "address": "rack1compute01"}, {"type": "InternalIP", "address": "10.1.0.11"}],
                    "nodeInfo": {
                        "architecture": "amd64", "bootID": "b-1", "containerRuntimeVersion": "c", "kernelVersion": "6", "kubeProxyVersion": "",
                        "kubeletVersion": "v1.36.4", "machineID": "m", "operatingSystem": "linux", "osImage": "Azure Linux 3", "systemUUID": "u",
                    },
                },
            }),
            &expect![[r#"
                Some(
                    NodeSeen {
                        name: "rack1compute01",
                        ready: True,
                        unschedulable: true,
                        cordoned_by_us: true,
                        boot_id: "b-1",
                        kubelet_version: "v1.36.4",
                        os_image: "Azure Linux 3",
                        machine: "rack1-compute01",
                        internal_ip: Some(
                            "10.1.0.11",
                        ),
                        problems: [],
                    },
                )
            "#]],
        );
    }

    #[test]
    fn a_node_that_has_not_reported_is_unknown_and_named_after_itself() {
        check(
            json!({"metadata": {"name": "rack1compute02"}}),
            &expect![[r#"
                Some(
                    NodeSeen {
                        name: "rack1compute02",
                        ready: Unknown,
                        unschedulable: false,
                        cordoned_by_us: false,
                        boot_id: "",
                        kubelet_version: "",
                        os_image: "",
                        machine: "rack1compute02",
                        internal_ip: None,
                        problems: [],
                    },
                )
            "#]],
        );
    }

    #[test]
    fn what_an_agent_has_found_wrong_is_read_and_what_is_well_again_is_not() {
        let condition = |kind: &str, status: &str, message: &str| json!({"type": kind, "status": status, "reason": "r", "message": message, "lastTransitionTime": "2026-11-15T14:00:00Z"});
        let node = json!({"metadata": {"name": "n"}, "status": {"conditions": [
            condition("ReadonlyFilesystem", "True", "Filesystem is read-only"),
            condition("BmmNetworkLinksUp", "True", "All physical links are up"),
            condition("BmmNetworkLinksStable", "Unknown", ""),
            condition("SomethingElse", "False", "x"),
        ]}});
        let node: Node = serde_json::from_value(node).unwrap();
        let since = Timestamp::parse("2026-11-15T14:00:00Z");
        let expected = NodeProblem { kind: ProblemKind::ReadOnlyRoot, message: "Filesystem is read-only".into(), since };
        assert_eq!(node_seen(&node).unwrap().problems, [expected]);
    }

    #[test]
    fn a_count_that_grows_is_left_out_of_an_agents_words() {
        assert_eq!(steady_words("Port flapping in the last 15 mins: 4b_p1 (2 times)"), "Port flapping in the last 15 mins: 4b_p1");
        assert_eq!(steady_words("Physical link(s) down: 4b_p1"), "Physical link(s) down: 4b_p1");
    }

    #[test]
    fn a_node_without_a_name_is_not_a_node() {
        assert_eq!(node_seen(&Node::default()), None);
    }

    #[test]
    fn readiness_is_the_ready_condition_and_anything_odd_is_unknown() {
        for (status, expected) in
            [("True", Readiness::True), ("False", Readiness::False), ("Unknown", Readiness::Unknown), ("?", Readiness::Unknown)]
        {
            let node = json!({"metadata": {"name": "n"}, "status": {"conditions": [{"type": "Ready", "status": status}]}});
            let node: Node = serde_json::from_value(node).unwrap();
            assert_eq!(node_seen(&node).unwrap().ready, expected, "{status}");
        }
    }
}
