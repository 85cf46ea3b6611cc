//! The results of hardware validation: what failed first, then how much of everything else was compared.

use serde_json::Value;

use super::clock::Clock;
use super::layout::{Fact, Table, facts};
use crate::cli::answer::{field, field_or_dash, items, short_id, text_of};
use crate::cli::screen::{Sheet, Tone};

/// In the order in which they are compared.
const CATEGORIES: [&str; 6] = ["device_login", "system_info", "drive_info", "network_info", "health_info", "boot_info"];

fn categories(validation: &Value) -> impl Iterator<Item = (&'static str, &Value)> {
    CATEGORIES.into_iter().filter_map(|name| Some((name, validation.pointer(&format!("/properties/{name}"))?)))
}

pub fn validation_sheet(validation: &Value) -> Sheet {
    let of = |pointer| field_or_dash(validation, pointer);
    let result = of("/properties/result");
    let tone = if result == "Fail" { Tone::Alarm } else { Tone::Plain };
    let operation = of("/properties/operation");
    let at = Clock::of_process().time(validation, "/properties/lastValidationTime");
    let mut lines: Vec<Fact<'_>> = vec![
        (Tone::Strong, "machine", of("/name")),
        (tone, "result", result),
        (Tone::Plain, "compared", format!("{at}, by operation {}", short_id(&operation))),
    ];
    if let Some(version) = field(validation, "/properties/runtimeVersion") {
        lines.push((Tone::Plain, "firmware", format!("against the minimums of runtime {version}")));
    }
    let mut sheet = facts(&lines);
    sheet.gap();
    sheet.append(validation_table(validation).into_sheet(), "");
    let logs: Vec<String> =
        categories(validation).flat_map(|(_, category)| items(category, "/result_log")).filter_map(Value::as_str).map(text_of).collect();
    if !logs.is_empty() {
        sheet.gap();
        sheet.line(Tone::Strong, "LOG");
        for line in logs {
            sheet.line(Tone::Plain, line);
        }
    }
    sheet
}

/// A line for each field, those that failed first.
pub fn validation_table(validation: &Value) -> Table {
    let mut rows: Vec<(&str, &Value)> = categories(validation)
        .flat_map(|(name, category)| items(category, "/result_detail").iter().map(move |field| (name, field)))
        .collect();
    rows.sort_by_key(|(_, field)| match field["comparison_result"].as_str() {
        Some("Fail") => 0,
        Some("Warning") => 1,
        _ => 2,
    });
    let mut table = Table::new(&["RESULT", "CATEGORY", "FIELD", "EXPECTED", "FETCHED"]);
    for (category, field) in rows {
        let tone = match field["comparison_result"].as_str() {
            Some("Fail") => Tone::Alarm,
            Some("Warning") => Tone::Notice,
            _ => Tone::Plain,
        };
        let of = |pointer| field_or_dash(field, pointer);
        table.row(tone, [of("/comparison_result"), category.to_owned(), of("/field_name"), of("/expected"), of("/fetched")]);
    }
    table
}

/// `memory_capacity_GB: 480 instead of 512`.
pub fn failed_fields(validation: &Value) -> Vec<String> {
    let fields = categories(validation).flat_map(|(_, category)| items(category, "/result_detail"));
    let failed = fields.filter(|field| field["comparison_result"] == "Fail");
    failed
        .map(|field| {
            let of = |pointer| field_or_dash(field, pointer);
            format!("{}: {} instead of {}", of("/field_name"), of("/fetched"), of("/expected"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    fn field(name: &str, result: &str, expected: &str, fetched: &str) -> Value {
        json!({ "field_name": name, "comparison_result": result, "expected": expected, "fetched": fetched })
    }

    #[test]
    fn what_failed_stands_first_and_what_could_not_be_told_is_told() {
        let validation = json!({ "name": "rack1compute01", "properties": {
            "result": "Fail", "lastValidationTime": "2026-11-15T14:02:10.000Z", "operation": "8f3c1a2b-0000", "runtimeVersion": "4.9.2",
            "system_info": { "system_info_result": "Fail", "result_log": ["Unable to determine firmware release of CPLD"], "result_detail": [
                field("Model", "Pass", "PowerEdge R750", "PowerEdge R750"), field("memory_capacity_GB", "Fail", "512", "480"),
            ] },
            "health_info": { "health_info_result": "Pass", "result_log": [], "result_detail": [
                field("Power Supply 1", "Warning", "Enabled-OK", "Enabled-Critical"), field("LCLog_Critical_Alarms", "Info", "", "not offered"),
            ] },
        } });
        expect![[r#"
            RESULT   CATEGORY     FIELD                  EXPECTED        FETCHED
            Fail     system_info  memory_capacity_GB     512             480
            Warning  health_info  Power Supply 1         Enabled-OK      Enabled-Critical
            Pass     system_info  Model                  PowerEdge R750  PowerEdge R750
            Info     health_info  LCLog_Critical_Alarms  -               not offered
        "#]]
        .assert_eq(&validation_table(&validation).plain());
        assert_eq!(failed_fields(&validation), ["memory_capacity_GB: 480 instead of 512"]);
        let sheet = validation_sheet(&validation).plain();
        assert!(sheet.contains("firmware  against the minimums of runtime 4.9.2"), "{sheet}");
        assert!(sheet.ends_with("\nLOG\nUnable to determine firmware release of CPLD\n"), "{sheet}");
    }
}
