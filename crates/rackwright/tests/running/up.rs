//! `rackwright up` as a person uses it: started, asked, stopped with Ctrl-C, started again, misused.

use std::io::{Read, Write};
use std::process::Output;

use serde_json::Value;

use crate::server::{Server, command, run, text};

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("not JSON: {output:?}"))
}

#[test]
fn a_site_is_started_used_stopped_and_continued() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let up = Server::up(home, &[]);
    let greeting = up.out();
    assert!(greeting.starts_with("Rackwright is up: site1, 4 racks, 12 machines, at 600×\n"), "{greeting}");
    assert_eq!(
        greeting
            .lines()
            .filter(|line| [" status", " vm list", " bmm restart rack1compute01"].iter().any(|end| line.ends_with(end)))
            .count(),
        3,
        "{greeting}"
    );

    let status = text(&run(home, &["status"]).stdout);
    assert!(
        status.contains("control plane: rack1control01 ready, rack2control01 ready, rack3control01 ready, rack4control01 spare"),
        "{status}"
    );
    let off = run(home, &["bmm", "power-off", "rack1compute01"]);
    assert_eq!((off.status.code(), text(&off.stdout).as_str()), (Some(0), "`rack1compute01` was powered off\n"), "{off:?}");
    let refused = run(home, &["bmm", "start", "rack4control01"]);
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    assert!(text(&refused.stderr).starts_with("error: `rack4control01` cannot be started\n  rule machine-provisioned: "), "{refused:?}");
    assert_eq!(run(home, &["bmm", "show", "rack1compute1"]).status.code(), Some(3));

    let second = run(home, &["up", "--listen", "127.0.0.1:0", "--racks", "4", "--machines-per-rack", "3"]);
    assert_eq!(second.status.code(), Some(1));
    assert!(text(&second.stderr).contains("is in use by process"), "{second:?}");
    assert_eq!(up.interrupt(), Some(0), "Ctrl-C stops it cleanly");
    assert_eq!(run(home, &["status"]).status.code(), Some(5), "nothing answers any more");

    let up = Server::up(home, &[]);
    let machine = json(&run(home, &["bmm", "show", "rack1compute01", "-o", "json"]));
    assert_eq!(machine["properties"]["powerState"], "Off", "the world and what is known of it go on where they were");
    let start = run(home, &["bmm", "start", "rack1compute01", "-o", "json"]);
    assert_eq!((start.status.code(), &json(&start)["status"]), (Some(0), &Value::from("Succeeded")));
    assert_eq!(up.interrupt(), Some(0));
}

#[test]
fn a_wrong_address_leaves_nothing_behind() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path().join("home");
    for (listen, code) in [("192.0.2.1:7225", 1), ("nonsense", 2)] {
        let refused = run(&home, &["up", "--listen", listen]);
        assert_eq!(refused.status.code(), Some(code), "{refused:?}");
    }
    assert!(!home.exists());
}

#[test]
fn two_homes_do_not_meet() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (one, two) = (directory.path().join("one"), directory.path().join("two"));
    let _up = Server::up(&one, &[]);
    assert_eq!(run(&one, &["status"]).status.code(), Some(0));
    let stranger = run(&two, &["status"]);
    assert_eq!(stranger.status.code(), Some(5));
    assert!(text(&stranger.stderr).contains("rackwright up"), "{stranger:?}");
}

#[test]
fn a_start_that_fails_and_a_second_server_leave_the_first_ones_place_alone() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let read = |name: &str| std::fs::read_to_string(home.join(name)).expect("the first start wrote it");
    let first = Server::up(home, &[]);
    let before = (read("contexts.toml"), read("simulator.toml"));
    let broken = home.join("broken");
    std::fs::create_dir_all(broken.join("control")).expect("a directory can be made");
    std::fs::write(broken.join("control/rackwright.db"), "this is no database, though it is long enough to be one").expect("a file");
    let failed = run(home, &["up", "--listen", "127.0.0.1:0", "--data-dir", broken.to_str().expect("text")]);
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    let hint =
        format!("hint: a backup is put in its place with `rackwright restore BACKUP --data-dir {}/control --replace`", broken.display());
    assert!(text(&failed.stderr).contains(&hint), "{failed:?}");
    assert_eq!((read("contexts.toml"), read("simulator.toml")), before, "a start that fails changes nothing");

    let other = home.join("other");
    let mut up = command(home);
    up.args(["up", "--speed", "600", "--listen", "127.0.0.1:0", "--racks", "1", "--machines-per-rack", "4", "--data-dir"]).arg(&other);
    let second = Server::start(up);
    let greeting = second.out();
    assert!(greeting.contains("  Context  local-2, in ") && greeting.contains(" status --context local-2\n"), "{greeting}");
    let machines = |arguments: &[&str]| json(&run(home, &[&["bmm", "list", "-o", "json"], arguments].concat())).as_array().map(Vec::len);
    assert_eq!((machines(&[]), machines(&["--context", "local-2"])), (Some(12), Some(4)), "the first is still the one that is meant");
    assert_eq!(read("simulator.toml"), before.1);
    let (_, faults) = greeting.split_once("--simulator ").expect("the greeting names the simulator");
    let faults = faults.split('`').next().expect("it ends");
    let broken = run(home, &["sim", "fault", "add", "bmc-slow", "rack1compute01", "--simulator", faults]);
    assert!(broken.status.success(), "{broken:?}");
    assert!(run(home, &["sim", "fault", "list"]).stdout.is_empty(), "the first simulation has no fault");
    assert_eq!(first.interrupt(), Some(0));
    assert_eq!(second.interrupt(), Some(0));
    let greeting = Server::up(home, &[]).out();
    assert!(greeting.contains("  Context  local, in "), "nobody has the name any more: {greeting}");
}

