//! The activity log: as a table, as a line of a stream, and one entry in full.

use serde_json::Value;

use super::clock::Clock;
use super::layout::{Fact, Table, facts};
use crate::cli::answer::{field, field_or_dash, items, name_in_id};
use crate::cli::screen::{Sheet, Tone};

/// Width of a line's columns in a stream, whose later lines are not known yet. Longer texts move the rest aside.
const WIDTHS: [usize; 5] = [9, 22, 24, 14, 10];

pub fn activity_table(entries: &[Value], clock: Clock) -> Table {
    let mut table = Table::new(&["TIME", "STATUS", "OPERATION", "RESOURCE", "BY", "ID", "WHAT"]);
    for entry in entries {
        let [time, status, operation, resource, by] = cells(entry, clock);
        table.row(tone(entry), [time, status, operation, resource, by, field_or_dash(entry, "/eventDataId"), what(entry)]);
    }
    table
}

/// One line of a stream.
pub fn activity_line(entry: &Value, clock: Clock) -> Sheet {
    let mut line = String::new();
    for (cell, width) in cells(entry, clock).iter().zip(WIDTHS) {
        line.push_str(&format!("{cell:width$}  "));
    }
    line.push_str(&what(entry));
    Sheet::of(tone(entry), line.trim_end())
}

pub fn activity_sheet(entry: &Value, clock: Clock) -> Sheet {
    let text = |pointer| field_or_dash(entry, pointer);
    let plain = |name, text| (Tone::Plain, name, text);
    let mut lines = vec![
        (Tone::Strong, "entry", text("/eventDataId")),
        plain("time", clock.time(entry, "/eventTimestamp")),
        plain("operation", text("/operationName/value")),
        (tone(entry), "status", status(entry)),
        plain("level", text("/level")),
        plain("by", text("/caller")),
        plain("resource", text("/resourceId")),
        plain("correlation", text("/correlationId")),
        plain("what", what(entry)),
    ];
    lines.extend(error(entry));
    facts(&lines)
}

fn cells(entry: &Value, clock: Clock) -> [String; 5] {
    let resource = field_or_dash(entry, "/resourceId");
    [
        clock.time(entry, "/eventTimestamp"),
        status(entry),
        operation(entry),
        name_in_id(&resource).to_owned(),
        field_or_dash(entry, "/caller"),
    ]
}

/// `Failed (DeadlineExceeded)`: what came of it, and the error's code, which tells a refusal from an operation that failed.
fn status(entry: &Value) -> String {
    let status = field_or_dash(entry, "/status/value");
    let code = nested(entry).and_then(|error| field(&error, "/error/code"));
    match code.or_else(|| field(entry, "/subStatus/value")).filter(|text| !text.is_empty() && *text != status) {
        Some(kind) => format!("{status} ({kind})"),
        None => status,
    }
}

/// `restart` of a machine, `racks/write` of others: without what is the same nearly everywhere.
fn operation(entry: &Value) -> String {
    let name = field_or_dash(entry, "/operationName/value");
    let short = name.strip_suffix("/action").unwrap_or(&name);
    let short = short.split_once('/').filter(|(provider, _)| provider.contains('.')).map_or(short, |(_, rest)| rest);
    short.strip_prefix("bareMetalMachines/").unwrap_or(short).to_owned()
}

/// The error's own words if there is one, else what the entry says of itself.
fn what(entry: &Value) -> String {
    let told = nested(entry).and_then(|error| field(&error, "/error/message"));
    told.or_else(|| field(entry, "/description").filter(|text| !text.is_empty()))
        .or_else(|| field(entry, "/properties/message"))
        .unwrap_or_else(|| "-".to_owned())
}

/// The error that Azure writes as JSON within a string.
fn nested(entry: &Value) -> Option<Value> {
    let error: Value = serde_json::from_str(entry.pointer("/properties/statusMessage")?.as_str()?).ok()?;
    error["error"].is_object().then_some(error)
}

