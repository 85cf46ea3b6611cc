//! Lets pods leave the tenant nodes on a machine, by eviction and so by their disruption budgets' leave.

use std::collections::BTreeSet;

use model::{DrainPolicy, Errand, Fact, Failure, Grace, Leftover, PodSeen, Readiness, Span, Timestamp, Wait, WaitKind};

use super::cordon_tenants::{self, AskAgain, held_finding, is_held, left};
use super::dead;
use super::errand::{Past, Standing, standing};
use super::eviction::{Reaction, react};
use super::quarters::{
    Host, Lodger, began_at, drain_span, host, inside, is_gone, is_passed_over, lodgers, node_of, pods_to_leave, policy, see_undercloud,
};
use super::round::{Round, drain_wait, known_fault, settle_wait};
use super::told::Told;
use super::{Notes, words};
use crate::operate::{Bench, Finding};
use crate::pods::{Part, Reach, part_in_drain};
use crate::tenants::Inside;

/// A pod may have been bound to a node just before its cordon was seen, and be listed only after that: a node without pods is
/// believed to be empty this long after its drain began.
///
/// Five seconds are what Karpenter gives the scheduler for the same reason.
pub(crate) const BOUND_LATE: Span = Span::seconds(5);

/// A pod that was to have ended this long ago, and is still there, does not end by waiting: something keeps its object, or its
/// kubelet does not do its work.
pub(crate) const STUCK_AFTER: Span = Span::minutes(1);

/// Pods of one node that are named when the operation goes on without them. A node runs at most a few hundred.
pub(crate) const PODS_NAMED: usize = 100;

/// How a node on the machine is, as far as its drain is concerned.
enum Look<'a> {
    /// Nothing is to be done about it any more.
    Over,
    /// Its cluster's API does not answer; it is passed over then.
    Mute {
        silence: super::quarters::Silence,
        until: Timestamp,
    },
    /// Its kubelet does not answer; it is passed over then.
    Unreachable {
        since: Timestamp,
        until: Timestamp,
    },
    Lively {
        inside: &'a Inside,
        began_at: Timestamp,
    },
}

fn look<'a>(bench: &Bench<'a>, lodger: &Lodger) -> Look<'a> {
    if is_passed_over(bench, lodger) {
        return Look::Over;
    }
    let inside = match inside(bench.snapshot, &lodger.cluster, began_at(bench)) {
        Err(silence) => {
            let until = if is_gone(bench) { bench.now } else { passed_over_at(bench, silence.since) };
            return Look::Mute { silence, until };
        }
        Ok(inside) => inside,
    };
    let Some(node) = node_of(inside, lodger) else { return Look::Over };
    let since = node.ready_since.unwrap_or_else(|| began_at(bench));
    match (host(bench), node.ready) {
        (Host::Off, _) => Look::Unreachable { since: bench.now, until: bench.now },
        (_, Readiness::Unknown) => Look::Unreachable { since, until: passed_over_at(bench, since) },
        _ => Look::Lively { inside, began_at: draining_since(bench, lodger).unwrap_or(bench.now) },
    }
}

fn draining_since(bench: &Bench<'_>, lodger: &Lodger) -> Option<Timestamp> {
    bench.operation.journal.iter().find_map(|entry| match &entry.fact {
        Fact::Draining { cluster, node } if *cluster == lodger.cluster && *node == lodger.node => Some(entry.at),
        _ => None,
    })
}

/// When the time for all nodes together is up. Cordoning them counts, so that all of it stays within the operation's own time.
fn time_up_at(bench: &Bench<'_>) -> Timestamp {
    began_at(bench) + drain_span(bench)
}

/// The same, once there was a first try at a node.
fn ends_at(bench: &Bench<'_>) -> Option<Timestamp> {
    let is_begun = bench.operation.journal.iter().any(|entry| matches!(entry.fact, Fact::Draining { .. }));
    is_begun.then(|| time_up_at(bench))
}

/// When a node is passed over that has been silent since then. One that falls silent late does not make the time longer.
fn passed_over_at(bench: &Bench<'_>, silent_since: Timestamp) -> Timestamp {
    (silent_since + bench.limits.unreachable_timeout).min(time_up_at(bench))
}

