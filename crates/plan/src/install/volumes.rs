//! The volumes of a machine that is replaced: all gone, one after the other, and one made for the system; or left alone.

use model::{
    Delivery, DeviceAsk, DriveSeen, Fact, Failure, FaultClass, Found, LookAt, Operation, OsTarget, PartHealth, Party, VolumeSeen, Wait,
    WaitKind,
};

use super::attempt::of_step;
use super::insist::insist;
use super::looking::{look, look_again, settled_since, unanswered};
use super::power::stay_off;
use super::target::{self, discards_all, is_called};
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
    if !discards_all(bench) {
        return Finding::Skip("the storage policy is Preserve".into());
    }
    let seen = match seen(bench) {
        Ok(seen) => seen,
        Err(finding) => return finding,
    };
    match seen {
        None => Finding::Skip(undiscarded(bench.operation)),
        Some([]) => Finding::Done,
        Some([first, ..]) => match need_room(bench) {
            Ok(()) => target::why_kept(bench, &target::of(bench.operation), first).map_or_else(|| delete(bench, first), failed),
            Err(finding) => finding,
        },
    }
}

fn undiscarded(operation: &Operation) -> String {
    match operation.disks().map_or(0, |(_, wipe)| wipe.len()) {
        0 => "the BMC has no volumes to offer, so none was discarded".into(),
        1 => "the BMC has no volumes to offer; the agent wipes 1 data disk".into(),
        count => format!("the BMC has no volumes to offer; the agent wipes {count} data disks"),
    }
}

/// Which volume is about to go is written down first: an ask does not say it.
pub(super) fn note_discarding(bench: &Bench<'_>) -> Option<Fact> {
    let first = seen(bench).ok()??.first()?;
    // Where volumes are numbered by their place the next one takes the path of the one that has gone.
    let is_noted = discarding(bench.operation).is_some_and(|volume| (volume.path, volume.name) == (&first.path, &first.name));
    let is_kept = target::why_kept(bench, &target::of(bench.operation), first).is_some();
    (discards_all(bench) && !is_noted && !is_kept && need_room(bench).is_ok())
        .then(|| Fact::Discarding { path: first.path.clone(), name: first.name.clone() })
}

/// The volume that is being deleted.
pub(super) struct Discarding<'a> {
    /// Where the journal says so.
    at: usize,
    pub path: &'a str,
    name: &'a str,
}

pub(super) fn discarding(operation: &Operation) -> Option<Discarding<'_>> {
    operation.journal.iter().enumerate().rev().find_map(|(at, entry)| match &entry.fact {
        Fact::Discarding { path, name } => Some(Discarding { at, path, name }),
        _ => None,
    })
}

fn delete(bench: &Bench<'_>, volume: &VolumeSeen) -> Finding {
    let tries = tries(bench.operation);
    if deletions(bench.operation).next().is_none() {
        return Finding::Ask(DeviceAsk::DeleteVolume);
    }
    match asked(bench, DeviceAsk::DeleteVolume) {
        Asked::UnderWay => ask_or_wait(bench, DeviceAsk::DeleteVolume),
        Asked::Pending { until } if bench.now < until => look_again(bench, LookAt::Volumes, going(bench, tries), until),
        _ if tries >= DELETION_TRIES => undeletable(bench, volume),
        Asked::Refused { again_at, .. } if bench.now < again_at => ask_or_wait(bench, DeviceAsk::DeleteVolume),
        // It may have gone meanwhile: a controller that was busy was perhaps at work on just this.
        Asked::Refused { again_at, .. } => {
            look(bench, LookAt::Volumes, again_at).map_or_else(|finding| finding, |_| Finding::Ask(DeviceAsk::DeleteVolume))
        }
        _ => Finding::Ask(DeviceAsk::DeleteVolume),
    }
}

/// The wait for the present volume to go: those before it went by requests of their own.
fn going(bench: &Bench<'_>, tries: usize) -> Wait {
    let since = discarding(bench.operation).map_or(bench.now, |discarding| bench.operation.journal[discarding.at].at);
    let attempt = u32::try_from(tries).unwrap_or(u32::MAX);
    let kind = WaitKind::Effect { of: DeviceAsk::DeleteVolume, attempt };
    Wait { kind, since, expected_by: Some(since + bench.limits.volume_settle) }
}

/// How often the present volume's deletion was asked for, but for what did not reach the BMC, or found the controller at work: perhaps
/// on just this.
fn tries(operation: &Operation) -> usize {
    let was_lost = |attempt| {
        let fault = operation.fault_of(DeviceAsk::DeleteVolume, attempt);
        let is_passing = |class| matches!(class, FaultClass::Unreachable | FaultClass::Busy);
        fault.is_some_and(|(_, fault)| is_passing(fault.class) && fault.delivery == Delivery::No)
    };
    deletions(operation).filter(|attempt| !was_lost(*attempt)).count()
}

