//! Which disk the system goes to: one that the site file names, a volume of the controller, or a drive; and which data disks the agent
//! wipes. Both are settled, and written down, before anything is touched.

use model::{
    Action, Fact, Failure, Found, Inspection, LookAt, OS_VOLUME, Operation, OsTarget, Power, Sku, StoragePolicy, VolumeSeen, WaitKind,
    is_same_disk,
};

use super::login;
use super::looking::{look, says_never};
use crate::evacuate::counted_from;
use crate::operate::{Bench, Finding};

pub(super) fn note(bench: &Bench<'_>) -> Option<Fact> {
    if bench.operation.system_disk().is_some() || login::refused(bench).is_some() {
        return None;
    }
    find(bench).ok().map(|Choice { disk, wipe }| Fact::SystemDisk { disk, wipe })
}

/// The disk that was settled; a keeper of before wrote down none, and meant this one.
pub(super) fn of(operation: &Operation) -> OsTarget {
    operation.system_disk().cloned().unwrap_or_else(|| OsTarget::volume(OS_VOLUME))
}

/// What becomes of the disks of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub disk: OsTarget,
    /// Data disks that the agent wipes.
    pub wipe: Vec<String>,
}

/// The disks as the site file and the machine's SKU name them; else why the system could not go there. What is not known for certain is
/// left to the agent to find out: it writes to no other disk.
pub(super) fn find(bench: &Bench<'_>) -> Result<Choice, Finding> {
    let disk = find_system_disk(bench)?;
    let wipe = find_wiped(bench, &disk)?;
    Ok(Choice { disk, wipe })
}

fn find_system_disk(bench: &Bench<'_>) -> Result<OsTarget, Finding> {
    if let Some(id) = &bench.machine.install.os_disk {
        let disk = OsTarget::disk(id);
        let volumes = if discards_all(bench) { told_volumes(bench)?.listed() } else { &[] };
        let doomed = volumes.iter().find_map(|volume| why_kept(bench, &disk, volume));
        return doomed.map_or(Ok(disk), |why| Err(untouched(&why)));
    }
    let sku = sku_of(bench);
    if let Some(bay) = sku.and_then(|sku| sku.os_drive) {
        return drive_in(bench, bay).map(OsTarget::drive);
    }
    let name = sku.and_then(|sku| sku.os_volume.clone()).unwrap_or_else(|| OS_VOLUME.to_owned());
    let wwn = expect_volume(bench, &name)?;
    Ok(OsTarget { wwn, ..OsTarget::volume(name) })
}

/// The data disks that the agent wipes: those that the site file lists, but for volumes, which the controller deletes, so that the
/// agent would look for them in vain.
fn find_wiped(bench: &Bench<'_>, disk: &OsTarget) -> Result<Vec<String>, Finding> {
    let listed = &bench.machine.install.data_disks;
    if listed.is_empty() || !discards_all(bench) {
        return Ok(Vec::new());
    }
    let volumes = told_volumes(bench)?;
    let is_volume = |id: &str| volumes.listed().iter().filter_map(|volume| volume.wwn.as_ref()).any(|wwn| is_same_disk(wwn, id));
    let wipe: Vec<String> = listed.iter().filter(|id| !is_volume(id)).cloned().collect();
    match wipe.iter().find(|id| disk.is_called(id)) {
        Some(id) => {
            Err(untouched(&format!("the system goes to {disk}, and the site file lists `{id}` as a data disk to wipe (`data-disks`)")))
        }
        None => Ok(wipe),
    }
}

/// Why a volume is not deleted though all are to be: the site file sends the system to it, or may do so.
pub(super) fn why_kept(bench: &Bench<'_>, disk: &OsTarget, volume: &VolumeSeen) -> Option<String> {
    let id = disk.id.as_ref().filter(|_| discards_all(bench))?;
    let name = &volume.name;
    match &volume.wwn {
        Some(wwn) if !is_same_disk(wwn, id) => None,
        Some(_) => Some(format!(
            "the site file sends the system to disk `{id}`, which is volume `{name}`, and `DiscardAll` would delete that: \
             leave `os-disk` out, or replace with `Preserve`"
        )),
        None => Some(format!(
            "the site file sends the system to disk `{id}`; the BMC does not tell the WWN of volume `{name}`, so it may be that one, \
             and `DiscardAll` would delete it: replace with `Preserve`"
        )),
    }
}

fn sku_of<'a>(bench: &'a Bench<'_>) -> Option<&'a Sku> {
    bench.snapshot.cluster.skus.iter().find(|sku| sku.name.eq_ignore_ascii_case(&bench.machine.hardware.sku))
}

pub(super) fn discards_all(bench: &Bench<'_>) -> bool {
    matches!(bench.operation.action, Action::Replace { storage: StoragePolicy::DiscardAll, .. })
}

