//! Backup of a running server, and its return to a data directory.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::server::{Server, run, text, until};

fn path(path: &Path) -> &str {
    path.to_str().expect("the path is text")
}

/// A backup that was taken while a restart was under way, and that restart's id.
fn backed_up_in_flight(home: &Path, backup: &Path) -> String {
    let server = Server::up_at(home, "60", &[]);
    server.until_ready();
    // The restart is still under way when the backup is made.
    assert!(run(home, &["sim", "fault", "add", "host-boots-slowly", "rack1compute01", "--factor", "3"]).status.success());
    let accepted = run(home, &["bmm", "restart", "rack1compute01", "--no-wait", "-o", "json"]);
    assert!(accepted.status.success(), "{accepted:?}");
    let taken = run(home, &["backup", path(backup)]);
    assert!(taken.status.success(), "{taken:?}");
    let said = text(&taken.stdout);
    assert!(said.starts_with(&format!("backed up to {}\n  revision ", backup.display())), "{said}");
    assert!(said.contains("key      not inside: keep `vault.key`"), "{said}");
    let again = run(home, &["backup", path(backup)]);
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    assert!(text(&again.stderr).contains("exists already, and a backup overwrites nothing"), "{again:?}");
    // What happens after the backup is unknown to it.
    until("the restart to end", || server.json("/rackwright/v1/operations")["value"][0]["endedAt"].is_string().then_some(()));
    assert_eq!(server.stop(), Some(0));
    serde_json::from_slice::<Value>(&accepted.stdout).expect("JSON")["id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_restored_server_goes_on_with_what_was_in_flight() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let backup = home.join("monday.db");
    let id = backed_up_in_flight(home, &backup);
    let control = home.join("data/up/control");
    let above = run(home, &["restore", path(&backup), "--data-dir", path(&home.join("data/up")), "--replace"]);
    assert_eq!(above.status.code(), Some(1), "{above:?}");
    assert!(text(&above.stderr).contains(&format!("hint: restore with `--data-dir {}`", control.display())), "{above:?}");
    assert!(!home.join("data/up/rackwright.db").exists() && !home.join("data/up/lock").exists());
    let refused = run(home, &["restore", path(&backup), "--data-dir", path(&control)]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(text(&refused.stderr).contains("set it aside with `--replace`"), "{refused:?}");
    let restored = run(home, &["restore", path(&backup), "--data-dir", path(&control), "--replace"]);
    assert!(restored.status.success(), "{restored:?}");
    let said = text(&restored.stdout);
    assert!(said.contains("  clusters    site1, 12 machines\n"), "{said}");
    assert!(said.contains(&format!("  operations  in flight: restart of rack1compute01 ({})\n", &id[..8])), "{said}");
    assert!(said.contains("  key         fits: BMC logins can be opened\n"), "{said}");
    let started_by = format!("`rackwright up --data-dir {}`", home.join("data/up").display());
    assert!(text(&restored.stderr).contains(&started_by), "{restored:?}");

    let server = Server::up_at(home, "60", &[]);
    server.until_ready();
    until("the restored restart to end", || {
        (server.json(&format!("/rackwright/v1/operations/{id}"))["status"] == "Succeeded").then_some(())
    });
    let shown = run(home, &["bmm", "show", "rack1compute01", "-o", "json"]);
    let machine: Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    assert_eq!((&machine["properties"]["powerState"], &machine["properties"]["readyState"]), (&"On".into(), &"True".into()));
    let in_use = run(home, &["restore", path(&backup), "--data-dir", path(&control), "--replace"]);
    assert_eq!(in_use.status.code(), Some(1));
    assert!(text(&in_use.stderr).contains("is in use by process"), "{in_use:?}");
}

#[test]
fn the_key_decides_what_can_be_restored() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let backup = home.join("monday.db");
    let server = Server::up(home, &[]);
    server.until_ready();
    let taken = run(home, &["backup", path(&backup), "-o", "json"]);
    let told: Value = serde_json::from_slice(&taken.stdout).expect("JSON");
    assert_eq!((&told["keyIncluded"], told["bytes"].as_u64()), (&false.into(), fs::metadata(&backup).ok().map(|file| file.len())));
    assert_eq!(server.stop(), Some(0));
    let key = home.join("data/up/control/vault.key");
    let secret = fs::read(&key).expect("there is a key");
    let bytes = fs::read(&backup).expect("the backup is there");
    assert!(!bytes.windows(secret.len()).any(|window| window == secret), "the key is not in the backup");

    let restore =
        |into: &str, more: &[&str]| run(home, &[&["restore", path(&backup), "--data-dir", path(&home.join(into))], more].concat());
    let without = restore("without", &[]);
    assert!(text(&without.stdout).contains("key         missing: put the server's `vault.key` to"), "{without:?}");
    let warned = text(&without.stderr);
    assert!(warned.starts_with("warning: the key of the BMC logins is not in "), "{warned}");
    assert!(warned.contains("`--key FILE`") && warned.contains("`--without-secrets`"), "{warned}");
    assert!(warned.contains("hint: start it with `rackwright serve --config FILE --data-dir "), "{warned}");
    let with = restore("with", &["--key", path(&key)]);
    assert!(text(&with.stdout).contains("key         fits"), "{with:?}");
    assert!(!text(&with.stderr).contains("warning"), "{with:?}");
    assert_eq!(fs::read(home.join("with/vault.key")).expect("the key is there"), secret);

    let twice = restore("with", &["--replace", "--key", path(&key)]);
    assert!(text(&twice.stderr).contains("vault.key is there already; nothing was restored"), "{twice:?}");

    let other = home.join("other.key");
    fs::copy(&key, &other).expect("a key can be copied");
    fs::write(&other, vec![7; secret.len()]).expect("a key can be written");
    let wrong = restore("wrong", &["--key", path(&other)]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(text(&wrong.stderr).contains("is not the key of this backup"), "{wrong:?}");
    assert!(!home.join("wrong/rackwright.db").exists());
    let lost = restore("lost", &["--without-secrets"]);
    assert!(text(&lost.stdout).contains("key         not needed"), "{lost:?}");
}

#[test]
fn what_is_no_backup_of_a_control_plane_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let server = Server::up(home, &[]);
    assert_eq!(server.stop(), Some(0));
    let letter = home.join("letter.txt");
    fs::write(&letter, "this is a letter, and no database at all").expect("a file can be written");
    let into = home.join("into");
    for (file, code, why) in [
        (letter, 1, "it is not a backup of Rackwright"),
        (home.join("data/up/sim/rackwright.db"), 1, "holds no cluster, so it is no backup of a control plane"),
        (home.join("data"), 1, "is a directory, and a backup is a file"),
        (home.join("absent.db"), 3, "error: there is no file "),
    ] {
        let refused = run(home, &["restore", path(&file), "--data-dir", path(&into)]);
        assert_eq!(refused.status.code(), Some(code), "{refused:?}");
        assert!(text(&refused.stderr).contains(why), "{refused:?}");
        assert!(!into.exists(), "nothing is left behind");
    }
    let nobody = run(home, &["backup", path(&home.join("x.db"))]);
    assert_eq!(nobody.status.code(), Some(5), "{nobody:?}");
    assert!(!home.join("x.db").exists() && !home.join("x.db.unfinished").exists());
}
