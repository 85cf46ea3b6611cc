//! `Microsoft.NetworkCloud/clusters`.

use std::collections::BTreeMap;

use axum::response::Response;
use http::StatusCode;
use model::{Cluster, ClusterStatus, Connection, Machine, Rack, RackName, Target};
use serde::Serialize;
use serde_json::Value;

use super::clusters_at;
use super::machines::action_states;
use super::resource::{Known, Resource};
use crate::cache::{Versioned, View};
use crate::links;
use crate::reply::{Refused, resource_response};
use crate::route::Kind;

pub(crate) fn show(view: &View, subscription: &str, group: &str, name: &str) -> Result<Response, Refused> {
    let clusters = clusters_at(view, subscription, group)?;
    let found = clusters.into_iter().find(|cluster| cluster.document.name.as_str().eq_ignore_ascii_case(name));
    let cluster = found.ok_or_else(|| Refused::not_found("cluster", name))?;
    Ok(resource_response(StatusCode::OK, &render(view, cluster)))
}

/// `ClusterProperties`, in the order of its names.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Properties<'a> {
    action_states: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregator_or_single_rack_definition: Option<RackDefinition<'a>>,
    cluster_connection_status: Connection,
    cluster_type: &'static str,
    cluster_version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    compute_rack_definitions: Option<Vec<RackDefinition<'a>>>,
    detailed_status: ClusterStatus,
    detailed_status_message: &'a str,
    provisioning_state: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RackDefinition<'a> {
    availability_zone: &'a str,
    bare_metal_machine_configuration_data: Vec<MachineConfiguration<'a>>,
    network_rack_id: String,
    rack_location: &'a str,
    rack_serial_number: &'a str,
    rack_sku_id: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct MachineConfiguration<'a> {
    bmc_connection_string: String,
    bmc_mac_address: &'a str,
    boot_mac_address: &'a str,
    machine_details: &'a str,
    machine_name: &'a str,
    rack_slot: u32,
    serial_number: &'a str,
}

pub(super) fn render<'a>(view: &'a View, versioned: &'a Versioned<Cluster>) -> Resource<'a, Properties<'a>> {
    let cluster = &*versioned.document;
    let mut machines: BTreeMap<&RackName, Vec<&Machine>> = BTreeMap::new();
    for machine in view.machines_of(&cluster.name) {
        machines.entry(&machine.document.hardware.rack).or_default().push(&machine.document);
    }
    let machines_in = |rack: &Rack| machines.get(&rack.name).map_or(&[][..], Vec::as_slice);
    let racks = view.racks_of(&cluster.name).map(|rack| &*rack.document);
    let definitions: Vec<RackDefinition> = racks.map(|rack| rack_definition(cluster, rack, machines_in(rack))).collect();
    let (cluster_type, single, several) = match <[RackDefinition; 1]>::try_from(definitions) {
        Ok([only]) => ("SingleRack", Some(only), None),
        Err(several) => ("MultiRack", None, Some(several)),
    };
    let properties = Properties {
        action_states: action_states(&view.operations_for(&cluster.name, &Target::Site(cluster.name.clone()))),
        aggregator_or_single_rack_definition: single,
        cluster_connection_status: cluster.connection,
        cluster_type,
        cluster_version: &cluster.version,
        compute_rack_definitions: several,
        detailed_status: cluster.detailed_status,
        detailed_status_message: plan::cluster_message(cluster),
        provisioning_state: "Succeeded",
    };
    let Cluster { name, created_at, tags, .. } = cluster;
    let known = Known { kind: Kind::Clusters, name: name.as_str(), created_at: *created_at, edition: versioned.revision.0, tags };
    Resource::new(cluster, known, properties)
}

fn rack_definition<'a>(cluster: &'a Cluster, rack: &'a Rack, machines: &[&'a Machine]) -> RackDefinition<'a> {
    RackDefinition {
        availability_zone: &rack.availability_zone,
        bare_metal_machine_configuration_data: machines.iter().map(|machine| machine_configuration(machine)).collect(),
        network_rack_id: links::rack_id(cluster, &rack.name),
        rack_location: &rack.location,
        rack_serial_number: &rack.serial_number,
        rack_sku_id: &rack.sku,
    }
}

fn machine_configuration(machine: &Machine) -> MachineConfiguration<'_> {
    MachineConfiguration {
        bmc_connection_string: format!("redfish+{}", machine.hardware.bmc_address),
        bmc_mac_address: &machine.hardware.bmc_mac,
        boot_mac_address: &machine.hardware.boot_mac,
        machine_details: &machine.details,
        machine_name: machine.name.as_str(),
        rack_slot: machine.hardware.slot,
        serial_number: &machine.hardware.serial_number,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
        let resource = json!(render(&view, view.clusters.values().next().unwrap()));
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
