//! Disks that are not what they should be. Nothing is written to any of them.

use std::os::unix::fs::FileExt;

use agent::life::Ending;
use agent::trouble::Trouble;
use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, Plan};
use crate::machine::{TestMachine, os_image};

/// Installs, sees it fail, and sees that every byte of every disk is as before.
fn fails(disks: &[(&str, &str, u64)], os_disk: &Value, wipe: &Value, prepare: impl Fn(&TestMachine)) -> (Trouble, String) {
    let machine = TestMachine::with(disks);
    prepare(&machine);
    let before: Vec<Vec<u8>> = disks.iter().map(|(name, ..)| machine.content(name)).collect();
    let mut plan = Plan::raw(&os_image(5), os_disk);
    plan.grant["wipe"] = wipe.clone();
    let control_plane = ControlPlane::start(plan);
    let Ending::Failed(failure) = machine.install(&control_plane) else { panic!("it did not fail") };
    for ((name, ..), before) in disks.iter().zip(before) {
        assert!(machine.content(name) == before, "{name} was written");
    }
    assert_eq!(control_plane.story(), ["exchange", "log", "inventory", "log", "report failed"]);
    assert_eq!(control_plane.last_report()["detail"], failure.detail.as_str());
    assert!(control_plane.bodies("log")[1].contains(&failure.detail));
    (failure.trouble, failure.detail)
}

const DISKS: &[(&str, &str, u64)] = &[("sda", "DATA-1", 3), ("sdb", "OS-1", 12), ("sdc", "OS-2", 4)];

fn as_they_are(_: &TestMachine) {}

#[test]
fn no_disk_matches() {
    let (trouble, detail) = fails(DISKS, &json!({"serial": "OS-9"}), &json!([]), as_they_are);
    assert_eq!(trouble, Trouble::MissingDisk);
    assert!(detail.starts_with("no disk has serial number `OS-9`; there are: sda (3145728 bytes"), "{detail}");
}

#[test]
fn two_disks_have_the_same_serial_number() {
    let twins = [("sda", "OS-1", 12), ("sdb", "OS-1", 12), ("sdc", "DATA-1", 3)];
    let (trouble, detail) = fails(&twins, &json!({"serial": "OS-1"}), &json!([]), as_they_are);
    assert_eq!(trouble, Trouble::AmbiguousDisk);
    assert!(detail.contains("sda") && detail.contains("sdb") && !detail.contains("sdc"), "{detail}");
}

#[test]
fn the_disk_is_too_small() {
    assert_eq!(fails(DISKS, &json!({"serial": "OS-2"}), &json!([]), as_they_are).0, Trouble::DiskTooSmall);
}

#[test]
fn the_disk_is_removable_or_read_only() {
    for file in ["removable", "ro"] {
        let prepare = |machine: &TestMachine| std::fs::write(machine.path("sys/block/sdb").join(file), "1").unwrap();
        assert_eq!(fails(DISKS, &json!({"serial": "OS-1"}), &json!([]), prepare).0, Trouble::MissingDisk, "{file}");
    }
}

#[test]
fn a_disk_to_be_wiped_is_not_known_or_is_the_systems() {
    let os = json!({"serial": "OS-1"});
    assert_eq!(fails(DISKS, &os, &json!(["DATA-1", "DATA-9"]), as_they_are).0, Trouble::MissingDisk);
    assert_eq!(fails(DISKS, &os, &json!(["DATA-1", "OS-1"]), as_they_are).0, Trouble::AmbiguousDisk);
}

#[test]
fn a_disk_is_gone_when_it_is_to_be_written() {
    let machine = TestMachine::with(DISKS);
    std::fs::remove_file(machine.disk("sdb")).unwrap();
    let mut plan = Plan::raw(&os_image(5), &json!({"serial": "OS-1"}));
    plan.grant["wipe"] = json!(["DATA-1"]);
    let before = machine.content("sda");
    let Ending::Failed(failure) = machine.install(&ControlPlane::start(plan)) else { panic!("it did not fail") };
    assert_eq!(failure.trouble, Trouble::DiskFailed);
    assert!(machine.content("sda") == before);
}

#[test]
fn another_disk_of_the_same_size_gets_the_name_while_the_control_plane_is_called() {
    let machine = TestMachine::with(&[("sda", "TENANT-1", 12), ("sdb", "OS-1", 12)]);
    let before = [machine.content("sda"), machine.content("sdb")];
    let serials = ["sda", "sdb"].map(|name| machine.path("sys/block").join(name).join("serial"));
    let plan = Plan::raw(&os_image(5), &json!({"serial": "OS-1"})).scripted(move |seen, reply| {
        if seen.what == "inventory" {
            for (serial, text) in serials.iter().zip(["OS-1", "TENANT-1"]) {
                std::fs::write(serial, text).unwrap();
            }
        }
        reply
    });
    let Ending::Failed(failure) = machine.install(&ControlPlane::start(plan)) else { panic!("it did not fail") };
    assert_eq!(failure.trouble, Trouble::DiskFailed);
    assert!(failure.detail.starts_with("the disks have changed since they were chosen: sdb ("), "{}", failure.detail);
    assert!([machine.content("sda"), machine.content("sdb")] == before);
}

#[test]
fn a_disk_that_gives_back_something_else_is_found_out() {
    let machine = TestMachine::with(DISKS);
    let disk = machine.disk("sdb");
    let plan = Plan::raw(&os_image(5), &json!({"serial": "OS-1"})).scripted(move |seen, reply| {
        // All of it is written by then.
        if seen.body.contains("\"percent\":80") {
            std::fs::OpenOptions::new().write(true).open(&disk).unwrap().write_all_at(b"other", 2 << 20).unwrap();
        }
        reply
    });
    let Ending::Failed(failure) = machine.install(&ControlPlane::start(plan)) else { panic!("it did not fail") };
    assert_eq!(failure.trouble, Trouble::DiskFailed);
    assert!(failure.detail.starts_with("what sdb (") && failure.detail.contains(" gives back has the SHA-256 "), "{}", failure.detail);
}
