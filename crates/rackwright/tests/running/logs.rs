//! The log: one line for each thing that people would ask about, in both forms, and never a secret.

use serde_json::Value;

use crate::server::{Server, command, run, text, until};

fn lines(log: &str) -> Vec<Value> {
    log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"))).collect()
}

#[test]
fn operations_and_refusals_are_told_with_whom_they_concern() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let server = Server::up(home, &["--log-format", "json", "--log-level", "info"]);
    assert!(run(home, &["bmm", "restart", "rack1compute01"]).status.success());
    assert_eq!(run(home, &["bmm", "start", "rack4control01"]).status.code(), Some(4));
    let told = lines(&server.err());
    let find = |message: &str| told.iter().find(|line| line["message"] == message).unwrap_or_else(|| panic!("no `{message}` in {told:#?}"));
    let (begun, ended, refused) = (find("an operation begins"), find("an operation has ended"), find("a request was refused"));
    for line in [begun, ended] {
        assert_eq!((&line["cluster"], &line["machine"], &line["action"]), (&"site1".into(), &"rack1compute01".into(), &"restart".into()));
        assert!(line["operation"].is_string() && line["correlation_id"].is_string(), "{line}");
    }
    assert_eq!(begun["correlation_id"], ended["correlation_id"]);
    assert_eq!((&ended["result"], &begun["caller"]), (&"Succeeded".into(), &"administrator".into()));
    assert_eq!((&refused["rule"], &refused["machine"]), (&"machine-provisioned".into(), &"rack4control01".into()));
    assert_eq!(find("keeping")["cluster"], "site1");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_bmc_that_fails_is_told_once_when_it_begins_and_once_when_it_ends() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let server = Server::up(home, &["--log-format", "json", "--log-level", "info"]);
    server.until_ready();
    let told = |message: &str| lines(&server.err()).into_iter().filter(|line| line["message"] == message).collect::<Vec<_>>();
    assert!(run(home, &["sim", "fault", "add", "bmc-unreachable", "rack1compute01"]).status.success());
    // It meets the fault again and again until its time is up.
    assert_eq!(run(home, &["bmm", "restart", "rack1compute01"]).status.code(), Some(1));
    let ended = told("an operation has ended");
    assert_eq!((&ended[0]["level"], &ended[0]["result"]), (&"WARN".into(), &"Failed".into()), "{ended:?}");
    let blind = told("a BMC cannot be used");
    assert_eq!(blind.len(), 1, "{blind:?}");
    assert_eq!((&blind[0]["level"], &blind[0]["fault"]), (&"WARN".into(), &"unreachable".into()), "{blind:?}");
    assert_eq!((&blind[0]["cluster"], &blind[0]["machine"]), (&"site1".into(), &"rack1compute01".into()), "{blind:?}");
    assert!(blind[0]["since"].is_string() && blind[0]["detail"].is_string(), "{blind:?}");
    assert!(run(home, &["sim", "fault", "clear", "--all"]).status.success());
    let seen = until("the BMC to be of use again", || Some(told("a BMC is of use again")).filter(|lines| !lines.is_empty()));
    assert_eq!((&seen[0]["level"], &seen[0]["machine"], seen.len()), (&"INFO".into(), &"rack1compute01".into(), 1), "{seen:?}");
    assert!(seen[0]["lasted_ms"].as_u64() > Some(0), "{seen:?}");
}

#[test]
fn no_secret_is_told_however_much_is_logged() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let mut up = command(home);
    up.env("RUST_LOG", "trace").args(["up", "--listen", "127.0.0.1:0", "--speed", "600", "--racks", "1", "--machines-per-rack", "4"]);
    let server = Server::start(up);
    assert!(run(home, &["bmm", "restart", "rack1compute01"]).status.success());
    let log = server.err();
    assert!(log.contains("TRACE") && log.contains("rack1compute01"), "the log tells a lot");
    let sim = home.join("data/up/sim");
    let logins = std::fs::read_to_string(sim.join("site1-bmc-credentials.toml")).expect("the simulator wrote its logins");
    let logins: toml::Table = logins.parse().expect("the logins are TOML");
    let passwords: Vec<&str> = logins.values().filter_map(|login| login["password"].as_str()).collect();
    assert!(!passwords.is_empty());
    let tokens = ["site1-kubeconfig.yaml", "site1-naks-01-kubeconfig.yaml"].map(|file| {
        let kubeconfig = std::fs::read_to_string(sim.join(file)).expect("the simulator wrote its kubeconfigs");
        let token = kubeconfig.lines().find_map(|line| line.trim().strip_prefix("token: ")).expect("a kubeconfig has a token");
        token.trim_matches('"').to_owned()
    });
    for secret in passwords.into_iter().chain(tokens.iter().map(String::as_str)) {
        let leak = log.lines().find(|line| line.contains(secret));
        assert_eq!(leak, None, "a secret is in the log");
    }
}

#[test]
fn a_level_that_makes_no_sense_is_wrong_usage_and_starts_nothing() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path().join("home");
    let refused = run(&home, &["up", "--listen", "127.0.0.1:0", "--log-level", "loud=very"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(text(&refused.stderr).contains("does not say what to log"), "{refused:?}");
    assert!(!home.exists());
}
