//! `clusters/…/bareMetalMachineKeySets` and `clusters/…/bmcKeySets` as they are shown. Writing them is in `key_set_write`.

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use model::{Cluster, KeySet, KeySetKind, KeySetName, KeySetUser, Machine, Privilege, Timestamp};
use plan::{KeySetDetail, UserStanding};
use serde_json::{Map, Value, json};

use super::resource::{Known, Resource};
use super::{Place, clusters_at};
use crate::cache::View;
use crate::call::Call;
use crate::links;
use crate::paging::{PAGE_DEFAULT, Paging};
use crate::reply::{Refused, json_response, resource_response};
use crate::route::Kind;
use crate::schema::{self, Model};

pub(crate) type Rendered<'a> = Resource<'a, Value, ()>;

/// The type as paths and ids say it.
pub(crate) fn arm_type(kind: KeySetKind) -> &'static str {
    match kind {
        KeySetKind::Machine => "bareMetalMachineKeySets",
        KeySetKind::Bmc => "bmcKeySets",
    }
}

fn full_type(kind: KeySetKind) -> &'static str {
    match kind {
        KeySetKind::Machine => "Microsoft.NetworkCloud/clusters/bareMetalMachineKeySets",
        KeySetKind::Bmc => "Microsoft.NetworkCloud/clusters/bmcKeySets",
    }
}

pub(crate) fn model_of(kind: KeySetKind) -> &'static Model {
    match kind {
        KeySetKind::Machine => &schema::MACHINE_KEY_SET,
        KeySetKind::Bmc => &schema::BMC_KEY_SET,
    }
}

pub(super) fn find_cluster(view: &View, place: &Place) -> Result<Arc<Cluster>, Refused> {
    let mut clusters = clusters_at(view, &place.subscription, &place.group)?.into_iter();
    let found = clusters.find(|cluster| cluster.document.name.as_str().eq_ignore_ascii_case(&place.name));
    found.map(|cluster| cluster.document.clone()).ok_or_else(|| Refused::not_found("cluster", &place.name))
}

pub(super) fn find(view: &View, cluster: &Cluster, kind: KeySetKind, name: &str) -> Result<Arc<KeySet>, Refused> {
    let sets = view.key_sets_of(&cluster.name).map(|set| &set.document);
    let mut found = sets.filter(|set| set.kind == kind && set.name.as_str().eq_ignore_ascii_case(name));
    found.next().cloned().ok_or_else(|| Refused::not_found(kind.in_words(), name))
}

pub(crate) fn list(view: &View, call: &Call, place: &Place, kind: KeySetKind, now: Timestamp) -> Result<Response, Refused> {
    let cluster = find_cluster(view, place)?;
    let paging = Paging::of(call, PAGE_DEFAULT)?;
    let after = paging.after(|token| KeySetName::new(token).ok())?;
    let mut sets: Vec<&KeySet> = view.key_sets_of(&cluster.name).map(|set| set.document.as_ref()).filter(|set| set.kind == kind).collect();
    sets.sort_by(|one, other| one.name.cmp(&other.name));
    let rest = sets.into_iter().filter(|set| after.as_ref().is_none_or(|after| set.name > *after));
    let page = paging.page(call, rest, |set| set.name.to_string(), |set| json!(render(view, &cluster, set, now)));
    Ok(json_response(StatusCode::OK, &page))
}

pub(crate) fn show(view: &View, place: &Place, kind: KeySetKind, name: &str, now: Timestamp) -> Result<Response, Refused> {
    let cluster = find_cluster(view, place)?;
    let set = find(view, &cluster, kind, name)?;
    Ok(resource_response(StatusCode::OK, &render(view, &cluster, &set, now)))
}

pub(super) fn render<'a>(view: &View, cluster: &'a Cluster, set: &'a KeySet, now: Timestamp) -> Rendered<'a> {
    let KeySet { name, created_at, edition, tags, kind, .. } = set;
    let known = Known { kind: Kind::Clusters, name: name.as_str(), created_at: *created_at, edition: *edition, tags };
    let machines = view.machines_of(&cluster.name).map(|machine| machine.document.as_ref());
    let mut resource = Resource::new(cluster, known, properties(set, machines, now));
    resource.id = format!("{}/{}/{name}", links::cluster_id(cluster), arm_type(*kind));
    resource.r#type = full_type(*kind);
    if let Some(modified) = &set.modified {
        resource.system_data.modified(modified);
    }
    resource
}

fn properties<'a>(set: &KeySet, machines: impl Iterator<Item = &'a Machine>, now: Timestamp) -> Value {
    let status = plan::key_set_status(set, machines, now);
    let mut properties = Map::new();
    let mut tell = |name: &str, value: Value| drop(properties.insert(name.to_owned(), value));
    tell("azureGroupId", json!(set.azure_group_id));
    tell("expiration", json!(set.expires_at));
    if set.kind == KeySetKind::Machine {
        tell("jumpHostsAllowed", json!(set.jump_hosts));
    }
    if let Some(group) = &set.os_group {
        tell("osGroupName", json!(group));
    }
    tell("privilegeLevel", json!(set.privilege.level()));
    if let Privilege::Other { name } = &set.privilege {
        tell("privilegeLevelName", json!(name));
    }
    tell("userList", set.users.iter().map(user).collect());
    tell("detailedStatus", json!(detail_word(status.detail)));
    tell("detailedStatusMessage", json!(status.message));
    if let Some(at) = set.validated_at {
        tell("lastValidation", json!(at));
    }
    let users = status.users.into_iter().map(|user| {
        let mut told = json!({ "azureUserName": user.user, "statusMessage": user.message });
        if let Some(standing) = user.standing {
            told["status"] = json!(if standing == UserStanding::Active { "Active" } else { "Invalid" });
        }
        told
    });
    tell("userListStatus", users.collect());
    tell("provisioningState", json!("Succeeded"));
    Value::Object(properties)
}

fn detail_word(detail: KeySetDetail) -> &'static str {
    match detail {
        KeySetDetail::AllActive => "AllActive",
        KeySetDetail::SomeInvalid => "SomeInvalid",
        KeySetDetail::AllInvalid => "AllInvalid",
        KeySetDetail::Validating => "Validating",
    }
}

fn user(user: &KeySetUser) -> Value {
    let mut told = json!({ "azureUserName": user.azure_user_name, "sshPublicKey": { "keyData": user.ssh_public_key } });
    if !user.description.is_empty() {
        told["description"] = json!(user.description);
    }
    if let Some(name) = &user.user_principal_name {
        told["userPrincipalName"] = json!(name);
    }
    told
}

#[cfg(test)]
mod tests;
