//! The table of a queried result: the columns follow from the result, as in `az`.

use serde_json::{Map, Value};

use crate::cli::answer::text_of;
use crate::cli::render::Table;
use crate::cli::screen::Tone;

/// The column of results that have no names.
const NAMELESS: &str = "Result";

/// Objects have a column for each name, lists `Column1` and so on, anything else `Result`. Values within values are left
/// out, because a cell cannot hold them. `None` if nothing is left; an empty list is an empty table.
pub fn table_of(result: &Value, order: &[String]) -> Option<Table> {
    let items = match result {
        Value::Null => &[][..],
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let rows: Vec<Vec<(String, String)>> = items.iter().map(|item| row(item, order)).collect();
    let mut headings: Vec<&str> = Vec::new();
    for (heading, _) in rows.iter().flatten() {
        if !headings.contains(&heading.as_str()) {
            headings.push(heading);
        }
    }
    // A later row may have a column that stands between two of an earlier one.
    headings.sort_by_key(|heading| order.iter().position(|name| heading_of(name) == *heading).unwrap_or(order.len()));
    if headings.is_empty() && !items.is_empty() {
        return None;
    }
    let mut table = Table::new(&headings);
    for row in &rows {
        let cell = |heading: &&str| row.iter().find(|(name, _)| name == heading).map_or_else(String::new, |(_, text)| text.clone());
        table.row(Tone::Plain, headings.iter().map(cell).collect::<Vec<_>>());
    }
    Some(table)
}

fn row(item: &Value, order: &[String]) -> Vec<(String, String)> {
    match item {
        Value::Object(fields) => {
            let cells = ordered(fields, order).into_iter();
            cells.filter_map(|(name, value)| Some((heading_of(name), scalar(value)?))).collect()
        }
        Value::Array(values) => {
            let cells = values.iter().enumerate();
            cells.map(|(n, value)| (format!("Column{}", n + 1), scalar(value).unwrap_or_default())).collect()
        }
        other => vec![(NAMELESS.to_owned(), scalar(other).unwrap_or_default())],
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text_of(text)),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn heading_of(name: &str) -> String {
    let name = text_of(name);
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The fields in the order in which the query names them; those that it does not name follow by name.
pub fn ordered<'a>(fields: &'a Map<String, Value>, order: &[String]) -> Vec<(&'a str, &'a Value)> {
    let mut all: Vec<(&str, &Value)> = fields.iter().map(|(name, value)| (name.as_str(), value)).collect();
    all.sort_by_key(|(name, _)| order.iter().position(|known| known == name).unwrap_or(order.len()));
    all
}