pub(super) fn is_called(volume: &VolumeSeen, name: &str) -> bool {
    volume.name.eq_ignore_ascii_case(name)
}

/// What a BMC says of its volumes before anything is touched.
enum Told<'a> {
    /// It has not answered in time.
    Nothing,
    /// It has none to offer.
    NotOffered,
    Listed(&'a [VolumeSeen]),
}

impl<'a> Told<'a> {
    fn listed(&self) -> &'a [VolumeSeen] {
        if let Told::Listed(volumes) = self { volumes } else { &[] }
    }
}

fn told_volumes<'a>(bench: &'a Bench<'_>) -> Result<Told<'a>, Finding> {
    match look(bench, LookAt::Volumes, bench.operation.accepted_at) {
        Ok(Found::Volumes(seen)) => Ok(seen.volumes.as_deref().map_or(Told::NotOffered, Told::Listed)),
        Ok(_) => Ok(Told::NotOffered),
        Err(finding) if says_never(&finding) => Ok(Told::NotOffered),
        Err(finding) if is_fault(&finding) && is_long_ago(bench) => Ok(Told::Nothing),
        Err(finding) => Err(finding),
    }
}

/// A volume that is not there is no place for a system. One that can be made is; and a BMC may know of volumes only while its machine
/// is on, or never tell. Comes to the WWN of the volume that is there to stay, where the BMC tells it.
fn expect_volume(bench: &Bench<'_>, name: &str) -> Result<Option<String>, Finding> {
    let listed = match told_volumes(bench)? {
        Told::Nothing => return Ok(None),
        Told::NotOffered => None,
        Told::Listed(volumes) => Some(volumes),
    };
    let is_on = match bench.sight.power(bench.operation.accepted_at, bench.now) {
        Ok(power) => power == Power::On,
        Err(wait) if !is_long_ago(bench) => return Err(Finding::wait(wait)),
        Err(_) => false,
    };
    match listed {
        None if is_on => Err(untouched("the BMC has no volumes to offer, and its SKU names no drive (`os-drive`) for the system")),
        Some([]) if is_on && !discards_all(bench) => {
            Err(untouched(&format!("the system goes to volume `{name}`, and the BMC lists no volume at all; {}", how_to_have(bench))))
        }
        Some(volumes @ [_, ..]) if !discards_all(bench) && !volumes.iter().any(|volume| is_called(volume, name)) => {
            Err(untouched(&format!("the system goes to volume `{name}`, and there is only {}; {}", named(volumes), how_to_have(bench))))
        }
        Some(volumes) if !discards_all(bench) => {
            Ok(volumes.iter().find(|volume| is_called(volume, name)).and_then(|volume| volume.wwn.clone()))
        }
        _ => Ok(None),
    }
}

/// Nobody is kept waiting for ever by a BMC that tells one thing and not another.
fn is_long_ago(bench: &Bench<'_>) -> bool {
    bench.now >= counted_from(bench.operation, bench.operation.accepted_at) + bench.limits.expected_validation
}

pub(super) fn is_fault(finding: &Finding) -> bool {
    let (Finding::Wait { wait, .. } | Finding::Look { wait, .. }) = finding else { return false };
    matches!(wait.kind, WaitKind::Device { .. })
}

pub(super) fn named(volumes: &[VolumeSeen]) -> String {
    volumes.iter().map(|volume| format!("`{}`", volume.name)).collect::<Vec<_>>().join(", ")
}

/// Nothing but a replace with `DiscardAll` makes a volume: drives that no volume is listed on may hold tenants' data all the same.
pub(super) fn how_to_have(bench: &Bench<'_>) -> &'static str {
    match bench.operation.action {
        Action::Replace { .. } => {
            "`Preserve` makes none, because the drives may hold data: import the controller's foreign configuration, or make the volume by hand"
        }
        _ => "name the right one in the SKU (`os-volume`), or make it by hand",
    }
}

/// The serial number of the drive in a bay: drives move, and what the host calls them tells nothing of bays.
fn drive_in(bench: &Bench<'_>, bay: u32) -> Result<String, Finding> {
    let of_bay = |inspection: &Inspection| {
        let drive = inspection.drives.told()?.iter().find(|drive| drive.bay == bay)?;
        drive.serial.clone().filter(|serial| !serial.is_empty())
    };
    let serial = match look(bench, LookAt::Hardware, bench.operation.accepted_at) {
        Ok(Found::Hardware(inspection)) => of_bay(inspection),
        Ok(_) => None,
        Err(finding) if says_never(&finding) => None,
        Err(finding) => return Err(finding),
    };
    serial.ok_or_else(|| untouched(&format!("the system goes to the drive in bay {bay}, and the BMC tells no serial number of one there")))
}

fn untouched(because: &str) -> Finding {
    Finding::Fail { failure: Failure::InstallFailed, because: format!("{because}; nothing was touched") }
}
