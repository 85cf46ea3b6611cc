//! Lines with tabs, for `cut` and `while read`: what `az -o tsv` prints, but for its truths, which are JSON's here.
//!
//! In a row null is `None`, a list is how many items it has, and an object is empty, so that each value keeps its
//! column. What would break a line or a column becomes a blank.

use serde_json::Value;

use super::columns::ordered;
use crate::cli::render::Table;

pub fn of_table(table: Table) -> String {
    table.into_rows().iter().map(|row| line(row.iter().map(|cell| clean(cell)))).collect()
}

/// A list gives a line for each item, everything else one; nothing gives none.
pub fn of_value(value: &Value, order: &[String]) -> String {
    match value {
        Value::Null => String::new(),
        Value::Array(items) => items.iter().map(|item| row(item, order)).collect(),
        other => row(other, order),
    }
}

fn row(item: &Value, order: &[String]) -> String {
    match item {
        Value::Object(fields) => line(ordered(fields, order).into_iter().map(|(_, value)| cell(value))),
        Value::Array(values) => line(values.iter().map(cell)),
        other => line([cell(other)]),
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::String(text) => clean(text),
        Value::Array(items) => items.len().to_string(),
        Value::Object(_) => String::new(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn line(cells: impl IntoIterator<Item = String>) -> String {
    cells.into_iter().collect::<Vec<_>>().join("\t") + "\n"
}
