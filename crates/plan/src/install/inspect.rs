//! The hardware of a whole site, machine by machine: one operation on the site, and a validation of each machine under the same
//! correlation id. Only some run at once, so that a large site's BMCs are not all asked in one moment.

use std::collections::BTreeSet;

use model::{
    Action, ClusterStatus, Ended, Entry, Fact, MachineName, Management, OPERATION_FORMAT, Operation, OperationId, OperationResult,
    RackName, Refusal, Request, Rule, StepKind, Target, Timestamp, ValidationResult, Verdict, Wait, WaitKind,
};

use super::validate::result_of;
use crate::draft::Draft;
use crate::guard::{being_done, wait_or_cancel};
use crate::snapshot::Snapshot;

/// Machines that are validated at once.
///
/// Each takes some hundred documents of its BMC; a hundred at a time are a rack's worth of links, and done in minutes.
pub const INSPECTED_AT_ONCE: usize = 100;

/// Machines that a message names.
const NAMED_MAX: usize = 10;

pub(crate) fn inspect(
    draft: &mut Draft,
    request: &Request,
    machines: &[MachineName],
    racks: &[RackName],
    now: Timestamp,
) -> Result<Verdict, Refusal> {
    if let Some(same) = request.key.as_ref().and_then(|key| draft.after.operation_of_request(key)) {
        return Ok(Verdict::Accepted { operation: same.id.clone() });
    }
    let (chosen, left_out) = choose(&draft.after, machines, racks)?;
    let cluster = draft.after.cluster.clone();
    let site = Target::Site(cluster.name.clone());
    // Whoever is about to deploy a site wants to know first.
    if !matches!(cluster.detailed_status, ClusterStatus::Running | ClusterStatus::PendingDeployment) {
        let evidence = vec![format!("cluster `{}` is {:?}", cluster.name, cluster.detailed_status)];
        return refuse(&draft.after, Rule::ClusterRunning, evidence, "wait until it is Running");
    }
    if let Some(running) = draft.after.running_for(&site) {
        let (evidence, remedy) = (vec![being_done(running)], wait_or_cancel(running));
        return refuse(&draft.after, Rule::InspectRunning, evidence, remedy);
    }
    let id = OperationId::new(request.id.as_str());
    let fact = Fact::Inspecting { machines: chosen, left_out };
    draft.save_operation(Operation {
        format: OPERATION_FORMAT,
        id: id.clone(),
        cluster: request.cluster.clone(),
        target: site,
        action: Action::Inspect,
        caller: request.caller.clone(),
        correlation_id: request.correlation_id.clone(),
        request_key: request.key.clone(),
        accepted_at: now,
        deadline_at: now + cluster.limits.validate_timeout,
        journal: vec![Entry { at: now, fact }],
        cancel: None,
        ended: None,
        wait: None,
        replacement: None,
    });
    Ok(Verdict::Accepted { operation: id })
}

fn refuse<T>(snapshot: &Snapshot, rule: Rule, evidence: Vec<String>, remedy: impl Into<String>) -> Result<T, Refusal> {
    let message = format!("the hardware of `{}` cannot be inspected", snapshot.cluster.name);
    Err(Refusal { rule, message, evidence, remedy: remedy.into() })
}

/// Those that are named, and those in racks that are named; all, if none is. Whoever is busy or not managed is left out, and named.
fn choose(snapshot: &Snapshot, machines: &[MachineName], racks: &[RackName]) -> Result<(Vec<MachineName>, Vec<String>), Refusal> {
    let known_racks: BTreeSet<&RackName> = snapshot.machines.values().map(|machine| &machine.hardware.rack).collect();
    let no_machine =
        machines.iter().filter(|name| !snapshot.machines.contains_key(*name)).map(|name| format!("there is no machine `{name}`"));
    let no_rack = racks.iter().filter(|name| !known_racks.contains(name)).map(|name| format!("there is no rack `{name}` with machines"));
    let unknown: Vec<String> = no_machine.chain(no_rack).take(NAMED_MAX).collect();
    if !unknown.is_empty() {
        return refuse(snapshot, Rule::MachineExists, unknown, "`rackwright bmm list` names machines and their racks");
    }
    let takes_all = machines.is_empty() && racks.is_empty();
    let mut chosen = Vec::new();
    let mut left_out = Vec::new();
    for machine in snapshot.machines.values() {
        if !takes_all && !machines.contains(&machine.name) && !racks.contains(&machine.hardware.rack) {
            continue;
        }
        match hindrance(snapshot, &machine.name) {
            None => chosen.push(machine.name.clone()),
            Some(why) => left_out.push(format!("`{}` {why}", machine.name)),
        }
    }
    Ok((chosen, left_out))
}

fn hindrance(snapshot: &Snapshot, name: &MachineName) -> Option<String> {
    let machine = snapshot.machines.get(name)?;
    if snapshot.undescribed.contains(name) {
        return Some("is no longer described in the site file".into());
    }
    if machine.management != Management::Managed {
        return Some("is not managed".into());
    }
    snapshot.running_on(name).map(|running| format!("is being {} (operation {})", running.action.participle(), running.id.short()))
}