pub(crate) fn note(bench: &Bench<'_>) -> Notes {
    let mut notes = Notes::of(bench);
    if see_undercloud(bench).is_err() {
        return notes;
    }
    let told = Told::by(&bench.operation.journal);
    let is_up = ends_at(bench).is_some_and(|at| bench.now >= at);
    for lodger in lodgers(bench) {
        match look(bench, &lodger) {
            Look::Over => {}
            Look::Mute { silence, until } => {
                if bench.now >= until && !is_held(bench, &lodger) {
                    let why = format!("the API of `{}` does not answer: {}", lodger.cluster, silence.fault);
                    notes.facts.push(left(&lodger, why));
                }
            }
            Look::Unreachable { until, .. } => {
                if bench.now >= until && !is_held(bench, &lodger) {
                    pass_over_unreachable(bench, &lodger, &mut notes);
                }
            }
            Look::Lively { inside, .. } => {
                cordon_tenants::remember(bench, &lodger, &mut notes);
                note_drain(bench, &lodger, inside, &told, &mut notes);
                if is_up {
                    note_left(bench, &lodger, inside, &told, &mut notes);
                }
            }
        }
    }
    dead::note(bench, &mut notes);
    notes
}

/// What was on a node that does not answer has ended with it, as far as anybody can tell.
fn pass_over_unreachable(bench: &Bench<'_>, lodger: &Lodger, notes: &mut Notes) {
    let Ok(inside) = inside(bench.snapshot, &lodger.cluster, bench.now) else { return };
    let pods: Vec<_> = pods_to_leave(inside, &lodger.node).collect();
    let why = words::with_unnamed("it does not answer", pods.len(), PODS_NAMED);
    notes.facts.push(left(lodger, why));
    for pod in pods.iter().take(PODS_NAMED) {
        let (cluster, name) = (lodger.cluster.clone(), pod.pod.to_string());
        let is_stuck = part_in_drain(pod, Reach::Silent) == Part::Stuck;
        let what = if is_stuck && !dead::is_forced(bench) {
            Leftover::StuckPod { cluster, pod: name }
        } else {
            Leftover::LostPod { cluster, pod: name }
        };
        notes.facts.push(Fact::Left { what });
    }
}

/// That the drain of a node begins, and each pod that a budget keeps, the first time that it does.
fn note_drain(bench: &Bench<'_>, lodger: &Lodger, inside: &Inside, told: &Told<'_>, notes: &mut Notes) {
    let Lodger { cluster, node, .. } = lodger;
    if draining_since(bench, lodger).is_none() {
        notes.facts.push(Fact::Draining { cluster: cluster.clone(), node: node.clone() });
        return;
    }
    for pod in pods_to_leave(inside, node).filter(|pod| pod.termination.is_none()) {
        if let Some(why) = kept_now(bench, lodger, pod).filter(|_| told.why_kept(cluster, &pod.pod).is_none()) {
            notes.facts.push(Fact::Kept { cluster: cluster.clone(), pod: pod.pod.to_string(), why });
        }
    }
    for pod in pods_to_leave(inside, node).filter(|pod| is_stuck(pod, bench.now) && !told.is_left(cluster, &pod.pod)) {
        let why = if pod.has_finalizers { "something keeps its object although it has ended" } else { "it does not end" };
        notes.facts.push(pod_left(lodger, pod, why));
    }
}

/// Time is up: what is still there goes with its node. Where that is to be held, only what its budgets have let go.
fn note_left(bench: &Bench<'_>, lodger: &Lodger, inside: &Inside, told: &Told<'_>, notes: &mut Notes) {
    let pods: Vec<_> = pods_to_leave(inside, &lodger.node).filter(|pod| !told.is_left(&lodger.cluster, &pod.pod)).collect();
    if pods.is_empty() || is_held(bench, lodger) && pods.iter().any(|pod| pod.termination.is_none()) {
        return;
    }
    notes.facts.push(left(lodger, words::with_unnamed("its time was up", pods.len(), PODS_NAMED)));
    for pod in pods.iter().take(PODS_NAMED).filter(|pod| !is_stuck(pod, bench.now)) {
        let otherwise = if pod.termination.is_some() { "it had not ended" } else { "it could not be evicted" };
        notes.facts.push(pod_left(lodger, pod, told.why_kept(&lodger.cluster, &pod.pod).unwrap_or(otherwise)));
    }
}

