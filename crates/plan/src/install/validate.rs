//! The hardware is compared with what it should be. What came of it is written down once, with all its fields.
//!
//! In a replace what does not match ends the operation, and the machine counts as given up; on demand it is only recorded.

use model::{
    Action, DeviceAsk, Fact, Failure, FaultClass, Found, Hardware, Inspection, Judged, LookAt, Machine, Operation, Party, Power, Replaced,
    StepKind, Timestamp, Unhealthy, Validation, ValidationMark, ValidationResult, Wait, WaitKind,
};

use super::insist::was_asked_in_step;
use super::looking::{look, look_again, settled_since};
use super::{login, power, survey};
use crate::evacuate::counted_from;
use crate::operate::{Bench, Finding};
use crate::snapshot::Snapshot;
use crate::validation::{self, Expected};

pub(super) fn validate(bench: &Bench<'_>) -> Finding {
    if let Some((result, failures)) = result_of(bench.operation) {
        return match result {
            ValidationResult::Fail if replaces(bench.operation) => {
                Finding::Fail { failure: Failure::ValidationFailed, because: failures.join("; ") }
            }
            _ => Finding::Done,
        };
    }
    if let Err(finding) = powered(bench) {
        return finding;
    }
    match inspection(bench) {
        Err(finding) => match login::judge(bench, finding) {
            Finding::Done => not_inspectable(bench),
            other => other,
        },
        // It failed, but has only just been switched on: links take a while to come up.
        Ok(_) => look_again(bench, LookAt::Hardware, looking(bench), warm_at(bench).unwrap_or(bench.now)),
    }
}

fn looking(bench: &Bench<'_>) -> Wait {
    Wait { kind: WaitKind::Look { at: LookAt::Hardware }, since: bench.now, expected_by: warm_at(bench) }
}

fn not_inspectable(bench: &Bench<'_>) -> Finding {
    let because = format!("the BMC of `{}` tells nothing of its hardware", bench.machine.name);
    Finding::Fail { failure: Failure::DeviceUnsupported, because }
}

/// What the validation comes to, as soon as it is known.
pub(super) fn note(bench: &Bench<'_>) -> Option<Fact> {
    if result_of(bench.operation).is_some() || powered(bench).is_err() {
        return None;
    }
    let categories = compare(bench.snapshot, bench.machine, bench.operation, inspection(bench).ok()?, bench.now);
    let failures = validation::failures(&categories);
    let result = if failures.is_empty() { ValidationResult::Pass } else { ValidationResult::Fail };
    let is_warm = warm_at(bench).is_none_or(|at| bench.now >= at);
    (failures.is_empty() || is_warm).then_some(Fact::Validated { result, failures })
}

fn replaces(operation: &Operation) -> bool {
    matches!(operation.action, Action::Replace { .. })
}

/// What was written down of this operation's validation.
pub(crate) fn result_of(operation: &Operation) -> Option<(ValidationResult, &[String])> {
    operation.journal.iter().rev().find_map(|entry| match &entry.fact {
        Fact::Validated { result, failures } => Some((*result, failures.as_slice())),
        _ => None,
    })
}

/// Links are up only while a machine is on. One that is replaced is switched on for it; one in use is left as it is.
fn powered(bench: &Bench<'_>) -> Result<(), Finding> {
    if !replaces(bench.operation) {
        return Ok(());
    }
    match power::on(bench, DeviceAsk::PowerOn) {
        Finding::Done => Ok(()),
        other => Err(other),
    }
}

/// Until when what fails may still come up, because the machine was switched on for this.
fn warm_at(bench: &Bench<'_>) -> Option<Timestamp> {
    let asked_at = bench.operation.first_asked_at(DeviceAsk::PowerOn).filter(|_| was_asked_in_step(bench, DeviceAsk::PowerOn))?;
    Some(counted_from(bench.operation, asked_at) + bench.limits.expected_power_on)
}

fn inspection<'a>(bench: &'a Bench<'_>) -> Result<&'a Inspection, Finding> {
    match look(bench, LookAt::Hardware, settled_since(bench, Party::Bmc))? {
        Found::Hardware(inspection) => Ok(inspection),
        _ => Err(not_inspectable(bench)),
    }
}

fn compare(
    snapshot: &Snapshot,
    machine: &Machine,
    operation: &Operation,
    inspection: &Inspection,
    now: Timestamp,
) -> Vec<model::CategoryResult> {
    let hardware = identity(machine, operation);
    let expected = Expected {
        sku: snapshot.cluster.skus.iter().find(|sku| sku.name.eq_ignore_ascii_case(&hardware.sku)),
        hardware: &hardware,
        bundle: survey::bundle(snapshot, machine).map(AsRef::as_ref),
        is_on: snapshot.observation(&machine.name).power.is_some_and(|power| power.what == Power::On),
        was_switched_on: operation.first_asked_at(DeviceAsk::PowerOn).is_some(),
        now,
    };
    validation::validate(&expected, inspection)
}

