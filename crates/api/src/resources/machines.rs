//! `Microsoft.NetworkCloud/bareMetalMachines`: reading.

use axum::response::Response;
use http::StatusCode;
use model::{Cluster, Hold, Machine, Management, NodeProblem, Operation, Power, Role, Timestamp, Wait};
use plan::ProvisioningState;
use serde_json::{Value, json};

use super::{clusters_at, envelope};
use crate::cache::{Versioned, View};
use crate::links;
use crate::operations::step_status;
use crate::reply::{Refused, resource_response};

/// The machine of that name, with its cluster.
pub(crate) fn find<'a>(
    view: &'a View,
    subscription: &str,
    group: &str,
    name: &str,
) -> Result<(&'a Versioned<Cluster>, &'a Versioned<Machine>), Refused> {
    clusters_at(view, subscription, group)?
        .into_iter()
        .find_map(|cluster| {
            let machine = model::MachineName::new(name).ok()?;
            Some((cluster, view.machine(&cluster.document.name, &machine)?))
        })
        .ok_or_else(|| Refused::not_found("bare-metal machine", name))
}

pub(crate) fn show(view: &View, subscription: &str, group: &str, name: &str, now: Timestamp) -> Result<Response, Refused> {
    let (_, machine) = find(view, subscription, group, name)?;
    Ok(resource_response(StatusCode::OK, &render_in_full(view, machine, now)))
}

/// The resource with what is ours beside the model: holds, waits and management.
pub(crate) fn render_in_full(view: &View, versioned: &Versioned<Machine>, now: Timestamp) -> Value {
    let machine = &versioned.document;
    let mut resource = render(view, versioned);
    resource["rackwright"] = json!({
        "managed": matches!(machine.management, Management::Managed),
        "unmanagedReason": match &machine.management {
            Management::Managed => Value::Null,
            Management::Unmanaged { by, reason, since } => json!({ "by": by, "reason": reason, "since": since }),
        },
        "managedAgain": machine.managed_again.as_ref().map(|again| json!({ "by": again.by, "reason": again.reason, "at": again.at })),
        "holds": machine.holds.iter().map(render_hold).collect::<Vec<_>>(),
        "waits": machine.waits.iter().map(|wait| render_wait(wait, now)).collect::<Vec<_>>(),
        "bmcFault": machine.last_seen.bmc_fault.as_ref().map(|seen| json!({ "fault": seen.what.to_string(), "since": seen.at })),
        "problems": plan::problems(machine).iter().map(render_problem).collect::<Vec<_>>(),
        "cordonedByOthers": machine.last_seen.node.as_ref().is_some_and(|node| node.what.unschedulable && !node.what.cordoned_by_us),
        "powerSeenAt": machine.last_seen.power.as_ref().map(|seen| seen.at),
        "spare": machine.is_spare(),
    });
    resource
}

fn render_problem(problem: &NodeProblem) -> Value {
    json!({ "kind": problem.kind, "message": problem.message, "since": problem.since })
}

fn render_hold(hold: &Hold) -> Value {
    json!({ "owner": hold.owner.to_string(), "reason": hold.reason, "since": hold.since })
}

pub(crate) fn render_wait(wait: &Wait, now: Timestamp) -> Value {
    json!({
        "code": wait.code(),
        "what": wait.kind.to_string(),
        "since": wait.since,
        "endsWhen": wait.ends_when(),
        "expectedBy": wait.expected_by,
        "late": wait.is_late(now),
    })
}

pub(super) fn render(view: &View, versioned: &Versioned<Machine>) -> Value {
    let machine = &versioned.document;
    let Some(cluster) = view.clusters.get(&machine.cluster).map(|cluster| &cluster.document) else { return Value::Null };
    let mut resource = envelope(
        cluster,
        "bareMetalMachines",
        &links::machine_id(cluster, &machine.name),
        machine.name.as_str(),
        machine.created_at,
        machine.edition,
        &machine.tags,
    );
    if let Some(modified) = &machine.modified {
        let written =
            [("lastModifiedBy", json!(modified.by)), ("lastModifiedByType", json!("User")), ("lastModifiedAt", json!(modified.at))];
        for (name, value) in written {
            resource["systemData"][name] = value;
        }
    }
    resource["properties"] = properties(view, cluster, machine);
    resource
}

