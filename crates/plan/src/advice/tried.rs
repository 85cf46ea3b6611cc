//! What was done to a machine already, as far as ended operations are kept.

use model::{Action, Failure, MachineName, Operation, OperationResult, Remedy, Tried};

use crate::snapshot::Snapshot;

/// The latest first.
pub(super) fn on(snapshot: &Snapshot, machine: &MachineName) -> Vec<Tried> {
    let ended = snapshot.ended().rev().filter_map(|(_, id)| snapshot.operations.get(id));
    let tried = ended.filter(|operation| operation.machine() == Some(machine)).filter_map(|operation| {
        let action = match operation.action {
            Action::Restart => Remedy::Restart,
            Action::Reimage { .. } => Remedy::Reimage,
            Action::Replace { .. } => Remedy::Replace,
            _ => return None,
        };
        let ended = operation.ended.as_ref()?;
        let counts = ended.result != OperationResult::Canceled && !ended.failure.is_some_and(is_elsewhere);
        let counts = counts && !ended.failure.is_some_and(|failure| is_mendable(failure) && !failed_before(snapshot, operation, failure));
        Some(Tried { action, operation: operation.id.clone(), at: ended.at, result: ended.result, counts, message: ended.message.clone() })
    });
    tried.collect()
}

/// Failures that name what is to be mended, and may be its only ones. The second time they count: there is more to it.
fn is_mendable(failure: Failure) -> bool {
    matches!(failure, Failure::InstallFailed | Failure::StorageFailed)
}

fn failed_before(snapshot: &Snapshot, operation: &Operation, failure: Failure) -> bool {
    let mut ended = snapshot.ended().filter_map(|(_, id)| snapshot.operations.get(id));
    ended.any(|earlier| {
        let is_of_kind = earlier.target == operation.target && earlier.action.verb() == operation.action.verb();
        let is_earlier = earlier.id != operation.id && earlier.accepted_at <= operation.accepted_at;
        is_of_kind && is_earlier && earlier.ended.as_ref().is_some_and(|ended| ended.failure == Some(failure))
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
