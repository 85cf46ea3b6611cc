//! The keeper dies at every commit of every kind of operation, in each of three ways. The operation must end the same.

use model::{
    Action, Ask, DesiredPower, DeviceAsk, Evacuate, Hold, HoldOwner, MachineName, OperationResult, Outage, Power, Provisioning, Role,
    Shutdown, Span,
};

use crate::desk;
use crate::rig::{Death, Habits, Rig};

#[derive(Clone, Debug)]
struct Case {
    action: Action,
    power: Power,
    held: bool,
    habits: Habits,
    /// How long the keeper is away.
    down_for: Span,
}

/// What a run comes to, as far as a crash must not change it.
#[derive(Debug, PartialEq)]
struct Outcome {
    result: OperationResult,
    power: Power,
    desired_power: DesiredPower,
    cordoned: bool,
    /// Kinds of owners: who owns a hold does not depend on a crash.
    holds: Vec<&'static str>,
    went_off: u32,
    went_on: u32,
}

struct Run {
    outcome: Outcome,
    requests: Vec<DeviceAsk>,
    commits: u32,
}

fn target() -> MachineName {
    desk::name("rack1compute01")
}

fn run(case: &Case, death: Option<(u32, Death)>) -> Run {
    let mut rig = Rig::new();
    let mut machine = desk::machine(target().as_str(), Role::Compute, Provisioning::Provisioned, rig.desk.now);
    if case.held {
        machine.holds.push(Hold { owner: HoldOwner::User { caller: "bob".into() }, reason: "why".into(), since: rig.desk.now });
    }
    rig.add(machine, case.power);
    rig.device(&target()).habits = case.habits.clone();
    rig.run_for(Span::minutes(5));
    rig.commits = 0;
    rig.device(&target()).requests.clear();
    rig.death = death;
    rig.down_for = case.down_for;
    rig.desk.request("alice", Ask::Act { machine: target(), action: case.action, outage: Outage::Refused, replacement: None }, None);
    rig.run_for(Span::seconds(2));
    assert!(rig.run_until_idle(Span::hours(2)), "{case:?} with {death:?} does not end");
    rig.check_log();
    let commits = rig.commits;
    // Long enough that a request which is obeyed late shows itself.
    rig.run_for(Span::minutes(15));
    Run { outcome: outcome(&mut rig), commits, requests: rig.device(&target()).requests.clone() }
}

fn outcome(rig: &mut Rig) -> Outcome {
    let operations: Vec<_> = rig.operations().cloned().collect();
    let [operation] = operations.as_slice() else { panic!("one request, but {} operations", operations.len()) };
    let machine = rig.desk.snapshot.machines[&target()].clone();
    let device = rig.device(&target());
    Outcome {
        result: operation.ended.as_ref().expect("it has ended").result,
        power: device.power,
        desired_power: machine.desired_power,
        cordoned: device.node.as_ref().is_some_and(|node| node.unschedulable),
        holds: machine.holds.iter().map(|hold| kind_of(&hold.owner)).collect(),
        went_off: device.went_off,
        went_on: device.went_on,
    }
}

fn kind_of(owner: &HoldOwner) -> &'static str {
    owner.code()
}

/// Crashes the case everywhere; returns what happens without a crash.
fn crash_everywhere(case: &Case) -> Run {
    let calm = run(case, None);
    assert_eq!(calm.outcome.result, OperationResult::Succeeded, "{case:?}");
    for commit in 1..=calm.commits {
        for death in [Death::Uncommitted, Death::Unsent, Death::Unanswered] {
            let crashed = run(case, Some((commit, death)));
            assert_eq!(crashed.outcome, calm.outcome, "{case:?} died at commit {commit}, {death:?}");
            let repeated = crashed.requests.len().saturating_sub(calm.requests.len());
            assert!(repeated <= 1, "{case:?} died at commit {commit}, {death:?}: asked {:?}", crashed.requests);
        }
    }
    calm
}

fn case(action: Action, power: Power) -> Case {
    Case { action, power, held: false, habits: Habits::default(), down_for: Span::seconds(1) }
}

