//! Kubernetes events about nodes and pods: who posts them, and how long they are kept.

use serde_json::{Value, json};

use crate::kube::Kube;
use crate::node;
use crate::objects::{EVENTS, NODES, ObjectKey, Preconditions};
use crate::random::Random;
use crate::time::{Instant, Span};

/// kube-apiserver's default `--event-ttl`.
const EVENT_TTL: Span = Span::minutes(60);

/// How many events are kept at most, however young: a site of thousands of machines at high speed makes them quickly.
const EVENT_LIMIT: usize = 2_000;

/// Nodes have no namespace, so their events live in this one.
const EVENT_NAMESPACE: &str = "default";

/// Whether a kubelet's report is news. When a site is made or loaded it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Announce {
    Events,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Component {
    Kubelet,
    NodeController,
}

impl Kube {
    /// The events of a kubelet that has just posted its node, given the node before.
    pub(crate) fn announce_kubelet(&mut self, slot: usize, before: Option<&Value>, boot_id: &str, at: Instant) {
        let name = self.host(slot).facts.name.clone();
        let Some(before) = before else {
            self.post_event(slot, Component::Kubelet, "Starting", "Starting kubelet.", at);
            let registered = format!("Node {name} event: Registered Node {name} in Controller");
            self.post_event(slot, Component::NodeController, "RegisteredNode", &registered, at);
            self.post_event(slot, Component::Kubelet, "NodeReady", &format!("Node {name} status is now: NodeReady"), at);
            return;
        };
        if before["status"]["nodeInfo"]["bootID"] != boot_id {
            self.post_event(slot, Component::Kubelet, "Starting", "Starting kubelet.", at);
            self.post_event(slot, Component::Kubelet, "Rebooted", &format!("Node {name} has been rebooted, boot id: {boot_id}"), at);
        }
        if node::ready_status(before) != Some("True") {
            self.post_event(slot, Component::Kubelet, "NodeReady", &format!("Node {name} status is now: NodeReady"), at);
        }
    }

    pub(crate) fn post_event(&mut self, slot: usize, from: Component, reason: &str, message: &str, at: Instant) {
        let node = self.host(slot).facts.name.clone();
        // Kubelets refer to their node by name even where a uid belongs; kubectl describe looks for both.
        let (source, uid) = match from {
            Component::Kubelet => (json!({"component": "kubelet", "host": node}), json!(node)),
            Component::NodeController => {
                let uid = self.objects.get(&NODES, &ObjectKey::cluster(&node)).map(|node| node["metadata"]["uid"].clone());
                (json!({"component": "node-controller"}), uid.unwrap_or(Value::Null))
            }
        };
        let mut event = event(&json!({"kind": "Node", "name": node, "uid": uid}), &source, reason, message, at);
        event["type"] = json!(if reason == "Rebooted" { "Warning" } else { "Normal" });
        self.post(EVENT_NAMESPACE, &node, event, at);
    }

    /// What the kubelet of a host has to say about one of its pods.
    pub(crate) fn post_pod_event(&mut self, slot: usize, pod: &Value, reason: &str, message: &str, at: Instant) {
        let metadata = &pod["metadata"];
        let (Some(namespace), Some(name)) = (metadata["namespace"].as_str(), metadata["name"].as_str()) else { return };
        // A namespace on its way out takes nothing new, or it would never be empty.
        if self.check_namespace(namespace).is_err() {
            return;
        }
        let about = json!({"kind": "Pod", "apiVersion": "v1", "namespace": namespace, "name": name, "uid": metadata["uid"]});
        let source = json!({"component": "kubelet", "host": self.host(slot).facts.name});
        self.post(namespace, name, event(&about, &source, reason, message, at), at);
    }

    fn post(&mut self, namespace: &str, about: &str, mut event: Value, at: Instant) {
        self.forget_old_events(at);
        let mut random = Random::new(self.seed, &format!("event/{}", self.objects.version()));
        let name = format!("{about}.{:016x}", random.next_u64());
        event["metadata"] = json!({"name": name});
        // A clash of 64-bit names would cost one event, and events may be lost.
        if self.objects.create(&EVENTS, namespace, event, at).is_ok() {
            self.posted_events.push_back((at, ObjectKey::namespaced(namespace, &name)));
        }
    }

    fn forget_old_events(&mut self, at: Instant) {
        while self.posted_events.len() >= EVENT_LIMIT || self.posted_events.front().is_some_and(|(posted, _)| *posted + EVENT_TTL <= at) {
            let Some((_, key)) = self.posted_events.pop_front() else { return };
            // Somebody may have deleted it before.
            let _ = self.objects.delete(&EVENTS, &key, &Preconditions::default());
        }
    }
}

fn event(about: &Value, source: &Value, reason: &str, message: &str, at: Instant) -> Value {
    json!({
        "involvedObject": about,
        "reason": reason,
        "message": message,
        "source": source,
        "firstTimestamp": at.to_seconds_text(),
        "lastTimestamp": at.to_seconds_text(),
        "count": 1,
        "type": "Normal",
        "eventTime": null,
        "reportingComponent": source["component"],
        "reportingInstance": source.get("host").cloned().unwrap_or_else(|| json!("")),
    })
}
