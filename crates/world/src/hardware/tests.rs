//! A machine's hardware over time: what boots use up, what tasks change, what is kept.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::layout::{Layout, Role};
use crate::machine::ResetType;
use crate::pace::Pace;
use crate::persist::Record;
use crate::site::World;
use crate::time::Instant;

const START: Instant = Instant(1_800_000_000_000);
const MACHINE: usize = 2;

fn at(seconds: i64) -> Instant {
    START + Span::seconds(seconds)
}

fn site() -> World {
    World::new(Layout::new("east", 4, 4, 1).unwrap(), Pace::REAL, START)
}

fn iso(image: &str) -> InsertedMedia {
    InsertedMedia { image: image.to_owned(), writes: MediaWrites::Protected, user: None }
}

fn boot(enabled: BootEnabled, target: BootTarget) -> BootOverride {
    BootOverride { enabled, target, ..BootOverride::default() }
}

/// The site as it is after a stop of `pause` seconds.
fn reopened(world: &mut World, saved: &mut BTreeMap<String, Value>, pause: i64) -> World {
    world.mark_progress();
    for Record { key, value } in world.take_records() {
        match value {
            Some(value) => saved.insert(key, value),
            None => saved.remove(&key),
        };
    }
    World::restore(world.layout().clone(), Pace::REAL, saved.clone(), world.now() + Span::seconds(pause)).unwrap()
}

#[test]
fn a_boot_uses_up_an_override_that_holds_once_and_notes_where_it_looked() {
    let mut world = site();
    world.insert_media(MACHINE, MediaSlot::Cd, iso("http://images/agent.iso"), at(1)).unwrap();
    world.set_boot_override(MACHINE, boot(BootEnabled::Once, BootTarget::Cd), at(2));
    world.reset(MACHINE, ResetType::ForceRestart, at(3));
    let hardware = world.hardware(MACHINE);
    let source = BootSource::Cd { image: "http://images/agent.iso".to_owned() };
    assert_eq!(hardware.last_boot, Some(LastBoot { at: at(3), source }));
    assert_eq!(hardware.boot, BootOverride::default());
    world.reset(MACHINE, ResetType::ForceRestart, at(400));
    assert_eq!(world.hardware(MACHINE).last_boot.as_ref().unwrap().source, BootSource::Disk);
}

#[test]
fn a_continuous_override_holds_and_an_empty_drive_is_passed_over() {
    let mut world = site();
    world.set_boot_override(MACHINE, boot(BootEnabled::Continuous, BootTarget::Cd), at(1));
    world.reset(MACHINE, ResetType::PowerCycle, at(2));
    assert!(world.hardware(MACHINE).last_boot.is_none(), "the firmware starts when the power is back");
    world.advance(at(60));
    assert_eq!(world.hardware(MACHINE).last_boot.as_ref().unwrap().source, BootSource::Disk);
    assert_eq!(world.hardware(MACHINE).boot.target, BootTarget::Cd);
    world.advance(at(400));
    assert!(world.is_host_up(MACHINE));
}

#[test]
fn an_update_takes_its_time_and_one_of_the_bmc_ends_with_a_restart() {
    let mut world = site();
    let task = world.update_firmware(MACHINE, "http://images/bmc-9.9.bin", None, AfterRestart::Remembered, at(0)).unwrap();
    assert_eq!(world.update_firmware(MACHINE, "x", None, AfterRestart::Remembered, at(1)), Err(FirmwareRefusal));
    world.advance(at(479));
    assert_eq!(world.hardware(MACHINE).tasks.get(task.number).unwrap().percent(world.now()), 99);
    assert!(world.is_bmc_up(MACHINE));
    world.advance(at(480));
    assert_eq!(world.hardware(MACHINE).firmware.installed(Component::Bmc), Some("9.9"));
    assert!(!world.is_bmc_up(MACHINE));
    world.advance(at(480 + 180));
    assert!(world.is_bmc_up(MACHINE));
    assert_eq!(world.bmc_restarts(MACHINE), 1);
    assert_eq!(world.hardware(MACHINE).tasks.get(task.number).unwrap().state, TaskState::Completed { volume: None });
}

#[test]
fn some_bmcs_forget_the_update_that_restarted_them() {
    let mut world = site();
    let task = world.update_firmware(MACHINE, "http://images/bmc-9.9.bin", None, AfterRestart::Forgotten, at(0)).unwrap();
    world.advance(at(700));
    assert_eq!(world.hardware(MACHINE).firmware.installed(Component::Bmc), Some("9.9"));
    assert_eq!(world.hardware(MACHINE).tasks.get(task.number), None);
}