fn error(entry: &Value) -> Vec<Fact<'static>> {
    let Some(error) = nested(entry) else { return Vec::new() };
    let mut lines = vec![(Tone::Alarm, "error", field_or_dash(&error, "/error/code"))];
    let refusals: Vec<&Value> = items(&error, "/error/additionalInfo").iter().filter_map(|info| info.get("info")).collect();
    // The details say of a refusal what its own fields say better.
    let details = if refusals.is_empty() { items(&error, "/error/details") } else { &[] };
    for detail in details {
        lines.push((Tone::Plain, "", format!("{}: {}", field_or_dash(detail, "/code"), field_or_dash(detail, "/message"))));
    }
    for refusal in refusals {
        lines.extend(field(refusal, "/rule").map(|rule| (Tone::Plain, "rule", rule)));
        lines.extend(items(refusal, "/evidence").iter().filter_map(|fact| Some((Tone::Plain, "because", field(fact, "")?))));
        lines.extend(field(refusal, "/remedy").map(|remedy| (Tone::Plain, "remedy", remedy)));
    }
    lines
}

fn tone(entry: &Value) -> Tone {
    match field(entry, "/level").as_deref() {
        Some("Error" | "Critical") => Tone::Alarm,
        Some("Warning") => Tone::Notice,
        _ => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixtures;
    use expect_test::expect;

    #[test]
    fn the_log_shows_what_came_of_each_request() {
        let entries = [fixtures::refused_restart(), fixtures::accepted_restart()];
        expect![[r#"
            TIME       STATUS                  OPERATION  RESOURCE        BY     ID                                    WHAT
            14:02:40Z  Failed (KcpOneAtATime)  restart    rack2control01  alice  1c1f8a52-6f3c-4a43-9c0e-2f2f4b8d9f11  `rack2control01` cannot be restarted: `rack1control01` is being restarted
            14:02:10Z  Accepted                restart    rack1control01  alice  0b0f8a52-6f3c-4a43-9c0e-2f2f4b8d9f10  restart of `rack1control01` accepted
        "#]].assert_eq(&activity_table(&entries, Clock::at(fixtures::NOW)).plain());
    }

    #[test]
    fn a_line_of_the_stream_has_the_same_columns_without_an_id() {
        let lines: String = [fixtures::refused_restart(), fixtures::accepted_restart()]
            .iter()
            .map(|entry| activity_line(entry, Clock::at(fixtures::NOW)).plain())
            .collect();
        expect![[r#"
            14:02:40Z  Failed (KcpOneAtATime)  restart                   rack2control01  alice       `rack2control01` cannot be restarted: `rack1control01` is being restarted
            14:02:10Z  Accepted                restart                   rack1control01  alice       restart of `rack1control01` accepted
        "#]].assert_eq(&lines);
    }

    #[test]
    fn a_refused_request_shows_its_rule_its_evidence_and_its_remedy() {
        expect![[r#"
            entry        1c1f8a52-6f3c-4a43-9c0e-2f2f4b8d9f11
            time         14:02:40Z
            operation    Microsoft.NetworkCloud/bareMetalMachines/restart/action
            status       Failed (KcpOneAtATime)
            level        Error
            by           alice
            resource     /subscriptions/s1/resourceGroups/site1/providers/Microsoft.NetworkCloud/bareMetalMachines/rack2control01
            correlation  c1d2
            what         `rack2control01` cannot be restarted: `rack1control01` is being restarted
            error        KcpOneAtATime
            rule         kcp-one-at-a-time
            because      `rack1control01` is being restarted since 14:02:10 (operation 8f3c1a2b)
            remedy       wait with `rackwright operation wait 8f3c1a2b`
        "#]]
        .assert_eq(&activity_sheet(&fixtures::refused_restart(), Clock::at(fixtures::NOW)).plain());
    }

    #[test]
    fn a_message_that_is_no_json_steers_nothing() {
        let mut entry = fixtures::refused_restart();
        entry["properties"]["statusMessage"] = "\u{1b}[2J{".into();
        entry["description"] = "a\u{1b}b".into();
        assert_eq!(what(&entry), "a\u{fffd}b");
        assert!(error(&entry).is_empty());
    }
}
