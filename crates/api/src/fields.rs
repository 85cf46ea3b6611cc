//! Reading a resource that a client sends, by its table in `schema`: what may be written is taken out of it, what is
//! only answered is ignored, and what may not be changed, or is unknown, or has the wrong type, is named with its path.

use std::ops::Deref;

use serde_json::{Map, Value};
use zeroize::Zeroize;

use crate::codes::Code;
use crate::json::{kind_of, parse_object};
use crate::reply::{Refused, shortened};
use crate::schema::{Access, Field, Model, Shape};

/// The body as an object; an absent one is an empty one.
pub(crate) fn object(body: &[u8]) -> Result<Map<String, Value>, Refused> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    parse_object(body)
}

/// A field that was sent and may be written.
#[derive(Debug, PartialEq)]
pub(crate) struct Written {
    pub path: String,
    pub value: Value,
}

/// What the body of an action says. Any of it may be a secret, and it is wiped when it was used.
#[derive(Debug, Default)]
pub(crate) struct Given(Vec<Written>);

impl Deref for Given {
    type Target = [Written];

    fn deref(&self) -> &[Written] {
        &self.0
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|written| wipe(&mut written.value));
    }
}

/// Overwrites the texts of a value.
pub(crate) fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(items) => items.iter_mut().for_each(wipe),
        Value::Object(fields) => fields.values_mut().for_each(wipe),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What of the body is to be written. `current` is the resource as it is answered now.
pub(crate) fn written(model: &Model, body: Map<String, Value>, current: &Value) -> Result<Vec<Written>, Refused> {
    let mut found = Vec::new();
    read(model, "", body, current, &mut found)?;
    Ok(found)
}

/// What the body of an action says. Whatever must be there is there.
pub(crate) fn given(model: &Model, body: &[u8]) -> Result<Given, Refused> {
    let given = Given(written(model, object(body)?, &Value::Null)?);
    let is_given = |field: &&Field| given.iter().any(|found| found.path == field.name);
    match model.fields.iter().filter(|field| field.always).find(|field| !is_given(field)) {
        Some(field) => Err(missing(model, field.name)),
        None => Ok(given),
    }
}

/// The description of a resource that is to be made, without what is only answered. Whatever must be there is there, and
/// everything has its shape, however deep.
pub(crate) fn described(model: &'static Model, body: &[u8]) -> Result<Value, Refused> {
    described_of(model, object(body)?)
}

/// The same of a body that was read already.
pub(crate) fn described_of(model: &'static Model, body: Map<String, Value>) -> Result<Value, Refused> {
    describe(Shape::Object(model), "", Value::Object(body))
}

/// The same of one value that was sent: everything in it has its shape, however deep.
pub(crate) fn deep(shape: Shape, path: &str, value: Value) -> Result<Value, Refused> {
    describe(shape, path, value)
}

fn describe(shape: Shape, path: &str, value: Value) -> Result<Value, Refused> {
    check_shape(shape, path, &value)?;
    match (shape, value) {
        (Shape::List(item), Value::Array(values)) => {
            let described = values.into_iter().enumerate().map(|(n, value)| describe(*item, &format!("{path}[{n}]"), value));
            described.collect::<Result<Vec<_>, _>>().map(Value::Array)
        }
        (Shape::Object(model), Value::Object(fields)) => {
            let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
            let mut described = Map::new();
            for (name, value) in fields {
                let Some(field) = model.fields.iter().find(|field| field.name == name) else { return Err(unknown(model, &prefix, &name)) };
                if !value.is_null() && !matches!(field.access, Access::ReadOnly | Access::Unserved) {
                    described.insert(name, describe(field.shape, &format!("{prefix}{}", field.name), value)?);
                }
            }
            for field in model.fields.iter().filter(|field| field.always && !described.contains_key(field.name)) {
                let path = format!("{prefix}{}", field.name);
                match field.access {
                    // What is missing in it is named, and not that it is missing itself.
                    Access::Within => drop(describe(field.shape, &path, Value::Object(Map::new()))?),
                    Access::Fixed(_) | Access::WriteOnly => return Err(Refused::bad_content(format!("`{path}` is missing")).target(path)),
                    _ => {}
                }
            }
            Ok(Value::Object(described))
        }
        (_, value) => Ok(value),
    }
}

