//! The whole picture in one answer: clusters, their control planes, what runs and what waits.

use axum::response::Response;
use http::StatusCode;
use model::{Cluster, Machine, Management, Power, Timestamp};
use serde_json::{Value, json};

use crate::cache::View;
use crate::operations;
use crate::reply::json_response;
use crate::resources::machines::render_wait;

pub(crate) fn show(view: &View, now: Timestamp) -> Response {
    let clusters: Vec<Value> = view.clusters.values().map(|cluster| render(view, &cluster.document, now)).collect();
    json_response(StatusCode::OK, &json!({ "at": now, "clusters": clusters }))
}

fn render(view: &View, cluster: &Cluster, now: Timestamp) -> Value {
    let machines: Vec<&Machine> = view.machines_of(&cluster.name).map(|machine| machine.document.as_ref()).collect();
    let count = |is: &dyn Fn(&Machine) -> bool| machines.iter().filter(|machine| is(machine)).count();
    let running: Vec<Value> = view
        .operations
        .values()
        .filter(|operation| operation.is_running() && operation.cluster == cluster.name)
        .map(|operation| operations::render(operation, now))
        .collect();
    let waits: Vec<Value> = machines
        .iter()
        .flat_map(|machine| machine.waits.iter().map(move |wait| (machine, wait)))
        .map(|(machine, wait)| {
            let mut rendered = render_wait(wait, now);
            rendered["machine"] = json!(machine.name);
            rendered
        })
        .collect();
    let control_plane: Vec<Value> = machines
        .iter()
        .filter(|machine| machine.is_kcp())
        .map(|machine| json!({ "machine": machine.name, "spare": machine.is_spare(), "ready": machine.is_ready() }))
        .collect();
    json!({
        "name": cluster.name,
        "resourceGroup": cluster.home.resource_group,
        "detailedStatus": cluster.detailed_status,
        "connection": cluster.connection,
        "connectionSince": cluster.connection_since,
        "clusterWaits": cluster.waits.iter().map(|wait| render_wait(wait, now)).collect::<Vec<_>>(),
        "machines": {
            "total": machines.len(),
            "ready": count(&Machine::is_ready),
            "off": count(&|machine| machine.last_seen.power.as_ref().is_some_and(|power| power.what == Power::Off)),
            "cordoned": count(&Machine::is_cordoned),
            "spare": count(&Machine::is_spare),
            "unmanaged": count(&|machine| !matches!(machine.management, Management::Managed)),
            "bmcUnreachable": count(&|machine| machine.last_seen.bmc_fault.is_some()),
        },
        "controlPlane": control_plane,
        "operations": running,
        "waits": waits,
    })
}