#[test]
fn an_image_for_something_else_fails_and_installs_nothing() {
    let mut world = site();
    let image = "http://images/bios-3.0.bin";
    let task = world.update_firmware(MACHINE, image, Some(Component::Nic), AfterRestart::Remembered, at(0)).unwrap();
    world.advance(at(480));
    let hardware = world.hardware(MACHINE);
    assert!(matches!(hardware.tasks.get(task.number).unwrap().state, TaskState::Failed { .. }));
    assert_eq!(hardware.firmware, Firmware::default());
}

#[test]
fn without_its_volume_the_operating_system_does_not_come_back() {
    let mut world = site();
    assert_eq!(world.layout().machines()[MACHINE].role, Role::Compute);
    world.reset_storage(MACHINE, at(0)).unwrap();
    assert_eq!(world.reset_storage(MACHINE, at(1)), Err(VolumeRefusal::Busy));
    world.advance(at(120));
    assert_eq!(world.hardware(MACHINE).volumes.iter().len(), 0);
    assert!(world.is_host_up(MACHINE), "it runs on from memory");
    world.reset(MACHINE, ResetType::ForceRestart, at(130));
    world.advance(at(1_000));
    assert!(!world.is_host_up(MACHINE));
    let wanted = NewVolume { name: "OS".to_owned(), level: RaidLevel::Raid1, bays: vec![0, 1] };
    let task = world.create_volume(MACHINE, wanted, at(1_000)).unwrap();
    world.advance(at(1_120));
    let TaskState::Completed { volume: Some(number) } = world.hardware(MACHINE).tasks.get(task.number).unwrap().state else {
        panic!("the volume is made");
    };
    assert_eq!(world.hardware(MACHINE).volumes.get(number).unwrap().contents, Contents::Nothing);
}

#[test]
fn a_slow_bmc_shows_the_power_of_some_seconds_ago() {
    let mut world = site();
    world.reset(MACHINE, ResetType::ForceOff, at(10));
    assert_eq!(world.power_state_noticed(MACHINE).as_str(), "On");
    world.advance(at(13));
    assert_eq!(world.power_state_noticed(MACHINE).as_str(), "PoweringOff");
    world.advance(at(17));
    assert_eq!((world.power_state(MACHINE).as_str(), world.power_state_noticed(MACHINE).as_str()), ("Off", "PoweringOff"));
    world.advance(at(18));
    assert_eq!(world.power_state_noticed(MACHINE).as_str(), "Off");
}

#[test]
fn everything_is_kept_over_a_stop_and_a_task_goes_on_where_it_was() {
    let mut world = site();
    world.insert_media(MACHINE, MediaSlot::Usb, iso("http://images/tools.img"), at(1)).unwrap();
    world.set_boot_override(MACHINE, boot(BootEnabled::Continuous, BootTarget::Pxe), at(2));
    world.set_bios(MACHINE, BTreeMap::from([("Virtualization".to_owned(), "Disabled".into())]), at(3)).unwrap();
    world.create_account(MACHINE, "eve".to_owned(), "password".to_owned(), AccountRole::ReadOnly, Standing::Enabled, at(4)).unwrap();
    world.set_session_timeout(MACHINE, Span::seconds(60), at(5));
    world.restart_bmc(MACHINE, at(10));
    let task = world.update_firmware(MACHINE, "http://images/bios-3.0.bin", None, AfterRestart::Remembered, at(10)).unwrap();
    world.advance(at(100));
    let restored = reopened(&mut world, &mut BTreeMap::new(), 8 * 3_600);
    let mut expected = world.hardware(MACHINE).clone();
    expected.tasks.shift(Span::seconds(8 * 3_600));
    assert_eq!(restored.hardware(MACHINE), &expected);
    assert_eq!(restored.hardware(MACHINE).tasks.get(task.number).unwrap().percent(restored.now()), 18);
    assert!(!restored.is_bmc_up(MACHINE));
    let mut restored = restored;
    restored.advance(restored.now() + Span::seconds(90));
    assert!(restored.is_bmc_up(MACHINE));
    assert_eq!(restored.hardware(MACHINE + 1), site().hardware(MACHINE + 1));
}

#[test]
fn a_site_that_was_saved_before_hardware_was_kept_has_it_as_delivered() {
    let mut world = site();
    let mut saved = BTreeMap::new();
    world.reset(MACHINE, ResetType::ForceOff, at(1));
    reopened(&mut world, &mut saved, 0);
    saved.retain(|key, _| !key.starts_with("hardware/"));
    for (_, machine) in saved.iter_mut().filter(|(key, _)| key.starts_with("machine/")) {
        let fields = machine.as_object_mut().unwrap();
        assert!(fields.remove("bmc_up_at").is_some() && fields.remove("bmc_restarts").is_some());
        assert!(fields["machine"].as_object_mut().unwrap().remove("starts").is_some());
        assert!(fields["counters"].as_object_mut().unwrap().remove("others").is_some());
    }
    let restored = World::restore(world.layout().clone(), Pace::REAL, saved, at(100)).unwrap();
    assert_eq!(restored.power_state(MACHINE), world.power_state(MACHINE));
    assert_eq!(restored.hardware(MACHINE), &Hardware::factory(&world.layout().machines()[MACHINE], world.layout().site_seed()));
    assert!(restored.is_bmc_up(MACHINE));
}

