//! How operations end: succeeded, failed or cancelled, what they leave behind, and what a person should type next.

use model::{
    Action, DesiredPower, DeviceAsk, Ended, Entry, Evacuate, Fact, Failure, FaultClass, Hold, HoldOwner, Machine, Operation,
    OperationResult, Power, Provisioning, Span, StepKind, Timestamp,
};

use crate::asking::answered_at;
use crate::evacuate;
use crate::install;
use crate::left_behind::left_behind;
use crate::operate::{Bench, settle_of};

/// The time that a keeper was down does not count: what was left at the last entry of the journal is left when the
/// operation is taken up again. The journal says so, so that the next restart reckons from there.
pub(crate) fn resume(operation: &mut Operation, keeper_started_at: Timestamp, now: Timestamp) {
    let last_entry_at = operation.journal.last().map_or(operation.accepted_at, |entry| entry.at);
    if keeper_started_at > last_entry_at {
        let left = operation.deadline_at.since(last_entry_at);
        operation.deadline_at = operation.deadline_at.max(now + left);
        operation.journal.push(Entry { at: now, fact: Fact::Resumed });
    }
}

/// A deadline is judged only after a look: a keeper that was down for hours has failed nothing.
pub(crate) fn is_overdue(bench: &Bench<'_>) -> bool {
    bench.now >= bench.operation.deadline_at && bench.sight.was_tried()
}

/// From when on the operation can be stopped: a safe point is one where no request can still take effect behind our
/// back. `None` while a request is under way, which only its answer ends.
pub(crate) fn safe_point_at(bench: &Bench<'_>, step: StepKind) -> Option<Timestamp> {
    if bench.sight.observation.asking.is_some() || evacuate::is_under_way(&bench.snapshot.tenants, bench.operation) {
        return None;
    }
    let asks: &[DeviceAsk] = match step {
        StepKind::Cordon => &[DeviceAsk::Cordon],
        StepKind::PowerOff => &[DeviceAsk::GracefulOff, DeviceAsk::ForceOff],
        StepKind::PowerOn => &[DeviceAsk::PowerOn],
        // What these ask for is harmless wherever it is stopped: the memory of what ran is kept with the machine.
        StepKind::CordonTenants
        | StepKind::Drain
        | StepKind::StopVms
        | StepKind::StartVms
        | StepKind::UncordonTenants
        | StepKind::Create
        | StepKind::Stop
        | StepKind::DiscardOsDisk
        | StepKind::Start
        | StepKind::Delete
        | StepKind::Rejoin => &[],
        StepKind::Uncordon => &[DeviceAsk::Uncordon],
        StepKind::LeaveEtcd => &[DeviceAsk::LeaveEtcd],
        StepKind::JoinEtcd => &[DeviceAsk::JoinEtcd],
        StepKind::PromoteEtcd => &[DeviceAsk::PromoteEtcd],
        StepKind::MintJoinToken => &[DeviceAsk::MintJoinToken],
        StepKind::DropJoinToken => &[DeviceAsk::DropJoinToken],
        StepKind::InsertMedia => &[DeviceAsk::InsertMedia, DeviceAsk::EjectMedia],
        StepKind::EjectMedia => &[DeviceAsk::EjectMedia],
        StepKind::BootAgent => &[DeviceAsk::BootFromMedia, DeviceAsk::BootFromHttp, DeviceAsk::BootFromPxe],
        StepKind::BootDisk => &[DeviceAsk::BootFromDisk],
        StepKind::AgentOn => &[DeviceAsk::AgentOn],
        StepKind::AgentOff => &[DeviceAsk::AgentOff],
        StepKind::SystemOn => &[DeviceAsk::SystemOn],
        StepKind::DiscardVolumes => &[DeviceAsk::DeleteVolume],
        StepKind::MakeOsVolume => &[DeviceAsk::MakeOsVolume],
        StepKind::ValidateHardware => &[DeviceAsk::PowerOn],
        StepKind::AwaitOff => &[DeviceAsk::ForceOff],
        StepKind::WriteImage if install::is_started_again(bench.operation) => &[DeviceAsk::ForceOff, DeviceAsk::AgentOn],
        StepKind::Survey | StepKind::Login | StepKind::WriteImage | StepKind::PhoneHome | StepKind::InspectMachines => &[],
    };
    let settled = asks.iter().filter_map(|ask| {
        let (asked_at, attempt) = bench.operation.last_asked(*ask)?;
        (!bench.operation.was_refused(*ask, attempt)).then(|| answered_at(bench, asked_at) + settle_before_stop(bench, *ask))
    });
    Some(settled.max().unwrap_or(bench.operation.accepted_at))
}

