//! Mirror pods: what a kubelet runs from its own disk, shown in the API.
//!
//! Deleting one from the API ends nothing: its kubelet makes it again.

use serde_json::{Value, json};

use crate::kube::Kube;
use crate::objects::{NODES, ObjectKey, PODS};
use crate::random::hash_text;
use crate::time::Instant;

/// What tells a mirror pod from others.
const MIRROR: &str = "kubernetes.io/config.mirror";

const NAMESPACE: &str = "kube-system";

pub(crate) fn is_mirror(pod: &Value) -> bool {
    pod["metadata"]["annotations"][MIRROR].is_string()
}

impl Kube {
    /// The kubelet shows each of its own pods that the API does not know.
    pub(crate) fn show_mirrors(&mut self, slot: usize, at: Instant) {
        self.host_mut(slot).mirrors_at = None;
        let facts = self.host(slot).facts.clone();
        if facts.static_pods.is_empty() || self.host(slot).kubelet.is_none() {
            return;
        }
        let Some(node) = self.objects.get(&NODES, &ObjectKey::cluster(&facts.name)).cloned() else { return };
        for name in &facts.static_pods {
            let document = mirror_pod(name, &node);
            let key = ObjectKey::namespaced(NAMESPACE, document["metadata"]["name"].as_str().unwrap_or_default());
            if self.objects.get(&PODS, &key).is_none() {
                // The name is free, and this namespace never goes.
                let _ = self.create(&PODS, NAMESPACE, document, at);
            }
        }
    }

    /// A mirror pod went from the API; its kubelet notices in a moment, if it runs.
    pub(crate) fn mirror_gone(&mut self, slot: usize, at: Instant) {
        let due = at + self.pace.pod_start;
        let host = self.host_mut(slot);
        if host.kubelet.is_some() {
            host.mirrors_at = Some(due);
        }
    }
}

fn mirror_pod(name: &str, node: &Value) -> Value {
    let node_name = node["metadata"]["name"].as_str().unwrap_or_default();
    let hash = format!("{:016x}{:016x}", hash_text(name), hash_text(node_name));
    json!({
        "metadata": {
            "name": format!("{name}-{node_name}"),
            "labels": {"component": name, "tier": "control-plane"},
            "annotations": {
                MIRROR: hash,
                "kubernetes.io/config.hash": hash,
                "kubernetes.io/config.source": "file",
            },
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "Node", "name": node_name, "uid": node["metadata"]["uid"], "controller": true,
            }],
        },
        "spec": {
            "nodeName": node_name,
            "hostNetwork": true,
            "priorityClassName": "system-node-critical",
            "containers": [{"name": name, "image": format!("registry.k8s.io/{name}")}],
            "tolerations": [{"operator": "Exists", "effect": "NoExecute"}],
        },
    })
}
