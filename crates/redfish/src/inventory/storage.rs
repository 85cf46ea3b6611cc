//! Storage: controllers with their drives and volumes.

use model::Fault;
use serde_json::Value;

use super::{Health, health, id, is_absent};
use crate::bmc::Bmc;
use crate::document::{self, field, flag, items, number, text};
use crate::line::Deadline;
use crate::listing::{Listing, Member, Part};

/// A storage controller, or the absence of one: NVMe drives on the bus are listed under one as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    /// Where it is on its BMC; what a storage reset names.
    pub path: String,
    pub id: String,
    pub name: Option<String>,
    pub health: Option<Health>,
    pub drives: Listing<Drive>,
    pub volumes: Part<Listing<Volume>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drive {
    pub path: String,
    pub id: String,
    pub serial: Option<String>,
    pub model: Option<String>,
    pub capacity_bytes: Option<u64>,
    pub kind: Option<DriveKind>,
    /// `NVMe`, `SAS`, `SATA`, …
    pub protocol: Option<String>,
    /// WWN, EUI, NGUID and the like, as the BMC writes them.
    pub identifiers: Vec<String>,
    pub health: Option<Health>,
    /// The drive itself expects to fail.
    pub failure_predicted: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveKind {
    Hdd,
    Ssd,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    pub path: String,
    pub id: String,
    pub name: Option<String>,
    /// `RAID1`, `None`, …
    pub raid: Option<String>,
    pub capacity_bytes: Option<u64>,
    /// The paths of the drives that it lies on.
    pub drives: Vec<String>,
    pub health: Option<Health>,
}

impl Bmc {
    pub(crate) async fn storage(&self, system: &Value, deadline: Deadline) -> Part<Listing<Controller>> {
        let Some(collection) = document::linked(system, "Storage") else { return Part::NotOffered };
        self.controllers(&collection, deadline).await.into()
    }

    async fn controllers(&self, collection: &str, deadline: Deadline) -> Result<Listing<Controller>, Fault> {
        let found = self.list(collection, deadline).await?;
        let mut controllers = Listing { members: Vec::new(), unread: found.unread };
        for member in found.members {
            if !is_absent(&member.document) {
                controllers.members.push(self.controller(member, deadline).await?);
            }
        }
        Ok(controllers)
    }

    async fn controller(&self, member: Member, deadline: Deadline) -> Result<Controller, Fault> {
        let links: Vec<Value> = items(field(&member.document, "Drives")).cloned().collect();
        let mut drives = Listing::default();
        self.read_members(&links, &mut drives, deadline).await?;
        Ok(Controller {
            id: id(&member),
            name: text(&member.document, "Name"),
            health: health(&member.document),
            drives: drives.map(|drive| read_drive(&drive)),
            volumes: self.part(&member.document, "Volumes", read_volume, deadline).await,
            path: member.path,
        })
    }
}

fn read_drive(member: &Member) -> Option<Drive> {
    let document = &member.document;
    let kind = text(document, "MediaType").and_then(|kind| match kind.to_ascii_uppercase().as_str() {
        "HDD" | "SMR" => Some(DriveKind::Hdd),
        "SSD" => Some(DriveKind::Ssd),
        _ => None,
    });
    (!is_absent(document)).then(|| Drive {
        path: member.path.clone(),
        id: id(member),
        serial: text(document, "SerialNumber"),
        model: text(document, "Model"),
        capacity_bytes: number(document, "CapacityBytes"),
        kind,
        protocol: text(document, "Protocol"),
        identifiers: items(field(document, "Identifiers")).filter_map(|entry| text(entry, "DurableName")).collect(),
        health: health(document),
        failure_predicted: flag(document, "FailurePredicted"),
    })
}

fn read_volume(member: &Member) -> Option<Volume> {
    let document = &member.document;
    (!is_absent(document)).then(|| Volume {
        path: member.path.clone(),
        id: id(member),
        name: text(document, "Name"),
        raid: text(document, "RAIDType").or_else(|| text(document, "VolumeType")),
        capacity_bytes: number(document, "CapacityBytes"),
        drives: document::all_linked(field(document, "Links"), "Drives"),
        health: health(document),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_drive_has_what_its_document_tells_and_lacks_the_rest() {
        let document = json!({
            "Id": "Disk.0", "SerialNumber": "S6X", "MediaType": "ssd", "CapacityBytes": 960197124096u64, "Protocol": "SATA",
            "Identifiers": [{"DurableName": "5002538f01c2a1b0"}, {"DurableName": null}], "FailurePredicted": "true",
            "Status": {"Health": "Bad", "HealthRollup": "Critical"},
        });
        let drive = read_drive(&Member { path: "/d/0".into(), document }).unwrap();
        let expected = Drive {
            path: "/d/0".into(),
            id: "Disk.0".into(),
            serial: Some("S6X".into()),
            model: None,
            capacity_bytes: Some(960_197_124_096),
            kind: Some(DriveKind::Ssd),
            protocol: Some("SATA".into()),
            identifiers: vec!["5002538f01c2a1b0".into()],
            health: Some(Health::Critical),
            failure_predicted: Some(true),
        };
        assert_eq!(drive, expected);
        assert_eq!(read_drive(&Member { path: "/d/1".into(), document: json!({"Status": {"State": "Absent"}}) }), None);
    }
}