#[test]
fn neither_half_a_request_nor_a_listener_holds_up_a_stop() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let up = Server::up(directory.path(), &[]);
    let mut dawdler = up.door().connect().expect("the API listens");
    dawdler.write_all(b"GET / HTTP/1.1\r\nHost: loc").expect("half a request is sent");
    let mut listener = up.door().connect().expect("the API listens");
    let request = up.door().head("GET", "/rackwright/v1/events", 0).expect("there is a token");
    listener.write_all(request.as_bytes()).expect("the request is sent");
    let mut heard = vec![0; 4_096];
    let greeting = listener.read(&mut heard).expect("the stream begins");
    assert!(text(&heard[..greeting]).starts_with("HTTP/1.1 200 OK\r\n"), "{}", text(&heard[..greeting]));
    assert_eq!(up.interrupt(), Some(0));
    let mut rest = Vec::new();
    listener.read_to_end(&mut rest).expect("the stream ends");
    assert!(rest.ends_with(b"0\r\n\r\n"), "it was ended, not cut: {}", text(&rest));
}

#[test]
fn a_cluster_that_is_described_twice_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let _up = Server::up(home, &[]);
    let site = home.join("data/up/sim/site1.toml");
    let site = site.to_str().expect("the path is text");
    let refused = run(home, &["serve", "--listen", "127.0.0.1:0", "--config", site, "--config", site]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("cluster `site1` is described twice"), "{refused:?}");

    let copy = home.join("data/up/sim/site2.toml");
    let described = std::fs::read_to_string(site).expect("the simulator wrote its file");
    std::fs::write(&copy, described.replacen("name = \"site1\"", "name = \"site2\"", 1)).expect("the file can be written");
    let copy = copy.to_str().expect("the path is text");
    let refused = run(home, &["serve", "--listen", "127.0.0.1:0", "--config", site, "--config", copy]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("is in two sites"), "{refused:?}");
}

#[test]
fn the_shipped_site_of_the_article_is_simulated_with_its_names() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/seed-000.toml");
    let mut simulate = command(home);
    simulate.args(["up", "--listen", "127.0.0.1:0", "--speed", "600", "--config", example]);
    let up = Server::start(simulate);
    let greeting = up.out();
    assert!(greeting.starts_with("Rackwright is up: seed-000, 4 racks, 24 machines, at 600×\n"), "{greeting}");
    assert!(greeting.contains("bmm restart rack1-compute01\n"), "{greeting}");
    let restart = run(home, &["bmm", "restart", "rack1-compute01"]);
    assert_eq!(restart.status.code(), Some(0), "{restart:?}");
    let machine = json(&run(home, &["bmm", "show", "rack4-control01", "-o", "json"]));
    assert_eq!((&machine["properties"]["serialNumber"], &machine["properties"]["powerState"]), (&"SD041X3".into(), &"Off".into()));
    assert_eq!(up.interrupt(), Some(0));

    let other = home.join("other.toml");
    let text_of_example = std::fs::read_to_string(example).expect("the example is shipped");
    std::fs::write(&other, text_of_example.replace("slot = 3", "slot = 9")).expect("the file can be written");
    let refused = run(home, &["up", "--listen", "127.0.0.1:0", "--config", other.to_str().expect("the path is text")]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("`rack1-compute01` as Dell compute in rack1 slot 9"), "{refused:?}");
    let refused = run(home, &["up", "--listen", "127.0.0.1:0"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("holds the simulated site `seed-000`, which is not asked for"), "{refused:?}");
}
