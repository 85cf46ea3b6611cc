//! What the agents of an installation told of their work.

use serde_json::Value;

use super::layout::Table;
use crate::cli::answer::{field_or_dash, items, text_of};
use crate::cli::screen::{Sheet, Tone};

/// The lines as they came. Which attempt they are of is said only where there are several.
pub fn install_log(told: &Value) -> Sheet {
    let attempts = items(told, "/attempts");
    let mut sheet = Sheet::default();
    for attempt in attempts {
        if attempts.len() > 1 {
            sheet.gap();
            sheet.line(Tone::Strong, format!("attempt {}", field_or_dash(attempt, "/attempt")));
        }
        for line in lines(attempt) {
            sheet.line(Tone::Plain, line);
        }
    }
    sheet
}

pub fn install_log_table(told: &Value) -> Table {
    let mut table = Table::new(&["ATTEMPT", "LINE"]);
    for attempt in items(told, "/attempts") {
        for line in lines(attempt) {
            table.row(Tone::Plain, [field_or_dash(attempt, "/attempt"), line]);
        }
    }
    table
}

fn lines(attempt: &Value) -> impl Iterator<Item = String> {
    attempt["log"].as_str().unwrap_or_default().lines().map(text_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn several_attempts_are_told_apart_and_one_is_as_it_came() {
        let one = json!({ "attempt": 1, "log": "network: eth0 10.0.2.50/24\ndisk: sda\n" });
        assert_eq!(install_log(&json!({ "attempts": [one] })).plain(), "network: eth0 10.0.2.50/24\ndisk: sda\n");
        let two = json!({ "attempt": 2, "log": "network: eth0\n" });
        expect![[r#"
            attempt 1
            network: eth0 10.0.2.50/24
            disk: sda

            attempt 2
            network: eth0
        "#]]
        .assert_eq(&install_log(&json!({ "attempts": [one, two] })).plain());
    }
}
