//! Changing objects: create, replace, patch, delete. What is answered is saved, and a dry run changes nothing.

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde_json::Value;
use world::{Instant, NAMESPACES, ObjectError, ObjectKey, Part, Preconditions, Scope, World};

use super::status::Failure;
use super::target::Target;
use super::{Call, json_response, patch, status};
use crate::site::Site;

/// Carries either refusal through the object table.
enum Refused {
    ByTable(ObjectError),
    ByPatch(Failure),
}

impl From<ObjectError> for Refused {
    fn from(error: ObjectError) -> Refused {
        Refused::ByTable(error)
    }
}

pub(super) async fn create(site: &Site, call: &Call, target: &Target) -> Result<Response, Failure> {
    let object = json_body(call)?;
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let namespace = match (&target.resource.scope, &target.namespace) {
        (Scope::Cluster, _) => String::new(),
        (Scope::Namespaced, Some(namespace)) => namespace.clone(),
        (Scope::Namespaced, None) => return Err(Failure::method_not_allowed()),
    };
    let created = write(site, call, |world, now| {
        if !namespace.is_empty() && world.objects().get(&NAMESPACES, &ObjectKey::cluster(&namespace)).is_none() {
            return Err(Failure::not_found(&NAMESPACES, &namespace));
        }
        let created = world.create_object(target.resource, &namespace, object, now);
        created.map_err(|error| Failure::of(error, target.resource, &name))
    })
    .await?;
    Ok(json_response(StatusCode::CREATED, &created))
}

pub(super) async fn replace(site: &Site, call: &Call, target: &Target, key: &ObjectKey, part: Part) -> Result<Response, Failure> {
    let object = json_body(call)?;
    let replaced = write(site, call, |world, now| {
        let replaced: Result<_, ObjectError> = world.modify_object(target.resource, key, part, now, |_| Ok(object));
        replaced.map_err(|error| Failure::of(error, target.resource, &key.name))
    })
    .await?;
    Ok(json_response(StatusCode::OK, &replaced))
}

pub(super) async fn patch(site: &Site, call: &Call, target: &Target, key: &ObjectKey, part: Part) -> Result<Response, Failure> {
    let kind = patch::Kind::of(content_type(call))?;
    let document = call.json()?;
    let patched = write(site, call, |world, now| {
        let change = |object: &Value| kind.apply(object, &document).map_err(Refused::ByPatch);
        world.modify_object(target.resource, key, part, now, change).map_err(|refused| match refused {
            Refused::ByTable(error) => Failure::of(error, target.resource, &key.name),
            Refused::ByPatch(failure) => failure,
        })
    })
    .await?;
    Ok(json_response(StatusCode::OK, &patched))
}

pub(super) async fn delete(site: &Site, call: &Call, target: &Target, key: &ObjectKey) -> Result<Response, Failure> {
    let options = if call.body.is_empty() { Value::Null } else { call.json()? };
    let text = |field: &str| options["preconditions"][field].as_str().map(str::to_owned);
    let only_if = Preconditions { uid: text("uid"), resource_version: text("resourceVersion") };
    let deleted = write(site, call, |world, now| {
        let deleted = world.delete_object(target.resource, key, &only_if, now);
        deleted.map_err(|error| Failure::of(error, target.resource, &key.name))
    })
    .await?;
    Ok(json_response(StatusCode::OK, &status::deleted(target.resource, &deleted)))
}

/// Does a change and saves it; or, for a dry run, does it to a copy of the world.
async fn write(
    site: &Site,
    call: &Call,
    change: impl FnOnce(&mut World, Instant) -> Result<Arc<Value>, Failure>,
) -> Result<Arc<Value>, Failure> {
    let is_dry_run = match call.parameter("dryRun") {
        None => false,
        Some("All") => true,
        Some(other) => return Err(Failure::bad_request(format!("dryRun: unsupported value: \"{other}\""))),
    };
    let result = if is_dry_run { site.change(|world, now| change(&mut world.clone(), now))? } else { site.change(change)? };
    site.settle().await.map_err(|_| Failure::not_saved())?;
    Ok(result)
}

fn content_type(call: &Call) -> &str {
    let header = call.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("application/json");
    header.split(';').next().unwrap_or(header).trim()
}

fn json_body(call: &Call) -> Result<Value, Failure> {
    match content_type(call) {
        "application/json" => call.json(),
        other => Err(Failure::unsupported_media_type(other)),
    }
}
