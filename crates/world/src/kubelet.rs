//! What the kubelet of a running host tells the API: its node's status, its lease.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::events::Announce;
use crate::host::Host;
use crate::kube::{Flavour, Kube};
use crate::node;
use crate::objects::{Durability, LEASES, NODES, ObjectError, ObjectKey, Part};
use crate::pace::Pace;
use crate::pod_work::Absence;
use crate::random::Random;
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

impl Kube {
    /// The kubelet of a host that has booted, or that found its way to the API servers again, begins to speak.
    pub(crate) fn kubelet_starts(&mut self, slot: usize, boot_id: &str) {
        if let Some(host) = self.hosts.get_mut(&slot) {
            host.kubelet = Some(boot_id.to_owned());
        }
    }

    /// Posts the node's status and renews its lease, as a kubelet does when it starts or finds the API back.
    pub(crate) fn kubelet_reports(&mut self, slot: usize, at: Instant, announce: Announce) {
        let host = self.host(slot).clone();
        let Some(boot_id) = host.kubelet else { return };
        let key = ObjectKey::cluster(&host.facts.name);
        let known = self.objects.get(&NODES, &key).cloned();
        let reported = |node: &Value| node::with_kubelet_status(node, &host.facts, &boot_id, &host.problems, at);
        match &known {
            // People label machines as they like; the labels of a tenant's node follow its virtual machine.
            Some(_) if self.flavour == Flavour::Tenant => {
                self.change_node(slot, Durability::Kept, at, |node| node::with_labels(&reported(node), &host.facts.labels));
            }
            Some(_) => self.change_node(slot, Durability::Kept, at, reported),
            None => {
                // The name was free a moment ago, and nothing else runs in between.
                if let Ok(node) = self.objects.create(&NODES, "", reported(&node::registration(&host.facts)), at) {
                    self.node_changed(None, Some(&node), at);
                }
            }
        }
        if announce == Announce::Events {
            self.announce_kubelet(slot, known.as_deref(), &boot_id, at);
        }
        self.renew_lease(slot, at);
        let report_at = at + self.pace.report_every;
        let node = self.node_mut(slot);
        node.report_at = Some(report_at);
        let before = std::mem::replace(&mut node.verdict, Verdict::Reachable);
        self.settle_taints(slot, at);
        let absence = if before == Verdict::Unknown { Absence::Noticed } else { Absence::None };
        self.kubelet_finds_pods(slot, absence, at);
        self.show_mirrors(slot, at);
        self.unsaved_hosts.insert(slot);
        self.reschedule(slot);
    }

    pub(crate) fn kubelet_stops(&mut self, slot: usize) {
        let Some(host) = self.hosts.get_mut(&slot) else { return };
        host.kubelet = None;
        host.node.renew_at = None;
        host.node.report_at = None;
        host.mirrors_at = None;
        self.kubelet_drops_pods(slot);
        self.unsaved_hosts.insert(slot);
        self.reschedule(slot);
    }

    pub(crate) fn is_report_due(&self, slot: usize, at: Instant) -> bool {
        self.hosts.get(&slot).and_then(|host| host.node.report_at).is_some_and(|due| due <= at)
    }

    pub(crate) fn kubelet_steps(&mut self, slot: usize, at: Instant) {
        if self.host(slot).node.renew_at.is_some_and(|due| due <= at) {
            self.renew_lease(slot, at);
        }
        if self.is_report_due(slot, at) {
            let Host { facts, kubelet, problems, .. } = self.host(slot).clone();
            if let Some(boot_id) = kubelet {
                let reported = |node: &Value| node::with_kubelet_status(node, &facts, &boot_id, &problems, at);
                self.change_node(slot, Durability::Fleeting, at, reported);
            }
            let report_at = at + self.pace.report_every;
            self.node_mut(slot).report_at = Some(report_at);
        }
        if self.host(slot).mirrors_at.is_some_and(|due| due <= at) {
            self.show_mirrors(slot, at);
        }
    }

    pub(crate) fn node_mut(&mut self, slot: usize) -> &mut NodeState {
        &mut self.host_mut(slot).node
    }

    /// Changes a node if it exists. A node that somebody deleted stays gone until its kubelet starts again.
    pub(crate) fn change_node(&mut self, slot: usize, durability: Durability, at: Instant, change: impl FnOnce(&Value) -> Value) {
        let key = ObjectKey::cluster(&self.host(slot).facts.name);
        let before = self.objects.get(&NODES, &key).cloned();
        let changed: Result<_, ObjectError> = self.objects.modify(&NODES, &key, Part::Whole, durability, |node| Ok(change(node)));
        if let Ok(after) = changed {
            self.node_changed(before.as_deref(), Some(&after), at);
        }
    }

    fn renew_lease(&mut self, slot: usize, at: Instant) {
        let name = &self.hosts[&slot].facts.name;
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
        let next = next_renewal(self.seed, name, self.pace.lease_every, at);
        let node = self.node_mut(slot);
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
