//! The undercloud's control plane: whether it has quorum, and what its node controllers do.
//!
//! While there is no quorum the API refuses, leases are not renewed and no node is judged. When it returns, every kubelet
//! is heard before anybody is declared unknown.

use serde_json::Value;

use crate::events::{Announce, Component};
use crate::kubelet::Verdict;
use crate::layout::Role;
use crate::node;
use crate::objects::{Durability, NODES, ObjectKey};
use crate::site::World;
use crate::time::Instant;

impl World {
    pub(crate) fn has_quorum(&self) -> bool {
        let voters = self.layout.machines().iter().enumerate().filter(|(_, spec)| spec.role == Role::ControlPlane);
        let (mut all, mut up) = (0, 0);
        for (index, _) in voters {
            all += 1;
            up += usize::from(self.reaches_api(index));
        }
        2 * up > all
    }

    /// Whether the API answers: it has quorum, and its servers are not down themselves.
    pub(crate) fn can_serve_api(&self) -> bool {
        self.has_quorum() && !self.is_api_down()
    }

    /// Looks at quorum again after a host came or went.
    pub(crate) fn weigh_quorum(&mut self, at: Instant) {
        let available = self.can_serve_api();
        if available == self.available {
            return;
        }
        self.available = available;
        if available {
            self.control_plane_returns(at);
        }
        for index in 0..self.states.len() {
            self.reschedule(index);
        }
        self.reschedule_budgets();
    }

    /// The controllers start with no memory of when they last heard a node, so silent nodes get a full grace period again.
    fn control_plane_returns(&mut self, at: Instant) {
        for index in 0..self.states.len() {
            if self.reaches_api(index) {
                self.kubelet_reports(index, at, Announce::Events);
            } else if self.states[index].node.verdict == Verdict::Reachable {
                self.states[index].node.seen_at = Some(at);
                self.unsaved.machines.insert(index);
            }
        }
    }

    /// The node lifecycle controller: a node whose lease is not renewed for the grace period is unknown.
    pub(crate) fn lifecycle_steps(&mut self, index: usize, at: Instant) {
        if self.states[index].node.unknown_at(&self.pace).is_none_or(|due| due > at) {
            return;
        }
        self.unsaved.machines.insert(index);
        let name = self.spec(index).name.clone();
        if self.objects.get(&NODES, &ObjectKey::cluster(&name)).is_none() {
            self.states[index].node.verdict = Verdict::Unseen;
            return;
        }
        self.states[index].node.verdict = Verdict::Unknown;
        self.change_node(index, Durability::Kept, |node| node::with_unknown_conditions(node, at));
        self.settle_taints(index, at);
        self.pods_lose_contact(index, at);
        let message = format!("Node {name} status is now: NodeNotReady");
        self.post_event(index, Component::NodeController, "NodeNotReady", &message, at);
    }

    /// Makes the taints agree with the node's conditions and with `spec.unschedulable`.
    pub(crate) fn settle_taints(&mut self, index: usize, at: Instant) {
        self.change_node(index, Durability::Kept, |node| node::with_controller_taints(node, at));
    }

    /// The controllers' answer to somebody's write to a node.
    pub(crate) fn node_written(&mut self, after: &Value, before: Option<&Value>, at: Instant) {
        let Some(index) = after["metadata"]["name"].as_str().and_then(|name| self.layout.index_of(name)) else { return };
        self.settle_taints(index, at);
        if before.is_none() {
            self.states[index].node.verdict = Verdict::Reachable;
            self.states[index].node.seen_at = Some(at);
            self.unsaved.machines.insert(index);
            self.reschedule(index);
        }
        let was_closed = before.is_some_and(node::is_unschedulable);
        if node::is_unschedulable(after) != was_closed && self.reaches_api(index) {
            let reason = if was_closed { "NodeSchedulable" } else { "NodeNotSchedulable" };
            let message = format!("Node {} status is now: {reason}", self.spec(index).name);
            self.post_event(index, Component::Kubelet, reason, &message, at);
        }
    }
}
