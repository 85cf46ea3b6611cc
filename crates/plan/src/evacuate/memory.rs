//! What is remembered of an emptied machine, and what people do to it meanwhile: that wins.

use model::{
    CordonedNode, Delivery, Errand, Evacuated, Fact, InstancePhase, Machine, MachineName, Operation, OperationId, RunStrategy, StepKind,
    StoppedVm, Timestamp, VmName, VmRef, VmSeen, VmState,
};

use crate::contact;
use crate::snapshot::Snapshot;
use crate::tenants::Tenants;

pub(crate) fn stopped(vm: &VmSeen) -> StoppedVm {
    StoppedVm {
        vm: vm.reference(),
        ran_as: vm.run,
        node_of: vm.node_of.clone(),
        was_seen_stopped: false,
        start_asked_at: None,
        start_attempts: 0,
        force_asked_at: None,
        force_attempts: 0,
    }
}

pub(crate) fn remembers(memory: Option<&Evacuated>, vm: &VmRef) -> bool {
    memory.is_some_and(|memory| memory.vms.iter().any(|stopped| stopped.vm == *vm))
}

/// Whether nobody has told it to end.
pub(crate) fn is_meant_to_run(vm: &VmSeen) -> bool {
    !is_ending(vm) && vm.state != VmState::Stopped
}

pub(crate) fn is_ending(vm: &VmSeen) -> bool {
    let is_told = vm.instance.as_ref().is_some_and(|instance| instance.is_ending);
    is_told || vm.run == RunStrategy::Halted || matches!(vm.state, VmState::Stopping | VmState::Terminating)
}

/// KubeVirt has given its instance up, and waits for somebody to start it again. What is left of the instance may still run where
/// its machine is only silent.
pub(crate) fn is_given_up(vm: &VmSeen) -> bool {
    let has_failed = vm.instance.as_ref().is_some_and(|instance| instance.phase == InstancePhase::Failed);
    has_failed && vm.state == VmState::Stopped && vm.run != RunStrategy::Always && !is_ending(vm)
}

/// Nothing of it runs, and KubeVirt will not run it by itself.
fn is_stopped(vm: &VmSeen) -> bool {
    !vm.has_instance() && vm.run != RunStrategy::Always
}

/// Something of it runs again, or is going to: or somebody has decided otherwise how it is to run.
fn runs_again(vm: &VmSeen, stopped: &StoppedVm) -> bool {
    let is_as_left = vm.run == RunStrategy::Halted || (vm.run == stopped.ran_as && vm.run != RunStrategy::Always);
    vm.has_instance() || !is_as_left || matches!(vm.state, VmState::Starting | VmState::Running)
}

/// What runs on the machine is to run again with it, though nobody shuts it down.
pub(crate) fn remember_running(snapshot: &Snapshot, machine: &mut Machine, by: &OperationId, now: Timestamp) {
    let running = snapshot.vms_on(&machine.name).filter(|vm| vm.has_instance() && is_meant_to_run(vm));
    let new: Vec<StoppedVm> = running.filter(|vm| !remembers(machine.evacuated.as_ref(), &vm.reference())).map(|vm| stopped(vm)).collect();
    if new.is_empty() {
        return;
    }
    let memory = machine.evacuated.get_or_insert_with(|| Evacuated { by: by.clone(), since: now, vms: Vec::new(), nodes: Vec::new() });
    memory.by = by.clone();
    memory.vms.extend(new);
}

/// A person has decided about a virtual machine: it is no longer ours to bring back. Returns whether it was.
pub fn forget_vm(machine: &mut Machine, vm: &VmName) -> bool {
    let Some(memory) = &mut machine.evacuated else { return false };
    let before = memory.vms.len();
    memory.vms.retain(|stopped| stopped.vm.name != *vm);
    let is_forgotten = memory.vms.len() < before;
    tidy(machine);
    is_forgotten
}

pub(crate) fn tidy(machine: &mut Machine) {
    if machine.evacuated.as_ref().is_some_and(Evacuated::is_empty) {
        machine.evacuated = None;
    }
}

