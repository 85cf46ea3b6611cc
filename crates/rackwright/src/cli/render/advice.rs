//! Advice about a machine, and post-checks.

use serde_json::Value;

use super::clock::Clock;
use super::layout::{Fact, Table, facts};
use crate::cli::answer::{field, field_or_dash, is_true, items, short_id, text_of};
use crate::cli::screen::{Sheet, Tone};

pub fn advice_sheet(advice: &Value) -> Sheet {
    let of = |pointer| field_or_dash(advice, pointer);
    let mut lines: Vec<Fact<'_>> = vec![
        (Tone::Strong, "machine", of("/machine")),
        (Tone::Plain, "symptom", field(advice, "/symptom").unwrap_or_else(|| "nothing is seen to be wrong".to_owned())),
        (Tone::Strong, "next", remedy(&of("/next"))),
    ];
    lines.extend(several(advice, "/because", "because", Tone::Plain));
    let then: Vec<String> = texts(advice, "/then").iter().map(|then| remedy(then)).collect();
    if !then.is_empty() {
        lines.push((Tone::Plain, "then", then.join(", then ")));
    }
    lines.extend(tried(advice));
    lines.extend(parts(advice));
    if let Some(policy) = field(advice, "/storage/policy") {
        lines.push((Tone::Plain, "storage", format!("{policy}: {}", of("/storage/because"))));
    }
    lines.extend(several(advice, "/warnings", "warning", Tone::Notice));
    if advice["against"].is_object() {
        let evidence = texts(advice, "/against/evidence").join("; ");
        lines.push((Tone::Alarm, "not now", format!("rule {}: {evidence}", of("/against/rule"))));
        lines.push((Tone::Plain, "", of("/against/remedy")));
    }
    let mut sheet = facts(&lines);
    for (n, command) in items(advice, "/commands").iter().enumerate() {
        if n == 0 {
            sheet.gap();
        }
        sheet.line(Tone::Plain, format!("{}. {}", n + 1, field_or_dash(command, "/why")));
        for pointer in ["/command", "/az"] {
            if let Some(typed) = field(command, pointer) {
                sheet.line(Tone::Plain, format!("     {typed}"));
            }
        }
    }
    sheet
}

/// A line for each command, in their order.
pub fn advice_table(advice: &Value) -> Table {
    let mut table = Table::new(&["NEXT", "WHY", "COMMAND"]);
    for command in items(advice, "/commands") {
        table.row(Tone::Plain, [field_or_dash(advice, "/next"), field_or_dash(command, "/why"), field_or_dash(command, "/command")]);
    }
    table
}

fn remedy(word: &str) -> String {
    if word == "support" { "contact support".to_owned() } else { word.to_owned() }
}

fn texts(value: &Value, pointer: &str) -> Vec<String> {
    items(value, pointer).iter().filter_map(Value::as_str).map(text_of).collect()
}

/// One name, and a line for each.
fn several<'a>(value: &Value, pointer: &str, name: &'a str, tone: Tone) -> Vec<Fact<'a>> {
    texts(value, pointer).into_iter().enumerate().map(|(n, text)| (tone, if n == 0 { name } else { "" }, text)).collect()
}

fn tried(advice: &Value) -> Vec<Fact<'static>> {
    let clock = Clock::of_process();
    let tried = items(advice, "/tried").iter().map(|tried| {
        let of = |pointer| field_or_dash(tried, pointer);
        let counts = if is_true(tried, "/counts") { "" } else { ", which does not count" };
        let id = of("/operation");
        (
            Tone::Plain,
            "tried",
            format!("{} at {}: {}{counts} (operation {})", of("/action"), clock.time(tried, "/at"), of("/result"), short_id(&id)),
        )
    });
    tried.collect()
}

