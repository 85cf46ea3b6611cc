//! The physical drives, and which volume each belongs to.

use serde_json::{Value, json};
use world::DriveProtocol;

use super::answer::Answer;
use super::call::Call;
use super::document::{self, link, numbered};
use super::quirk::Quirk;

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let (bmc, profile) = (call.bmc, call.bmc.profile());
    let wanted = numbered(profile.drive_prefix, call.id);
    let drive = bmc.inventory().drives.into_iter().find(|drive| Some(drive.bay) == wanted).ok_or_else(|| call.missing())?;
    let volume = bmc.site.look(|world| world.hardware(bmc.index).volumes.on_bay(drive.bay).map(|volume| volume.number));
    let volumes: Vec<Value> = volume.into_iter().map(|number| link(profile.volume_path(number))).collect();
    let capacity = if bmc.has(Quirk::MalformedNumbers) { json!(format!("{} B", drive.bytes)) } else { json!(drive.bytes) };
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#Drive.v1_18_0.Drive",
        "Id": call.id,
        "Name": format!("Bay {}", drive.bay),
        "Model": drive.model,
        "SerialNumber": drive.serial_number,
        "CapacityBytes": capacity,
        "BlockSizeBytes": 512,
        "MediaType": "SSD",
        "Protocol": match drive.protocol {
            DriveProtocol::Sata => "SATA",
            DriveProtocol::Sas => "SAS",
        },
        "Identifiers": [{"DurableName": drive.wwn, "DurableNameFormat": "NAA"}],
        "PhysicalLocation": {"PartLocation": {"LocationType": "Bay", "LocationOrdinalValue": drive.bay}},
        "FailurePredicted": false,
        "PredictedMediaLifeLeftPercent": 98,
        "Status": document::powered(bmc.power()),
        "Links": {"Volumes@odata.count": volumes.len(), "Volumes": volumes, "Chassis": link(profile.chassis_path())},
    })))
}
