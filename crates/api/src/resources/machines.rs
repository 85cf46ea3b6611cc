//! `Microsoft.NetworkCloud/bareMetalMachines`: reading.

use axum::response::Response;
use http::StatusCode;
use model::{Cluster, Fault, Hold, Machine, Management, NodeProblem, Operation, Power, Role, Seen, Timestamp, Wait};
use plan::{ProvisioningState, StepStatus};
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
    let more = json!({
        "unmanagedReason": match &machine.management {
            Management::Managed => Value::Null,
            Management::Unmanaged { by, reason, since } => json!({ "by": by, "reason": reason, "since": since }),
        },
        "managedAgain": machine.managed_again.as_ref().map(|again| json!({ "by": again.by, "reason": again.reason, "at": again.at })),
        "holds": machine.holds.iter().map(render_hold).collect::<Vec<_>>(),
        "waits": machine.waits.iter().map(|wait| render_wait(wait, now)).collect::<Vec<_>>(),
        "problems": plan::problems(machine).iter().map(render_problem).collect::<Vec<_>>(),
        "cordonedByOthers": machine.last_seen.node.as_ref().is_some_and(|node| node.what.unschedulable && !node.what.cordoned_by_us),
    });
    if let (Some(ours), Value::Object(more)) = (resource["rackwright"].as_object_mut(), more) {
        ours.extend(more);
    }
    resource
}

/// What a list tells beside the model, so that nobody takes what was seen long ago for what is so.
fn render_sight(cluster: &Cluster, machine: &Machine) -> Value {
    let seen = &machine.last_seen;
    json!({
        "managed": matches!(machine.management, Management::Managed),
        "spare": machine.is_spare(),
        "powerSeenAt": seen.power.as_ref().map(|power| power.at),
        "bmcFault": seen.bmc_fault.as_ref().map(render_fault),
        "bmcAnsweredAt": seen.bmc_answered_at,
        "undercloudFault": plan::known_silence(cluster).as_ref().map(render_fault),
    })
}

pub(crate) fn render_fault(seen: &Seen<Fault>) -> Value {
    json!({ "class": seen.what.class, "fault": seen.what.to_string(), "since": seen.at })
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
        "brief": wait.kind.in_brief(),
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
    resource["rackwright"] = render_sight(cluster, machine);
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

/// The model knows no step that was left out; its message says so.
fn model_status(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Skipped => "Completed",
        other => step_status(other),
    }
}

fn action_state(operation: &Operation) -> Value {
    let steps: Vec<Value> = plan::progress_of(operation)
        .steps
        .iter()
        .map(|step| {
            json!({
                "stepName": step.step.title(),
                "status": model_status(step.status),
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

#[cfg(test)]
mod tests {
    use http::Method;
    use model::{Delivery, Entry, Eye, Fact, FaultClass, Span, StepKind, WaitKind};

    use super::*;
    use crate::fixtures::{Documents, NOW, cluster, machine, operation, send};

    const MACHINES: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines";

    #[tokio::test(start_paused = true)]
    async fn a_list_tells_what_cannot_be_looked_at_and_since_when() {
        let now = Timestamp::parse(NOW).unwrap();
        let fault = |detail: &str| Fault::new(FaultClass::Unreachable, Delivery::No, detail);
        let mut site = cluster("site");
        let kind = WaitKind::Device { eye: Eye::Undercloud, fault: fault("api"), retry_every: Span::seconds(1) };
        site.waits = vec![Wait { kind, since: now, expected_by: None }];
        let mut blind = machine("site", "rack1", "m");
        blind.last_seen.bmc_fault = Some(Seen { what: fault("bmc"), at: now });
        blind.last_seen.bmc_answered_at = Some(now - Span::seconds(5));
        let api = Documents::default().cluster(&site).machine(&blind).serve().await;
        let (status, listed) = send(&api, Method::GET, &format!("{MACHINES}?api-version=1"), "").await;
        assert_eq!(status, StatusCode::OK, "{listed}");
        let ours = &listed["value"][0]["rackwright"];
        assert_eq!(ours["bmcFault"], json!({ "class": "unreachable", "fault": "unreachable: bmc", "since": NOW }));
        assert_eq!(ours["undercloudFault"], json!({ "class": "unreachable", "fault": "unreachable: api", "since": NOW }));
        assert_eq!(ours["bmcAnsweredAt"], json!(now - Span::seconds(5)));
        assert!(ours.get("holds").is_none(), "a list is short");
    }

    #[test]
    fn a_step_that_was_left_out_is_called_so_where_there_is_a_word_for_it() {
        let now = Timestamp::parse(NOW).unwrap();
        let mut operation = operation("op1", "site", "m", now);
        let fact = Fact::Skipped { step: StepKind::Cordon, reason: "the machine has no node".into() };
        operation.journal.push(Entry { at: now, fact });
        let (ours, models) = (crate::operations::render(&operation, now), action_state(&operation));
        assert_eq!((&ours["steps"][0]["status"], &models["stepStates"][0]["status"]), (&json!("Skipped"), &json!("Completed")));
        assert_eq!(models["stepStates"][0]["message"], "left out: the machine has no node");
    }
}
