//! Which disk the system goes to: a volume of the controller, or a drive. It is settled, and written down, before anything is touched.

use model::{
    Action, Fact, Failure, Found, Inspection, LookAt, OS_VOLUME, Operation, OsTarget, Power, Sku, StoragePolicy, VolumeSeen, WaitKind,
};

use super::login;
use super::looking::{look, says_never};
use crate::evacuate::counted_from;
use crate::operate::{Bench, Finding};

pub(super) fn note(bench: &Bench<'_>) -> Option<Fact> {
    if bench.operation.system_disk().is_some() || login::refused(bench).is_some() {
        return None;
    }
    find(bench).ok().map(|disk| Fact::SystemDisk { disk })
}

/// The disk that was settled; a keeper of before wrote down none, and meant this one.
pub(super) fn of(operation: &Operation) -> OsTarget {
    operation.system_disk().cloned().unwrap_or_else(|| OsTarget::volume(OS_VOLUME))
}

/// The disk that the machine's SKU names; else why the system could not go there. What is not known for certain is left to the agent
/// to find out: it writes to no other disk.
pub(super) fn find(bench: &Bench<'_>) -> Result<OsTarget, Finding> {
    let sku = sku_of(bench);
    if let Some(bay) = sku.and_then(|sku| sku.os_drive) {
        return drive_in(bench, bay).map(OsTarget::drive);
    }
    let name = sku.and_then(|sku| sku.os_volume.clone()).unwrap_or_else(|| OS_VOLUME.to_owned());
    expect_volume(bench, &name)?;
    Ok(OsTarget::volume(name))
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

/// A volume that is not there is no place for a system. One that can be made is; and a BMC may know of volumes only while its machine
/// is on, or never tell.
fn expect_volume(bench: &Bench<'_>, name: &str) -> Result<(), Finding> {
    let listed = match look(bench, LookAt::Volumes, bench.operation.accepted_at) {
        Ok(Found::Volumes(seen)) => seen.volumes.as_deref(),
        Ok(_) => None,
        Err(finding) if says_never(&finding) => None,
        Err(finding) if is_fault(&finding) && is_long_ago(bench) => return Ok(()),
        Err(finding) => return Err(finding),
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
        _ => Ok(()),
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
