//! `Microsoft.NetworkCloud/racks`.

use axum::response::Response;
use http::StatusCode;
use model::{Cluster, Rack};
use plan::RackStatus;
use serde_json::{Value, json};

use super::clusters_at;
use super::resource::{Known, Resource};
use crate::cache::{Versioned, View};
use crate::links;
use crate::reply::{Refused, resource_response};
use crate::route::Kind;

pub(crate) fn show(view: &View, subscription: &str, group: &str, name: &str) -> Result<Response, Refused> {
    let clusters = clusters_at(view, subscription, group)?;
    let mut racks = view.racks_after(&clusters, None);
    let found = racks.find(|(_, rack)| rack.document.name.as_str().eq_ignore_ascii_case(name));
    let (cluster, rack) = found.ok_or_else(|| Refused::not_found("rack", name))?;
    Ok(resource_response(StatusCode::OK, &render(view, &cluster.document, rack)))
}

pub(super) fn render<'a>(view: &View, cluster: &'a Cluster, versioned: &'a Versioned<Rack>) -> Resource<'a, Value> {
    let rack = &versioned.document;
    let machines = view.machines_of(&rack.cluster).map(|machine| machine.document.as_ref());
    let (status, message) = plan::rack_status(machines.filter(|machine| machine.hardware.rack == rack.name));
    let properties = json!({
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
    let Rack { name, created_at, tags, .. } = &**rack;
    let known = Known { kind: Kind::Racks, name: name.as_str(), created_at: *created_at, edition: versioned.revision.0, tags };
    Resource::new(cluster, known, properties)
}
