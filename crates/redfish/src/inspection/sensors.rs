//! Fans, temperatures, power supplies, processors, memory and controllers: whether each says that it is well.

use model::{Fault, SensorKind, SensorSeen};
use serde_json::Value;

use super::part_health;
use crate::bmc::{Bmc, System};
use crate::document::{self, field, items, text};
use crate::inventory::{health, id};
use crate::line::Deadline;
use crate::listing::{Member, is_absence};

impl Bmc {
    /// Nothing if none of them is offered.
    pub(super) async fn inspect_sensors(&self, system: &System) -> Result<Option<Vec<SensorSeen>>, Fault> {
        let mut seen = Sensors::default();
        for chassis in document::all_linked(field(system.document(), "Links"), "Chassis") {
            if let Some(chassis) = self.read_if_there(&chassis, Deadline::of_call()).await? {
                self.inspect_chassis(&chassis, &mut seen).await?;
            }
        }
        let parts = [
            ("Processors", SensorKind::Processor, "ProcessorSummary"),
            ("Memory", SensorKind::Memory, "MemorySummary"),
            ("Storage", SensorKind::Controller, ""),
        ];
        for (name, kind, summary) in parts {
            if let Some(members) = self.members_of(system.document(), name).await? {
                seen.add(members.iter().map(|member| read_sensor(kind, &member.document, &id(member))));
                continue;
            }
            // The sum of them may be all that is told.
            let sum = Some(field(system.document(), summary)).filter(|sum| sum.is_object());
            seen.add(sum.map(|sum| read_sensor(kind, sum, name)));
        }
        Ok(seen.offered.then_some(seen.list))
    }

    /// By the two documents that older BMCs have, or else by the collections of newer ones: those take a request for each sensor.
    async fn inspect_chassis(&self, chassis: &Value, seen: &mut Sensors) -> Result<(), Fault> {
        let deadline = Deadline::of_call();
        let mut is_told = [false; 2];
        if let Some(thermal) = self.linked_document(chassis, "Thermal", deadline).await? {
            seen.add(in_list(&thermal, "Fans", SensorKind::Fan));
            seen.add(in_list(&thermal, "Temperatures", SensorKind::Temperature));
            is_told[0] = true;
        }
        if let Some(power) = self.linked_document(chassis, "Power", deadline).await? {
            seen.add(in_list(&power, "PowerSupplies", SensorKind::PowerSupply));
            seen.add(in_list(&power, "Redundancy", SensorKind::PowerSupply));
            seen.add(in_list(&power, "Voltages", SensorKind::Other));
            is_told[1] = true;
        }
        let subsystems = [
            ("ThermalSubsystem", "Fans", SensorKind::Fan, is_told[0]),
            ("PowerSubsystem", "PowerSupplies", SensorKind::PowerSupply, is_told[1]),
        ];
        for (subsystem, collection, kind, is_told) in subsystems {
            if is_told {
                continue;
            }
            let Some(document) = self.linked_document(chassis, subsystem, Deadline::of_call()).await? else { continue };
            if let Some(members) = self.members_of(&document, collection).await? {
                seen.add(members.iter().map(|member| read_sensor(kind, &member.document, &id(member))));
            }
        }
        if !is_told[0]
            && let Some(sensors) = self.members_of(chassis, "Sensors").await?
        {
            seen.add(sensors.iter().map(|sensor| read_sensor(kind_of(&sensor.document), &sensor.document, &id(sensor))));
        }
        Ok(())
    }

    async fn linked_document(&self, owner: &Value, name: &str, deadline: Deadline) -> Result<Option<Value>, Fault> {
        match document::linked(owner, name) {
            Some(path) => self.read_if_there(&path, deadline).await,
            None => Ok(None),
        }
    }

    async fn members_of(&self, owner: &Value, name: &str) -> Result<Option<Vec<Member>>, Fault> {
        match self.whole_part(owner, name, Deadline::of_call()).await {
            Err(fault) if is_absence(&fault) => Ok(None),
            outcome => outcome,
        }
    }
}

/// What was told, and whether anything was offered at all.
#[derive(Default)]
struct Sensors {
    list: Vec<SensorSeen>,
    offered: bool,
}

impl Sensors {
    fn add(&mut self, more: impl IntoIterator<Item = SensorSeen>) {
        let before = self.list.len();
        self.list.extend(more);
        self.offered |= self.list.len() > before;
    }
}

fn in_list<'a>(owner: &'a Value, name: &'a str, kind: SensorKind) -> impl Iterator<Item = SensorSeen> + 'a {
    items(field(owner, name)).filter(|sensor| sensor.is_object()).map(move |sensor| {
        let member_id = text(sensor, "MemberId").unwrap_or_else(|| name.to_owned());
        read_sensor(kind, sensor, &member_id)
    })
}

fn read_sensor(kind: SensorKind, sensor: &Value, id: &str) -> SensorSeen {
    let name = text(sensor, "Name").or_else(|| text(sensor, "FanName"));
    // A part by its socket or slot, where all of them have one name.
    let name = name.filter(|name| !GENERIC.contains(&name.as_str())).unwrap_or_else(|| id.to_owned());
    SensorSeen { name, kind, state: text(field(sensor, "Status"), "State"), health: health(sensor).map(part_health) }
}

/// Names that tell nothing.
const GENERIC: [&str; 4] = ["Processor", "Memory", "DIMM", "Sensor"];

fn kind_of(sensor: &Value) -> SensorKind {
    let told = |name| text(sensor, name).unwrap_or_default();
    match (told("ReadingType").as_str(), told("PhysicalContext").as_str()) {
        (_, "PowerSupply" | "PowerSupplyBay") => SensorKind::PowerSupply,
        ("Temperature", _) => SensorKind::Temperature,
        ("Rotational", _) | (_, "Fan") => SensorKind::Fan,
        _ => SensorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_sensor_is_of_what_it_measures() {
        let kind = |kind: &str, context: &str| kind_of(&json!({"ReadingType": kind, "PhysicalContext": context}));
        assert_eq!(kind("Temperature", "CPU"), SensorKind::Temperature);
        assert_eq!(kind("Rotational", "SystemBoard"), SensorKind::Fan);
        assert_eq!(kind("Temperature", "PowerSupply"), SensorKind::PowerSupply);
        assert_eq!(kind("Voltage", "SystemBoard"), SensorKind::Other);
        assert_eq!(kind_of(&json!({})), SensorKind::Other);
    }

    #[test]
    fn a_part_without_a_name_of_its_own_is_called_by_its_id() {
        let named = |sensor: &Value| read_sensor(SensorKind::Other, sensor, "CPU.Socket.1").name;
        assert_eq!(named(&json!({"Name": "Processor"})), "CPU.Socket.1");
        assert_eq!(named(&json!({"Name": "Inlet Temperature"})), "Inlet Temperature");
        assert_eq!(named(&json!({"FanName": "Fan1A"})), "Fan1A");
    }
}
