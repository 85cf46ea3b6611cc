//! `Microsoft.NetworkCloud/bareMetalMachines`: reading.

use axum::response::Response;
use http::StatusCode;
use model::{
    Cluster, CordonedNode, Evacuated, Fault, Hold, Machine, Management, NodeProblem, Operation, Power, Provisioning, Role, Seen, Target,
    Timestamp, Wait,
};
use plan::{ProvisioningState, StepStatus};
use serde::Serialize;
use serde_json::{Value, json};

use super::resource::{Known, Ours, Resource};
use super::{clusters_at, hardware_inventory};
use crate::cache::{Versioned, View, Workload};
use crate::links;
use crate::operations::step_status;
use crate::reply::{Refused, resource_response};
use crate::route::Kind;

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
    let (cluster, machine) = find(view, subscription, group, name)?;
    Ok(resource_response(StatusCode::OK, &render_in_full(view, &cluster.document, &machine.document, now)))
}

/// The resource with what is ours beside the model: holds, waits and management.
pub(crate) fn render_in_full<'a>(view: &View, cluster: &'a Cluster, machine: &'a Machine, now: Timestamp) -> BareMetalMachine<'a> {
    let node = machine.last_seen.node.as_ref().map(|node| &node.what);
    let ours = Ours {
        unmanaged_reason: Some(match &machine.management {
            Management::Managed => Value::Null,
            Management::Unmanaged { by, reason, since } => json!({ "by": by, "reason": reason, "since": since }),
        }),
        managed_again: Some(json!(
            machine.managed_again.as_ref().map(|again| json!({ "by": again.by, "reason": again.reason, "at": again.at }))
        )),
        holds: Some(machine.holds.iter().map(render_hold).collect()),
        waits: Some(machine.waits.iter().map(|wait| render_wait(wait, now)).collect()),
        problems: Some(plan::problems(machine).iter().map(render_problem).collect()),
        cordoned_by_others: Some(node.is_some_and(|node| node.unschedulable && !node.cordoned_by_us)),
        unhealthy: Some(json!(machine.unhealthy)),
        installed: Some(json!(machine.installed)),
        replaced_at: Some(json!(machine.replaced.as_ref().map(|replaced| replaced.at))),
        evacuated: Some(json!(machine.evacuated.as_ref().map(render_evacuated))),
        ..render_sight(cluster, machine)
    };
    let mut resource = render(view, cluster, machine);
    resource.rackwright = Some(ours);
    resource
}

/// What a list tells beside the model, so that nobody takes what was seen long ago for what is so.
fn render_sight(cluster: &Cluster, machine: &Machine) -> Ours {
    let seen = &machine.last_seen;
    Ours {
        managed: matches!(machine.management, Management::Managed),
        spare: machine.is_spare(),
        power_seen_at: seen.power.as_ref().map(|power| power.at),
        bmc_fault: seen.bmc_fault.as_ref().map(render_fault),
        bmc_answered_at: seen.bmc_answered_at,
        undercloud_fault: plan::known_silence(cluster).as_ref().map(render_fault),
        ..Ours::default()
    }
}

pub(crate) fn render_fault(seen: &Seen<Fault>) -> Value {
    json!({ "class": seen.what.class, "fault": seen.what.to_string(), "since": seen.at })
}

fn render_problem(problem: &NodeProblem) -> Value {
    json!({ "kind": problem.kind, "message": problem.message, "since": problem.since })
}

pub(super) fn render_hold(hold: &Hold) -> Value {
    json!({ "kind": hold.owner.code(), "owner": hold.owner.to_string(), "reason": hold.reason, "since": hold.since })
}

