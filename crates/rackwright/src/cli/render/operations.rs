//! Operations as a table, and the words about one that several views share.

use serde_json::Value;

use super::clock::Clock;
use super::layout::Table;
use super::racks::cluster_of;
use crate::cli::answer::{field, field_or_dash, items, short_id, target_of};
use crate::cli::screen::Tone;

pub fn operation_table(operations: &[Value], clock: Clock) -> Table {
    let mut table = Table::new(&["ID", "CLUSTER", "MACHINE", "ACTION", "STATUS", "DONE", "STEP", "STARTED", "TOOK", "BY"]);
    for operation in operations {
        let id = field_or_dash(operation, "/id");
        table.row(
            tone(operation),
            [
                short_id(&id).to_owned(),
                field_or_dash(operation, "/cluster"),
                target_of(operation),
                field_or_dash(operation, "/action"),
                field_or_dash(operation, "/status"),
                percent(operation),
                current_step(operation).unwrap_or_else(|| "-".to_owned()),
                clock.time(operation, "/acceptedAt"),
                clock.took(operation, "/acceptedAt", "/endedAt"),
                field_or_dash(operation, "/caller"),
            ],
        );
    }
    table
}

/// The title of the step that it is in.
pub fn current_step(operation: &Value) -> Option<String> {
    items(operation, "/steps").iter().find(|step| step["status"] == "InProgress").and_then(|step| field(step, "/name"))
}

pub fn percent(operation: &Value) -> String {
    field(operation, "/percentComplete").map_or_else(|| "-".to_owned(), |percent| format!("{percent}%"))
}

/// Whether the operation is on that machine: names are unique within a cluster only.
pub fn is_on(operation: &Value, machine: &Value) -> bool {
    operation["machine"] == machine["name"] && field_or_dash(operation, "/cluster") == cluster_of(machine)
}

pub fn tone(operation: &Value) -> Tone {
    let late = operation.pointer("/wait/late").and_then(Value::as_bool).unwrap_or(false);
    match operation["status"].as_str() {
        Some("Failed") => Tone::Alarm,
        Some("InProgress") if late => Tone::Alarm,
        Some("InProgress" | "Canceled") => Tone::Notice,
        _ => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixtures;
    use expect_test::expect;

    #[test]
    fn operations_show_how_far_they_are() {
        let operations = [fixtures::running_restart(), fixtures::failed_power_off()];
        expect![[r#"
            ID        CLUSTER   MACHINE         ACTION     STATUS      DONE  STEP       STARTED    TOOK        BY
            8f3c1a2b  cluster1  rack1compute01  restart    InProgress  30%   Power Off  14:02:10Z  50s so far  alice
            0a1b2c3d  cluster1  rack1compute01  power-off  Failed      75%   -          13:00:00Z  40m 00s     alice
        "#]]
        .assert_eq(&operation_table(&operations, Clock::at(fixtures::NOW)).plain());
    }
}
