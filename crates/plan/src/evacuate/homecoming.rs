//! Brings back what was stopped and cordoned to empty a machine: as steps of the operation that ends its holds, and after that
//! for as long as it takes.

use model::{CordonedNode, Errand, Evacuated, Machine, Readiness, RunStrategy, Shutdown, StepKind, StoppedVm, Timestamp, Wait, WaitKind};

use super::Notes;
use super::errand::{Past, Standing, past_of, standing};
use super::memory::{is_ending, is_given_up, tidy};
use super::quarters::{Silence, capi_machine, inside, see_undercloud};
use super::spell::counted_from;
use super::words::{counted, first_few};
use crate::contact;
use crate::draft::{Draft, ErrandStep};
use crate::operate::{Bench, Finding};
use crate::snapshot::Snapshot;

/// Whether nobody holds the machine any more, so that what is remembered comes back.
pub(crate) fn is_returning(machine: &Machine) -> bool {
    machine.evacuated.is_some() && machine.holds.is_empty()
}

/// Where a virtual machine is on its way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// It runs, or KubeVirt runs it by itself.
    Back,
    /// It is still on its way down, or may be; by then it is known.
    Down {
        until: Option<Timestamp>,
    },
    /// Its shutdown, which nobody can take back, has had its time.
    ToForce,
    ToStart,
}

fn way_of(snapshot: &Snapshot, memory: &Evacuated, stopped: &StoppedVm, now: Timestamp) -> Way {
    let Some(vm) = snapshot.tenants.vms().get(&stopped.vm.name).filter(|vm| vm.uid == stopped.vm.uid) else { return Way::Back };
    if is_given_up(vm) {
        return Way::ToStart;
    }
    let forced_at = forced_at(snapshot, memory, stopped);
    if vm.has_instance() && is_ending(vm) {
        let is_up = forced_at.is_some_and(|at| now >= at);
        return if is_up { Way::ToForce } else { Way::Down { until: forced_at } };
    }
    if vm.has_instance() || vm.run == RunStrategy::Always {
        // A stop that was asked for a moment ago may not have shown yet.
        let asked_by = snapshot.operations.get(&memory.by);
        let asked = [Shutdown::Graceful, Shutdown::Skip]
            .into_iter()
            .filter_map(|shutdown| asked_by?.errand_asked(&Errand::StopVm { vm: stopped.vm.clone(), shutdown }))
            .map(|(at, _)| at + snapshot.cluster.limits.errand_settle);
        return match asked.max().filter(|until| now < *until && !stopped.was_seen_stopped) {
            Some(until) => Way::Down { until: Some(until) },
            None => Way::Back,
        };
    }
    // A force that is still on its way must not meet what was started since; its answer wakes us.
    let force = snapshot.tenants.errands.get(&force_of(stopped));
    if force.is_some_and(|state| state.answer.is_none()) { Way::Down { until: None } } else { Way::ToStart }
}

/// When one whose shutdown we asked for is forced off: after as long as emptying the machine would have given it.
fn forced_at(snapshot: &Snapshot, memory: &Evacuated, stopped: &StoppedVm) -> Option<Timestamp> {
    let asked_by = snapshot.operations.get(&memory.by)?;
    let (at, _) = asked_by.errand_asked(&Errand::StopVm { vm: stopped.vm.clone(), shutdown: Shutdown::Graceful })?;
    Some(at + snapshot.cluster.limits.vm_stop_timeout)
}

fn force_of(stopped: &StoppedVm) -> Errand {
    Errand::StopVm { vm: stopped.vm.clone(), shutdown: Shutdown::Skip }
}

fn start_of(stopped: &StoppedVm) -> Errand {
    Errand::StartVm { vm: stopped.vm.clone() }
}

/// What runs is back. What is about to be asked for is remembered.
pub(crate) fn note_starts(bench: &Bench<'_>) -> Notes {
    let mut notes = Notes::of(bench);
    let (Some(memory), true) = (&mut notes.memory, see_undercloud(bench).is_ok()) else { return notes };
    let before = memory.clone();
    memory.vms.retain_mut(|stopped| match way_of(bench.snapshot, &before, stopped, bench.now) {
        Way::Back => false,
        Way::Down { .. } => true,
        Way::ToForce => {
            let past = past_of(bench.operation, &force_of(stopped), bench.keeper_started_at);
            let is_due = standing(&bench.snapshot.tenants, &force_of(stopped), past, bench.limits, bench.now) == Standing::Due;
            if is_due && bench.now < starts_end_at(bench) && stopped.force_asked_at != Some(bench.now) {
                note_forced(stopped, bench.now);
            }
            true
        }
        Way::ToStart => {
            let errand = start_of(stopped);
            let past = past_of(bench.operation, &errand, bench.keeper_started_at);
            let is_due = standing(&bench.snapshot.tenants, &errand, past, bench.limits, bench.now) == Standing::Due;
            if is_due && bench.now < starts_end_at(bench) && stopped.start_asked_at != Some(bench.now) {
                stopped.start_asked_at = Some(bench.now);
                stopped.start_attempts = stopped.start_attempts.saturating_add(1);
            }
            true
        }
    });
    notes
}

