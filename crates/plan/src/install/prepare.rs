//! What an installation changes about its machine: when it is accepted, when it first touches it, and when it ends.

use model::{
    Action, DesiredPower, DeviceAsk, Fact, Hold, HoldOwner, Installed, Machine, Operation, OperationResult, Provisioning, StepKind,
    Timestamp, ValidationResult,
};

use super::attempt::current;
use super::validate;

pub(crate) fn installs(action: Action) -> bool {
    matches!(action, Action::Reimage { .. } | Action::Replace { .. })
}

/// What changes about the machine in the same commit as the acceptance.
pub(crate) fn prepare(machine: &mut Machine, operation: &Operation, now: Timestamp) {
    machine.holds.push(Hold {
        owner: HoldOwner::Operation { id: operation.id.clone() },
        reason: format!("being {}", operation.action.participle()),
        since: now,
    });
    machine.desired_power = DesiredPower::On;
}

/// From the first request that cannot be taken back on the machine counts as being deprovisioned.
pub(crate) fn note_ask(operation: &Operation, machine: &mut Machine, ask: DeviceAsk) {
    if installs(operation.action) && matches!(ask, DeviceAsk::LeaveEtcd | DeviceAsk::GracefulOff | DeviceAsk::ForceOff) {
        note_taken_down(operation, machine);
    }
}

fn note_taken_down(operation: &Operation, machine: &mut Machine) {
    if current(operation).is_none() {
        machine.provisioning = Provisioning::Deprovisioning;
    }
}

pub(crate) fn note_step_done(operation: &Operation, machine: &mut Machine, step: StepKind) {
    match step {
        StepKind::PowerOff if installs(operation.action) => note_taken_down(operation, machine),
        StepKind::Login => validate::note_login_seen(operation, machine),
        _ => {}
    }
}

/// What begins with what was written down.
pub(crate) fn note_fact(operation: &Operation, machine: &mut Machine, fact: &Fact, now: Timestamp) {
    match fact {
        Fact::Installing { .. } => machine.provisioning = Provisioning::Provisioning,
        Fact::Validated { .. } => validate::note_validated(operation, machine, now),
        _ => {}
    }
}

/// What takes the system of before away, or leaves the machine so that it would not start by itself.
const UNDOING: [DeviceAsk; 7] = [
    DeviceAsk::LeaveEtcd,
    DeviceAsk::DeleteVolume,
    DeviceAsk::MakeOsVolume,
    DeviceAsk::BootFromMedia,
    DeviceAsk::BootFromHttp,
    DeviceAsk::BootFromPxe,
    DeviceAsk::AgentOn,
];

/// Whether the system of before cannot be counted on any more.
pub(crate) fn is_undone(operation: &Operation) -> bool {
    operation.journal.iter().any(|entry| match entry.fact {
        Fact::Asked { ask, attempt } => UNDOING.contains(&ask) && !operation.was_refused(ask, attempt),
        _ => false,
    })
}

fn has_failed_validation(operation: &Operation) -> bool {
    validate::result_of(operation).is_some_and(|(result, _)| result == ValidationResult::Fail)
}

/// The state that an operation leaves its machine in. One that was only switched off is as good as it was.
pub(crate) fn note_end(operation: &Operation, machine: &mut Machine, result: OperationResult, now: Timestamp) {
    if !installs(operation.action) {
        return;
    }
    let was_touched = matches!(machine.provisioning, Provisioning::Deprovisioning | Provisioning::Provisioning);
    match (result, current(operation)) {
        (OperationResult::Succeeded, Some(round)) => {
            machine.provisioning = Provisioning::Provisioned;
            machine.installed = Some(Installed { version: round.version, image: round.image, at: now });
            if matches!(operation.action, Action::Replace { .. }) {
                machine.unhealthy = None;
            }
            hold_for_a_person(operation, machine, format!("{}; to be uncordoned by a person", operation.action.participle()), now);
        }
        _ if is_undone(operation) => {
            machine.provisioning = Provisioning::Error;
            hold_for_a_person(operation, machine, format!("its {} did not succeed", operation.action.command()), now);
        }
        // It runs its system of before, but nothing is to be put on hardware that is not what it should be.
        _ if has_failed_validation(operation) => {
            if was_touched {
                machine.provisioning = Provisioning::Error;
            }
            hold_for_a_person(operation, machine, "its hardware validation failed".into(), now);
        }
        // Its node may tell of a system that an earlier installation has wiped, so only what it counted as says what it goes back to.
        _ if was_touched => machine.provisioning = operation.found_provisioning().unwrap_or(Provisioning::Error),
        _ => {}
    }
}

/// One hold of the kind is enough: the latest installation's.
fn hold_for_a_person(operation: &Operation, machine: &mut Machine, reason: String, now: Timestamp) {
    machine.holds.retain(|hold| !hold.owner.is_reinstalled());
    let owner = HoldOwner::Reinstalled { by: operation.id.clone(), caller: operation.caller.clone() };
    machine.holds.push(Hold { owner, reason, since: now });
}
