//! Operations: what Azure's clients poll, and what people look at.

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use model::{Ask, Cluster, Ended, Fact, Failure, Operation, OperationId, OperationResult, Timestamp};
use plan::StepStatus;
use serde_json::{Value, json};

use crate::Api;
use crate::cache::{Acceptance, View};
use crate::call::Call;
use crate::codes::Code;
use crate::entry::{self, Sight, forbidden};
use crate::links;
use crate::paging::{PAGE_MAX, Paging};
use crate::reply::{RETRY_AFTER, Refused, json_response, set_retry_after};
use crate::resources::machines::render_wait;
use crate::submit::submit;

/// An operation by its id, or by a beginning of it that fits no other.
pub(crate) fn find(view: &View, id: &str) -> Result<(Arc<Operation>, Arc<Cluster>), Refused> {
    find_among(view, id, |_| true)
}

/// The same among some operations: what the others' ids begin with is not even told.
fn find_among(view: &View, id: &str, is_known: impl Fn(&Operation) -> bool) -> Result<(Arc<Operation>, Arc<Cluster>), Refused> {
    let id = id.to_ascii_lowercase();
    let exact = view.operations.get(&OperationId::new(id.as_str())).filter(|operation| is_known(operation));
    let mut matching = view
        .operations
        .range(OperationId::new(id.as_str())..)
        .map(|(_, operation)| operation)
        .take_while(|operation| operation.id.as_str().starts_with(&id))
        .filter(|operation| is_known(operation));
    let operation = match (exact, matching.next(), matching.next()) {
        (Some(operation), _, _) | (None, Some(operation), None) => operation,
        (None, Some(_), Some(_)) => {
            return Err(Refused::new(Code::AmbiguousOperationId, format!("`{id}` begins more than one operation's id")));
        }
        (None, None, _) => return Err(Refused::not_found("operation", &id)),
    };
    with_cluster(view, operation)
}

fn with_cluster(view: &View, operation: &Arc<Operation>) -> Result<(Arc<Operation>, Arc<Cluster>), Refused> {
    let cluster = view.clusters.get(&operation.cluster).ok_or_else(|| Refused::not_found("cluster", operation.cluster.as_str()))?;
    Ok((operation.clone(), cluster.document.clone()))
}

/// An operation by its whole id, in its own subscription: programs that follow an ARM address must never meet another's. Whether there is
/// such a subscription is told to nobody here, since anybody may ask.
fn find_at(view: &View, call: &Call, subscription: &str, id: &str) -> Result<(Arc<Operation>, Arc<Cluster>), Refused> {
    let unknown = || Refused::not_found("operation", id);
    let operation = view.operations.get(&OperationId::new(id.to_ascii_lowercase())).ok_or_else(unknown)?;
    let (operation, cluster) = with_cluster(view, operation).map_err(|_| unknown())?;
    if !cluster.home.subscription.eq_ignore_ascii_case(subscription) {
        return Err(unknown());
    }
    if !is_seen(view, call.sight()?, &operation) {
        note_denial(call, &cluster, &operation);
        return Err(unknown());
    }
    Ok((operation, cluster))
}

/// Whoever may see what an operation is at work on may see the operation. To others there is none: even that they may not read it would
/// tell them what it is at work on.
pub(crate) fn is_seen(view: &View, sight: &Sight, operation: &Operation) -> bool {
    let cluster = view.clusters.get(&operation.cluster);
    cluster.is_some_and(|cluster| sight.sees(&links::target_id(&cluster.document, &operation.target)))
}

/// Says to the log, and to nobody else, that there is one.
fn note_denial(call: &Call, cluster: &Cluster, operation: &Operation) {
    call.deny(entry::unseen(&links::target_id(cluster, &operation.target)));
}