/// Carries over what was seen to become of what is remembered: what was deleted, or made anew, is gone; what was seen to run
/// after it was seen stopped is back, whoever started it.
pub(crate) fn note_doings(snapshot: &Snapshot, machine: &mut Machine) {
    if machine.evacuated.is_none() || !contact::are_tenants_heard(snapshot) {
        return;
    }
    if let Some(memory) = &mut machine.evacuated {
        let by = snapshot.operations.get(&memory.by).map(AsRef::as_ref);
        memory.vms.retain_mut(|stopped| note_vm(snapshot, (&machine.name, by), stopped));
        memory.nodes.retain(|entry| is_there(snapshot, entry));
    }
    tidy(machine);
}

/// Whether a stop that the operation asked for may have reached KubeVirt: one that was refused has stopped nothing.
fn may_have_stopped(tenants: &Tenants, by: &Operation, vm: &VmRef) -> bool {
    by.journal.iter().any(|entry| match &entry.fact {
        Fact::ErrandAsked { errand: errand @ Errand::StopVm { vm: asked, .. }, attempt } if asked == vm => {
            !was_refused(tenants, by, errand, (entry.at, *attempt))
        }
        _ => false,
    })
}

/// An answer that has just come is no fact of the journal yet.
fn was_refused(tenants: &Tenants, by: &Operation, errand: &Errand, (asked_at, attempt): (Timestamp, u32)) -> bool {
    let noted = by.errand_fault(errand, attempt).map(|(_, fault)| fault);
    let state = || tenants.errands.get(errand).filter(|state| state.attempt == attempt && state.asked_at >= asked_at);
    let told = || state().and_then(|state| state.answer.as_ref()).and_then(|answer| answer.outcome.as_ref().err());
    noted.or_else(told).is_some_and(|fault| fault.delivery == Delivery::No)
}

/// A tenant cluster that is no more has no nodes to bring back, nor is there anything to do for a node that is gone for good.
fn is_there(snapshot: &Snapshot, entry: &CordonedNode) -> bool {
    let Some(cluster) = snapshot.tenants.clusters.get(&entry.cluster) else { return false };
    let has_machine = cluster.machines.iter().any(|machine| machine.name == entry.node);
    let inside = snapshot.tenants.insides.get(&entry.cluster).filter(|inside| inside.listed_at.is_some() && inside.contact.fault.is_none());
    has_machine || inside.is_none_or(|inside| inside.nodes.contains_key(&entry.node))
}

/// Whether it is still ours to bring back.
fn note_vm(snapshot: &Snapshot, (machine, by): (&MachineName, Option<&Operation>), stopped: &mut StoppedVm) -> bool {
    let seen = snapshot.tenants.vms().get(&stopped.vm.name).filter(|vm| vm.uid == stopped.vm.uid);
    let Some(vm) = seen.filter(|vm| vm.state != VmState::Terminating) else { return false };
    // One that was moved meanwhile is somebody else's doing, and another machine's.
    let runs_on = vm.node().filter(|_| vm.has_instance()).and_then(|node| snapshot.machine_of_node(node));
    if runs_on.is_some_and(|elsewhere| elsewhere != machine)
        && !is_ending(vm)
        && !by.is_some_and(|by| may_have_stopped(&snapshot.tenants, by, &stopped.vm))
    {
        return false;
    }
    if stopped.was_seen_stopped {
        return !runs_again(vm, stopped);
    }
    if is_ending(vm) && by.is_some_and(|by| has_yet_to_stop(&snapshot.tenants, by, &stopped.vm)) {
        // It was remembered in good time, and somebody else stops it.
        return false;
    }
    stopped.was_seen_stopped = is_stopped(vm);
    true
}

/// Whether an operation that empties its machine has not come to this virtual machine yet.
fn has_yet_to_stop(tenants: &Tenants, operation: &Operation, vm: &VmRef) -> bool {
    let empties = operation.journal.iter().any(|entry| entry.fact == Fact::Evacuating);
    let is_before = operation.is_running() && operation.done_at(StepKind::StopVms).is_none();
    empties && is_before && !may_have_stopped(tenants, operation, vm)
}
