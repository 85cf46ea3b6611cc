//! A keeper that is away for long: what it missed costs time, and nothing else.

use model::{DeviceAsk, Fact, MachineReport, Role, Span, StepKind};

use super::stage::{REIMAGE, ask, ending, latest, reimage, site, succeeded, target};
use crate::rig::Rig;

const HOST: Role = Role::Compute;

fn run_until(rig: &mut Rig, is_there: impl Fn(&model::Operation) -> bool) {
    for _ in 0..100_000 {
        if is_there(&latest(rig)) {
            return;
        }
        rig.run_for(Span::millis(200));
    }
    panic!("it never comes to that");
}

#[test]
fn a_report_that_is_the_first_thing_a_new_keeper_hears_does_not_make_its_operation_late() {
    let mut rig = site();
    ask(&mut rig, &target(HOST), REIMAGE);
    let is_nearly_done =
        |entry: &model::Entry| matches!(entry.fact, Fact::Reported { report: MachineReport::Progress { percent: 90 }, .. });
    run_until(&mut rig, |operation| operation.journal.iter().any(is_nearly_done));
    rig.down_for = Span::hours(8);
    rig.die();
    assert!(rig.run_until_idle(Span::hours(4)));
    let operation = latest(&rig);
    assert!(succeeded(&operation), "{}", ending(&operation));
    let resumed = operation.journal.iter().position(|entry| entry.fact == Fact::Resumed);
    let is_written = |entry: &model::Entry| matches!(entry.fact, Fact::Reported { report: MachineReport::Written { .. }, .. });
    let told = operation.journal.iter().position(is_written);
    assert!(resumed.is_some() && resumed < told, "{:?}", operation.journal);
}

#[test]
fn a_join_token_that_nobody_has_used_is_made_anew_before_it_ends() {
    let mut rig = site();
    ask(&mut rig, &target(HOST), REIMAGE);
    run_until(&mut rig, |operation| operation.done_at(StepKind::MintJoinToken).is_some());
    rig.down_for = Span::hours(2);
    rig.die();
    assert!(rig.run_until_idle(Span::hours(4)));
    let operation = latest(&rig);
    assert!(succeeded(&operation), "{}", ending(&operation));
    let renewed_at = operation.last_asked(DeviceAsk::MintJoinToken).unwrap().0;
    assert!(Some(renewed_at) < operation.done_at(StepKind::PhoneHome), "{:?}", operation.journal);
    assert_eq!(operation.last_asked(DeviceAsk::MintJoinToken).unwrap().1, 2);
    assert_eq!(rig.tokens.len(), 0);
}

#[test]
fn a_system_that_takes_its_time_finds_its_token_alive() {
    let mut rig = site();
    rig.device(&target(HOST)).board.phones_home = false;
    let operation = reimage(&mut rig, HOST);
    let minted: Vec<_> = operation
        .journal
        .iter()
        .filter(|entry| matches!(entry.fact, Fact::Asked { ask: DeviceAsk::MintJoinToken, .. }))
        .map(|entry| entry.at)
        .collect();
    assert_eq!(minted.len(), 2, "{}", ending(&operation));
    assert!(minted[1] < minted[0] + Span::minutes(21));
}
