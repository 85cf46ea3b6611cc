//! Attempts that are ended, and systems that take no configuration.

use agent::life::Ending;
use agent::trouble::{Failure, Trouble};
use serde_json::json;

use crate::control_plane::{ControlPlane, Plan, Reply};
use crate::machine::{TestMachine, noise, os_image};

fn plan() -> Plan {
    Plan::raw(&os_image(5), &json!({"serial": "OS-1"}))
}

fn machine() -> TestMachine {
    TestMachine::with(&[("sda", "DATA-1", 3), ("sdb", "OS-1", 12)])
}

#[test]
fn an_attempt_that_is_over_before_it_begins_touches_nothing() {
    for status in [401, 409] {
        let machine = machine();
        let before = (machine.content("sda"), machine.content("sdb"));
        let control_plane = ControlPlane::start(plan().scripted(move |_, _| Reply::status(status)));
        assert_eq!(machine.install(&control_plane), Ending::Over { status });
        assert_eq!(control_plane.story(), ["exchange"]);
        assert!((machine.content("sda"), machine.content("sdb")) == before);
    }
}

#[test]
fn an_attempt_that_is_ended_in_the_middle_is_left_at_once() {
    let machine = machine();
    let (before, old) = (machine.content("sda"), machine.content("sdb"));
    let image = noise(5, 5 << 20);
    let plan = Plan::raw(&image, &json!({"serial": "OS-1"}));
    let control_plane = ControlPlane::start(plan.scripted(|seen, reply| match seen.what.as_str() {
        "report" if seen.nth >= 2 => Reply::status(409),
        _ => reply,
    }));
    assert_eq!(machine.install(&control_plane), Ending::Over { status: 409 });
    assert_eq!(control_plane.bodies("report").len(), 3);
    assert!(!control_plane.story().contains(&"report failed".to_owned()));
    // Three MiB were written when it was told; nothing was after that.
    let now = machine.content("sdb");
    assert!(now[..3 << 20] == image[..3 << 20]);
    assert!(now[3 << 20..] == old[3 << 20..]);
    assert!(machine.content("sda") == before);
}

#[test]
fn an_attempt_that_is_over_at_any_request_ends_there() {
    for what in ["log", "inventory", "log", "image", "seed"] {
        for status in [401, 409] {
            let machine = machine();
            let control_plane =
                ControlPlane::start(plan().scripted(move |seen, reply| if seen.what == what { Reply::status(status) } else { reply }));
            assert_eq!(machine.install(&control_plane), Ending::Over { status }, "{what}");
            assert_eq!(control_plane.story().last().map(String::as_str), Some(what));
        }
    }
}

#[test]
fn an_exchange_that_is_refused_ends_it() {
    let control_plane = ControlPlane::start(plan().scripted(|_, _| Reply::status(400)));
    assert!(matches!(machine().install(&control_plane), Ending::Refused { status: 400, .. }));
    let garbled = ControlPlane::start(plan().scripted(|_, reply| Reply { body: "{\"session\":1}".into(), ..reply }));
    assert!(matches!(machine().install(&garbled), Ending::Refused { status: 200, .. }));
}

#[test]
fn a_seed_that_is_refused_is_told() {
    let control_plane = ControlPlane::start(plan().scripted(|seen, reply| if seen.what == "seed" { Reply::status(404) } else { reply }));
    let ending = machine().install(&control_plane);
    assert!(matches!(ending, Ending::Failed(Failure { trouble: Trouble::SeedFailed, .. })), "{ending:?}");
}

#[test]
fn an_image_without_a_place_for_the_configuration_is_told() {
    let control_plane = ControlPlane::start(Plan::raw(&noise(3, 2 << 20), &json!({"serial": "OS-1"})));
    let ending = machine().install(&control_plane);
    assert!(matches!(ending, Ending::Failed(Failure { trouble: Trouble::Unconfigurable, .. })), "{ending:?}");
}

#[test]
fn a_disk_without_room_for_the_configuration_is_too_small() {
    let machine = TestMachine::with(&[("sda", "OS-1", 5)]);
    let control_plane = ControlPlane::start(plan());
    let Ending::Failed(failure) = machine.install(&control_plane) else { panic!("it did not fail") };
    assert_eq!(failure.trouble, Trouble::DiskTooSmall);
    assert!(failure.detail.contains("no room on the disk for a partition `cidata`"), "{}", failure.detail);
}
