//! The chassis' sensors. What they read depends on the power of the system.

use serde_json::{Value, json};
use world::{PowerState, hash_text};

use super::answer::Answer;
use super::call::Call;
use super::document::{self, link};
use super::{Bmc, thermal};

/// What a sensor reads while the system is on, and while it is off; `None` is no reading at all.
struct Sensor {
    id: &'static str,
    name: &'static str,
    kind: &'static str,
    units: &'static str,
    context: &'static str,
    on: f64,
    off: Option<f64>,
    /// Readings of different machines differ by up to this much.
    spread: f64,
}

const SENSORS: [Sensor; 9] = [
    temperature("InletTemp", "Inlet Temperature", "Intake", 22.0, Some(21.0)),
    temperature("CPU1Temp", "CPU 1 Temperature", "CPU", 58.0, None),
    temperature("CPU2Temp", "CPU 2 Temperature", "CPU", 60.0, None),
    fan("Fan1", "Fan 1 Speed"),
    fan("Fan2", "Fan 2 Speed"),
    fan("Fan3", "Fan 3 Speed"),
    fan("Fan4", "Fan 4 Speed"),
    power("PSU1Power", "Power Supply 1 Input"),
    power("PSU2Power", "Power Supply 2 Input"),
];

const fn temperature(id: &'static str, name: &'static str, context: &'static str, on: f64, off: Option<f64>) -> Sensor {
    Sensor { id, name, kind: "Temperature", units: "Cel", context, on, off, spread: 4.0 }
}

const fn fan(id: &'static str, name: &'static str) -> Sensor {
    Sensor { id, name, kind: "Rotational", units: "{rev}/min", context: "Fan", on: 7_200.0, off: Some(0.0), spread: 600.0 }
}

/// A system that is off still feeds its BMC.
const fn power(id: &'static str, name: &'static str) -> Sensor {
    Sensor { id, name, kind: "Power", units: "W", context: "PowerSupply", on: 240.0, off: Some(9.0), spread: 60.0 }
}

fn path(bmc: &Bmc) -> String {
    format!("{}/Sensors", bmc.profile().chassis_path())
}

pub(super) fn sensor_path(bmc: &Bmc, id: &str) -> String {
    format!("{}/{id}", path(bmc))
}

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    let members = SENSORS.iter().map(|sensor| sensor_path(call.bmc, sensor.id));
    Ok(document::collection(&path(call.bmc), "Sensor", "Sensor Collection", members))
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let sensor = SENSORS.iter().find(|sensor| sensor.id == call.id).ok_or_else(|| call.missing())?;
    let reading = read(call.bmc, sensor);
    let state = if reading.is_some() { document::enabled() } else { json!({"State": "UnavailableOffline"}) };
    let mut document = json!({
        "@odata.id": call.path,
        "@odata.type": "#Sensor.v1_8_0.Sensor",
        "Id": sensor.id,
        "Name": sensor.name,
        "ReadingType": sensor.kind,
        "ReadingUnits": sensor.units,
        "Reading": reading,
        "PhysicalContext": sensor.context,
        "Status": state,
    });
    if sensor.context == "Fan" {
        document["RelatedItem"] = json!([link(thermal::fan_path(call.bmc, sensor.id))]);
    }
    Ok(Answer::ok(&document))
}

/// The reading of a sensor by its id.
pub(super) fn reading(bmc: &Bmc, id: &str) -> Value {
    json!(SENSORS.iter().find(|sensor| sensor.id == id).and_then(|sensor| read(bmc, sensor)))
}

fn read(bmc: &Bmc, sensor: &Sensor) -> Option<f64> {
    let drawn = (hash_text(&format!("{}/{}", bmc.spec().serial_number, sensor.id)) % 1_000) as f64 / 1_000.0;
    match bmc.power() {
        PowerState::Off => sensor.off,
        _ => Some((sensor.on + drawn * sensor.spread).round()),
    }
}
