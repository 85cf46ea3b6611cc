//! `Microsoft.NetworkCloud/clusters`.

use axum::response::Response;
use http::StatusCode;
use model::{Cluster, Machine, Rack};
use serde_json::{Value, json};

use super::{clusters_at, envelope};
use crate::cache::{Versioned, View};
use crate::links;
use crate::reply::{Refused, json_response};

pub(crate) fn show(view: &View, subscription: &str, group: &str, name: &str) -> Result<Response, Refused> {
    let clusters = clusters_at(view, subscription, group)?;
    let found = clusters.into_iter().find(|cluster| cluster.document.name.as_str().eq_ignore_ascii_case(name));
    let cluster = found.ok_or_else(|| Refused::not_found("cluster", name))?;
    Ok(json_response(StatusCode::OK, &render(view, cluster)))
}

pub(super) fn render(view: &View, versioned: &Versioned<Cluster>) -> Value {
    let cluster = &versioned.document;
    let racks: Vec<&Versioned<Rack>> = view.racks_of(&cluster.name).collect();
    let definitions: Vec<Value> = racks.iter().map(|rack| rack_definition(view, cluster, &rack.document)).collect();
    let mut resource = envelope(
        cluster,
        "clusters",
        &links::cluster_id(cluster),
        cluster.name.as_str(),
        cluster.created_at,
        versioned.revision,
        &cluster.tags,
    );
    let mut properties = json!({
        "clusterType": if racks.len() == 1 { "SingleRack" } else { "MultiRack" },
        "clusterVersion": cluster.version,
        "detailedStatus": cluster.detailed_status,
        "detailedStatusMessage": plan::cluster_message(cluster),
        "clusterConnectionStatus": cluster.connection,
        "clusterManagerConnectionStatus": "Connected",
        "provisioningState": "Succeeded",
        "actionStates": [],
    });
    match <[Value; 1]>::try_from(definitions) {
        Ok([only]) => properties["aggregatorOrSingleRackDefinition"] = only,
        Err(several) => properties["computeRackDefinitions"] = json!(several),
    }
    resource["properties"] = properties;
    resource
}

fn rack_definition(view: &View, cluster: &Cluster, rack: &Rack) -> Value {
    let machines: Vec<Value> = view
        .machines_of(&cluster.name)
        .filter(|machine| machine.document.hardware.rack == rack.name)
        .map(|machine| machine_configuration(&machine.document))
        .collect();
    json!({
        "availabilityZone": rack.availability_zone,
        "networkRackId": links::rack_id(cluster, &rack.name),
        "rackLocation": rack.location,
        "rackSerialNumber": rack.serial_number,
        "rackSkuId": rack.sku,
        "bareMetalMachineConfigurationData": machines,
    })
}

fn machine_configuration(machine: &Machine) -> Value {
    json!({
        "bmcConnectionString": format!("redfish+{}", machine.hardware.bmc_address),
        "bmcMacAddress": machine.hardware.bmc_mac,
        "bootMacAddress": machine.hardware.boot_mac,
        "machineDetails": machine.details,
        "machineName": machine.name,
        "rackSlot": machine.hardware.slot,
        "serialNumber": machine.hardware.serial_number,
    })
}
