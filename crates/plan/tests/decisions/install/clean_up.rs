//! An installation that is given up while its machine was set to start the agent: the machine is switched off, and starts from its
//! disk again.

use expect_test::expect;
use model::{Ask, Delivery, DeviceAsk, Fault, FaultClass, LookAt, MachineReport, OperationId, Power, Role, SourceSeen, Span, StepKind};

use super::stage::{REIMAGE, ask, ending, latest, reimage, site, succeeded, target, verdict};
use crate::rig::Rig;
use crate::rig::board::Agent;

/// How the machine itself is left.
fn set(rig: &mut Rig) -> (Power, Option<String>, SourceSeen) {
    let device = rig.device(&target(Role::Compute));
    (device.power, device.board.media.clone(), device.board.source)
}

const CLEAN: (Power, Option<String>, SourceSeen) = (Power::Off, None, SourceSeen::Disk);

pub fn run_to(rig: &mut Rig, step: StepKind) {
    while latest(rig).done_at(step).is_none() {
        rig.run_for(Span::seconds(1));
    }
}

#[test]
fn whatever_the_agent_did_wrong_it_does_not_go_on() {
    for agent in [Agent::Greedy, Agent::WrongDigest, Agent::Silent, Agent::Absent, Agent::Stalls(20)] {
        let mut rig = site();
        rig.device(&target(Role::Compute)).board.agent = agent.clone();
        let operation = reimage(&mut rig, Role::Compute);
        assert!(!succeeded(&operation));
        assert_eq!(set(&mut rig), CLEAN, "{agent:?}: {}", ending(&operation));
        rig.device(&target(Role::Compute)).board.agent = Agent::Works;
        let again = reimage(&mut rig, Role::Compute);
        assert!(succeeded(&again), "{agent:?}: {}", ending(&again));
    }
}

#[test]
fn what_is_told_of_an_attempt_that_was_given_up_is_not_heard() {
    let mut rig = site();
    rig.device(&target(Role::Compute)).board.agent = Agent::Greedy;
    ask(&mut rig, &target(Role::Compute), REIMAGE);
    while !latest(&rig).is_cleaning_up() {
        rig.run_for(Span::seconds(1));
    }
    let attempt = rig.device(&target(Role::Compute)).board.attempt.clone().unwrap();
    let id = rig.desk.request("machine", Ask::Report { attempt, report: MachineReport::Progress { percent: 90 } }, None);
    rig.run_for(Span::seconds(1));
    expect![[r#"
        what `rack1compute01` tells of its installation is not heard: rule attempt-running: operation op1 has given it up
        remedy: nothing to do for the machine; a person reads `rackwright operation show op1`"#]]
    .assert_eq(&verdict(&rig, &id));
}

#[test]
fn a_cancel_of_an_installation_that_is_going_on_stops_the_agent() {
    let mut rig = site();
    let id = ask(&mut rig, &target(Role::Compute), REIMAGE);
    run_to(&mut rig, StepKind::AgentOn);
    rig.run_for(Span::seconds(80));
    rig.desk.request("alice", Ask::Cancel { operation: OperationId::new(id.as_str()) }, None);
    assert!(rig.run_until_idle(Span::hours(1)));
    assert_eq!(set(&mut rig), CLEAN);
    expect![[r#"
        Canceled: cancelled by alice during Write Image. Left behind: power Off; holds installation by alice, operation op1.
        next: rackwright bmm reimage rack1compute01
    "#]]
    .assert_eq(&ending(&latest(&rig)));
}

#[test]
fn a_bmc_that_falls_silent_does_not_keep_a_failed_installation_going() {
    let mut rig = site();
    rig.device(&target(Role::Compute)).board.agent = Agent::Greedy;
    ask(&mut rig, &target(Role::Compute), REIMAGE);
    run_to(&mut rig, StepKind::AgentOn);
    rig.device(&target(Role::Compute)).bmc_fault = Some(Fault::new(FaultClass::Unreachable, Delivery::No, "no answer"));
    assert!(rig.run_until_idle(Span::hours(1)));
    expect![[r#"
        Failed (InstallFailed): reimage failed: the token was used twice, or by another machine (its token was shown for the second time at 10:03:02Z); the machine may have been restarted meanwhile, or its network is open to others. Left behind: power unknown, the BMC is unreachable; holds installation by alice, operation op1; the agent may still run; its image may be in the virtual drive; the machine may not be set to start from its disk
        next: rackwright bmm show rack1compute01
    "#]].assert_eq(&ending(&latest(&rig)));
}

#[test]
fn a_bmc_that_does_not_know_of_its_jobs_any_more_is_cleaned_up_all_the_same() {
    let mut rig = site();
    rig.device(&target(Role::Compute)).board.agent = Agent::Stalls(40);
    ask(&mut rig, &target(Role::Compute), REIMAGE);
    run_to(&mut rig, StepKind::AgentOn);
    let missing = Fault::new(FaultClass::Missing, Delivery::No, "404");
    rig.device(&target(Role::Compute)).board.look_faults = [(LookAt::Survey, missing)].into();
    assert!(rig.run_until_idle(Span::hours(4)));
    assert!(ending(&latest(&rig)).contains("31 % written. Left behind: power Off"), "{}", ending(&latest(&rig)));
    assert_eq!(set(&mut rig), (Power::Off, None, SourceSeen::Disk));
}

#[test]
fn what_the_bmc_does_not_do_is_told_as_left_behind() {
    let mut rig = site();
    let board = &mut rig.device(&target(Role::Compute)).board;
    board.agent = Agent::Greedy;
    board.ignored.extend([DeviceAsk::EjectMedia, DeviceAsk::BootFromDisk]);
    let operation = reimage(&mut rig, Role::Compute);
    expect![[r#"
        Failed (InstallFailed): reimage failed: the token was used twice, or by another machine (its token was shown for the second time at 10:03:02Z); the machine may have been restarted meanwhile, or its network is open to others. Left behind: power Off; holds installation by alice, operation op1; its image may be in the virtual drive; the machine may not be set to start from its disk
        next: rackwright bmm reimage rack1compute01
    "#]].assert_eq(&ending(&operation));
}
