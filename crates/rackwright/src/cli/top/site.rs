//! What the live view shows: the API's answers, reduced to what fits on a screen.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::cli::answer::{field, field_or_dash, is_true, items, short_id, target_of};
use crate::cli::render::{cluster_of, current_step, group_of, is_bmc_blind, is_degraded, is_on, rack_of, role};

/// Everything on the screen but the place that is looked at.
#[derive(Clone, Debug, Default)]
pub struct Site {
    pub clusters: Vec<Cluster>,
    pub racks: Vec<Rack>,
    pub operations: Vec<Operation>,
    /// The late ones first.
    pub waits: Vec<Wait>,
}

#[derive(Clone, Debug)]
pub struct Cluster {
    pub line: String,
    pub well: bool,
}

#[derive(Clone, Debug)]
pub struct Rack {
    pub name: String,
    pub slots: Vec<Slot>,
}

#[derive(Clone, Debug)]
pub struct Slot {
    pub number: u64,
    pub name: String,
    pub mark: Mark,
}

/// How a machine is, in letters that need no colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a letter of its own")]
pub struct Mark {
    /// As last seen, if it is blind.
    pub condition: Condition,
    pub blind: bool,
    pub unmanaged: bool,
    pub cordoned: bool,
    pub degraded: bool,
    pub busy: bool,
    pub late: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Ready,
    NotReady,
    Off,
    Spare,
    /// Its power was never seen.
    Unknown,
}

#[derive(Clone, Debug)]
pub struct Operation {
    pub id: String,
    pub machine: String,
    pub action: String,
    pub percent: u64,
    pub step: String,
    pub late: bool,
}

#[derive(Clone, Debug)]
pub struct Wait {
    pub machine: String,
    pub what: String,
    pub since: Option<Timestamp>,
    pub late: bool,
}

impl Mark {
    pub fn letters(self) -> String {
        let condition = match self.condition {
            Condition::Ready => '+',
            Condition::NotReady => '!',
            Condition::Off => '-',
            Condition::Spare => 's',
            Condition::Unknown => '?',
        };
        let flags = [
            (self.blind && self.condition != Condition::Unknown, '?'),
            (self.unmanaged, 'u'),
            (self.cordoned, 'c'),
            (self.degraded, 'd'),
            (self.busy, '*'),
            (self.late, 'L'),
        ];
        let set = flags.into_iter().filter(|(is, _)| *is).map(|(_, letter)| letter);
        std::iter::once(condition).chain(set).collect()
    }
}

impl Site {
    /// From the status, the racks and the machines, as the API lists them.
    pub fn of(status: &Value, racks: &[Value], machines: &[Value]) -> Site {
        let clusters = items(status, "/clusters");
        let several = clusters.len() > 1;
        let mut waits: Vec<Wait> = clusters.iter().flat_map(|cluster| waits_of(cluster, several)).collect();
        waits.sort_by_key(|wait| (!wait.late, wait.since));
        Site {
            clusters: clusters.iter().map(cluster_line).collect(),
            racks: racks_with(clusters, racks, machines, several),
            operations: clusters.iter().flat_map(|cluster| operations_of(cluster, several)).collect(),
            waits,
        }
    }

    pub fn late(&self) -> usize {
        self.waits.iter().filter(|wait| wait.late).count()
    }
}

fn cluster_line(cluster: &Value) -> Cluster {
    let text = |pointer| field_or_dash(cluster, pointer);
    let silent = cluster["undercloudFault"].is_object();
    let well = cluster["detailedStatus"] == "Running" && cluster["connection"] == "Connected" && !silent;
    let silence = if silent { " (silent)" } else { "" };
    let line =
        format!("{}: {}, {}{silence}; {}", text("/name"), text("/detailedStatus"), text("/connection"), counts(&cluster["machines"]));
    Cluster { line, well }
}

/// Totals always; the rest only where there is something to tell, in as few letters as can be.
fn counts(machines: &Value) -> String {
    let sum = |keys: &[&str]| keys.iter().filter_map(|key| machines[*key].as_u64()).sum::<u64>();
    let mut parts = vec![format!("{} machines", sum(&["total"])), format!("{} ready", sum(&["ready"]))];
    let rest: [(&[&str], &str); 7] = [
        (&["off"], "off"),
        (&["notReady"], "not ready"),
        (&["spare"], "spare"),
        (&["cordoned"], "cordoned"),
        (&["unmanaged"], "unmanaged"),
        (&["degraded"], "degraded"),
        (&["notLookedAt", "bmcUnreachable", "bmcTroubled"], "blind"),
    ];
    parts.extend(
        rest.iter().map(|(keys, word)| (sum(keys), word)).filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")),
    );
    parts.join(", ")
}

