//! Keeps pods away from the tenant nodes on a machine, and Cluster API from taking them for broken.

use model::{CordonedNode, DrainPolicy, Errand, Evacuated, Eye, Fact, Failure, Leftover, Timestamp, Wait, WaitKind};

use super::Notes;
use super::errand::{Standing, past_of, standing};
use super::quarters::{Host, Lodger, began_at, capi_machine, host, inside, is_passed_over, lodgers, node_of, policy, see_undercloud};
use crate::operate::{Bench, Finding};

/// Each node is remembered before it is touched. One whose API has been silent for too long is passed over.
pub(crate) fn note(bench: &Bench<'_>) -> Notes {
    let mut notes = Notes::of(bench);
    if see_undercloud(bench).is_err() {
        return notes;
    }
    let is_late = bench.now >= late_at(bench);
    for lodger in lodgers(bench).iter().filter(|lodger| !is_passed_over(bench, lodger)) {
        remember(bench, lodger, &mut notes);
        let Some(why) = hindrance(bench, lodger).filter(|_| is_late) else { continue };
        if !is_held(bench, lodger) {
            notes.facts.push(left(lodger, why));
        }
    }
    notes
}

/// The node is remembered if we are about to cordon it, or to have its Machine left alone. Whether a cordon is ours to lift, the
/// node itself tells.
pub(crate) fn remember(bench: &Bench<'_>, lodger: &Lodger, notes: &mut Notes) {
    let is_known = |node: &CordonedNode| node.cluster == lodger.cluster && node.node == lodger.node;
    let node = inside(bench.snapshot, &lodger.cluster, bench.now).ok().and_then(|inside| node_of(inside, lodger));
    let cordons = node.is_some_and(|node| !node.is_unschedulable || node.is_cordoned_by_us);
    let skips = capi_machine(bench.snapshot, &lodger.cluster, &lodger.node).is_some_and(|machine| !machine.is_skipped);
    let known = notes.memory.as_mut().and_then(|memory| memory.nodes.iter_mut().find(|node| is_known(node)));
    if let Some(known) = known {
        known.is_skipped |= skips;
    } else if cordons || skips {
        let entry = CordonedNode {
            cluster: lodger.cluster.clone(),
            node: lodger.node.clone(),
            is_skipped: skips,
            is_out_of_service: false,
            uncordon_asked_at: None,
            uncordon_attempts: 0,
        };
        memory_of(bench, notes).nodes.push(entry);
    }
}

/// What is remembered, begun if need be.
pub(crate) fn memory_of<'a>(bench: &Bench<'_>, notes: &'a mut Notes) -> &'a mut Evacuated {
    let memory = notes.memory.get_or_insert_with(|| Evacuated {
        by: bench.operation.id.clone(),
        since: bench.now,
        vms: Vec::new(),
        nodes: Vec::new(),
    });
    memory.by = bench.operation.id.clone();
    memory
}

pub(crate) fn examine(bench: &Bench<'_>) -> Finding {
    let late_at = late_at(bench);
    if let Err(wait) = see_undercloud(bench) {
        return if bench.now >= late_at && !is_the_goal(bench) {
            go_on_unheard(bench, &wait)
        } else {
            Finding::wait_for_news(wait, late_at, bench.now)
        };
    }
    if let Some(held) = lodgers(bench).iter().find(|lodger| bench.now >= late_at && is_unasked_and_held(bench, lodger)) {
        return held_finding(held, &hindrance(bench, held).unwrap_or_default());
    }
    let (errands, wait, until) = work(bench, AskAgain::Yes);
    match wait {
        None => Finding::Done,
        // Once it is late nothing is waited for here: what stands in the way is passed over, or held.
        Some(wait) => Finding::errands(errands, wait, [until, Some(late_at)].into_iter().flatten().min()),
    }
}

fn is_the_goal(bench: &Bench<'_>) -> bool {
    matches!(bench.operation.action, model::Action::Cordon { .. })
}

/// Whether what was asked for and did not show is asked for again. Once the nodes were seen cordoned, somebody else may have
/// thought better of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskAgain {
    Yes,
    No,
}

type Work = (Vec<Errand>, Option<Wait>, Option<Timestamp>);

/// What is to be asked for, what is waited for if anything is, and when time alone changes that.
pub(crate) fn work(bench: &Bench<'_>, again: AskAgain) -> Work {
    let mut errands = Vec::new();
    let mut wait = None;
    let mut until: Option<Timestamp> = None;
    for lodger in lodgers(bench).iter().filter(|lodger| !is_passed_over(bench, lodger)) {
        if let Err(silence) = inside(bench.snapshot, &lodger.cluster, began_at(bench)) {
            let kind = WaitKind::TenantApi { cluster: lodger.cluster.clone(), fault: silence.fault, until: Some(late_at(bench)) };
            wait.get_or_insert(Wait { kind, since: silence.since, expected_by: Some(late_at(bench)) });
        }
        for errand in wanted(bench, lodger) {
            let past = past_of(bench.operation, &errand, bench.keeper_started_at);
            if again == AskAgain::No && past.asked.is_some() {
                continue;
            }
            // Cluster API that cannot be told, for want of a right say, is no reason to leave a machine full.
            if matches!(errand, Errand::SkipRemediation { .. }) && bench.now >= late_at(bench) {
                continue;
            }
            let standing = standing(&bench.snapshot.tenants, &errand, past, bench.limits, bench.now);
            until = [until, standing.until()].into_iter().flatten().min();
            let since = first_asked_at(bench, &errand);
            let attempt = past.attempt_after(&standing);
            if standing == Standing::Due {
                errands.push(errand.clone());
            }
            let kind = WaitKind::ErrandEffect { of: Box::new(errand), attempt };
            wait.get_or_insert(Wait { kind, since, expected_by: Some(since + bench.limits.expected_cordon) });
        }
    }
    (errands, wait, until)
}

