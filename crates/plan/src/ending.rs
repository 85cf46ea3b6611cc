//! How operations end: succeeded, failed or cancelled, what they leave behind, and what a person should type next.

use model::{
    Action, DesiredPower, DeviceAsk, Ended, Fact, Failure, Hold, HoldOwner, Machine, Operation, OperationResult, Power, StepKind, Timestamp,
};

use crate::operate::{Bench, settle_of};

/// When an operation's time is up. The time the keeper was down does not count: what was left at the last entry of
/// the journal is left when it comes back.
pub(crate) fn deadline(operation: &Operation, keeper_started_at: Timestamp) -> Timestamp {
    let last_entry_at = operation.journal.last().map_or(operation.accepted_at, |entry| entry.at);
    let left = operation.deadline_at.since(last_entry_at);
    if keeper_started_at > last_entry_at { operation.deadline_at.max(keeper_started_at + left) } else { operation.deadline_at }
}

/// A deadline is judged only after a look: a keeper that was down for hours has failed nothing.
pub(crate) fn is_overdue(bench: &Bench<'_>) -> bool {
    bench.now >= deadline(bench.operation, bench.keeper_started_at) && bench.sight.was_tried()
}

/// A safe point is one where no request can still take effect behind our back.
pub(crate) fn is_safe_point(bench: &Bench<'_>, step: StepKind) -> bool {
    if bench.sight.observation.asking.is_some() {
        return false;
    }
    let asks: &[DeviceAsk] = match step {
        StepKind::Cordon => &[DeviceAsk::Cordon],
        StepKind::PowerOff => &[DeviceAsk::GracefulOff, DeviceAsk::ForceOff],
        StepKind::PowerOn => &[DeviceAsk::PowerOn],
        StepKind::Rejoin => &[],
        StepKind::Uncordon => &[DeviceAsk::Uncordon],
    };
    asks.iter().all(|ask| match bench.operation.last_asked(*ask) {
        None => true,
        Some((at, attempt)) => {
            let refused = bench.operation.fault_of(*ask, attempt).is_some_and(|(_, fault)| fault.delivery == model::Delivery::No);
            // A graceful shutdown may come even later, but no person wants to wait for that to cancel.
            let settle = if *ask == DeviceAsk::GracefulOff { bench.limits.power_settle } else { settle_of(*ask, bench.limits) };
            refused || bench.now >= at + settle
        }
    })
}

/// What a finished step changes about the machine.
pub(crate) fn note_step_done(operation: &Operation, machine: &mut Machine, step: StepKind) {
    let is_power_off = matches!(operation.action, Action::PowerOff { .. });
    if step == StepKind::PowerOff && is_power_off {
        machine.desired_power = DesiredPower::Off;
    }
}

pub(crate) fn succeed(operation: &mut Operation, machine: &mut Machine, now: Timestamp) {
    settle_holds(operation, machine);
    let skipped: Vec<String> = operation
        .journal
        .iter()
        .filter_map(|entry| match &entry.fact {
            Fact::Skipped { step, reason } => Some(format!("{} was left out: {reason}", step.title())),
            _ => None,
        })
        .collect();
    let held: Vec<String> = machine.holds.iter().map(|hold| hold.owner.to_string()).collect();
    let mut message = format!("`{}` was {}", machine.name, operation.action.participle());
    match operation.action {
        Action::Uncordon | Action::Restart | Action::Start if !held.is_empty() => {
            message.push_str(&format!("; it stays cordoned, held by {}", held.join(", ")));
        }
        _ => {}
    }
    for note in skipped {
        message.push_str("; ");
        message.push_str(&note);
    }
    let next = matches!(operation.action, Action::PowerOff { .. }).then(|| format!("rackwright bmm start {}", machine.name));
    operation.ended = Some(Ended { at: now, result: OperationResult::Succeeded, message, next, failure: None });
}

pub(crate) fn fail(operation: &mut Operation, machine: &mut Machine, failure: Failure, because: &str, now: Timestamp) {
    let waited = operation.wait.as_ref().map(|wait| format!("; it waited for {}", wait.kind)).unwrap_or_default();
    settle_holds(operation, machine);
    let message = format!("{} failed: {because}{waited}. Left behind: {}", operation.action.command(), left_behind(machine));
    let next = next_command(operation, machine);
    operation.wait = None;
    operation.ended = Some(Ended { at: now, result: OperationResult::Failed, message, next: Some(next), failure: Some(failure) });
}

pub(crate) fn cancel(operation: &mut Operation, machine: &mut Machine, step: StepKind, now: Timestamp) {
    let by = operation.cancel.as_ref().map_or_else(String::new, |cancel| format!(" by {}", cancel.by));
    let pending = operation
        .last_asked(DeviceAsk::GracefulOff)
        .filter(|_| step == StepKind::PowerOff)
        .map(|(at, _)| format!(" A graceful shutdown was asked for at {} and may still happen.", at.clock()))
        .unwrap_or_default();
    settle_holds(operation, machine);
    let message = format!("cancelled{by} during {}. Left behind: {}.{pending}", step.title(), left_behind(machine));
    let next = next_command(operation, machine);
    operation.wait = None;
    operation.ended = Some(Ended { at: now, result: OperationResult::Canceled, message, next: Some(next), failure: None });
}

/// An operation that ends leaves no hold of its own. A machine that it leaves off stays held until it is started,
/// so that nothing is scheduled to a node that is about to be found dead.
fn settle_holds(operation: &Operation, machine: &mut Machine) {
    let Some(position) = machine.holds.iter().position(|hold| hold.owner.is_operation(&operation.id)) else { return };
    let own = machine.holds.remove(position);
    let left_off = machine.last_seen.power.as_ref().is_some_and(|power| power.what == Power::Off);
    let already = machine.holds.iter().any(|hold| hold.owner.is_powered_off());
    if left_off && !already {
        let owner = HoldOwner::PoweredOff { by: operation.id.clone() };
        machine.holds.push(Hold { owner, reason: "powered off".into(), since: own.since });
    }
}

/// Power, holds and memory as they are left.
fn left_behind(machine: &Machine) -> String {
    let power = match (&machine.last_seen.bmc_fault, &machine.last_seen.power) {
        (Some(fault), _) => format!("unknown, the BMC is {}", fault.what.class),
        (None, Some(power)) => format!("{:?}", power.what),
        (None, None) => "unknown".to_owned(),
    };
    let holds = if machine.holds.is_empty() {
        "none".to_owned()
    } else {
        machine.holds.iter().map(|hold| hold.owner.to_string()).collect::<Vec<_>>().join(", ")
    };
    format!("power {power}; holds {holds}; no VM is remembered for a later start")
}

fn next_command(operation: &Operation, machine: &Machine) -> String {
    let name = &machine.name;
    let off = machine.last_seen.bmc_fault.is_none() && machine.last_seen.power.as_ref().is_some_and(|power| power.what == Power::Off);
    if machine.last_seen.bmc_fault.is_some() {
        return format!("rackwright bmm show {name}");
    }
    match operation.action {
        Action::PowerOff { .. } if !off => format!("rackwright bmm power-off {name} --skip-shutdown"),
        Action::PowerOff { .. } | Action::Start | Action::Restart if off => format!("rackwright bmm start {name}"),
        Action::Start | Action::Restart if !machine.is_ready() => format!("rackwright bmm restart {name}"),
        _ => format!("rackwright bmm show {name}"),
    }
}
