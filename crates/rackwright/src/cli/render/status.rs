//! The whole site at a glance: each cluster, its control plane, what runs, and what waits.

use serde_json::Value;

use super::clock::Clock;
use super::layout::Table;
use super::operations::{current_step, percent, tone};
use super::preview::counted;
use super::sight;
use super::waits;
use crate::cli::answer::{field, field_or_dash, is_true, items, short_id, target_of};
use crate::cli::screen::{Sheet, Tone};

const INDENT: &str = "  ";

pub fn status_sheet(status: &Value, clock: Clock) -> Sheet {
    let mut sheet = Sheet::default();
    for cluster in items(status, "/clusters") {
        sheet.gap();
        header(&mut sheet, cluster, clock);
        operations(&mut sheet, cluster, clock);
        waits(&mut sheet, cluster, clock);
    }
    sheet
}

/// One line for each cluster, for scripts.
pub fn status_table(status: &Value) -> Table {
    let columns = [
        "/name",
        "/resourceGroup",
        "/detailedStatus",
        "/connection",
        "/machines/total",
        "/machines/ready",
        "/operationCount",
        "/waitCount",
    ];
    let mut table = Table::new(&["NAME", "GROUP", "STATUS", "CONNECTION", "MACHINES", "READY", "OPERATIONS", "WAITS"]);
    for cluster in items(status, "/clusters") {
        table.row(Tone::Plain, columns.map(|pointer| field_or_dash(cluster, pointer)));
    }
    table
}

fn header(sheet: &mut Sheet, cluster: &Value, clock: Clock) {
    let text = |pointer| field_or_dash(cluster, pointer);
    let silent = cluster["undercloudFault"].is_object();
    let well = cluster["detailedStatus"] == "Running" && cluster["connection"] == "Connected" && !silent;
    // The connection is given up only after a while, and until then it must not look as if all were well.
    let but = if cluster["connection"] == "Connected" { ", but" } else { ":" };
    let silence =
        if silent { format!("{but} the undercloud {}", sight::trouble(&cluster["undercloudFault"], clock)) } else { String::new() };
    let line = format!(
        "{} (resource group {}): {}, {} since {}{silence}",
        text("/name"),
        text("/resourceGroup"),
        text("/detailedStatus"),
        text("/connection"),
        clock.time(cluster, "/connectionSince")
    );
    sheet.line(if well { Tone::Strong } else { Tone::Alarm }, line);
    if let Some(trouble) = keeper_trouble(cluster, clock) {
        sheet.line(Tone::Alarm, format!("{INDENT}keeper: {trouble}"));
    }
    if let Some(problem) = field(cluster, "/siteFileRefused/problem") {
        let since = clock.time(cluster, "/siteFileRefused/since");
        sheet.line(Tone::Alarm, format!("{INDENT}site file: not taken over since {since}: {problem}"));
    }
    let members: Vec<String> = items(cluster, "/controlPlane").iter().map(member).collect();
    let sick = items(cluster, "/controlPlane").iter().any(|machine| !is_true(machine, "/spare") && !is_true(machine, "/ready"));
    // What is known of nodes is old while the undercloud is silent, and may have ceased to be so.
    let seen = if silent { ", as last seen" } else { "" };
    if !members.is_empty() {
        sheet.line(if sick { Tone::Alarm } else { Tone::Plain }, format!("{INDENT}control plane{seen}: {}", members.join(", ")));
    }
    sheet.line(Tone::Plain, format!("{INDENT}machines{seen}: {}", counts(&cluster["machines"])));
    workloads(sheet, cluster);
    degraded(sheet, cluster);
    evacuated(sheet, cluster, clock);
    failed(sheet, cluster);
}

