//! Reading objects: one, or many in pages.

use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use world::{Kube, ObjectKey};

use super::selector::Selector;
use super::status::Failure;
use super::target::Target;
use super::{Call, Server, json_response, table};

/// Where the next page goes on. The version is the first page's, so that a watch from it misses nothing.
#[derive(Serialize, Deserialize)]
struct Continue {
    version: u64,
    after: (String, String),
}

pub(super) async fn get(server: &Server, call: &Call, target: &Target, key: &ObjectKey) -> Result<Response, Failure> {
    let found = server.look(|kube| kube.objects().get(target.resource, key).cloned())?;
    server.settle().await?;
    let object = found.ok_or_else(|| Failure::not_found(target.resource, &key.name))?;
    let value = match table::wanted(&call.headers) {
        true => table::of(target.resource, call, &[&object], server.now(), table::Columns::Shown, &object["metadata"]["resourceVersion"]),
        false => Value::clone(&object),
    };
    Ok(json_response(StatusCode::OK, &value))
}

pub(super) async fn list(server: &Server, call: &Call, target: &Target) -> Result<Response, Failure> {
    let selector = Selector::of(call, target)?;
    let limit = match call.parameter("limit").map(str::parse::<usize>) {
        None | Some(Ok(0)) => usize::MAX,
        Some(Ok(limit)) => limit,
        Some(Err(_)) => return Err(Failure::bad_request("limit is not a number")),
    };
    let from = call.parameter("continue").map(parse_continue).transpose()?;
    let page = server.look(|kube| page(kube, target, &selector, limit, from.as_ref()))??;
    server.settle().await?;
    let mut value = if table::wanted(&call.headers) {
        let objects: Vec<&Value> = page.objects.iter().map(|object| object.as_ref()).collect();
        table::of(target.resource, call, &objects, server.now(), table::Columns::Shown, &Value::Null)
    } else {
        json!({
            "kind": format!("{}List", target.resource.kind),
            "apiVersion": target.resource.api_version(),
            "items": page.objects.iter().map(|object| without_kind(object)).collect::<Vec<_>>(),
        })
    };
    value["metadata"] = page.metadata;
    Ok(json_response(StatusCode::OK, &value))
}

struct Page {
    objects: Vec<std::sync::Arc<Value>>,
    metadata: Value,
}

fn page(kube: &Kube, target: &Target, selector: &Selector, limit: usize, from: Option<&Continue>) -> Result<Page, Failure> {
    let objects = kube.objects();
    let version = from.map_or(objects.version(), |from| from.version);
    // A page that goes on from a forgotten version would mix two states that no watch can join.
    if let Err(expired) = objects.changes_after(target.resource, version) {
        return Err(Failure::expired(expired));
    }
    let is_later = |key: &ObjectKey| from.is_none_or(|from| (&key.namespace, &key.name) > (&from.after.0, &from.after.1));
    let mut matching =
        objects.list(target.resource, selector.namespace()).filter(|(key, object)| is_later(key) && selector.admits(key, object));
    let mut last = None;
    let mut found = Vec::new();
    for (key, object) in matching.by_ref().take(limit) {
        last = Some(key);
        found.push(object.clone());
    }
    let remaining = matching.count();
    let mut metadata = json!({"resourceVersion": version.to_string()});
    if let (Some(key), true) = (last, remaining > 0) {
        let token = Continue { version, after: (key.namespace.clone(), key.name.clone()) };
        metadata["continue"] = json!(URL_SAFE_NO_PAD.encode(json!(token).to_string()));
        metadata["remainingItemCount"] = json!(remaining);
    }
    Ok(Page { objects: found, metadata })
}

fn parse_continue(text: &str) -> Result<Continue, Failure> {
    let decoded = URL_SAFE_NO_PAD.decode(text).ok();
    decoded.and_then(|bytes| serde_json::from_slice(&bytes).ok()).ok_or_else(|| Failure::bad_request("continue key is not valid"))
}

/// The items of a list leave out what the list says for all of them.
fn without_kind(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("kind");
        fields.remove("apiVersion");
    }
    object
}
