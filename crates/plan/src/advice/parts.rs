//! What the repair of a part means: whether a replace is needed, what becomes of virtual machines' data, which storage policy is safe.

use model::{
    Action, DataRisk, Hardware, Machine, PartAdvice, Power, Readiness, RepairedPart, ReplaceNeed, Replacement, Span, StorageAdvice,
    StoragePolicy, Timestamp,
};

use crate::disks::{self, named};
use crate::snapshot::Snapshot;

/// A machine that was away for this long may no longer be able to decrypt its storage.
pub(super) const AWAY: Span = Span::hours(30 * 24);

fn judge(part: RepairedPart) -> (ReplaceNeed, DataRisk, &'static str) {
    match part {
        RepairedPart::Psu => (ReplaceNeed::Unnecessary, DataRisk::Safe, "it is swapped while the machine runs"),
        RepairedPart::Cpu
        | RepairedPart::Dimm
        | RepairedPart::Fan
        | RepairedPart::Riser
        | RepairedPart::Transceiver
        | RepairedPart::Cable => (ReplaceNeed::Recommended, DataRisk::Safe, "the data of virtual machines is not affected"),
        RepairedPart::Nic => (
            ReplaceNeed::Required,
            DataRisk::Safe,
            "the data of virtual machines is not affected; look at the network configuration afterwards",
        ),
        RepairedPart::Ssd => (
            ReplaceNeed::Required,
            DataRisk::IfSeveral,
            "one drive of a redundant volume: the volume survives; more than one before it is rebuilt, or one without redundancy: the disks of virtual machines are lost, recreate them elsewhere first",
        ),
        RepairedPart::Raid | RepairedPart::SystemBoard | RepairedPart::Backplane => (
            ReplaceNeed::Required,
            DataRisk::MayBeLost,
            "the data of virtual machines may be lost: move or recreate them on another machine first",
        ),
    }
}

/// Each part once, in a fixed order.
pub(super) fn advice(repaired: &[RepairedPart]) -> Vec<PartAdvice> {
    let mut parts = repaired.to_vec();
    parts.sort_unstable();
    parts.dedup();
    let tell = |part| {
        let (replace, _, words) = judge(part);
        PartAdvice { part, replace, data: risk(part, repaired), words: words.to_owned() }
    };
    parts.into_iter().map(tell).collect()
}

/// What becomes of data with this part, among all that are exchanged at once.
fn risk(part: RepairedPart, repaired: &[RepairedPart]) -> DataRisk {
    let is_several = repaired.iter().filter(|other| **other == part).count() > 1;
    match judge(part).1 {
        DataRisk::IfSeveral if is_several => DataRisk::MayBeLost,
        risk => risk,
    }
}

/// The worst of all parts.
pub(super) fn worst(repaired: &[RepairedPart]) -> DataRisk {
    repaired.iter().map(|part| risk(*part, repaired)).max().unwrap_or(DataRisk::Safe)
}

/// Parts whose exchange leaves a controller that does not know the volumes of before.
fn cannot_preserve(part: RepairedPart) -> bool {
    matches!(part, RepairedPart::Raid | RepairedPart::SystemBoard | RepairedPart::Backplane)
}

pub(super) fn need(repaired: &[RepairedPart]) -> Option<ReplaceNeed> {
    repaired.iter().map(|part| judge(*part).0).max()
}

pub(super) fn storage(snapshot: &Snapshot, machine: &Machine, repaired: &[RepairedPart], now: Timestamp) -> StorageAdvice {
    let unsafe_part = repaired.iter().find(|part| cannot_preserve(**part));
    let discard = |because: String| StorageAdvice { policy: StoragePolicy::DiscardAll, because };
    let preserve = |because: String| StorageAdvice { policy: StoragePolicy::Preserve, because };
    if let Some(part) = unsafe_part {
        return discard(format!("with another {part} a replace that preserves storage is known to fail"));
    }
    if let Some(words) = away(machine, now).filter(|_| snapshot.undercloud.fault.is_none()) {
        return discard(words);
    }
    let owners = disks::owners(snapshot, machine);
    if !owners.is_empty() && worst(repaired) == DataRisk::MayBeLost {
        return preserve(format!("what of the disks of {} is not on the exchanged drives is kept", named(&owners)));
    }
    if !owners.is_empty() {
        return preserve(format!(
            "disks of virtual machines are, or may be, on it ({}): nothing speaks against keeping them",
            named(&owners)
        ));
    }
    match disks::unseen(snapshot) {
        Some(why) => preserve(format!("whose disks are on it is not known: {why}")),
        None => discard("no virtual machine has a disk on it".into()),
    }
}

