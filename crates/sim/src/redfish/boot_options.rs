//! What the machine can start from, in its own order: its disk, and the network behind its first port.

use serde_json::json;

use super::answer::Answer;
use super::call::Call;
use super::document::{self, link};
use super::profile::Profile;

/// The references of the options, in the machine's own order.
pub(super) const ORDER: [&str; 2] = ["Boot0001", "Boot0002"];

pub(super) fn path(profile: &Profile) -> String {
    format!("{}/BootOptions", profile.system_path())
}

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    let path = path(call.bmc.profile());
    let members = ORDER.map(|reference| format!("{path}/{reference}"));
    Ok(document::collection(&path, "BootOption", "Boot Option Collection", members))
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let profile = call.bmc.profile();
    let (name, alias, related) = match call.id {
        "Boot0001" => (profile.raid_model.to_owned(), "Hdd", profile.storage_path()),
        "Boot0002" => {
            let port = format!("{}1", profile.nic_prefix);
            (format!("PXE Device 1: {port}"), "Pxe", format!("{}/EthernetInterfaces/{port}", profile.system_path()))
        }
        _ => return Err(call.missing()),
    };
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#BootOption.v1_0_4.BootOption",
        "Id": call.id,
        "Name": "Boot Option",
        "BootOptionReference": call.id,
        "DisplayName": name,
        "Alias": alias,
        "BootOptionEnabled": true,
        "RelatedItem": [link(related)],
        "RelatedItem@odata.count": 1,
    })))
}
