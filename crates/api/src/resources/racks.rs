//! `Microsoft.NetworkCloud/racks`.

use axum::response::Response;
use http::StatusCode;
use model::Rack;
use plan::RackStatus;
use serde_json::{Value, json};

use super::{clusters_at, envelope};
use crate::cache::{Versioned, View};
use crate::links;
use crate::reply::{Refused, resource_response};

pub(crate) fn show(view: &View, subscription: &str, group: &str, name: &str) -> Result<Response, Refused> {
    let clusters = clusters_at(view, subscription, group)?;
    let mut racks = clusters.into_iter().flat_map(|cluster| view.racks_of(&cluster.document.name));
    let rack = racks.find(|rack| rack.document.name.as_str().eq_ignore_ascii_case(name)).ok_or_else(|| Refused::not_found("rack", name))?;
    Ok(resource_response(StatusCode::OK, &render(view, rack)))
}

pub(super) fn render(view: &View, versioned: &Versioned<Rack>) -> Value {
    let rack = &versioned.document;
    let Some(cluster) = view.clusters.get(&rack.cluster).map(|cluster| &cluster.document) else { return Value::Null };
    let mut resource = envelope(
        cluster,
        "racks",
        &links::rack_id(cluster, &rack.name),
        rack.name.as_str(),
        rack.created_at,
        versioned.revision.0,
        &rack.tags,
    );
    let machines = view.machines_of(&rack.cluster).map(|machine| machine.document.as_ref());
    let (status, message) = plan::rack_status(machines.filter(|machine| machine.hardware.rack == rack.name));
    resource["properties"] = json!({
        "availabilityZone": rack.availability_zone,
        "clusterId": links::cluster_id(cluster),
        "detailedStatus": match status {
            RackStatus::Available => "Available",
            RackStatus::Error => "Error",
        },
        "detailedStatusMessage": message,
        "provisioningState": "Succeeded",
        "rackLocation": rack.location,
        "rackSerialNumber": rack.serial_number,
        "rackSkuId": rack.sku,
    });
    resource
}