fn pod_left(lodger: &Lodger, pod: &PodSeen, why: &str) -> Fact {
    Fact::Left { what: Leftover::Pod { cluster: lodger.cluster.clone(), pod: pod.pod.to_string(), why: why.to_owned() } }
}

fn is_stuck(pod: &PodSeen, now: Timestamp) -> bool {
    pod.termination.is_some_and(|termination| now >= termination.until + STUCK_AFTER)
}

fn eviction_of(lodger: &Lodger, pod: &PodSeen) -> Errand {
    Errand::Evict { cluster: lodger.cluster.clone(), pod: pod.pod.clone(), grace: Grace::Own }
}

/// Why a budget keeps the pod, if the latest answer was that one does.
fn kept_now(bench: &Bench<'_>, lodger: &Lodger, pod: &PodSeen) -> Option<String> {
    let state = bench.snapshot.tenants.errands.get(&eviction_of(lodger, pod))?;
    let answer = state.answer.as_ref().filter(|_| state.asked_at >= bench.operation.accepted_at)?;
    match react(&answer.outcome, state.attempt, bench.limits) {
        Reaction::Kept { why, .. } => Some(why),
        Reaction::Watch { .. } | Reaction::Retry { .. } => None,
    }
}

pub(crate) fn examine(bench: &Bench<'_>) -> Finding {
    if let Err(wait) = see_undercloud(bench) {
        let late_at = time_up_at(bench);
        let is_the_goal = matches!(bench.operation.action, model::Action::Cordon { .. });
        return if bench.now >= late_at && !is_the_goal {
            cordon_tenants::go_on_unheard(bench, &wait)
        } else {
            Finding::wait_for_news(wait, late_at, bench.now)
        };
    }
    let told = Told::by(&bench.operation.journal);
    let mut round = Round::at(bench.now);
    for lodger in lodgers(bench) {
        if let Some(held) = examine_node(bench, &lodger, &told, &mut round) {
            return held;
        }
    }
    let (cordons, cordon_wait, until) = cordon_tenants::work(bench, AskAgain::No);
    round.errands.extend(cordons);
    until.into_iter().for_each(|at| round.revisit(at));
    dead::examine(bench, &mut round.errands, &mut round.waits, &mut round.until);
    round.is_over &= round.waits.is_empty();
    if round.is_over {
        return Finding::Done;
    }
    let wait = match (round.pods, round.waits.into_iter().next()) {
        (0, Some(wait)) => wait,
        (0, None) => cordon_wait.unwrap_or_else(|| settle_wait(round.settled_at.unwrap_or(bench.now))),
        (pods, _) => drain_wait(bench, pods, round.kept, round.fault),
    };
    Finding::errands(round.errands, wait, round.until)
}

fn examine_node(bench: &Bench<'_>, lodger: &Lodger, told: &Told<'_>, round: &mut Round) -> Option<Finding> {
    match look(bench, lodger) {
        Look::Over => {}
        Look::Mute { silence, until } => {
            if bench.now >= until && is_held(bench, lodger) {
                return Some(held_finding(lodger, "its cluster's API does not answer, so that no budget can be asked"));
            }
            let kind = WaitKind::TenantApi { cluster: lodger.cluster.clone(), fault: silence.fault, until: Some(until) };
            round.waits.push(Wait { kind, since: silence.since, expected_by: Some(until) });
            round.revisit(until);
        }
        Look::Unreachable { since, until } => {
            if bench.now >= until && is_held(bench, lodger) {
                return Some(held_finding(lodger, "it does not answer, and its machine is not known to be off"));
            }
            let kind = WaitKind::UnreachableNode { cluster: lodger.cluster.clone(), node: lodger.node.clone(), until };
            round.waits.push(Wait { kind, since, expected_by: Some(until) });
            round.revisit(until);
        }
        Look::Lively { inside, began_at } => return examine_pods(bench, lodger, (inside, began_at), told, round),
    }
    None
}