/// The refusal of a body without what must be there.
pub(crate) fn missing(model: &Model, name: &str) -> Refused {
    let mut about = model.about.trim_end_matches('.').chars();
    let begin: String = about.next().into_iter().flat_map(char::to_lowercase).collect();
    Refused::bad_content(format!("`{name}` is missing: {begin}{}", about.as_str())).target(name)
}

fn read(model: &Model, path: &str, body: Map<String, Value>, current: &Value, found: &mut Vec<Written>) -> Result<(), Refused> {
    for (name, value) in body {
        let Some(field) = model.fields.iter().find(|field| field.name == name) else { return Err(unknown(model, path, &name)) };
        let path = format!("{path}{}", field.name);
        // `null` says the same as leaving the field out.
        if value.is_null() {
            continue;
        }
        match field.access {
            Access::ReadOnly | Access::Unserved => {}
            Access::Secret => return Err(unchangeable(&path, None, FROM_SITE_FILE)),
            Access::Elsewhere(whence) => return Err(unchangeable(&path, None, whence)),
            Access::WriteOnly => return Err(unchangeable(&path, None, "is taken when the resource is made, and at no other time")),
            Access::Writable => {
                check_shape(field.shape, &path, &value)?;
                found.push(Written { path, value });
            }
            Access::Immutable | Access::Fixed(_) => {
                let whence = if let Access::Fixed(whence) = field.access { whence } else { FROM_SITE_FILE };
                check_shape(field.shape, &path, &value)?;
                if !is_same(&current[field.name], &value) {
                    return Err(unchangeable(&path, Some(&current[field.name]), whence));
                }
            }
            Access::Within => {
                check_shape(field.shape, &path, &value)?;
                if let (Shape::Object(model), Value::Object(inner)) = (field.shape, value) {
                    read(model, &format!("{path}."), inner, &current[field.name], found)?;
                }
            }
        }
    }
    Ok(())
}

/// Azure's clients change the case of ids, and people that of MAC addresses.
fn is_same(current: &Value, sent: &Value) -> bool {
    match (current, sent) {
        (Value::String(current), Value::String(sent)) => current.eq_ignore_ascii_case(sent),
        _ => current == sent,
    }
}

const FROM_SITE_FILE: &str = "comes from the site file";

/// `whence` says where the field comes from.
fn unchangeable(path: &str, current: Option<&Value>, whence: &str) -> Refused {
    let why = match current {
        Some(Value::Null) if whence == FROM_SITE_FILE => "there is none, and it would come from the site file".to_owned(),
        Some(Value::Null) => format!("there is none, and it {whence}"),
        Some(current) => format!("it is {}, and {whence}", shortened(&current.to_string())),
        None => format!("it {whence}"),
    };
    Refused::new(Code::PropertyChangeNotAllowed, format!("`{path}` cannot be changed here: {why}")).target(path)
}

fn unknown(model: &Model, path: &str, name: &str) -> Refused {
    let name = shortened(name);
    let hint = match (nearest(&name, model.fields), model.fields) {
        (Some(near), _) => format!("; did you mean `{path}{near}`?"),
        (None, []) => "; none is possible here".to_owned(),
        (None, [only]) => format!("; only `{path}{}` is possible here", only.name),
        (None, _) => String::new(),
    };
    Refused::bad_content(format!("there is no field `{path}{name}`{hint}")).target(format!("{path}{name}"))
}

/// The known name that a slip of the finger turns into `wrong`.
fn nearest(wrong: &str, fields: &[Field]) -> Option<&'static str> {
    let wrong = wrong.to_lowercase();
    // One slip in a short name, one more for every four letters.
    let farthest = 1 + wrong.chars().count() / 4;
    let distances = fields.iter().map(|field| (strsim::osa_distance(&wrong, &field.name.to_lowercase()), field.name));
    distances.filter(|(distance, _)| *distance <= farthest).min().map(|(_, name)| name)
}

