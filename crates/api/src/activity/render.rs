//! An entry of the activity log as Azure's `EventData`.

use http::StatusCode;
use model::{
    Activity, ActivityError, ActivityKind, ActivityStatus, Connection, DescriptionChange, DeviceAsk, HoldChange, Part, PartKind, Party,
    Sent, Subject, Timestamp,
};
use serde::Serialize;
use serde_json::{Value, json};
use store::RecordPlace;
use uuid::Uuid;

use crate::codes::Code;
use crate::links::{self, PROVIDER};
use crate::operations;
use crate::reply::Refused;
use crate::route::Kind;

/// Instants in Azure's ids are counted in tenths of a microsecond since the year one.
const TICKS_AT_EPOCH: i64 = 621_355_968_000_000_000;
const TICKS_PER_MILLI: i64 = 10_000;

/// The id leads back to the place without a search.
pub(super) fn event_id(place: RecordPlace) -> Uuid {
    Uuid::from_u64_pair(place.revision.0, u64::from(place.position))
}

pub(super) fn place_of(id: &str) -> Option<RecordPlace> {
    let (revision, position) = Uuid::parse_str(id).ok()?.as_u64_pair();
    Some(RecordPlace { revision: store::Revision(revision), position: u32::try_from(position).ok()? })
}

pub(super) fn arm_type(part: PartKind) -> &'static str {
    match part {
        PartKind::Cluster => Kind::Clusters.arm_type(),
        PartKind::Rack => Kind::Racks.arm_type(),
        PartKind::Machine => Kind::Machines.arm_type(),
        PartKind::Vm => Kind::Vms.arm_type(),
        PartKind::TenantCluster => Kind::TenantClusters.arm_type(),
    }
}

fn kind_and_name(subject: &Subject) -> (&'static str, &str) {
    match &subject.part {
        Part::Cluster => (arm_type(PartKind::Cluster), subject.cluster.as_str()),
        Part::Rack(name) => (arm_type(PartKind::Rack), name.as_str()),
        Part::Machine(name) => (arm_type(PartKind::Machine), name.as_str()),
        Part::Vm(name) => (arm_type(PartKind::Vm), name.as_str()),
        Part::TenantCluster(name) => (arm_type(PartKind::TenantCluster), name.as_str()),
    }
}

pub(super) fn resource_id(subject: &Subject) -> String {
    let (kind, name) = kind_and_name(subject);
    links::resource_id(&subject.subscription, &subject.resource_group, kind, name)
}

pub(super) fn status(status: ActivityStatus) -> &'static str {
    match status {
        ActivityStatus::Started => "Started",
        ActivityStatus::Accepted => "Accepted",
        ActivityStatus::InProgress => "InProgress",
        ActivityStatus::Succeeded => "Succeeded",
        ActivityStatus::Failed => "Failed",
        ActivityStatus::Canceled => "Canceled",
    }
}

/// A device's fault is asked again, and a silence may end: they are warnings until something has failed for good.
pub(super) fn level(entry: &Activity) -> &'static str {
    match (entry.status, &entry.what) {
        (
            ActivityStatus::Failed,
            ActivityKind::Device { .. }
            | ActivityKind::Errand { .. }
            | ActivityKind::Refusals { .. }
            | ActivityKind::Connection { connection: Connection::Timeout },
        )
        | (ActivityStatus::Canceled, _) => "Warning",
        (ActivityStatus::Failed, _) => "Error",
        _ => "Informational",
    }
}

/// A word of the model as its documents spell it.
fn spelled(word: impl Serialize) -> String {
    json!(word).as_str().unwrap_or_default().to_owned()
}