fn examine_pods(
    bench: &Bench<'_>,
    lodger: &Lodger,
    (inside, began_at): (&Inside, Timestamp),
    told: &Told<'_>,
    round: &mut Round,
) -> Option<Finding> {
    let mut unevicted = Vec::new();
    for pod in pods_to_leave(inside, &lodger.node).filter(|pod| !told.is_left(&lodger.cluster, &pod.pod)) {
        round.pods += 1;
        round.is_over = false;
        match pod.termination {
            Some(termination) => round.revisit(termination.until + STUCK_AFTER),
            None => {
                unevicted.push(pod.pod.to_string());
                let is_kept = told.why_kept(&lodger.cluster, &pod.pod).is_some();
                if is_kept {
                    round.kept.push(pod.pod.to_string());
                }
                send_off(bench, lodger, pod, is_kept, round);
            }
        }
    }
    if let Some(at) = ends_at(bench) {
        if bench.now >= at && is_held(bench, lodger) && !unevicted.is_empty() {
            return Some(held_by_budgets(bench, lodger, &unevicted));
        }
        round.revisit(at);
    }
    if bench.now < began_at + BOUND_LATE {
        round.is_over = false;
        round.settled_at = round.settled_at.max(Some(began_at + BOUND_LATE));
        round.revisit(began_at + BOUND_LATE);
    }
    None
}

/// Evicts a pod, again if it is time; or deletes it, where a budget keeps it and the policy is not to mind.
fn send_off(bench: &Bench<'_>, lodger: &Lodger, pod: &PodSeen, is_kept: bool, round: &mut Round) {
    let (cluster, since) = (lodger.cluster.clone(), bench.operation.accepted_at);
    if is_kept && policy(bench.snapshot, lodger) == DrainPolicy::Force {
        let errand = Errand::DeletePod { cluster, pod: pod.pod.clone(), grace: Grace::Own };
        let past = Past { asked: None, since, keeper_started_at: bench.keeper_started_at };
        let standing = standing(&bench.snapshot.tenants, &errand, past, bench.limits, bench.now);
        standing.until().into_iter().for_each(|at| round.revisit(at));
        if standing == Standing::Due {
            round.errands.push(errand);
        }
        return;
    }
    let errand = eviction_of(lodger, pod);
    let state = bench.snapshot.tenants.errands.get(&errand).filter(|state| state.asked_at >= since);
    let Some(state) = state else { return round.errands.push(errand) };
    // Its answer wakes us.
    let Some(answer) = &state.answer else {
        round.fault = round.fault.take().or_else(|| known_fault(bench).filter(|_| state.attempt > 1));
        return;
    };
    if let (Err(fault), false) = (&answer.outcome, is_kept) {
        round.fault = Some(fault.clone());
    }
    let again_at = answer.at + react(&answer.outcome, state.attempt, bench.limits).again_after();
    if bench.now >= again_at {
        round.errands.push(errand);
    } else {
        round.revisit(again_at);
    }
}

fn held_by_budgets(bench: &Bench<'_>, lodger: &Lodger, pods: &[String]) -> Finding {
    let meant: BTreeSet<&String> = pods.iter().collect();
    let whys: Vec<String> = bench
        .operation
        .journal
        .iter()
        .filter_map(|entry| match &entry.fact {
            Fact::Kept { cluster, pod, why } if *cluster == lodger.cluster && meant.contains(pod) => Some(format!("`{pod}`: {why}")),
            _ => None,
        })
        .collect();
    let whys = if whys.is_empty() { pods.iter().map(|pod| format!("`{pod}`")).collect() } else { whys };
    let because = format!(
        "pods of node `{}` of `{}` could not be evicted, and its drain policy is hold ({})",
        lodger.node,
        lodger.cluster,
        words::first_few(&whys)
    );
    Finding::Fail { failure: Failure::HeldByBudget, because }
}