fn check_shape(shape: Shape, path: &str, value: &Value) -> Result<(), Refused> {
    let (fits, wanted) = match shape {
        Shape::OneOf(choices) => return check_choice(choices, path, value),
        Shape::Text | Shape::Instant => (value.is_string(), "a text"),
        Shape::Whole => (value.is_i64() || value.is_u64(), "a whole number"),
        Shape::Flag => (value.is_boolean(), "true or false"),
        Shape::List(_) => (value.is_array(), "a list"),
        Shape::Object(_) => (value.is_object(), "an object"),
        Shape::Anything => (true, "anything"),
        Shape::Texts => {
            for (name, text) in value.as_object().into_iter().flatten() {
                check_shape(Shape::Text, &format!("{path}.{}", shortened(name)), text)?;
            }
            (value.is_object(), "an object of texts")
        }
    };
    if fits {
        return Ok(());
    }
    Err(Refused::bad_content(format!("`{path}` must be {wanted}, not {}", kind_of(value))).target(path))
}

/// Azure's own spelling is the only one: its clients send nothing else, and a near miss may mean the opposite.
fn check_choice(choices: &[&str], path: &str, value: &Value) -> Result<(), Refused> {
    let found = match value {
        Value::String(text) if choices.contains(&text.as_str()) => return Ok(()),
        Value::String(text) => format!("\"{}\"", shortened(text)),
        Value::Bool(truth) => truth.to_string(),
        other => kind_of(other).to_owned(),
    };
    let possible: Vec<String> = choices.iter().map(|choice| format!("\"{choice}\"")).collect();
    Err(Refused::bad_content(format!("`{path}` must be {}, not {found}", possible.join(" or "))).target(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    fn problem(model: &Model, body: &str) -> (String, String) {
        let error = given(model, body.as_bytes()).expect_err("this is no such body").body()["error"].take();
        (error["message"].as_str().unwrap_or_default().to_owned(), error["target"].as_str().unwrap_or_default().to_owned())
    }

    #[test]
    fn what_an_action_does_not_take_is_named_with_what_it_takes() {
        let only = "there is no field `force`; only `skipShutdown` is possible here";
        let flag = |found: &str| format!("`evacuate` must be \"True\" or \"False\", not {found}");
        let cases = [
            (&schema::NOTHING, r#"{"force":true}"#, "there is no field `force`; none is possible here".to_owned(), "force"),
            (&schema::POWER_OFF, r#"{"force":null}"#, only.to_owned(), "force"),
            (&schema::CORDON, r#"{"Evacuate":"True"}"#, "there is no field `Evacuate`; did you mean `evacuate`?".to_owned(), "Evacuate"),
            (&schema::CORDON, r#"{"evacuate":true}"#, flag("true"), "evacuate"),
            (&schema::CORDON, r#"{"evacuate":"true"}"#, flag("\"true\""), "evacuate"),
            (&schema::CORDON, r#"{"evacuate":{"True":null}}"#, flag("an object"), "evacuate"),
            (&schema::REASON, r#"{"reason":7}"#, "`reason` must be a text, not a number".to_owned(), "reason"),
        ];
        for (model, body, message, target) in cases {
            assert_eq!(problem(model, body), (message, target.to_owned()), "{body}");
        }
        for nothing in ["", "{}", r#"{"reason":null}"#] {
            let message = "`reason` is missing: say why, for whoever is on call next";
            assert_eq!(problem(&schema::REASON, nothing), (message.to_owned(), "reason".to_owned()), "{nothing}");
        }
    }

    #[test]
    fn null_says_the_same_as_leaving_it_out() {
        for (model, body) in [(&schema::POWER_OFF, r#"{"skipShutdown":null}"#), (&schema::CORDON, " "), (&schema::NOTHING, "{}")] {
            assert_eq!(*given(model, body.as_bytes()).expect("a body that is possible"), [], "{body}");
        }
    }
}