/// An operation that the caller may see.
pub(crate) fn find_seen(view: &View, call: &Call, id: &str) -> Result<(Arc<Operation>, Arc<Cluster>), Refused> {
    let sight = call.sight()?;
    find_among(view, id, |operation| is_seen(view, sight, operation)).inspect_err(|_| {
        // Of several that begin so, which one was meant cannot be told.
        if let Ok((operation, cluster)) = find(view, id)
            && !is_seen(view, sight, &operation)
        {
            note_denial(call, &cluster, &operation);
        }
    })
}

pub(crate) fn status(view: &View, call: &Call, subscription: &str, id: &str) -> Result<Response, Refused> {
    let (operation, cluster) = find_at(view, call, subscription, id)?;
    let mut response = json_response(StatusCode::OK, &render_status(&cluster, &operation));
    if operation.is_running() {
        set_retry_after(response.headers_mut(), RETRY_AFTER);
    }
    Ok(response)
}

/// What `Location` leads to: 202 while it runs, the result when it succeeded, an error when it did not.
pub(crate) fn result(view: &View, call: &Call, subscription: &str, id: &str) -> Result<Response, Refused> {
    let (operation, cluster) = find_at(view, call, subscription, id)?;
    let body = render_status(&cluster, &operation);
    match operation.ended.as_ref().map(|ended| (ended.result, ended)) {
        None => {
            let mut response = json_response(StatusCode::ACCEPTED, &body);
            set_retry_after(response.headers_mut(), RETRY_AFTER);
            Ok(response)
        }
        Some((OperationResult::Succeeded, _)) => Ok(json_response(StatusCode::OK, &body)),
        Some((OperationResult::Failed | OperationResult::Canceled, ended)) => {
            Ok(json_response(code_of(ended).status(), &json!({ "error": body["error"] })))
        }
    }
}

/// `OperationStatusResult` of the model.
pub(crate) fn render_status(cluster: &Cluster, operation: &Operation) -> Value {
    let mut body = json!({
        "id": links::operation_status_id(cluster, operation),
        "name": operation.id,
        "resourceId": links::target_id(cluster, &operation.target),
        "status": operation.ended.as_ref().map_or("InProgress".to_owned(), |ended| ended.result.to_string()),
        "startTime": operation.accepted_at,
        "percentComplete": plan::progress_of(operation).percent,
    });
    let warnings: Vec<&str> = operation.warnings().collect();
    if !warnings.is_empty() {
        body["properties"] = json!({ "warnings": warnings });
    }
    if let Some(ended) = &operation.ended {
        body["endTime"] = json!(ended.at);
        if ended.result != OperationResult::Succeeded {
            body["error"] = render_error(operation.target.name(), ended);
        }
    }
    body
}

pub(crate) fn render_error(machine: &str, ended: &Ended) -> Value {
    let details: Vec<Value> = ended.next.iter().map(|next| json!({ "code": "Next", "message": next })).collect();
    json!({ "code": code_of(ended).name(), "message": ended.message, "target": machine, "details": details })
}

pub(crate) fn code_of(ended: &Ended) -> Code {
    match ended.failure {
        Some(Failure::DeadlineExceeded) => Code::DeadlineExceeded,
        Some(Failure::DeviceUnsupported) => Code::DeviceUnsupported,
        Some(Failure::DeviceMissing) => Code::DeviceMissing,
        Some(Failure::HeldByBudget) => Code::HeldByBudget,
        Some(Failure::VmFailed) => Code::VmFailed,
        Some(Failure::InstallFailed) => Code::InstallFailed,
        Some(Failure::ValidationFailed) => Code::ValidationFailed,
        Some(Failure::BmcLoginFailed) => Code::BmcLoginFailed,
        Some(Failure::StorageFailed) => Code::StorageFailed,
        Some(Failure::EtcdFailed) => Code::EtcdFailed,
        None => Code::OperationCanceled,
    }
}