/// Moves the inspection of the site on: validations that have room begin, and it ends with the last of them. Returns the machines
/// whose validation begins, or is cancelled with it.
pub(crate) fn plan_inspection(draft: &mut Draft, now: Timestamp) -> Vec<MachineName> {
    let site = Target::Site(draft.after.cluster.name.clone());
    let Some(running) = draft.after.running_for(&site) else { return Vec::new() };
    let mut operation = (**running).clone();
    let Some((machines, mut left_out)) = listed(&operation) else { return Vec::new() };
    let is_running = |snapshot: &Snapshot, name: &MachineName| {
        snapshot.operations.get(&child_id(&operation.id, name)).is_some_and(|child| child.is_running())
    };
    let mut at_work = machines.iter().filter(|name| is_running(&draft.after, name)).count();
    let mut begun = Vec::new();
    let mut waiting = 0;
    for name in &machines {
        let id = child_id(&operation.id, name);
        if draft.after.operations.contains_key(&id) || operation.cancel.is_some() {
            continue;
        }
        if at_work >= INSPECTED_AT_ONCE {
            waiting += 1;
            continue;
        }
        match hindrance(&draft.after, name) {
            None if draft.after.machines.contains_key(name) => {
                draft.save_operation(child_of(&operation, id, name, draft.after.cluster.limits.validate_timeout, now));
                begun.push(name.clone());
                at_work += 1;
            }
            Some(why) => left_out.push(format!("`{name}` {why}")),
            None => left_out.push(format!("`{name}` is gone")),
        }
    }
    if operation.cancel.is_some() {
        begun.extend(cancel_children(draft, &operation, &machines));
    }
    if at_work + waiting == 0 {
        end(&draft.after, &mut operation, &machines, &left_out, now);
    } else {
        let since = operation.accepted_at;
        let kind = WaitKind::Validations { left: at_work + waiting };
        operation.wait = Some(Wait { kind, since, expected_by: Some(operation.deadline_at) });
    }
    draft.save_operation(operation);
    begun
}

fn listed(operation: &Operation) -> Option<(Vec<MachineName>, Vec<String>)> {
    operation.journal.iter().find_map(|entry| match &entry.fact {
        Fact::Inspecting { machines, left_out } => Some((machines.clone(), left_out.clone())),
        _ => None,
    })
}

fn child_of(parent: &Operation, id: OperationId, machine: &MachineName, timeout: model::Span, now: Timestamp) -> Operation {
    Operation {
        id,
        target: Target::Machine(machine.clone()),
        action: Action::Validate,
        request_key: None,
        accepted_at: now,
        deadline_at: now + timeout,
        journal: vec![Entry { at: now, fact: Fact::Found { boot_id: None, provisioning: None } }],
        cancel: None,
        ended: None,
        wait: None,
        replacement: None,
        ..parent.clone()
    }
}

fn cancel_children(draft: &mut Draft, parent: &Operation, machines: &[MachineName]) -> Vec<MachineName> {
    let mut cancelled = Vec::new();
    for name in machines {
        let Some(child) = draft.after.operations.get(&child_id(&parent.id, name)).filter(|child| child.is_running()) else { continue };
        if child.cancel.is_none() {
            let child = Operation { cancel: parent.cancel.clone(), ..(**child).clone() };
            draft.save_operation(child);
            cancelled.push(name.clone());
        }
    }
    cancelled
}

/// The id of the validation of a machine in an inspection: always the same, and like no other's. In the form of other ids.
fn child_id(parent: &OperationId, machine: &MachineName) -> OperationId {
    // FNV-1a, twice, from two beginnings: it need not withstand an enemy, for the parent's id is not theirs to choose.
    let hash = |seed: u64| {
        let text = format!("{parent}/{}", machine.key());
        text.bytes().fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    };
    let (a, b) = (hash(0xcbf2_9ce4_8422_2325), hash(0x9ae1_6a3b_2f90_404f));
    OperationId::new(format!("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", a >> 32, (a >> 16) & 0xffff, a & 0xffff, b >> 48, b & 0xffff_ffff_ffff))
}

fn end(snapshot: &Snapshot, operation: &mut Operation, machines: &[MachineName], left_out: &[String], now: Timestamp) {
    let children = machines.iter().filter_map(|name| Some((name, snapshot.operations.get(&child_id(&operation.id, name))?)));
    let (mut passed, mut failed, mut unknown) = (0_usize, Vec::new(), Vec::new());
    for (name, child) in children {
        match result_of(child) {
            Some((ValidationResult::Pass, _)) => passed += 1,
            Some((ValidationResult::Fail, _)) => failed.push(name.clone()),
            None => unknown.push(name.clone()),
        }
    }
    let mut message =
        if passed == 1 { "1 machine is as it should be".to_owned() } else { format!("{passed} machines are as they should be") };
    for (names, what) in [(&failed, "not"), (&unknown, "could not be validated")] {
        if !names.is_empty() {
            message.push_str(&format!("; {} {what}: {}", names.len(), named(names)));
        }
    }
    if !left_out.is_empty() {
        message.push_str(&format!("; left out: {}", named(left_out)));
    }
    let result = if operation.cancel.is_some() { OperationResult::Canceled } else { OperationResult::Succeeded };
    let next = failed.first().or(unknown.first()).map(|name| format!("rackwright bmm show {name}"));
    if result == OperationResult::Succeeded {
        operation.journal.push(Entry { at: now, fact: Fact::Seen { step: StepKind::InspectMachines } });
    }
    operation.journal.push(Entry { at: now, fact: Fact::Inspected { passed, failed, unknown } });
    operation.wait = None;
    operation.ended = Some(Ended { at: now, result, message, next, failure: None });
}

fn named(names: &[impl ToString]) -> String {
    let mut said = names.iter().take(NAMED_MAX).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if names.len() > NAMED_MAX {
        said.push_str(&format!(" and {} more", names.len() - NAMED_MAX));
    }
    said
}