/// A graceful shutdown may come much later than a person wants to wait for a cancel. In the control plane they have
/// to: another member may be disrupted as soon as this one is free.
fn settle_before_stop(bench: &Bench<'_>, ask: DeviceAsk) -> Span {
    if ask == DeviceAsk::GracefulOff && !bench.machine.is_active_kcp() { bench.limits.power_settle } else { settle_of(ask, bench.limits) }
}

/// What a finished step changes about the machine.
pub(crate) fn note_step_done(operation: &Operation, machine: &mut Machine, step: StepKind) {
    let is_power_off = matches!(operation.action, Action::PowerOff { .. });
    if step == StepKind::PowerOff && is_power_off {
        machine.desired_power = DesiredPower::Off;
    }
}

pub(crate) fn succeed(operation: &mut Operation, machine: &mut Machine, now: Timestamp) {
    install::note_end(operation, machine, OperationResult::Succeeded, now);
    settle_holds(operation, machine);
    let skipped: Vec<String> = operation
        .journal
        .iter()
        .filter_map(|entry| match &entry.fact {
            Fact::Skipped { step, reason } if install::is_skip_told(operation, *step) => {
                Some(format!("{} was left out: {reason}", step.title()))
            }
            _ => None,
        })
        .collect();
    let held: Vec<String> = machine.holds.iter().map(|hold| hold.owner.to_string()).collect();
    let mut message = done_message(operation, machine);
    match operation.action {
        Action::Uncordon | Action::Restart | Action::Start if !held.is_empty() => {
            message.push_str(&format!("; it stays cordoned, held by {}", held.join(", ")));
        }
        _ => {}
    }
    let left = evacuate::left_words(operation);
    for note in skipped.into_iter().chain(evacuate::brought_back(operation, machine.evacuated.as_ref())).chain(left) {
        message.push_str("; ");
        message.push_str(&note);
    }
    let startable = matches!(operation.action, Action::PowerOff { .. }) && machine.provisioning == Provisioning::Provisioned;
    let next = if startable {
        Some(format!("rackwright bmm start {}", machine.name))
    } else {
        let uncordoned = install::installs(operation.action).then(|| format!("rackwright bmm uncordon {}", machine.name));
        uncordoned.or_else(|| install::next_after_validation(operation, machine))
    };
    operation.ended = Some(Ended { at: now, result: OperationResult::Succeeded, message, next, failure: None });
}

/// What was done, or that there was nothing to do: nobody switched a machine off that was off when it was asked for.
fn done_message(operation: &Operation, machine: &Machine) -> String {
    let name = &machine.name;
    let was_asked = |asks: &[DeviceAsk]| asks.iter().any(|ask| operation.last_asked(*ask).is_some());
    let was_so = machine.last_seen.power.as_ref().is_some_and(|power| power.at <= operation.accepted_at);
    match operation.action {
        Action::PowerOff { .. } if was_so && !was_asked(&[DeviceAsk::GracefulOff, DeviceAsk::ForceOff]) => {
            format!("`{name}` is off, as it was")
        }
        Action::Start if was_so && !was_asked(&[DeviceAsk::PowerOn]) => format!("`{name}` is on, as it was"),
        Action::Cordon { evacuate: Evacuate::Yes | Evacuate::Forced } => {
            format!("`{name}` was {}", evacuate::emptied(operation))
        }
        action => install::done_message(operation, machine).unwrap_or_else(|| format!("`{name}` was {}", action.participle())),
    }
}