/// `Microsoft.NetworkCloud/bareMetalMachines/restart/action`, and so on for what is not an action of the model.
fn operation_name(entry: &Activity) -> String {
    let (kind, _) = kind_and_name(&entry.subject);
    let what = match &entry.what {
        ActivityKind::Request { verb, .. } if !is_action(verb) => verb.clone(),
        ActivityKind::Request { verb, .. } => format!("{verb}/action"),
        ActivityKind::Operation { action } => format!("{}/action", action.verb()),
        ActivityKind::Step { action, step } => format!("{}/steps/{}", action.verb(), spelled(step)),
        ActivityKind::Device { ask, .. } => format!("{}/{}/action", device(*ask), spelled(ask)),
        ActivityKind::Errand { errand, .. } => format!("workloads/{}/action", errand.code()),
        ActivityKind::Workload { action } => format!("{}/workloads", action.verb()),
        ActivityKind::Installation { action } => format!("{}/installation", action.verb()),
        ActivityKind::Hold { change: HoldChange::Placed, .. } => "holds/write".to_owned(),
        ActivityKind::Hold { change: HoldChange::Released, .. } => "holds/delete".to_owned(),
        ActivityKind::Connection { .. } => "connection/write".to_owned(),
        ActivityKind::Refusals { .. } => "refusals/write".to_owned(),
        ActivityKind::Description { change: DescriptionChange::Written } => "write".to_owned(),
        ActivityKind::Description { change: DescriptionChange::Removed } => "delete".to_owned(),
    };
    format!("{PROVIDER}/{kind}/{what}")
}

/// Who is asked on a machine's behalf.
fn device(ask: DeviceAsk) -> &'static str {
    match (ask.party(), ask) {
        (Party::Bmc, _) => "bmc",
        (Party::Undercloud, DeviceAsk::Cordon | DeviceAsk::Uncordon) => "node",
        (Party::Undercloud, _) => "undercloud",
        (Party::Etcd, _) => "etcd",
    }
}

/// Whether the request was an action of ARM; the others are called by what they do to the resource.
fn is_action(verb: &str) -> bool {
    verb != "write" && verb != "delete"
}

/// Status and body of the error, as whoever asked was or would have been answered.
fn error_of(entry: &Activity, error: &ActivityError) -> (StatusCode, Value) {
    let of_refused = |refused: &Refused| (refused.status(), refused.body()["error"].clone());
    match error {
        ActivityError::Refused { refusal } => of_refused(&Refused::by_rule(refusal.clone())),
        ActivityError::Rejected { code, message, target } => match Code::named(code) {
            Some(code) => of_refused(&Refused::new(code, message).with_target(target.clone())),
            // Of a version that has other codes than this one.
            None => (StatusCode::BAD_REQUEST, json!({ "code": code, "message": message, "target": target })),
        },
        ActivityError::Ended { ended } => {
            (operations::code_of(ended).status(), operations::render_error(kind_and_name(&entry.subject).1, ended))
        }
        ActivityError::Faulted { fault } => {
            let target = kind_and_name(&entry.subject).1;
            of_refused(&Refused::new(Code::DeviceFault, fault.to_string()).target(target))
        }
    }
}

/// What an answer without an error was answered with; nobody is answered what we do by ourselves.
fn answered_with(entry: &Activity) -> Option<StatusCode> {
    match (&entry.what, entry.status) {
        (ActivityKind::Request { .. }, ActivityStatus::Accepted) => Some(StatusCode::ACCEPTED),
        (ActivityKind::Request { .. }, _) | (ActivityKind::Operation { .. }, ActivityStatus::Succeeded) => Some(StatusCode::OK),
        _ => None,
    }
}

/// `NotFound`, as Azure writes `404 Not Found`.
fn status_name(status: StatusCode) -> String {
    status.canonical_reason().unwrap_or_default().replace(' ', "")
}

fn localized(value: &str) -> Value {
    json!({ "value": value, "localizedValue": value })
}

