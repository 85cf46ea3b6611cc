//! The steps of operations on virtual machines: created, stopped, its disk thrown away, started, deleted. Each ends when it is seen.

use model::{
    Action, DiskStorage, Errand, Fact, Failure, HintExecution, HintKind, HintTarget, InstancePhase, Machine, MachineName, OsDiskSeen,
    RunStrategy, Shutdown, StepKind, Timestamp, Vm, VmSeen, VmState, Wait, WaitKind,
};

use super::asking::{Asked, ask_for_effect, ask_or_wait, asked, first_asked_at};
use super::operate::{Bench, Finding};
use super::{ending, words};

pub(super) fn examine(bench: &Bench<'_>, step: StepKind) -> Finding {
    let seen = match bench.look() {
        Err(wait) => return Finding::Wait { wait, until: None },
        Ok(seen) => seen,
    };
    if step == StepKind::Create {
        return create(bench, seen);
    }
    let own = seen.filter(|seen| bench.meant_uid().is_none_or(|meant| meant == seen.uid));
    match (step, own) {
        (StepKind::Delete, own) => delete(bench, own),
        (StepKind::Stop, Some(own)) => stop(bench, own),
        (StepKind::DiscardOsDisk, Some(own)) => discard_os_disk(bench, own),
        (_, Some(own)) => start(bench, own),
        (_, None) => gone(bench, seen),
    }
}

fn gone(bench: &Bench<'_>, other: Option<&VmSeen>) -> Finding {
    let name = bench.name;
    let because = match other {
        Some(_) => format!("`{name}` was deleted, and another virtual machine of that name was made"),
        None => format!("there is no virtual machine `{name}` in the undercloud any more"),
    };
    Finding::Fail { failure: Failure::DeviceMissing, because }
}

/// Asked for until its object is seen. One that is there although no request of ours can have made it is somebody else's.
fn create(bench: &Bench<'_>, seen: Option<&VmSeen>) -> Finding {
    let errand = Errand::CreateVm { vm: bench.name.clone() };
    match seen {
        None => ask_for_effect(bench, &errand, bench.limits.errand_settle),
        Some(_) if ending::may_have_arrived(bench.operation, &errand) => Finding::Done,
        Some(_) => {
            let because = "somebody else made a virtual machine of that name meanwhile".to_owned();
            Finding::Fail { failure: Failure::VmFailed, because }
        }
    }
}

/// Whether nothing of it runs, and KubeVirt will not run it by itself.
fn is_down(seen: &VmSeen) -> bool {
    let is_meant_to_run = match seen.run {
        RunStrategy::Always => true,
        RunStrategy::Halted => false,
        RunStrategy::Manual | RunStrategy::RerunOnFailure | RunStrategy::Once => {
            matches!(seen.state, VmState::Starting | VmState::Provisioning | VmState::Unschedulable)
        }
    };
    !seen.has_instance() && !is_meant_to_run
}

/// Whether it has been told to stop and is about to.
fn is_going_down(seen: &VmSeen) -> bool {
    seen.run == RunStrategy::Halted || seen.state == VmState::Stopping || seen.instance.as_ref().is_some_and(|instance| instance.is_ending)
}

fn is_up(seen: &VmSeen) -> bool {
    let runs = seen.instance.as_ref().is_some_and(|instance| instance.phase == InstancePhase::Running && !instance.is_ending);
    runs && matches!(seen.state, VmState::Running | VmState::Paused | VmState::Migrating)
}

/// Gently first, unless the action said otherwise; a system that has not shut down in its time is stopped the hard way.
fn stop(bench: &Bench<'_>, seen: &VmSeen) -> Finding {
    if is_down(seen) {
        return Finding::Done;
    }
    let errand = |shutdown| Errand::StopVm { vm: seen.reference(), shutdown };
    let is_gentle = !matches!(bench.operation.action, Action::PowerOff { shutdown: Shutdown::Skip } | Action::RestartNode);
    let was_forced = bench.operation.errand_asked(&errand(Shutdown::Skip)).is_some();
    if is_gentle
        && !was_forced
        && let Some(finding) = stop_gently(bench, seen, errand(Shutdown::Graceful))
    {
        return finding;
    }
    ask_or_wait(bench, errand(Shutdown::Skip), stop_wait(bench, None))
}

