//! Where a pod goes that names no node: kube-scheduler's filters, its words for what they rule out, and its preferences.
//!
//! Decided from documents alone, and the same documents give the same node: of equals the least used wins, then the name.

mod fit;
mod node_rules;
mod pod_rules;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::pod;
use fit::Used;

/// Written on a claim when its first pod is placed: local storage is where its pod was.
pub(crate) const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// What the scheduler knows of a cluster.
pub(crate) struct Sight<'a> {
    pub nodes: Vec<&'a Value>,
    /// Every pod, bound or not.
    pub pods: Vec<&'a Value>,
    pub claims: Vec<&'a Value>,
}

/// A node with the pods that count on it.
struct Candidate<'a> {
    node: &'a Value,
    name: &'a str,
    used: Used,
}

/// The node for the pod, or why there is none, as the pod's condition says it.
pub(crate) fn place(pod: &Value, sight: &Sight<'_>) -> Result<String, String> {
    if sight.nodes.is_empty() {
        return Err("no nodes available to schedule pods".to_owned());
    }
    let candidates = candidates(sight);
    let bound = pod_rules::bound(sight);
    let rules = pod_rules::Rules::of(pod, &bound, &sight.nodes);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut fitting = Vec::new();
    for candidate in &candidates {
        let against = objections(pod, candidate, sight, &rules);
        if against.is_empty() {
            fitting.push(candidate);
        }
        for reason in against {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    let best = fitting.into_iter().min_by_key(|candidate| {
        let liking = node_rules::liking(pod, candidate.node) + rules.liking(candidate.node);
        (-liking, rules.crowding(candidate.node), siblings(pod, candidate.name, &bound), candidate.used.per_mille(), candidate.name)
    });
    match best {
        Some(candidate) => Ok(candidate.name.to_owned()),
        None => Err(in_words(candidates.len(), &reasons)),
    }
}

fn candidates<'a>(sight: &Sight<'a>) -> Vec<Candidate<'a>> {
    let mut used: BTreeMap<&str, Used> = BTreeMap::new();
    for pod in sight.pods.iter().filter(|pod| !pod::is_finished(pod)) {
        if let Some(node) = pod::node_name(pod) {
            used.entry(node).or_default().add(pod);
        }
    }
    let candidate = |node: &&'a Value| {
        let name = node["metadata"]["name"].as_str().unwrap_or_default();
        Candidate { node, name, used: used.get(name).copied().unwrap_or_default().on(node) }
    };
    sight.nodes.iter().map(candidate).collect()
}

/// What rules the node out. The first filter that objects has the word, and only the fit may object in several ways.
fn objections(pod: &Value, candidate: &Candidate<'_>, sight: &Sight<'_>, rules: &pod_rules::Rules<'_>) -> Vec<String> {
    let node = candidate.node;
    if let Some(reason) = node_rules::objection(pod, node) {
        return vec![reason];
    }
    let lacking = candidate.used.lacking_for(pod);
    if !lacking.is_empty() {
        return lacking;
    }
    if !is_storage_reachable(pod, candidate.name, sight) {
        return vec!["node(s) didn't match PersistentVolume's node affinity".to_owned()];
    }
    rules.objection(node).into_iter().map(str::to_owned).collect()
}

/// Whether every claim of the pod is on this node or not yet anywhere.
fn is_storage_reachable(pod: &Value, node: &str, sight: &Sight<'_>) -> bool {
    claims_of(pod).all(|name| {
        let claim = sight
            .claims
            .iter()
            .find(|claim| claim["metadata"]["name"] == name && claim["metadata"]["namespace"] == pod["metadata"]["namespace"]);
        let pinned = claim.and_then(|claim| claim["metadata"]["annotations"][SELECTED_NODE].as_str());
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

fn in_words(nodes: usize, reasons: &BTreeMap<String, usize>) -> String {
    let mut told: Vec<String> = reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    told.sort();
    format!("0/{nodes} nodes are available: {}.", told.join(", "))
}

#[cfg(test)]
mod tests;
