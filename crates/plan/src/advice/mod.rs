//! What to do about a machine that is not well: the next rung of the ladder, from what is seen of it and from what was tried.
//!
//! Restart, then reimage, then replace, then support: the least invasive first, each only once, and none that could not help.

mod commands;
mod parts;
mod symptom;
mod tried;

use model::{
    Action, Advice, Machine, MachineName, OperationResult, Outage, Provisioning, Refusal, Remedy, RepairedPart, ReplaceNeed, Role, Rule,
    Safeguard, StoragePolicy, Symptom, Timestamp, Tried,
};

use crate::guard::{Guarded, being_done};
use crate::snapshot::Snapshot;

pub(crate) use parts::{storage_unknown, storage_warnings};

/// What to do about a machine. What is repaired may be named more than once, as two drives are.
pub fn advise(
    snapshot: &Snapshot,
    name: &MachineName,
    symptom: Option<Symptom>,
    repaired: &[RepairedPart],
    now: Timestamp,
) -> Option<Advice> {
    let machine = snapshot.machines.get(name)?;
    let seen = symptom::observe(snapshot, machine);
    let told = symptom.or((!repaired.is_empty()).then_some(Symptom::Hardware));
    let symptom = told.or(seen.symptom);
    let mut because = seen.evidence;
    let tried = tried::on(snapshot, machine, seen.since, now);
    let need = parts::need(repaired);
    // A part that was repaired since is brought back by another replace, however well the one before went.
    let counting: Vec<Tried> =
        tried.iter().filter(|tried| repaired.is_empty() || tried.result == OperationResult::Failed).cloned().collect();
    let rungs = rungs(machine, symptom, &counting, &mut because);
    let (next, then) = match (snapshot.running_on(name), rungs.split_first()) {
        (Some(running), _) => {
            because.insert(0, being_done(running));
            (Remedy::Wait, rungs)
        }
        (None, _) if is_switched_off(machine) && told.is_none() => {
            because.insert(0, "a person switched it off".into());
            (Remedy::Start, rungs)
        }
        (None, _) if need == Some(ReplaceNeed::Unnecessary) && !must_be_replaced(machine) => {
            because.insert(0, "the repair needs no replace: the machine goes on as before".into());
            (Remedy::Nothing, rungs)
        }
        (None, Some((next, then))) => (*next, then.to_vec()),
        (None, None) => (Remedy::Nothing, Vec::new()),
    };
    let storage = (next == Remedy::Replace).then(|| parts::storage(snapshot, machine, repaired, now));
    let policy = storage.as_ref().map_or(StoragePolicy::DiscardAll, |storage| storage.policy);
    let manner = manner(snapshot, machine, next, policy, now);
    Some(Advice {
        machine: name.clone(),
        symptom,
        next,
        because,
        tried,
        then,
        parts: parts::advice(repaired),
        replace: need,
        storage,
        warnings: warnings(machine, next),
        commands: commands::of(snapshot, machine, next, manner, repaired),
        against: against(snapshot, machine, next, manner, now),
    })
}

/// How the next action is asked for, so that it is not refused for what is on the machine.
#[derive(Clone, Copy, Debug)]
struct Manner {
    storage: StoragePolicy,
    /// Whether the machine is emptied before, by a command of its own. One that does not answer cannot be.
    evacuates: bool,
    safeguard: Safeguard,
}

fn manner(snapshot: &Snapshot, machine: &Machine, next: Remedy, storage: StoragePolicy, now: Timestamp) -> Manner {
    let action = Action::Reimage { safeguard: Safeguard::All };
    let guarded = Guarded { snapshot, machine, action, outage: Outage::Refused, now };
    let is_in_use = matches!(next, Remedy::Reimage | Remedy::Replace) && guarded.no_workloads(Safeguard::All).is_err();
    let is_refused = match next {
        Remedy::Reimage => is_in_use && !machine.is_ready(),
        // A machine that nobody sees may serve: what speaks against a replace is told, and not overridden.
        Remedy::Replace => guarded.is_seen_well(),
        _ => false,
    };
    let safeguard = if is_refused { Safeguard::None } else { Safeguard::All };
    Manner { storage, evacuates: is_in_use && machine.is_ready(), safeguard }
}

