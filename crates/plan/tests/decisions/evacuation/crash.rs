//! The keeper dies at every commit of emptying and filling a machine, in each of three ways. It must end the same, and nothing
//! that ran may be forgotten.

use std::collections::BTreeSet;

use model::{
    Action, Ask, Errand, Evacuate, Grace, MachineName, OperationResult, Outage, Power, Provisioning, Role, RunStrategy, Shutdown, Span,
};

use plan::ErrandStep;

use crate::desk;
use crate::rig::{Death, Rig};

const EVACUATE: Action = Action::Cordon { evacuate: Evacuate::Yes };
const POWER_OFF: Action = Action::PowerOff { shutdown: Shutdown::Graceful };

fn target() -> MachineName {
    desk::name("rack1compute01")
}

/// Virtual machines of every kind, a node of ours to cordon and one of somebody else's, and pods under a budget.
pub fn occupied() -> Rig {
    let mut rig = Rig::new();
    let now = rig.desk.now;
    rig.add(desk::machine(target().as_str(), Role::Compute, Provisioning::Provisioned, now), Power::On);
    let lodging = &mut rig.lodging;
    lodging.add_vm("fw1", &target(), RunStrategy::Always, None);
    lodging.add_vm("fw2", &target(), RunStrategy::Manual, None);
    lodging.add_vm("fw3", &target(), RunStrategy::Halted, None);
    lodging.add_node("n1", "naks01", "pool1", &target(), now);
    lodging.add_node("n2", "naks01", "pool1", &target(), now);
    lodging.nodes.get_mut("n2").unwrap().is_unschedulable = true;
    for name in ["web-1", "web-2"] {
        lodging.add_pod(name, "naks01", "n1", Some("Deployment")).budgets = vec!["web".to_owned()];
    }
    lodging.add_pod("log-1", "naks01", "n1", Some("DaemonSet"));
    lodging.budgets.insert("web".to_owned(), 1);
    rig.run_for(Span::minutes(1));
    rig
}

/// What a run comes to, as far as a crash must not change it.
#[derive(Debug, PartialEq)]
struct Outcome {
    result: OperationResult,
    running: BTreeSet<String>,
    cordoned: BTreeSet<String>,
    skipped: BTreeSet<String>,
    holds: Vec<&'static str>,
    remembered: BTreeSet<String>,
    power_cycles: (u32, u32),
}

fn act(rig: &mut Rig, action: Action) {
    rig.desk.request("alice", Ask::Act { machine: target(), action, outage: Outage::Refused, replacement: None }, None);
    rig.run_for(Span::seconds(2));
    assert!(rig.run_until_idle(Span::hours(2)), "{action:?} does not end");
}

fn run(before: &[Action], action: Action, death: Option<(u32, Death)>, down_for: Span) -> (Outcome, u32) {
    let mut rig = occupied();
    rig.down_for = down_for;
    for earlier in before {
        act(&mut rig, *earlier);
        rig.run_for(Span::minutes(2));
    }
    rig.commits = 0;
    rig.death = death;
    act(&mut rig, action);
    rig.check_log();
    let commits = rig.commits;
    rig.run_for(Span::minutes(15));
    let last = rig.operations().max_by_key(|operation| operation.accepted_at).unwrap().clone();
    let machine = rig.desk.snapshot.machines[&target()].clone();
    let memory = machine.evacuated.as_ref();
    let vms = memory.into_iter().flat_map(|memory| memory.vms.iter().map(|stopped| stopped.vm.to_string()));
    let nodes = memory.into_iter().flat_map(|memory| memory.nodes.iter().map(|entry| format!("node {}", entry.node)));
    let remembered = vms.chain(nodes).collect();
    let device = rig.device(&target());
    let power_cycles = (device.went_off, device.went_on);
    let skipped = rig.lodging.skipped.iter().filter(|(_, is_skipped)| **is_skipped).map(|(node, _)| node.clone()).collect();
    assert!(!rig.lodging.requests.iter().any(|(_, errand)| matches!(errand, Errand::DeletePod { .. })), "a pod was deleted");
    let outcome = Outcome {
        result: last.ended.as_ref().expect("it has ended").result,
        running: rig.lodging.running(),
        cordoned: rig.lodging.cordoned(),
        skipped,
        holds: machine.holds.iter().map(|hold| hold.owner.code()).collect(),
        remembered,
        power_cycles,
    };
    (outcome, commits)
}