/// Operations on a page when the client does not say: without its journal one takes about a kilobyte, so that a busy
/// day of a site is one page, and scripts that count operations seldom need a second.
const OPERATIONS_PAGE_DEFAULT: usize = PAGE_MAX;

/// The latest first, without their journals.
pub(crate) fn list(view: &View, call: &Call, now: Timestamp) -> Result<Response, Refused> {
    let running_only = call.query("running").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let paging = Paging::of(call, OPERATIONS_PAGE_DEFAULT)?;
    let after = paging.after(parse_place)?;
    let sight = call.sight()?;
    let is_meant = |operation: &Operation| !running_only || operation.is_running();
    let rest = view.operations_after(after.as_ref()).filter(|operation| is_meant(operation) && is_seen(view, sight, operation));
    let token = |operation: &&Arc<Operation>| format!("{}/{}", operation.accepted_at, operation.id);
    let body = paging.page(call, rest, token, |operation| render(operation, now));
    Ok(json_response(StatusCode::OK, &body))
}

/// A place in the list of operations: when one was accepted, and its id.
fn parse_place(token: &str) -> Option<Acceptance> {
    let (accepted_at, id) = token.split_once('/')?;
    Some((Timestamp::parse(accepted_at)?, OperationId::new(id)))
}

pub(crate) fn show(view: &View, call: &Call, id: &str, now: Timestamp) -> Result<Response, Refused> {
    let (operation, _) = find_seen(view, call, id)?;
    Ok(json_response(StatusCode::OK, &render_in_full(&operation, now)))
}

/// An operation as people look at it, with its journal.
fn render_in_full(operation: &Operation, now: Timestamp) -> Value {
    let mut rendered = render(operation, now);
    rendered["journal"] = json!(operation.journal);
    rendered
}

/// An operation as it stands in a list.
pub(crate) fn render(operation: &Operation, now: Timestamp) -> Value {
    let progress = plan::progress_of(operation);
    let steps: Vec<Value> = progress
        .steps
        .iter()
        .map(|step| {
            json!({
                "name": step.title,
                "status": step_status(step.status),
                "startedAt": step.started_at,
                "endedAt": step.ended_at,
                "message": step.message,
            })
        })
        .collect();
    let ended = operation.ended.as_ref();
    let mut rendered = json!({
        "id": operation.id,
        "cluster": operation.cluster,
        "machine": operation.machine(),
        "target": operation.target.name(),
        "action": operation.action.command(),
        "caller": operation.caller,
        "correlationId": operation.correlation_id,
        "status": ended.map_or("InProgress".to_owned(), |ended| ended.result.to_string()),
        "percentComplete": progress.percent,
        "acceptedAt": operation.accepted_at,
        "deadlineAt": operation.deadline_at,
        "endedAt": ended.map(|ended| ended.at),
        "message": ended.map(|ended| ended.message.clone()),
        "next": ended.and_then(|ended| ended.next.clone()),
        "cancelRequestedBy": operation.cancel.as_ref().map(|cancel| cancel.by.clone()),
        "warnings": operation.warnings().collect::<Vec<_>>(),
        "steps": steps,
        "wait": operation.wait.as_ref().map(|wait| render_wait(wait, now)),
    });
    if let Some(inspection) = operation.journal.iter().rev().find_map(|entry| inspection(&entry.fact)) {
        rendered["inspection"] = inspection;
    }
    rendered
}

/// What an inspection came to, machine by machine, for whoever goes on from it.
fn inspection(fact: &Fact) -> Option<Value> {
    let Fact::Inspected { passed, failed, unknown } = fact else { return None };
    Some(json!({ "passed": passed, "failed": failed, "unknown": unknown }))
}

/// A step's status in our words: those of the model, and one for a step that was left out.
pub(crate) fn step_status(status: StepStatus) -> &'static str {
    match status {
        StepStatus::NotStarted => "NotStarted",
        StepStatus::InProgress => "InProgress",
        StepStatus::Completed => "Completed",
        StepStatus::Skipped => "Skipped",
        StepStatus::Failed => "Failed",
    }
}

