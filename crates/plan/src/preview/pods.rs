//! What becomes of the pods on the tenant nodes of a machine.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::{
    Action, BudgetFate, Evacuate, MachineName, NodeFate, NodeOutcome, PodFate, PodOutcome, PodSeen, Span, TenantClusterName, TenantNodeSeen,
};

use super::Scene;
use super::budgets::Tally;
use super::fit::Fitting;
use crate::pods::{Part, Reach, part_in_drain};
use crate::tenants::Inside;

/// Most pods that are named in one sentence.
const NAMED_MAX: usize = 3;

#[derive(Default)]
pub(super) struct Told {
    /// What needs a person's eye first.
    pub pods: Vec<PodFate>,
    pub budgets: Vec<BudgetFate>,
    /// How many have to leave.
    pub leaving: usize,
    pub longest_grace: Span,
}

pub(super) fn tell(scene: &Scene<'_>, nodes: &[NodeFate], unknowns: &mut Vec<String>) -> Told {
    let mut told = Told::default();
    if !scene.ends_workloads() {
        return told;
    }
    let clusters: BTreeSet<&TenantClusterName> = nodes.iter().map(|node| &node.cluster).collect();
    for cluster in clusters {
        let of_cluster: Vec<&NodeFate> = nodes.iter().filter(|node| node.cluster == *cluster).collect();
        match scene.snapshot.tenants.insides.get(cluster).filter(|inside| inside.listed_at.is_some()) {
            None => unknowns.push(format!("which pods run in `{cluster}`: its API has not answered yet")),
            Some(inside) => {
                if let Some(fault) = &inside.contact.fault {
                    unknowns.push(format!("how the pods of `{cluster}` are now: its API does not answer ({fault})"));
                }
                tell_cluster(scene, cluster, inside, &of_cluster, &mut told, unknowns);
            }
        }
    }
    told.pods.sort_by(|a, b| (rank(&a.outcome), &a.cluster, &a.pod).cmp(&(rank(&b.outcome), &b.cluster, &b.pod)));
    told.budgets.sort_by(|a, b| (!a.is_blocking, &a.cluster, &a.budget).cmp(&(!b.is_blocking, &b.cluster, &b.budget)));
    told
}

fn tell_cluster(
    scene: &Scene<'_>,
    cluster: &TenantClusterName,
    inside: &Inside,
    nodes: &[&NodeFate],
    told: &mut Told,
    unknowns: &mut Vec<String>,
) {
    let mut tally = Tally::new(cluster, inside);
    let mut leaving: Vec<(&NodeFate, &Arc<PodSeen>)> = Vec::new();
    let mut tell = |node: &NodeFate, pod: &PodSeen, outcome| {
        told.pods.push(PodFate { cluster: cluster.clone(), pod: pod.pod.to_string(), node: node.node.clone(), outcome });
    };
    for node in nodes {
        for pod in inside.pods_on(&node.node) {
            match part_of(scene, node, inside, pod) {
                Part::Leaves => leaving.push((node, pod)),
                // It leaves whatever is done, and its successor was placed without us.
                Part::Leaving | Part::Finished => {}
                Part::Stays { why } => tell(node, pod, PodOutcome::StaysWithNode { why }),
                Part::Lost => tell(node, pod, PodOutcome::Lost),
                Part::Stuck => tell(node, pod, PodOutcome::Stuck),
            }
        }
    }
    // The largest first: a place that it needs is not given to a small one.
    leaving.sort_by(|(_, a), (_, b)| size(b).cmp(&size(a)).then_with(|| a.pod.cmp(&b.pod)));
    let here = nodes.iter().map(|node| node.node.as_str());
    let mut fitting = Fitting::new(inside, here.chain(leaving_too(scene, inside)).collect());
    let mut guessed = Vec::new();
    told.leaving += leaving.len();
    for (node, pod) in leaving {
        told.longest_grace = told.longest_grace.max(pod.grace);
        // What is let go from a node that is down is not evicted, and no budget is asked.
        let is_evicted = node.outcome == NodeOutcome::Drained;
        if let Some(kept) = is_evicted.then(|| tally.take(pod, node.policy)).flatten() {
            let to = match fitting.place(pod) {
                PodOutcome::Moves { to } => Some(to),
                _ => None,
            };
            tell(node, pod, PodOutcome::Blocked { budget: kept.budget, why: kept.why, to });
            continue;
        }
        if pod.owner.is_none() {
            tell(node, pod, PodOutcome::Ends);
            continue;
        }
        if pod.demands.has_more {
            guessed.push(pod.pod.to_string());
        }
        tell(node, pod, fitting.place(pod));
    }
    told.budgets.extend(tally.into_fates());
    if !guessed.is_empty() {
        let named = first_few(&guessed);
        unknowns.push(format!("where {named} of `{cluster}` can run: asked of a node is more than is understood here"));
    }
}

/// Nodes on machines that are being emptied or taken down just now: nothing that moves can stay there.
fn leaving_too<'a>(scene: &Scene<'a>, inside: &'a Inside) -> impl Iterator<Item = &'a str> {
    let snapshot = scene.snapshot;
    let is_leaving = move |node: &TenantNodeSeen| {
        let machine = node.machine.as_deref().and_then(|machine| MachineName::new(machine).ok());
        let running = machine.and_then(|machine| snapshot.running_on(&machine));
        running.is_some_and(|operation| operation.action.is_disruptive())
    };
    inside.nodes.values().filter(move |node| is_leaving(node)).map(|node| node.name.as_str())
}

/// The drain's own rule, for a node that is drained; on one that is passed over nothing is evicted.
fn part_of(scene: &Scene<'_>, node: &NodeFate, inside: &Inside, pod: &PodSeen) -> Part {
    let is_api_silent = inside.contact.fault.is_some();
    match &node.outcome {
        NodeOutcome::PassedOver { .. } if is_api_silent && !scene.is_host_gone() => match part_in_drain(pod, Reach::Answers) {
            Part::Leaves | Part::Leaving => Part::Stays { why: "its node is passed over".into() },
            other => other,
        },
        NodeOutcome::PassedOver { .. } => match part_in_drain(pod, Reach::Silent) {
            // The out-of-service taint lets it go.
            Part::Stuck if scene.action == (Action::Cordon { evacuate: Evacuate::Forced }) => Part::Leaves,
            other => other,
        },
        _ => part_in_drain(pod, Reach::Answers),
    }
}

fn size(pod: &PodSeen) -> (u64, u64) {
    (pod.requests.cpu_millis, pod.requests.memory_bytes)
}

fn first_few(names: &[String]) -> String {
    let few: Vec<String> = names.iter().take(NAMED_MAX).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(NAMED_MAX) {
        0 => few.join(", "),
        more => format!("{} and {more} more", few.join(", ")),
    }
}

/// In which order outcomes matter to whoever decides.
fn rank(outcome: &PodOutcome) -> u8 {
    match outcome {
        PodOutcome::Blocked { .. } => 0,
        PodOutcome::Stuck => 1,
        PodOutcome::Pending { .. } => 2,
        PodOutcome::Ends => 3,
        PodOutcome::Lost => 4,
        PodOutcome::Moves { .. } => 5,
        PodOutcome::StaysWithNode { .. } => 6,
    }
}
