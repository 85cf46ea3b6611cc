//! What is shown of disruption budgets.

use serde_json::{Value, json};

use super::Shown::Always;
use super::{Column, age, name};

pub(super) static COLUMNS: [Column; 5] = [
    ("Name", Always, name),
    ("Min Available", Always, |budget, _| amount(&budget["spec"]["minAvailable"])),
    ("Max Unavailable", Always, |budget, _| amount(&budget["spec"]["maxUnavailable"])),
    ("Allowed Disruptions", Always, |budget, _| budget["status"]["disruptionsAllowed"].clone()),
    ("Age", Always, age),
];

/// A number or a percentage.
fn amount(value: &Value) -> Value {
    match value {
        Value::Null => json!("N/A"),
        Value::String(percent) => json!(percent),
        number => json!(number.to_string()),
    }
}