/// What tenants have there, if they have anything.
fn workloads(sheet: &mut Sheet, cluster: &Value) {
    let count = |name: &str| usize::try_from(cluster["workloads"][name].as_u64().unwrap_or_default()).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    if count("virtualMachines") > 0 {
        let vms = counted(count("virtualMachines"), "virtual machine");
        // What is rare is named only where there is some; the counts add up all the same.
        let rare = ["starting", "stopping", "failing", "unknown"].into_iter().filter(|kind| count(kind) > 0);
        let rare: String = rare.map(|kind| format!(", {} {kind}", count(kind))).collect();
        parts.push(format!("{vms}, {} running, {} stopped{rare}", count("running"), count("stopped")));
    }
    if count("kubernetesClusters") > 0 {
        let silent = match count("silentClusters") {
            0 => String::new(),
            silent => format!(" ({silent} not answering)"),
        };
        let (clusters, ready) = (counted(count("kubernetesClusters"), "Kubernetes cluster"), count("readyNodes"));
        parts.push(format!("{clusters}{silent}, {ready} of {} ready", counted(count("nodes"), "node")));
    }
    if !parts.is_empty() {
        let tone = if count("silentClusters") + count("failing") > 0 { Tone::Alarm } else { Tone::Plain };
        sheet.line(tone, format!("{INDENT}tenants: {}", parts.join("; ")));
    }
}

/// How many emptied machines are named; `bmm list` shows which are cordoned.
const EVACUATED_NAMED: usize = 10;

fn evacuated(sheet: &mut Sheet, cluster: &Value, clock: Clock) {
    let machines = items(cluster, "/evacuated");
    for machine in machines.iter().take(EVACUATED_NAMED) {
        let count = |pointer| items(machine, pointer).len();
        let (vms, nodes) = (counted(count("/virtualMachines"), "virtual machine"), counted(count("/nodes"), "tenant node"));
        let waiting = format!("to come back: {vms}, {nodes}");
        let (name, since) = (field_or_dash(machine, "/machine"), clock.time(machine, "/since"));
        sheet.line(Tone::Notice, format!("{INDENT}evacuated: {name} since {since}: {waiting}"));
    }
    if machines.len() > EVACUATED_NAMED {
        sheet.line(Tone::Notice, format!("{INDENT}… and {} more are evacuated", machines.len() - EVACUATED_NAMED));
    }
}

/// How many failed operations are named; the list shows all.
const FAILED_NAMED: usize = 3;

/// What went wrong lately, so that whoever looks at a quiet site hears of it.
fn failed(sheet: &mut Sheet, cluster: &Value) {
    let count = cluster["failedCount"].as_u64().unwrap_or_default();
    let named: Vec<String> = items(cluster, "/failed")
        .iter()
        .take(FAILED_NAMED)
        .map(|operation| {
            let text = |pointer| field_or_dash(operation, pointer);
            format!("{} {} of {}", short_id(&text("/id")), text("/action"), target_of(operation))
        })
        .collect();
    let (operations, more) = match count {
        0 => return,
        1 => ("1 operation".to_owned(), ""),
        count if count > named.len() as u64 => (format!("{count} operations"), ", …; `rackwright operation list --all` shows all"),
        count => (format!("{count} operations"), ""),
    };
    sheet.line(Tone::Alarm, format!("{INDENT}{operations} failed in the last hour: {}{more}", named.join(", ")));
}

/// How many degraded machines are named; `bmm list` shows all.
const DEGRADED_NAMED: usize = 10;

fn degraded(sheet: &mut Sheet, cluster: &Value) {
    let machines = items(cluster, "/degraded");
    for machine in machines.iter().take(DEGRADED_NAMED) {
        let problems: Vec<&str> = items(machine, "/problems").iter().filter_map(Value::as_str).collect();
        sheet.line(Tone::Alarm, format!("{INDENT}degraded: {}: {}", field_or_dash(machine, "/machine"), problems.join("; ")));
    }
    if machines.len() > DEGRADED_NAMED {
        let more = machines.len() - DEGRADED_NAMED;
        sheet.line(Tone::Notice, format!("{INDENT}… and {more} more are degraded; `rackwright bmm list` shows all"));
    }
}

/// Why nobody is at work on this cluster. What is shown of it may be old then.
fn keeper_trouble(cluster: &Value, clock: Clock) -> Option<String> {
    match field(cluster, "/keeper/state")?.as_str() {
        "Absent" => Some("none here; what is shown is what was last written, and nothing is done".to_owned()),
        "Starting" | "AwaitingLease" => Some("not at work yet; another process may be keeping this cluster".to_owned()),
        "Failing" => Some(format!("FAILING since {}: {}", clock.time(cluster, "/keeper/since"), field_or_dash(cluster, "/keeper/error"))),
        _ => None,
    }
}

