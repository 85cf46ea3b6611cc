//! Making, changing and deleting key sets. What is written is in force at once as far as it can be: `detailedStatus` tells how far.

use axum::response::Response;
use http::StatusCode;
use model::{Ask, Cluster, FIRST_EDITION, KeySet, KeySetChange, KeySetKind, KeySetName, KeySetUser, Privilege, Timestamp};
use serde_json::{Value, json};

use super::key_sets::{find, find_cluster, model_of, render};
use super::{Place, Tags, tags_of, unfit, vm_body};
use crate::Api;
use crate::call::Call;
use crate::fields::{self, Written};
use crate::precondition::conditions;
use crate::reply::{Refused, no_content, resource_response, shortened};
use crate::schema;
use crate::submit::submit;

/// A key set, as a path names it.
pub(crate) struct Named<'a> {
    pub place: &'a Place,
    pub kind: KeySetKind,
    pub name: &'a str,
}

/// PUT: makes a key set, or writes all of it anew.
pub(crate) async fn put(api: &Api, call: &Call, named: &Named<'_>, body: &[u8]) -> Result<Response, Refused> {
    let view = api.cache.view();
    let cluster = find_cluster(&view, named.place)?;
    let name = KeySetName::new(named.name).map_err(|invalid| {
        Refused::bad_content(format!("`{}` cannot be a key set's name: {}", shortened(named.name), invalid.problem))
            .target(name_field(named.kind))
    })?;
    let described = fields::described(model_of(named.kind), body)?;
    is_at(&described, &cluster)?;
    let now = api.clock.now();
    let key_set = read(named.kind, name, &cluster, &described, now)?;
    plan::check_tags(&key_set.tags).map_err(|flaw| match &flaw.tag {
        Some(tag) => unfit(&format!("tags.{tag}"), &flaw.message),
        None => unfit("tags", &flaw.message),
    })?;
    if let Some(flaw) = plan::check_key_set(&key_set, now).first() {
        return Err(unfit(&flaw.field, &flaw.message));
    }
    let status = if find(&view, &cluster, named.kind, named.name).is_ok() { StatusCode::OK } else { StatusCode::CREATED };
    let ask = Ask::PutKeySet { key_set: Box::new(key_set), conditions: conditions(call)? };
    submit(api, call, &cluster.name, ask, body).await?;
    answer(api, &cluster, named, status)
}

/// PATCH: what is not named stays; a list of users takes the place of the one before.
pub(crate) async fn update(api: &Api, call: &Call, named: &Named<'_>, body: &[u8]) -> Result<Response, Refused> {
    let view = api.cache.view();
    let cluster = find_cluster(&view, named.place)?;
    let set = find(&view, &cluster, named.kind, named.name)?;
    let now = api.clock.now();
    let current = json!(render(&view, &cluster, &set, now));
    let written = fields::written(model_of(named.kind), fields::object(body)?, &current)?;
    let change = change_of(written)?;
    if let Some(flaw) = plan::check_key_set_change(named.kind, &change, now).first() {
        return Err(unfit(&flaw.field, &flaw.message));
    }
    let conditions = conditions(call)?;
    let ask = Ask::UpdateKeySet { set: named.kind, name: set.name.clone(), change: Box::new(change), conditions };
    submit(api, call, &cluster.name, ask, body).await?;
    answer(api, &cluster, named, StatusCode::OK)
}

pub(crate) async fn delete(api: &Api, call: &Call, named: &Named<'_>) -> Result<Response, Refused> {
    let view = api.cache.view();
    let cluster = find_cluster(&view, named.place)?;
    // One that is gone is deleted.
    let Ok(set) = find(&view, &cluster, named.kind, named.name) else { return Ok(no_content()) };
    let ask = Ask::DeleteKeySet { set: named.kind, name: set.name.clone(), conditions: conditions(call)? };
    submit(api, call, &cluster.name, ask, &[]).await?;
    Ok(no_content())
}

fn answer(api: &Api, cluster: &Cluster, named: &Named<'_>, status: StatusCode) -> Result<Response, Refused> {
    let view = api.cache.view();
    let set = find(&view, cluster, named.kind, named.name).map_err(Refused::in_log)?;
    Ok(resource_response(status, &render(&view, cluster, &set, api.clock.now())))
}

fn name_field(kind: KeySetKind) -> &'static str {
    match kind {
        KeySetKind::Machine => "bareMetalMachineKeySetName",
        KeySetKind::Bmc => "bmcKeySetName",
    }
}

