//! The firmware inventory: what each part runs.

use serde_json::{Value, json};
use world::Component;

use super::Bmc;
use super::answer::Answer;
use super::call::Call;
use super::document::{self, link};
use super::profile::FirmwareMembers;

pub(super) const PATH: &str = "/redfish/v1/UpdateService/FirmwareInventory";

pub(super) fn version(bmc: &Bmc, component: Component) -> String {
    let delivered = bmc.profile().delivered_version(component);
    bmc.site.look(|world| world.hardware(bmc.index).firmware.installed(component).unwrap_or(delivered).to_owned())
}

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    call.bmc.site.note_firmware_listed(call.bmc.index);
    let running = Component::ALL.into_iter().map(Component::as_str);
    let kept = call.bmc.profile().kept_firmware.iter().map(|(id, _, _)| *id);
    let members = running.chain(kept).map(|id| format!("{PATH}/{id}"));
    Ok(document::collection(PATH, "SoftwareInventory", "Firmware Inventory Collection", members))
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let bmc = call.bmc;
    let running = Component::ALL.into_iter().find(|component| component.as_str() == call.id);
    let kept = bmc.profile().kept_firmware.iter().find(|(id, _, _)| *id == call.id);
    let (component, version) = match (running, kept) {
        (Some(component), _) => (component, version(bmc, component)),
        (None, Some((_, component, version))) => (*component, (*version).to_owned()),
        (None, None) => return Err(call.missing()),
    };
    if bmc.profile().firmware_members == FirmwareMembers::OnceListed && !bmc.site.is_firmware_listed(bmc.index) {
        return Err(call.missing());
    }
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#SoftwareInventory.v1_9_0.SoftwareInventory",
        "Id": call.id,
        "Name": name(component),
        "Manufacturer": bmc.profile().manufacturer,
        "Version": version,
        "Updateable": true,
        "RelatedItem": [related(bmc, component)],
        "Status": document::enabled(),
    })))
}

fn name(component: Component) -> &'static str {
    match component {
        Component::Bmc => "BMC Firmware",
        Component::Bios => "System BIOS",
        Component::Raid => "RAID Controller Firmware",
        Component::Nic => "Network Card Firmware",
    }
}

fn related(bmc: &Bmc, component: Component) -> Value {
    let profile = bmc.profile();
    match component {
        Component::Bmc => link(profile.manager_path()),
        Component::Bios => link(format!("{}/Bios", profile.system_path())),
        Component::Raid => link(format!("{}/Controllers/0", profile.storage_path())),
        Component::Nic => link(format!("{}/EthernetInterfaces/{}1", profile.system_path(), profile.nic_prefix)),
    }
}