fn properties(view: &View, cluster: &Cluster, machine: &Machine) -> Value {
    let operations = view.operations_of(machine);
    let latest = operations.first();
    let node = machine.last_seen.node.as_ref().map(|node| &node.what);
    let mut properties = json!({
        "actionStates": latest_of_each(&operations).into_iter().map(action_state).collect::<Vec<_>>(),
        "associatedResourceIds": [],
        "bmcConnectionString": format!("redfish+{}", machine.hardware.bmc_address),
        "bmcMacAddress": machine.hardware.bmc_mac,
        "bootMacAddress": machine.hardware.boot_mac,
        "clusterId": links::cluster_id(cluster),
        "cordonStatus": if machine.is_cordoned() { "Cordoned" } else { "Uncordoned" },
        "detailedStatus": machine.provisioning,
        "detailedStatusMessage": plan::machine_message(machine),
        "machineDetails": machine.details,
        "machineName": machine.name,
        "machineRoles": [role_label(machine.role)],
        "machineSkuId": machine.hardware.sku,
        "provisioningState": provisioning_state(machine, latest.map(AsRef::as_ref)),
        "rackId": links::rack_id(cluster, &machine.hardware.rack),
        "rackSlot": machine.hardware.slot,
        "readyState": if machine.is_ready() { "True" } else { "False" },
        "serialNumber": machine.hardware.serial_number,
        "serviceTag": machine.hardware.serial_number,
    });
    if let Some(power) = &machine.last_seen.power {
        properties["powerState"] = json!(power_state(power.what));
    }
    if let Some(node) = node {
        properties["kubernetesNodeName"] = json!(node.name);
        properties["kubernetesVersion"] = json!(node.kubelet_version);
        properties["osImage"] = json!(node.os_image);
        properties["machineClusterVersion"] = json!(cluster.version);
        if let Some(address) = &node.internal_ip {
            properties["oamIpv4Address"] = json!(address);
        }
    }
    properties
}

/// The model knows two: a machine on its way is still where it was.
fn power_state(power: Power) -> &'static str {
    match power {
        Power::On | Power::PoweringOff => "On",
        Power::Off | Power::PoweringOn => "Off",
    }
}

fn role_label(role: Role) -> &'static str {
    match role {
        Role::ControlPlane => "platform.afo-nc.microsoft.com/control-plane=true",
        Role::Management => "platform.afo-nc.microsoft.com/management-plane=true",
        Role::Compute => "platform.afo-nc.microsoft.com/compute-plane=true",
    }
}

fn provisioning_state(machine: &Machine, latest: Option<&Operation>) -> &'static str {
    match plan::provisioning_state(machine, latest) {
        ProvisioningState::Succeeded => "Succeeded",
        ProvisioningState::Failed => "Failed",
        ProvisioningState::Canceled => "Canceled",
        ProvisioningState::Provisioning => "Provisioning",
    }
}

/// The most recent operation of each kind, the latest first.
fn latest_of_each(operations: &[std::sync::Arc<Operation>]) -> Vec<&Operation> {
    let mut latest: Vec<&Operation> = Vec::new();
    for operation in operations {
        if !latest.iter().any(|seen| seen.action.verb() == operation.action.verb()) {
            latest.push(operation);
        }
    }
    latest
}

fn action_state(operation: &Operation) -> Value {
    let steps: Vec<Value> = plan::progress_of(operation)
        .steps
        .iter()
        .map(|step| {
            json!({
                "stepName": step.step.title(),
                "status": step_status(step.status),
                "startTime": step.started_at,
                "endTime": step.ended_at,
                "message": step.message,
            })
        })
        .collect();
    let (status, message) = match &operation.ended {
        None => ("InProgress", operation.wait.as_ref().map(|wait| format!("waiting for {}", wait.kind)).unwrap_or_default()),
        Some(ended) if ended.result == model::OperationResult::Succeeded => ("Completed", ended.message.clone()),
        Some(ended) => ("Failed", ended.message.clone()),
    };
    json!({
        "actionType": format!("{}/bareMetalMachines/{}/action", links::PROVIDER, operation.action.verb()),
        "correlationId": operation.correlation_id,
        "startTime": operation.accepted_at,
        "endTime": operation.ended.as_ref().map(|ended| ended.at),
        "status": status,
        // Beside the model, which cannot tell a cancelled action from a failed one.
        "result": operation.ended.as_ref().map(|ended| ended.result),
        "message": message,
        "stepStates": steps,
    })
}