fn one_cycle(run: &Run) {
    assert_eq!((run.outcome.went_off, run.outcome.went_on), (1, 1));
}

const GRACEFUL: Action = Action::PowerOff { shutdown: Shutdown::Graceful };
const HARD: Action = Action::PowerOff { shutdown: Shutdown::Skip };

/// An operating system that does not listen.
fn deaf() -> Habits {
    Habits { shutdown_takes: None, ..Habits::default() }
}

/// A BMC that obeys as late as it may, and a system that takes its time.
fn slow() -> Habits {
    let late = Span::seconds(110);
    Habits { off_after: late, on_after: late, shutdown_takes: Some(Span::minutes(6)), ..Habits::default() }
}

/// Off is obeyed late and on at once: an off that was asked twice could land after the on.
fn treacherous() -> Habits {
    Habits { off_after: Span::seconds(110), on_after: Span::seconds(1), shutdown_takes: Some(Span::seconds(15)), ..Habits::default() }
}

#[test]
fn a_restart_is_one_power_cycle_wherever_the_keeper_dies() {
    one_cycle(&crash_everywhere(&case(Action::Restart, Power::On)));
}

#[test]
fn a_restart_of_a_deaf_system_is_one_power_cycle_wherever_the_keeper_dies() {
    one_cycle(&crash_everywhere(&Case { habits: deaf(), ..case(Action::Restart, Power::On) }));
}

#[test]
fn a_restart_through_a_slow_bmc_is_one_power_cycle_wherever_the_keeper_dies() {
    one_cycle(&crash_everywhere(&Case { habits: slow(), ..case(Action::Restart, Power::On) }));
}

#[test]
fn a_late_off_never_lands_after_the_on_wherever_the_keeper_dies() {
    one_cycle(&crash_everywhere(&Case { habits: treacherous(), ..case(Action::Restart, Power::On) }));
}

#[test]
fn a_restart_of_a_held_machine_keeps_the_hold_wherever_the_keeper_dies() {
    let calm = crash_everywhere(&Case { held: true, ..case(Action::Restart, Power::On) });
    assert_eq!((calm.outcome.holds.as_slice(), calm.outcome.cordoned), (["user"].as_slice(), true));
}

#[test]
fn a_power_off_ends_the_same_wherever_the_keeper_dies() {
    for habits in [Habits::default(), deaf(), slow()] {
        for action in [GRACEFUL, HARD] {
            let calm = crash_everywhere(&Case { habits: habits.clone(), ..case(action, Power::On) });
            assert_eq!((calm.outcome.went_off, calm.outcome.went_on), (1, 0));
        }
    }
}

#[test]
fn a_start_ends_the_same_wherever_the_keeper_dies() {
    for habits in [Habits::default(), slow()] {
        let calm = crash_everywhere(&Case { habits, ..case(Action::Start, Power::Off) });
        assert_eq!((calm.outcome.went_off, calm.outcome.went_on), (0, 1));
    }
}

#[test]
fn cordon_and_uncordon_end_the_same_wherever_the_keeper_dies() {
    crash_everywhere(&case(Action::Cordon { evacuate: Evacuate::No }, Power::On));
    crash_everywhere(&Case { held: true, ..case(Action::Uncordon, Power::On) });
}

/// Only a commit that was durable can be gone back to after so long: the request itself would have expired.
#[test]
fn a_keeper_that_was_away_for_an_hour_does_not_cut_the_power_of_a_system_that_was_never_asked() {
    let case = Case { down_for: Span::hours(1), ..case(Action::Restart, Power::On) };
    let calm = run(&case, None);
    for commit in 1..=calm.commits {
        for death in [Death::Unsent, Death::Unanswered] {
            let crashed = run(&case, Some((commit, death)));
            assert_eq!(crashed.outcome, calm.outcome, "died at commit {commit}, {death:?}");
            assert!(!crashed.requests.contains(&DeviceAsk::ForceOff), "died at commit {commit}, {death:?}: {:?}", crashed.requests);
        }
    }
}
