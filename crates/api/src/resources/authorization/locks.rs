//! `Microsoft.Authorization/locks`: what keeps even an owner from deleting or changing something by mistake.

use access::Scope;
use access::lock::{InvalidLock, Level, Lock};
use axum::response::Response;
use gate::{RestraintError, Was};
use http::StatusCode;
use serde_json::{Value, json};

use super::filter::{Reach, Words};
use super::{administered, filter, id_of, is_listed, made, page_of};
use crate::Api;
use crate::call::Call;
use crate::codes::Code;
use crate::fields;
use crate::reply::{RETRY_AFTER, Refused, json_response, no_content};
use crate::route::authorization::Collection;
use crate::schema;

const OF: Collection = Collection::Locks;

/// Locks at the scope and below it: `az lock show` and `delete` look for theirs in the list of the subscription.
pub(super) fn list(api: &Api, call: &Call, scope: &Scope) -> Result<Response, Refused> {
    let reach = filter::read(call, Words::Places)?.reach.unwrap_or(Reach::Inward);
    let locks: Vec<Lock> = api.gate.directory().restraints().locks().cloned().collect();
    let mut found = Vec::new();
    for lock in locks {
        if is_listed(call, OF, scope, reach, &lock.scope)? {
            found.push(lock);
        }
    }
    page_of(call, found, |lock| id_of(&lock.scope, OF, &lock.name), render)
}

pub(super) fn show(api: &Api, scope: &Scope, name: &str) -> Result<Response, Refused> {
    let lock = api.gate.directory().restraints().lock(scope, name).cloned().ok_or_else(|| Refused::not_found("lock", name))?;
    Ok(json_response(StatusCode::OK, &render(&lock)))
}

pub(super) async fn put(api: &Api, call: &Call, scope: Scope, name: &str, body: &[u8]) -> Result<Response, Refused> {
    let described = fields::described(&schema::LOCK, body)?;
    let properties = &described["properties"];
    let level = if properties["level"] == "ReadOnly" { Level::ReadOnly } else { Level::CanNotDelete };
    let notes = properties["notes"].as_str().unwrap_or_default().to_owned();
    let (gate, author, name) = (api.gate.clone(), call.author()?, name.to_owned());
    let put = async move { gate.put_lock(&author, scope, &name, level, notes).await.map_err(refused) };
    let (lock, was) = administered(api, call, "lock", |(lock, _)| Some(id_of(&lock.scope, OF, &lock.name)), put).await?;
    let status = if was == Was::There { StatusCode::OK } else { StatusCode::CREATED };
    Ok(json_response(status, &render(&lock)))
}

pub(super) async fn delete(api: &Api, call: &Call, scope: &Scope, name: &str) -> Result<Response, Refused> {
    let known = api.gate.directory().restraints().lock(scope, name).cloned();
    let Some(lock) = known else { return Ok(no_content()) };
    let (gate, at, named) = (api.gate.clone(), lock.scope.clone(), lock.name.clone());
    let id = id_of(scope, OF, name);
    let remove = async move { gate.remove_lock(&at, &named).await.map_err(refused) };
    administered(api, call, "unlock", |was_there| was_there.then_some(id), remove).await?;
    Ok(json_response(StatusCode::OK, &render(&lock)))
}

/// What keeps a lock, a policy or a quota from being written.
pub(crate) fn refused(problem: RestraintError) -> Refused {
    match problem {
        RestraintError::Lock(problem) => {
            let field = match problem {
                InvalidLock::Name(_) => "lockName",
                InvalidLock::Notes => "properties.notes",
                InvalidLock::OfLock => "scope",
            };
            Refused::bad_content(problem.to_string()).target(field)
        }
        RestraintError::Policy(access::deny::InvalidPolicy::TooMany) | RestraintError::TooManyLocks => {
            Refused::new(Code::OperationNotAllowed, problem.to_string())
        }
        RestraintError::Policy(problem) => Refused::bad_content(problem.to_string()),
        RestraintError::Quota(problem) => Refused::bad_content(problem.to_string()),
        RestraintError::Gate(problem) => unavailable(&problem),
    }
}

/// For what could not be stored.
pub(crate) fn unavailable(problem: &gate::GateError) -> Refused {
    tracing::error!(error = %problem, "what was administered could not be stored");
    Refused::new(Code::StoreUnavailable, "the store cannot be written; nothing was changed").retry_after(RETRY_AFTER)
}

fn render(lock: &Lock) -> Value {
    let mut properties = json!({ "level": lock.level });
    if !lock.notes.is_empty() {
        properties["notes"] = json!(lock.notes);
    }
    json!({
        "id": id_of(&lock.scope, OF, &lock.name),
        "name": lock.name,
        "type": OF.full_type(),
        "systemData": made(&lock.created_by, lock.created_at),
        "properties": properties,
    })
}
