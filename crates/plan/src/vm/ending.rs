//! How operations on virtual machines end, what they leave behind, and what a person should type next.

use model::{
    Action, Delivery, Ended, Errand, Fact, Failure, Operation, OperationResult, Shutdown, StepKind, Target, Timestamp, Vm, VmProvisioning,
    WaitKind,
};

use super::operate::Bench;
use super::steps;

/// A deadline is judged only after a look: a keeper that was down for hours has failed nothing.
pub(super) fn is_overdue(bench: &Bench<'_>) -> bool {
    let was_tried = bench.snapshot.undercloud.tried_at.is_some_and(|at| at >= bench.snapshot.keeper_started_at);
    bench.now >= bench.operation.deadline_at && was_tried
}

/// Whether some attempt at an errand may have reached whom it was meant for.
pub(crate) fn may_have_arrived(operation: &Operation, errand: &Errand) -> bool {
    operation.journal.iter().any(|entry| match &entry.fact {
        Fact::ErrandAsked { errand: asked, attempt } if asked == errand => {
            operation.errand_fault(errand, *attempt).is_none_or(|(_, fault)| fault.delivery == Delivery::Maybe)
        }
        _ => false,
    })
}

/// From when on the operation can be stopped: when no request of it can still take effect behind our back. `None` while one is
/// under way, which only its answer ends.
pub(super) fn safe_point_at(bench: &Bench<'_>) -> Option<Timestamp> {
    let settle = bench.limits.errand_settle;
    let mut safe_at = bench.operation.accepted_at;
    for entry in &bench.operation.journal {
        let Fact::ErrandAsked { errand, attempt } = &entry.fact else { continue };
        let fault = bench.operation.errand_fault(errand, *attempt);
        let answer = bench.state_of(errand).filter(|state| state.attempt == *attempt).map(|state| state.answer.as_ref());
        safe_at = safe_at.max(match (fault, answer) {
            (Some((_, fault)), _) if fault.delivery == Delivery::No => continue,
            (Some((at, _)), _) => at + settle,
            (None, Some(None)) => return None,
            // What was taken shows by itself; nothing of it comes later.
            (None, Some(Some(_))) => continue,
            (None, None) => entry.at + settle,
        });
    }
    Some(safe_at)
}

pub(super) fn succeed(operation: &mut Operation, vm: Option<&mut Vm>, now: Timestamp) {
    let mut message = done_message(operation);
    for entry in &operation.journal {
        if let Fact::Skipped { step, reason } = &entry.fact {
            message.push_str(&format!("; {} was left out: {reason}", step.title()));
        }
    }
    let next = match (&operation.target, operation.action) {
        (Target::Vm(name), Action::PowerOff { .. }) => Some(format!("rackwright vm start {name}")),
        _ => None,
    };
    end(operation, vm, Ended { at: now, result: OperationResult::Succeeded, message, next, failure: None });
}

/// What was done, or that there was nothing to do.
fn done_message(operation: &Operation) -> String {
    let name = &operation.target;
    let was_asked = operation.journal.iter().any(|entry| matches!(entry.fact, Fact::ErrandAsked { .. }));
    match operation.action {
        Action::PowerOff { .. } if !was_asked => format!("`{name}` is off, as it was"),
        Action::Start if !was_asked => format!("`{name}` is on, as it was"),
        Action::PowerOff { shutdown: Shutdown::Graceful } if was_forced(operation) => {
            format!("`{name}` was powered off; it did not shut down, and was forced off")
        }
        action => format!("`{name}` was {}", action.participle()),
    }
}

fn was_forced(operation: &Operation) -> bool {
    let is_forced = |fact: &Fact| matches!(fact, Fact::ErrandAsked { errand: Errand::StopVm { shutdown: Shutdown::Skip, .. }, .. });
    operation.journal.iter().any(|entry| is_forced(&entry.fact))
}

pub(super) fn fail(operation: &mut Operation, vm: Option<&mut Vm>, why: (Failure, &str), left: &Left, now: Timestamp) {
    let (failure, because) = why;
    let waited = operation.wait.as_ref().map(|wait| format!("; it waited for {}", wait.kind)).unwrap_or_default();
    let trouble = left.trouble.as_ref().filter(|trouble| !because.contains(*trouble) && !waited.contains(*trouble));
    let trouble = trouble.map(|trouble| format!("; {trouble}")).unwrap_or_default();
    let command = operation.action.command();
    let message = format!("{command} failed: {because}{waited}{trouble}. Left behind: {}", left.state);
    let next = Some(next_command(operation, failure, left));
    end(operation, vm, Ended { at: now, result: OperationResult::Failed, message, next, failure: Some(failure) });
}

