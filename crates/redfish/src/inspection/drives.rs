//! Drives by bay.

use model::{DriveSeen, Fault};
use serde_json::Value;

use super::{part_health, whole};
use crate::bmc::{Bmc, System};
use crate::document::{field, flag, items, number, text};
use crate::inventory::{health, id, is_absent};
use crate::line::Deadline;
use crate::listing::{Listing, Member};

const BYTES_IN_GB: u64 = 1_000_000_000;

impl Bmc {
    pub(super) async fn inspect_drives(&self, system: &System) -> Result<Option<Vec<DriveSeen>>, Fault> {
        let deadline = Deadline::of_call();
        let Some(controllers) = self.whole_part(system.document(), "Storage", deadline).await? else { return Ok(None) };
        let mut drives = Vec::new();
        for controller in controllers {
            let links: Vec<Value> = items(field(&controller.document, "Drives")).cloned().collect();
            let mut listing = Listing::default();
            self.read_members(&links, &mut listing, deadline).await?;
            drives.extend(whole(&controller.path, listing)?);
        }
        Ok(Some(in_bays(&drives)))
    }
}

/// Drives as they stand. A bay counts whether or not there is a drive in it.
///
/// Where each tells the number of its bay, and no two the same, that is its bay; else it is its place in the list.
fn in_bays(listed: &[Member]) -> Vec<DriveSeen> {
    let mut numbers: Vec<u32> = listed.iter().filter_map(|drive| numbered(&drive.document)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let are_numbered = numbers.len() == listed.len();
    let place = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let bay = |index: usize, drive: &Member| if are_numbered { numbered(&drive.document) } else { None }.unwrap_or(place(index));
    let present = listed.iter().enumerate().filter(|(_, drive)| !is_absent(&drive.document));
    let mut drives: Vec<DriveSeen> = present.map(|(index, drive)| read_drive(bay(index, drive), drive)).collect();
    drives.sort_by_key(|drive| drive.bay);
    drives
}

fn numbered(drive: &Value) -> Option<u32> {
    let place = |name| field(field(field(drive, name), "PartLocation"), "LocationOrdinalValue").clone();
    let told = [place("PhysicalLocation"), place("Location")].into_iter().find(|told| !told.is_null())?;
    told.as_u64().and_then(|number| u32::try_from(number).ok())
}

fn read_drive(bay: u32, drive: &Member) -> DriveSeen {
    let document = &drive.document;
    DriveSeen {
        bay,
        name: text(document, "Name").unwrap_or_else(|| id(drive)),
        capacity_gb: number(document, "CapacityBytes").map(|bytes| (bytes + BYTES_IN_GB / 2) / BYTES_IN_GB),
        kind: text(document, "MediaType").map(|kind| kind.to_ascii_uppercase()),
        serial: text(document, "SerialNumber"),
        health: health(document).map(part_health),
        failure_predicted: flag(document, "FailurePredicted").unwrap_or(false),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn drive(document: Value) -> Member {
        Member { path: "/d/x".into(), document }
    }

    fn bays(drives: &[Member]) -> Vec<(u32, Option<String>)> {
        in_bays(drives).into_iter().map(|drive| (drive.bay, drive.serial)).collect()
    }

    #[test]
    fn an_empty_bay_counts_and_is_not_listed() {
        let drives = [json!({"SerialNumber": "A"}), json!({"Status": {"State": "Absent"}}), json!({"SerialNumber": "B"})].map(drive);
        assert_eq!(bays(&drives), [(0, Some("A".into())), (2, Some("B".into()))]);
    }

    #[test]
    fn told_bays_count_only_if_all_tell_and_no_two_the_same() {
        let at = |bay: u32, serial: &str| {
            drive(json!({"SerialNumber": serial, "PhysicalLocation": {"PartLocation": {"LocationOrdinalValue": bay}}}))
        };
        assert_eq!(bays(&[at(3, "A"), at(1, "B")]), [(1, Some("B".into())), (3, Some("A".into()))]);
        assert_eq!(bays(&[at(1, "A"), at(1, "B")]), [(0, Some("A".into())), (1, Some("B".into()))], "two controllers count from one");
        assert_eq!(bays(&[at(7, "A"), drive(json!({"SerialNumber": "B"}))]), [(0, Some("A".into())), (1, Some("B".into()))]);
    }

    #[test]
    fn a_capacity_is_rounded_to_what_is_printed_on_the_drive() {
        let read = in_bays(&[drive(json!({"CapacityBytes": 959_656_755_200u64, "MediaType": "ssd", "FailurePredicted": true}))]).remove(0);
        assert_eq!((read.capacity_gb, read.kind.as_deref(), read.failure_predicted), (Some(960), Some("SSD"), true));
        let odd = in_bays(&[drive(json!({"CapacityBytes": "960 GB", "Status": {"Health": "Bad"}}))]).remove(0);
        assert_eq!((odd.capacity_gb, odd.kind, odd.health, odd.failure_predicted), (None, None, None, false));
    }
}
