//! What was done to a machine already about the trouble that it is in, as far as ended operations are kept.

use model::{
    Action, Ended, Fact, Failure, InstallTrouble, Machine, MachineReport, Operation, OperationResult, Party, Provisioning, Remedy, Span,
    Timestamp, Tried,
};

use crate::install::{current, installs};
use crate::snapshot::Snapshot;

/// How long after an action trouble is still the trouble that the action was against.
///
/// What a restart or a new system has cured for a week is cured; what comes back within a week was only quiet.
const SAME_TROUBLE: Span = Span::hours(7 * 24);

/// The latest first. Only what did its work, and against the present trouble, counts.
pub(super) fn on(snapshot: &Snapshot, machine: &Machine, wrong_since: Option<Timestamp>, now: Timestamp) -> Vec<Tried> {
    let ended = snapshot.ended().rev().filter_map(|(_, id)| snapshot.operations.get(id));
    let own: Vec<(&Operation, &Ended)> = ended
        .filter(|operation| operation.machine() == Some(&machine.name))
        .filter_map(|operation| Some((operation.as_ref(), operation.ended.as_ref()?)))
        .collect();
    let wrong_since = [wrong_since, undone_since(machine, &own)].into_iter().flatten().min().unwrap_or(now);
    let tried = own.iter().enumerate().filter_map(|(place, (operation, ended))| {
        let action = match operation.action {
            Action::Restart => Remedy::Restart,
            Action::Reimage { .. } => Remedy::Reimage,
            Action::Replace { .. } => Remedy::Replace,
            _ => return None,
        };
        let is_against_it = wrong_since < ended.at + SAME_TROUBLE;
        let counts = is_against_it && did_its_work(operation, ended) && !is_first_of_storage(ended, &own[place + 1..]);
        Some(Tried { action, operation: operation.id.clone(), at: ended.at, result: ended.result, counts, message: ended.message.clone() })
    });
    tried.collect()
}

/// A machine without a system has been so since its latest installation failed.
fn undone_since(machine: &Machine, own: &[(&Operation, &Ended)]) -> Option<Timestamp> {
    if matches!(machine.provisioning, Provisioning::Provisioned | Provisioning::Available) {
        return None;
    }
    own.iter().find(|(operation, _)| installs(operation.action)).map(|(_, ended)| ended.at)
}

/// Whether its end says something of whether the action helps. What was kept from its work by something else says nothing: that is to
/// be mended, and then it is tried again.
fn did_its_work(operation: &Operation, ended: &Ended) -> bool {
    match (ended.result, ended.failure) {
        (OperationResult::Succeeded, _) => true,
        (OperationResult::Canceled, _) => false,
        (_, Some(failure)) if is_elsewhere(failure) => false,
        // It can never be done, so that waiting for it is of no use.
        (_, Some(Failure::DeviceUnsupported | Failure::StorageFailed)) => true,
        _ if installs(operation.action) => is_written(operation) || is_fault_of_disks(operation),
        _ => has_reached_bmc(operation),
    }
}

/// A controller that did not do what it was asked for may do so when it, or what it holds, has been seen to; twice is not by chance.
fn is_first_of_storage(ended: &Ended, earlier: &[(&Operation, &Ended)]) -> bool {
    let is_of_storage = |ended: &Ended| ended.failure == Some(Failure::StorageFailed);
    is_of_storage(ended) && !earlier.iter().any(|(_, ended)| is_of_storage(ended))
}

/// Whether the latest installation failed for what is wrong with the machine's disks.
pub(super) fn disks_at_fault(snapshot: &Snapshot, machine: &Machine) -> bool {
    let latest = snapshot.ended().rev().filter_map(|(_, id)| snapshot.operations.get(id));
    let mut own = latest.filter(|operation| operation.machine() == Some(&machine.name) && installs(operation.action));
    own.next().is_some_and(|operation| {
        is_fault_of_disks(operation) || operation.ended.as_ref().is_some_and(|ended| ended.failure == Some(Failure::StorageFailed))
    })
}

fn is_written(operation: &Operation) -> bool {
    current(operation).is_some_and(|round| round.written(operation).is_some_and(|digest| *digest == round.image))
}

/// Whether it failed for what is wrong with the machine itself.
fn is_fault_of_disks(operation: &Operation) -> bool {
    operation.journal.iter().any(|entry| {
        let Fact::Reported { report: MachineReport::Failed { trouble, .. }, .. } = &entry.fact else { return false };
        matches!(trouble, InstallTrouble::MissingDisk | InstallTrouble::DiskTooSmall | InstallTrouble::DiskFailed)
    })
}

fn has_reached_bmc(operation: &Operation) -> bool {
    operation.journal.iter().any(|entry| match entry.fact {
        Fact::Asked { ask, attempt } => ask.party() == Party::Bmc && !operation.was_refused(ask, attempt),
        _ => false,
    })
}

/// Failures that say nothing of whether the action would have helped: what they name is to be mended, and then it is tried again.
fn is_elsewhere(failure: Failure) -> bool {
    match failure {
        Failure::BmcLoginFailed
        | Failure::ValidationFailed
        | Failure::HeldByBudget
        | Failure::EtcdFailed
        | Failure::DeviceMissing
        | Failure::VmFailed => true,
        Failure::DeadlineExceeded | Failure::DeviceUnsupported | Failure::InstallFailed | Failure::StorageFailed => false,
    }
}
