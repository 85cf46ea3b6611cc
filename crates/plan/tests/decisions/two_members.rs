//! A second member of the control plane is asked for at every moment of the first one's absence. The rig judges by what
//! the devices know of themselves whether it may go.

use model::{Action, Ask, MachineName, OperationId, Outage, Power, Provisioning, Role, Shutdown, Span};

use crate::desk;
use crate::rig::Rig;

/// Longer than a boot and the time after which a dead node is missed.
const ABSENCE: u64 = 180;
const EVERY: usize = 4;

fn first() -> MachineName {
    desk::name("rack1control01")
}

fn second() -> MachineName {
    desk::name("rack2control01")
}

fn site() -> Rig {
    let mut rig = Rig::new();
    for name in ["rack1control01", "rack2control01", "rack3control01"] {
        rig.add(desk::machine(name, Role::ControlPlane, Provisioning::Provisioned, rig.desk.now), Power::On);
    }
    rig.run_for(Span::seconds(1));
    rig
}

fn ask(rig: &mut Rig, machine: MachineName, action: Action) {
    rig.desk.request("alice", Ask::Act { machine, action, outage: Outage::Refused, replacement: None }, None);
    rig.run_for(Span::ZERO);
}

/// How often the second member was taken at once, over all moments, with and without a new keeper just before.
fn taken_at_some_moments(absence: impl Fn(&mut Rig, Span)) -> (usize, usize) {
    let (mut taken, mut asked) = (0, 0);
    for seconds in (0..ABSENCE).step_by(EVERY) {
        for new_keeper in [false, true] {
            let mut rig = site();
            absence(&mut rig, Span::seconds(seconds));
            if new_keeper {
                rig.die();
                rig.run_for(Span::ZERO);
            }
            ask(&mut rig, second(), Action::Restart);
            asked += 1;
            taken += usize::from(rig.desk.snapshot.running_on(&second()).is_some());
            assert!(rig.run_until_idle(Span::hours(2)));
        }
    }
    (taken, asked)
}

#[track_caller]
fn assert_some_but_not_all((taken, asked): (usize, usize)) {
    assert!(taken > 0 && taken < asked, "{taken} of {asked} were taken");
}

#[test]
fn while_the_first_is_started_again() {
    assert_some_but_not_all(taken_at_some_moments(|rig, span| {
        ask(rig, first(), Action::PowerOff { shutdown: Shutdown::Skip });
        assert!(rig.run_until_idle(Span::minutes(10)));
        ask(rig, first(), Action::Start);
        rig.run_for(span);
    }));
}

#[test]
fn while_the_first_is_restarted_and_that_is_cancelled() {
    assert_some_but_not_all(taken_at_some_moments(|rig, span| {
        ask(rig, first(), Action::Restart);
        rig.run_for(span);
        rig.desk.request("bob", Ask::Cancel { operation: OperationId::new("op1") }, None);
        rig.run_for(Span::seconds(1));
    }));
}

#[test]
fn while_the_first_was_off_for_a_moment_by_somebodys_hand() {
    assert_some_but_not_all(taken_at_some_moments(|rig, span| {
        let now = rig.desk.now;
        rig.device(&first()).switch(Power::Off, now);
        rig.run_for(Span::seconds(1));
        let now = rig.desk.now;
        rig.device(&first()).switch(Power::On, now);
        rig.run_for(span);
    }));
}
