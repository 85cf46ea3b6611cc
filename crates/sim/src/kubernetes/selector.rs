//! Label and field selectors: which objects a list or a watch means.

use serde_json::Value;
use world::{ObjectKey, Resource};

use super::Call;
use super::status::Failure;
use super::target::{Name, Target};

/// Namespace, name, labels and fields of the objects that are meant.
#[derive(Clone, Debug, Default)]
pub(super) struct Selector {
    namespace: Option<String>,
    name: Option<String>,
    labels: Vec<(String, Rule)>,
    fields: Vec<(String, Rule)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    Present,
    Absent,
    In(Vec<String>),
    NotIn(Vec<String>),
}

impl Rule {
    fn admits(&self, value: Option<&str>) -> bool {
        match self {
            Rule::Present => value.is_some(),
            Rule::Absent => value.is_none(),
            Rule::In(values) => value.is_some_and(|value| values.iter().any(|allowed| allowed == value)),
            Rule::NotIn(values) => value.is_none_or(|value| values.iter().all(|refused| refused != value)),
        }
    }
}

impl Selector {
    pub fn of(call: &Call, target: &Target) -> Result<Selector, Failure> {
        let mut selector = Selector { namespace: target.namespace.clone(), ..Selector::default() };
        if let Name::One { key, .. } = &target.name {
            selector.name = Some(key.name.clone());
        }
        if let Some(text) = call.parameter("labelSelector") {
            selector.labels = split(text)?.into_iter().map(parse_label).collect::<Result<_, _>>()?;
        }
        if let Some(text) = call.parameter("fieldSelector") {
            selector.fields = split(text)?.into_iter().map(|part| parse_field(target.resource, part)).collect::<Result<_, _>>()?;
        }
        Ok(selector)
    }

    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    pub fn admits(&self, key: &ObjectKey, object: &Value) -> bool {
        self.namespace.as_ref().is_none_or(|namespace| key.namespace == *namespace)
            && self.name.as_ref().is_none_or(|name| key.name == *name)
            && self.labels.iter().all(|(label, rule)| rule.admits(object["metadata"]["labels"][label].as_str()))
            && self.fields.iter().all(|(field, rule)| rule.admits(Some(&field_text(object, field))))
    }
}

/// Splits at commas that are not inside parentheses.
fn split(text: &str) -> Result<Vec<&str>, Failure> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    match parts.as_slice() {
        // No selector at all selects everything.
        [""] => Ok(Vec::new()),
        parts if parts.contains(&"") || depth != 0 => Err(Failure::bad_request(format!("unable to parse requirement: {text}"))),
        _ => Ok(parts),
    }
}

fn parse_label(part: &str) -> Result<(String, Rule), Failure> {
    let (key, rule) = parse_requirement(part)?;
    let values: &[String] = if let Rule::In(values) | Rule::NotIn(values) = &rule { values } else { &[] };
    if is_word(&key) && values.iter().all(|value| value.is_empty() || is_word(value)) {
        return Ok((key, rule));
    }
    Err(Failure::bad_request(format!("unable to parse requirement: {part}")))
}

fn parse_requirement(part: &str) -> Result<(String, Rule), Failure> {
    let pair = |key: &str, rule| Ok((key.trim().to_owned(), rule));
    if let Some((key, value)) = part.split_once("!=") {
        return pair(key, Rule::NotIn(vec![value.trim().to_owned()]));
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return pair(key, Rule::In(vec![value.trim().to_owned()]));
    }
    if let Some((key, values)) = part.split_once(" notin ") {
        return pair(key, Rule::NotIn(parse_set(part, values)?));
    }
    if let Some((key, values)) = part.split_once(" in ") {
        return pair(key, Rule::In(parse_set(part, values)?));
    }
    match part.strip_prefix('!') {
        Some(key) => pair(key, Rule::Absent),
        None if part.contains(char::is_whitespace) => Err(Failure::bad_request(format!("unable to parse requirement: {part}"))),
        None => pair(part, Rule::Present),
    }
}

/// Keys and values of labels are made of few characters; anything else is a slip of the keyboard that must not select nothing.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
}

fn parse_set(part: &str, values: &str) -> Result<Vec<String>, Failure> {
    let inner = values.trim().strip_prefix('(').and_then(|values| values.strip_suffix(')'));
    let inner = inner.ok_or_else(|| Failure::bad_request(format!("unable to parse requirement: {part}")))?;
    Ok(inner.split(',').map(|value| value.trim().to_owned()).collect())
}

fn parse_field(resource: &Resource, part: &str) -> Result<(String, Rule), Failure> {
    let (field, rule) = parse_requirement(part)?;
    let is_supported = matches!(rule, Rule::In(_) | Rule::NotIn(_)) && supported_fields(resource).any(|supported| supported == field);
    if is_supported { Ok((field, rule)) } else { Err(Failure::bad_request(format!("field label not supported: {field}"))) }
}

fn supported_fields(resource: &Resource) -> impl Iterator<Item = &'static str> {
    ["metadata.name", "metadata.namespace"].into_iter().chain(resource.selectable.iter().copied())
}

/// A field as selectors compare it: what is missing is empty, and a missing flag is false.
fn field_text(object: &Value, field: &str) -> String {
    let value = if field == "source" { &object["source"]["component"] } else { field.split('.').fold(object, |value, step| &value[step]) };
    match value {
        Value::String(text) => text.clone(),
        Value::Null if field == "spec.unschedulable" => "false".to_owned(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use world::{EVENTS, NODES};

    use super::*;

    fn admits(labels: &str, object: &Value) -> bool {
        let rules: Vec<_> = split(labels).unwrap().into_iter().map(|part| parse_label(part).unwrap()).collect();
        let selector = Selector { labels: rules, ..Selector::default() };
        selector.admits(&ObjectKey::cluster("a"), object)
    }

    #[test]
    fn label_selectors_mean_what_kubectl_means() {
        let object = json!({"metadata": {"labels": {"rack": "rack1", "role": ""}}});
        for (selector, expected) in [
            ("rack=rack1", true),
            ("rack==rack2", false),
            ("rack!=rack2", true),
            ("missing!=x", true),
            ("role", true),
            ("!role", false),
            ("!missing", true),
            ("rack in (rack1,rack2)", true),
            ("rack notin (rack1, rack2)", false),
            ("rack in (rack1),!role", false),
        ] {
            assert_eq!(admits(selector, &object), expected, "{selector}");
        }
    }

    #[test]
    fn slips_of_the_keyboard_are_refused() {
        let parse = |text: &str| split(text).and_then(|parts| parts.into_iter().map(parse_label).collect::<Result<Vec<_>, _>>());
        for slip in ["a=(b", "a=b=c", ",,", "a=b,", "a in (b", "a in b", "a b", "=b", "!"] {
            assert!(parse(slip).is_err(), "{slip}");
        }
        assert!(parse("").is_ok_and(|rules| rules.is_empty()));
    }

    #[test]
    fn fields_that_are_not_indexed_are_refused() {
        assert!(parse_field(&NODES, "spec.unschedulable=true").is_ok());
        assert!(parse_field(&NODES, "status.phase=x").is_err());
        assert!(parse_field(&EVENTS, "involvedObject.name=a").is_ok());
    }

    #[test]
    fn a_missing_flag_is_false() {
        assert_eq!(field_text(&json!({}), "spec.unschedulable"), "false");
        assert_eq!(field_text(&json!({"spec": {"unschedulable": true}}), "spec.unschedulable"), "true");
    }
}
