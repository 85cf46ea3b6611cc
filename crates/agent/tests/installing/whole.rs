//! Installations that succeed.

use std::process::Command;

use agent::life::Ending;
use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, Plan, Reply, sha256};
use crate::machine::{TestMachine, os_image, run};

/// A machine with the disk of the system between others.
fn machine() -> TestMachine {
    TestMachine::with(&[("sda", "DATA-1", 3), ("sdb", "OS-1", 12), ("sdc", "DATA-2", 3)])
}

fn os_disk() -> Value {
    json!({"serial": "OS-1"})
}

/// What is on a disk where the image was, but for what the seed changes: the partition table.
fn assert_has_image(machine: &TestMachine, disk: &str, image: &[u8]) {
    let content = machine.content(disk);
    let (table, backup) = (34 * 512, 33 * 512);
    assert!(content[table..image.len() - backup] == image[table..image.len() - backup], "the image is not on {disk}");
}

#[test]
fn an_image_is_written_read_back_and_configured_and_no_other_disk_is_touched() {
    let (machine, image) = (machine(), os_image(5));
    let (before_a, before_c) = (machine.content("sda"), machine.content("sdc"));
    let control_plane = ControlPlane::start(Plan::raw(&image, &os_disk()));
    assert_eq!(machine.install(&control_plane), Ending::Written);
    assert_eq!(control_plane.story(), ["exchange", "log", "inventory", "log", "image", "seed", "log", "report written"]);
    assert_eq!(control_plane.last_report(), json!({"kind": "written", "sha256": sha256(&image)}));
    assert_has_image(&machine, "sdb", &image);
    assert!(machine.content("sda") == before_a && machine.content("sdc") == before_c);

    let disk = machine.disk("sdb");
    assert!(run("/sbin/sgdisk", &["--verify"], &disk).contains("No problems found"));
    let said = run("/sbin/sgdisk", &["--info=2"], &disk);
    assert!(said.contains("Partition name: 'cidata'"), "{said}");
    let first: u64 = said.lines().find_map(|line| line.strip_prefix("First sector: ")?.split(' ').next()?.parse().ok()).unwrap();
    let at = format!("{}@@{}", disk.display(), first * 512);
    let typed = |name: &str| String::from_utf8(Command::new("mtype").args(["-i", &at, name]).output().unwrap().stdout).unwrap();
    assert_eq!(typed("::user-data"), "#cloud-config\nhostname: m1\n");
    assert_eq!(typed("::meta-data"), "instance-id: o1\n");
}

#[test]
fn a_packed_image_arrives_unpacked() {
    let (machine, image) = (machine(), os_image(7));
    let plan = Plan::packed(&image, &os_disk());
    assert!(plan.sent.len() < image.len() / 4);
    let control_plane = ControlPlane::start(plan);
    assert_eq!(machine.install(&control_plane), Ending::Written);
    assert_has_image(&machine, "sdb", &image);
    assert_eq!(control_plane.last_report()["sha256"], sha256(&image));
}

#[test]
fn progress_grows_and_the_inventory_and_the_log_are_told() {
    let (machine, image) = (machine(), os_image(7));
    let control_plane = ControlPlane::start(Plan::raw(&image, &os_disk()));
    assert_eq!(machine.install(&control_plane), Ending::Written);
    let reports = control_plane.bodies("report");
    let percents: Vec<u64> =
        reports.iter().filter_map(|report| serde_json::from_str::<Value>(report).unwrap()["percent"].as_u64()).collect();
    assert!(percents.len() >= 4 && percents.is_sorted() && percents.iter().all(|percent| *percent < 100), "{percents:?}");
    let inventory: Value = serde_json::from_str(&control_plane.bodies("inventory")[0]).unwrap();
    assert_eq!(inventory["disks"][1]["serial"], "OS-1");
    let logs = control_plane.bodies("log");
    assert!(logs[0].contains("this machine is to be `m1`"), "{}", logs[0]);
    assert!(logs[1].contains("disk sdb (") && logs[1].starts_with(&logs[0]), "{}", logs[1]);
    assert!(logs[2].contains("the disk gives back the image") && logs[2].starts_with(&logs[1]), "{}", logs[2]);
    assert!(!logs[2].contains(crate::control_plane::TOKEN) && !logs[2].contains(crate::control_plane::SESSION));
}

#[test]
fn listed_data_disks_are_wiped_and_no_others() {
    let (machine, image) = (machine(), os_image(5));
    let before = machine.content("sda");
    let mut plan = Plan::raw(&image, &os_disk());
    plan.grant["wipe"] = json!(["data-2"]);
    assert_eq!(machine.install(&ControlPlane::start(plan)), Ending::Written);
    assert!(machine.content("sdc").iter().all(|byte| *byte == 0));
    assert_eq!(machine.content("sdc").len(), 3 << 20);
    assert!(machine.content("sda") == before);
    assert_has_image(&machine, "sdb", &image);
}

#[test]
fn a_control_plane_that_is_away_for_a_while_is_called_again() {
    let (machine, image) = (machine(), os_image(5));
    let plan = Plan::raw(&image, &os_disk()).scripted(|seen, reply| match (seen.what.as_str(), seen.nth) {
        ("exchange", 0) => Reply::status(503),
        // The answer is lost on its way: the same agent asks again.
        ("exchange", 1) => Reply { cut: Some(10), ..reply },
        ("inventory", 0) => Reply::status(429),
        ("seed", 0) => Reply::status(500),
        ("report", _) if seen.body.contains("progress") => Reply::status(503),
        ("report", nth) if nth < 12 && seen.body.contains("written") => Reply::status(502),
        _ => reply,
    });
    let control_plane = ControlPlane::start(plan);
    assert_eq!(machine.install(&control_plane), Ending::Written);
    let exchanges = control_plane.bodies("exchange");
    assert_eq!(exchanges.len(), 3);
    assert!(exchanges.iter().all(|exchange| exchange == &exchanges[0]), "{exchanges:?}");
}

#[test]
fn what_is_only_told_for_people_may_be_refused() {
    let (machine, image) = (machine(), os_image(5));
    let plan = Plan::raw(&image, &os_disk()).scripted(|seen, reply| match seen.what.as_str() {
        "inventory" => Reply::status(413),
        "log" => Reply::status(404),
        _ => reply,
    });
    let control_plane = ControlPlane::start(plan);
    assert_eq!(machine.install(&control_plane), Ending::Written);
    assert!(machine.log.text().contains("inventory: refused with 413"));
}

#[test]
fn an_agent_that_starts_again_is_another_one() {
    let (machine, image) = (machine(), os_image(5));
    let control_plane = ControlPlane::start(
        Plan::raw(&image, &os_disk()).scripted(
            |seen, reply| {
                if seen.what == "exchange" && seen.nth > 0 { Reply::status(409) } else { reply }
            },
        ),
    );
    assert_eq!(machine.install(&control_plane), Ending::Written);
    let written = machine.content("sdb");
    assert_eq!(machine.install(&control_plane), Ending::Over { status: 409 });
    let exchanges = control_plane.bodies("exchange");
    let nonce = |at: usize| serde_json::from_str::<Value>(&exchanges[at]).unwrap()["nonce"].as_str().unwrap().to_owned();
    assert!(nonce(0) != nonce(1) && nonce(0).len() == 64);
    assert!(machine.content("sdb") == written);
}
