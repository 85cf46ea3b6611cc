//! The keeper dies at every commit of a replace, in each of three ways, on machines of each role. It must end the same.

use std::collections::BTreeSet;

use model::{Action, OperationResult, Power, Provisioning, Role, Span};

use super::stage::{PRESERVE, REPLACE, ask, identity, latest, new_board, site, target};
use crate::rig::Death;

/// What a run comes to, as far as a crash must not change it.
#[derive(Debug, PartialEq)]
struct Outcome {
    result: OperationResult,
    provisioning: Provisioning,
    identity: String,
    power: Power,
    holds: Vec<&'static str>,
    volumes: Option<Vec<String>>,
    deleted: Vec<String>,
    voters: BTreeSet<String>,
    tokens: usize,
}

fn run(role: Role, action: Action, is_linked: bool, death: Option<(u32, Death)>) -> (Outcome, u32) {
    let mut rig = site();
    let name = target(role);
    let parts = &mut rig.device(&name).board.parts;
    (parts.serial_number, parts.is_linked) = ("sn2".into(), is_linked);
    rig.commits = 0;
    rig.death = death;
    ask(&mut rig, &name, action, Some(new_board()));
    assert!(rig.run_until_idle(Span::hours(6)), "{role:?} with {death:?} does not end");
    rig.check_log();
    let commits = rig.commits;
    rig.run_for(Span::minutes(10));
    let operation = latest(&rig);
    let machine = rig.desk.snapshot.machines[&name].clone();
    let parts = rig.device(&name).board.parts.clone();
    let outcome = Outcome {
        result: operation.ended.expect("it has ended").result,
        provisioning: machine.provisioning,
        identity: identity(&rig, &name),
        power: rig.device(&name).power,
        holds: machine.holds.iter().map(|hold| hold.owner.code()).collect(),
        volumes: parts.volumes,
        deleted: parts.deleted,
        voters: rig.etcd.members.iter().filter(|member| !member.is_learner).map(|member| member.name.clone()).collect(),
        tokens: rig.tokens.len(),
    };
    (outcome, commits)
}

fn crash_everywhere(role: Role, action: Action, is_linked: bool, result: OperationResult) {
    let (calm, commits) = run(role, action, is_linked, None);
    assert_eq!(calm.result, result);
    for commit in 1..=commits {
        for death in [Death::Uncommitted, Death::Unsent, Death::Unanswered] {
            let (crashed, _) = run(role, action, is_linked, Some((commit, death)));
            assert_eq!(crashed, calm, "{role:?} died at commit {commit}, {death:?}");
        }
    }
}

#[test]
fn a_replace_of_a_compute_machine_ends_the_same_wherever_the_keeper_dies() {
    crash_everywhere(Role::Compute, REPLACE, true, OperationResult::Succeeded);
}

#[test]
fn a_replace_that_preserves_volumes_of_a_management_machine_ends_the_same_wherever_the_keeper_dies() {
    crash_everywhere(Role::Management, PRESERVE, true, OperationResult::Succeeded);
}

#[test]
fn a_replace_of_a_control_plane_machine_ends_the_same_wherever_the_keeper_dies() {
    crash_everywhere(Role::ControlPlane, REPLACE, true, OperationResult::Succeeded);
}

#[test]
fn a_replace_whose_hardware_does_not_match_fails_the_same_wherever_the_keeper_dies() {
    crash_everywhere(Role::Compute, REPLACE, false, OperationResult::Failed);
}
