//! The BMC itself.

use serde_json::json;
use world::Component;

use super::answer::Answer;
use super::call::Call;
use super::document::{self, link};
use super::{firmware, resets};

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    let member = call.bmc.profile().manager_path();
    Ok(document::collection("/redfish/v1/Managers", "Manager", "Manager Collection", [member]))
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let (bmc, profile) = (call.bmc, call.bmc.profile());
    let (path, uuid) = (profile.manager_path(), bmc.identity().uuid);
    Ok(Answer::ok(&json!({
        "@odata.id": path,
        "@odata.type": "#Manager.v1_17_0.Manager",
        "Id": profile.manager_id,
        "Name": profile.manager_name,
        "ManagerType": "BMC",
        "Manufacturer": profile.manufacturer,
        "Model": profile.manager_model,
        "FirmwareVersion": firmware::version(bmc, Component::Bmc),
        "UUID": uuid,
        "ServiceEntryPointUUID": uuid,
        "DateTime": bmc.date(bmc.site.now()),
        "DateTimeLocalOffset": "+00:00",
        "PowerState": "On",
        "Status": document::enabled(),
        "LogServices": link(format!("{path}/LogServices")),
        "EthernetInterfaces": link(format!("{path}/EthernetInterfaces")),
        "NetworkProtocol": link(format!("{path}/NetworkProtocol")),
        "VirtualMedia": link(format!("{path}/VirtualMedia")),
        "Links": {
            "ManagerForServers": [link(profile.system_path())],
            "ManagerForChassis": [link(profile.chassis_path())],
            "ManagerInChassis": link(profile.chassis_path()),
        },
        "Actions": {"#Manager.Reset": resets::manager_action(profile)},
    })))
}
