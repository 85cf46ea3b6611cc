//! Installations that cannot go well: each ends with its reason, and without a byte on a wrong disk.

use crate::house::{House, Plan};
use crate::installs::is_writing;
use crate::machine::{Firmware, digest};

/// Follows a reimage to its failure. Gives back its reason.
#[track_caller]
fn fails(house: &House, id: &str) -> String {
    let (operation, _) = house.follow(id);
    assert_eq!(operation["status"], "Failed", "{operation:#}\n{}", house.said());
    assert!(house.machine.tenant_is_untouched(), "somebody wrote to the tenant's disk");
    operation["message"].as_str().unwrap_or_default().to_owned()
}

/// The machine is left off, and would start from its disk.
#[track_caller]
fn is_left_alone(house: &House) {
    assert!(!house.machine.is_on(), "nobody has switched it off");
}

#[test]
fn another_digest_than_the_runtimes_is_told_and_nothing_is_started() {
    let claimed_digest = Some("5".repeat(64));
    let house = House::build(&Plan { claimed_digest, ..Plan::usual("digest", Firmware::Bios) });
    let id = house.reimage();
    let because = fails(&house, &id);
    assert!(because.contains("digest"), "{because}");
    is_left_alone(&house);
}

#[test]
fn a_damaged_image_with_the_agent_is_told_and_nothing_is_started() {
    let house = House::build(&Plan { agent_is_damaged: true, ..Plan::usual("damaged", Firmware::Bios) });
    let id = house.reimage();
    let because = fails(&house, &id);
    assert!(because.contains("agent.iso: its digest is "), "{because}");
    assert!(house.machine.console().is_empty(), "it was started");
    is_left_alone(&house);
}

#[test]
fn a_machine_that_loses_its_power_while_it_is_written_is_told_of() {
    let house = House::build(&Plan::usual("unplugged", Firmware::Bios));
    house.wire.slow_down_to(2 * 1024 * 1024);
    let id = house.reimage();
    house.until(&id, "the image to be on its way", is_writing);
    house.machine.cut_power();
    let because = fails(&house, &id);
    assert!(because.contains("off"), "{because}");
}

#[test]
fn an_agent_that_starts_a_second_time_is_not_let_in() {
    let house = House::build(&Plan::usual("reset", Firmware::Bios));
    house.wire.slow_down_to(2 * 1024 * 1024);
    let id = house.reimage();
    house.until(&id, "the image to be on its way", is_writing);
    house.machine.reset();
    let because = fails(&house, &id);
    assert!(because.contains("token"), "{because}");
    is_left_alone(&house);
}

#[test]
fn two_disks_of_one_serial_number_and_none_are_told_before_a_byte_is_written() {
    for (name, serials, expected) in [("twins", ["SYSTEM-1", "SYSTEM-1"], "several disks"), ("missing", ["TENANT-1", "OTHER-1"], "no disk")]
    {
        let house = House::build(&Plan { serials, ..Plan::usual(name, Firmware::Bios) });
        let before = digest(&house.machine.os_disk());
        let id = house.reimage();
        let because = fails(&house, &id);
        assert!(because.contains(expected), "{because}");
        assert_eq!(digest(&house.machine.os_disk()), before, "somebody wrote to the system's disk");
        is_left_alone(&house);
    }
}
