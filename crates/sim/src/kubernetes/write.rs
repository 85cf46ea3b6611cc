//! Changing objects: create, replace, patch. What is answered is saved, and a dry run changes nothing.

use axum::response::Response;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde_json::Value;
use world::{Instant, ObjectError, ObjectKey, Offer, Part, Scope, World};

use super::status::Failure;
use super::target::Target;
use super::{Call, Server, json_response, patch, protobuf};

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

pub(super) async fn create(server: &Server, call: &Call, target: &Target) -> Result<Response, Failure> {
    if target.resource.offer == Offer::AlwaysEmpty {
        return Err(Failure::not_offered(target.resource));
    }
    let object = object_body(call)?;
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let namespace = match (&target.resource.scope, &target.namespace) {
        (Scope::Cluster, _) => String::new(),
        (Scope::Namespaced, Some(namespace)) => namespace.clone(),
        (Scope::Namespaced, None) => return Err(Failure::method_not_allowed()),
    };
    if object["metadata"]["namespace"].as_str().is_some_and(|named| !named.is_empty() && named != namespace) {
        return Err(Failure::bad_request("the namespace of the provided object does not match the namespace sent on the request"));
    }
    let created = write(server, DryRun::of(call, &Value::Null)?, |world, now| {
        let created = world.create_object_in(&server.cluster, target.resource, &namespace, object, now);
        created.map_err(|error| Failure::of(error, target.resource, &name))
    })
    .await?;
    Ok(json_response(StatusCode::CREATED, &created))
}

pub(super) async fn replace(server: &Server, call: &Call, target: &Target, key: &ObjectKey, part: Part) -> Result<Response, Failure> {
    let object = object_body(call)?;
    let replaced = write(server, DryRun::of(call, &Value::Null)?, |world, now| {
        let replaced: Result<_, ObjectError> = world.modify_object_in(&server.cluster, target.resource, key, part, now, |_| Ok(object));
        replaced.map_err(|error| Failure::of(error, target.resource, &key.name))
    })
    .await?;
    Ok(json_response(StatusCode::OK, &replaced))
}

pub(super) async fn patch(server: &Server, call: &Call, target: &Target, key: &ObjectKey, part: Part) -> Result<Response, Failure> {
    let kind = patch::Kind::of(content_type(call))?;
    let document = call.json()?;
    let patched = write(server, DryRun::of(call, &Value::Null)?, |world, now| {
        let change = |object: &Value| kind.apply(object, &document).map_err(Refused::ByPatch);
        world.modify_object_in(&server.cluster, target.resource, key, part, now, change).map_err(|refused| match refused {
            Refused::ByTable(error) => Failure::of(error, target.resource, &key.name),
            Refused::ByPatch(failure) => failure,
        })
    })
    .await?;
    Ok(json_response(StatusCode::OK, &patched))
}

/// Does a change and saves it; or, for a dry run, does it to a copy of the world.
pub(super) async fn write<T>(
    server: &Server,
    dry_run: DryRun,
    change: impl FnOnce(&mut World, Instant) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let result = match dry_run {
        DryRun::All => server.site.change(|world, now| change(&mut world.clone(), now)),
        // What was refused may have changed something all the same, such as a budget.
        DryRun::None => server.site.change(change),
    };
    server.settle().await?;
    result
}

/// Whether a request only wants to know what it would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DryRun {
    All,
    None,
}

impl DryRun {
    /// From the query, or from the options in the body of a deletion.
    pub fn of(call: &Call, options: &Value) -> Result<DryRun, Failure> {
        let asked = call.parameter("dryRun").or_else(|| options["dryRun"][0].as_str());
        match asked {
            None => Ok(DryRun::None),
            Some("All") => Ok(DryRun::All),
            Some(other) => Err(Failure::bad_request(format!("dryRun: Unsupported value: \"{other}\""))),
        }
    }
}

fn content_type(call: &Call) -> &str {
    let header = call.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("application/json");
    header.split(';').next().unwrap_or(header).trim()
}

/// The object in a body, in either of the two forms that clients write.
pub(super) fn object_body(call: &Call) -> Result<Value, Failure> {
    match content_type(call) {
        "application/json" => call.json(),
        other @ "application/vnd.kubernetes.protobuf" => protobuf::read(&call.body).ok_or_else(|| Failure::unsupported_media_type(other)),
        other => Err(Failure::unsupported_media_type(other)),
    }
}