/// The operating system is given its time; `None` once that is over, or there is no gentle way.
fn stop_gently(bench: &Bench<'_>, seen: &VmSeen, errand: Errand) -> Option<Finding> {
    // What a keeper that died over it asked for has not been asked for, if it showed no effect: then it was asked for again
    // since, or is about to be, and its time begins anew.
    let asked_since_start = first_asked_at(bench.operation, &errand, bench.snapshot.keeper_started_at);
    let first = asked_since_start.or_else(|| first_asked_at(bench.operation, &errand, Timestamp::EPOCH).filter(|_| is_going_down(seen)));
    let forced_at = first.unwrap_or(bench.now) + bench.limits.vm_stop_timeout;
    if bench.now >= forced_at {
        return None;
    }
    let wait = stop_wait(bench, Some(forced_at));
    let until = |again_at: Timestamp| Some(again_at.min(forced_at));
    match asked(bench, &errand) {
        Asked::Force | Asked::Hopeless { .. } => None,
        // Whatever was answered, it shows: asking again would only give it more time.
        Asked::Taken { .. } | Asked::Lost { .. } | Asked::Refused { .. } if is_going_down(seen) => {
            Some(Finding::Wait { wait, until: Some(forced_at) })
        }
        _ => Some(match ask_or_wait(bench, errand, wait) {
            Finding::Wait { wait, until: Some(again_at) } => Finding::Wait { wait, until: until(again_at) },
            other => other,
        }),
    }
}

fn stop_wait(bench: &Bench<'_>, forced_at: Option<Timestamp>) -> Wait {
    bench.wait(WaitKind::VmsStop { vms: vec![bench.name.clone()], forced_at }, bench.limits.expected_vm_stop)
}

/// Only a persistent disk outlives the stop. It is thrown away once, by its uid, and gone when that uid is no longer seen: what
/// KubeVirt makes in its place before the virtual machine runs again is another.
fn discard_os_disk(bench: &Bench<'_>, seen: &VmSeen) -> Finding {
    if bench.vm.is_some_and(|vm| vm.spec.os_disk.storage == DiskStorage::Ephemeral) {
        return Finding::Skip("its OS disk is ephemeral, and made anew with every start".into());
    }
    let condemned = bench.operation.journal.iter().find_map(|entry| match &entry.fact {
        Fact::ErrandAsked { errand: Errand::DiscardOsDisk { disk, .. }, .. } => Some(disk),
        _ => None,
    });
    match (&seen.os_disk, condemned) {
        (None, None) => Finding::Skip("it has no OS disk that outlives a stop".into()),
        (Some(OsDiskSeen::Absent), None) => Finding::Skip("no OS disk of it is there".into()),
        (None | Some(OsDiskSeen::Absent), Some(_)) => Finding::Done,
        (Some(OsDiskSeen::There { disk, .. }), Some(condemned)) if disk != condemned => Finding::Done,
        (Some(OsDiskSeen::There { disk, is_ending }), _) => {
            let errand = Errand::DiscardOsDisk { vm: seen.reference(), disk: disk.clone() };
            match bench.operation.errand_asked(&errand) {
                // What keeps it is not moved by being asked again; the watch tells when it is gone.
                Some((_, attempt)) if *is_ending => {
                    let kind = WaitKind::ErrandEffect { of: Box::new(errand), attempt };
                    Finding::Wait { wait: bench.wait(kind, bench.limits.errand_settle), until: None }
                }
                _ => ask_for_effect(bench, &errand, bench.limits.errand_settle),
            }
        }
    }
}