/// What was stopped and cordoned to empty a machine, and waits to come back.
pub(crate) fn render_evacuated(evacuated: &Evacuated) -> Value {
    let node = |node: &CordonedNode| json!({ "cluster": node.cluster, "node": node.node });
    json!({
        "by": evacuated.by,
        "since": evacuated.since,
        "virtualMachines": evacuated.vms.iter().map(|stopped| &stopped.vm.name).collect::<Vec<_>>(),
        "nodes": evacuated.nodes.iter().map(node).collect::<Vec<_>>(),
    })
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

pub(crate) type BareMetalMachine<'a> = Resource<'a, Properties<'a>>;

/// The resource as it stands in a list.
pub(super) fn render<'a>(view: &View, cluster: &'a Cluster, machine: &'a Machine) -> BareMetalMachine<'a> {
    let Machine { name, created_at, edition, tags, .. } = machine;
    let known = Known { kind: Kind::Machines, name: name.as_str(), created_at: *created_at, edition: *edition, tags };
    let mut resource = Resource::new(cluster, known, properties(view, cluster, machine));
    if let Some(modified) = &machine.modified {
        resource.system_data.modified(modified);
    }
    resource.rackwright = Some(render_sight(cluster, machine));
    resource
}

/// `BareMetalMachineProperties`, in the order of its names. What is not known is left out.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Properties<'a> {
    action_states: Vec<Value>,
    associated_resource_ids: Vec<String>,
    bmc_connection_string: String,
    bmc_mac_address: &'a str,
    boot_mac_address: &'a str,
    cluster_id: String,
    cordon_status: &'static str,
    detailed_status: Provisioning,
    detailed_status_message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hardware_inventory: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hardware_validation_status: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kubernetes_node_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kubernetes_version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine_cluster_version: Option<String>,
    machine_details: &'a str,
    machine_name: &'a str,
    machine_roles: [&'static str; 1],
    machine_sku_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    oam_ipv4_address: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    os_image: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    power_state: Option<&'static str>,
    pub provisioning_state: &'static str,
    rack_id: String,
    rack_slot: u32,
    ready_state: &'static str,
    serial_number: &'a str,
    service_tag: &'a str,
}

fn properties<'a>(view: &View, cluster: &'a Cluster, machine: &'a Machine) -> Properties<'a> {
    let operations = view.operations_of(machine);
    let node = machine.last_seen.node.as_ref().map(|node| &node.what);
    let hardware = &machine.hardware;
    Properties {
        action_states: action_states(&operations),
        associated_resource_ids: view.workloads_on(machine).map(|workload| workload_id(cluster, workload)).collect(),
        bmc_connection_string: format!("redfish+{}", hardware.bmc_address),
        bmc_mac_address: &hardware.bmc_mac,
        boot_mac_address: &hardware.boot_mac,
        cluster_id: links::cluster_id(cluster),
        cordon_status: if machine.is_cordoned() { "Cordoned" } else { "Uncordoned" },
        detailed_status: machine.provisioning,
        detailed_status_message: plan::machine_message(machine),
        hardware_inventory: view.inventory(&machine.cluster, &machine.name).map(|found| hardware_inventory::render(&found.document)),
        hardware_validation_status: machine.validated.as_ref().map(|mark| json!({ "lastValidationTime": mark.at, "result": mark.result })),
        kubernetes_node_name: node.map(|node| node.name.as_str()),
        kubernetes_version: node.map(|node| node.kubelet_version.as_str()),
        // What we have not installed was there before us, as the cluster was described.
        machine_cluster_version: match &machine.installed {
            Some(installed) => Some(installed.version.to_string()),
            None => node.map(|_| cluster.version.clone()),
        },
        machine_details: &machine.details,
        machine_name: machine.name.as_str(),
        machine_roles: [role_label(machine.role)],
        machine_sku_id: &hardware.sku,
        oam_ipv4_address: node.and_then(|node| node.internal_ip.as_deref()),
        os_image: node.map(|node| node.os_image.as_str()),
        power_state: machine.last_seen.power.as_ref().map(|power| power_state(power.what)),
        provisioning_state: provisioning_state(machine, &operations),
        rack_id: links::rack_id(cluster, &hardware.rack),
        rack_slot: hardware.slot,
        ready_state: if machine.is_ready() { "True" } else { "False" },
        serial_number: &hardware.serial_number,
        service_tag: &hardware.serial_number,
    }
}

fn workload_id(cluster: &Cluster, workload: &Workload) -> String {
    match workload {
        Workload::Vm(name) => links::vm_id(cluster, name),
        Workload::TenantCluster(name) => links::tenant_cluster_id(cluster, name),
    }
}

/// The same without the rest.
pub(super) fn provisioning_state_of(view: &View, machine: &Machine) -> &'static str {
    provisioning_state(machine, &view.operations_of(machine))
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

fn provisioning_state(machine: &Machine, operations: &[&Operation]) -> &'static str {
    let latest = operations.iter().copied().find(|operation| plan::tells_of_machine(operation));
    match plan::provisioning_state(machine, latest) {
        ProvisioningState::Succeeded => "Succeeded",
        ProvisioningState::Failed => "Failed",
        ProvisioningState::Canceled => "Canceled",
        ProvisioningState::Provisioning => "Provisioning",
    }
}

