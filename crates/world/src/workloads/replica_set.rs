//! Replica sets: as many pods as they ask for, whichever.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Workload, is_active, pod_of, replicas};
use crate::kube::Kube;
use crate::objects::{ObjectKey, PODS};
use crate::pod;
use crate::time::Instant;
use crate::writes::DeleteOptions;

impl Kube {
    pub(super) fn settle_replica_set(&mut self, key: &ObjectKey, set: &Value, at: Instant) {
        let mut active: Vec<(ObjectKey, Arc<Value>)> = self.owned_pods(set).into_iter().filter(|(_, pod)| is_active(pod)).collect();
        let wanted = usize::try_from(replicas(set)).unwrap_or(0);
        for _ in active.len()..wanted {
            let mut pod = pod_of(set);
            pod["metadata"]["generateName"] = json!(format!("{}-", key.name));
            // A namespace on its way out takes nothing new; nor is a clash of names tried again before the next look.
            let _ = self.create(&PODS, &key.namespace, pod, at);
        }
        // The least useful go first: what is not placed, then what is not ready, then what came last.
        active.sort_by_key(|(_, pod)| (pod::node_name(pod).is_some(), pod::is_ready(pod), std::cmp::Reverse(age_order(pod))));
        let surplus = active.len().saturating_sub(wanted);
        for (pod, _) in active.drain(..surplus) {
            // It was there a moment ago, and no precondition is set.
            let _ = self.delete(&PODS, &pod, &DeleteOptions::default(), at);
        }
        let pods: Vec<Arc<Value>> = self.owned_pods(set).into_iter().map(|(_, pod)| pod).filter(|pod| is_active(pod)).collect();
        let ready = pods.iter().filter(|pod| pod::is_ready(pod)).count();
        let status = json!({
            "replicas": pods.len(),
            "fullyLabeledReplicas": pods.len(),
            "readyReplicas": ready,
            "availableReplicas": ready,
        });
        self.set_workload_status(Workload::ReplicaSet, key, &status, at);
    }
}

fn age_order(pod: &Value) -> String {
    pod["metadata"]["creationTimestamp"].as_str().unwrap_or_default().to_owned()
}
