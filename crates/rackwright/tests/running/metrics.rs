//! `/healthz`, `/readyz` and `/metrics` of a live site.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

use crate::server::{MACHINES, Server, run, until};
use crate::tools::{peer, repository};

/// Prometheus's own judge.
pub const PROMTOOL: &str = "prometheus/usr/bin/promtool";

/// The metrics of the page, with their labels.
pub fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let page = std::fs::read_to_string(repository("docs/metrics.md")).expect("the page is there");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').collect();
        (names(cells[1]).remove(0), names(cells[3]).into_iter().collect())
    })
    .collect()
}

/// A series as it is shown: the metric it belongs to, and its labels.
fn series(line: &str) -> (String, BTreeSet<String>) {
    let (name, rest) = line.split_once(['{', ' ']).expect("a series has a value");
    let labels = if line.contains('{') { rest.split('}').next().unwrap_or_default() } else { "" };
    let labels = labels.split(',').filter_map(|label| Some(label.split_once('=')?.0.to_owned())).filter(|label| label != "le");
    let metric =
        ["_bucket", "_sum", "_count"].iter().find_map(|suffix| name.strip_suffix(suffix)).filter(|metric| metric.ends_with("_seconds"));
    (metric.unwrap_or(name).to_owned(), labels.collect())
}

#[test]
fn a_live_site_shows_metrics_that_prometheus_accepts_and_the_page_describes() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let server = Server::up(home, &[]);
    server.until_ready();
    assert!(run(home, &["bmm", "restart", "rack1compute01"]).status.success());
    assert_eq!(run(home, &["bmm", "start", "rack4control01"]).status.code(), Some(4));
    let (status, shown) = server.get("/metrics");
    assert_eq!(status, 200);
    for line in [
        r#"rackwright_operations_total{action="restart",result="Succeeded"} 1"#,
        r#"rackwright_operation_seconds_count{action="restart",result="Succeeded"} 1"#,
        r#"rackwright_refusals_total{rule="machine-provisioned"} 1"#,
        r#"rackwright_device_calls_total{device="bmc",call="power-on",result="ok"} 1"#,
        r#"rackwright_machines{cluster="site1"} 12"#,
        r#"rackwright_machines_by_power{cluster="site1",power="off"} 1"#,
        r#"rackwright_keeper_state{cluster="site1",state="keeping"} 1"#,
        r#"rackwright_http_requests_total{method="POST",route="Act",status="409"} 1"#,
        "rackwright_refusals_unlogged_total 0",
        "rackwright_ready 1",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "no `{line}` in:\n{shown}");
    }
    let documented = documented();
    for line in shown.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (metric, labels) = series(line);
        assert_eq!(documented.get(&metric), Some(&labels), "{line}");
    }
    let mut checker = Command::new(peer(PROMTOOL))
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("promtool starts");
    checker.stdin.take().expect("stdin is piped").write_all(shown.as_bytes()).expect("promtool reads");
    let verdict = checker.wait_with_output().expect("promtool ends");
    assert!(verdict.status.success(), "{}", String::from_utf8_lossy(&verdict.stderr));
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_machine_that_cannot_be_seen_is_counted_and_changes_nothing_about_readiness() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let server = Server::up(home, &[]);
    server.until_ready();
    assert!(run(home, &["sim", "fault", "add", "bmc-unreachable", "rack1compute01"]).status.success());
    let blind = r#"rackwright_machines_blind{cluster="site1",fault="unreachable"} 1"#;
    until("the blind machine to be counted", || server.get("/metrics").1.contains(blind).then_some(()));
    let ready = server.json("/readyz");
    assert_eq!((&ready["ready"], &ready["missing"]), (&true.into(), &serde_json::json!([])));
    let known = &ready["clusters"][0]["lastKnown"];
    assert!(known["oldestAt"].as_str() <= known["newestAt"].as_str() && known["newestAgeSeconds"].is_u64(), "{known}");
}

#[test]
fn health_is_asked_with_get_or_head_and_needs_no_version() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let server = Server::up(directory.path(), &[]);
    server.until_ready();
    for path in ["/healthz", "/readyz"] {
        assert_eq!(server.call("HEAD", path, ""), Some((200, String::new())), "{path}");
        assert_eq!(server.get(path).0, 200, "{path}");
        assert_eq!(server.call("POST", path, "").expect("it answers").0, 405, "{path}");
    }
    assert_eq!(server.get(MACHINES).0, 400, "resources need a version");
}
