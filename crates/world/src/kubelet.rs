//! What the kubelet of a running host tells the API: its node's status, its lease.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::events::Announce;
use crate::node;
use crate::objects::{Durability, LEASES, NODES, ObjectError, ObjectKey, Part};
use crate::pace::Pace;
use crate::pod_work::Absence;
use crate::random::Random;
use crate::site::World;
use crate::time::{Instant, Span};

/// Kubelets renew at one of this many moments of an interval, so that a large site wakes up a few times per interval
/// and not once per node.
const LEASE_PHASES: u64 = 10;

pub(crate) const LEASE_NAMESPACE: &str = "kube-node-lease";

/// What the node lifecycle controller thinks of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Verdict {
    /// It never heard of it.
    #[default]
    Unseen,
    Reachable,
    Unknown,
}

/// What a machine's kubelet has told the API, and what the controllers have made of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NodeState {
    pub verdict: Verdict,
    /// When the lifecycle controller last saw the lease renewed.
    pub seen_at: Option<Instant>,
    #[serde(skip)]
    pub renew_at: Option<Instant>,
    #[serde(skip)]
    pub report_at: Option<Instant>,
}

impl NodeState {
    /// When the node is declared unknown if nothing is heard of it.
    pub fn unknown_at(&self, pace: &Pace) -> Option<Instant> {
        if self.verdict == Verdict::Reachable { self.seen_at.map(|at| at + pace.node_grace) } else { None }
    }

    pub fn next_at(&self, pace: &Pace) -> Option<Instant> {
        self.renew_at.into_iter().chain(self.report_at).chain(self.unknown_at(pace)).min()
    }
}

impl World {
    /// Posts the node's status and renews its lease, as a kubelet does when it starts or finds the API back.
    pub(crate) fn kubelet_reports(&mut self, index: usize, at: Instant, announce: Announce) {
        let Some(boot_id) = self.states[index].machine.boot_id().map(str::to_owned) else { return };
        let spec = self.spec(index).clone();
        let problems = self.node_problems(index);
        let key = ObjectKey::cluster(&spec.name);
        let known = self.objects.get(&NODES, &key).cloned();
        match &known {
            Some(_) => self.change_node(index, Durability::Kept, |node| node::with_kubelet_status(node, &spec, &boot_id, &problems, at)),
            None => {
                let document = node::with_kubelet_status(&node::registration(&spec), &spec, &boot_id, &problems, at);
                // The name was free a moment ago, and nothing else runs in between.
                let _ = self.objects.create(&NODES, "", document, at);
            }
        }
        if announce == Announce::Events {
            self.announce_kubelet(index, known.as_deref(), &boot_id, at);
        }
        self.renew_lease(index, at);
        self.states[index].node.report_at = Some(at + self.pace.report_every);
        let before = std::mem::replace(&mut self.states[index].node.verdict, Verdict::Reachable);
        self.settle_taints(index, at);
        let absence = if before == Verdict::Unknown { Absence::Noticed } else { Absence::None };
        self.kubelet_finds_pods(index, absence, at);
        self.unsaved.machines.insert(index);
    }

    pub(crate) fn kubelet_stops(&mut self, index: usize) {
        let node = &mut self.states[index].node;
        node.renew_at = None;
        node.report_at = None;
        self.kubelet_drops_pods(index);
        self.unsaved.machines.insert(index);
    }

    pub(crate) fn kubelet_steps(&mut self, index: usize, at: Instant) {
        if self.states[index].node.renew_at.is_some_and(|due| due <= at) {
            self.renew_lease(index, at);
        }
        if self.states[index].node.report_at.is_some_and(|due| due <= at) {
            let (spec, problems) = (self.spec(index).clone(), self.node_problems(index));
            if let Some(boot_id) = self.states[index].machine.boot_id().map(str::to_owned) {
                self.change_node(index, Durability::Fleeting, |node| node::with_kubelet_status(node, &spec, &boot_id, &problems, at));
            }
            self.states[index].node.report_at = Some(at + self.pace.report_every);
        }
    }

    /// Changes a node if it exists. A node that somebody deleted stays gone until its kubelet starts again.
    pub(crate) fn change_node(&mut self, index: usize, durability: Durability, change: impl FnOnce(&Value) -> Value) {
        let key = ObjectKey::cluster(&self.spec(index).name);
        let _: Result<_, ObjectError> = self.objects.modify(&NODES, &key, Part::Whole, durability, |node| Ok(change(node)));
    }

    fn renew_lease(&mut self, index: usize, at: Instant) {
        let name = &self.layout.machines()[index].name;
        let key = ObjectKey::namespaced(LEASE_NAMESPACE, name);
        let renewed: Result<_, ObjectError> = self.objects.modify(&LEASES, &key, Part::Whole, Durability::Fleeting, |lease| {
            let mut lease = lease.clone();
            lease["spec"]["renewTime"] = json!(at.to_micros_text());
            lease["spec"]["holderIdentity"] = json!(name);
            Ok(lease)
        });
        if renewed.is_err() {
            let owner = self.objects.get(&NODES, &ObjectKey::cluster(name)).map(|node| node["metadata"]["uid"].clone());
            let document = node::lease(name, owner.as_ref(), self.pace.node_grace, at);
            // It was missing a moment ago, and nothing else runs in between.
            let _ = self.objects.create(&LEASES, LEASE_NAMESPACE, document, at);
        }
        let next = next_renewal(self.layout.site_seed(), name, self.pace.lease_every, at);
        let node = &mut self.states[index].node;
        node.seen_at = Some(at);
        node.renew_at = Some(next);
    }
}

/// The next of this kubelet's moments strictly after `at`.
fn next_renewal(site_seed: u64, name: &str, every: Span, at: Instant) -> Instant {
    let phase = Random::new(site_seed, name).below(LEASE_PHASES) as i64 * every.0 / LEASE_PHASES as i64;
    let intervals = (at.0 - phase).div_euclid(every.0) + 1;
    Instant(intervals * every.0 + phase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kubelet_renews_within_an_interval_and_always_later() {
        for at in [0, 1, 999, 1_000, 123_456_789] {
            let next = next_renewal(1, "rack1compute01", Span::seconds(1), Instant(at));
            assert!(next > Instant(at) && next <= Instant(at + 1_000), "{at} {next:?}");
        }
    }
}