fn crash_everywhere(before: &[Action], action: Action) -> Outcome {
    let (calm, commits) = run(before, action, None, Span::ZERO);
    assert_eq!(calm.result, OperationResult::Succeeded);
    assert!(commits >= 4, "only {commits} commits to die at");
    for commit in 1..=commits {
        for death in [Death::Uncommitted, Death::Unsent, Death::Unanswered] {
            let (crashed, _) = run(before, action, Some((commit, death)), Span::seconds(1));
            assert_eq!(crashed, calm, "{action:?} died at commit {commit}, {death:?}");
        }
        // Only a commit that was durable can be gone back to after so long: the request itself would have expired.
        for death in [Death::Unsent, Death::Unanswered] {
            let (crashed, _) = run(before, action, Some((commit, death)), Span::hours(1));
            assert_eq!(crashed, calm, "{action:?} died for an hour at commit {commit}, {death:?}");
        }
    }
    calm
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn an_evacuation_ends_the_same_wherever_the_keeper_dies() {
    let calm = crash_everywhere(&[], EVACUATE);
    assert_eq!(calm.running, names(&[]));
    assert_eq!(calm.cordoned, names(&["n1", "n2"]));
    assert_eq!(calm.remembered, names(&["fw1", "fw2", "n1", "n2", "node n1", "node n2"]));
}

#[test]
fn a_return_ends_the_same_wherever_the_keeper_dies() {
    let calm = crash_everywhere(&[EVACUATE], Action::Uncordon);
    assert_eq!(calm.running, names(&["fw1", "fw2", "n1", "n2"]));
    assert_eq!((calm.cordoned, calm.skipped), (names(&["n2"]), names(&[])));
    assert_eq!((calm.holds, calm.remembered), (vec![], names(&[])));
}

#[test]
fn a_restart_restores_what_ran_wherever_the_keeper_dies() {
    let calm = crash_everywhere(&[], Action::Restart);
    assert_eq!(calm.running, names(&["fw1", "fw2", "n1", "n2"]));
    assert_eq!((calm.cordoned, calm.skipped), (names(&["n2"]), names(&[])));
    assert_eq!((calm.remembered, calm.power_cycles), (names(&[]), (1, 1)));
}

#[test]
fn a_power_off_and_a_start_restore_what_ran_wherever_the_keeper_dies() {
    let calm = crash_everywhere(&[], POWER_OFF);
    assert_eq!(calm.running, names(&[]));
    let calm = crash_everywhere(&[POWER_OFF], Action::Start);
    assert_eq!(calm.running, names(&["fw1", "fw2", "n1", "n2"]));
    assert_eq!((calm.cordoned, calm.remembered), (names(&["n2"]), names(&[])));
}

/// Plans that nobody makes: each must be found out.
#[test]
fn errands_without_right_or_record_are_found_out() {
    let rig = occupied();
    let pod = rig.lodging.pods[&(crate::lodging::tenant("naks01"), "web-1".to_owned())].seen.pod.clone();
    let (cluster, grace) = (crate::lodging::tenant("naks01"), Grace::Own);
    let vm = rig.lodging.vms[&crate::lodging::vm_name("fw1")].seen.reference();
    let forged = [
        Errand::StopVm { vm: vm.clone(), shutdown: Shutdown::Graceful },
        Errand::StartVm { vm },
        Errand::Evict { cluster: cluster.clone(), pod: pod.clone(), grace },
        Errand::DeletePod { cluster: cluster.clone(), pod, grace },
        Errand::CordonNode { cluster: cluster.clone(), node: "n1".into() },
        Errand::UncordonNode { cluster: cluster.clone(), node: "n1".into() },
        Errand::MarkOutOfService { cluster, node: "n1".into() },
    ];
    for errand in forged {
        let mut plan = rig.desk.plan();
        let step = ErrandStep { machine: Some(target()), operation: None, errand, node: None, attempt: 1, reason: String::new() };
        plan.errands.push(step.clone());
        assert_ne!(plan::invariants::check(&rig.desk.snapshot, &plan), [], "{} goes unnoticed", step.errand);
    }
}
