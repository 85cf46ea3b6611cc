//! kubectl, which others wrote, against the cluster of a tenant of the shipped site: what the article on server problems has its
//! readers type, and the table that it shows them.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::server::{Server, command, text};
use crate::tools::{peer, repository};

/// Before a machine is reimaged: which nodes are on it.
const BEFORE: &str =
    r#"kubectl get nodes -o custom-columns="NODE:.metadata.name,BMM:.metadata.labels.topology\.kubernetes\.io/baremetalmachine""#;

/// What the article shows for it. Its columns are spaced by hand.
const TABLE: &str = "\
NODE                                    BMM
naks-01-agentpool1-md-tjr8k-4qqx4        rack1-compute01
naks-01-agentpool2-md-zzrw8-gg8rx        rack1-compute01
naks-01-agentpool2-md-zzrw8-lqrmt        rack1-compute02
naks-01-control-plane-rmwqr              rack1-compute02
";

/// Afterwards: whether they are back.
const AFTER: &str = r#"kubectl get nodes -o custom-columns="NODE:.metadata.name,READY:.status.conditions[?(@.type=='Ready')].status,BMM:.metadata.labels.topology\.kubernetes\.io/baremetalmachine""#;

/// Where kubectl is looked for: first the old one that `tools/peers` installs, then whatever the machine has.
fn search_paths() -> Vec<OsString> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let peers = peer("kubectl-1.20/usr/bin");
    let with_peers = std::env::join_paths([peers].into_iter().chain(std::env::split_paths(&own))).expect("no path has a colon");
    let has_another = std::env::split_paths(&own).any(|directory| directory.join("kubectl").is_file());
    [with_peers].into_iter().chain(has_another.then_some(own)).collect()
}

/// What a line prints that a person types into a shell in front of a tenant's cluster.
fn typed(line: &str, search_path: &OsString, kubeconfig: &str, home: &Path) -> String {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", line]).env("PATH", search_path).env("KUBECONFIG", kubeconfig).env("HOME", home);
    let output = shell.output().expect("there is a shell");
    assert!(output.status.success(), "{line}: {output:?}");
    text(&output.stdout)
}

/// The cells of a table, however it is spaced.
fn cells(table: &str) -> Vec<Vec<&str>> {
    table.lines().map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn the_commands_of_the_article_print_its_table_from_the_tenants_cluster_of_the_shipped_site() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let mut simulate = command(home);
    simulate.args(["up", "--listen", "127.0.0.1:0", "--speed", "600", "--config"]).arg(repository("examples/seed-000.toml"));
    let up = Server::start(simulate);
    let greeting = up.out();
    let hint = greeting.lines().find_map(|line| line.trim().strip_prefix("Tenant   kubectl --kubeconfig "));
    let kubeconfig = hint.and_then(|rest| rest.strip_suffix(" get nodes")).unwrap_or_else(|| panic!("no kubeconfig in {greeting}"));
    for search_path in search_paths() {
        let typed = |line| typed(line, &search_path, kubeconfig, home);
        assert_eq!(cells(&typed(BEFORE)), cells(TABLE), "{search_path:?}");
        let with_ready: Vec<Vec<&str>> = cells(TABLE)
            .into_iter()
            .map(|row| match row[..] {
                ["NODE", "BMM"] => vec!["NODE", "READY", "BMM"],
                [node, machine] => vec![node, "True", machine],
                _ => row,
            })
            .collect();
        assert_eq!(cells(&typed(AFTER)), with_ready, "{search_path:?}");
    }
    assert_eq!(up.interrupt(), Some(0));
}