fn start(bench: &Bench<'_>, seen: &VmSeen) -> Finding {
    if seen.state == VmState::Terminating {
        let because = format!("`{}` is being deleted", bench.name);
        return Finding::Fail { failure: Failure::DeviceMissing, because };
    }
    if let Some(because) = hindrance(bench, seen) {
        let wait = bench.wait(WaitKind::VmHindered { vm: bench.name.clone(), because }, bench.limits.expected_vm_start);
        return Finding::Wait { wait, until: None };
    }
    if is_up(seen) {
        return Finding::Done;
    }
    let kind = WaitKind::VmState { vm: bench.name.clone(), wanted: VmState::Running };
    let wait = bench.wait(kind, bench.limits.expected_vm_start);
    if is_going_down(seen) && seen.has_instance() {
        // Somebody is stopping it: a start that is asked now would be refused, or undone. The watch tells when it is down.
        return Finding::Wait { wait, until: None };
    }
    // An earlier reimage may have run out of time over it: what starts now would come up on the old disk, and lose it.
    if is_down(seen) && matches!(seen.os_disk, Some(OsDiskSeen::There { is_ending: true, .. })) {
        let kind = WaitKind::VmHindered { vm: bench.name.clone(), because: "its old disk has yet to go".into() };
        return Finding::Wait { wait: bench.wait(kind, bench.limits.expected_vm_start), until: None };
    }
    if is_down(seen) { ask_or_wait(bench, Errand::StartVm { vm: seen.reference() }, wait) } else { Finding::Wait { wait, until: None } }
}

/// Why it does not run though it is meant to, as far as that is known.
fn hindrance(bench: &Bench<'_>, seen: &VmSeen) -> Option<String> {
    let words = || seen.message.clone().unwrap_or_else(|| format!("it is {}", seen.state.in_words()));
    match seen.state {
        VmState::Unschedulable => Some(match bound_to_held(bench) {
            Some(held) => format!("{}; {held}", words()),
            None => words(),
        }),
        VmState::Failing => Some(words()),
        // A kubelet that is gone cannot say that its virtual machines are.
        _ if is_up(seen) => machine_trouble(bench),
        _ => None,
    }
}

/// What is wrong with the machine that it is on.
pub(super) fn machine_trouble(bench: &Bench<'_>) -> Option<String> {
    let machine = bench.snapshot.machines.get(bench.machine()?)?;
    words::is_silent(machine).then(|| format!("its machine {}", words::trouble_of(machine)))
}

/// The machine that it is bound to, if that takes no workloads: a cordon that nobody remembers is the usual cause.
fn bound_to_held(bench: &Bench<'_>) -> Option<String> {
    let (name, why) = bound_to(bench)?;
    let machine = bench.snapshot.machines.get(name)?;
    let state = state_of(machine)?;
    Some(format!("{why} `{name}`, which {state}"))
}

fn bound_to<'a>(bench: &Bench<'a>) -> Option<(&'a MachineName, &'static str)> {
    let by_hint = |vm: &'a Vm| {
        vm.spec.placement_hints.iter().find_map(|hint| match (&hint.target, hint.kind, hint.execution) {
            (HintTarget::Machine(name), HintKind::Affinity, HintExecution::Hard) => Some((name, "a hint binds it to")),
            _ => None,
        })
    };
    let by_disk = |vm: &'a Vm| vm.machine.as_ref().filter(|_| vm.spec.os_disk.storage == DiskStorage::Persistent);
    let hinted = bench.vm.and_then(by_hint);
    hinted.or_else(|| Some((bench.vm.and_then(by_disk).or_else(|| bench.machine())?, "it ran last on")))
}

fn state_of(machine: &Machine) -> Option<String> {
    if let Some(hold) = machine.holds.first() {
        return Some(format!("is held by {} ({})", hold.owner, hold.reason));
    }
    if machine.is_cordoned() {
        return Some("is cordoned by somebody else".to_owned());
    }
    (!machine.is_ready()).then(|| "does not answer".to_owned())
}

fn delete(bench: &Bench<'_>, own: Option<&VmSeen>) -> Finding {
    match own {
        None => Finding::Done,
        Some(own) => ask_for_effect(bench, &Errand::DeleteVm { vm: own.reference() }, bench.limits.expected_vm_stop),
    }
}
