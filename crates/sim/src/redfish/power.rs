//! The chassis' power supplies.

use serde_json::json;

use super::answer::Answer;
use super::call::Call;
use super::document::{self, link, numbered};

const SUPPLIES: u32 = 2;
const SUPPLY_WATTS: u32 = 1_400;

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#PowerSubsystem.v1_1_1.PowerSubsystem",
        "Id": "PowerSubsystem",
        "Name": "Power Subsystem",
        "CapacityWatts": SUPPLY_WATTS,
        "PowerSupplies": link(format!("{}/PowerSupplies", call.path)),
        "Status": document::enabled(),
    })))
}

pub(super) fn supplies(call: &Call<'_>) -> Result<Answer, Answer> {
    let members = (1..=SUPPLIES).map(|number| format!("{}/{number}", call.path));
    Ok(document::collection(call.path, "PowerSupply", "Power Supply Collection", members))
}

pub(super) fn supply(call: &Call<'_>) -> Result<Answer, Answer> {
    let number = numbered("", call.id).filter(|number| (1..=SUPPLIES).contains(number)).ok_or_else(|| call.missing())?;
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#PowerSupply.v1_5_1.PowerSupply",
        "Id": call.id,
        "Name": format!("Power Supply {number}"),
        "PowerSupplyType": "AC",
        "PowerCapacityWatts": SUPPLY_WATTS,
        "Model": "PWR SPLY,1400W,RDNT",
        "SerialNumber": format!("PS{}{number}", call.bmc.spec().serial_number),
        "LineInputStatus": "Normal",
        "Status": document::enabled(),
        "InputRanges": [{"NominalVoltageType": "AC200To240V", "CapacityWatts": SUPPLY_WATTS}],
    })))
}
