//! Patches: JSON patch, merge patch, and strategic merge patch for the kinds that are served.

use serde_json::{Map, Value};

use super::status::Failure;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Json,
    Merge,
    StrategicMerge,
}

/// Lists that a strategic merge joins by a field of their items; all others are replaced, taints among them.
const MERGE_KEYS: [(&str, &str); 11] = [
    ("conditions", "type"),
    ("addresses", "type"),
    ("ownerReferences", "uid"),
    ("containers", "name"),
    ("initContainers", "name"),
    ("volumes", "name"),
    ("env", "name"),
    ("imagePullSecrets", "name"),
    ("ports", "containerPort"),
    ("volumeMounts", "mountPath"),
    ("hostAliases", "ip"),
];

/// Lists of plain values that a strategic merge unites.
const UNITED: [&str; 1] = ["finalizers"];

/// The directive that takes values out of a united list.
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList/";

impl Kind {
    /// Server-side apply is not offered, and says so as a server from before it would.
    pub fn of(content_type: &str) -> Result<Kind, Failure> {
        match content_type {
            "application/json-patch+json" => Ok(Kind::Json),
            "application/merge-patch+json" => Ok(Kind::Merge),
            "application/strategic-merge-patch+json" => Ok(Kind::StrategicMerge),
            other => Err(Failure::unsupported_media_type(other)),
        }
    }

    pub fn apply(self, object: &Value, patch: &Value) -> Result<Value, Failure> {
        let mut object = object.clone();
        match self {
            Kind::Json => {
                let operations: json_patch::Patch = serde_json::from_value(patch.clone())
                    .map_err(|error| Failure::bad_request(format!("error decoding patch: {error}")))?;
                json_patch::patch(&mut object, &operations).map_err(|error| Failure::bad_request(error.to_string()))?;
            }
            Kind::Merge | Kind::StrategicMerge if !patch.is_object() => return Err(Failure::bad_request("the patch is not an object")),
            Kind::Merge => json_patch::merge(&mut object, patch),
            Kind::StrategicMerge => merge(&mut object, patch),
        }
        Ok(object)
    }
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if patch.get("$patch").is_some_and(|directive| directive == "replace") {
        *target = Value::Object(without_directives(patch));
        return;
    }
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    for (field, change) in patch {
        match change {
            _ if field.starts_with(DELETE_FROM_LIST) => delete_from_list(target, &field[DELETE_FROM_LIST.len()..], change),
            // `$patch`, `$retainKeys` and `$setElementOrder/…` order or direct; they are never data.
            _ if field.starts_with('$') => {}
            Value::Null => drop(target.remove(field)),
            Value::Array(items) => merge_list(target, field, items),
            Value::Object(_) => merge(target.entry(field.clone()).or_insert(Value::Null), change),
            plain => drop(target.insert(field.clone(), plain.clone())),
        }
    }
}

fn delete_from_list(target: &mut Map<String, Value>, field: &str, values: &Value) {
    if let (Some(Value::Array(list)), Some(values)) = (target.get_mut(field), values.as_array()) {
        list.retain(|present| !values.contains(present));
    }
}

fn merge_list(target: &mut Map<String, Value>, field: &str, items: &[Value]) {
    let key = MERGE_KEYS.iter().find(|(list, _)| *list == field).map(|(_, key)| *key);
    let present = target.entry(field.to_owned()).or_insert_with(|| Value::Array(Vec::new()));
    let Value::Array(list) = present else {
        *present = Value::Array(items.to_vec());
        return;
    };
    match key {
        Some(key) => items.iter().for_each(|item| merge_item(list, key, item)),
        None if UNITED.contains(&field) => {
            let new: Vec<Value> = items.iter().filter(|item| !list.contains(item)).cloned().collect();
            list.extend(new);
        }
        None => *list = items.to_vec(),
    }
}

fn merge_item(list: &mut Vec<Value>, key: &str, item: &Value) {
    if item["$patch"] == "delete" {
        list.retain(|present| present[key] != item[key]);
    } else if let Some(present) = list.iter_mut().find(|present| present[key] == item[key]) {
        merge(present, item);
    } else {
        list.push(item.clone());
    }
}

fn without_directives(object: &Map<String, Value>) -> Map<String, Value> {
    object.iter().filter(|(field, _)| !field.starts_with('$')).map(|(field, value)| (field.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn apply(kind: Kind, object: &Value, patch: &Value) -> Value {
        kind.apply(object, patch).unwrap()
    }

    #[test]
    fn a_strategic_merge_joins_conditions_by_type_and_replaces_taints() {
        let node =
            json!({"spec": {"taints": [{"key": "a"}]}, "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "x"}]}});
        let patch = json!({
            "spec": {"taints": [{"key": "b"}]},
            "status": {"$setElementOrder/conditions": [{"type": "Ready"}], "conditions": [{"type": "Ready", "status": "False"}, {"type": "Disk", "status": "True"}]},
        });
        let expected = json!({
            "spec": {"taints": [{"key": "b"}]},
            "status": {"conditions": [{"type": "Ready", "status": "False", "reason": "x"}, {"type": "Disk", "status": "True"}]},
        });
        assert_eq!(apply(Kind::StrategicMerge, &node, &patch), expected);
    }

    #[test]
    fn a_strategic_merge_can_delete_and_replace() {
        let node = json!({"metadata": {"labels": {"a": "1"}}, "status": {"conditions": [{"type": "Ready"}, {"type": "Disk"}]}});
        let patch = json!({
            "metadata": {"labels": {"$patch": "replace", "b": "2"}},
            "status": {"conditions": [{"type": "Disk", "$patch": "delete"}]},
        });
        let expected = json!({"metadata": {"labels": {"b": "2"}}, "status": {"conditions": [{"type": "Ready"}]}});
        assert_eq!(apply(Kind::StrategicMerge, &node, &patch), expected);
    }

    #[test]
    fn a_strategic_merge_joins_containers_by_name_and_takes_finalizers_away() {
        let pod = json!({
            "metadata": {"finalizers": ["a", "b"]},
            "spec": {"containers": [{"name": "main", "image": "db:1", "env": [{"name": "A", "value": "1"}]}]},
        });
        let patch = json!({
            "metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]},
            "spec": {"$setElementOrder/containers": [{"name": "main"}], "containers": [{"name": "main", "image": "db:2"}]},
        });
        let expected = json!({
            "metadata": {"finalizers": ["b"]},
            "spec": {"containers": [{"name": "main", "image": "db:2", "env": [{"name": "A", "value": "1"}]}]},
        });
        assert_eq!(apply(Kind::StrategicMerge, &pod, &patch), expected);
    }

    #[test]
    fn null_removes_a_field_in_both_merges() {
        let node = json!({"spec": {"unschedulable": true, "providerID": "x"}});
        for kind in [Kind::Merge, Kind::StrategicMerge] {
            assert_eq!(apply(kind, &node, &json!({"spec": {"unschedulable": null}})), json!({"spec": {"providerID": "x"}}));
        }
    }

    #[test]
    fn a_json_patch_whose_test_fails_is_refused() {
        let node = json!({"spec": {"unschedulable": true}});
        let test = json!([{"op": "test", "path": "/spec/unschedulable", "value": false}]);
        assert!(Kind::Json.apply(&node, &test).is_err());
        let remove = json!([{"op": "remove", "path": "/spec/unschedulable"}]);
        assert_eq!(apply(Kind::Json, &node, &remove), json!({"spec": {}}));
    }

    #[test]
    fn server_side_apply_is_not_offered() {
        assert!(Kind::of("application/apply-patch+yaml").is_err());
    }
}
