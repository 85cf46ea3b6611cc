//! Deployments: one replica set for the present template, none for older ones.
//!
//! A new template replaces all pods at once: how a rollout proceeds is of no interest to those who operate the site.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Workload, controller_of, controller_reference, replicas};
use crate::kube::Kube;
use crate::objects::{ObjectKey, REPLICA_SETS};
use crate::random::{Random, hash_text};
use crate::time::Instant;

const HASH_LABEL: &str = "pod-template-hash";

impl Kube {
    pub(super) fn settle_deployment(&mut self, key: &ObjectKey, deployment: &Value, at: Instant) {
        let hash = template_hash(&deployment["spec"]["template"]);
        let current = ObjectKey::namespaced(&key.namespace, &format!("{}-{hash}", key.name));
        let wanted = json!(replicas(deployment));
        if self.objects.get(&REPLICA_SETS, &current).is_none() {
            // A namespace on its way out takes nothing new.
            let _ = self.create(&REPLICA_SETS, &key.namespace, replica_set(deployment, &current.name, &hash), at);
        }
        let is_own = |set: &Value| controller_of(set).is_some_and(|owner| owner["uid"] == deployment["metadata"]["uid"]);
        let sets = self.objects.list(&REPLICA_SETS, Some(&key.namespace)).filter(|(_, set)| is_own(set));
        let sets: Vec<(ObjectKey, Arc<Value>)> = sets.map(|(key, set)| (key.clone(), set.clone())).collect();
        for (set, _) in &sets {
            let wanted = if *set == current { wanted.clone() } else { json!(0) };
            self.change_workload(Workload::ReplicaSet, set, at, |set| {
                let mut new = set.clone();
                new["spec"]["replicas"] = wanted;
                new
            });
        }
        let counted = |field: &str| sets.iter().map(|(_, set)| set["status"][field].as_i64().unwrap_or(0)).sum::<i64>();
        let updated = sets.iter().find(|(key, _)| *key == current).and_then(|(_, set)| set["status"]["replicas"].as_i64()).unwrap_or(0);
        let available = counted("availableReplicas");
        let status = json!({
            "replicas": counted("replicas"),
            "updatedReplicas": updated,
            "readyReplicas": counted("readyReplicas"),
            "availableReplicas": available,
            "unavailableReplicas": (replicas(deployment) - available).max(0),
            "conditions": [condition(deployment, available, at)],
        });
        self.set_workload_status(Workload::Deployment, key, &status, at);
    }
}

fn condition(deployment: &Value, available: i64, at: Instant) -> Value {
    // A quarter of the pods may be missing while a deployment counts as available, as with the default rolling update.
    let needed = replicas(deployment) - replicas(deployment) / 4;
    let (status, reason) = if available >= needed { ("True", "MinimumReplicasAvailable") } else { ("False", "MinimumReplicasUnavailable") };
    let before = &deployment["status"]["conditions"][0];
    let since = if before["status"] == status { before["lastTransitionTime"].clone() } else { json!(at.to_seconds_text()) };
    json!({"type": "Available", "status": status, "reason": reason, "lastTransitionTime": since})
}

/// A short text that is the same for the same template.
fn template_hash(template: &Value) -> String {
    Random::new(hash_text(&template.to_string()), "template").text(b"bcdfghjklmnpqrstvwxz2456789", 10)
}

fn replica_set(deployment: &Value, name: &str, hash: &str) -> Value {
    let mut template = deployment["spec"]["template"].clone();
    template["metadata"]["labels"][HASH_LABEL] = json!(hash);
    let mut selector = deployment["spec"]["selector"].clone();
    selector["matchLabels"][HASH_LABEL] = json!(hash);
    json!({
        "metadata": {
            "name": name,
            "labels": template["metadata"]["labels"],
            "ownerReferences": [controller_reference(deployment)],
        },
        "spec": {"replicas": replicas(deployment), "selector": selector, "template": template},
    })
}
