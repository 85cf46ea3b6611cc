//! Installations that go well, and those that go well in spite of something.

use std::time::Duration;

use serde_json::Value;

use crate::disk::{differs_at, has_seed};
use crate::hall::hall;
use crate::house::{House, Plan};
use crate::machine::Firmware;
use crate::times;
use crate::wire::State;

/// What a clock says whose battery is empty, and one that somebody has set wrong: the first seconds of 1970, and of 2049.
const LONG_AGO: i64 = 7;
const FAR_AHEAD: i64 = 2_493_072_000;

/// Slow enough that something can happen while an image is sent.
const SLOWLY: u64 = 4 * 1024 * 1024;

/// Follows a reimage to its end, and holds everything against what it should be.
#[track_caller]
fn ends_well(house: &House, id: &str) {
    let (operation, waits) = house.follow(id);
    assert_eq!(operation["status"], "Succeeded", "{operation:#}\n{}", house.said());
    assert!(house.machine.tenant_is_untouched(), "somebody wrote to the tenant's disk");
    let (image, disk) = (&hall().images.os, house.machine.os_disk());
    assert_eq!(differs_at(image, &disk), None, "the disk is not the image");
    assert!(has_seed(image, &disk), "there is no seed on the disk");
    let node = house.node();
    assert_eq!(node["status"]["nodeInfo"]["osImage"], "Rackwright Tiny OS 1", "{node:#}");
    assert_eq!(node["spec"]["unschedulable"], true, "it stays cordoned");
    assert!(waits.iter().any(|wait| wait.ends_with(" %")), "an operator sees it going on: {waits:?}");
    has_told_of_itself(house, id);
    times::tell(house.machine.name, &operation);
}

/// The agent's inventory and its log are kept.
#[track_caller]
fn has_told_of_itself(house: &House, id: &str) {
    let machine = house.json(&["bmm", "show", house.machine.name]);
    let told = machine["properties"]["hardwareInventory"]["additionalHostInformation"].as_str().unwrap_or_default();
    let inventory: Value = serde_json::from_str(told).unwrap_or_default();
    let serials: Vec<&Value> = inventory["disks"].as_array().into_iter().flatten().map(|disk| &disk["serial"]).collect();
    assert!(serials.contains(&&"SYSTEM-1".into()) && serials.contains(&&"TENANT-1".into()), "{machine:#}");
    assert_eq!(inventory["firmware"], house.machine.firmware.in_words(), "{machine:#}");
    let log = house.run(&["operation", "log", id]);
    assert!(log.status.success() && String::from_utf8_lossy(&log.stdout).contains("SYSTEM-1"), "{log:?}");
}

pub fn is_writing(operation: &Value) -> bool {
    operation["wait"]["code"] == "Writing" && operation["wait"]["brief"].as_str().is_some_and(|brief| brief.ends_with(" %"))
}

#[test]
fn a_uefi_machine_gets_its_system_and_joins() {
    let house = House::build(&Plan::usual("uefi", Firmware::Uefi));
    let id = house.reimage();
    ends_well(&house, &id);
}

#[test]
fn a_bios_machine_gets_its_system_and_joins() {
    let house = House::build(&Plan::usual("bios", Firmware::Bios));
    let id = house.reimage();
    ends_well(&house, &id);
}

/// The clock is that of 1970, so that no certificate would be good yet.
#[test]
fn a_network_that_is_cut_and_then_loses_the_end_of_every_answer_costs_only_time() {
    let house = House::build(&Plan { clock: Some(LONG_AGO), ..Plan::usual("cut", Firmware::Uefi) });
    house.wire.slow_down_to(SLOWLY);
    let id = house.reimage();
    house.until(&id, "the image to be on its way", is_writing);
    house.wire.set(State::Cut);
    std::thread::sleep(Duration::from_secs(4));
    house.wire.truncate_after(6 * 1024 * 1024);
    house.wire.slow_down_to(0);
    house.wire.set(State::Whole);
    ends_well(&house, &id);
    assert!(house.wire.passed() < 2 * std::fs::metadata(&hall().images.os).expect("the image is there").len(), "it began again each time");
}

/// The clock is that of 2049.
#[test]
fn a_control_plane_that_is_killed_while_the_image_is_written_goes_on_when_it_is_back() {
    let mut house = House::build(&Plan { clock: Some(FAR_AHEAD), ..Plan::usual("killed", Firmware::Bios) });
    house.wire.slow_down_to(SLOWLY);
    let id = house.reimage();
    house.until(&id, "the image to be on its way", is_writing);
    house.kill();
    std::thread::sleep(Duration::from_secs(3));
    house.wire.slow_down_to(0);
    house.start();
    ends_well(&house, &id);
}
