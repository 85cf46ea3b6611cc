//! Where displaced pods of a tenant cluster find room: an estimate of what its scheduler will do, by the rules that decide whether
//! a node can take a pod at all. Which of several that can it prefers is its own affair; here it is the first by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{Amount, Neighbourhood, PodOutcome, PodSeen, Readiness, Taint, TenantNodeSeen, Toleration};

use crate::tenants::Inside;

/// The label that names a node; it is there even where nobody has set it.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// One tenant cluster without the nodes that are emptied. Placing a pod takes room.
pub(super) struct Fitting<'a> {
    inside: &'a Inside,
    places: Vec<Place<'a>>,
    emptied: Vec<&'a str>,
    /// Where pods are that a neighbourhood means: counted once for all pods that ask the same.
    counted: Vec<Counted>,
    placed: Vec<(&'a PodSeen, usize)>,
}

struct Place<'a> {
    node: &'a TenantNodeSeen,
    room: Amount,
    slots: u32,
}

struct Counted {
    namespace: String,
    of: Neighbourhood,
    /// How many by the value of the topology label.
    pods: BTreeMap<String, u32>,
}

/// What one pod's neighbours, wanted and unwanted, mean for where it can go.
struct Neighbours<'a> {
    /// Places in `counted`: none of these may be near, and one of each of those must be.
    apart: Vec<usize>,
    together: Vec<usize>,
    kept_from: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

/// Why a node does not take a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unfit {
    Cordoned,
    NotReady,
    Tainted,
    OtherLabels,
    Neighbours,
    Full,
    Lacks(Shortfall),
}

/// What a node lacks, in thousandths of what is asked for and in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shortfall {
    permille: u64,
    cpu_millis: u64,
    memory_bytes: u64,
}

impl<'a> Fitting<'a> {
    pub fn new(inside: &'a Inside, emptied: Vec<&'a str>) -> Self {
        let others = inside.nodes.values().filter(|node| !emptied.contains(&node.name.as_str()));
        let places = others.map(|node| {
            let load = inside.load_of(&node.name);
            Place { node, room: node.allocatable.less(load.requests), slots: node.pod_limit.saturating_sub(load.pods) }
        });
        Fitting { inside, places: places.collect(), emptied, counted: Vec::new(), placed: Vec::new() }
    }

    /// Finds a node for a pod's successor, and takes its room.
    pub fn place(&mut self, pod: &'a Arc<PodSeen>) -> PodOutcome {
        let apart: Vec<usize> = pod.demands.apart_from.iter().map(|of| self.count(pod, of)).collect();
        let together: Vec<usize> = pod.demands.together_with.iter().map(|of| self.count(pod, of)).collect();
        let neighbours = Neighbours { apart, together, kept_from: self.kept_from(pod) };
        let mut refusals: Vec<(Unfit, &str)> = Vec::with_capacity(self.places.len());
        let mut found = None;
        for (at, place) in self.places.iter().enumerate() {
            match self.judge(pod, place, &neighbours) {
                Ok(()) => {
                    found = Some(at);
                    break;
                }
                Err(unfit) => refusals.push((unfit, &place.node.name)),
            }
        }
        let Some(at) = found else { return pending(&refusals) };
        self.settle(pod, at);
        PodOutcome::Moves { to: self.places[at].node.name.clone() }
    }

    fn settle(&mut self, pod: &'a PodSeen, at: usize) {
        let place = &mut self.places[at];
        place.room = place.room.less(pod.requests);
        place.slots -= 1;
        let node = place.node;
        for counted in &mut self.counted {
            if counted.namespace == pod.pod.namespace
                && counted.of.selector.admits(&pod.labels)
                && let Some(value) = topology(node, &counted.of.topology_key)
            {
                *counted.pods.entry(value.to_owned()).or_default() += 1;
            }
        }
        self.placed.push((pod, at));
    }

    /// The place in `counted` of the pods that a demand of this pod means.
    fn count(&mut self, pod: &PodSeen, of: &Neighbourhood) -> usize {
        let namespace = &pod.pod.namespace;
        if let Some(at) = self.counted.iter().position(|counted| counted.namespace == *namespace && counted.of == *of) {
            return at;
        }
        let mut pods: BTreeMap<String, u32> = BTreeMap::new();
        let of_namespace = self.inside.pods().range((namespace.clone(), String::new())..).take_while(|((in_it, _), _)| in_it == namespace);
        for (_, other) in of_namespace.filter(|(_, other)| of.selector.admits(&other.labels)) {
            let node = other.node.as_deref().filter(|node| !self.emptied.contains(node));
            if let Some(value) = node.and_then(|node| topology(self.inside.nodes.get(node)?, &of.topology_key)) {
                *pods.entry(value.to_owned()).or_default() += 1;
            }
        }
        for (other, at) in &self.placed {
            if other.pod.namespace == *namespace
                && of.selector.admits(&other.labels)
                && let Some(value) = topology(self.places[*at].node, &of.topology_key)
            {
                *pods.entry(value.to_owned()).or_default() += 1;
            }
        }
        self.counted.push(Counted { namespace: namespace.clone(), of: of.clone(), pods });
        self.counted.len() - 1
    }