fn note_forced(stopped: &mut StoppedVm, now: Timestamp) {
    stopped.force_asked_at = Some(now);
    stopped.force_attempts = stopped.force_attempts.saturating_add(1);
}

fn starts_end_at(bench: &Bench<'_>) -> Timestamp {
    let from = bench.operation.done_at(StepKind::Uncordon).unwrap_or(bench.now);
    counted_from(bench.operation, from) + bench.limits.expected_vm_start
}

pub(crate) fn start_vms(bench: &Bench<'_>) -> Finding {
    let Some(memory) = bench.machine.evacuated.as_ref().filter(|memory| !memory.vms.is_empty()) else { return Finding::Done };
    let ends_at = starts_end_at(bench);
    let names: Vec<String> = memory.vms.iter().map(|stopped| format!("`{}`", stopped.vm)).collect();
    if !is_returning(bench.machine) {
        return Finding::Skip("the machine is held".into());
    }
    if bench.now >= ends_at {
        let count = counted(names.len(), "virtual machine");
        return Finding::Skip(format!("{count} could not be started yet ({}), and will be", first_few(&names)));
    }
    if let Err(wait) = see_undercloud(bench) {
        return Finding::wait_until(wait, ends_at);
    }
    let mut errands = Vec::new();
    let mut until = ends_at;
    for stopped in &memory.vms {
        let way = way_of(bench.snapshot, memory, stopped, bench.now);
        match way {
            Way::Back => {}
            Way::Down { until: at } => until = at.map_or(until, |at| at.min(until)),
            Way::ToForce | Way::ToStart => {
                let errand = if way == Way::ToForce { force_of(stopped) } else { start_of(stopped) };
                let past = past_of(bench.operation, &errand, bench.keeper_started_at);
                let standing = standing(&bench.snapshot.tenants, &errand, past, bench.limits, bench.now);
                until = standing.until().map_or(until, |at| at.min(until));
                if standing == Standing::Due {
                    errands.push(errand);
                }
            }
        }
    }
    let since = bench.operation.done_at(StepKind::Uncordon).unwrap_or(bench.now);
    Finding::errands(errands, starts_wait(memory, since, bench.limits.expected_vm_start), Some(until))
}

fn starts_wait(memory: &Evacuated, since: Timestamp, expected: model::Span) -> Wait {
    let vms = memory.vms.iter().map(|stopped| stopped.vm.name.clone()).collect();
    Wait { kind: WaitKind::VmsReturn { vms }, since, expected_by: Some(since + expected) }
}

/// What a node that we touched still needs.
#[derive(Debug, Default)]
struct Needs {
    errands: Vec<Errand>,
    /// Whether the cordon is lifted, or was never ours.
    is_uncordoned: bool,
    /// Whether nothing of ours is left on it.
    is_over: bool,
    silence: Option<Silence>,
}

/// The taint goes as soon as the node is back. The rest waits until the machine is nobody's any more; and Cluster API hears of the
/// node again only when it is ready: it would take one that has been away for long for broken at once.
fn needs_of(snapshot: &Snapshot, entry: &CordonedNode, is_held: bool, now: Timestamp) -> Needs {
    let (cluster, node) = (entry.cluster.clone(), entry.node.clone());
    let seen = match inside(snapshot, &cluster, now) {
        Err(silence) => return Needs { silence: Some(silence), ..Needs::default() },
        Ok(inside) => inside.nodes.get(&node),
    };
    let is_ready = seen.is_none_or(|seen| seen.ready == Readiness::True);
    let is_tainted = entry.is_out_of_service && seen.is_some_and(|seen| seen.is_out_of_service);
    let is_ours = seen.is_some_and(|seen| seen.is_unschedulable && seen.is_cordoned_by_us);
    let is_skipped = entry.is_skipped && capi_machine(snapshot, &cluster, &node).is_some_and(|machine| machine.is_skipped);
    let mut errands = Vec::new();
    if is_tainted && is_ready {
        errands.push(Errand::ClearOutOfService { cluster: cluster.clone(), node: node.clone() });
    }
    if is_ours && !is_held {
        errands.push(Errand::UncordonNode { cluster: cluster.clone(), node: node.clone() });
    }
    if is_skipped && is_ready && !is_held {
        errands.push(Errand::ResumeRemediation { cluster, node });
    }
    Needs { errands, is_uncordoned: !is_ours, is_over: !is_tainted && !is_ours && !is_skipped && !is_held, silence: None }
}

