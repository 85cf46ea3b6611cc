//! The conditions of a policy as clients write them: `{"field": "tags.owner", "exists": false}`.

use access::deny::{Condition, DenyPolicy, Field, Test};
use access::{Pattern, Scope};
use serde_json::{Map, Value, json};

use crate::fields;
use crate::reply::{Refused, shortened};
use crate::schema;

const TAGS: &str = "tags.";

pub(super) fn read(scope: Scope, name: &str, body: &[u8]) -> Result<DenyPolicy, Refused> {
    let described = fields::described(&schema::POLICY_ASSIGNMENT, body)?;
    let properties = &described["properties"];
    let conditions = properties["conditions"].as_array().into_iter().flatten().enumerate();
    let conditions = conditions.map(|(n, condition)| condition_of(&format!("properties.conditions[{n}]"), condition));
    Ok(DenyPolicy {
        id: name.to_owned(),
        scope,
        display_name: properties["displayName"].as_str().map(str::to_owned),
        reason: properties["reason"].as_str().unwrap_or_default().to_owned(),
        conditions: conditions.collect::<Result<_, _>>()?,
    })
}

fn condition_of(path: &str, condition: &Value) -> Result<Condition, Refused> {
    let empty = Map::new();
    let written = condition.as_object().unwrap_or(&empty);
    let field = field_of(&format!("{path}.field"), written.get("field").and_then(Value::as_str).unwrap_or_default())?;
    let mut tests = written.iter().filter(|(name, _)| *name != "field");
    let (Some((name, value)), None) = (tests.next(), tests.next()) else {
        let message = format!("`{path}` must have one of equals, notEquals, like, notLike, in, notIn and exists beside its field");
        return Err(Refused::bad_content(message).target(path));
    };
    let texts = || value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<String>>();
    let text = || vec![value.as_str().unwrap_or_default().to_owned()];
    let path = format!("{path}.{name}");
    let test = match name.as_str() {
        "equals" => Test::In(text()),
        "notEquals" => Test::NotIn(text()),
        "like" => Test::Like(pattern_of(&path, value.as_str().unwrap_or_default())?),
        "notLike" => Test::NotLike(pattern_of(&path, value.as_str().unwrap_or_default())?),
        "in" => Test::In(texts()),
        "notIn" => Test::NotIn(texts()),
        _ => Test::Exists(value.as_bool().unwrap_or_default()),
    };
    Ok(Condition { field, test })
}

fn field_of(path: &str, text: &str) -> Result<Field, Refused> {
    match text.to_ascii_lowercase().as_str() {
        "type" => return Ok(Field::Type),
        "action" => return Ok(Field::Action),
        "location" => return Ok(Field::Location),
        "name" => return Ok(Field::Name),
        _ => {}
    }
    let dotted = text.get(..TAGS.len()).filter(|begin| begin.eq_ignore_ascii_case(TAGS)).map(|_| &text[TAGS.len()..]);
    // As Azure's policies write it, for names with points in them.
    let bracketed = || text.strip_prefix("tags['").and_then(|rest| rest.strip_suffix("']"));
    let Some(tag) = dotted.or_else(bracketed) else {
        let message = format!("`{path}` must be type, action, location, name or tags.NAME, not `{}`", shortened(text));
        return Err(Refused::bad_content(message).target(path));
    };
    Ok(Field::Tag(pattern_of(path, tag)?))
}

fn pattern_of(path: &str, text: &str) -> Result<Pattern, Refused> {
    Pattern::new(text).map_err(|invalid| Refused::bad_content(format!("`{path}` is not possible: {invalid}")).target(path))
}

pub(super) fn render(condition: &Condition) -> Value {
    let field = match &condition.field {
        Field::Type => "type".to_owned(),
        Field::Action => "action".to_owned(),
        Field::Location => "location".to_owned(),
        Field::Name => "name".to_owned(),
        Field::Tag(name) => format!("{TAGS}{name}"),
    };
    match &condition.test {
        Test::Like(pattern) => json!({ "field": field, "like": pattern }),
        Test::NotLike(pattern) => json!({ "field": field, "notLike": pattern }),
        Test::In(texts) => json!({ "field": field, "in": texts }),
        Test::NotIn(texts) => json!({ "field": field, "notIn": texts }),
        Test::Exists(exists) => json!({ "field": field, "exists": exists }),
    }
}