/// How the most recent operation of each kind went, the latest first.
pub(super) fn action_states(operations: &[&Operation]) -> Vec<Value> {
    latest_of_each(operations).into_iter().map(action_state).collect()
}

/// The most recent operation of each kind, the latest first.
fn latest_of_each<'a>(operations: &[&'a Operation]) -> Vec<&'a Operation> {
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
                "stepName": step.title,
                "status": model_status(step.status),
                "startTime": step.started_at,
                "endTime": step.ended_at,
                "message": step.message,
            })
        })
        .collect();
    let kind = if matches!(operation.target, Target::Site(_)) { Kind::Clusters } else { Kind::Machines }.arm_type();
    let (status, message) = match &operation.ended {
        None => ("InProgress", operation.wait.as_ref().map(|wait| format!("waiting for {}", wait.kind)).unwrap_or_default()),
        Some(ended) if ended.result == model::OperationResult::Succeeded => ("Completed", ended.message.clone()),
        Some(ended) => ("Failed", ended.message.clone()),
    };
    json!({
        "actionType": format!("{}/{kind}/{}/action", links::PROVIDER, operation.action.verb()),
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

    /// What `actionStates` say: the action, by whose request, how it is, and its steps.
    fn told(resource: &Value) -> Vec<String> {
        let states = resource["properties"]["actionStates"].as_array().expect("a list");
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let one = |state: &Value| {
            let steps: Vec<String> = state["stepStates"].as_array().unwrap().iter().map(|step| text(&step["stepName"])).collect();
            let action = text(&state["actionType"]).replace("Microsoft.NetworkCloud/", "");
            format!("{action} {} {}: {}", text(&state["correlationId"]), text(&state["status"]), steps.join(", "))
        };
        states.iter().map(one).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn the_latest_of_each_action_is_shown_with_its_phases_and_its_correlation_id() {
        use model::{Action, CorrelationId, Ended, OperationResult, Safeguard, StoragePolicy, Target};
        let now = Timestamp::parse(NOW).unwrap();
        let done = |id: &str, ago: u64, target: Target, action: Action, result: Option<OperationResult>| Operation {
            target,
            action,
            correlation_id: CorrelationId::new(format!("of-{id}")),
            ended: result.map(|result| Ended { at: now, result, message: "m".into(), next: None, failure: None }),
            ..operation(id, "site", "m", now - Span::minutes(ago))
        };
        let (reimage, replace) = (
            Action::Reimage { safeguard: Safeguard::All },
            Action::Replace { storage: StoragePolicy::DiscardAll, safeguard: Safeguard::All },
        );
        let machine_named = || Target::Machine(model::MachineName::new("m").unwrap());
        let site = Target::Site(model::ClusterName::new("site").unwrap());
        let documents = [
            done("old", 30, machine_named(), reimage, Some(OperationResult::Failed)),
            done("swap", 20, machine_named(), replace, Some(OperationResult::Succeeded)),
            done("new", 10, machine_named(), reimage, None),
            done("look", 5, site, Action::Inspect, Some(OperationResult::Succeeded)),
        ];
        let start = Documents::default().cluster(&cluster("site")).machine(&machine("site", "rack1", "m"));
        let api = documents.iter().fold(start, Documents::operation).serve().await;
        let (_, seen) = send(&api, Method::GET, &format!("{MACHINES}/m?api-version=1"), "").await;
        assert_eq!(
            told(&seen),
            [
                "bareMetalMachines/reimage/action of-new InProgress: Deprovisioning, Provisioning, Cloud Init",
                "bareMetalMachines/replace/action of-swap Completed: Deprovisioning, Hardware Validation, Wait for Deprovisioning, Provisioning, Cloud Init",
            ]
        );
        let (_, seen) =
            send(&api, Method::GET, &format!("{}/site?api-version=1", MACHINES.replace("bareMetalMachines", "clusters")), "").await;
        assert_eq!(told(&seen), ["clusters/inspect/action of-look Completed: Hardware Validation"]);
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
