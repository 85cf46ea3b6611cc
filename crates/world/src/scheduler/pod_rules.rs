//! What pods say about each other: affinity, anti-affinity and even spreading over the values of a node label.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::Surroundings;
use super::node_rules;
use crate::label_selector;
use crate::pod;

/// A pod that runs or will run, and its node.
pub(super) struct Bound<'a> {
    pub pod: &'a Value,
    pub node: &'a Value,
}

/// The pods that have a node of this cluster and are not over.
pub(super) fn bound(around: &Surroundings) -> Vec<Bound<'_>> {
    let by_name: BTreeMap<&str, &Value> =
        around.nodes.iter().filter_map(|node| Some((node["metadata"]["name"].as_str()?, node.as_ref()))).collect();
    let alive = around.pods.iter().filter(|pod| !pod::is_finished(pod));
    alive.filter_map(|pod| Some(Bound { pod, node: by_name.get(pod::node_name(pod)?)? })).collect()
}

/// The rules of one pod that is to be placed, among the pods that are there.
pub(super) struct Rules<'a> {
    pod: &'a Value,
    bound: &'a [Bound<'a>],
    nodes: &'a [Arc<Value>],
}

impl<'a> Rules<'a> {
    pub fn of(pod: &'a Value, bound: &'a [Bound<'a>], nodes: &'a [Arc<Value>]) -> Rules<'a> {
        Rules { pod, bound, nodes }
    }

    /// The scheduler's words if the node is ruled out by the pods that are about it.
    pub fn objection(&self, node: &Value) -> Option<&'static str> {
        if let Some(objection) = self.spread_objection(node) {
            return Some(objection);
        }
        let own = |kind: &str| list(&self.pod["spec"]["affinity"][kind]["requiredDuringSchedulingIgnoredDuringExecution"]);
        if !own("podAffinity").iter().all(|term| self.is_near(term, node)) {
            return Some("node(s) didn't match pod affinity rules");
        }
        if own("podAntiAffinity").iter().any(|term| self.count_near(term, node) > 0) {
            return Some("node(s) didn't match pod anti-affinity rules");
        }
        let is_shunned = self.bound.iter().any(|other| {
            let terms = list(&other.pod["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]);
            terms.iter().any(|term| means(term, other.pod, self.pod) && is_same_place(term, node, other.node))
        });
        is_shunned.then_some("node(s) didn't satisfy existing pods anti-affinity rules")
    }

    /// Whether a pod is near that the term wants near. The first of a group that wants itself near may go anywhere.
    fn is_near(&self, term: &Value, node: &Value) -> bool {
        if place_of(term, node).is_none() {
            return false;
        }
        let is_first = means(term, self.pod, self.pod) && !self.bound.iter().any(|other| means(term, self.pod, other.pod));
        is_first || self.count_near(term, node) > 0
    }

    fn count_near(&self, term: &Value, node: &Value) -> usize {
        self.bound.iter().filter(|other| means(term, self.pod, other.pod) && is_same_place(term, node, other.node)).count()
    }

    /// How much the pod would like the node for the pods that are about it.
    pub fn liking(&self, node: &Value) -> i64 {
        let wishes = |kind: &str| {
            let wishes = list(&self.pod["spec"]["affinity"][kind]["preferredDuringSchedulingIgnoredDuringExecution"]);
            let met = wishes.iter().filter(|wish| self.count_near(&wish["podAffinityTerm"], node) > 0);
            met.map(|wish| wish["weight"].as_i64().unwrap_or(1)).sum::<i64>()
        };
        wishes("podAffinity") - wishes("podAntiAffinity")
    }

    /// How many pods are where this one should rather not join them.
    pub fn crowding(&self, node: &Value) -> usize {
        let soft = self.constraints("ScheduleAnyway");
        soft.map(|constraint| self.count_in_domain(constraint, place_of(constraint, node))).sum()
    }

    fn constraints(&self, when: &'static str) -> impl Iterator<Item = &'a Value> {
        let constraints = list(&self.pod["spec"]["topologySpreadConstraints"]).iter();
        constraints.filter(move |constraint| constraint["whenUnsatisfiable"].as_str().unwrap_or("DoNotSchedule") == when)
    }

    fn spread_objection(&self, node: &Value) -> Option<&'static str> {
        for constraint in self.constraints("DoNotSchedule") {
            let Some(place) = place_of(constraint, node) else {
                return Some("node(s) didn't match pod topology spread constraints (missing required label)");
            };
            let here = self.count_in_domain(constraint, Some(place));
            let counts = self.domains(constraint).map(|domain| self.count_in_domain(constraint, Some(domain)));
            let least = counts.min().unwrap_or(here);
            let joins = usize::from(label_selector::admits(&constraint["labelSelector"], &self.pod["metadata"]["labels"]));
            let skew = (here + joins).saturating_sub(least);
            if skew > constraint["maxSkew"].as_u64().map_or(1, |most| usize::try_from(most).unwrap_or(usize::MAX)) {
                return Some("node(s) didn't match pod topology spread constraints");
            }
        }
        None
    }

    /// The places that count: those of nodes that the pod's own selector and affinity allow. Taints do not matter here.
    fn domains(&self, constraint: &'a Value) -> impl Iterator<Item = &'a str> {
        let allowed = self.nodes.iter().filter(|node| node_rules::is_selected(self.pod, node));
        allowed.filter_map(|node| place_of(constraint, node))
    }

    fn count_in_domain(&self, constraint: &Value, domain: Option<&str>) -> usize {
        let alike = self.bound.iter().filter(|other| {
            !pod::is_terminating(other.pod)
                && other.pod["metadata"]["namespace"] == self.pod["metadata"]["namespace"]
                && label_selector::admits(&constraint["labelSelector"], &other.pod["metadata"]["labels"])
        });
        alike.filter(|other| domain.is_some() && place_of(constraint, other.node) == domain).count()
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Whether the term of `owner` means the other pod: by labels, in the namespaces it names, or in its own.
fn means(term: &Value, owner: &Value, other: &Value) -> bool {
    let namespace = &other["metadata"]["namespace"];
    let named = list(&term["namespaces"]);
    let is_namespace_meant = match &term["namespaceSelector"] {
        // An empty selector of namespaces means all of them; one with rules would need their labels, which nobody here sets.
        Value::Object(rules) if rules.is_empty() => true,
        _ if named.is_empty() => *namespace == owner["metadata"]["namespace"],
        _ => named.contains(namespace),
    };
    is_namespace_meant && label_selector::admits(&term["labelSelector"], &other["metadata"]["labels"])
}

/// The value of the term's topology label on the node.
fn place_of<'a>(term: &Value, node: &'a Value) -> Option<&'a str> {
    node["metadata"]["labels"][term["topologyKey"].as_str()?].as_str()
}

fn is_same_place(term: &Value, one: &Value, other: &Value) -> bool {
    let place = place_of(term, one);
    place.is_some() && place == place_of(term, other)
}
