//! A machine that is down for certain: what was on it may be let go, so that it runs elsewhere.
//!
//! Pods that are let go are made anew elsewhere. If they still ran they would run twice, and a disk would be written by two. So
//! it is done where it was asked for, and proven: a BMC that does not answer proves nothing.

use model::{Action, CordonedNode, Errand, Evacuate, Machine, Power, Readiness, Timestamp, VmName, Wait, WaitKind};

use super::Notes;
use super::cordon_tenants::{first_asked_at, memory_of};
use super::errand::{Standing, past_of, standing};
use super::quarters::{Lodger, began_at, capi_machine, ghosts, inside, lodgers, node_of};
use crate::operate::Bench;
use crate::sight::Sight;
use crate::snapshot::Snapshot;

pub(crate) fn is_forced(bench: &Bench<'_>) -> bool {
    bench.operation.action == Action::Cordon { evacuate: Evacuate::Forced }
}

/// Whether a machine is down for certain, or else what speaks against it.
pub(crate) fn proof_of_death(snapshot: &Snapshot, machine: &Machine) -> Result<(), Vec<String>> {
    let sight = Sight::of(snapshot, machine);
    let power = sight.power(Timestamp::EPOCH, snapshot.keeper_started_at);
    if power == Ok(Power::Off) {
        return Ok(());
    }
    let running: Vec<String> = snapshot.vms_on(&machine.name).filter(|vm| vm.has_instance()).map(|vm| vm.name.to_string()).collect();
    if running.is_empty() && !ghosts(snapshot, &machine.name).is_empty() {
        return Ok(());
    }
    let mut evidence = vec![match power {
        Ok(power) => format!("the BMC of `{}` reads {power:?}", machine.name),
        Err(wait) => format!("the power of `{}` is not known, which proves nothing: it waits for {}", machine.name, wait.kind),
    }];
    if running.is_empty() {
        evidence.push("every tenant node on it answers, or there is none".to_owned());
    } else {
        evidence.push(format!("virtual machines may run on it: {}", super::words::first_few(&running)));
    }
    Err(evidence)
}

/// The BMC has said so since the evacuation was asked for: somebody may have switched the machine on since an older look.
fn is_seen_off(bench: &Bench<'_>) -> bool {
    bench.sight.power(bench.operation.accepted_at, bench.now) == Ok(Power::Off)
}

/// Whether this node cannot run: its machine is off, or its virtual machine is gone or has no instance.
fn is_proven(bench: &Bench<'_>, lodger: &Lodger) -> bool {
    let vm = VmName::new(&lodger.node).ok().and_then(|name| bench.snapshot.tenants.vms().get(&name));
    // A name that nothing is known of proves nothing: the node's virtual machine may go by another.
    let is_vm_gone = || match vm {
        Some(vm) => !vm.has_instance(),
        None => capi_machine(bench.snapshot, &lodger.cluster, &lodger.node).is_some(),
    };
    is_seen_off(bench) || is_vm_gone()
}

/// Nodes that were on the machine, and are to be let go.
fn departed(bench: &Bench<'_>) -> Vec<Lodger> {
    if !is_forced(bench) {
        return Vec::new();
    }
    let mut departed = lodgers(bench);
    departed.extend(ghosts(bench.snapshot, &bench.machine.name));
    departed.sort();
    departed.dedup();
    departed.retain(|lodger| is_proven(bench, lodger));
    departed
}

/// What is let go is remembered, so that it can be taken back when the node returns.
pub(crate) fn note(bench: &Bench<'_>, notes: &mut Notes) {
    for lodger in departed(bench).into_iter().filter(|lodger| seen_unreachable(bench, lodger) == Some(false)) {
        let memory = memory_of(bench, notes);
        let known = memory.nodes.iter_mut().find(|node| node.cluster == lodger.cluster && node.node == lodger.node);
        match known {
            Some(known) => known.is_out_of_service = true,
            None => memory.nodes.push(CordonedNode {
                cluster: lodger.cluster,
                node: lodger.node,
                is_skipped: false,
                is_out_of_service: true,
                uncordon_asked_at: None,
                uncordon_attempts: 0,
            }),
        }
    }
}

/// Of a node that does not answer: whether it carries the taint already. Nothing of one that answers, or cannot be seen.
fn seen_unreachable(bench: &Bench<'_>, lodger: &Lodger) -> Option<bool> {
    let inside = inside(bench.snapshot, &lodger.cluster, bench.now).ok()?;
    let node = node_of(inside, lodger).filter(|node| node.ready == Readiness::Unknown)?;
    Some(node.is_out_of_service)
}

pub(crate) fn examine(bench: &Bench<'_>, errands: &mut Vec<Errand>, waits: &mut Vec<Wait>, until: &mut Option<Timestamp>) {
    let began_at = began_at(bench);
    if let (true, Err(wait)) = (is_forced(bench), bench.sight.power(bench.operation.accepted_at, bench.now))
        && matches!(wait.kind, WaitKind::FirstLook { .. })
    {
        waits.push(wait);
        return;
    }
    // A node that died with its machine is called unreachable within a minute; and the taint must show in its time too.
    let given_up_at = began_at + bench.limits.unreachable_timeout + bench.limits.unreachable_timeout;
    let mut revisit = |at: Timestamp| *until = Some(until.map_or(at, |until| until.min(at)));
    for lodger in departed(bench).iter().filter(|_| bench.now < given_up_at) {
        let (cluster, node) = (lodger.cluster.clone(), lodger.node.clone());
        match seen_unreachable(bench, lodger) {
            Some(true) => {}
            Some(false) => {
                let errand = Errand::MarkOutOfService { cluster, node };
                let past = past_of(bench.operation, &errand, bench.keeper_started_at);
                let standing = standing(&bench.snapshot.tenants, &errand, past, bench.limits, bench.now);
                standing.until().into_iter().for_each(&mut revisit);
                revisit(given_up_at);
                let attempt = past.attempt_after(&standing);
                let since = first_asked_at(bench, &errand);
                let expected_by = Some(since + bench.limits.expected_cordon);
                waits.push(Wait { kind: WaitKind::ErrandEffect { of: Box::new(errand.clone()), attempt }, since, expected_by });
                if standing == Standing::Due {
                    errands.push(errand);
                }
            }
            None if has_node(bench, lodger) && bench.now < began_at + bench.limits.unreachable_timeout => {
                let until = began_at + bench.limits.unreachable_timeout;
                revisit(until);
                waits.push(Wait { kind: WaitKind::UnreachableNode { cluster, node, until }, since: began_at, expected_by: Some(until) });
            }
            None => {}
        }
    }
}

fn has_node(bench: &Bench<'_>, lodger: &Lodger) -> bool {
    inside(bench.snapshot, &lodger.cluster, bench.now).is_ok_and(|inside| node_of(inside, lodger).is_some())
}
