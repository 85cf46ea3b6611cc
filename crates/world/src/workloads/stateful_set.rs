//! Stateful sets: pods with numbers, each at most once.
//!
//! A pod's successor is made only when its object is gone, however dead its node is: that is what makes it at most one.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Workload, is_active, pod_of, replicas};
use crate::kube::Kube;
use crate::objects::{CLAIMS, ObjectKey, PODS};
use crate::pod;
use crate::time::Instant;
use crate::writes::DeleteOptions;

impl Kube {
    pub(super) fn settle_stateful_set(&mut self, key: &ObjectKey, set: &Value, at: Instant) {
        let wanted = replicas(set);
        for number in 0..wanted {
            let name = ObjectKey::namespaced(&key.namespace, &format!("{}-{number}", key.name));
            match self.objects.get(&PODS, &name).cloned() {
                None => self.create_member(key, set, number, at),
                // One that has finished makes room for its successor.
                Some(pod) if pod::is_finished(&pod) => drop(self.delete(&PODS, &name, &DeleteOptions::default(), at)),
                Some(_) => {}
            }
        }
        for (name, pod) in self.owned_pods(set) {
            if number_of(key, &pod).is_none_or(|number| number >= wanted) && !pod::is_terminating(&pod) {
                // It was there a moment ago, and no precondition is set.
                let _ = self.delete(&PODS, &name, &DeleteOptions::default(), at);
            }
        }
        let pods: Vec<Arc<Value>> = self.owned_pods(set).into_iter().map(|(_, pod)| pod).filter(|pod| is_active(pod)).collect();
        let ready = pods.iter().filter(|pod| pod::is_ready(pod)).count();
        let status = json!({
            "replicas": pods.len(),
            "currentReplicas": pods.len(),
            "updatedReplicas": pods.len(),
            "readyReplicas": ready,
            "availableReplicas": ready,
        });
        self.set_workload_status(Workload::StatefulSet, key, &status, at);
    }

    fn create_member(&mut self, key: &ObjectKey, set: &Value, number: i64, at: Instant) {
        let name = format!("{}-{number}", key.name);
        let mut pod = pod_of(set);
        pod["metadata"]["name"] = json!(name);
        pod["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] = json!(name);
        pod["metadata"]["labels"]["apps.kubernetes.io/pod-index"] = json!(number.to_string());
        let templates = set["spec"]["volumeClaimTemplates"].as_array().cloned().unwrap_or_default();
        let mut volumes = pod["spec"]["volumes"].as_array().cloned().unwrap_or_default();
        for template in templates {
            let volume = template["metadata"]["name"].as_str().unwrap_or_default();
            let claim = format!("{volume}-{name}");
            let document = json!({
                "metadata": {"name": claim, "labels": set["spec"]["selector"]["matchLabels"]},
                "spec": template["spec"],
            });
            // A member that comes back finds its claim; it outlives its pod and its set.
            let _ = self.create(&CLAIMS, &key.namespace, document, at);
            volumes.push(json!({"name": volume, "persistentVolumeClaim": {"claimName": claim}}));
        }
        if !volumes.is_empty() {
            pod["spec"]["volumes"] = Value::Array(volumes);
        }
        // A namespace on its way out takes nothing new.
        let _ = self.create(&PODS, &key.namespace, pod, at);
    }
}

fn number_of(key: &ObjectKey, pod: &Value) -> Option<i64> {
    pod["metadata"]["name"].as_str()?.strip_prefix(&key.name)?.strip_prefix('-')?.parse().ok()
}
