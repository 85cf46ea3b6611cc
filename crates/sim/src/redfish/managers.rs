//! The BMC itself.

use serde_json::json;

use super::Bmc;
use super::answer::Answer;

pub(super) fn collection(bmc: &Bmc) -> Answer {
    Answer::ok(&json!({
        "@odata.id": "/redfish/v1/Managers",
        "@odata.type": "#ManagerCollection.ManagerCollection",
        "Name": "Manager Collection",
        "Members@odata.count": 1,
        "Members": [{"@odata.id": bmc.profile().manager_path()}],
    }))
}

pub(super) fn show(bmc: &Bmc) -> Answer {
    let profile = bmc.profile();
    Answer::ok(&json!({
        "@odata.id": profile.manager_path(),
        "@odata.type": "#Manager.v1_17_0.Manager",
        "Id": profile.manager_id,
        "Name": profile.manager_name,
        "ManagerType": "BMC",
        "Manufacturer": profile.manufacturer,
        "Model": profile.manager_model,
        "FirmwareVersion": profile.firmware_version,
        "UUID": bmc.spec().uuid,
        "DateTime": bmc.site.now().to_seconds_text(),
        "DateTimeLocalOffset": "+00:00",
        "PowerState": "On",
        "Status": {"State": "Enabled", "Health": "OK"},
        "LogServices": {"@odata.id": format!("{}/LogServices", profile.manager_path())},
        "Links": {
            "ManagerForServers": [{"@odata.id": profile.system_path()}],
            "ManagerForChassis": [{"@odata.id": profile.chassis_path()}],
            "ManagerInChassis": {"@odata.id": profile.chassis_path()},
        },
    }))
}
