//! A tenant cluster's node as decisions see it, and the taint that says that it is proven to be down.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{Node, Taint};
use model::{Readiness, TenantNodeSeen, Timestamp};

use crate::node::{CORDONED, MACHINE};
use crate::{demands, quantity};

/// The taint that lets pods go that nobody has seen end. Set only on a node that is proven to be down.
pub const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";
const OUT_OF_SERVICE_VALUE: &str = "nodeshutdown";
const NO_EXECUTE: &str = "NoExecute";

/// A kubelet runs this many pods unless it is told otherwise.
const DEFAULT_POD_LIMIT: u32 = 110;

/// A node; nothing if it lacks what names it, which no API server should send.
pub fn tenant_node_seen(node: &Node) -> Option<TenantNodeSeen> {
    let metadata = &node.metadata;
    let (spec, status) = (node.spec.as_ref(), node.status.as_ref());
    let runs = status.and_then(|status| status.node_info.as_ref());
    let allocatable = status.and_then(|status| status.allocatable.as_ref());
    let taints: Vec<model::Taint> = spec.and_then(|spec| spec.taints.as_ref()).into_iter().flatten().map(taint_seen).collect();
    let labels = metadata.labels.clone().unwrap_or_default();
    let (ready, ready_since) = readiness(node);
    Some(TenantNodeSeen {
        name: metadata.name.clone()?,
        uid: metadata.uid.clone().unwrap_or_default(),
        ready,
        ready_since,
        is_unschedulable: spec.and_then(|spec| spec.unschedulable).unwrap_or(false),
        is_cordoned_by_us: metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(CORDONED)),
        is_out_of_service: taints.iter().any(|taint| taint.key == OUT_OF_SERVICE && taint.effect == NO_EXECUTE),
        version: runs.map(|runs| runs.kubelet_version.clone()).unwrap_or_default(),
        boot_id: runs.map(|runs| runs.boot_id.clone()).unwrap_or_default(),
        machine: labels.get(MACHINE).filter(|machine| !machine.is_empty()).cloned(),
        allocatable: allocatable.map(demands::of_list).unwrap_or_default(),
        pod_limit: allocatable
            .and_then(|list| list.get("pods"))
            .and_then(|pods| u32::try_from(quantity::whole(&pods.0)?).ok())
            .unwrap_or(DEFAULT_POD_LIMIT),
        taints,
        labels: Arc::new(labels),
    })
}

fn taint_seen(taint: &Taint) -> model::Taint {
    model::Taint { key: taint.key.clone(), value: taint.value.clone().unwrap_or_default(), effect: taint.effect.clone() }
}

/// A node that has not reported yet is as unknown as one that has stopped.
fn readiness(node: &Node) -> (Readiness, Option<Timestamp>) {
    let mut conditions = node.status.as_ref().and_then(|status| status.conditions.as_ref()).into_iter().flatten();
    let Some(condition) = conditions.find(|condition| condition.type_ == "Ready") else { return (Readiness::Unknown, None) };
    let ready = match condition.status.as_str() {
        "True" => Readiness::True,
        "False" => Readiness::False,
        _ => Readiness::Unknown,
    };
    (ready, condition.last_transition_time.as_ref().map(|time| Timestamp::from_millis(time.0.as_millisecond())))
}

/// What becomes of the out-of-service taint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutOfService {
    Set,
    Cleared,
}

/// The node's taints with that one set or taken away; nothing if they are so already.
pub(crate) fn taints_with(node: &Node, wanted: OutOfService) -> Option<Vec<Taint>> {
    let mut taints = node.spec.as_ref().and_then(|spec| spec.taints.clone()).unwrap_or_default();
    let is_ours = |taint: &Taint| taint.key == OUT_OF_SERVICE && taint.effect == NO_EXECUTE;
    match (wanted, taints.iter().any(is_ours)) {
        (OutOfService::Set, true) | (OutOfService::Cleared, false) => return None,
        (OutOfService::Set, false) => taints.push(Taint {
            key: OUT_OF_SERVICE.to_owned(),
            value: Some(OUT_OF_SERVICE_VALUE.to_owned()),
            effect: NO_EXECUTE.to_owned(),
            time_added: None,
        }),
        (OutOfService::Cleared, true) => taints.retain(|taint| !is_ours(taint)),
    }
    Some(taints)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tenant_node_is_read_in_full() {
        let node: Node = serde_json::from_value(json!({
            "metadata": {"name": "naks-01-md-1", "uid": "u", "labels": {"topology.kubernetes.io/baremetalmachine": "rack1-compute01"},
                "annotations": {"rackwright.dev/cordoned": "x"}},
            "spec": {"unschedulable": true, "taints": [{"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}]},
            "status": {
                "allocatable": {"cpu": "3800m", "memory": "7Gi", "pods": "30"},
                "conditions": [{"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-11-15T14:00:00Z"}],
            },
        }))
        .unwrap();
        let seen = tenant_node_seen(&node).unwrap();
        assert_eq!((seen.ready, seen.ready_since), (Readiness::Unknown, Timestamp::parse("2026-11-15T14:00:00Z")));
        assert!(seen.is_unschedulable && seen.is_cordoned_by_us && seen.is_out_of_service);
        assert_eq!((seen.allocatable.to_string().as_str(), seen.pod_limit), ("3800m CPU, 7 GiB", 30));
        assert_eq!(seen.machine.as_deref(), Some("rack1-compute01"));
        assert_eq!(tenant_node_seen(&Node::default()), None);
    }

    #[test]
    fn only_our_taint_comes_and_goes() {
        let node: Node =
            serde_json::from_value(json!({"metadata": {"name": "n"}, "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}})).unwrap();
        assert_eq!(taints_with(&node, OutOfService::Cleared), None);
        let tainted = taints_with(&node, OutOfService::Set).unwrap();
        assert_eq!(tainted.iter().map(|taint| taint.key.as_str()).collect::<Vec<_>>(), ["a", OUT_OF_SERVICE]);
        let mut down = node.clone();
        down.spec.as_mut().unwrap().taints = Some(tainted);
        assert_eq!(taints_with(&down, OutOfService::Set), None);
        assert_eq!(taints_with(&down, OutOfService::Cleared), node.spec.unwrap().taints);
    }
}