/// The time is up. A virtual machine that could not run has failed by itself, and its own words say why.
pub(super) fn fail_late(operation: &mut Operation, vm: Option<&mut Vm>, step: StepKind, left: &Left, now: Timestamp) {
    let hindered = operation.wait.as_ref().and_then(|wait| match &wait.kind {
        WaitKind::VmHindered { because, .. } => Some(because.clone()),
        _ => None,
    });
    if let Some(because) = hindered {
        operation.wait = None;
        let because = format!("`{}` did not run in time: {}", operation.target, because.trim_end_matches('.'));
        return fail(operation, vm, (Failure::VmFailed, &because), left, now);
    }
    let because = format!("{} did not end in time", step.title());
    fail(operation, vm, (Failure::DeadlineExceeded, &because), left, now);
}

pub(super) fn cancel(operation: &mut Operation, vm: Option<&mut Vm>, step: StepKind, left: &Left, now: Timestamp) {
    let by = operation.cancel.as_ref().map_or_else(String::new, |cancel| format!(" by {}", cancel.by));
    let pending = match (step, may_still_come(operation)) {
        (StepKind::Stop, true) => " A shutdown was asked for and may still happen.",
        (StepKind::Start, true) => " A start was asked for and may still happen.",
        _ => "",
    };
    let message = format!("cancelled{by} during {}. Left behind: {}.{pending}", step.title(), left.state);
    let next = Some(if left.is_off && operation.action != Action::Start { start_command(operation) } else { show_command(operation) });
    end(operation, vm, Ended { at: now, result: OperationResult::Canceled, message, next, failure: None });
}

fn may_still_come(operation: &Operation) -> bool {
    operation.journal.iter().rev().find_map(|entry| match &entry.fact {
        Fact::ErrandAsked { errand, .. } => Some(may_have_arrived(operation, errand)),
        Fact::Seen { .. } => Some(false),
        _ => None,
    }) == Some(true)
}

/// Its creation is over when it was created, failed or was cancelled; nothing else says anything of that.
fn end(operation: &mut Operation, vm: Option<&mut Vm>, ended: Ended) {
    if let (Some(vm), Action::Create) = (vm, operation.action) {
        vm.provisioning = match ended.result {
            OperationResult::Succeeded => VmProvisioning::Succeeded,
            OperationResult::Failed => VmProvisioning::Failed,
            OperationResult::Canceled => VmProvisioning::Canceled,
        };
    }
    operation.wait = None;
    operation.ended = Some(ended);
}

/// Whether a creation met somebody else's virtual machine: what was written for it is of nothing.
pub(super) fn is_of_another(operation: &Operation) -> bool {
    let failure = operation.ended.as_ref().and_then(|ended| ended.failure);
    operation.action == Action::Create && failure == Some(Failure::VmFailed) && !operation.was_seen(StepKind::Create)
}

/// How an operation leaves a virtual machine.
pub(super) struct Left {
    state: String,
    is_there: bool,
    is_off: bool,
    trouble: Option<String>,
}

pub(super) fn left_behind(bench: &Bench<'_>) -> Left {
    let trouble = steps::machine_trouble(bench);
    let (state, is_there, is_off) = match bench.look() {
        Err(_) => ("unknown", true, false),
        Ok(None) => ("no such virtual machine", false, false),
        // Whoever asks a machine that does not answer hears what was so when it last did.
        Ok(Some(seen)) if seen.has_instance() && trouble.is_some() => ("unknown", true, false),
        Ok(Some(seen)) => (seen.state.in_words(), true, !seen.has_instance()),
    };
    Left { state: state.to_owned(), is_there, is_off, trouble }
}

fn next_command(operation: &Operation, failure: Failure, left: &Left) -> String {
    let name = &operation.target;
    match (&operation.target, operation.action) {
        // Somebody else's is not ours to delete.
        (Target::Vm(_), Action::Create) if !left.is_there && failure != Failure::VmFailed => format!("rackwright vm delete {name}"),
        (Target::Vm(_), Action::PowerOff { shutdown: Shutdown::Graceful }) if left.is_there && !left.is_off && !was_forced(operation) => {
            format!("rackwright vm power-off {name} --skip-shutdown")
        }
        (_, Action::Restart | Action::Reimage { .. } | Action::RestartNode) if left.is_off => start_command(operation),
        (Target::Vm(_), _) if !left.is_there => "rackwright vm list".to_owned(),
        _ => show_command(operation),
    }
}

/// A tenant's node has no start of its own: restarted, it is started.
fn start_command(operation: &Operation) -> String {
    match &operation.target {
        Target::TenantNode { cluster, node } => format!("rackwright kubernetescluster restart-node {cluster} --node-name {node}"),
        target => format!("rackwright vm start {target}"),
    }
}

fn show_command(operation: &Operation) -> String {
    match &operation.target {
        Target::TenantNode { cluster, .. } => format!("rackwright kubernetescluster show {cluster}"),
        target => format!("rackwright vm show {target}"),
    }
}
