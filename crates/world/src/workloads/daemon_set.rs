//! Daemon sets: one pod on each node that takes it, cordoned and silent nodes included.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Workload, is_active, pod_of};
use crate::kube::Kube;
use crate::objects::{NODES, ObjectKey, PODS};
use crate::pod;
use crate::scheduler;
use crate::time::Instant;
use crate::writes::DeleteOptions;

/// What pods of a daemon set tolerate without saying so, and for ever.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

impl Kube {
    pub(super) fn settle_daemon_set(&mut self, key: &ObjectKey, set: &Value, at: Instant) {
        let mut by_node: BTreeMap<String, Vec<(ObjectKey, Arc<Value>)>> = BTreeMap::new();
        for (name, pod) in self.owned_pods(set) {
            by_node.entry(pod::node_name(&pod).unwrap_or_default().to_owned()).or_default().push((name, pod));
        }
        let document = daemon_pod(key, set);
        let nodes: Vec<(ObjectKey, Arc<Value>)> = self.objects.list(&NODES, None).map(|(key, node)| (key.clone(), node.clone())).collect();
        let mut desired = 0;
        for (name, node) in &nodes {
            let has_pod = by_node.contains_key(&name.name);
            // A pod that is there stays through taints that only keep new ones away.
            if !(scheduler::admits(&document, node) || has_pod && scheduler::keeps(&document, node)) {
                continue;
            }
            desired += 1;
            let present = by_node.remove(&name.name).unwrap_or_default();
            if present.is_empty() {
                let mut pod = document.clone();
                pod["spec"]["nodeName"] = json!(name.name);
                // A namespace on its way out takes nothing new.
                let _ = self.create(&PODS, &key.namespace, pod, at);
            }
            let finished = present.iter().filter(|(_, pod)| pod::is_finished(pod));
            let surplus = present.iter().filter(|(_, pod)| is_active(pod)).skip(1);
            self.delete_pods(finished.chain(surplus), at);
        }
        // What is left is on nodes that do not take it any more.
        self.delete_pods(by_node.values().flatten().filter(|(_, pod)| !pod::is_terminating(pod)), at);
        self.count_daemon_set(key, set, desired, at);
    }

    fn delete_pods<'a>(&mut self, pods: impl Iterator<Item = &'a (ObjectKey, Arc<Value>)>, at: Instant) {
        for (name, _) in pods {
            // It was there a moment ago, and no precondition is set.
            let _ = self.delete(&PODS, name, &DeleteOptions::default(), at);
        }
    }

    fn count_daemon_set(&mut self, key: &ObjectKey, set: &Value, desired: usize, at: Instant) {
        let pods: Vec<Arc<Value>> = self.owned_pods(set).into_iter().map(|(_, pod)| pod).filter(|pod| is_active(pod)).collect();
        let ready = pods.iter().filter(|pod| pod::is_ready(pod)).count();
        let status = json!({
            "desiredNumberScheduled": desired,
            "currentNumberScheduled": pods.len(),
            "updatedNumberScheduled": pods.len(),
            "numberMisscheduled": 0,
            "numberReady": ready,
            "numberAvailable": ready,
            "numberUnavailable": desired.saturating_sub(ready),
        });
        self.set_workload_status(Workload::DaemonSet, key, &status, at);
    }
}

fn daemon_pod(key: &ObjectKey, set: &Value) -> Value {
    let mut pod = pod_of(set);
    pod["metadata"]["generateName"] = json!(format!("{}-", key.name));
    let mut tolerations = pod["spec"]["tolerations"].as_array().cloned().unwrap_or_default();
    tolerations.extend(TOLERATED.map(|(key, effect)| json!({"key": key, "operator": "Exists", "effect": effect})));
    pod["spec"]["tolerations"] = Value::Array(tolerations);
    pod
}