pub(crate) fn fail(operation: &mut Operation, machine: &mut Machine, failure: Failure, because: &str, now: Timestamp) {
    let waited = operation.wait.as_ref().map(|wait| format!("; it waited for {}", wait.kind)).unwrap_or_default();
    install::note_end(operation, machine, OperationResult::Failed, now);
    settle_holds(operation, machine);
    let message = format!("{} failed: {because}{waited}. Left behind: {}", what_failed(operation), left_behind(operation, machine));
    let next = next_command(operation, machine, Some(failure));
    operation.wait = None;
    operation.ended = Some(Ended { at: now, result: OperationResult::Failed, message, next: Some(next), failure: Some(failure) });
}

/// A machine that could not be emptied is cordoned all the same, once its cordon was seen.
fn what_failed(operation: &Operation) -> &'static str {
    match operation.action {
        Action::Cordon { evacuate: Evacuate::Yes | Evacuate::Forced } if operation.done_at(StepKind::Cordon).is_some() => "evacuation",
        action => action.command(),
    }
}

/// The site file no longer describes the machine. What was asked of it before may still have happened, so a machine
/// that was to be off stays held until it is seen back.
pub(crate) fn fail_undescribed(operation: &mut Operation, machine: &mut Machine, now: Timestamp) {
    install::note_end(operation, machine, OperationResult::Failed, now);
    // One that is not provisioned takes no workloads, and nothing would ever lift its hold.
    let is_to_be_held = machine.provisioning == Provisioning::Provisioned;
    machine.holds.retain(|hold| is_to_be_held || !hold.owner.is_operation(&operation.id));
    for hold in machine.holds.iter_mut().filter(|hold| hold.owner.is_operation(&operation.id)) {
        hold.owner = HoldOwner::PoweredOff { by: operation.id.clone() };
        hold.reason = "its power is not known".into();
    }
    let name = &machine.name;
    let because = format!("`{name}` is no longer described in the site file; put it back, and ask again");
    let message = format!("{} failed: {because}. Left behind: {}", operation.action.command(), left_behind(operation, machine));
    operation.wait = None;
    let next = Some(format!("rackwright bmm show {name}"));
    operation.ended = Some(Ended { at: now, result: OperationResult::Failed, message, next, failure: Some(Failure::DeviceMissing) });
}

pub(crate) fn cancel(operation: &mut Operation, machine: &mut Machine, step: StepKind, now: Timestamp) {
    let by = operation.cancel.as_ref().map_or_else(String::new, |cancel| format!(" by {}", cancel.by));
    let pending = operation
        .last_asked(DeviceAsk::GracefulOff)
        .filter(|_| step == StepKind::PowerOff)
        .map(|(at, _)| format!(" A graceful shutdown was asked for at {} and may still happen.", at.clock()))
        .unwrap_or_default();
    install::note_end(operation, machine, OperationResult::Canceled, now);
    settle_holds(operation, machine);
    withdraw_cordon(operation, machine);
    let message = format!("cancelled{by} during {}. Left behind: {}.{pending}", step.title(), left_behind(operation, machine));
    // Whoever cancels does not want it done the harder way; but a machine should not be forgotten while it is off.
    let is_half_empty = machine.evacuated.is_some() && machine.holds.iter().any(|hold| hold.owner.is_a_persons_to_release());
    let next = if machine.provisioning == Provisioning::Error {
        next_command(operation, machine, None)
    } else if is_seen_off(machine) {
        format!("rackwright bmm start {}", machine.name)
    } else if is_half_empty {
        format!("rackwright bmm uncordon {}", machine.name)
    } else {
        format!("rackwright bmm show {}", machine.name)
    };
    operation.wait = None;
    operation.ended = Some(Ended { at: now, result: OperationResult::Canceled, message, next: Some(next), failure: None });
}

