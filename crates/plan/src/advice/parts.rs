//! What the repair of a part means: whether a replace is needed, what becomes of virtual machines' data, which storage policy is safe.

use model::{
    Action, DataRisk, Machine, PartAdvice, Power, Readiness, RepairedPart, ReplaceNeed, Replacement, Span, StorageAdvice, StoragePolicy,
    Timestamp,
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
            "one drive: the volume survives; more than one before it is rebuilt: the disks of virtual machines are lost, recreate them elsewhere first",
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
        let (replace, data, words) = judge(part);
        let is_several = data == DataRisk::IfSeveral && repaired.iter().filter(|other| **other == part).count() > 1;
        let data = if is_several { DataRisk::MayBeLost } else { data };
        PartAdvice { part, replace, data, words: words.to_owned() }
    };
    parts.into_iter().map(tell).collect()
}

pub(super) fn need(repaired: &[RepairedPart]) -> Option<ReplaceNeed> {
    repaired.iter().map(|part| judge(*part).0).max()
}

pub(super) fn storage(snapshot: &Snapshot, machine: &Machine, repaired: &[RepairedPart], now: Timestamp) -> StorageAdvice {
    let unsafe_part = repaired.iter().find(|part| judge(**part).1 == DataRisk::MayBeLost);
    let discard = |because: String| StorageAdvice { policy: StoragePolicy::DiscardAll, because };
    let preserve = |because: String| StorageAdvice { policy: StoragePolicy::Preserve, because };
    if let Some(part) = unsafe_part {
        return discard(format!("with another {part} a replace that preserves storage is known to fail"));
    }
    if let Some(words) = away(machine, now).filter(|_| snapshot.undercloud.fault.is_none()) {
        return discard(words);
    }
    let owners = disks::owners(snapshot, machine);
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
pub(crate) fn storage_warnings(machine: &Machine, action: Action, replacement: Option<&Replacement>, now: Timestamp) -> Vec<String> {
    if !preserves(action) {
        return Vec::new();
    }
    let mut warnings: Vec<String> = away(machine, now).into_iter().map(|words| format!("{words}; DiscardAll is safe")).collect();
    if let Some(what) = replacement.and_then(|replacement| of_another_board(machine, replacement)) {
        warnings.push(format!("{what} is another one, and so is its system board: then Preserve is known to fail, and DiscardAll is safe"));
    }
    warnings
}

/// The same of what nobody has said.
pub(crate) fn storage_unknown(machine: &Machine, action: Action, replacement: Option<&Replacement>) -> Option<&'static str> {
    let is_known = replacement.is_some_and(|replacement| of_another_board(machine, replacement).is_some());
    (preserves(action) && !is_known).then_some(
        "whether the system board, the RAID controller or the backplane is another one: then Preserve is known to fail, and DiscardAll is safe",
    )
}

fn preserves(action: Action) -> bool {
    matches!(action, Action::Replace { storage: StoragePolicy::Preserve, .. })
}

/// What shows that the system board was exchanged: it carries the serial number and the BMC.
fn of_another_board(machine: &Machine, replacement: &Replacement) -> Option<&'static str> {
    let after = replacement.applied_to(&machine.hardware);
    if after.serial_number != machine.hardware.serial_number {
        Some("its serial number")
    } else if !is_same_mac(&after.bmc_mac, &machine.hardware.bmc_mac) {
        Some("its BMC's MAC address")
    } else {
        None
    }
}

fn is_same_mac(one: &str, other: &str) -> bool {
    one.replace('-', ":").eq_ignore_ascii_case(&other.replace('-', ":"))
}
