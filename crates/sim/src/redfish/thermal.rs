//! The chassis' fans.

use serde_json::json;

use super::answer::Answer;
use super::call::Call;
use super::document::{self, link, numbered};
use super::{Bmc, sensors};

const FANS: u32 = 4;

/// What a fan turns at when nothing holds it back, in revolutions per minute.
const FULL_SPEED: f64 = 16_000.0;

fn path(bmc: &Bmc) -> String {
    format!("{}/ThermalSubsystem", bmc.profile().chassis_path())
}

pub(super) fn fan_path(bmc: &Bmc, id: &str) -> String {
    format!("{}/Fans/{id}", path(bmc))
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#ThermalSubsystem.v1_3_0.ThermalSubsystem",
        "Id": "ThermalSubsystem",
        "Name": "Thermal Subsystem",
        "Fans": link(format!("{}/Fans", call.path)),
        "Status": document::enabled(),
    })))
}

pub(super) fn fans(call: &Call<'_>) -> Result<Answer, Answer> {
    let members = (1..=FANS).map(|number| format!("{}/Fan{number}", call.path));
    Ok(document::collection(call.path, "Fan", "Fan Collection", members))
}

pub(super) fn fan(call: &Call<'_>) -> Result<Answer, Answer> {
    let number = numbered("Fan", call.id).filter(|number| (1..=FANS).contains(number)).ok_or_else(|| call.missing())?;
    let speed = sensors::reading(call.bmc, call.id);
    let percent = speed.as_f64().map(|speed| (speed * 100.0 / FULL_SPEED).round());
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#Fan.v1_5_0.Fan",
        "Id": call.id,
        "Name": format!("Fan {number}"),
        "PhysicalContext": "Chassis",
        "SpeedPercent": {
            "DataSourceUri": sensors::sensor_path(call.bmc, call.id),
            "Reading": percent,
            "SpeedRPM": speed,
        },
        "Status": document::enabled(),
    })))
}