/// An operation that ends leaves no hold of its own. A machine that it leaves off stays held until it is started,
/// so that nothing is scheduled to a node that is about to be found dead. One without an operating system, such as the
/// spare, has no node, and no start that would lift the hold.
fn settle_holds(operation: &Operation, machine: &mut Machine) {
    let Some(position) = machine.holds.iter().position(|hold| hold.owner.is_operation(&operation.id)) else { return };
    let own = machine.holds.remove(position);
    let left_off = machine.last_seen.power.as_ref().is_some_and(|power| power.what == Power::Off);
    let already = machine.holds.iter().any(|hold| hold.owner.is_powered_off());
    if left_off && !already && machine.provisioning == Provisioning::Provisioned {
        let owner = HoldOwner::PoweredOff { by: operation.id.clone() };
        machine.holds.push(Hold { owner, reason: "powered off".into(), since: own.since });
    }
}

/// A cordon that is cancelled is not wanted any more; a hold that was there before stays.
fn withdraw_cordon(operation: &Operation, machine: &mut Machine) {
    if matches!(operation.action, Action::Cordon { .. }) {
        machine.holds.retain(|hold| !(hold.owner.is_user() && hold.since == operation.accepted_at));
        // What was stopped already must not come back by itself: whoever cancels may only want to look first.
        let is_untouched = machine.evacuated.is_none();
        machine.holds.retain(|hold| !(is_untouched && matches!(&hold.owner, HoldOwner::Evacuation { by, .. } if *by == operation.id)));
    }
}

fn next_command(operation: &Operation, machine: &Machine, failure: Option<Failure>) -> String {
    let name = &machine.name;
    let off = is_seen_off(machine);
    let trouble = machine.last_seen.bmc_fault.as_ref().map(|fault| fault.what.class);
    // Another login helps neither against silence nor with a certificate that is not trusted.
    let is_refused = matches!(trouble, None | Some(FaultClass::Denied | FaultClass::NoLogin));
    if failure == Some(Failure::BmcLoginFailed) && is_refused && matches!(operation.action, Action::Replace { .. }) {
        return format!("rackwright bmm replace {name} --bmc-credentials username=<USER> password=<PASSWORD>");
    }
    if trouble.is_some() {
        return format!("rackwright bmm show {name}");
    }
    match operation.action {
        // The hold stays, and is applied when the undercloud answers; whoever does not want that any more must say so.
        Action::Cordon { .. } => format!("rackwright bmm uncordon {name}"),
        // Tenants who hold are not advised against.
        _ if failure == Some(Failure::HeldByBudget) => format!("rackwright bmm show {name}"),
        _ if failure == Some(Failure::ValidationFailed) => format!("rackwright bmm advise {name} --symptom hardware"),
        // Where even a forced power-off has had no effect, asking for one more is no advice.
        Action::PowerOff { .. } if !off && operation.last_asked(DeviceAsk::ForceOff).is_none() => {
            format!("rackwright bmm power-off {name} --skip-shutdown")
        }
        Action::PowerOff { .. } | Action::Start | Action::Restart if off => format!("rackwright bmm start {name}"),
        Action::Reimage { .. } | Action::Replace { .. } if off && machine.provisioning == Provisioning::Provisioned => {
            format!("rackwright bmm start {name}")
        }
        Action::Reimage { .. } | Action::Replace { .. } if machine.provisioning == Provisioning::Error => {
            format!("rackwright bmm {} {name}", operation.action.command())
        }
        Action::Start | Action::Restart if !machine.is_ready() => format!("rackwright bmm restart {name}"),
        _ => format!("rackwright bmm show {name}"),
    }
}

fn is_seen_off(machine: &Machine) -> bool {
    machine.last_seen.bmc_fault.is_none() && machine.last_seen.power.as_ref().is_some_and(|power| power.what == Power::Off)
}
