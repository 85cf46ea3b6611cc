//! Deleting objects: one, or all that a selector means.

use axum::response::Response;
use http::StatusCode;
use serde_json::Value;
use world::{DeleteOptions, Deleted, ObjectKey, PODS, Preconditions};

use super::selector::Selector;
use super::status::{self, Failure};
use super::target::Target;
use super::write::{DryRun, object_body, write};
use super::{Call, Server, json_response};

pub(super) async fn delete(server: &Server, call: &Call, target: &Target, key: &ObjectKey) -> Result<Response, Failure> {
    let body = options_body(call)?;
    let options = parse_options(call, &body)?;
    let deleted = write(server, DryRun::of(call, &body)?, |world, now| {
        let deleted = world.delete_object_in(&server.cluster, target.resource, key, &options, now);
        deleted.map_err(|error| Failure::of(error, target.resource, &key.name))
    })
    .await?;
    let answer = match deleted {
        // Pods are shown as they were; of other objects it is enough to say that they are gone.
        Deleted::Gone(object) if target.resource != &PODS => status::deleted(target.resource, &object),
        Deleted::Gone(object) | Deleted::Leaving(object) => Value::clone(&object),
    };
    Ok(json_response(StatusCode::OK, &answer))
}

pub(super) async fn delete_all(server: &Server, call: &Call, target: &Target) -> Result<Response, Failure> {
    let selector = Selector::of(call, target)?;
    let body = options_body(call)?;
    let options = parse_options(call, &body)?;
    write(server, DryRun::of(call, &body)?, |world, now| {
        let kube = world.kube(&server.cluster).ok_or_else(Failure::unavailable)?;
        let meant = kube.objects().list(target.resource, selector.namespace()).filter(|(key, object)| selector.admits(key, object));
        let keys: Vec<ObjectKey> = meant.map(|(key, _)| key.clone()).collect();
        for key in keys {
            let deleted = world.delete_object_in(&server.cluster, target.resource, &key, &options, now);
            deleted.map_err(|error| Failure::of(error, target.resource, &key.name))?;
        }
        Ok(())
    })
    .await?;
    Ok(json_response(StatusCode::OK, &status::success(StatusCode::OK)))
}

fn options_body(call: &Call) -> Result<Value, Failure> {
    if call.body.is_empty() { Ok(Value::Null) } else { object_body(call) }
}

/// `DeleteOptions` from a body, or from the query as older clients send them.
pub(super) fn parse_options(call: &Call, body: &Value) -> Result<DeleteOptions, Failure> {
    let text = |field: &str| body["preconditions"][field].as_str().map(str::to_owned);
    let only_if = Preconditions { uid: text("uid"), resource_version: text("resourceVersion") };
    let asked = match call.parameter("gracePeriodSeconds") {
        Some(text) => text.parse().ok().map(Some),
        None if body["gracePeriodSeconds"].is_null() => Some(None),
        None => body["gracePeriodSeconds"].as_i64().map(Some),
    };
    match asked {
        Some(grace_seconds) if grace_seconds.is_none_or(|seconds| seconds >= 0) => Ok(DeleteOptions { only_if, grace_seconds }),
        _ => Err(Failure::bad_request("gracePeriodSeconds must be a whole number that is not negative")),
    }
}