/// The requests for the present volume's deletion.
fn deletions(operation: &Operation) -> impl Iterator<Item = u32> {
    let since = discarding(operation).map_or(0, |volume| volume.at);
    operation.journal.iter().skip(since).filter_map(|entry| match entry.fact {
        Fact::Asked { ask: DeviceAsk::DeleteVolume, attempt } => Some(attempt),
        _ => None,
    })
}

fn undeletable(bench: &Bench<'_>, volume: &VolumeSeen) -> Finding {
    let said = of_step(bench.operation).iter().rev().find_map(|entry| match &entry.fact {
        Fact::Faulted { ask: DeviceAsk::DeleteVolume, fault, .. } => Some(format!("the BMC said: {fault}")),
        _ => None,
    });
    let said = said.unwrap_or_else(|| "the BMC took it, and nothing came of it".to_owned());
    let name = &volume.name;
    let because = format!("RAID cleanup failed with: raid deletion failed after {DELETION_TRIES} attempts (volume `{name}`; {said})");
    failed(because)
}

/// A volume for the system is made only where all that was there has been discarded: drives without a volume may hold data all the
/// same.
pub(super) fn make_os_volume(bench: &Bench<'_>) -> Finding {
    let disk = target::of(bench.operation);
    let Some(name) = &disk.volume else { return Finding::Skip(format!("the system goes to {disk}")) };
    let seen = match seen(bench) {
        Ok(seen) => seen,
        Err(finding) => return finding,
    };
    match seen {
        Some(volumes) if volumes.iter().any(|volume| is_called(volume, name)) => Finding::Done,
        // A BMC may list volumes only while its machine is on. The agent writes to no other disk, and says so if there is none.
        None | Some([]) if !discards_all(bench) => {
            Finding::Skip(format!("the BMC lists no volumes while the machine is off; the agent looks for `{name}`"))
        }
        _ if !discards_all(bench) => failed(format!("there is no volume `{name}` for the system: {}", target::how_to_have(bench))),
        None => failed("the BMC has no volumes to offer, so none can be made for the system: name a drive in its SKU (`os-drive`)".into()),
        Some([]) => match insist(bench, DeviceAsk::MakeOsVolume, LookAt::Volumes, "there is no volume yet") {
            Finding::Fail { because, .. } => failed(format!("the system has no volume: {because}")),
            other => other,
        },
        Some(others) => {
            let others = target::named(others);
            failed(format!("volume `{name}` was to be made for the system, and there is {others}: name it in the SKU (`os-volume`)"))
        }
    }
}

/// The WWN of the volume for the system, once it is there to stay: the agent cannot see the names of volumes.
pub(super) fn note_os_volume(bench: &Bench<'_>) -> Option<Fact> {
    let (disk, wipe) = bench.operation.disks()?;
    let name = disk.volume.as_deref()?;
    let wwn = seen(bench).ok()??.iter().find(|volume| is_called(volume, name))?.wwn.clone();
    let is_news = wwn.is_some() && wwn != disk.wwn;
    is_news.then(|| Fact::SystemDisk { disk: OsTarget { wwn, ..disk.clone() }, wipe: wipe.to_vec() })
}

/// Two drives for the system's volume are looked for while there is still something to lose. Which controller has them is not known
/// here, so that there are two does not prove that the volume can be made.
fn need_room(bench: &Bench<'_>) -> Result<(), Finding> {
    let Some(name) = target::of(bench.operation).volume.filter(|_| discarding(bench.operation).is_none()) else { return Ok(()) };
    let drives = match look(bench, LookAt::Hardware, bench.operation.accepted_at) {
        Ok(Found::Hardware(inspection)) => inspection.drives.told(),
        Ok(_) => None,
        Err(finding) if target::is_fault(&finding) => None,
        Err(finding) => return Err(finding),
    };
    let Some(drives) = drives.filter(|drives| !drives.is_empty()) else { return Ok(()) };
    let is_well = |drive: &DriveSeen| drive.health.is_none_or(|health| health == PartHealth::Ok) && !drive.failure_predicted;
    let fit = drives.iter().filter(|drive| is_well(drive) && drive.kind.as_deref() == Some("SSD"));
    let mut sizes: Vec<u64> = fit.filter_map(|drive| drive.capacity_gb).collect();
    sizes.sort_unstable();
    if sizes.windows(2).any(|pair| pair[0] == pair[1]) {
        return Ok(());
    }
    Err(failed(format!("volume `{name}` for the system needs two well SSDs of one size, and there are none; no volume was deleted")))
}

fn failed(because: String) -> Finding {
    Finding::Fail { failure: Failure::StorageFailed, because }
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
