//! Clusters, as a table and one by one.

use serde_json::Value;

use super::layout::{Table, facts};
use super::racks::group_of;
use crate::cli::answer::{field_or_dash, items, name_in_id};
use crate::cli::screen::{Sheet, Tone};

pub fn cluster_table(clusters: &[Value]) -> Table {
    let mut table = Table::new(&["NAME", "GROUP", "VERSION", "STATUS", "CONNECTION", "RACKS", "MACHINES"]);
    for cluster in clusters {
        let racks = racks(cluster);
        table.row(
            tone(cluster),
            [
                field_or_dash(cluster, "/name"),
                group_of(cluster),
                field_or_dash(cluster, "/properties/clusterVersion"),
                field_or_dash(cluster, "/properties/detailedStatus"),
                field_or_dash(cluster, "/properties/clusterConnectionStatus"),
                racks.len().to_string(),
                racks.iter().map(|rack| machine_count(rack)).sum::<usize>().to_string(),
            ],
        );
    }
    table
}

pub fn cluster_sheet(cluster: &Value) -> Sheet {
    let text = |pointer| field_or_dash(cluster, pointer);
    let plain = |name, text| (Tone::Plain, name, text);
    let status = format!("{}: {}", text("/properties/detailedStatus"), text("/properties/detailedStatusMessage"));
    let mut lines = vec![
        (Tone::Strong, "cluster", text("/name")),
        plain("resource group", group_of(cluster)),
        plain("type", text("/properties/clusterType")),
        plain("version", text("/properties/clusterVersion")),
        (tone(cluster), "status", status),
        (tone(cluster), "connection", text("/properties/clusterConnectionStatus")),
    ];
    for (n, rack) in racks(cluster).into_iter().enumerate() {
        let name = name_in_id(&field_or_dash(rack, "/networkRackId")).to_owned();
        let line = format!("{name}, {} machines, {}", machine_count(rack), field_or_dash(rack, "/rackLocation"));
        lines.push(plain(if n == 0 { "racks" } else { "" }, line));
    }
    facts(&lines)
}

/// A single rack is defined in a place of its own.
fn racks(cluster: &Value) -> Vec<&Value> {
    let only = cluster.pointer("/properties/aggregatorOrSingleRackDefinition").filter(|rack| rack.is_object());
    only.into_iter().chain(items(cluster, "/properties/computeRackDefinitions")).collect()
}

fn machine_count(rack: &Value) -> usize {
    items(rack, "/bareMetalMachineConfigurationData").len()
}

fn tone(cluster: &Value) -> Tone {
    let well = cluster["properties"]["detailedStatus"] == "Running" && cluster["properties"]["clusterConnectionStatus"] == "Connected";
    if well { Tone::Plain } else { Tone::Alarm }
}
