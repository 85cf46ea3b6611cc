//! A keeper that is away for long: what it missed costs time, and nothing else.

use model::{DeviceAsk, Fact, Role, Span, StepKind};

use super::stage::{REIMAGE, ask, ending, latest, site, succeeded, target};
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
    run_until(&mut rig, |operation| operation.done_at(StepKind::AgentOn).is_some());
    rig.down_for = Span::hours(8);
    rig.die();
    assert!(rig.run_until_idle(Span::hours(4)));
    let operation = latest(&rig);
    assert!(succeeded(&operation), "{}", ending(&operation));
    let resumed = operation.journal.iter().position(|entry| entry.fact == Fact::Resumed);
    let told = operation.journal.iter().position(|entry| matches!(entry.fact, Fact::Reported { .. }));
    assert!(resumed < told, "{:?}", operation.journal);
}
