//! The box that the system and its BMC sit in.

use serde_json::json;
use world::PowerState;

use super::Bmc;
use super::answer::Answer;

pub(super) fn collection(bmc: &Bmc) -> Answer {
    Answer::ok(&json!({
        "@odata.id": "/redfish/v1/Chassis",
        "@odata.type": "#ChassisCollection.ChassisCollection",
        "Name": "Chassis Collection",
        "Members@odata.count": 1,
        "Members": [{"@odata.id": bmc.profile().chassis_path()}],
    }))
}

pub(super) fn show(bmc: &Bmc) -> Answer {
    let (spec, profile) = (bmc.spec(), bmc.profile());
    let power: PowerState = bmc.site.look(|world| world.power_state(bmc.index));
    Answer::ok(&json!({
        "@odata.id": profile.chassis_path(),
        "@odata.type": "#Chassis.v1_23_0.Chassis",
        "Id": profile.chassis_id,
        "Name": "Computer System Chassis",
        "ChassisType": "RackMount",
        "Manufacturer": profile.manufacturer,
        "Model": spec.model,
        "SerialNumber": spec.serial_number,
        "PowerState": power.as_str(),
        "Status": {"State": "Enabled", "Health": "OK"},
        "Location": {"Placement": {"Rack": spec.rack_name(), "RackOffset": spec.slot, "RackOffsetUnits": "EIA_310"}},
        "Links": {
            "ComputerSystems": [{"@odata.id": profile.system_path()}],
            "ManagedBy": [{"@odata.id": profile.manager_path()}],
        },
    }))
}
