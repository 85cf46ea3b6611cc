//! The volumes of a machine that is replaced: all gone, one after the other, and one made for the system; or left alone.

use model::{
    Action, Delivery, DeviceAsk, Fact, Failure, FaultClass, Found, LookAt, Operation, Party, StoragePolicy, VolumeSeen, Wait, WaitKind,
};

use super::attempt::of_step;
use super::insist::insist;
use super::looking::{look, look_again, settled_since, unanswered};
use super::power::stay_off;
use crate::asking::{Asked, ask_or_wait, asked};
use crate::operate::{Bench, Finding};

/// How often the deletion of a volume is tried.
const DELETION_TRIES: usize = 2;

/// The machine is off, and no earlier request can switch it off once more.
pub(super) fn await_off(bench: &Bench<'_>) -> Finding {
    match stay_off(bench) {
        Ok(()) => Finding::Done,
        Err(finding) => finding,
    }
}

pub(super) fn discard(bench: &Bench<'_>) -> Finding {
    if !matches!(bench.operation.action, Action::Replace { storage: StoragePolicy::DiscardAll, .. }) {
        return Finding::Skip("the storage policy is Preserve".into());
    }
    let seen = match seen(bench) {
        Ok(seen) => seen,
        Err(finding) => return finding,
    };
    match seen {
        None => Finding::Skip("the BMC has no volumes to offer, so none was discarded".into()),
        Some([]) => Finding::Done,
        Some([first, ..]) => delete(bench, first),
    }
}

/// Which volume is about to go is written down first: an ask does not say it.
pub(super) fn note_discarding(bench: &Bench<'_>) -> Option<Fact> {
    let first = seen(bench).ok()??.first()?;
    let is_noted = discarding(bench.operation).is_some_and(|(_, path)| path == first.path);
    let discards = matches!(bench.operation.action, Action::Replace { storage: StoragePolicy::DiscardAll, .. });
    (discards && !is_noted).then(|| Fact::Discarding { path: first.path.clone(), name: first.name.clone() })
}

/// The volume that is being deleted, and where the journal says so.
pub(super) fn discarding(operation: &Operation) -> Option<(usize, &str)> {
    operation.journal.iter().enumerate().rev().find_map(|(at, entry)| match &entry.fact {
        Fact::Discarding { path, .. } => Some((at, path.as_str())),
        _ => None,
    })
}

fn delete(bench: &Bench<'_>, volume: &VolumeSeen) -> Finding {
    let tries = tries(bench.operation);
    if tries == 0 {
        return Finding::Ask(DeviceAsk::DeleteVolume);
    }
    match asked(bench, DeviceAsk::DeleteVolume) {
        Asked::UnderWay => ask_or_wait(bench, DeviceAsk::DeleteVolume),
        Asked::Pending { until } if bench.now < until => look_again(bench, LookAt::Volumes, going(bench, tries), until),
        _ if tries >= DELETION_TRIES => undeletable(bench, volume),
        Asked::Refused { again_at, .. } if bench.now < again_at => ask_or_wait(bench, DeviceAsk::DeleteVolume),
        _ => Finding::Ask(DeviceAsk::DeleteVolume),
    }
}

/// The wait for the present volume to go: those before it went by requests of their own.
fn going(bench: &Bench<'_>, tries: usize) -> Wait {
    let since = discarding(bench.operation).map_or(bench.now, |(at, _)| bench.operation.journal[at].at);
    let attempt = u32::try_from(tries).unwrap_or(u32::MAX);
    let kind = WaitKind::Effect { of: DeviceAsk::DeleteVolume, attempt };
    Wait { kind, since, expected_by: Some(since + bench.limits.volume_settle) }
}

/// How often the present volume's deletion was asked for, but for what did not reach the BMC.
fn tries(operation: &Operation) -> usize {
    let since = discarding(operation).map_or(0, |(at, _)| at);
    let was_lost = |attempt| {
        let fault = operation.fault_of(DeviceAsk::DeleteVolume, attempt);
        fault.is_some_and(|(_, fault)| fault.class == FaultClass::Unreachable && fault.delivery == Delivery::No)
    };
    let asks = operation.journal.iter().skip(since);
    asks.filter(|entry| matches!(entry.fact, Fact::Asked { ask: DeviceAsk::DeleteVolume, attempt } if !was_lost(attempt))).count()
}

fn undeletable(bench: &Bench<'_>, volume: &VolumeSeen) -> Finding {
    let said = of_step(bench.operation).iter().rev().find_map(|entry| match &entry.fact {
        Fact::Faulted { ask: DeviceAsk::DeleteVolume, fault, .. } => Some(format!("the BMC said: {fault}")),
        _ => None,
    });
    let said = said.unwrap_or_else(|| "the BMC took it, and nothing came of it".to_owned());
    let name = &volume.name;
    let because = format!("RAID cleanup failed with: raid deletion failed after {DELETION_TRIES} attempts (volume `{name}`; {said})");
    Finding::Fail { failure: Failure::StorageFailed, because }
}

/// A volume for the system is made only if there is none at all: what is there may be a tenant's, or the system's own.
pub(super) fn make_os_volume(bench: &Bench<'_>) -> Finding {
    let seen = match seen(bench) {
        Ok(seen) => seen,
        Err(finding) => return finding,
    };
    match seen {
        None => Finding::Skip("the BMC has no volumes to offer: the system goes to a drive".into()),
        Some([]) => match insist(bench, DeviceAsk::MakeOsVolume, LookAt::Volumes, "there is no volume yet") {
            // Whoever has drives and no controller that could combine them says so by not knowing how.
            Finding::Fail { failure: Failure::DeviceUnsupported, .. } => {
                Finding::Skip("the controller makes no volumes: the system goes to a drive".into())
            }
            Finding::Fail { because, .. } => Finding::Fail { failure: Failure::StorageFailed, because },
            other => other,
        },
        Some(_) => Finding::Done,
    }
}

/// The volumes of a machine that is off, after all that was asked in this step; nothing if the BMC has none to offer.
fn seen<'a>(bench: &'a Bench<'_>) -> Result<Option<&'a [VolumeSeen]>, Finding> {
    stay_off(bench)?;
    if let Some(finding) = unanswered(bench, Party::Bmc) {
        return Err(finding);
    }
    match look(bench, LookAt::Volumes, settled_since(bench, Party::Bmc)) {
        Ok(Found::Volumes(seen)) => Ok(seen.volumes.as_deref()),
        Ok(_) => Ok(None),
        Err(finding) if super::looking::says_never(&finding) => Ok(None),
        Err(finding) => Err(finding),
    }
}
