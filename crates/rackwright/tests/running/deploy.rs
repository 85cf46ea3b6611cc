//! The files under `deploy/`, held against the tools that read them and against the metrics that there are.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use crate::metrics::{PROMTOOL, documented};
use crate::server::{Server, command, text, until};
use crate::tools::{peer, repository};

fn read(path: &str) -> String {
    std::fs::read_to_string(repository(path)).expect("the file is there")
}

/// Every word in an expression that is the name of a metric of ours.
fn metrics_in(expression: &str) -> BTreeSet<String> {
    let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let ours = words.filter(|word| word.starts_with("rackwright_") || word.starts_with("process_"));
    let known = documented();
    let base = |word: &str| {
        let histogram = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| word.strip_suffix(suffix));
        histogram.filter(|name| known.contains_key(*name)).unwrap_or(word).to_owned()
    };
    ours.map(base).collect()
}

#[track_caller]
fn assert_known(expression: &str) {
    let known = documented();
    for metric in metrics_in(expression) {
        assert!(known.contains_key(&metric), "`{metric}` is not in docs/metrics.md: {expression}");
    }
}

#[test]
fn the_alert_rules_are_sound_and_fire_when_they_should() {
    let rules = repository("deploy/prometheus");
    for arguments in [["check", "rules", "rackwright.rules.yml"], ["test", "rules", "rackwright.rules.test.yml"]] {
        let verdict = Command::new(peer(PROMTOOL)).args(arguments).current_dir(&rules).output().expect("promtool starts");
        assert!(verdict.status.success(), "{}{}", text(&verdict.stdout), text(&verdict.stderr));
    }
    let config =
        Command::new(peer(PROMTOOL)).args(["check", "config", "prometheus.yml"]).current_dir(&rules).output().expect("promtool starts");
    assert!(config.status.success(), "{}{}", text(&config.stdout), text(&config.stderr));
}

/// The names of the alerts.
fn alerts() -> Vec<String> {
    read("deploy/prometheus/rackwright.rules.yml")
        .lines()
        .filter_map(|line| Some(line.trim().strip_prefix("- alert: ")?.to_owned()))
        .collect()
}

#[test]
fn every_alert_is_tested_and_has_its_place_in_the_manual() {
    let (tests, manual) = (read("deploy/prometheus/rackwright.rules.test.yml"), read("docs/operating.md"));
    let alerts = alerts();
    assert!(alerts.len() > 10, "{alerts:?}");
    for alert in &alerts {
        assert!(tests.contains(&format!("alertname: {alert}\n")), "{alert} is not tested");
        assert!(manual.contains(&format!("`{alert}`")), "docs/operating.md does not say what to do about {alert}");
    }
}

#[test]
fn rules_and_dashboard_use_metrics_that_there_are() {
    assert_known(&read("deploy/prometheus/rackwright.rules.yml"));
    let dashboard: Value = serde_json::from_str(&read("deploy/grafana/rackwright.json")).expect("the dashboard is JSON");
    let panels = dashboard["panels"].as_array().expect("a dashboard has panels");
    let mut shown = BTreeSet::new();
    for target in panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten() {
        let expression = target["expr"].as_str().expect("a target has an expression");
        assert_known(expression);
        shown.extend(metrics_in(expression));
    }
    let forgotten: Vec<String> = documented().into_keys().filter(|metric| !shown.contains(metric)).collect();
    assert_eq!(forgotten, [""; 0], "no panel shows them");
    let ids: BTreeSet<u64> = panels.iter().filter_map(|panel| panel["id"].as_u64()).collect();
    assert_eq!(ids.len(), panels.len(), "each panel has an id of its own");
}

#[test]
fn systemd_accepts_the_unit() {
    let unit = read("deploy/systemd/rackwright.service");
    let binary = "/usr/local/bin/rackwright";
    assert!(unit.contains(binary));
    // The program must be there to be accepted, so the one that was just built stands in for the one that is installed.
    let directory = tempfile::tempdir().expect("a temporary directory");
    let copy = directory.path().join("rackwright.service");
    std::fs::write(&copy, unit.replace(binary, env!("CARGO_BIN_EXE_rackwright"))).expect("the unit can be copied");
    let verdict = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&copy).output();
    let verdict = verdict.expect("systemd-analyze is there; `./test` installs it");
    assert!(verdict.status.success() && verdict.stderr.is_empty(), "{}", text(&verdict.stderr));
}

#[test]
fn the_container_runs_as_nobody_special_and_asks_itself_how_it_is() {
    let file = read("deploy/container/Containerfile");
    let lines: Vec<&str> = file.lines().collect();
    assert!(lines.contains(&"USER 10001:10001"));
    let (_, check) = file.split_once("HEALTHCHECK").expect("there is a health check");
    let check = check.lines().find_map(|line| line.trim().strip_prefix("CMD ")).expect("it has a command");
    let words: Vec<String> = serde_json::from_str(check).expect("the command is a list of words");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let server = Server::up(home, &[]);
    // It asks with what the server has left in its home.
    let ask = || command(home).args(&words[1..]).output().expect("the binary starts");
    let well = ask();
    assert_eq!(well.status.code(), Some(0), "{well:?}");
    server.signal("-KILL");
    let silent = until("the server to be gone", || Some(ask()).filter(|asked| asked.status.code() != Some(0)));
    assert_eq!(silent.status.code(), Some(5), "{silent:?}");
}

#[test]
fn every_file_of_the_manual_is_one_that_there_is() {
    let manual = read("docs/operating.md");
    let files: Vec<&str> = manual.split_whitespace().filter(|word| word.starts_with("deploy/")).collect();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        assert!(repository(file.trim_end_matches(['.', ',', ')'])).exists(), "{file}");
    }
}
