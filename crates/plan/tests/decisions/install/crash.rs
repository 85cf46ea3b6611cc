//! The keeper dies at every commit of a reimage, in each of three ways, on machines of each role. It must end the same.

use std::collections::BTreeSet;

use model::{Ask, Attempt, DeviceAsk, Operation, OperationResult, Power, Provisioning, Role, SourceSeen, Span, StepKind};

use super::stage::{REIMAGE, ask, ending, latest, site_of, succeeded, target, verdict};
use crate::rig::Death;
use crate::rig::board::{Agent, Disk, exchange};

/// What a run comes to, as far as a crash must not change it.
#[derive(Debug, PartialEq)]
struct Outcome {
    result: OperationResult,
    provisioning: Provisioning,
    installed: Option<String>,
    power: Power,
    holds: Vec<&'static str>,
    is_cordoned: bool,
    disk: Disk,
    source: SourceSeen,
    media: Option<String>,
    power_cycles: (u32, u32),
    inserted: u32,
    voters: BTreeSet<String>,
    tokens: usize,
}

fn run(role: Role, agent: &Agent, death: Option<(u32, Death)>) -> (Outcome, u32) {
    let mut rig = site_of(role);
    rig.device(&target(role)).board.agent = agent.clone();
    rig.commits = 0;
    rig.death = death;
    ask(&mut rig, &target(role), REIMAGE);
    assert!(rig.run_until_idle(Span::hours(5)), "{role:?} with {death:?} does not end");
    rig.check_log();
    let commits = rig.commits;
    rig.run_for(Span::minutes(10));
    let operation = latest(&rig);
    let machine = rig.desk.snapshot.machines[&target(role)].clone();
    let voters = rig.etcd.members.iter().filter(|member| !member.is_learner).map(|member| member.name.clone()).collect();
    let tokens = rig.tokens.len();
    let device = rig.device(&target(role));
    let outcome = Outcome {
        result: operation.ended.expect("it has ended").result,
        provisioning: machine.provisioning,
        installed: machine.installed.as_ref().map(|installed| installed.version.to_string()),
        power: device.power,
        holds: machine.holds.iter().map(|hold| hold.owner.code()).collect(),
        is_cordoned: device.node.as_ref().is_some_and(|node| node.unschedulable),
        disk: device.board.disk.clone(),
        source: device.board.source,
        media: device.board.media.clone(),
        power_cycles: (device.went_off, device.went_on),
        inserted: device.board.inserted,
        voters,
        tokens,
    };
    (outcome, commits)
}

fn crash_everywhere(role: Role, agent: &Agent, result: OperationResult) {
    let (calm, commits) = run(role, agent, None);
    assert_eq!(calm.result, result);
    assert!(commits > 10, "{commits} commits");
    for commit in 1..=commits {
        for death in [Death::Uncommitted, Death::Unsent, Death::Unanswered] {
            let (crashed, _) = run(role, agent, Some((commit, death)));
            assert_eq!(crashed, calm, "{role:?} died at commit {commit}, {death:?}");
        }
    }
}

#[test]
fn a_reimage_of_a_compute_machine_ends_the_same_wherever_the_keeper_dies() {
    crash_everywhere(Role::Compute, &Agent::Works, OperationResult::Succeeded);
}

#[test]
fn a_reimage_of_a_management_machine_ends_the_same_wherever_the_keeper_dies() {
    crash_everywhere(Role::Management, &Agent::Works, OperationResult::Succeeded);
}

#[test]
fn a_reimage_of_a_control_plane_machine_ends_the_same_wherever_the_keeper_dies() {
    crash_everywhere(Role::ControlPlane, &Agent::Works, OperationResult::Succeeded);
}

#[test]
fn a_reimage_that_fails_fails_the_same_wherever_the_keeper_dies() {
    crash_everywhere(Role::Compute, &Agent::WrongDigest, OperationResult::Failed);
}

#[test]
fn reports_that_come_twice_or_out_of_order_change_nothing() {
    let (calm, _) = run(Role::Compute, &Agent::Works, None);
    let (stuttered, _) = run(Role::Compute, &Agent::Stutters, None);
    assert_eq!(stuttered, calm);
}

/// A reimage whose agent behaves so until we come back after a death, and works from then on; how it ended, and how often the machine
/// was switched on.
fn missed(before: Agent, after: Agent) -> (String, u32) {
    let (mut rig, machine) = (site_of(Role::Compute), target(Role::Compute));
    rig.device(&machine).board.agent = before;
    ask(&mut rig, &machine, REIMAGE);
    for _ in 0..600 {
        if latest(&rig).done_at(StepKind::AgentOn).is_some() {
            break;
        }
        rig.run_for(Span::seconds(1));
    }
    rig.die();
    rig.device(&machine).board.agent = after;
    assert!(rig.run_until_idle(Span::hours(2)));
    let ended = latest(&rig).ended.expect("it has ended");
    let told = ended.message.split(" of the power-on").next().unwrap_or_default().to_owned();
    (format!("{:?}: {told}", ended.result), rig.device(&machine).went_on)
}

#[test]
fn an_agent_that_calls_when_its_machine_is_already_going_off_is_not_let_in() {
    let (mut rig, machine) = (site_of(Role::Compute), target(Role::Compute));
    rig.device(&machine).board.agent = Agent::Silent;
    ask(&mut rig, &machine, REIMAGE);
    while latest(&rig).done_at(StepKind::AgentOn).is_none() {
        rig.run_for(Span::seconds(1));
    }
    rig.die();
    rig.device(&machine).board.agent = Agent::Works;
    rig.device(&machine).habits.off_after = Span::seconds(50);
    while latest(&rig).last_asked(DeviceAsk::ForceOff).is_none() {
        rig.run_for(Span::seconds(1));
    }
    let Operation { cluster, id, .. } = latest(&rig);
    let attempt = Attempt { cluster, machine, operation: id, round: 1 };
    let late = rig.desk.request("the machine", Ask::Report { attempt, report: exchange(9) }, None);
    rig.run_for(Span::seconds(4));
    assert!(verdict(&rig, &late).contains("it is being started again"), "{}", verdict(&rig, &late));
    assert!(rig.run_until_idle(Span::hours(2)));
    assert!(succeeded(&latest(&rig)), "{}", ending(&latest(&rig)));
}

#[test]
fn a_machine_whose_firmware_found_nobody_while_we_were_away_is_started_again_and_not_for_ever() {
    let installed =
        "Succeeded: `rack1compute01` was reimaged with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01";
    assert_eq!(missed(Agent::Absent, Agent::Works), (installed.to_owned(), 3), "its old system runs");
    assert_eq!(missed(Agent::Silent, Agent::Works), (installed.to_owned(), 3), "it hangs");
    let given_up = "Failed: reimage failed: no agent has called within 30m 00s";
    assert_eq!(missed(Agent::Absent, Agent::Absent), (given_up.to_owned(), 2));
}
