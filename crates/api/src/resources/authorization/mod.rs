//! `{scope}/providers/Microsoft.Authorization/…`: who has which role, what is locked, and what is denied to everybody.
//!
//! `gate` keeps and `access` decides; here are only the shapes that Azure's clients send and read.

mod filter;
mod locks;
mod policies;
mod policy_body;
mod role_assignments;
mod role_definitions;

use access::Scope;
use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};
use tracing::{Instrument, info};

use crate::Api;
use crate::call::Call;
use crate::entry;
use crate::paging::{PAGE_DEFAULT, Paging};
use crate::reply::{Refused, json_response};
use crate::route::authorization::{Collection, Errand, NAMESPACE};
use crate::submit::see_through;
use filter::Reach;
pub(crate) use locks::refused as write_refused;

pub(crate) async fn answer(api: &Api, call: &Call, scope: &str, of: Collection, errand: Errand, body: Body) -> Result<Response, Refused> {
    let scope = Scope::parse(scope).map_err(|invalid| Refused::bad_content(invalid.to_string()).target("scope"))?;
    let body = match errand {
        Errand::Put(_) => entry::read_body(api, call, body).await?,
        Errand::List | Errand::Show(_) | Errand::Delete(_) => zeroize::Zeroizing::default(),
    };
    match (of, errand) {
        (Collection::Locks, Errand::List) => locks::list(api, call, &scope),
        (Collection::Locks, Errand::Show(name)) => locks::show(api, &scope, &name),
        (Collection::Locks, Errand::Put(name)) => locks::put(api, call, scope, &name, &body).await,
        (Collection::Locks, Errand::Delete(name)) => locks::delete(api, call, &scope, &name).await,
        (Collection::PolicyAssignments, Errand::List) => policies::list(api, call, &scope),
        (Collection::PolicyAssignments, Errand::Show(name)) => policies::show(api, &scope, &name),
        (Collection::PolicyAssignments, Errand::Put(name)) => policies::put(api, call, scope, &name, &body).await,
        (Collection::PolicyAssignments, Errand::Delete(name)) => policies::delete(api, call, &scope, &name).await,
        (Collection::RoleAssignments, Errand::List) => role_assignments::list(api, call, &scope),
        (Collection::RoleAssignments, Errand::Show(name)) => role_assignments::show(api, &scope, &name),
        (Collection::RoleAssignments, Errand::Put(name)) => role_assignments::put(api, call, scope, &name, &body).await,
        (Collection::RoleAssignments, Errand::Delete(name)) => role_assignments::delete(api, call, &scope, &name).await,
        (Collection::RoleDefinitions, Errand::List) => role_definitions::list(call, &scope),
        (Collection::RoleDefinitions, Errand::Show(name)) => role_definitions::show(&scope, &name),
        // The router leads nobody here: roles are built in.
        (Collection::RoleDefinitions, Errand::Put(_) | Errand::Delete(_)) => Err(Refused::internal()),
    }
}

/// The id of something that is administered at a scope.
pub(crate) fn id_of(scope: &Scope, of: Collection, name: &str) -> String {
    let stem = if scope.is_root() { "" } else { scope.as_str() };
    format!("{stem}/providers/{NAMESPACE}/{}/{name}", of.arm_type())
}

/// Whether something that holds at `its` belongs into a list at `scope`, and the caller may see it: what holds here may be seen by whoever
/// may see what is administered here, wherever it was made.
fn is_listed(call: &Call, of: Collection, scope: &Scope, reach: Reach, its: &Scope) -> Result<bool, Refused> {
    if !reach.admits(scope, its) {
        return Ok(false);
    }
    let sight = call.sight()?;
    Ok(sight.sees_administered(of, its) || (its.contains(scope) && sight.sees_administered(of, scope)))
}

/// A page of what was found, in the order of their ids without case.
fn page_of<T>(call: &Call, found: Vec<T>, id: impl Fn(&T) -> String, render: impl Fn(&T) -> Value) -> Result<Response, Refused> {
    let paging = Paging::of(call, PAGE_DEFAULT)?;
    let after = paging.after(|token| Some(token.to_ascii_lowercase()))?;
    let mut keyed: Vec<(String, T)> = found.into_iter().map(|one| (id(&one).to_ascii_lowercase(), one)).collect();
    keyed.retain(|(key, _)| after.as_ref().is_none_or(|after| key > after));
    keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(json_response(StatusCode::OK, &paging.page(call, keyed.into_iter(), |(key, _)| key.clone(), |(_, one)| render(one))))
}

/// Changes what is administered, and tells the log of the process who did so. Both are done to their end, whether or not whoever asked waits
/// for the answer: nobody changes anything unnoticed by hanging up. `about` is nothing where nothing was changed.
pub(crate) async fn administered<T: Send + 'static>(
    api: &Api,
    call: &Call,
    what: &'static str,
    about: impl FnOnce(&T) -> Option<String> + Send + 'static,
    change: impl Future<Output = Result<T, Refused>> + Send + 'static,
) -> Result<T, Refused> {
    let (caller, from, correlation_id) = (call.caller(), call.peer(), call.correlation_id.clone());
    let principal = call.sight().ok().map(|sight| sight.caller().principal.to_string());
    let told = async move {
        let changed = change.await?;
        if let Some(about) = about(&changed) {
            info!(target: "audit", %correlation_id, caller, principal, %from, what, about, "something was administered");
        }
        Ok(changed)
    };
    see_through(api, told.in_current_span()).await
}

/// What Azure tells of who made something.
fn made(by: &str, at: model::Timestamp) -> Value {
    json!({ "createdAt": at, "createdBy": by, "createdByType": "Application" })
}

#[cfg(test)]
mod tests;