/// Something that somebody asks of a BMC.
#[derive(Clone, Debug)]
enum Ask {
    Reset(usize),
    Update(usize),
    ResetStorage,
    CreateVolume,
    RestartBmc,
    BootOnceFromCd,
    Bios,
    Insert,
    Eject,
}

fn ask() -> impl Strategy<Value = Ask> {
    prop_oneof![
        (0usize..6).prop_map(Ask::Reset),
        (0usize..4).prop_map(Ask::Update),
        Just(Ask::ResetStorage),
        Just(Ask::CreateVolume),
        Just(Ask::RestartBmc),
        Just(Ask::BootOnceFromCd),
        Just(Ask::Bios),
        Just(Ask::Insert),
        Just(Ask::Eject),
    ]
}

fn act(world: &mut World, machine: usize, ask: &Ask, now: Instant) {
    match ask {
        Ask::Reset(kind) => drop(world.reset(machine, ResetType::ALL[*kind], now)),
        Ask::Update(part) => {
            let image = format!("http://images/{}-2.bin", Component::ALL[*part].as_str());
            drop(world.update_firmware(machine, &image, None, AfterRestart::Forgotten, now));
        }
        Ask::ResetStorage => drop(world.reset_storage(machine, now)),
        Ask::CreateVolume => {
            let wanted = NewVolume { name: "x".to_owned(), level: RaidLevel::Raid1, bays: vec![2, 3] };
            drop(world.create_volume(machine, wanted, now));
        }
        Ask::RestartBmc => world.restart_bmc(machine, now),
        Ask::BootOnceFromCd => world.set_boot_override(machine, boot(BootEnabled::Once, BootTarget::Cd), now),
        Ask::Bios => drop(world.set_bios(machine, BTreeMap::from([("BootMode".to_owned(), "LegacyBios".into())]), now)),
        Ask::Insert => drop(world.insert_media(machine, MediaSlot::Cd, iso("http://images/a.iso"), now)),
        Ask::Eject => world.eject_media(machine, MediaSlot::Cd, now),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn hardware_does_the_same_in_one_step_or_in_many(
        asks in proptest::collection::vec((0usize..4, ask(), 0i64..300), 1..12),
        cuts in proptest::collection::vec(1i64..90_000, 1..40),
    ) {
        let (mut stepped, mut direct) = (site(), site());
        let mut cuts = cuts.into_iter().cycle();
        let mut now = START;
        for (machine, ask, after) in asks {
            let next = now + Span::seconds(after);
            while now < next {
                now = next.min(now + Span(cuts.next().unwrap_or(1)));
                stepped.advance(now);
            }
            act(&mut stepped, machine, &ask, now);
            act(&mut direct, machine, &ask, now);
        }
        let end = now + Span::seconds(900);
        while now < end {
            now = end.min(now + Span(cuts.next().unwrap_or(1)));
            stepped.advance(now);
        }
        direct.advance(end);
        for machine in 0..4 {
            prop_assert_eq!(stepped.hardware(machine), direct.hardware(machine));
            prop_assert_eq!(stepped.bmc_log(machine), direct.bmc_log(machine));
            prop_assert_eq!(stepped.is_bmc_up(machine), direct.is_bmc_up(machine));
        }
    }

    #[test]
    fn hardware_that_is_saved_and_loaded_ends_as_if_nothing_had_happened(
        asks in proptest::collection::vec((0usize..4, ask(), 0i64..300), 1..12),
        pause in 0i64..100_000,
    ) {
        let (mut whole, mut now) = (site(), START);
        for (machine, ask, after) in asks {
            now = now + Span::seconds(after);
            act(&mut whole, machine, &ask, now);
        }
        let mut broken = reopened(&mut whole.clone(), &mut BTreeMap::new(), pause);
        whole.advance(now + Span::seconds(900));
        broken.advance(broken.now() + Span::seconds(900));
        for machine in 0..4 {
            let (whole, broken) = (whole.hardware(machine), broken.hardware(machine));
            prop_assert_eq!(&whole.firmware, &broken.firmware);
            prop_assert_eq!(&whole.volumes, &broken.volumes);
            prop_assert_eq!(&whole.boot, &broken.boot);
            prop_assert_eq!(&whole.bios, &broken.bios);
            prop_assert_eq!(whole.tasks.iter().map(|task| &task.state).collect::<Vec<_>>(), broken.tasks.iter().map(|task| &task.state).collect::<Vec<_>>());
        }
    }
}
