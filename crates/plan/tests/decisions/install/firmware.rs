//! Nothing is switched off while its BMC writes firmware, whenever that begins.

use expect_test::expect;
use model::{Action, DeviceAsk, Role, RunStrategy, Safeguard, Span, StepKind};

use super::stage::{REIMAGE, ask, ending, latest, site, succeeded, target, verdict};
use crate::rig::Rig;

const HOST: Role = Role::Compute;

/// Runs until this step is the next, or this was asked.
fn run_until(rig: &mut Rig, is_there: impl Fn(&model::Operation) -> bool) {
    for _ in 0..100_000 {
        if is_there(&latest(rig)) {
            return;
        }
        rig.run_for(Span::millis(200));
    }
    panic!("it never comes to that");
}

fn waits(rig: &Rig) -> String {
    rig.desk.snapshot.machines[&target(HOST)].waits.iter().map(|wait| wait.kind.to_string()).collect()
}

#[test]
fn a_firmware_job_that_begins_while_the_machine_is_emptied_holds_the_power_off_back() {
    let mut rig = site();
    rig.lodging.add_vm("fw1", &target(HOST), RunStrategy::Always, None);
    rig.run_for(Span::minutes(1));
    let id = ask(&mut rig, &target(HOST), Action::Reimage { safeguard: Safeguard::None });
    assert_eq!(verdict(&rig, &id), "accepted");
    run_until(&mut rig, |operation| operation.done_at(StepKind::Survey).is_some());
    rig.device(&target(HOST)).board.busy_with_firmware();
    rig.run_for(Span::hours(1));
    assert!(latest(&rig).done_at(StepKind::StopVms).is_some());
    assert_eq!(rig.device(&target(HOST)).went_off, 0);
    expect!["the BMC's firmware job `Firmware Update: iDRAC` to end"].assert_eq(&waits(&rig));
    rig.device(&target(HOST)).board.survey.jobs = Some(Vec::new());
    assert!(rig.run_until_idle(Span::hours(2)));
    assert!(succeeded(&latest(&rig)), "{}", ending(&latest(&rig)));
}

#[test]
fn a_firmware_job_that_begins_after_the_graceful_request_holds_the_forced_one_back() {
    let mut rig = site();
    rig.device(&target(HOST)).habits.shutdown_takes = None;
    ask(&mut rig, &target(HOST), REIMAGE);
    run_until(&mut rig, |operation| operation.last_asked(DeviceAsk::GracefulOff).is_some());
    rig.device(&target(HOST)).board.busy_with_firmware();
    rig.run_for(Span::hours(1));
    assert_eq!(latest(&rig).last_asked(DeviceAsk::ForceOff), None);
    rig.device(&target(HOST)).board.survey.jobs = Some(Vec::new());
    assert!(rig.run_until_idle(Span::hours(2)));
    assert!(succeeded(&latest(&rig)), "{}", ending(&latest(&rig)));
}

#[test]
fn a_firmware_job_that_begins_under_the_agent_holds_the_power_off_after_it_back_until_the_time_is_up() {
    let mut rig = site();
    ask(&mut rig, &target(HOST), REIMAGE);
    run_until(&mut rig, |operation| operation.last_asked(DeviceAsk::AgentOn).is_some());
    rig.device(&target(HOST)).board.busy_with_firmware();
    assert!(rig.run_until_idle(Span::hours(4)));
    assert_eq!(latest(&rig).last_asked(DeviceAsk::AgentOff), None);
    let told = ending(&latest(&rig));
    assert!(told.contains("Agent Off did not end in time; it waited for the BMC's firmware job `Firmware Update: iDRAC` to end"), "{told}");
    assert_eq!(rig.device(&target(HOST)).went_off, 1, "only before the agent");
}
