//! `Microsoft.Authorization/roleDefinitions`: the roles that there are. All are built in.

use access::roles::{BUILT_IN, Role, find};
use access::{RoleId, Scope};
use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

use super::filter::{self, Words};
use super::page_of;
use crate::call::Call;
use crate::reply::{Refused, json_response};
use crate::route::authorization::Collection;

const OF: Collection = Collection::RoleDefinitions;
const KIND: &str = "BuiltInRole";

pub(super) fn list(call: &Call, scope: &Scope) -> Result<Response, Refused> {
    let wanted = filter::read(call, Words::Roles)?;
    let is_wanted = |role: &&Role| {
        wanted.role_name.as_ref().is_none_or(|name| role.name.eq_ignore_ascii_case(name))
            && wanted.kind.as_ref().is_none_or(|kind| KIND.eq_ignore_ascii_case(kind))
    };
    let found: Vec<&Role> = BUILT_IN.iter().filter(is_wanted).collect();
    page_of(call, found, |role| role.id.to_string(), |role| render(scope, role))
}

pub(super) fn show(scope: &Scope, name: &str) -> Result<Response, Refused> {
    let role = RoleId::parse(name).ok().and_then(find).ok_or_else(|| Refused::not_found("role definition", name))?;
    Ok(json_response(StatusCode::OK, &render(scope, role)))
}

/// The id of a role as it is told at a scope: Azure's clients find the role of an assignment by comparing these texts, so both are of the
/// subscription that was asked in.
pub(super) fn role_id(scope: &Scope, role: RoleId) -> String {
    let place = scope.subscription_id().map(|id| format!("/subscriptions/{id}")).unwrap_or_default();
    format!("{place}/providers/{}/{role}", OF.full_type())
}

fn render(scope: &Scope, role: &Role) -> Value {
    json!({
        "id": role_id(scope, role.id),
        "name": role.id,
        "type": OF.full_type(),
        "properties": {
            "roleName": role.name,
            "type": KIND,
            "description": role.description,
            "assignableScopes": ["/"],
            "permissions": [{ "actions": role.actions, "notActions": role.not_actions, "dataActions": [], "notDataActions": [] }],
        },
    })
}