/// What the machine is to be recognized by: what it is, or what a replace says that it is now.
fn identity(machine: &Machine, operation: &Operation) -> Hardware {
    match &operation.replacement {
        Some(replacement) => replacement.applied_to(&machine.hardware),
        None => machine.hardware.clone(),
    }
}

/// Who does not let us in is validated all the same: that is a result, and the one of before is none any more. A login that is refused
/// says nothing of the machine; silence is marked where somebody asked how the machine is, but takes back no hardware that was seen to
/// be wrong.
pub(crate) fn note_login(snapshot: &Snapshot, machine: &mut Machine, operation: &Operation, now: Timestamp) -> Option<Validation> {
    let validates = matches!(operation.action, Action::Validate | Action::Replace { .. });
    operation.ended.as_ref().filter(|ended| validates && ended.failure == Some(Failure::BmcLoginFailed))?;
    let observation = snapshot.observation(&machine.name);
    let mut looks = [LookAt::Hardware, LookAt::Survey].into_iter().filter_map(|at| observation.looked.get(&at));
    let fault = looks.find_map(|looked| looked.found.as_ref().err().filter(|_| looked.began_at >= operation.accepted_at))?;
    let is_known_bad = machine.validated.as_ref().is_some_and(ValidationMark::is_of_bad_hardware);
    if operation.action == Action::Validate && fault.class == FaultClass::Unreachable && !is_known_bad {
        machine.validated = Some(ValidationMark { at: now, result: ValidationResult::Fail, of: Judged::Login });
    }
    Some(validated(snapshot, machine, operation, validation::login_failed(fault), now))
}

/// All fields of the validation that this turn has written down, to be kept with it.
pub(crate) fn validation_since(
    snapshot: &Snapshot,
    machine: &Machine,
    operation: &Operation,
    known: usize,
    now: Timestamp,
) -> Option<Validation> {
    let gained = operation.journal.get(known..)?;
    gained.iter().find(|entry| matches!(entry.fact, Fact::Validated { .. }))?;
    let observation = snapshot.observation(&machine.name);
    let Ok(Found::Hardware(inspection)) = &observation.looked.get(&LookAt::Hardware)?.found else { return None };
    Some(validated(snapshot, machine, operation, compare(snapshot, machine, operation, inspection, now), now))
}

fn validated(
    snapshot: &Snapshot,
    machine: &Machine,
    operation: &Operation,
    categories: Vec<model::CategoryResult>,
    now: Timestamp,
) -> Validation {
    Validation {
        cluster: operation.cluster.clone(),
        machine: machine.name.clone(),
        by: operation.id.clone(),
        at: now,
        version: survey::bundle(snapshot, machine).map(|bundle| bundle.version),
        categories,
    }
}

/// A machine whose BMC has let us in with the login of a replace, and told the serial number of the replace or none, keeps both, whatever
/// its validation comes to: another try with the old ones would be refused, and lock the account.
pub(super) fn note_login_seen(operation: &Operation, machine: &mut Machine) {
    let Some((now, replacement)) = operation.done_at(StepKind::Login).zip(operation.replacement.as_ref()) else { return };
    let Hardware { serial_number, credentials, .. } = replacement.applied_to(&machine.hardware);
    let after = Hardware { serial_number, credentials, ..machine.hardware.clone() };
    take_identity(machine, after, now);
}

/// What a validation changes about its machine. A replace whose hardware is what it should be has the machine take its identity.
pub(super) fn note_validated(operation: &Operation, machine: &mut Machine, now: Timestamp) {
    let Some((result, failures)) = result_of(operation) else { return };
    machine.validated = Some(ValidationMark { at: now, result, of: Judged::Hardware });
    match (replaces(operation), result) {
        (false, _) => {}
        (true, ValidationResult::Fail) => {
            machine.unhealthy.get_or_insert_with(|| Unhealthy { since: now, because: failures.join("; ") });
        }
        (true, ValidationResult::Pass) => take_identity(machine, identity(machine, operation), now),
    }
}

fn take_identity(machine: &mut Machine, after: Hardware, now: Timestamp) {
    if after == machine.hardware {
        return;
    }
    let before = std::mem::replace(&mut machine.hardware, after);
    let described = machine.replaced.take().map_or(before, |replaced| replaced.described);
    machine.replaced = Some(Box::new(Replaced { at: now, described }));
}

/// The words of a validation that was asked for by itself.
pub(super) fn done_message(operation: &Operation, machine: &Machine) -> Option<String> {
    let name = &machine.name;
    if operation.action != Action::Validate {
        return None;
    }
    Some(match result_of(operation)? {
        (ValidationResult::Pass, _) => format!("the hardware of `{name}` is as it should be"),
        (ValidationResult::Fail, failures) => format!("the hardware of `{name}` is not as it should be: {}", failures.join("; ")),
    })
}
