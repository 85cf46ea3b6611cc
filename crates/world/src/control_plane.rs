//! A cluster's control plane: whether it has quorum, and what its node controllers do.
//!
//! While there is no quorum the API refuses, leases are not renewed and no node is judged. When it returns, every kubelet
//! is heard before anybody is declared unknown.

use serde_json::Value;

use crate::events::{Announce, Component};
use crate::kube::Kube;
use crate::kubelet::Verdict;
use crate::node;
use crate::objects::{Durability, NODES, ObjectKey};
use crate::site::World;
use crate::time::Instant;

impl World {
    /// Whether the undercloud's API answers: it has quorum, and its servers are not down themselves.
    pub(crate) fn can_serve_api(&self) -> bool {
        self.has_quorum() && !self.is_api_down()
    }

    /// Looks at the undercloud's quorum again after a host came or went.
    pub(crate) fn weigh_quorum(&mut self, at: Instant) {
        self.settle_etcd(at);
        let available = self.can_serve_api();
        if available && !self.undercloud.available {
            (0..self.states.len()).for_each(|index| self.refresh_problems(index));
        }
        self.undercloud.set_available(available, at);
    }
}

impl Kube {
    /// Lets the API answer from now on, or no longer.
    pub(crate) fn set_available(&mut self, available: bool, at: Instant) {
        if available == self.available {
            return;
        }
        self.available = available;
        if available {
            self.control_plane_returns(at);
        }
        self.reschedule_all(at);
    }

    /// The controllers start with no memory of when they last heard a node, so silent nodes get a full grace period again.
    fn control_plane_returns(&mut self, at: Instant) {
        let slots: Vec<usize> = self.hosts.keys().copied().collect();
        for slot in slots {
            if self.host(slot).kubelet.is_some() {
                self.kubelet_reports(slot, at, Announce::Events);
            } else if self.host(slot).node.verdict == Verdict::Reachable {
                self.node_mut(slot).seen_at = Some(at);
                self.unsaved_hosts.insert(slot);
            }
        }
        self.find_strangers(at);
    }

    /// Whether most of the cluster's own voters are up, for a cluster whose control plane is its hosts'.
    pub(crate) fn has_majority(&self) -> bool {
        let voters = self.hosts.values().filter(|host| host.facts.votes);
        let (mut all, mut up) = (0, 0);
        for host in voters {
            all += 1;
            up += usize::from(host.kubelet.is_some());
        }
        2 * up > all
    }

    /// The node lifecycle controller: a node whose lease is not renewed for the grace period is unknown.
    pub(crate) fn lifecycle_steps(&mut self, slot: usize, at: Instant) {
        if self.host(slot).node.unknown_at(&self.pace).is_none_or(|due| due > at) {
            return;
        }
        self.unsaved_hosts.insert(slot);
        let name = self.host(slot).facts.name.clone();
        if self.objects.get(&NODES, &ObjectKey::cluster(&name)).is_none() {
            self.node_mut(slot).verdict = Verdict::Unseen;
            return;
        }
        self.node_mut(slot).verdict = Verdict::Unknown;
        self.change_node(slot, Durability::Kept, at, |node| node::with_unknown_conditions(node, at));
        self.settle_taints(slot, at);
        self.pods_lose_contact(slot, at);
        let message = format!("Node {name} status is now: NodeNotReady");
        self.post_event(slot, Component::NodeController, "NodeNotReady", &message, at);
    }

    /// Makes the taints agree with the node's conditions and with `spec.unschedulable`.
    pub(crate) fn settle_taints(&mut self, slot: usize, at: Instant) {
        self.change_node(slot, Durability::Kept, at, |node| node::with_controller_taints(node, at));
    }

    /// Tells those who watch nodes that one came, went, or is another than before in what they look at.
    pub(crate) fn node_changed(&mut self, before: Option<&Value>, after: Option<&Value>, at: Instant) {
        let looked_at = |node: &Value| {
            (node["spec"].clone(), node["metadata"]["labels"].clone(), node["status"]["allocatable"].clone(), node::is_ready(node))
        };
        let (Some(name), true) =
            (after.or(before).and_then(|node| node["metadata"]["name"].as_str()), before.map(looked_at) != after.map(looked_at))
        else {
            return;
        };
        let name = name.to_owned();
        self.weigh_dooms(&name, at);
        self.note_collectable_node(after, at);
        self.look_for_places(at);
        self.mark_daemon_sets(at);
    }

    /// The controllers' answer to somebody's write to a node.
    pub(crate) fn node_written(&mut self, after: &Value, before: Option<&Value>, at: Instant) {
        let Some(name) = after["metadata"]["name"].as_str() else { return };
        let Some(slot) = self.slot_of(name) else { return self.stranger_written(name, before, at) };
        self.settle_taints(slot, at);
        if before.is_none() {
            let node = self.node_mut(slot);
            node.verdict = Verdict::Reachable;
            node.seen_at = Some(at);
            self.unsaved_hosts.insert(slot);
            self.reschedule(slot);
        }
        let was_closed = before.is_some_and(node::is_unschedulable);
        if node::is_unschedulable(after) != was_closed && self.host(slot).kubelet.is_some() {
            let reason = if was_closed { "NodeSchedulable" } else { "NodeNotSchedulable" };
            let message = format!("Node {} status is now: {reason}", self.host(slot).facts.name);
            self.post_event(slot, Component::Kubelet, reason, &message, at);
        }
    }
}
