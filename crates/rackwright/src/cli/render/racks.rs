//! Racks, as a table and one by one.

use serde_json::Value;

use super::layout::{Table, facts};
use crate::cli::answer::{field_or_dash, name_in_id, segment_after};
use crate::cli::screen::{Sheet, Tone};

pub fn rack_table(racks: &[Value]) -> Table {
    let mut table = Table::new(&["NAME", "CLUSTER", "GROUP", "LOCATION", "SKU", "SERIAL", "STATUS"]);
    for rack in racks {
        table.row(
            Tone::Plain,
            [
                field_or_dash(rack, "/name"),
                cluster_of(rack),
                group_of(rack),
                field_or_dash(rack, "/properties/rackLocation"),
                field_or_dash(rack, "/properties/rackSkuId"),
                field_or_dash(rack, "/properties/rackSerialNumber"),
                field_or_dash(rack, "/properties/detailedStatus"),
            ],
        );
    }
    table
}

pub fn rack_sheet(rack: &Value) -> Sheet {
    let text = |pointer| field_or_dash(rack, pointer);
    let plain = |name, text| (Tone::Plain, name, text);
    facts(&[
        (Tone::Strong, "rack", text("/name")),
        plain("cluster", format!("{}, resource group {}", cluster_of(rack), group_of(rack))),
        plain("location", text("/properties/rackLocation")),
        plain("zone", text("/properties/availabilityZone")),
        plain("sku", text("/properties/rackSkuId")),
        plain("serial", text("/properties/rackSerialNumber")),
        plain("status", format!("{}: {}", text("/properties/detailedStatus"), text("/properties/detailedStatusMessage"))),
    ])
}

pub fn cluster_of(resource: &Value) -> String {
    name_in_id(&field_or_dash(resource, "/properties/clusterId")).to_owned()
}

pub fn group_of(resource: &Value) -> String {
    segment_after(&field_or_dash(resource, "/id"), "resourceGroups").unwrap_or("-").to_owned()
}
