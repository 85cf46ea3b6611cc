//! Reading a body as JSON: one object, in which no field is named twice.
//!
//! Readers of JSON disagree on which of two fields counts. A request that one part of a system checks and another carries
//! out must not mean two things, so it is refused.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::reply::{Refused, shortened};

/// The object that a body holds. Its nesting is bounded by `serde_json`, and its size by whoever read it.
pub(crate) fn parse_object(body: &[u8]) -> Result<Map<String, Value>, Refused> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let value = Strict.deserialize(&mut reader).map_err(|problem| not_understood(&problem))?;
    reader.end().map_err(|problem| not_understood(&problem))?;
    match value {
        Value::Object(object) => Ok(object),
        other => Err(not_understood(&format!("it is {}, and not an object", kind_of(&other)))),
    }
}

/// The problem can quote the body, which may be long.
pub(crate) fn not_understood(problem: &dyn fmt::Display) -> Refused {
    Refused::bad_content(format!("the body is not understood: {}", shortened(&problem.to_string())))
}

pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[derive(Clone, Copy)]
struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is out of range"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if object.contains_key(&name) {
                let name: String = name.chars().take(64).collect();
                return Err(A::Error::custom(format!("field `{name}` is there twice")));
            }
            let value = fields.next_value_seed(self)?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn problem(body: &[u8]) -> String {
        parse_object(body).unwrap_err().body()["error"]["message"].as_str().unwrap().to_owned()
    }

    #[test]
    fn what_is_no_single_object_is_refused_and_said_why() {
        let deep = [b"{\"a\":".repeat(200), b"1".to_vec(), b"}".repeat(200)].concat();
        let cases: [(&[u8], &str); 10] = [
            (b"{", "EOF while parsing an object"),
            (b"[]", "it is a list, and not an object"),
            (b"null", "it is null, and not an object"),
            (b"{} {}", "trailing characters"),
            (b"{\"a\":1,\"a\":2}", "field `a` is there twice"),
            (b"{\"a\":[{\"b\":1,\"b\":1}]}", "field `b` is there twice"),
            (b"{\"a\":1e999}", "number out of range"),
            (b"{\"a\":\"\xff\"}", "invalid unicode code point"),
            (b"{\"a\":\"\x00\"}", "control character (\\u0000-\\u001F) found while parsing a string"),
            (&deep, "recursion limit exceeded"),
        ];
        for (body, expected) in cases {
            let problem = problem(body);
            assert!(problem.starts_with(&format!("the body is not understood: {expected}")), "{problem}");
        }
    }

    #[test]
    fn a_problem_that_quotes_the_body_is_cut() {
        #[derive(Debug, serde::Deserialize)]
        enum Flag {
            True,
        }
        let body = format!("\"{}\"", "x".repeat(60_000));
        let problem = serde_json::from_str::<Flag>(&body).unwrap_err();
        assert!(problem.to_string().len() > 60_000);
        let answer = not_understood(&problem).body().to_string();
        assert!(answer.len() < 400 && answer.contains("unknown variant `xxx"), "{answer}");
    }

    proptest! {
        #[test]
        fn bytes_of_any_kind_never_make_it_panic(body in proptest::collection::vec(any::<u8>(), 0..512)) {
            let _ = parse_object(&body);
        }

        #[test]
        fn it_reads_what_serde_json_reads(names in proptest::collection::btree_set("[a-z]{1,4}", 0..8), number in any::<f64>(), whole in any::<i64>()) {
            let list: Vec<Value> = vec![whole.into(), Value::Null, "\u{1F600}\n".into(), true.into(), serde_json::json!(number)];
            let object: Map<String, Value> = names.into_iter().map(|name| (name, Value::Array(list.clone()))).collect();
            let text = serde_json::to_vec(&object).unwrap();
            prop_assert_eq!(parse_object(&text).unwrap(), serde_json::from_slice::<Map<String, Value>>(&text).unwrap());
        }
    }
}