fn member(machine: &Value) -> String {
    let state = match (is_true(machine, "/spare"), is_true(machine, "/ready")) {
        (true, _) => "spare",
        (false, true) => "ready",
        (false, false) => "NOT READY",
    };
    format!("{} {state}", field_or_dash(machine, "/machine"))
}

/// How all of them are, which adds up; then what else there is to tell of some.
fn counts(machines: &Value) -> String {
    let told = |key: &str, words: &str| machines[key].as_u64().filter(|count| *count > 0).map(|count| format!("{count} {words}"));
    let kinds = [("off", "off"), ("notReady", "not ready"), ("spare", "spare")];
    let rest = [
        ("notLookedAt", "not looked at yet"),
        ("cordoned", "cordoned"),
        ("unmanaged", "unmanaged"),
        ("degraded", "degraded"),
        ("bmcUnreachable", "with a BMC that does not answer"),
        ("bmcTroubled", "with a BMC that cannot be used"),
    ];
    let mut parts = vec![format!("{} ready", field_or_dash(machines, "/ready"))];
    parts.extend(kinds.iter().filter_map(|(key, words)| told(key, words)));
    let rest: Vec<String> = rest.iter().filter_map(|(key, words)| told(key, words)).collect();
    let semicolon = if rest.is_empty() { "" } else { "; " };
    format!("{} in all: {}{semicolon}{}", field_or_dash(machines, "/total"), parts.join(", "), rest.join(", "))
}

fn operations(sheet: &mut Sheet, cluster: &Value, clock: Clock) {
    let running = items(cluster, "/operations");
    if running.is_empty() {
        return;
    }
    let mut table = Table::new(&["OPERATION", "MACHINE", "ACTION", "DONE", "STEP", "WAITS FOR", "SINCE", "BY"]);
    for operation in running {
        let id = field_or_dash(operation, "/id");
        table.row(
            tone(operation),
            [
                short_id(&id).to_owned(),
                target_of(operation),
                field_or_dash(operation, "/action"),
                percent(operation),
                current_step(operation).unwrap_or_else(|| "-".to_owned()),
                field_or_dash(operation, "/wait/brief"),
                clock.time(operation, "/acceptedAt"),
                field_or_dash(operation, "/caller"),
            ],
        );
    }
    sheet.gap();
    sheet.append(table.into_sheet(), INDENT);
    left_out(sheet, cluster, "/operationCount", running.len(), "`rackwright operation list` shows all");
}

/// Says how many rows the server left out of a table, if it did.
fn left_out(sheet: &mut Sheet, cluster: &Value, count: &str, shown: usize, where_else: &str) {
    let all = cluster.pointer(count).and_then(Value::as_u64).unwrap_or_default();
    let more = all.saturating_sub(shown as u64);
    if more > 0 {
        sheet.line(Tone::Notice, format!("{INDENT}… and {more} more; {where_else}"));
    }
}

