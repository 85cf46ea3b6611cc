//! The collector of pods that no kubelet will ever end: those of nodes that no longer exist, and terminating ones on silent
//! nodes that somebody has declared out of service.

use serde_json::Value;

use crate::kube::{Kube, Timer};
use crate::node;
use crate::objects::{NODES, ObjectKey, PODS};
use crate::pod;
use crate::time::{Instant, Span};
use crate::writes::DeleteOptions;

/// Set by an operator who knows that the node is off.
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// How long a node must be gone before its pods are, so that one that registers anew keeps them.
const QUARANTINE: Span = Span::seconds(40);

fn is_out_of_service(node: &Value) -> bool {
    let mut taints = node["spec"]["taints"].as_array().into_iter().flatten();
    let is_declared = taints.any(|taint| taint["key"] == OUT_OF_SERVICE && taint["effect"] == "NoExecute");
    is_declared && node::ready_status(node) != Some("True")
}

impl Kube {
    /// Lets the collector come round if the pod may be its business.
    pub(crate) fn note_collectable(&mut self, pod: &Value, at: Instant) {
        let Some(name) = pod::node_name(pod) else { return };
        match self.objects.get(&NODES, &ObjectKey::cluster(name)) {
            None => self.expect_collector(at + self.pace.in_site_time(QUARANTINE)),
            Some(node) if pod::is_terminating(pod) && is_out_of_service(node) => self.expect_collector(at),
            Some(_) => {}
        }
    }

    /// The same for all pods of a node that changed or has gone.
    pub(crate) fn note_collectable_node(&mut self, node: Option<&Value>, at: Instant) {
        match node {
            None => self.expect_collector(at + self.pace.in_site_time(QUARANTINE)),
            Some(node) if is_out_of_service(node) => self.expect_collector(at),
            Some(_) => {}
        }
    }

    /// The collector comes at fixed intervals; here only when there may be something to collect.
    fn expect_collector(&mut self, at: Instant) {
        let every = self.pace.pod_gc_every.0.max(1);
        self.hasten(Timer::Garbage, Instant((at.0.div_euclid(every) + 1) * every));
    }

    pub(crate) fn garbage_steps(&mut self, at: Instant) {
        self.set_timer(Timer::Garbage, None);
        let is_garbage = |pod: &Value| {
            let Some(name) = pod::node_name(pod) else { return false };
            match self.objects.get(&NODES, &ObjectKey::cluster(name)) {
                None => true,
                Some(node) => pod::is_terminating(pod) && is_out_of_service(node),
            }
        };
        let garbage = self.objects.list(&PODS, None).filter(|(_, pod)| is_garbage(pod));
        let garbage: Vec<ObjectKey> = garbage.map(|(key, _)| key.clone()).collect();
        for key in garbage {
            // It was there a moment ago, and no precondition is set. One with finalizers stays for their sake.
            let _ = self.delete(&PODS, &key, &DeleteOptions { grace_seconds: Some(0), ..DeleteOptions::default() }, at);
        }
    }
}
