//! What a machine is for, read from its role labels.

use serde_json::Value;

use crate::cli::answer::{field, items};

/// `compute`, `management`, `control plane` or `control plane (spare)`.
pub fn role(machine: &Value) -> String {
    let labels: Vec<String> = items(machine, "/properties/machineRoles").iter().filter_map(|label| field(label, "")).collect();
    let has = |plane: &str| labels.iter().any(|label| label.ends_with(&format!("/{plane}=true")));
    if has("control-plane") {
        // A control-plane machine without an operating system is the one kept in reserve.
        let spare = field(machine, "/properties/detailedStatus").as_deref() == Some("Available");
        return if spare { "control plane (spare)" } else { "control plane" }.to_owned();
    }
    match (has("management-plane"), has("compute-plane")) {
        (true, _) => "management".to_owned(),
        (false, true) => "compute".to_owned(),
        (false, false) if labels.is_empty() => "-".to_owned(),
        (false, false) => labels.join(", "),
    }
}
