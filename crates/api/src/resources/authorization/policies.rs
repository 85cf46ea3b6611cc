//! `Microsoft.Authorization/policyAssignments`: what nobody may make, whatever role they have.
//!
//! Azure keeps rules and where they hold apart; a policy here is both at once, and always denies.

use access::Scope;
use access::deny::DenyPolicy;
use axum::response::Response;
use gate::Was;
use http::StatusCode;
use serde_json::{Value, json};

use super::filter::{Reach, Words};
use super::locks::refused;
use super::policy_body;
use super::{administered, filter, id_of, is_listed, page_of};
use crate::Api;
use crate::call::Call;
use crate::reply::{Refused, json_response, no_content};
use crate::route::authorization::Collection;

const OF: Collection = Collection::PolicyAssignments;

/// Policies that hold at the scope or anywhere below it.
pub(super) fn list(api: &Api, call: &Call, scope: &Scope) -> Result<Response, Refused> {
    let reach = filter::read(call, Words::Places)?.reach.unwrap_or(Reach::Everything);
    let policies: Vec<DenyPolicy> = api.gate.directory().restraints().policies().iter().cloned().collect();
    let mut found = Vec::new();
    for policy in policies {
        if is_listed(call, OF, scope, reach, &policy.scope)? {
            found.push(policy);
        }
    }
    page_of(call, found, |policy| id_of(&policy.scope, OF, &policy.id), render)
}

pub(super) fn show(api: &Api, scope: &Scope, name: &str) -> Result<Response, Refused> {
    let found = api.gate.directory().restraints().policies().get(&DenyPolicy::key_of(scope, name)).cloned();
    let policy = found.ok_or_else(|| Refused::not_found("policy", name))?;
    Ok(json_response(StatusCode::OK, &render(&policy)))
}

pub(super) async fn put(api: &Api, call: &Call, scope: Scope, name: &str, body: &[u8]) -> Result<Response, Refused> {
    let policy = policy_body::read(scope, name, body)?;
    let gate = api.gate.clone();
    let put = async move { gate.put_policy(policy).await.map_err(refused) };
    let (policy, was) = administered(api, call, "policy", |(policy, _)| Some(id_of(&policy.scope, OF, &policy.id)), put).await?;
    let status = if was == Was::There { StatusCode::OK } else { StatusCode::CREATED };
    Ok(json_response(status, &render(&policy)))
}

pub(super) async fn delete(api: &Api, call: &Call, scope: &Scope, name: &str) -> Result<Response, Refused> {
    let known = api.gate.directory().restraints().policies().get(&DenyPolicy::key_of(scope, name)).cloned();
    let (gate, at, named, id) = (api.gate.clone(), scope.clone(), name.to_owned(), id_of(scope, OF, name));
    let remove = async move { gate.remove_policy(&at, &named).await.map_err(refused) };
    if !administered(api, call, "no policy", |was_there| was_there.then_some(id), remove).await? {
        return Ok(no_content());
    }
    Ok(known.map_or_else(no_content, |policy| json_response(StatusCode::OK, &render(&policy))))
}

fn render(policy: &DenyPolicy) -> Value {
    let mut properties = json!({
        "scope": policy.scope,
        "enforcementMode": "Default",
        "reason": policy.reason,
        "conditions": policy.conditions.iter().map(policy_body::render).collect::<Vec<_>>(),
    });
    if let Some(name) = &policy.display_name {
        properties["displayName"] = json!(name);
    }
    json!({ "id": id_of(&policy.scope, OF, &policy.id), "name": policy.id, "type": OF.full_type(), "properties": properties })
}
