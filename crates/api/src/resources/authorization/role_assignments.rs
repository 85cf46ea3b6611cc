//! `Microsoft.Authorization/roleAssignments`: who has which role, and where.
//!
//! A principal need not be known: people are known to their issuer alone, and may be given a role before they first come. Who is said to be
//! a service principal must be one of ours.

use access::assignment::InvalidAssignment;
use access::roles::find;
use access::{AssignmentId, PrincipalId, RoleAssignment, RoleId, Scope};
use axum::response::Response;
use gate::{Assigned, AssignmentError, Gate, Was};
use http::StatusCode;
use serde_json::{Value, json};

use super::filter::{self, Reach, Words};
use super::locks::unavailable;
use super::role_definitions::role_id;
use super::{administered, id_of, is_listed, page_of};
use crate::Api;
use crate::call::Call;
use crate::codes::Code;
use crate::fields;
use crate::reply::{Refused, json_response, no_content, shortened};
use crate::route::authorization::Collection;
use crate::schema;

const OF: Collection = Collection::RoleAssignments;

/// Assignments around the scope, at it and below it; with `atScope()` those that hold for all of it.
pub(super) fn list(api: &Api, call: &Call, scope: &Scope) -> Result<Response, Refused> {
    let wanted = filter::read(call, Words::Principals)?;
    let reach = wanted.reach.unwrap_or(Reach::Everything);
    let is_whose = |one: &RoleAssignment| wanted.principal.as_ref().is_none_or(|id| one.principal.to_string().eq_ignore_ascii_case(id));
    let all: Vec<RoleAssignment> = api.gate.directory().judge().list(&Scope::root()).filter(|one| is_whose(one)).cloned().collect();
    let mut found = Vec::new();
    for assignment in all {
        if is_listed(call, OF, scope, reach, &assignment.scope)? {
            found.push(assignment);
        }
    }
    page_of(call, found, |one| one.id.to_string(), |one| render(&api.gate, scope, one))
}

pub(super) fn show(api: &Api, scope: &Scope, name: &str) -> Result<Response, Refused> {
    let assignment = known(&api.gate, scope, name).ok_or_else(|| Refused::not_found("role assignment", name))?;
    Ok(json_response(StatusCode::OK, &render(&api.gate, scope, &assignment)))
}

pub(super) async fn put(api: &Api, call: &Call, scope: Scope, name: &str, body: &[u8]) -> Result<Response, Refused> {
    let id = AssignmentId::parse(name).map_err(|invalid| Refused::bad_content(invalid.to_string()).target("roleAssignmentName"))?;
    let described = fields::described(&schema::ROLE_ASSIGNMENT, body)?;
    let text = |name: &str| described["properties"][name].as_str().unwrap_or_default();
    if described["properties"].get("condition").is_some() {
        let message = "`properties.condition` is not possible: a role is given as a whole, or not at all";
        return Err(Refused::bad_content(message).target("properties.condition"));
    }
    let role = role_of(text("roleDefinitionId"))?;
    let principal = PrincipalId::parse(text("principalId"))
        .map_err(|invalid| Refused::bad_content(format!("`properties.principalId`: {invalid}")).target("properties.principalId"))?;
    if text("principalType") == "ServicePrincipal" && api.gate.directory().principal(principal).is_none() {
        let message = format!("Principal {principal} does not exist in the directory {}.", gate::TENANT);
        return Err(Refused::new(Code::PrincipalNotFound, message).target("properties.principalId"));
    }
    let (gate, author, at) = (api.gate.clone(), call.author()?, scope.clone());
    let assign = async move { gate.assign(&author, id, principal, role, at).await.map_err(refused) };
    let Assigned { assignment, was } = administered(api, call, "role", |done| Some(in_words(&done.assignment)), assign).await?;
    let status = if was == Was::There { StatusCode::OK } else { StatusCode::CREATED };
    Ok(json_response(status, &render(&api.gate, &scope, &assignment)))
}

pub(super) async fn delete(api: &Api, call: &Call, scope: &Scope, name: &str) -> Result<Response, Refused> {
    let Some(assignment) = known(&api.gate, scope, name) else { return Ok(no_content()) };
    let gate = api.gate.clone();
    let unassign = async move { gate.unassign(assignment.id).await.map_err(refused) };
    let assignment = administered(api, call, "no role", |gone| Some(in_words(gone)), unassign).await?;
    Ok(json_response(StatusCode::OK, &render(&api.gate, scope, &assignment)))
}

/// As the log tells of it.
fn in_words(assignment: &RoleAssignment) -> String {
    format!("{} {} {}", assignment.principal, assignment.role, assignment.scope)
}

/// The assignment of a name, if it is made at this very scope: whoever may remove roles there may not remove those of elsewhere.
fn known(gate: &Gate, scope: &Scope, name: &str) -> Option<RoleAssignment> {
    gate.assignment(AssignmentId::parse(name).ok()?).filter(|one| one.scope == *scope)
}

/// `…/providers/Microsoft.Authorization/roleDefinitions/{id}`, or the id alone.
fn role_of(text: &str) -> Result<RoleId, Refused> {
    const TARGET: &str = "properties.roleDefinitionId";
    let (place, id) = text.rsplit_once('/').unwrap_or(("", text));
    let is_role = place.is_empty() || place.to_ascii_lowercase().ends_with("/providers/microsoft.authorization/roledefinitions");
    let id = RoleId::parse(id).ok().filter(|_| is_role).ok_or_else(|| {
        Refused::bad_content(format!("`{TARGET}` must be the id of a role definition, not `{}`", shortened(text))).target(TARGET)
    })?;
    if find(id).is_some() {
        return Ok(id);
    }
    let message = format!("The specified role definition with ID '{id}' does not exist.");
    Err(Refused::new(Code::RoleDefinitionDoesNotExist, message).target(TARGET))
}

fn refused(problem: AssignmentError) -> Refused {
    let message = problem.to_string();
    let code = match problem {
        AssignmentError::Invalid(InvalidAssignment::Exists { .. }) => Code::RoleAssignmentExists,
        AssignmentError::Invalid(InvalidAssignment::Immutable(_)) => Code::RoleAssignmentUpdateNotPermitted,
        AssignmentError::Invalid(InvalidAssignment::UnknownRole(_)) => Code::RoleDefinitionDoesNotExist,
        AssignmentError::Invalid(InvalidAssignment::TooMany | InvalidAssignment::TooManyOfOne(_)) => Code::RoleAssignmentLimitExceeded,
        AssignmentError::Invalid(InvalidAssignment::CreatedBy) => Code::InvalidRequestContent,
        AssignmentError::Unknown(_) => Code::ResourceNotFound,
        AssignmentError::LastOwner => Code::OperationNotAllowed,
        AssignmentError::Gate(problem) => return unavailable(&problem),
    };
    Refused::new(code, message)
}

fn render(gate: &Gate, asked_at: &Scope, assignment: &RoleAssignment) -> Value {
    let is_service = gate.directory().principal(assignment.principal).is_some();
    json!({
        "id": id_of(&assignment.scope, OF, &assignment.id.to_string()),
        "name": assignment.id,
        "type": OF.full_type(),
        "properties": {
            "roleDefinitionId": role_id(asked_at, assignment.role),
            "principalId": assignment.principal,
            "principalType": if is_service { "ServicePrincipal" } else { "User" },
            "scope": assignment.scope,
            "createdOn": assignment.created_at,
            "updatedOn": assignment.created_at,
            "createdBy": assignment.created_by,
            "updatedBy": assignment.created_by,
        },
    })
}
