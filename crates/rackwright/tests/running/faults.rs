//! `rackwright sim fault` as a person uses it, on a simulation that runs.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::server::{Server, command, run_line as run, text, until};

fn start(home: &Path, line: &str) -> Server {
    let mut server = command(home);
    server.args(line.split_whitespace());
    Server::start(server)
}

#[test]
fn a_bmc_is_taken_away_and_given_back() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let _up = start(home, "up --listen 127.0.0.1:0 --racks 1 --machines-per-rack 4 --speed 600");
    let mode = std::fs::metadata(home.join("simulator.toml")).expect("the simulator is remembered").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let none = run(home, "sim fault list");
    assert!(none.status.success() && none.stdout.is_empty(), "{none:?}");

    let added = run(home, "sim fault add bmc-unreachable rack1compute01");
    assert!(added.status.success() && text(&added.stdout).contains("bmc-unreachable  rack1compute01"), "{added:?}");
    let shows = |words: &str| text(&run(home, "bmm show rack1compute01").stdout).contains(words);
    until("a silent BMC", || (shows("connection refused")).then_some(()));
    let listed = run(home, "sim fault list -o json");
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("it is JSON");
    assert_eq!(listed[0]["state"], "Active");

    let cleared = run(home, "sim fault clear rack1compute01");
    assert_eq!(text(&cleared.stdout), "f1 bmc-unreachable rack1compute01 cleared\n", "{cleared:?}");
    until("a BMC that answers", || (!shows("connection refused")).then_some(()));

    let read_only = run(home, "sim fault add host-read-only-root rack1compute01 --for 1d");
    assert!(read_only.status.success(), "{read_only:?}");
    until("a degraded machine", || {
        (shows("Degraded: root file system is read-only") && shows("Filesystem is read-only, since")).then_some(())
    });
    assert!(text(&run(home, "status").stdout).contains("1 degraded"));
}

#[test]
fn what_is_mistyped_is_refused_with_advice_and_changes_nothing() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let nothing = run(home, "sim fault list");
    assert_eq!(nothing.status.code(), Some(5), "{nothing:?}");
    let _sim = start(home, "sim serve --clusters 2 --racks 1 --machines-per-rack 4 --speed 600");
    for (line, exit, words) in [
        ("sim fault add bmc-slo rack1compute01 --site site1", 3, "did you mean `bmc-slow`?"),
        ("sim fault add bmc-slow rack1compute1 --site site1", 3, "did you mean `rack1compute01`?"),
        ("sim fault add bmc-slow rack1compute01 --site site3", 3, "did you mean `site1` or `site2`?"),
        ("sim fault add bmc-slow rack1compute01", 2, "choose one with `--site`, for example `--site site1`"),
        ("sim fault add bmc-slow rack1compute01 --site site1 --ms 0", 2, "`ms` of `bmc-slow` is from 1 to 600000, not 0"),
        ("sim fault add bmc-slow rack1compute01 --site site1 --factor 3", 2, "`bmc-slow` takes `ms=`, not `factor=`"),
        ("sim fault add bmc-slow rack1compute01 --site site1 --for ever", 2, "`ever` is not a span"),
        ("sim fault add bmc-slow rack1compute01 --ms 1 --every 2", 2, "cannot be used with"),
        ("sim fault clear", 2, "required"),
        ("sim fault clear rack1compute01", 3, "nothing is broken that `rack1compute01` means"),
        ("sim fault script no-such-file", 1, "`no-such-file` cannot be read"),
    ] {
        let refused = run(home, line);
        assert_eq!(refused.status.code(), Some(exit), "{line}: {refused:?}");
        assert!(text(&refused.stderr).contains(words), "{line}: {refused:?}");
    }
    let script = home.join("night.txt");
    std::fs::write(&script, "# a bad night\nafter 5m api-down api for 1m\nafter 6m api-dwon api\n").expect("the script is written");
    let refused = run(home, &format!("sim fault script {} --site site2", script.display()));
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    assert!(text(&refused.stderr).contains("line 3, `after 6m api-dwon api`: there is no fault `api-dwon`"), "{refused:?}");
    assert!(text(&refused.stderr).contains("did you mean `api-down`?"), "{refused:?}");
    assert!(run(home, "sim fault list").stdout.is_empty(), "nothing was applied");

    std::fs::write(&script, "after 5h api-down api for 1h\nafter 6h bmc-slow rack1\n").expect("the script is written");
    let played = run(home, &format!("sim fault script {} -g site2", script.display()));
    assert!(played.status.success(), "{played:?}");
    let planned = text(&run(home, "sim fault list --site site2").stdout);
    assert_eq!(planned.matches("Planned").count(), 5, "{planned}");
    assert!(run(home, "sim fault list --site site1").stdout.is_empty());
    let cleared = text(&run(home, "sim fault clear --all").stdout);
    assert_eq!(cleared.lines().count(), 5, "{cleared}");
}

#[test]
fn bmcs_over_tls_are_described_with_the_authority_beside_them() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let _sim = start(home, "sim serve --racks 1 --machines-per-rack 4 --bmc-tls");
    let data = home.join("data/sim");
    let site = std::fs::read_to_string(data.join("site1.toml")).expect("the site is described");
    assert_eq!(site.matches("bmc = \"https://127.0.0.1:").count(), 4, "{site}");
    let authority = std::fs::read_to_string(data.join("site1-bmc-ca.pem")).expect("the authority is there");
    assert!(authority.starts_with("-----BEGIN CERTIFICATE-----"));
}
