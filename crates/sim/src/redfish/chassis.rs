//! The box that the system and its BMC sit in.

use serde_json::json;

use super::answer::Answer;
use super::call::Call;
use super::document::{self, link};

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    let member = call.bmc.profile().chassis_path();
    Ok(document::collection("/redfish/v1/Chassis", "Chassis", "Chassis Collection", [member]))
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let (spec, profile) = (call.bmc.spec(), call.bmc.profile());
    let path = profile.chassis_path();
    Ok(Answer::ok(&json!({
        "@odata.id": path,
        "@odata.type": "#Chassis.v1_23_0.Chassis",
        "Id": profile.chassis_id,
        "Name": "Computer System Chassis",
        "ChassisType": "RackMount",
        "Manufacturer": profile.manufacturer,
        "Model": spec.model,
        "SerialNumber": call.bmc.identity().serial_number,
        "PowerState": call.bmc.power().as_str(),
        "Status": document::enabled(),
        "Location": {"Placement": {"Rack": spec.rack_name(), "RackOffset": spec.slot, "RackOffsetUnits": "EIA_310"}},
        "Sensors": link(format!("{path}/Sensors")),
        "PowerSubsystem": link(format!("{path}/PowerSubsystem")),
        "ThermalSubsystem": link(format!("{path}/ThermalSubsystem")),
        "Links": {
            "ComputerSystems": [link(profile.system_path())],
            "ManagedBy": [link(profile.manager_path())],
        },
    })))
}
