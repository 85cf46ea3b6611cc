//! Secrets and config maps: what may stand in them, and that an immutable one stays as it is.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::objects::ObjectError;

/// The most that one secret or config map may hold, as the API server limits it.
const SIZE_LIMIT: usize = 1024 * 1024;

/// Takes `stringData` in, checks `data`, and fills in the type.
pub(crate) fn prepare_secret(secret: &mut Value) -> Result<(), ObjectError> {
    let Some(fields) = secret.as_object_mut() else { return Err(ObjectError::Invalid("it is not an object".to_owned())) };
    if let Some(plain) = fields.remove("stringData").filter(|plain| !plain.is_null()) {
        let Value::Object(plain) = plain else { return Err(ObjectError::Invalid("stringData: Invalid value: not a map".to_owned())) };
        let data = fields.entry("data").or_insert(Value::Null);
        if data.is_null() {
            *data = Value::Object(Map::new());
        }
        for (key, value) in plain {
            let Some(text) = value.as_str() else { return Err(not_a_string("stringData", &key)) };
            data[&key] = json!(STANDARD.encode(text));
        }
    }
    let kind = fields.entry("type").or_insert(Value::Null);
    if kind.as_str().is_none_or(str::is_empty) {
        *kind = json!("Opaque");
    }
    check_map(secret, "data", Content::Base64)
}

pub(crate) fn prepare_config_map(map: &mut Value) -> Result<(), ObjectError> {
    check_map(map, "data", Content::Text)?;
    check_map(map, "binaryData", Content::Base64)
}

/// What a changed secret or config map may not be.
pub(crate) fn check_change(old: &Value, new: &Value) -> Result<(), ObjectError> {
    if new.get("type").unwrap_or(&Value::Null) != old.get("type").unwrap_or(&Value::Null) {
        return Err(ObjectError::Invalid("type: Invalid value: field is immutable".to_owned()));
    }
    if old["immutable"] != true {
        return Ok(());
    }
    for field in ["immutable", "data", "binaryData"] {
        if new.get(field) != old.get(field) {
            return Err(ObjectError::Invalid(format!("{field}: Forbidden: field is immutable when `immutable` is set")));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Text,
    Base64,
}

fn check_map(object: &Value, field: &str, content: Content) -> Result<(), ObjectError> {
    let map = match &object[field] {
        Value::Null => return Ok(()),
        Value::Object(map) => map,
        _ => return Err(ObjectError::Invalid(format!("{field}: Invalid value: not a map"))),
    };
    let mut size = 0;
    for (key, value) in map {
        let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if key.is_empty() || !key.chars().all(is_key) {
            let why = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
            return Err(ObjectError::Invalid(format!("{field}[{key}]: Invalid value: {why}")));
        }
        let Some(text) = value.as_str() else { return Err(not_a_string(field, key)) };
        size += text.len();
        if content == Content::Base64 && STANDARD.decode(text).is_err() {
            // The value itself is not repeated: it may be most of a secret.
            return Err(ObjectError::Invalid(format!("{field}[{key}]: Invalid value: illegal base64 data")));
        }
    }
    if size > SIZE_LIMIT {
        return Err(ObjectError::Invalid(format!("{field}: Too long: may not be more than {SIZE_LIMIT} bytes")));
    }
    Ok(())
}

fn not_a_string(field: &str, key: &str) -> ObjectError {
    ObjectError::Invalid(format!("{field}[{key}]: Invalid value: not a string"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_strings_become_data_and_win_over_it() {
        let mut secret = json!({"data": {"a": "b2xk", "b": "Yg=="}, "stringData": {"a": "new"}});
        prepare_secret(&mut secret).unwrap();
        assert_eq!(secret, json!({"data": {"a": "bmV3", "b": "Yg=="}, "type": "Opaque"}));
    }

    #[test]
    fn what_is_not_base64_is_refused_without_being_repeated() {
        for secret in [json!({"data": {"a": "hunter2!"}}), json!({"data": {"a": 1}}), json!({"data": {"a b": ""}}), json!({"data": []})] {
            let refused = prepare_secret(&mut secret.clone()).unwrap_err().to_string();
            assert!(!refused.contains("hunter2"), "{refused}");
        }
        let mut large = json!({"data": {"a": "A".repeat(SIZE_LIMIT + 4)}});
        assert!(prepare_secret(&mut large).unwrap_err().to_string().contains("Too long"));
        assert!(prepare_config_map(&mut json!({"data": {"a": "plain"}, "binaryData": {"b": "no!"}})).is_err());
        assert!(prepare_config_map(&mut json!({"data": {"a": "plain!"}})).is_ok());
    }

    #[test]
    fn an_immutable_secret_stays_as_it_is() {
        let old = json!({"type": "Opaque", "immutable": true, "data": {"a": "YQ=="}});
        let other_data = json!({"type": "Opaque", "immutable": true, "data": {"a": "Yg=="}});
        let unlocked = json!({"type": "Opaque", "data": {"a": "YQ=="}});
        let labelled = json!({"type": "Opaque", "immutable": true, "data": {"a": "YQ=="}, "metadata": {"labels": {}}});
        assert!(check_change(&old, &other_data).is_err());
        assert!(check_change(&old, &unlocked).is_err());
        assert!(check_change(&old, &labelled).is_ok());
        assert!(check_change(&unlocked, &json!({"type": "other"})).is_err());
    }
}
