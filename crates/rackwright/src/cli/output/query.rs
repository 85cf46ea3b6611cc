//! `--query`: a JMESPath expression, as in `az`, applied to what the API answered.
//!
//! The parser and the evaluator recurse once for every part of an expression. So an expression has a longest length, and
//! both run on a thread whose stack is deep enough for the longest.

use std::collections::BTreeSet;

use jmespath::ast::Ast;
use jmespath::{ErrorReason, JmespathError, Rcvar, ToJmespath, Variable};
use serde_json::{Map, Number, Value};

use super::growth::{self, Fields, Objection};
use crate::cli::answer::text_of;
use crate::cli::did_you_mean::near_hint;
use crate::cli::trouble::{Exit, Trouble};

/// Longest expression, in bytes: a screen full.
pub const QUERY_LENGTH_MAX: usize = 2_000;

/// How deep a result may be nested; what the API answers is not ten deep.
pub const RESULT_DEPTH_MAX: usize = 100;

/// Enough for an expression that nests with every byte of its length; pages that are not touched cost nothing.
const STACK_SIZE: usize = 32 * 1024 * 1024;

/// How much of an expression is shown around the place that is wrong.
const SHOWN_AROUND: usize = 60;

/// An expression that has been understood.
#[derive(Clone, Debug)]
pub struct Query {
    text: String,
    columns: Vec<String>,
    fields_read: BTreeSet<String>,
    fields_made: BTreeSet<String>,
}

impl Query {
    pub fn parse(text: &str) -> Result<Query, Trouble> {
        if text.len() > QUERY_LENGTH_MAX {
            return Err(Trouble::new(Exit::Usage, format!("the `--query` is longer than {QUERY_LENGTH_MAX} bytes")));
        }
        on_deep_stack(|| {
            let ast = parsed(text)?;
            growth::object(&ast).map_err(|objection| objected(text, objection))?;
            let Fields { read, made } = Fields::of(&ast);
            Ok(Query { text: text.to_owned(), columns: growth::columns(&ast), fields_read: read, fields_made: made })
        })
    }

    /// The names of the columns, in the order in which they were typed.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    pub fn apply(&self, answer: &Value) -> Result<Value, Trouble> {
        on_deep_stack(|| {
            let expression = jmespath::compile(&self.text).map_err(|problem| misunderstood(&self.text, &problem))?;
            let answer = answer.to_jmespath().map_err(|problem| misunderstood(&self.text, &problem))?;
            let found = expression.search(answer).map_err(|problem| misunderstood(&self.text, &problem))?;
            plain(&found, 0)
        })
    }

    /// A field that nothing in the answer has, if the result is poorer for it and one of a similar name exists.
    pub fn doubt(&self, answer: &Value, result: &Value) -> Option<String> {
        if !has_gaps(result) {
            return None;
        }
        let mut known = BTreeSet::new();
        collect_names(answer, &mut known);
        let strange = self.fields_read.iter().find(|name| !known.contains(name.as_str()) && !self.fields_made.contains(*name))?;
        let hint = near_hint(strange, known.iter().map(String::as_str))?;
        Some(format!("nothing in the answer has a field `{}`; {hint}", text_of(strange)))
    }
}

fn parsed(text: &str) -> Result<Ast, Trouble> {
    jmespath::parse(text).map_err(|problem| misunderstood(text, &problem))
}

/// Runs it where deep recursion is no danger.
fn on_deep_stack<T: Send>(work: impl FnOnce() -> Result<T, Trouble> + Send) -> Result<T, Trouble> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("query".to_owned()).stack_size(STACK_SIZE).spawn_scoped(scope, work);
        let thread = thread.map_err(|problem| Trouble::failed(format!("the `--query` cannot be evaluated: {problem}")))?;
        thread.join().unwrap_or_else(|_| Err(Trouble::failed("the `--query` cannot be evaluated")))
    })
}

fn misunderstood(text: &str, problem: &JmespathError) -> Trouble {
    let reason = match &problem.reason {
        ErrorReason::Parse(reason) => format!("the `--query` is not understood: {}", in_words(reason)),
        ErrorReason::Runtime(reason) => format!("the `--query` does not fit the answer: {}", text_of(&reason.to_string())),
    };
    pointed(reason, text, problem.offset)
        .hint("for example `--query \"[?properties.powerState=='Off'].name\"`; https://jmespath.org explains the language")
}

/// The parser's message without its jargon.
fn in_words(reason: &str) -> String {
    text_of(reason)
        .replace(" -- found Eof", ", but it ends here")
        .replace(" -- found ", ", but found ")
        .replace("Unexpected nud token", "a value is missing")
        .replace("Unexpected led token", "this cannot follow")
}

fn objected(text: &str, Objection { offset, message, hint }: Objection) -> Trouble {
    let mut trouble = pointed(format!("the `--query` is refused: {message}"), text, offset);
    trouble.hint = hint;
    trouble
}

/// The trouble with the place under the expression.
fn pointed(message: String, text: &str, offset: usize) -> Trouble {
    let column = text.char_indices().take_while(|(at, _)| *at < offset).count();
    let first = column.saturating_sub(SHOWN_AROUND);
    // One column for each character, or the mark would stand elsewhere.
    let shown: String = text.chars().skip(first).take(2 * SHOWN_AROUND).map(|c| if c.is_control() { ' ' } else { c }).collect();
    Trouble::new(Exit::Usage, message).detail(shown).detail(format!("{:width$}^", "", width = column - first))
}

/// JSON again. A function that was not called is no value.
fn plain(found: &Rcvar, depth: usize) -> Result<Value, Trouble> {
    if depth > RESULT_DEPTH_MAX {
        return Err(Trouble::new(Exit::Usage, format!("the `--query` nests its result more than {RESULT_DEPTH_MAX} deep")));
    }
    Ok(match found.as_ref() {
        Variable::Null => Value::Null,
        Variable::Bool(truth) => Value::Bool(*truth),
        Variable::Number(number) => Value::Number(whole(number).unwrap_or_else(|| number.clone())),
        Variable::String(text) => Value::String(text.clone()),
        Variable::Array(items) => Value::Array(items.iter().map(|item| plain(item, depth + 1)).collect::<Result<_, _>>()?),
        Variable::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| Ok((name.clone(), plain(value, depth + 1)?)));
            Value::Object(fields.collect::<Result<Map<_, _>, Trouble>>()?)
        }
        Variable::Expref(_) => {
            return Err(Trouble::new(Exit::Usage, "the `--query` yields an expression (`&…`), which is no value")
                .hint("`&` stands in arguments of functions such as `sort_by(@, &name)`"));
        }
    })
}

/// The functions of the library count in fractions; `az` prints what is whole as a whole number, and scripts compare it so.
#[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
fn whole(number: &Number) -> Option<Number> {
    /// Beyond this a fraction cannot tell whole numbers apart.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let value = number.as_f64().filter(|_| number.is_f64())?;
    (value.fract() == 0.0 && value.abs() < EXACT).then(|| Number::from(value as i64))
}

/// Nothing, or something with nothing in it.
fn has_gaps(result: &Value) -> bool {
    match result {
        Value::Null => true,
        Value::Array(items) => items.is_empty() || items.iter().any(has_gaps),
        Value::Object(fields) => fields.values().any(Value::is_null),
        _ => false,
    }
}

fn collect_names(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if !names.contains(name) {
                    names.insert(name.clone());
                }
                collect_names(value, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_names(item, names)),
        _ => {}
    }
}