pub(crate) fn first_asked_at(bench: &Bench<'_>, errand: &Errand) -> Timestamp {
    let asked =
        bench.operation.journal.iter().find(|entry| matches!(&entry.fact, Fact::ErrandAsked { errand: asked, .. } if asked == errand));
    asked.map_or(bench.now, |entry| entry.at)
}

/// What would have to be asked for so that the node is as it should be.
fn wanted(bench: &Bench<'_>, lodger: &Lodger) -> Vec<Errand> {
    let (cluster, node) = (lodger.cluster.clone(), lodger.node.clone());
    let remembered = bench.machine.evacuated.as_ref().and_then(|memory| {
        let mut nodes = memory.nodes.iter();
        nodes.find(|known| known.cluster == cluster && known.node == node)
    });
    let mut wanted = Vec::new();
    let is_left_alone = capi_machine(bench.snapshot, &cluster, &node).is_none_or(|machine| machine.is_skipped);
    if remembered.is_some_and(|known| known.is_skipped) && !is_left_alone {
        wanted.push(Errand::SkipRemediation { cluster: cluster.clone(), node: node.clone() });
    }
    let seen = inside(bench.snapshot, &cluster, bench.now).ok().and_then(|inside| node_of(inside, lodger));
    if remembered.is_some() && seen.is_some_and(|seen| !seen.is_unschedulable) {
        wanted.push(Errand::CordonNode { cluster, node });
    }
    wanted
}

/// When a node that could not be cordoned is passed over.
fn late_at(bench: &Bench<'_>) -> Timestamp {
    began_at(bench) + bench.limits.unreachable_timeout
}

/// Why a node is not cordoned yet; nothing if it is, or need not be.
fn hindrance(bench: &Bench<'_>, lodger: &Lodger) -> Option<String> {
    let inside = match inside(bench.snapshot, &lodger.cluster, bench.now) {
        Err(silence) => return Some(format!("the API of `{}` does not answer: {}", lodger.cluster, silence.fault)),
        Ok(inside) => inside,
    };
    let is_open = node_of(inside, lodger).is_some_and(|node| !node.is_unschedulable);
    is_open.then(|| {
        let errand = Errand::CordonNode { cluster: lodger.cluster.clone(), node: lodger.node.clone() };
        let asked = bench.operation.errand_asked(&errand);
        let fault = asked.and_then(|(_, attempt)| bench.operation.errand_fault(&errand, attempt));
        fault.map_or_else(|| "it could not be cordoned".to_owned(), |(_, fault)| format!("its cordon was answered: {fault}"))
    })
}

pub(crate) fn left(lodger: &Lodger, why: String) -> Fact {
    Fact::Left { what: Leftover::Node { cluster: lodger.cluster.clone(), node: lodger.node.clone(), why } }
}

/// Whether going on without the node could end pods against their budgets, though its policy forbids that. What is on a machine
/// that is off has ended already; on one that is merely silent it may still run.
pub(crate) fn is_held(bench: &Bench<'_>, lodger: &Lodger) -> bool {
    policy(bench.snapshot, lodger) == DrainPolicy::Hold && host(bench) != Host::Off
}

/// A restart or a power-off goes on without emptying a machine that nothing is heard of, unless a tenant node that was last seen
/// there is to be held: then no budget can be asked, and the power stays.
pub(crate) fn go_on_unheard(bench: &Bench<'_>, unheard: &Wait) -> Finding {
    let why = match &unheard.kind {
        WaitKind::Device { eye: Eye::Tenants, fault, .. } => format!("nothing is heard of virtual machines: {fault}"),
        WaitKind::FirstLook { .. } => "virtual machines have not been listed yet".to_owned(),
        _ => "the undercloud does not answer".to_owned(),
    };
    match lodgers(bench).iter().find(|lodger| is_held(bench, lodger)) {
        Some(held) => held_finding(held, &why),
        None => Finding::Skip(why),
    }
}

fn is_unasked_and_held(bench: &Bench<'_>, lodger: &Lodger) -> bool {
    !is_passed_over(bench, lodger) && is_held(bench, lodger) && hindrance(bench, lodger).is_some()
}

pub(crate) fn held_finding(lodger: &Lodger, why: &str) -> Finding {
    let because = format!("node `{}` of `{}` cannot be emptied ({why}), and its drain policy is hold", lodger.node, lodger.cluster);
    Finding::Fail { failure: Failure::HeldByBudget, because }
}