/// Names are unique within a cluster only.
fn named(cluster: &Value, name: &str, several: bool) -> String {
    if several { format!("{}/{name}", field_or_dash(cluster, "/name")) } else { name.to_owned() }
}

fn operations_of(cluster: &Value, several: bool) -> impl Iterator<Item = Operation> + '_ {
    items(cluster, "/operations").iter().map(move |operation| {
        let step = current_step(operation).unwrap_or_else(|| "-".to_owned());
        let waiting = field(operation, "/wait/brief").map(|what| format!(": waiting for {what}")).unwrap_or_default();
        Operation {
            id: short_id(&field_or_dash(operation, "/id")).to_owned(),
            machine: named(cluster, &target_of(operation), several),
            action: field_or_dash(operation, "/action"),
            percent: operation["percentComplete"].as_u64().unwrap_or_default().min(100),
            step: format!("{step}{waiting}"),
            late: is_true(operation, "/wait/late"),
        }
    })
}

fn waits_of(cluster: &Value, several: bool) -> impl Iterator<Item = Wait> + '_ {
    let all = items(cluster, "/clusterWaits").iter().chain(items(cluster, "/waits"));
    all.map(move |wait| Wait {
        machine: field(wait, "/machine").map_or_else(|| named(cluster, "(whole site)", several), |name| named(cluster, &name, several)),
        what: field_or_dash(wait, "/brief"),
        since: field(wait, "/since").and_then(|text| text.parse().ok()),
        late: is_true(wait, "/late"),
    })
}

fn racks_with(clusters: &[Value], racks: &[Value], machines: &[Value], several: bool) -> Vec<Rack> {
    let mut by_rack: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for machine in machines {
        by_rack.entry(field_or_dash(machine, "/properties/rackId").to_ascii_lowercase()).or_default().push(machine);
    }
    let slots_of = |rack: &Value| {
        let id = field_or_dash(rack, "/id").to_ascii_lowercase();
        let mut slots: Vec<Slot> = by_rack.get(&id).into_iter().flatten().map(|machine| slot(clusters, machine)).collect();
        slots.sort_by(|a, b| (a.number, &a.name).cmp(&(b.number, &b.name)));
        slots
    };
    let title = |rack: &Value| {
        let name = field_or_dash(rack, "/name");
        if several { format!("{}/{name}", group_of(rack)) } else { name }
    };
    racks.iter().map(|rack| Rack { name: title(rack), slots: slots_of(rack) }).collect()
}

fn slot(clusters: &[Value], machine: &Value) -> Slot {
    let name = field_or_dash(machine, "/name");
    // In its own rack a machine is known without the rack's name.
    let short = name.strip_prefix(rack_of(machine).as_str()).map(|rest| rest.trim_start_matches('-')).filter(|rest| !rest.is_empty());
    Slot {
        number: machine.pointer("/properties/rackSlot").and_then(Value::as_u64).unwrap_or_default(),
        name: short.unwrap_or(&name).to_owned(),
        mark: mark(clusters, machine),
    }
}

fn mark(clusters: &[Value], machine: &Value) -> Mark {
    let name = &machine["name"];
    let own = clusters.iter().find(|cluster| field_or_dash(cluster, "/name") == cluster_of(machine));
    let waits: Vec<&Value> =
        own.map(|own| items(own, "/waits")).unwrap_or_default().iter().filter(|wait| wait["machine"] == *name).collect();
    let mut operations = own.map(|own| items(own, "/operations")).unwrap_or_default().iter().filter(|operation| is_on(operation, machine));
    let operation = operations.next();
    let has_blind_eye = waits.iter().any(|wait| wait["code"] == "Device" || wait["code"] == "FirstLook");
    Mark {
        condition: condition(machine),
        blind: has_blind_eye || is_bmc_blind(machine),
        unmanaged: machine["rackwright"]["managed"] == false,
        degraded: is_degraded(machine),
        cordoned: machine["properties"]["cordonStatus"] == "Cordoned",
        busy: operation.is_some(),
        late: waits.iter().any(|wait| is_true(wait, "/late")) || operation.is_some_and(|operation| is_true(operation, "/wait/late")),
    }
}

fn condition(machine: &Value) -> Condition {
    let properties = &machine["properties"];
    if role(machine).ends_with("(spare)") {
        return Condition::Spare;
    }
    match (properties["powerState"].as_str(), properties["readyState"].as_str()) {
        (None, _) => Condition::Unknown,
        (Some("Off"), _) => Condition::Off,
        (Some(_), Some("True")) => Condition::Ready,
        _ => Condition::NotReady,
    }
}
