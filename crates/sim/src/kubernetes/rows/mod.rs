//! The columns of each kind's table and what stands in them: one row of `LAYOUTS` for each kind.

mod apps;
mod node;
mod pod;
mod policy;
mod virtual_machine;

use serde_json::{Value, json};
use world::{
    CLAIMS, CLUSTERS, CONFIG_MAPS, DAEMON_SETS, DATA_VOLUMES, DEPLOYMENTS, DISRUPTION_BUDGETS, EVENTS, Instant, LEASES,
    MACHINE_DEPLOYMENTS, MACHINES, NAMESPACES, NODES, PODS, REPLICA_SETS, Resource, SECRETS, SERVICES, STATEFUL_SETS, Span,
    VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES,
};

/// What a column shows of an object.
type Cell = fn(&Value, Instant) -> Value;

/// A column's name, whether it is printed without `-o wide`, and its cells.
type Column = (&'static str, Shown, Cell);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Always,
    Wide,
}

use Shown::{Always, Wide};

/// The columns of every kind, each named as kubectl's readers know it.
static LAYOUTS: [(&Resource, &[Column]); 20] = [
    (&NODES, &node::COLUMNS),
    (&PODS, &pod::COLUMNS),
    (&NAMESPACES, &[("Name", Always, name), ("Status", Always, phase), ("Age", Always, age)]),
    (&LEASES, &[("Name", Always, name), ("Holder", Always, |lease, _| lease["spec"]["holderIdentity"].clone()), ("Age", Always, age)]),
    (&EVENTS, &EVENT_COLUMNS),
    (&CONFIG_MAPS, &[("Name", Always, name), ("Data", Always, entries), ("Age", Always, age)]),
    (
        &SECRETS,
        &[("Name", Always, name), ("Type", Always, |secret, _| secret["type"].clone()), ("Data", Always, entries), ("Age", Always, age)],
    ),
    // There are no services, so only the names of the columns are ever shown.
    (&SERVICES, &[("Name", Always, name), ("Type", Always, |service, _| service["spec"]["type"].clone()), ("Age", Always, age)]),
    (&DISRUPTION_BUDGETS, &policy::COLUMNS),
    (&DEPLOYMENTS, &apps::DEPLOYMENTS),
    (&REPLICA_SETS, &apps::REPLICA_SETS),
    (&STATEFUL_SETS, &apps::STATEFUL_SETS),
    (&DAEMON_SETS, &apps::DAEMON_SETS),
    (&CLAIMS, &apps::CLAIMS),
    (&VIRTUAL_MACHINES, &virtual_machine::VIRTUAL_MACHINES),
    (&VIRTUAL_MACHINE_INSTANCES, &virtual_machine::INSTANCES),
    (&DATA_VOLUMES, &virtual_machine::DATA_VOLUMES),
    (&CLUSTERS, &virtual_machine::CLUSTERS),
    (&MACHINE_DEPLOYMENTS, &virtual_machine::MACHINE_DEPLOYMENTS),
    (&MACHINES, &virtual_machine::MACHINES),
];

static EVENT_COLUMNS: [Column; 9] = [
    ("Last Seen", Always, |event, now| json!(age_of(&event["lastTimestamp"], now))),
    ("Type", Always, |event, _| event["type"].clone()),
    ("Reason", Always, |event, _| event["reason"].clone()),
    ("Object", Always, |event, _| {
        let about = &event["involvedObject"];
        json!(format!("{}/{}", about["kind"].as_str().unwrap_or_default().to_lowercase(), about["name"].as_str().unwrap_or_default()))
    }),
    ("Source", Wide, |event, _| event["source"]["component"].clone()),
    ("Message", Always, |event, _| event["message"].clone()),
    ("First Seen", Wide, |event, now| json!(age_of(&event["firstTimestamp"], now))),
    ("Count", Wide, |event, _| event["count"].clone()),
    ("Name", Wide, name),
];

/// What is shown of a kind without a row of its own.
static PLAIN: [Column; 2] = [("Name", Always, name), ("Age", Always, age)];

/// Columns whose cells are always numbers. Those of workloads are not named here: `Ready` is a fraction for some kinds.
const NUMBERS: [&str; 3] = ["Count", "Data", "Allowed Disruptions"];

fn layout(resource: &Resource) -> &'static [Column] {
    LAYOUTS.iter().find(|(shown, _)| *shown == resource).map_or(&PLAIN, |(_, columns)| columns)
}

pub(super) fn columns(resource: &Resource) -> Vec<Value> {
    layout(resource)
        .iter()
        .map(|(name, shown, _)| {
            let format = if *name == "Name" { "name" } else { "" };
            let priority = if *shown == Always { 0 } else { 1 };
            let kind = if NUMBERS.contains(name) { "integer" } else { "string" };
            json!({"name": name, "type": kind, "format": format, "description": "", "priority": priority})
        })
        .collect()
}

pub(super) fn cells(resource: &Resource, object: &Value, now: Instant) -> Vec<Value> {
    layout(resource).iter().map(|(_, _, cell)| cell(object, now)).collect()
}

fn name(object: &Value, _: Instant) -> Value {
    object["metadata"]["name"].clone()
}

fn phase(object: &Value, _: Instant) -> Value {
    object["status"]["phase"].clone()
}

fn age(object: &Value, now: Instant) -> Value {
    json!(age_of(&object["metadata"]["creationTimestamp"], now))
}

/// How many entries a secret or a config map has.
fn entries(object: &Value, _: Instant) -> Value {
    let count = |field: &str| object[field].as_object().map_or(0, serde_json::Map::len);
    json!(count("data") + count("binaryData"))
}

fn age_of(since: &Value, now: Instant) -> String {
    match since.as_str().and_then(Instant::parse) {
        Some(since) => short_span(now - since),
        None => "<unknown>".to_owned(),
    }
}

/// An age in at most two units, coarser the older it is, as kubectl's readers know it.
fn short_span(span: Span) -> String {
    let seconds = (span.0 / 1_000).max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    let two = |large: i64, unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{large}{unit}"),
        small => format!("{large}{unit}{small}{small_unit}"),
    };
    match seconds {
        ..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        _ => format!("{days}d"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_as_in_kubectl() {
        let ages = [0, 119, 125, 180, 3_599, 10_980, 30_000, 180_000, 8_640_000].map(|seconds| short_span(Span::seconds(seconds)));
        assert_eq!(ages, ["0s", "119s", "2m5s", "3m", "59m", "3h3m", "8h", "2d2h", "100d"]);
    }

    #[test]
    fn every_kind_has_columns_of_its_own() {
        for resource in world::RESOURCES {
            assert!(LAYOUTS.iter().any(|(shown, _)| *shown == resource), "{}", resource.plural);
        }
    }
}