/// A body may say where it is; then it must be here.
fn is_at(body: &Value, cluster: &Cluster) -> Result<(), Refused> {
    let elsewhere = |path: &str, found: &str, wanted: &str| {
        Err(Refused::bad_content(format!("`{path}` must be that of the cluster, `{wanted}`, not `{}`", shortened(found))).target(path))
    };
    if let Some(location) = body["location"].as_str().filter(|location| !location.eq_ignore_ascii_case(&cluster.home.location)) {
        return elsewhere("location", location, &cluster.home.location);
    }
    match body["extendedLocation"]["name"].as_str().filter(|name| !vm_body::is_at(name, cluster)) {
        Some(name) => elsewhere("extendedLocation.name", name, cluster.name.as_str()),
        None => Ok(()),
    }
}

/// The key set that a body describes. Its shape has been checked.
fn read(kind: KeySetKind, name: KeySetName, cluster: &Cluster, body: &Value, now: Timestamp) -> Result<KeySet, Refused> {
    let properties = &body["properties"];
    let given = |name: &str| {
        let path = format!("properties.{name}");
        match &properties[name] {
            Value::Null => Err(Refused::bad_content(format!("`{path}` is missing")).target(path)),
            value => Ok(value),
        }
    };
    let text = |name: &str| properties[name].as_str().map(str::to_owned);
    let jump_hosts = if kind == KeySetKind::Machine { texts(given("jumpHostsAllowed")?) } else { Vec::new() };
    Ok(KeySet {
        name,
        kind,
        cluster: cluster.name.clone(),
        tags: serde_json::from_value::<Option<Tags>>(body["tags"].clone()).ok().flatten().unwrap_or_default(),
        created_at: now,
        edition: FIRST_EDITION,
        users_edition: FIRST_EDITION,
        modified: None,
        azure_group_id: text("azureGroupId").unwrap_or_default(),
        expires_at: instant("properties.expiration", given("expiration")?)?,
        privilege: privilege(properties)?,
        jump_hosts,
        os_group: text("osGroupName"),
        users: users(given("userList")?),
        validated_at: None,
        applied: std::collections::BTreeMap::new(),
    })
}

fn privilege(properties: &Value) -> Result<Privilege, Refused> {
    const NAME: &str = "properties.privilegeLevelName";
    let name = properties["privilegeLevelName"].as_str();
    let level = properties["privilegeLevel"].as_str().unwrap_or_default();
    match (level, name) {
        ("Other", Some(name)) => Ok(Privilege::Other { name: name.to_owned() }),
        ("Other", None) => Err(Refused::bad_content(format!("`{NAME}` is missing: the privilegeLevel is Other")).target(NAME)),
        (level, Some(_)) => Err(unfit(NAME, &format!("it is for the privilegeLevel Other, and this one is {level}"))),
        ("Superuser", None) => Ok(Privilege::Superuser),
        ("ReadOnly", None) => Ok(Privilege::ReadOnly),
        ("Administrator", None) => Ok(Privilege::Administrator),
        (_, None) => Ok(Privilege::Standard),
    }
}

fn change_of(written: Vec<Written>) -> Result<KeySetChange, Refused> {
    let mut change = KeySetChange::default();
    let mut rest = Vec::new();
    for Written { path, value } in written {
        match path.as_str() {
            "properties.expiration" => change.expires_at = Some(instant(&path, &value)?),
            "properties.jumpHostsAllowed" => change.jump_hosts = Some(texts(&fields::deep(schema::TEXTS, &path, value)?)),
            "properties.userList" => change.users = Some(users(&fields::deep(schema::USER_LIST, &path, value)?)),
            _ => rest.push(Written { path, value }),
        }
    }
    change.tags = tags_of(rest)?;
    Ok(change)
}

fn instant(path: &str, value: &Value) -> Result<Timestamp, Refused> {
    let parsed = value.as_str().and_then(Timestamp::parse);
    parsed.ok_or_else(|| unfit(path, "it must be an instant such as 2026-12-31T23:59:59Z"))
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn users(value: &Value) -> Vec<KeySetUser> {
    let text = |user: &Value, name: &str| user[name].as_str().map(str::to_owned);
    let users = value.as_array().into_iter().flatten().map(|user| KeySetUser {
        azure_user_name: text(user, "azureUserName").unwrap_or_default(),
        description: text(user, "description").unwrap_or_default(),
        user_principal_name: text(user, "userPrincipalName"),
        ssh_public_key: text(&user["sshPublicKey"], "keyData").unwrap_or_default().trim().to_owned(),
    });
    users.collect()
}
