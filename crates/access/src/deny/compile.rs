//! A policy as a `forbid` of Cedar.
//!
//! It is built as a tree and never as text, so that nothing that stands in a policy can become a rule of its own. What is built is held
//! against the schema: a policy that could fail while it is judged is not taken.

use cedar_policy::{Policy, PolicyId, PolicySet, Schema, ValidationMode, Validator};
use serde_json::{Value, json};

use super::condition::{Condition, Field, Test};
use super::{DenyPolicy, InvalidPolicy};

pub(super) const ACTION: &str = "propose";

pub(super) fn compile(policy: &DenyPolicy, schema: &Schema) -> Result<Policy, InvalidPolicy> {
    let not_judged = |problem: String| InvalidPolicy::NotJudged { id: policy.id.clone(), problem };
    let compiled = Policy::from_json(Some(PolicyId::new(policy.key())), tree(policy)).map_err(|error| not_judged(error.to_string()))?;
    let alone = PolicySet::from_policies([compiled.clone()]).map_err(|error| not_judged(error.to_string()))?;
    let result = Validator::new(schema.clone()).validate(&alone, ValidationMode::Strict);
    if result.validation_passed() { Ok(compiled) } else { Err(not_judged(result.to_string())) }
}

fn tree(policy: &DenyPolicy) -> Value {
    let conditions: Vec<Value> = policy.conditions.iter().map(|condition| json!({ "kind": "when", "body": body(condition) })).collect();
    json!({
        "effect": "forbid",
        "principal": { "op": "All" },
        "action": { "op": "==", "entity": { "type": "Action", "id": ACTION } },
        "resource": { "op": "in", "entity": { "type": "Scope", "id": policy.scope.key() } },
        "conditions": conditions,
    })
}

fn body(condition: &Condition) -> Value {
    let value = value_of(&condition.field);
    let is_there = presence_of(&condition.field);
    let holds = |test: Value| match &is_there {
        Some(is_there) => json!({ "&&": { "left": is_there, "right": test } }),
        None => test,
    };
    match &condition.test {
        Test::Like(pattern) => holds(like(&value, pattern.as_str())),
        Test::NotLike(pattern) => not(&holds(like(&value, pattern.as_str()))),
        Test::In(texts) => holds(is_one_of(&value, texts)),
        Test::NotIn(texts) => not(&holds(is_one_of(&value, texts))),
        Test::Exists(true) => is_there.unwrap_or_else(|| json!({ "Value": true })),
        Test::Exists(false) => not(&is_there.unwrap_or_else(|| json!({ "Value": true }))),
    }
}

fn value_of(field: &Field) -> Value {
    let attribute = |of: &str, name: &str| json!({ ".": { "left": { "Var": of }, "attr": name } });
    match field {
        Field::Type => attribute("resource", "type"),
        Field::Name => attribute("resource", "name"),
        Field::Location => attribute("resource", "location"),
        Field::Action => attribute("context", "permission"),
        Field::Tag(name) => json!({ "getTag": { "left": { "Var": "resource" }, "right": { "Value": name.as_str() } } }),
    }
}

/// What must hold before the field may be looked at; nothing for one that is always there.
fn presence_of(field: &Field) -> Option<Value> {
    match field {
        Field::Type | Field::Name | Field::Action => None,
        Field::Location => Some(json!({ "has": { "left": { "Var": "resource" }, "attr": "location" } })),
        Field::Tag(name) => Some(json!({ "hasTag": { "left": { "Var": "resource" }, "right": { "Value": name.as_str() } } })),
    }
}

fn not(value: &Value) -> Value {
    json!({ "!": { "arg": value } })
}

fn is_one_of(value: &Value, texts: &[String]) -> Value {
    let texts: Vec<Value> = texts.iter().map(|text| json!({ "Value": text.to_lowercase() })).collect();
    json!({ "contains": { "left": { "Set": texts }, "right": value } })
}

fn like(value: &Value, pattern: &str) -> Value {
    let mut parts: Vec<Value> = Vec::new();
    for (number, literal) in pattern.split('*').enumerate() {
        if number > 0 {
            parts.push(json!("Wildcard"));
        }
        if !literal.is_empty() {
            parts.push(json!({ "Literal": literal }));
        }
    }
    json!({ "like": { "left": value, "pattern": parts } })
}
