//! The storage subsystem: one RAID controller with its drives and volumes.

use serde_json::{Value, json};

use super::answer::Answer;
use super::call::{Call, text};
use super::document::{self, link};
use super::{errors, tasks, volumes};

const RESET_ACTION: &str = "Storage.ResetToDefaults";

/// What a reset to defaults can spare.
const RESET_TYPES: [&str; 2] = ["ResetAll", "PreserveVolumes"];

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    let profile = call.bmc.profile();
    let path = format!("{}/Storage", profile.system_path());
    Ok(document::collection(&path, "Storage", "Storage Collection", [profile.storage_path()]))
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let profile = call.bmc.profile();
    let path = profile.storage_path();
    let drives: Vec<Value> = call.bmc.inventory().drives.iter().map(|drive| link(profile.drive_path(drive.bay))).collect();
    Ok(Answer::ok(&json!({
        "@odata.id": path,
        "@odata.type": "#Storage.v1_15_0.Storage",
        "Id": profile.storage_id,
        "Name": profile.raid_model,
        "Status": {"State": "Enabled", "Health": "OK", "HealthRollup": "OK"},
        "Controllers": link(format!("{path}/Controllers")),
        "Drives@odata.count": drives.len(),
        "Drives": drives,
        "Volumes": link(format!("{path}/Volumes")),
        "Links": {"Enclosures": [link(profile.chassis_path())]},
        "Actions": {
            "#Storage.ResetToDefaults": {
                "target": format!("{path}/Actions/{RESET_ACTION}"),
                "ResetType@Redfish.AllowableValues": RESET_TYPES,
            },
        },
    })))
}

/// Deletes every volume, or nothing but the controller's own settings, of which there are none.
pub(super) fn reset(call: &Call<'_>) -> Result<Answer, Answer> {
    let parameters = call.parameters()?;
    let asked = text(&parameters, "ResetType")?.ok_or_else(|| errors::missing_parameter(RESET_ACTION, "ResetType"))?;
    match asked {
        "ResetAll" => {
            let begun = call.bmc.site.change(|world, now| world.reset_storage(call.bmc.index, now));
            begun.map(|task| tasks::accepted(call.bmc, &task)).map_err(|refusal| volumes::refused(&refusal))
        }
        "PreserveVolumes" => Ok(Answer::no_content()),
        _ => Err(errors::value_not_in_list(asked, "ResetType", RESET_ACTION)),
    }
}