/// For how long nobody has had the use of the machine, if that is too long. A BMC that does not answer says nothing of that.
fn away(machine: &Machine, now: Timestamp) -> Option<String> {
    let seen = &machine.last_seen;
    if seen.node.as_ref().is_some_and(|node| machine.is_node_ready(&node.what)) {
        return None;
    }
    let off = seen.power.as_ref().filter(|power| power.what == Power::Off && seen.bmc_fault.is_none()).map(|power| power.at);
    let lost = seen.node.as_ref().filter(|node| node.what.ready != Readiness::True).map(|node| node.at);
    let since = [off, lost].into_iter().flatten().min().filter(|since| now.since(*since) >= AWAY)?;
    Some(format!("it has been away for {}: the keys of its storage may not be good any more", now.since(since)))
}

/// What speaks against the storage policy of a replace, from what is known of the machine and said of its hardware.
pub(crate) fn storage_warnings(
    snapshot: &Snapshot,
    machine: &Machine,
    action: Action,
    replacement: Option<&Replacement>,
    now: Timestamp,
) -> Vec<String> {
    if !preserves(action) {
        return discarded(snapshot, machine, action).into_iter().collect();
    }
    let mut warnings: Vec<String> = away(machine, now).into_iter().map(|words| format!("{words}; then only DiscardAll works")).collect();
    if let Some(what) = of_another_board(machine, replacement) {
        warnings
            .push(format!("{what} is another one, and so is its system board: then Preserve is known to fail, and only DiscardAll works"));
    }
    warnings
}

/// The same of what nobody has said.
pub(crate) fn storage_unknown(machine: &Machine, action: Action, replacement: Option<&Replacement>) -> Option<&'static str> {
    let is_known = of_another_board(machine, replacement).is_some();
    (preserves(action) && !is_known).then_some(
        "whether the system board, the RAID controller or the backplane is another one: then Preserve is known to fail, and only DiscardAll works",
    )
}

/// Whose data is deleted.
fn discarded(snapshot: &Snapshot, machine: &Machine, action: Action) -> Option<String> {
    let Action::Replace { storage: StoragePolicy::DiscardAll, .. } = action else { return None };
    let owners = disks::owners(snapshot, machine);
    match disks::unseen(snapshot) {
        None if owners.is_empty() => None,
        None => Some(format!("all of its volumes are deleted, and with them the disks of {}", named(&owners))),
        Some(why) if owners.is_empty() => Some(format!("all of its volumes are deleted, and whose disks are on them is not known: {why}")),
        Some(why) => {
            Some(format!("all of its volumes are deleted, and with them the disks of {}, and maybe of others: {why}", named(&owners)))
        }
    }
}

fn preserves(action: Action) -> bool {
    matches!(action, Action::Replace { storage: StoragePolicy::Preserve, .. })
}

/// What shows that the system board was exchanged: it carries the serial number and the BMC.
fn of_another_board(machine: &Machine, replacement: Option<&Replacement>) -> Option<&'static str> {
    let before = installed_on(machine);
    let after = replacement.map_or_else(|| machine.hardware.clone(), |replacement| replacement.applied_to(&machine.hardware));
    if after.serial_number != before.serial_number {
        Some("its serial number")
    } else if !is_same_mac(&after.bmc_mac, &before.bmc_mac) {
        Some("its BMC's MAC address")
    } else {
        None
    }
}

/// The hardware that the volumes were made on: a machine keeps what a replace has found of its new board, even if nothing was installed
/// on it then.
fn installed_on(machine: &Machine) -> &Hardware {
    let installed_at = machine.installed.as_ref().map(|installed| installed.at);
    let replaced = machine.replaced.as_ref().filter(|replaced| installed_at.is_none_or(|at| at < replaced.at));
    replaced.map_or(&machine.hardware, |replaced| &replaced.described)
}

fn is_same_mac(one: &str, other: &str) -> bool {
    one.replace('-', ":").eq_ignore_ascii_case(&other.replace('-', ":"))
}
