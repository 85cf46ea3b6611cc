//! One operation: how far it is, what it waits for, and everything that happened, in order.

use serde_json::Value;

use super::clock::Clock;
use super::journal::fact_in_words;
use super::layout::{Fact, Table, facts};
use super::operations::{percent, tone};
use super::waits::wait_facts;
use crate::cli::answer::{field, field_or_dash, items, target_of};
use crate::cli::outcome::told;
use crate::cli::screen::{Sheet, Tone};

pub fn operation_sheet(operation: &Value, clock: Clock) -> Sheet {
    let mut sheet = facts(&header(operation, clock));
    sheet.gap();
    sheet.append(steps(operation, clock), "");
    if operation["wait"].is_object() {
        sheet.gap();
        sheet.append(facts(&wait_facts(&operation["wait"], clock)), "");
    }
    if !items(operation, "/journal").is_empty() {
        sheet.gap();
        sheet.line(Tone::Strong, "JOURNAL");
        for entry in items(operation, "/journal") {
            sheet.line(Tone::Plain, format!("{}  {}", clock.time(entry, "/at"), fact_in_words(&entry["fact"])));
        }
    }
    let ending = ending(operation);
    if !ending.is_empty() {
        sheet.gap();
        sheet.append(facts(&ending), "");
    }
    sheet
}

fn header(operation: &Value, clock: Clock) -> Vec<Fact<'static>> {
    let text = |pointer| field_or_dash(operation, pointer);
    let status = format!("{}, {}", text("/status"), percent(operation));
    let mut lines = vec![
        (Tone::Strong, "operation", text("/id")),
        (Tone::Plain, "action", format!("{} of {} in cluster {}", text("/action"), target_of(operation), text("/cluster"))),
        (Tone::Plain, "asked by", text("/caller")),
        (Tone::Plain, "correlation", text("/correlationId")),
        (tone(operation), "status", status),
        (Tone::Plain, "accepted", clock.time(operation, "/acceptedAt")),
        (Tone::Plain, "took", clock.took(operation, "/acceptedAt", "/endedAt")),
    ];
    if operation["endedAt"].is_string() {
        lines.push((Tone::Plain, "ended", clock.time(operation, "/endedAt")));
    } else {
        lines.push((Tone::Plain, "deadline", clock.time(operation, "/deadlineAt")));
    }
    if let Some(by) = field(operation, "/cancelRequestedBy") {
        lines.push((Tone::Notice, "cancelled by", format!("{by}, at the next safe point")));
    }
    lines
}

fn steps(operation: &Value, clock: Clock) -> Sheet {
    let mut table = Table::new(&["STEP", "STATUS", "STARTED", "TOOK", "NOTE"]);
    for step in items(operation, "/steps") {
        let started = step["status"] != "NotStarted";
        let tone = if step["status"] == "Failed" { Tone::Alarm } else { Tone::Plain };
        // The message of a step that failed is the operation's own, told in full below.
        let note = field(step, "/message").filter(|_| step["status"] != "Failed").unwrap_or_default();
        table.row(
            tone,
            [
                field_or_dash(step, "/name"),
                field_or_dash(step, "/status"),
                if started { clock.time(step, "/startedAt") } else { "-".to_owned() },
                if started { clock.took(step, "/startedAt", "/endedAt") } else { "-".to_owned() },
                note,
            ],
        );
    }
    table.into_sheet()
}

/// How it ended, what it left behind, and what to type next.
fn ending(operation: &Value) -> Vec<Fact<'static>> {
    let told = field(operation, "/message").map(|message| told(&message)).unwrap_or_default();
    let mut lines: Vec<Fact<'static>> = told.into_iter().map(|line| (tone(operation), "", line)).collect();
    if let Some(first) = lines.first_mut() {
        first.1 = "outcome";
    }
    lines.extend(field(operation, "/next").map(|next| (Tone::Plain, "next", next)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixtures;
    use expect_test::expect;

    #[test]
    fn a_running_operation_shows_its_wait() {
        expect![[r#"
            operation    8f3c1a2b-0000-4000-8000-000000000001
            action       restart of rack1compute01 in cluster cluster1
            asked by     alice
            correlation  c1
            status       InProgress, 30%
            accepted     14:02:10Z
            took         50s so far
            deadline     14:42:10Z

            STEP       STATUS      STARTED    TOOK        NOTE
            Cordon     Completed   14:02:10Z  2s
            Power Off  InProgress  14:02:12Z  48s so far  waiting for the effect of the graceful shutdown
            Power On   NotStarted  -          -
            Rejoin     NotStarted  -          -
            Uncordon   NotStarted  -          -

            waits for  the effect of the graceful shutdown, since 14:02:12Z, LATE, expected by 14:02:52Z
                       ends when the machine is seen off; its power is cut if the shutdown takes too long

            JOURNAL
            14:02:10Z  found the node running boot b0-1
            14:02:10Z  asked for the cordon
            14:02:12Z  saw Cordon done
            14:02:12Z  asked for the graceful shutdown
        "#]]
        .assert_eq(&operation_sheet(&fixtures::running_restart(), Clock::at(fixtures::NOW)).plain());
    }

    #[test]
    fn a_failed_operation_shows_what_it_left_behind() {
        expect![[r#"
            operation    0a1b2c3d-0000-4000-8000-000000000002
            action       power-off of rack1compute01 in cluster cluster1
            asked by     alice
            correlation  c1
            status       Failed, 75%
            accepted     13:00:00Z
            took         40m 00s
            ended        13:40:00Z

            STEP       STATUS   STARTED    TOOK     NOTE
            Cordon     Skipped  13:00:00Z  1s       left out: the machine has no node
            Power Off  Failed   13:00:01Z  39m 59s

            JOURNAL
            13:00:00Z  found no node running
            13:00:01Z  left out Cordon: the machine has no node
            13:00:01Z  asked for the graceful shutdown (attempt 2)
            13:00:02Z  the graceful shutdown (attempt 2) was answered with a fault: unreachable: connection reset; it may have been heard
            13:00:03Z  {"kind":"dreamt"}

            outcome  power-off failed: Power Off did not end in time; it waited for the BMC (unreachable: connection refused)
                     left behind: power unknown, the BMC is unreachable; holds none
            next     rackwright bmm show rack1compute01
        "#]]
        .assert_eq(&operation_sheet(&fixtures::failed_power_off(), Clock::at(fixtures::NOW)).plain());
    }
}