/// Off by a person's wish, with a system that could be started.
fn is_switched_off(machine: &Machine) -> bool {
    let has_system = machine.unhealthy.is_none() && machine.provisioning == Provisioning::Provisioned;
    has_system && machine.holds.iter().any(|hold| hold.owner.is_powered_off())
}

/// Only a replace brings a machine back that was given up.
fn must_be_replaced(machine: &Machine) -> bool {
    machine.unhealthy.is_some()
}

/// The rungs that are left, the last of them always support.
fn rungs(machine: &Machine, symptom: Option<Symptom>, tried: &[Tried], because: &mut Vec<String>) -> Vec<Remedy> {
    let Some(symptom) = symptom else { return Vec::new() };
    let ladder: &[Remedy] = match symptom {
        _ if must_be_replaced(machine) => &[Remedy::Replace],
        Symptom::Unresponsive => &[Remedy::Restart, Remedy::Reimage, Remedy::Replace],
        Symptom::OsCorruption | Symptom::Security => &[Remedy::Reimage, Remedy::Replace],
        Symptom::Hardware => &[Remedy::Replace],
        // What a replace has begun, with its volumes and its hardware, only a replace completes.
        Symptom::StuckProvisioning if tried.first().is_some_and(|latest| latest.action == Remedy::Replace) => &[Remedy::Replace],
        Symptom::StuckProvisioning => &[Remedy::Restart, Remedy::Reimage],
    };
    if let Some(latest) = tried.first().filter(|latest| latest.result == OperationResult::Failed && !latest.counts) {
        let (action, at) = (latest.action, latest.at.clock());
        because.push(format!("{action} failed at {at}, and may be tried again when this is mended: {}", reason(latest)));
    }
    let mut left = Vec::new();
    for rung in ladder {
        if let Some(tried) = tried.iter().find(|tried| tried.counts && tried.action == *rung) {
            because.push(match tried.result {
                OperationResult::Failed => format!("{rung} was tried at {} and failed: {}", tried.at.dated(), reason(tried)),
                _ => format!("{rung} was tried at {} and did not help", tried.at.dated()),
            });
        } else if *rung == Remedy::Restart && machine.provisioning != Provisioning::Provisioned {
            because.push(format!("restart is of no use: it is {:?}, and has no system to start", machine.provisioning));
        } else {
            left.push(*rung);
        }
    }
    left.push(Remedy::Support);
    left
}

/// Why it failed, without what it left behind.
fn reason(tried: &Tried) -> &str {
    let told = tried.message.split(". Left behind: ").next().unwrap_or_default();
    told.split_once(" failed: ").map_or(told, |(_, reason)| reason)
}

fn warnings(machine: &Machine, next: Remedy) -> Vec<String> {
    let acts = matches!(next, Remedy::Restart | Remedy::Reimage | Remedy::Replace);
    let mut warnings = Vec::new();
    match machine.role {
        Role::ControlPlane if acts => {
            warnings.push("it is a control-plane machine: one at a time, and only while the others are well".into());
        }
        Role::Management if acts => warnings.push("it is a management server: consult support before you act on it".into()),
        _ => {}
    }
    if next == Remedy::Replace {
        warnings.push("repair all failed parts first: one replace after all repairs; and no reimage right after it".into());
    }
    warnings
}

/// What speaks against the next action now, asked for as its command says. What is on a machine that is emptied before does not.
fn against(snapshot: &Snapshot, machine: &Machine, next: Remedy, manner: Manner, now: Timestamp) -> Option<Refusal> {
    let emptied = if manner.evacuates { Safeguard::None } else { manner.safeguard };
    let action = match next {
        Remedy::Start => Action::Start,
        Remedy::Restart => Action::Restart,
        Remedy::Reimage => Action::Reimage { safeguard: emptied },
        Remedy::Replace => Action::Replace { storage: manner.storage, safeguard: manner.safeguard },
        Remedy::Nothing | Remedy::Wait | Remedy::Support => return None,
    };
    let guarded = Guarded { snapshot, machine, action, outage: Outage::Refused, now };
    let refusal = guarded.check(None).and_then(|()| guarded.may_install_by_looks()).err();
    // Whether etcd has been asked is seen to when the request comes.
    refusal.filter(|refusal| refusal.rule != Rule::EtcdKnown)
}
