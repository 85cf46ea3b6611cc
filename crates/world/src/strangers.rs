//! Nodes of hosts that are not simulated: a machine outside that joined with a bootstrap token speaks for its node itself.
//!
//! The controllers treat such a node as any other: who does not renew its lease is unknown after a while, and a node that is closed has a
//! taint that says so. Pods that somebody binds to it wait for its own kubelet, which is not here.
//!
//! When a stranger was last heard of is not saved: controllers that start again have no memory of it either, and give it a full grace.

use serde_json::Value;

use crate::kube::{Kube, Timer};
use crate::kubelet::LEASE_NAMESPACE;
use crate::node;
use crate::objects::{Durability, LEASES, NODES, ObjectError, ObjectKey, Part, Resource};
use crate::time::Instant;

impl Kube {
    fn is_stranger(&self, name: &str) -> bool {
        self.slot_of(name).is_none() && self.objects.get(&NODES, &ObjectKey::cluster(name)).is_some()
    }

    /// A stranger's lease was written: whoever renews it is there. By when it says so does not matter: its clock may be off.
    pub(crate) fn lease_written(&mut self, resource: &Resource, key: &ObjectKey, after: Option<&Value>, at: Instant) {
        if resource == &LEASES && key.namespace == LEASE_NAMESPACE && after.is_some() && self.is_stranger(&key.name) {
            self.stranger_heard(&key.name, at);
        }
    }

    /// The controllers' answer to a write to a stranger's node.
    pub(crate) fn stranger_written(&mut self, name: &str, before: Option<&Value>, at: Instant) {
        if before.is_none() {
            self.stranger_heard(name, at);
        }
        self.change_stranger(name, at, |node| node::with_controller_taints(node, at));
    }

    fn stranger_heard(&mut self, name: &str, at: Instant) {
        self.strangers.insert(name.to_owned(), at);
        self.hasten(Timer::Strangers, at + self.pace.node_grace);
    }

    /// Strangers that were not heard of for the grace period are unknown.
    pub(crate) fn stranger_steps(&mut self, at: Instant) {
        let grace = self.pace.node_grace;
        let silent: Vec<String> =
            self.strangers.iter().filter(|(_, heard_at)| **heard_at + grace <= at).map(|(name, _)| name.clone()).collect();
        for name in silent {
            self.strangers.remove(&name);
            self.change_stranger(&name, at, |node| node::with_controller_taints(&node::with_unknown_conditions(node, at), at));
        }
        let next = self.strangers.values().min().map(|heard_at| *heard_at + grace);
        self.set_timer(Timer::Strangers, next);
    }

    /// Controllers that start find the strangers that are there, and wait for each as if it had just been heard of.
    pub(crate) fn find_strangers(&mut self, at: Instant) {
        let nodes = self.objects.list(&NODES, None).filter(|(_, node)| node::ready_status(node) != Some("Unknown"));
        let names: Vec<String> = nodes.map(|(key, _)| key.name.clone()).filter(|name| self.slot_of(name).is_none()).collect();
        for name in names {
            self.stranger_heard(&name, at);
        }
    }

    fn change_stranger(&mut self, name: &str, at: Instant, change: impl FnOnce(&Value) -> Value) {
        let key = ObjectKey::cluster(name);
        let before = self.objects.get(&NODES, &key).cloned();
        let changed: Result<_, ObjectError> = self.objects.modify(&NODES, &key, Part::Whole, Durability::Kept, |node| Ok(change(node)));
        if let Ok(after) = changed {
            self.node_changed(before.as_deref(), Some(&after), at);
        }
    }
}