pub(crate) async fn cancel(api: &Api, call: &Call, id: &str) -> Result<Response, Refused> {
    let view = api.cache.view();
    let (operation, cluster) = find_seen(&view, call, id)?;
    let may = call.sight()?.may_cancel(&links::target_id(&cluster, &operation.target));
    may.map_err(|missing| forbidden(call, &missing))?;
    submit(api, call, &cluster.name, Ask::Cancel { operation: operation.id.clone() }, &[]).await?;
    let (operation, _) = find(&api.cache.view(), operation.id.as_str()).map_err(Refused::in_log)?;
    Ok(json_response(StatusCode::ACCEPTED, &render_in_full(&operation, api.clock.now())))
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;
    use crate::fixtures::{Documents, NOW, cluster, machine, operation, send};

    #[test]
    fn whoever_asked_for_an_operation_reads_what_speaks_against_it() {
        let begin = Timestamp::parse(NOW).unwrap();
        let mut warned = operation("8f3c1a2b", "site1", "m1", begin);
        let words = "it has been away".to_owned();
        warned.journal.push(model::Entry { at: begin, fact: model::Fact::Warned { words: words.clone() } });
        assert_eq!(render_status(&cluster("site1"), &warned)["properties"], json!({ "warnings": [words] }));
        assert_eq!(render(&warned, begin)["warnings"], json!([words]));
        let plain = operation("8f3c1a2b", "site1", "m1", begin);
        assert_eq!(
            (&render_status(&cluster("site1"), &plain)["properties"], &render(&plain, begin)["warnings"]),
            (&Value::Null, &json!([]))
        );
    }

    #[test]
    fn an_inspection_says_which_machines_are_not_known_to_be_well() {
        let begin = Timestamp::parse(NOW).unwrap();
        let mut inspected = operation("8f3c1a2b", "site1", "m1", begin);
        assert_eq!(render(&inspected, begin).get("inspection"), None);
        let names = |name: &str| vec![model::MachineName::new(name).unwrap()];
        let fact = Fact::Inspected { passed: 3, failed: names("m1"), unknown: names("m2") };
        inspected.journal.push(model::Entry { at: begin, fact });
        assert_eq!(render(&inspected, begin)["inspection"], json!({ "passed": 3, "failed": ["m1"], "unknown": ["m2"] }));
    }

    #[tokio::test]
    async fn an_arm_address_takes_the_whole_id_in_the_right_subscription() {
        let begin = Timestamp::parse(NOW).unwrap();
        let mut other = cluster("site2");
        other.home.subscription = "s2".into();
        let documents = Documents::default().cluster(&cluster("site1")).cluster(&other).machine(&machine("site1", "rack1", "m1"));
        let api = documents.operation(&operation("8f3c1a2b", "site1", "m1", begin)).serve().await;
        for collection in ["operationStatuses", "operationResults"] {
            let path = |subscription: &str, id: &str| {
                format!("/subscriptions/{subscription}/providers/Microsoft.NetworkCloud/locations/local/{collection}/{id}?api-version=1")
            };
            for (subscription, id, code) in [
                ("S1", "8F3C1A2B", None),
                ("s1", "8f3c", Some("ResourceNotFound")),
                ("s2", "8f3c1a2b", Some("ResourceNotFound")),
                ("s3", "8f3c1a2b", Some("ResourceNotFound")),
            ] {
                let (status, body) = send(&api, Method::GET, &path(subscription, id), "").await;
                assert_eq!(body["error"]["code"].as_str(), code, "{collection} {subscription} {id}: {body}");
                assert_eq!(status == StatusCode::NOT_FOUND, code.is_some());
            }
        }
        assert_eq!(send(&api, Method::GET, "/rackwright/v1/operations/8f3c", "").await.0, StatusCode::OK, "people may be brief");
    }
}
