//! Tables: what `kubectl get` prints, made by the server.

use http::HeaderMap;
use http::header::ACCEPT;
use serde_json::{Value, json};
use world::{Instant, Resource};

use super::{Call, rows};

/// Whether the table names its columns. In a watch only the first one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    Shown,
    Hidden,
}

/// Whether the client's first choice is a table.
pub(super) fn wanted(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let first = accept.split(',').next().unwrap_or_default();
    first.split(';').any(|parameter| parameter.trim() == "as=Table")
}

pub(super) fn of(resource: &Resource, call: &Call, objects: &[&Value], now: Instant, columns: Columns, version: &Value) -> Value {
    let include = call.parameter("includeObject").unwrap_or("Metadata");
    let rows: Vec<Value> = objects
        .iter()
        .map(|object| {
            let mut row = json!({"cells": rows::cells(resource, object, now)});
            let object = match include {
                "None" => Value::Null,
                "Object" => Value::clone(object),
                _ => json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"]}),
            };
            if !object.is_null() {
                row["object"] = object;
            }
            row
        })
        .collect();
    let definitions = if columns == Columns::Shown { rows::columns(resource) } else { Vec::new() };
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": version},
        "columnDefinitions": definitions,
        "rows": rows,
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn kubectl_gets_tables_and_kube_gets_objects() {
        let wants = |accept: &'static str| wanted(&HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]));
        assert!(wants("application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"));
        assert!(!wants("application/json"));
        assert!(!wants("application/json,application/json;as=Table"));
    }
}
