//! `Microsoft.NetworkCloud/clusters`.

use std::collections::BTreeMap;

use axum::response::Response;
use http::StatusCode;
use model::{Cluster, Machine, Rack, RackName};
use serde_json::{Value, json};

use super::{clusters_at, envelope};
use crate::cache::{Versioned, View};
use crate::links;
use crate::reply::{Refused, resource_response};

pub(crate) fn show(view: &View, subscription: &str, group: &str, name: &str) -> Result<Response, Refused> {
    let clusters = clusters_at(view, subscription, group)?;
    let found = clusters.into_iter().find(|cluster| cluster.document.name.as_str().eq_ignore_ascii_case(name));
    let cluster = found.ok_or_else(|| Refused::not_found("cluster", name))?;
    Ok(resource_response(StatusCode::OK, &render(view, cluster)))
}

pub(super) fn render(view: &View, versioned: &Versioned<Cluster>) -> Value {
    let cluster = &versioned.document;
    let racks: Vec<&Versioned<Rack>> = view.racks_of(&cluster.name).collect();
    let mut machines: BTreeMap<&RackName, Vec<&Machine>> = BTreeMap::new();
    for machine in view.machines_of(&cluster.name) {
        machines.entry(&machine.document.hardware.rack).or_default().push(&machine.document);
    }
    let machines_in = |rack: &Rack| machines.get(&rack.name).map_or(&[][..], Vec::as_slice);
    let definitions: Vec<Value> = racks.iter().map(|rack| rack_definition(cluster, &rack.document, machines_in(&rack.document))).collect();
    let mut resource = envelope(
        cluster,
        "clusters",
        &links::cluster_id(cluster),
        cluster.name.as_str(),
        cluster.created_at,
        versioned.revision.0,
        &cluster.tags,
    );
    let mut properties = json!({
        "clusterType": if racks.len() == 1 { "SingleRack" } else { "MultiRack" },
        "clusterVersion": cluster.version,
        "detailedStatus": cluster.detailed_status,
        "detailedStatusMessage": plan::cluster_message(cluster),
        "clusterConnectionStatus": cluster.connection,
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

fn rack_definition(cluster: &Cluster, rack: &Rack, machines: &[&Machine]) -> Value {
    json!({
        "availabilityZone": rack.availability_zone,
        "networkRackId": links::rack_id(cluster, &rack.name),
        "rackLocation": rack.location,
        "rackSerialNumber": rack.serial_number,
        "rackSkuId": rack.sku,
        "bareMetalMachineConfigurationData": machines.iter().map(|machine| machine_configuration(machine)).collect::<Vec<_>>(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{Documents, cluster, machine, rack};

    #[tokio::test]
    async fn every_machine_is_listed_in_its_own_rack() {
        let racks = ["rack1", "rack2", "rack10"];
        let mut documents = Documents::default().cluster(&cluster("site"));
        for name in racks {
            documents = documents.rack(&rack("site", name));
        }
        for (rack, name) in [("rack10", "a"), ("rack1", "b"), ("RACK1", "c")] {
            documents = documents.machine(&machine("site", rack, name));
        }
        let view = documents.serve().await.cache.view();
        let resource = render(&view, view.clusters.values().next().unwrap());
        let definitions = resource["properties"]["computeRackDefinitions"].as_array().unwrap();
        let names = |definition: &Value| -> Vec<Value> {
            definition["bareMetalMachineConfigurationData"]
                .as_array()
                .unwrap()
                .iter()
                .map(|machine| machine["machineName"].clone())
                .collect()
        };
        assert_eq!(definitions.iter().map(names).collect::<Vec<_>>(), [vec![json!("b"), json!("c")], vec![], vec![json!("a")]]);
    }
}