fn parts(advice: &Value) -> Vec<Fact<'static>> {
    let mut lines: Vec<Fact<'static>> = items(advice, "/parts")
        .iter()
        .map(|part| {
            let of = |pointer| field_or_dash(part, pointer);
            (Tone::Plain, "part", format!("{}: replace {}; {}", of("/part"), of("/replace"), of("/words")))
        })
        .collect();
    if let Some(need) = field(advice, "/replace") {
        lines.push((Tone::Plain, "replace", need));
    }
    lines
}

pub fn check_sheet(answer: &Value) -> Sheet {
    let mut sheet = check_table(answer).into_sheet();
    let count = |state: &str| items(answer, "/checks").iter().filter(|check| check["state"] == state).count();
    let counts = [("differs", "not as before"), ("unknown", "not known"), ("waits", "still to come")];
    let told: Vec<String> = counts
        .into_iter()
        .map(|(state, words)| (count(state), words))
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    let said = if told.is_empty() { "all is as it was".to_owned() } else { told.join(", ") };
    sheet.gap();
    sheet.line(Tone::Plain, said);
    sheet
}

pub fn check_table(answer: &Value) -> Table {
    let mut table = Table::new(&["CHECK", "STATE", "EXPECTED", "FOUND", "NOTE"]);
    for check in items(answer, "/checks") {
        let tone = match check["state"].as_str() {
            Some("differs" | "unknown") => Tone::Alarm,
            Some("waits") => Tone::Notice,
            _ => Tone::Plain,
        };
        let of = |pointer| field_or_dash(check, pointer);
        table.row(tone, [of("/name"), of("/state"), of("/expected"), of("/found"), field(check, "/words").unwrap_or_default()]);
    }
    table
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn advice_tells_what_comes_next_why_and_what_to_type() {
        let advice = json!({
            "machine": "rack1compute01", "symptom": "hardware", "next": "replace", "because": ["its hardware failed validation"],
            "then": ["support"], "replace": "required", "warnings": ["repair all failed parts first"],
            "tried": [{ "action": "restart", "operation": "8f3c1a2b-0", "at": "x", "result": "Failed", "counts": false, "message": "" }],
            "parts": [{ "part": "ssd", "replace": "required", "data": "ifSeveral", "words": "one SSD: the RAID survives" }],
            "storage": { "policy": "Preserve", "because": "workloads are on it" },
            "commands": [
                { "why": "repair what has failed" },
                { "why": "bring it back", "command": "rackwright bmm replace rack1compute01", "az": "az networkcloud baremetalmachine replace" },
            ],
            "against": { "rule": "firmware-job", "evidence": ["BIOS: 50 %"], "remedy": "wait for it", "message": "x" },
        });
        expect![[r#"
            machine  rack1compute01
            symptom  hardware
            next     replace
            because  its hardware failed validation
            then     contact support
            tried    restart at x: Failed, which does not count (operation 8f3c1a2b)
            part     ssd: replace required; one SSD: the RAID survives
            replace  required
            storage  Preserve: workloads are on it
            warning  repair all failed parts first
            not now  rule firmware-job: BIOS: 50 %
                     wait for it

            1. repair what has failed
            2. bring it back
                 rackwright bmm replace rack1compute01
                 az networkcloud baremetalmachine replace
        "#]]
        .assert_eq(&advice_sheet(&advice).plain());
    }

    #[test]
    fn checks_say_what_differs_and_what_is_on_its_way() {
        let check =
            |name: &str, state: &str, words: &str| json!({ "name": name, "state": state, "expected": "a", "found": "b", "words": words });
        let answer = json!({ "checks": [check("readyState", "ok", ""), check("vm `fw`", "differs", "start it"), check("vm `db`", "waits", "soon"), check("vm `x`", "unknown", "")] });
        expect![[r#"
            CHECK       STATE    EXPECTED  FOUND  NOTE
            readyState  ok       a         b
            vm `fw`     differs  a         b      start it
            vm `db`     waits    a         b      soon
            vm `x`      unknown  a         b

            1 not as before, 1 not known, 1 still to come
        "#]]
        .assert_eq(&check_sheet(&answer).plain());
    }
}