/// What is as it was is forgotten, and what is about to be asked for is remembered.
pub(crate) fn note_uncordons(bench: &Bench<'_>) -> Notes {
    let mut notes = Notes::of(bench);
    let (Some(memory), true) = (&mut notes.memory, see_undercloud(bench).is_ok()) else { return notes };
    let is_held = !bench.machine.holds.is_empty();
    memory.nodes.retain_mut(|entry| {
        let needs = needs_of(bench.snapshot, entry, is_held, bench.now);
        for errand in needs.errands.iter().filter(|_| bench.now < uncordons_end_at(bench)) {
            let past = past_of(bench.operation, errand, bench.keeper_started_at);
            if standing(&bench.snapshot.tenants, errand, past, bench.limits, bench.now) == Standing::Due {
                note_asked(entry, errand, bench.now);
            }
        }
        !needs.is_over
    });
    notes
}

fn note_asked(entry: &mut CordonedNode, errand: &Errand, now: Timestamp) {
    if matches!(errand, Errand::UncordonNode { .. }) && entry.uncordon_asked_at != Some(now) {
        entry.uncordon_asked_at = Some(now);
        entry.uncordon_attempts = entry.uncordon_attempts.saturating_add(1);
    }
}

fn uncordons_end_at(bench: &Bench<'_>) -> Timestamp {
    let from = bench.operation.done_at(StepKind::StartVms).unwrap_or(bench.now);
    counted_from(bench.operation, from) + bench.limits.expected_cordon
}

pub(crate) fn uncordon_tenants(bench: &Bench<'_>) -> Finding {
    let Some(memory) = bench.machine.evacuated.as_ref().filter(|memory| !memory.nodes.is_empty()) else { return Finding::Done };
    if !is_returning(bench.machine) {
        return Finding::Skip("the machine is held".into());
    }
    let ends_at = uncordons_end_at(bench);
    let mut until = ends_at;
    let (mut errands, mut cordoned, mut silent) = (Vec::new(), Vec::new(), None);
    for entry in &memory.nodes {
        let needs = needs_of(bench.snapshot, entry, false, bench.now);
        if !needs.is_uncordoned {
            cordoned.push(entry.node.clone());
        }
        silent = silent.or(needs.silence.map(|silence| (entry.cluster.clone(), silence)));
        // What else there is to do about a node comes after the operation, when the node is ready.
        for errand in needs.errands.into_iter().filter(|errand| matches!(errand, Errand::UncordonNode { .. })) {
            let past = past_of(bench.operation, &errand, bench.keeper_started_at);
            let standing = standing(&bench.snapshot.tenants, &errand, past, bench.limits, bench.now);
            until = standing.until().map_or(until, |at| at.min(until));
            if standing == Standing::Due {
                errands.push(errand);
            }
        }
    }
    if bench.now >= ends_at && !cordoned.is_empty() {
        let names: Vec<String> = cordoned.iter().map(|node| format!("`{node}`")).collect();
        let count = counted(names.len(), "tenant node");
        return Finding::Skip(format!("{count} could not be uncordoned yet ({}), and will be", first_few(&names)));
    }
    if let Err(wait) = see_undercloud(bench) {
        return Finding::wait_until(wait, ends_at);
    }
    if cordoned.is_empty() {
        return Finding::Done;
    }
    let since = bench.operation.done_at(StepKind::StartVms).unwrap_or(bench.now);
    let kind = match silent {
        Some((cluster, silence)) => WaitKind::TenantApi { cluster, fault: silence.fault, until: Some(ends_at) },
        None => WaitKind::NodesReturn { nodes: cordoned },
    };
    Finding::errands(errands, Wait { kind, since, expected_by: Some(since + bench.limits.expected_cordon) }, Some(until))
}

