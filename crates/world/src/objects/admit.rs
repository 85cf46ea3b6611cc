//! What every kind has in common when it is written: which metadata is the server's, and what a name may be.

use serde_json::{Value, json};

use super::{Generation, ObjectError, Part, Preconditions, Resource, StatusPart, text};

/// A DNS subdomain has at most this many characters.
const NAME_LIMIT: usize = 253;

/// Metadata that clients may send back but never change.
const SERVERS_METADATA: [&str; 8] =
    ["name", "namespace", "uid", "creationTimestamp", "generation", "resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds"];

/// Whether a name is a DNS subdomain, which all kinds served here ask for. It is also what keeps a name to one part of a
/// path and of a record's key.
pub(super) fn check_name(name: &str) -> Result<(), ObjectError> {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let is_outer = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_good = name.len() <= NAME_LIMIT && name.chars().all(is_inner) && name.starts_with(is_outer) && name.ends_with(is_outer);
    if is_good {
        return Ok(());
    }
    Err(ObjectError::Invalid(format!(
        "metadata.name: Invalid value: \"{name}\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
         '-' or '.', and must start and end with an alphanumeric character"
    )))
}

/// Refuses a document whose parts are not what every reader takes them for. What is inside a spec is its kind's to check.
pub(crate) fn check_shape(object: &Value) -> Result<(), ObjectError> {
    let wrong = |field: &str, expected: &str| Err(ObjectError::Invalid(format!("{field}: Invalid value: not {expected}")));
    if !object.is_object() {
        return wrong("object", "an object");
    }
    if !object["metadata"].is_object() {
        return Err(ObjectError::Invalid("metadata: Required value".to_owned()));
    }
    for field in ["spec", "status", "data", "stringData", "binaryData"] {
        if !object[field].is_null() && !object[field].is_object() {
            return wrong(field, "an object");
        }
    }
    for field in ["labels", "annotations"] {
        let map = &object["metadata"][field];
        if !map.is_null() && !map.as_object().is_some_and(|map| map.values().all(Value::is_string)) {
            return wrong(&format!("metadata.{field}"), "a map of strings");
        }
    }
    for field in ["finalizers", "ownerReferences"] {
        let list = &object["metadata"][field];
        if !list.is_null() && !list.is_array() {
            return wrong(&format!("metadata.{field}"), "a list");
        }
    }
    Ok(())
}

/// Refuses when the object is not the one, or not in the version, that the writer means.
pub(super) fn check_preconditions(metadata: &Value, only_if: &Preconditions) -> Result<(), ObjectError> {
    if let Some(asked) = only_if.uid.as_deref().filter(|uid| metadata["uid"] != *uid) {
        return Err(uid_mismatch(asked, metadata));
    }
    if only_if.resource_version.as_deref().is_some_and(|version| metadata["resourceVersion"] != version) {
        return Err(ObjectError::Conflict);
    }
    Ok(())
}

fn uid_mismatch(asked: &str, metadata: &Value) -> ObjectError {
    ObjectError::UidMismatch { asked: asked.to_owned(), found: metadata["uid"].as_str().unwrap_or_default().to_owned() }
}

/// What becomes of a write: checks the resource version, and keeps what the writer may not change.
pub(super) fn admit(resource: &Resource, part: Part, old: &Value, mut new: Value) -> Result<Value, ObjectError> {
    let before = &old["metadata"];
    let Some(metadata) = new.get_mut("metadata").and_then(Value::as_object_mut) else {
        return Err(ObjectError::Invalid("metadata: Required value".to_owned()));
    };
    if text(metadata.get("resourceVersion")).is_some_and(|version| before["resourceVersion"] != version) {
        return Err(ObjectError::Conflict);
    }
    if let Some(asked) = text(metadata.get("uid")).filter(|uid| before["uid"] != *uid) {
        return Err(uid_mismatch(asked, before));
    }
    if text(metadata.get("name")).is_some_and(|name| before["name"] != name) {
        return Err(ObjectError::Invalid("metadata.name: Invalid value: field is immutable".to_owned()));
    }
    for field in SERVERS_METADATA {
        match before.get(field) {
            Some(kept) => metadata.insert(field.to_owned(), kept.clone()),
            None => metadata.remove(field),
        };
    }
    if resource.status_part == StatusPart::Separate {
        match part {
            Part::Whole => {}
            Part::Main => keep(&mut new, old, "status"),
            Part::Status => keep(&mut new, old, "spec"),
        }
    }
    keep(&mut new, old, "apiVersion");
    keep(&mut new, old, "kind");
    if resource.generation == Generation::Counted && new.get("spec") != old.get("spec") {
        new["metadata"]["generation"] = json!(before["generation"].as_u64().unwrap_or(0) + 1);
    }
    Ok(new)
}

fn keep(new: &mut Value, old: &Value, field: &str) {
    let Some(new) = new.as_object_mut() else { return };
    match old.get(field) {
        Some(kept) => new.insert(field.to_owned(), kept.clone()),
        None => new.remove(field),
    };
}
