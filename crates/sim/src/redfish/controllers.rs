//! The RAID controller itself.

use serde_json::json;
use world::{Component, RaidLevel};

use super::answer::Answer;
use super::call::Call;
use super::document;
use super::firmware;

const ID: &str = "0";

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    let path = format!("{}/Controllers", call.bmc.profile().storage_path());
    let members = [format!("{path}/{ID}")];
    Ok(document::collection(&path, "StorageController", "Storage Controller Collection", members))
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    if call.id != ID {
        return Err(call.missing());
    }
    let (bmc, profile) = (call.bmc, call.bmc.profile());
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#StorageController.v1_7_0.StorageController",
        "Id": ID,
        "Name": profile.raid_model,
        "Manufacturer": profile.manufacturer,
        "Model": profile.raid_model,
        "SerialNumber": bmc.inventory().controller_serial_number,
        "FirmwareVersion": firmware::version(bmc, Component::Raid),
        "SpeedGbps": 12,
        "SupportedControllerProtocols": ["PCIe"],
        "SupportedDeviceProtocols": ["SAS", "SATA"],
        "SupportedRAIDTypes": RaidLevel::ALL.map(RaidLevel::as_str),
        "Status": document::powered(bmc.power()),
    })))
}
