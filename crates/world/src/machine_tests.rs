//! A reset and what time makes of it, on one machine.

use super::*;

const AROUND: Surroundings<'static> = Surroundings {
    pace: &Pace::REAL,
    site_seed: 1,
    name: "rack1compute01",
    boot_factor: 1,
    first: &BootSource::Disk,
    disk: Disk::Bootable(Membership::Member),
};

/// Lets everything due until `until` happen, and says what it was.
fn pass(machine: &mut Machine, until: Instant) -> Vec<Happening> {
    let mut happenings = Vec::new();
    while let Some(at) = machine.next_at().filter(|&at| at <= until) {
        happenings.extend(machine.step(at, AROUND));
    }
    happenings
}

fn off() -> Machine {
    Machine { power: Power::Off, host: Host::Down, boots: 1, starts: 1, calls_at: None, call: 0 }
}

#[test]
fn on_takes_its_time_and_then_the_host_boots_with_a_new_boot_id() {
    let mut machine = off();
    assert_eq!(machine.reset(ResetType::On, Instant(0), AROUND).0, ResetAnswer::Accepted);
    assert_eq!(machine.power_state(), PowerState::PoweringOn);
    assert_eq!(pass(&mut machine, Instant(20_000)), [Happening::PoweredOn]);
    assert!(!machine.is_up());
    assert_eq!(pass(&mut machine, Instant(20_000 + 264_000)), [Happening::HostCameUp]);
    assert_ne!(machine.boot_id(), Machine::running(AROUND).boot_id());
}

#[test]
fn boots_differ_by_at_most_a_tenth() {
    let spans: Vec<i64> = (0..200).map(|boot| AROUND.boot_span(boot).0).collect();
    assert!(spans.iter().all(|span| (216_000..=264_000).contains(span)), "{spans:?}");
    assert_ne!(spans[0], spans[1]);
}

#[test]
fn a_graceful_shutdown_is_ignored_while_no_operating_system_runs() {
    let mut machine = off();
    machine.reset(ResetType::On, Instant(0), AROUND);
    pass(&mut machine, Instant(20_000));
    assert_eq!(machine.reset(ResetType::GracefulShutdown, Instant(21_000), AROUND).0, ResetAnswer::Ignored);
    pass(&mut machine, Instant(300_000));
    assert!(machine.is_up());
}

#[test]
fn a_graceful_shutdown_reads_on_until_it_reads_off() {
    let mut machine = Machine::running(AROUND);
    let (answer, happenings) = machine.reset(ResetType::GracefulShutdown, Instant(0), AROUND);
    assert_eq!((answer, happenings), (ResetAnswer::Accepted, vec![Happening::HostLeft]));
    pass(&mut machine, Instant(59_999));
    assert_eq!(machine.power_state(), PowerState::On);
    assert_eq!(pass(&mut machine, Instant(60_000)), [Happening::PoweredOff]);
    assert_eq!(machine.power_state(), PowerState::Off);
}

#[test]
fn an_on_during_a_shutdown_is_answered_and_lost() {
    let mut machine = Machine::running(AROUND);
    machine.reset(ResetType::GracefulShutdown, Instant(0), AROUND);
    assert_eq!(machine.reset(ResetType::On, Instant(1_000), AROUND).0, ResetAnswer::Ignored);
    pass(&mut machine, Instant(600_000));
    assert_eq!(machine.power_state(), PowerState::Off);
}

#[test]
fn an_on_while_power_is_being_cut_is_a_conflict() {
    let mut machine = Machine::running(AROUND);
    machine.reset(ResetType::ForceOff, Instant(0), AROUND);
    assert_eq!(machine.reset(ResetType::On, Instant(1_000), AROUND).0, ResetAnswer::InTransition);
}

#[test]
fn a_force_off_overtakes_a_shutdown() {
    let mut machine = Machine::running(AROUND);
    machine.reset(ResetType::GracefulShutdown, Instant(0), AROUND);
    machine.reset(ResetType::ForceOff, Instant(1_000), AROUND);
    assert_eq!(pass(&mut machine, Instant(6_000)), [Happening::PoweredOff]);
    assert_eq!(machine.next_at(), None);
}

#[test]
fn an_off_that_overtakes_an_on_is_no_power_cut() {
    let mut machine = off();
    machine.reset(ResetType::On, Instant(0), AROUND);
    machine.reset(ResetType::ForceOff, Instant(1_000), AROUND);
    assert_eq!(pass(&mut machine, Instant(600_000)), []);
    assert_eq!(machine.power_state(), PowerState::Off);
}

#[test]
fn restarts_need_something_that_runs() {
    for reset in [ResetType::PowerCycle, ResetType::GracefulRestart, ResetType::ForceRestart] {
        assert_eq!(off().reset(reset, Instant(0), AROUND).0, ResetAnswer::NotOn);
        let mut machine = Machine::running(AROUND);
        assert_eq!(machine.reset(reset, Instant(0), AROUND).0, ResetAnswer::Accepted);
        pass(&mut machine, Instant(600_000));
        assert!(machine.is_up(), "{reset}");
        assert_eq!(machine.boots, 2, "{reset}");
    }
}

#[test]
fn a_machine_without_an_operating_system_stays_at_its_firmware() {
    let mut machine = Machine::bare();
    let around = Surroundings { disk: Disk::Empty, ..AROUND };
    machine.reset(ResetType::On, Instant(0), around);
    assert_eq!(machine.step(Instant(20_000), around), [Happening::PoweredOn]);
    assert_eq!(machine.next_at(), None);
    assert!(!machine.is_up());
}
