//! The keys of a server's secrets: where they come from, and new ones for them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::server::{Server, command, run, text};

/// A master key in base64.
const KEY: &str = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";

/// Turns every byte around, which is no cipher, but needs the same command to be turned back.
const KMS: &str = r"test -z $RACKWRIGHT_MASTER_KEY$RACKWRIGHT_NEW_MASTER_KEY || exit 1
base64 -d | LC_ALL=C tr '\000-\177\200-\377' '\200-\377\000-\177' | base64 -w 0";

fn path(path: &Path) -> &str {
    path.to_str().expect("the path is text")
}

/// `rackwright vault …` on the data of a stopped `up`.
fn vault(home: &Path, words: &[&str], settle: impl FnOnce(&mut Command)) -> Output {
    let mut command = command(home);
    let (verb, more) = words.split_first().expect("a verb");
    command.args(["vault", verb, "--data-dir", path(&home.join("data/up/control"))]).args(more).args(["-o", "json"]);
    settle(&mut command);
    command.output().expect("the binary starts")
}

#[track_caller]
fn told(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Starts a server with a key, and stops it once it has read its secrets.
fn start_and_stop(home: &Path, more: &[&str], settle: impl FnOnce(&mut Command)) {
    let mut command = command(home);
    command.args(["up", "--listen", "127.0.0.1:0", "--speed", "600", "--racks", "1", "--machines-per-rack", "4"]).args(more);
    settle(&mut command);
    let server = Server::start(command);
    server.until_ready();
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn the_master_key_moves_from_a_file_to_the_environment_and_to_a_command() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    start_and_stop(home, &[], |_| {});
    let first = told(&vault(home, &["status"], |_| {}));
    assert_eq!((&first["masterKeyFits"], &first["dataKeys"][0]["id"]), (&true.into(), &1.into()), "{first}");
    assert!(first["secrets"].as_u64().is_some_and(|count| count >= 4), "{first}");

    let rotated = vault(home, &["rotate-key"], |command| {
        command.env("RACKWRIGHT_NEW_MASTER_KEY", KEY);
    });
    assert_eq!(told(&rotated)["masterKeySource"], "RACKWRIGHT_NEW_MASTER_KEY");
    let refused = run(home, &["up", "--listen", "127.0.0.1:0", "--racks", "1", "--machines-per-rack", "4"]);
    let needed = told(&rotated)["masterKeyId"].as_str().expect("an id").to_owned();
    assert!(text(&refused.stderr).contains(&format!("the vault needs master key {needed}, but ")), "{refused:?}");
    start_and_stop(home, &[], |command| {
        command.env("RACKWRIGHT_MASTER_KEY", KEY);
    });

    let script = home.join("kms");
    fs::write(&script, KMS).expect("a script can be written");
    let kms = format!("/bin/sh {}", script.display());
    let rotated = vault(home, &["rotate-key", "--new-key-command", &kms], |command| {
        command.env("RACKWRIGHT_MASTER_KEY", KEY);
    });
    assert_eq!(told(&rotated)["masterKeyId"], "command");
    start_and_stop(home, &["--key-command", &kms], |_| {});
    let rotated = told(&vault(home, &["rotate-data-key", "--key-command", &kms], |_| {}));
    assert_eq!((&rotated["dataKeys"][0]["id"], &rotated["secrets"]), (&2.into(), &first["secrets"]), "{rotated}");
    start_and_stop(home, &["--key-command", &kms], |_| {});
}

#[test]
fn two_sources_and_none_are_refused_and_a_running_server_is_left_alone() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let server = Server::up(home, &[]);
    let running = vault(home, &["status"], |_| {});
    assert!(text(&running.stderr).contains("is in use by process"), "{running:?}");
    assert_eq!(server.stop(), Some(0));

    let both = vault(home, &["status", "--key-file", "k"], |command| {
        command.env("RACKWRIGHT_MASTER_KEY", KEY);
    });
    assert_eq!(both.status.code(), Some(2), "{both:?}");
    assert!(text(&both.stderr).contains("the master key comes from one place, and two are named"), "{both:?}");
    let options = vault(home, &["status", "--key-file", "k"], |command| {
        command.env("RACKWRIGHT_KEY_COMMAND", "kms");
    });
    assert_eq!(options.status.code(), Some(2), "{options:?}");
    let none = vault(home, &["rotate-key"], |_| {});
    assert_eq!(none.status.code(), Some(2), "{none:?}");
    let garbled = vault(home, &["rotate-data-key"], |command| {
        command.env("RACKWRIGHT_MASTER_KEY", "c2hvcnQ=");
    });
    assert!(text(&garbled.stderr).contains("RACKWRIGHT_MASTER_KEY holds no key: a key is 32 bytes in base64"), "{garbled:?}");
    assert!(!text(&garbled.stderr).contains("c2hvcnQ"), "{garbled:?}");
    let elsewhere = run(home, &["vault", "status", "--data-dir", path(&home.join("data/up"))]);
    assert!(text(&elsewhere.stderr).contains("is the data directory of `rackwright up`"), "{elsewhere:?}");
    let nowhere = run(home, &["vault", "status", "--data-dir", path(&home.join("nowhere"))]);
    assert_eq!(nowhere.status.code(), Some(3), "{nowhere:?}");
    assert!(!home.join("nowhere").exists());
}