/// Goes on bringing back what no operation brings back any more. Returns when to look again if nothing else happens.
pub(crate) fn converge(draft: &mut Draft, machine: &mut Machine, now: Timestamp, waits: &mut Vec<Wait>) -> Option<Timestamp> {
    let snapshot = draft.after.clone();
    let mut memory = machine.evacuated.clone()?;
    let is_held = !machine.holds.is_empty();
    let mut due = Due { snapshot: &snapshot, since: memory.since, now, errands: Vec::new(), until: None };
    if contact::are_tenants_heard(&snapshot) {
        if !is_held {
            due.start_vms(&mut memory);
        }
        due.release_nodes(&mut memory, is_held, waits);
    }
    let Due { errands, until, .. } = due;
    let limits = &snapshot.cluster.limits;
    if !is_held && !memory.vms.is_empty() {
        waits.push(starts_wait(&memory, now, limits.expected_vm_start));
    }
    if !is_held && !memory.nodes.is_empty() {
        let nodes = memory.nodes.iter().map(|entry| entry.node.clone()).collect();
        waits.push(Wait { kind: WaitKind::NodesReturn { nodes }, since: now, expected_by: Some(now + limits.expected_vm_start) });
    }
    machine.evacuated = Some(memory);
    tidy(machine);
    draft.plan.errands.extend(errands.into_iter().map(|(errand, attempt)| ErrandStep {
        machine: Some(machine.name.clone()),
        operation: None,
        errand,
        node: None,
        attempt,
        reason: format!("`{}` is back", machine.name),
    }));
    until
}

/// What is to be asked for outside any operation.
struct Due<'a> {
    snapshot: &'a Snapshot,
    since: Timestamp,
    now: Timestamp,
    errands: Vec<(Errand, u32)>,
    until: Option<Timestamp>,
}

impl Due<'_> {
    fn is_due(&mut self, errand: &Errand, asked: Option<(Timestamp, u32)>) -> bool {
        let past = Past { asked, since: self.since, keeper_started_at: self.snapshot.keeper_started_at };
        let standing = standing(&self.snapshot.tenants, errand, past, &self.snapshot.cluster.limits, self.now);
        self.revisit(standing.until());
        standing == Standing::Due
    }

    fn revisit(&mut self, at: Option<Timestamp>) {
        self.until = [self.until, at].into_iter().flatten().min();
    }

    fn start_vms(&mut self, memory: &mut Evacuated) {
        let before = memory.clone();
        memory.vms.retain_mut(|stopped| match way_of(self.snapshot, &before, stopped, self.now) {
            Way::Back => false,
            Way::Down { until } => {
                self.revisit(until);
                true
            }
            Way::ToForce => {
                let errand = force_of(stopped);
                if self.is_due(&errand, stopped.force_asked_at.map(|at| (at, stopped.force_attempts))) {
                    note_forced(stopped, self.now);
                    self.errands.push((errand, stopped.force_attempts));
                }
                true
            }
            Way::ToStart => {
                let errand = start_of(stopped);
                if self.is_due(&errand, stopped.start_asked_at.map(|at| (at, stopped.start_attempts))) {
                    stopped.start_asked_at = Some(self.now);
                    stopped.start_attempts = stopped.start_attempts.saturating_add(1);
                    self.errands.push((errand, stopped.start_attempts));
                }
                true
            }
        });
    }

    fn release_nodes(&mut self, memory: &mut Evacuated, is_held: bool, waits: &mut Vec<Wait>) {
        memory.nodes.retain_mut(|entry| {
            let needs = needs_of(self.snapshot, entry, is_held, self.now);
            if let Some(silence) = needs.silence.filter(|_| !is_held) {
                let kind = WaitKind::TenantApi { cluster: entry.cluster.clone(), fault: silence.fault, until: None };
                if !waits.iter().any(|wait| wait.kind == kind) {
                    waits.push(Wait { kind, since: silence.since, expected_by: None });
                }
            }
            for errand in needs.errands {
                let is_uncordon = matches!(errand, Errand::UncordonNode { .. });
                let asked = entry.uncordon_asked_at.filter(|_| is_uncordon).map(|at| (at, entry.uncordon_attempts));
                if self.is_due(&errand, asked) {
                    note_asked(entry, &errand, self.now);
                    let earlier = self.snapshot.tenants.errands.get(&errand).map_or(0, |state| state.attempt);
                    let attempt = if is_uncordon { entry.uncordon_attempts } else { earlier.saturating_add(1) };
                    self.errands.push((errand, attempt));
                }
            }
            !needs.is_over
        });
    }
}
