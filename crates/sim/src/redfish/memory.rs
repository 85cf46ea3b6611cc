//! The system's memory modules.

use serde_json::json;

use super::answer::Answer;
use super::call::Call;
use super::document::{self, link, numbered};
use super::errors;
use super::quirk::Quirk;

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    if call.bmc.has(Quirk::DeadLinks) {
        return Err(errors::not_implemented());
    }
    let profile = call.bmc.profile();
    let path = format!("{}/Memory", profile.system_path());
    let dimms = call.bmc.inventory().dimms;
    let members = dimms.iter().map(|dimm| format!("{path}/{}{}", profile.dimm_prefix, dimm.slot));
    Ok(document::collection(&path, "Memory", "Memory Module Collection", members))
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let (bmc, profile) = (call.bmc, call.bmc.profile());
    let wanted = numbered(profile.dimm_prefix, call.id);
    let dimm = bmc.inventory().dimms.into_iter().find(|dimm| Some(dimm.slot) == wanted).ok_or_else(|| call.missing())?;
    let capacity = if bmc.has(Quirk::MalformedNumbers) { json!(format!("{} GB", dimm.mib / 1024)) } else { json!(dimm.mib) };
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#Memory.v1_18_0.Memory",
        "Id": call.id,
        "Name": format!("DIMM {}", dimm.slot),
        "MemoryType": "DRAM",
        "MemoryDeviceType": "DDR5",
        "BaseModuleType": "RDIMM",
        "CapacityMiB": capacity,
        "OperatingSpeedMhz": dimm.mhz,
        "Manufacturer": "Hynix Semiconductor",
        "PartNumber": "HMCG88AGBRA191N",
        "SerialNumber": dimm.serial_number,
        "Location": {"PartLocation": {"ServiceLabel": format!("P{} DIMM {}", dimm.socket, dimm.slot)}},
        "MemoryLocation": {"Socket": dimm.socket, "Slot": dimm.slot},
        "ErrorCorrection": "MultiBitECC",
        "Status": document::powered(bmc.power()),
        "Links": {"Chassis": link(profile.chassis_path())},
    })))
}