    fn judge(&self, pod: &PodSeen, place: &Place<'_>, neighbours: &Neighbours<'_>) -> Result<(), Unfit> {
        let node = place.node;
        if node.is_unschedulable {
            return Err(Unfit::Cordoned);
        }
        if node.ready != Readiness::True {
            return Err(Unfit::NotReady);
        }
        if node.taints.iter().any(|taint| keeps_away(taint, &pod.demands.tolerations)) {
            return Err(Unfit::Tainted);
        }
        if pod.demands.node_labels.iter().any(|(key, value)| node.labels.get(key) != Some(value)) {
            return Err(Unfit::OtherLabels);
        }
        let near = |at: &usize| self.counted[*at].near(node);
        let misses_company = |at: &usize| near(at) == 0 && !self.counted[*at].is_founded_by(pod);
        let has_unwanted = neighbours.apart.iter().any(|at| near(at) > 0);
        if has_unwanted || neighbours.together.iter().any(misses_company) || neighbours.is_kept_from(node) {
            return Err(Unfit::Neighbours);
        }
        if place.slots == 0 {
            return Err(Unfit::Full);
        }
        if pod.requests.fits_into(place.room) { Ok(()) } else { Err(Unfit::Lacks(Shortfall::of(pod.requests, place.room))) }
    }

    /// Where pods that are there already want no such pod near them: topology labels with the values that are ruled out.
    fn kept_from(&self, pod: &PodSeen) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
        let bound = self.inside.wary_pods(&pod.pod.namespace).filter_map(|other| {
            let name = other.node.as_deref().filter(|node| !self.emptied.contains(node))?;
            Some((&**other, &**self.inside.nodes.get(name)?))
        });
        let placed = self.placed.iter().map(|(other, at)| (*other, self.places[*at].node));
        let mut ruled_out: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (other, node) in bound.chain(placed.filter(|(other, _)| other.pod.namespace == pod.pod.namespace)) {
            for of in other.demands.apart_from.iter().filter(|of| of.selector.admits(&pod.labels)) {
                if let Some(value) = topology(node, &of.topology_key) {
                    ruled_out.entry(&of.topology_key).or_default().insert(value);
                }
            }
        }
        ruled_out
    }
}

impl Neighbours<'_> {
    fn is_kept_from(&self, node: &TenantNodeSeen) -> bool {
        self.kept_from.iter().any(|(key, values)| topology(node, key).is_some_and(|value| values.contains(value)))
    }
}

impl Counted {
    fn near(&self, node: &TenantNodeSeen) -> u32 {
        topology(node, &self.of.topology_key).and_then(|value| self.pods.get(value)).copied().unwrap_or(0)
    }

    /// The first of its kind may go anywhere: nobody could ever begin otherwise.
    fn is_founded_by(&self, pod: &PodSeen) -> bool {
        self.pods.is_empty() && self.of.selector.admits(&pod.labels)
    }
}

fn topology<'a>(node: &'a TenantNodeSeen, key: &str) -> Option<&'a str> {
    let named = node.labels.get(key).map(String::as_str);
    named.or_else(|| (key == HOSTNAME).then_some(node.name.as_str()))
}

fn keeps_away(taint: &Taint, tolerations: &[Toleration]) -> bool {
    let matches = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
    let is_borne = tolerations.iter().any(|toleration| {
        matches(&toleration.key, &taint.key) && matches(&toleration.value, &taint.value) && matches(&toleration.effect, &taint.effect)
    });
    matches!(taint.effect.as_str(), "NoSchedule" | "NoExecute") && !is_borne
}

impl Shortfall {
    fn of(asked: Amount, room: Amount) -> Shortfall {
        let missing = asked.less(room);
        let permille = |missing: u64, asked: u64| missing.saturating_mul(1_000) / asked.max(1);
        Shortfall {
            permille: permille(missing.cpu_millis, asked.cpu_millis) + permille(missing.memory_bytes, asked.memory_bytes),
            cpu_millis: missing.cpu_millis,
            memory_bytes: missing.memory_bytes,
        }
    }

    fn amount(self) -> Amount {
        Amount { cpu_millis: self.cpu_millis, memory_bytes: self.memory_bytes }
    }
}

/// The node that comes nearest, if only room is missing somewhere; else what stands against each.
fn pending(refusals: &[(Unfit, &str)]) -> PodOutcome {
    let lacks = refusals.iter().filter_map(|(unfit, node)| if let Unfit::Lacks(short) = unfit { Some((*short, *node)) } else { None });
    if let Some((short, node)) = lacks.min() {
        return PodOutcome::Pending { missing: short.amount(), why: format!("no node has room for it; `{node}` comes nearest") };
    }
    let mut counts: BTreeMap<Unfit, usize> = BTreeMap::new();
    for (unfit, _) in refusals {
        *counts.entry(*unfit).or_default() += 1;
    }
    let told: Vec<String> = counts.into_iter().map(|(unfit, count)| format!("{count} {}", unfit.in_words(count))).collect();
    let why = match refusals.len() {
        0 => "there is no other node".to_owned(),
        _ => format!("no other node can take it: {}", told.join(", ")),
    };
    PodOutcome::Pending { missing: Amount::default(), why }
}

impl Unfit {
    fn in_words(self, count: usize) -> &'static str {
        let one = count == 1;
        match self {
            Unfit::Cordoned if one => "is cordoned",
            Unfit::Cordoned => "are cordoned",
            Unfit::NotReady if one => "is not ready",
            Unfit::NotReady => "are not ready",
            Unfit::Tainted if one => "has a taint that it does not tolerate",
            Unfit::Tainted => "have taints that it does not tolerate",
            Unfit::OtherLabels if one => "has not the labels that it asks for",
            Unfit::OtherLabels => "have not the labels that it asks for",
            Unfit::Neighbours if one => "is ruled out by pod affinity",
            Unfit::Neighbours => "are ruled out by pod affinity",
            Unfit::Full if one => "runs as many pods as it may",
            Unfit::Full => "run as many pods as they may",
            Unfit::Lacks(_) if one => "has no room",
            Unfit::Lacks(_) => "have no room",
        }
    }
}
