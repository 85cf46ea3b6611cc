//! Shuts down the virtual machines on a machine, tenant nodes' own among them once those are drained.

use std::sync::Arc;

use model::{Errand, Fact, Leftover, OperationId, Shutdown, Span, StepKind, Target, Timestamp, VmRef, VmSeen, VmState, Wait, WaitKind};

use super::Notes;
use super::cordon_tenants::{go_on_unheard, memory_of};
use super::errand::{Standing, past_of, standing};
use super::memory::{is_ending, is_given_up, is_meant_to_run, remembers, stopped};
use super::quarters::{Host, gone_at, host, is_gone, see_undercloud, stop_span, vms_here};
use super::spell::counted_from;
use crate::operate::{Bench, Finding};

/// Everything that is about to be stopped, or was lost, is remembered first; what did not stop in time is named.
pub(crate) fn note(bench: &Bench<'_>) -> Notes {
    let mut notes = Notes::of(bench);
    if see_undercloud(bench).is_err() {
        return notes;
    }
    let is_up = bench.now >= given_up_at(bench);
    for vm in vms_here(bench).filter(|vm| !is_left(bench, vm) && busy_by(bench, vm).is_none()) {
        // What ended with its machine ran until then.
        let is_lost = is_lost(bench, vm);
        let ran = is_meant_to_run(vm) || is_lost && is_given_up(vm);
        if ran && !remembers(notes.memory.as_ref(), &vm.reference()) {
            let entry = stopped(vm);
            memory_of(bench, &mut notes).vms.push(entry);
        }
        let name = vm.name.to_string();
        if is_lost {
            notes.facts.push(Fact::Left { what: Leftover::LostVm { vm: name } });
        } else if is_up {
            let why = format!("it was not seen to stop, and is {}", vm.state.in_words());
            notes.facts.push(Fact::Left { what: Leftover::Vm { vm: name, why } });
        }
    }
    notes
}

/// On a machine that is off nothing runs. One whose kubelet is silent may still obey, so its virtual machines are asked first, and
/// given up only when that has shown no effect.
fn is_lost(bench: &Bench<'_>, vm: &VmSeen) -> bool {
    match host(bench) {
        Host::Off => true,
        Host::Silent { .. } => is_gone(bench) && unheeded_at(bench, vm).is_some_and(|at| bench.now >= at),
        Host::Alive => false,
    }
}

/// When a shutdown that was asked for should have shown.
fn unheeded_at(bench: &Bench<'_>, vm: &VmSeen) -> Option<Timestamp> {
    let asked = [Shutdown::Graceful, Shutdown::Skip]
        .into_iter()
        .filter_map(|shutdown| bench.operation.errand_asked(&Errand::StopVm { vm: vm.reference(), shutdown }));
    asked.map(|(at, _)| at + bench.limits.errand_settle).min()
}

fn is_left(bench: &Bench<'_>, vm: &VmSeen) -> bool {
    bench
        .operation
        .leftovers()
        .any(|left| matches!(left, Leftover::Vm { vm: name, .. } | Leftover::LostVm { vm: name } if *name == vm.name.as_str()))
}

/// The operation that a person has begun on a virtual machine, or on the tenant node that it is. It is let end first, so that the
/// two do not ask for opposite things in turn; but not for longer than a shutdown may take.
fn busy_by<'a>(bench: &Bench<'a>, vm: &VmSeen) -> Option<&'a OperationId> {
    let of_node = vm.node_of.as_ref().map(|of| Target::TenantNode { cluster: of.cluster.clone(), node: vm.name.to_string() });
    let mut targets = [Some(Target::Vm(vm.name.clone())), of_node].into_iter().flatten();
    let busy = targets.find_map(|target| bench.snapshot.running_for(&target))?;
    (bench.now < forced_at(bench)).then_some(&busy.id)
}

fn began_at(bench: &Bench<'_>) -> Timestamp {
    counted_from(bench.operation, bench.operation.done_at(StepKind::Drain).unwrap_or(bench.now))
}

/// When virtual machines that have not shut down are forced off.
fn forced_at(bench: &Bench<'_>) -> Timestamp {
    began_at(bench) + stop_span(bench)
}

/// When those that even force has not stopped are gone on without: two tries at it.
fn given_up_at(bench: &Bench<'_>) -> Timestamp {
    let tries: Span = bench.limits.errand_settle.times(2);
    forced_at(bench) + tries
}

pub(crate) fn examine(bench: &Bench<'_>) -> Finding {
    if let Err(wait) = see_undercloud(bench) {
        let is_the_goal = matches!(bench.operation.action, model::Action::Cordon { .. });
        return if bench.now >= given_up_at(bench) && !is_the_goal {
            go_on_unheard(bench, &wait)
        } else {
            Finding::wait_for_news(wait, given_up_at(bench), bench.now)
        };
    }
    let staying: Vec<_> = vms_here(bench).filter(|vm| !is_left(bench, vm)).collect();
    if staying.is_empty() {
        return Finding::Done;
    }
    let is_forced = bench.now >= forced_at(bench);
    let mut until = Some(if is_forced { given_up_at(bench) } else { forced_at(bench) });
    until = [until, gone_at(bench)].into_iter().flatten().filter(|at| *at > bench.now).min();
    let mut errands = Vec::new();
    // What somebody else is stopping is not ours to stop: it is only waited for.
    let (busy, idle): (Vec<&Arc<VmSeen>>, Vec<&Arc<VmSeen>>) = staying.iter().copied().partition(|vm| busy_by(bench, vm).is_some());
    for vm in idle.iter().filter(|vm| remembers(bench.machine.evacuated.as_ref(), &vm.reference())) {
        let standing = stop_standing(bench, vm, is_forced);
        let unheeded_at = unheeded_at(bench, vm).filter(|_| host(bench) != Host::Alive);
        until = [until, standing.1.until(), unheeded_at].into_iter().flatten().filter(|at| *at > bench.now).min();
        if standing.1 == Standing::Due {
            errands.push(standing.0);
        }
    }
    let since = bench.operation.done_at(StepKind::Drain).unwrap_or(bench.now);
    let forced_at = (!is_forced).then(|| forced_at(bench));
    if let (Some(vm), true) = (busy.first(), idle.is_empty())
        && let Some(by) = busy_by(bench, vm)
    {
        let kind = WaitKind::VmBusy { vm: vm.name.clone(), by: by.clone(), until: self::forced_at(bench) };
        return Finding::errands(errands, Wait { kind, since, expected_by: Some(self::forced_at(bench)) }, until);
    }
    let kind = WaitKind::VmsStop { vms: staying.iter().map(|vm| vm.name.clone()).collect(), forced_at };
    Finding::errands(errands, Wait { kind, since, expected_by: Some(since + bench.limits.expected_vm_stop) }, until)
}

fn stop_standing(bench: &Bench<'_>, vm: &VmSeen, is_forced: bool) -> (Errand, Standing) {
    let shutdown = if is_forced { Shutdown::Skip } else { Shutdown::Graceful };
    let errand = Errand::StopVm { vm: VmRef { name: vm.name.clone(), uid: vm.uid.clone() }, shutdown };
    let past = past_of(bench.operation, &errand, bench.keeper_started_at);
    let standing = standing(&bench.snapshot.tenants, &errand, past, bench.limits, bench.now);
    // A shutdown that is under way takes its time, and asking for it again does not make it faster.
    let is_obeyed = !is_forced && past.asked.is_some() && (is_ending(vm) || vm.state == VmState::Stopping);
    let standing = if is_obeyed && standing == Standing::Due { Standing::UnderWay } else { standing };
    (errand, standing)
}
