//! Where a pod goes that names no node: kube-scheduler's filters, its words for what they rule out, and its preferences.
//!
//! When pods are tried, and what becomes of one that fits nowhere, is decided elsewhere.
//! Decided from documents alone, and the same documents give the same node: of equals the least used wins, then the name.

mod fit;
mod node_rules;
mod pod_rules;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::pod;
pub(crate) use fit::{Amounts, requests};

/// Written on a claim when its first pod is placed: local storage is where its pod was.
pub(crate) const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// The storage class whose volumes lie on the disk of the node where they were first used.
pub(crate) const LOCAL_STORAGE: &str = "local-path";

/// What a scheduler looks at. It is kept up to date over many placements, so that each need not count everything anew.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    /// In the order of their names.
    pub nodes: Vec<Arc<Value>>,
    /// All pods of the cluster that are bound to a node and have not finished.
    pub pods: Vec<Arc<Value>>,
    /// What these pods ask of each node.
    pub used: BTreeMap<String, Amounts>,
    /// The claims of the pod that is to be placed, as far as they exist.
    pub claims: Vec<Arc<Value>>,
}

impl Surroundings {
    /// Takes in a pod that is bound to a node.
    pub fn add(&mut self, pod: &Arc<Value>) {
        let Some(node) = pod::node_name(pod) else { return };
        let asked = requests(pod);
        let used = self.used.entry(node.to_owned()).or_default();
        used.cpu_millis += asked.cpu_millis;
        used.memory_bytes += asked.memory_bytes;
        used.pods += asked.pods;
        self.pods.push(pod.clone());
    }
}

/// Why a pod fits on no node: how many nodes there are, and how many of them fail for each reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unplaceable {
    pub nodes: usize,
    pub reasons: BTreeMap<String, usize>,
}

impl fmt::Display for Unplaceable {
    /// `0/3 nodes are available: 2 Insufficient cpu, 1 node(s) were unschedulable.`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nodes == 0 {
            return f.write_str("no nodes available to schedule pods");
        }
        write!(f, "0/{} nodes are available", self.nodes)?;
        let mut reasons: Vec<String> = self.reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        // As the real scheduler sorts them: by their text, count and all.
        reasons.sort();
        if reasons.is_empty() { f.write_str(".") } else { write!(f, ": {}.", reasons.join(", ")) }
    }
}

/// A node with what its pods ask of it.
struct Candidate<'a> {
    node: &'a Value,
    name: &'a str,
    used: Amounts,
}

/// The node for the pod, or why there is none, as the pod's condition says it.
pub(crate) fn place(pod: &Value, around: &Surroundings) -> Result<String, Unplaceable> {
    let candidates = candidates(around);
    let bound = pod_rules::bound(around);
    let rules = pod_rules::Rules::of(pod, &bound, &around.nodes);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut fitting = Vec::new();
    for candidate in &candidates {
        let against = objections(pod, candidate, around, &rules);
        if against.is_empty() {
            fitting.push(candidate);
        }
        for reason in against {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    let best = fitting.into_iter().min_by_key(|candidate| {
        let liking = node_rules::liking(pod, candidate.node) + rules.liking(candidate.node);
        (
            -liking,
            rules.crowding(candidate.node),
            siblings(pod, candidate.name, &bound),
            fit::per_mille(candidate.used, candidate.node),
            candidate.name,
        )
    });
    match best {
        Some(candidate) => Ok(candidate.name.to_owned()),
        None => Err(Unplaceable { nodes: candidates.len(), reasons }),
    }
}

fn candidates(around: &Surroundings) -> Vec<Candidate<'_>> {
    let candidate = |node| {
        let node: &Value = node;
        let name = node["metadata"]["name"].as_str().unwrap_or_default();
        Candidate { node, name, used: around.used.get(name).copied().unwrap_or_default() }
    };
    around.nodes.iter().map(|node| candidate(node.as_ref())).collect()
}

/// What rules the node out. The first filter that objects has the word, and only the fit may object in several ways.
fn objections(pod: &Value, candidate: &Candidate<'_>, around: &Surroundings, rules: &pod_rules::Rules<'_>) -> Vec<String> {
    let node = candidate.node;
    if let Some(reason) = node_rules::objection(pod, node) {
        return vec![reason];
    }
    let lacking = fit::lacking(pod, candidate.used, node);
    if !lacking.is_empty() {
        return lacking;
    }
    if !is_storage_reachable(pod, candidate.name, around) {
        return vec!["node(s) didn't match PersistentVolume's node affinity".to_owned()];
    }
    rules.objection(node).into_iter().map(str::to_owned).collect()
}

/// Whether every claim of the pod is on this node or not yet anywhere.
fn is_storage_reachable(pod: &Value, node: &str, around: &Surroundings) -> bool {
    claims_of(pod).all(|name| {
        let claim = around
            .claims
            .iter()
            .find(|claim| claim["metadata"]["name"] == name && claim["metadata"]["namespace"] == pod["metadata"]["namespace"]);
        let local = claim.filter(|claim| claim["spec"]["storageClassName"] == LOCAL_STORAGE);
        let pinned = local.and_then(|claim| claim["metadata"]["annotations"][SELECTED_NODE].as_str());
        pinned.is_none_or(|pinned| pinned == node)
    })
}

/// The names of the claims that a pod mounts.
pub(crate) fn claims_of(pod: &Value) -> impl Iterator<Item = &str> {
    let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
    volumes.filter_map(|volume| volume["persistentVolumeClaim"]["claimName"].as_str())
}

/// How many pods of the same controller the node has: the scheduler spreads them without being asked to.
fn siblings(pod: &Value, node: &str, bound: &[pod_rules::Bound<'_>]) -> usize {
    let Some(owner) = controller(pod) else { return 0 };
    bound.iter().filter(|other| pod::node_name(other.pod) == Some(node) && controller(other.pod) == Some(owner)).count()
}

fn controller(pod: &Value) -> Option<&str> {
    let owners = pod["metadata"]["ownerReferences"].as_array()?;
    owners.iter().find(|owner| owner["controller"] == true)?["uid"].as_str()
}

/// Whether a node takes the pod by its labels and taints, if it has room.
pub(crate) fn admits(pod: &Value, node: &Value) -> bool {
    node_rules::objection(pod, node).is_none()
}

/// Whether a node that has the pod already goes on taking it.
pub(crate) fn keeps(pod: &Value, node: &Value) -> bool {
    let evicts = |taint: &&Value| taint["effect"] == "NoExecute" && !tolerations(pod).iter().any(|known| tolerates(known, taint));
    !node["spec"]["taints"].as_array().into_iter().flatten().any(|taint| evicts(&taint)) && node_rules::is_selected(pod, node)
}

pub(crate) fn tolerations(pod: &Value) -> &[Value] {
    pod["spec"]["tolerations"].as_array().map_or(&[], Vec::as_slice)
}

/// Whether a toleration means a taint. An empty key with `Exists` means all, an empty effect means every effect.
pub(crate) fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (key, effect) = (text(&toleration["key"]), text(&toleration["effect"]));
    let is_meant = (key.is_empty() || taint["key"] == key.as_str()) && (effect.is_empty() || taint["effect"] == effect.as_str());
    match toleration["operator"].as_str() {
        Some("Exists") => is_meant,
        None | Some("" | "Equal") => is_meant && !key.is_empty() && text(&toleration["value"]) == text(&taint["value"]),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests;