pub(super) fn event(place: RecordPlace, at: Timestamp, entry: &Activity) -> Value {
    let (id, resource) = (event_id(place).to_string(), resource_id(&entry.subject));
    let (kind, _) = kind_and_name(&entry.subject);
    let (operation_name, status) = (operation_name(entry), status(entry.status));
    let error = entry.error.as_ref().map(|error| error_of(entry, error));
    let answered = error.as_ref().map(|(status, _)| *status).or_else(|| answered_with(entry));
    let sub_status = answered.map_or_else(
        || localized(""),
        |code| json!({ "value": status_name(code), "localizedValue": format!("{} (HTTP Status Code: {})", status_name(code), code.as_u16()) }),
    );
    let begins = matches!(entry.status, ActivityStatus::Started | ActivityStatus::Accepted | ActivityStatus::InProgress);
    json!({
        "id": format!("{resource}/events/{id}/ticks/{}", TICKS_AT_EPOCH + at.as_millis() * TICKS_PER_MILLI),
        "eventDataId": id,
        "eventTimestamp": at,
        "submissionTimestamp": at,
        "correlationId": entry.correlation_id,
        "operationId": entry.operation.as_ref().map_or(entry.correlation_id.as_str(), |operation| operation.as_str()),
        "level": level(entry),
        "caller": entry.caller,
        "description": entry.message,
        "operationName": localized(&operation_name),
        "category": localized("Administrative"),
        "eventName": localized(if begins { "BeginRequest" } else { "EndRequest" }),
        "status": localized(status),
        "subStatus": sub_status,
        "resourceId": resource,
        "resourceGroupName": entry.subject.resource_group,
        "resourceProviderName": localized(PROVIDER),
        "resourceType": localized(&format!("{PROVIDER}/{kind}")),
        "subscriptionId": entry.subject.subscription,
        "authorization": { "action": operation_name, "scope": resource },
        "httpRequest": http_request(entry),
        "properties": properties(entry, &resource, answered, error.map(|(_, body)| body)),
    })
}

/// What is known of the HTTP request. Entries of earlier versions do not say; but every action is a POST.
fn http_request(entry: &Activity) -> Value {
    match &entry.what {
        ActivityKind::Request { sent: Some(Sent { method, client_request_id: None }), .. } => json!({ "method": method }),
        ActivityKind::Request { sent: Some(Sent { method, client_request_id: Some(id) }), .. } => {
            json!({ "method": method, "clientRequestId": id })
        }
        ActivityKind::Request { verb, sent: None } if is_action(verb) => json!({ "method": "POST" }),
        _ => Value::Null,
    }
}

/// Azure's properties are texts, the nested error too; ours beside them say which operation, step or attempt it was.
fn properties(entry: &Activity, resource: &str, answered: Option<StatusCode>, error: Option<Value>) -> Value {
    let mut properties = json!({
        "entity": resource,
        "message": entry.message,
        "eventCategory": "Administrative",
        "cluster": entry.subject.cluster,
    });
    if let Some(answered) = answered {
        properties["statusCode"] = json!(status_name(answered));
    }
    if let Some(error) = error {
        properties["statusMessage"] = json!(json!({ "status": status(entry.status), "error": error }).to_string());
    }
    if let Some(operation) = &entry.operation {
        properties["operation"] = json!(operation);
    }
    match &entry.what {
        ActivityKind::Step { step, .. } => properties["step"] = json!(step.title()),
        ActivityKind::Device { ask, attempt } => {
            properties["ask"] = json!(ask.to_string());
            properties["attempt"] = json!(attempt.to_string());
        }
        ActivityKind::Errand { errand, attempt } => {
            properties["ask"] = json!(errand.to_string());
            properties["attempt"] = json!(attempt.to_string());
        }
        ActivityKind::Hold { owner, .. } => properties["owner"] = json!(owner.to_string()),
        ActivityKind::Connection { connection } => properties["connection"] = json!(connection),
        ActivityKind::Refusals { by_code } => {
            properties["refusals"] = json!(by_code.values().sum::<u64>().to_string());
        }
        ActivityKind::Request { .. }
        | ActivityKind::Operation { .. }
        | ActivityKind::Workload { .. }
        | ActivityKind::Installation { .. }
        | ActivityKind::Description { .. } => {}
    }
    properties
}

#[cfg(test)]
mod tests;