fn waits(sheet: &mut Sheet, cluster: &Value, clock: Clock) {
    let all: Vec<&Value> = items(cluster, "/clusterWaits").iter().chain(items(cluster, "/waits")).collect();
    if all.is_empty() {
        if items(cluster, "/operations").is_empty() {
            sheet.line(Tone::Plain, format!("{INDENT}nothing runs and nothing waits"));
        }
        return;
    }
    let mut table = Table::new(&["MACHINE", "WAITS FOR", "SINCE", "ENDS WHEN", "LATE"]);
    for wait in all {
        table.row(
            waits::tone(wait),
            [
                field(wait, "/machine").unwrap_or_else(|| "(whole site)".to_owned()),
                field_or_dash(wait, "/brief"),
                clock.time(wait, "/since"),
                field_or_dash(wait, "/endsWhen"),
                if waits::is_late(wait) { format!("LATE, expected by {}", clock.time(wait, "/expectedBy")) } else { "-".to_owned() },
            ],
        );
    }
    sheet.gap();
    sheet.append(table.into_sheet(), INDENT);
    left_out(sheet, cluster, "/waitCount", items(cluster, "/waits").len(), "`rackwright bmm show` tells what one machine waits for");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixtures;
    use expect_test::expect;

    #[test]
    fn a_busy_site_shows_what_runs_and_what_waits() {
        expect![[r#"
            cluster1 (resource group site1): Running, Connected since 13:00:02Z, but the undercloud does not answer since 14:01:00Z
              control plane, as last seen: rack1control01 ready, rack2control01 NOT READY, rack4control01 spare
              machines, as last seen: 40 in all: 37 ready, 1 off, 1 not ready, 1 spare; 1 cordoned, 1 with a BMC that does not answer, 2 with a BMC that cannot be used
              1 operation failed in the last hour: 0a1b2c3d power-off of rack1compute01

              OPERATION  MACHINE         ACTION   DONE  STEP       WAITS FOR                            SINCE      BY
              8f3c1a2b   rack1compute01  restart  30%   Power Off  the effect of the graceful shutdown  14:02:10Z  alice

              MACHINE         WAITS FOR                                         SINCE      ENDS WHEN                                                                 LATE
              (whole site)    the undercloud (unreachable: connection refused)  14:01:00Z  the undercloud answers; next try at 14:03:05                              -
              rack1compute01  the effect of the graceful shutdown               14:02:12Z  the machine is seen off; its power is cut if the shutdown takes too long  LATE, expected by 14:02:52Z
        "#]].assert_eq(&status_sheet(&fixtures::busy_status(), Clock::at(fixtures::NOW)).plain());
    }

    #[test]
    fn a_quiet_site_says_so() {
        expect![[r#"
            cluster1 (resource group site1): Running, Connected since 13:00:02Z
              control plane: rack1control01 ready, rack2control01 ready, rack4control01 spare
              machines: 40 in all: 39 ready, 1 spare
              nothing runs and nothing waits
        "#]]
        .assert_eq(&status_sheet(&fixtures::quiet_status(), Clock::at(fixtures::NOW)).plain());
    }

    #[test]
    fn every_virtual_machine_is_told_of_in_one_word() {
        let mut status = fixtures::quiet_status();
        let counts = |starting: u64, failing: u64| {
            serde_json::json!({ "virtualMachines": 3 + starting + failing, "running": 2, "stopped": 1,
            "starting": starting, "stopping": 0, "failing": failing, "unknown": 0 })
        };
        status["clusters"][0]["workloads"] = counts(0, 0);
        let calm = status_sheet(&status, Clock::at(fixtures::NOW)).plain();
        assert!(calm.contains("\n  tenants: 3 virtual machines, 2 running, 1 stopped\n"), "{calm}");
        status["clusters"][0]["workloads"] = counts(4, 5);
        let busy = status_sheet(&status, Clock::at(fixtures::NOW)).plain();
        assert!(busy.contains("\n  tenants: 12 virtual machines, 2 running, 1 stopped, 4 starting, 5 failing\n"), "{busy}");
    }

    #[test]
    fn a_site_file_that_was_refused_is_told_until_it_is_mended() {
        let mut status = fixtures::quiet_status();
        let refused = serde_json::json!({ "since": "2026-11-15T14:00:00.000Z", "problem": "`worker` is no role" });
        status["clusters"][0]["siteFileRefused"] = refused;
        let sheet = status_sheet(&status, Clock::at(fixtures::NOW)).plain();
        assert!(sheet.contains("\n  site file: not taken over since 14:00:00Z: `worker` is no role\n"), "{sheet}");
    }

    #[test]
    fn a_site_that_is_too_busy_to_be_shown_says_how_much_is_left_out() {
        let mut status = fixtures::busy_status();
        status["clusters"][0]["operationCount"] = 251.into();
        status["clusters"][0]["waitCount"] = 1_001.into();
        let sheet = status_sheet(&status, Clock::at(fixtures::NOW)).plain();
        let told: Vec<&str> = sheet.lines().filter(|line| line.contains('…')).collect();
        let expected = [
            "  … and 250 more; `rackwright operation list` shows all",
            "  … and 1000 more; `rackwright bmm show` tells what one machine waits for",
        ];
        assert_eq!(told, expected);
    }
}
