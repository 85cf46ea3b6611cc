//! The keeper dies at every commit of every kind of operation, in each of three ways. The operation must end the same.

use model::{Action, Ask, Conditions, Errand, OperationResult, OsDiskSeen, Shutdown, Span, TenantClusterName, VmSpec, VmState};

use super::rig::{Death, Rig};
use super::script::{play, vm_name};

/// What a run comes to, as far as a crash must not change it.
#[derive(Debug, PartialEq)]
struct Outcome {
    results: Vec<(OperationResult, String)>,
    state: Option<VmState>,
    document: Option<String>,
    /// A crash must not throw a second disk away.
    os_disk: Option<OsDiskSeen>,
}

fn run(site: &str, ask: &Ask, deaf: bool, death: Option<(u32, Death)>, down_for: Span) -> (Outcome, Vec<Errand>, u32) {
    let (mut rig, _) = play(site);
    if deaf {
        rig.kubevirt.body("fw").habits.shutdown_takes = None;
    }
    (rig.commits, rig.death, rig.down_for) = (0, death, down_for);
    rig.request("alice", ask.clone(), None);
    assert!(rig.run_until_idle(Span::hours(3)), "{ask:?} with {death:?} does not end");
    let commits = rig.commits;
    rig.run_for(Span::minutes(2), &mut |_, _, _, _| {});
    (outcome(&rig), rig.asked().to_vec(), commits)
}

fn outcome(rig: &Rig) -> Outcome {
    let ended = rig.operations().into_iter().filter_map(|operation| operation.ended);
    Outcome {
        results: ended.map(|ended| (ended.result, ended.message)).collect(),
        state: rig.kubevirt.vms.values().next().map(|body| body.seen.state),
        os_disk: rig.kubevirt.vms.values().next().and_then(|body| body.seen.os_disk.clone()),
        document: rig.snapshot.vms.values().next().map(|vm| format!("{:?} {:?} {:?}", vm.provisioning, vm.uid, vm.machine)),
    }
}

fn crash_everywhere(site: &str, ask: &Ask, deaf: bool) {
    let (calm, asked, commits) = run(site, ask, deaf, None, Span::seconds(1));
    assert_eq!(calm.results.len(), 1);
    assert_eq!(calm.results[0].0, OperationResult::Succeeded, "{ask:?}: {}", calm.results[0].1);
    assert!(commits >= 2, "{ask:?} is told of in {commits} commits");
    for commit in 1..=commits {
        for death in [Death::Uncommitted, Death::Unsent, Death::Unanswered] {
            let (crashed, repeated, _) = run(site, ask, deaf, Some((commit, death)), Span::seconds(1));
            assert_eq!(crashed, calm, "{ask:?} died at commit {commit}, {death:?}");
            assert!(repeated.len() <= asked.len() + 1, "{ask:?} died at commit {commit}, {death:?}: asked {repeated:?}");
        }
    }
}

fn act(action: Action) -> Ask {
    Ask::ActOnVm { vm: vm_name("fw"), action, conditions: Conditions::default() }
}

const RUNNING: &str = "
    machine rack1compute01
    vm fw running rack1compute01
";
const STOPPED: &str = "
    machine rack1compute01
    vm fw stopped rack1compute01
";

#[test]
fn every_action_on_a_running_one_ends_the_same_wherever_the_keeper_dies() {
    let graceful = Action::PowerOff { shutdown: Shutdown::Graceful };
    let hard = Action::PowerOff { shutdown: Shutdown::Skip };
    for action in [graceful, hard, Action::Restart, Action::Reimage { safeguard: model::Safeguard::All }, Action::Delete] {
        crash_everywhere(RUNNING, &act(action), false);
    }
}

#[test]
fn every_action_on_a_stopped_one_ends_the_same_wherever_the_keeper_dies() {
    for action in [Action::Start, Action::Restart, Action::Reimage { safeguard: model::Safeguard::All }, Action::Delete] {
        crash_everywhere(STOPPED, &act(action), false);
    }
}

#[test]
fn a_deaf_system_is_forced_off_wherever_the_keeper_dies() {
    crash_everywhere(RUNNING, &act(Action::PowerOff { shutdown: Shutdown::Graceful }), true);
}

#[test]
fn a_creation_ends_the_same_wherever_the_keeper_dies() {
    let spec = VmSpec { cpu_cores: 2, memory_gb: 4, image: "fw:1".into(), admin_username: "admin".into(), ..VmSpec::default() };
    let put = Ask::PutVm { vm: vm_name("fw"), spec: Box::new(spec), tags: [].into(), conditions: Conditions::default() };
    crash_everywhere("machine rack1compute01", &put, false);
}

#[test]
fn the_restart_of_a_tenant_node_ends_the_same_wherever_the_keeper_dies() {
    let site = "
        machine rack1compute01
        node naks-01-agentpool1-a of naks-01 agentpool1 on rack1compute01
    ";
    let cluster = TenantClusterName::new("naks-01").unwrap();
    crash_everywhere(site, &Ask::RestartNode { cluster, node: "naks-01-agentpool1-a".into() }, false);
}

#[test]
fn a_keeper_that_was_away_for_an_hour_does_not_force_a_system_that_was_never_asked() {
    let ask = act(Action::Restart);
    let (calm, _, commits) = run(RUNNING, &ask, false, None, Span::hours(1));
    for commit in 1..=commits {
        for death in [Death::Unsent, Death::Unanswered] {
            let (crashed, asked, _) = run(RUNNING, &ask, false, Some((commit, death)), Span::hours(1));
            assert_eq!(crashed, calm, "died at commit {commit}, {death:?}");
            let is_forced = |errand: &Errand| matches!(errand, Errand::StopVm { shutdown: Shutdown::Skip, .. });
            assert!(!asked.iter().any(is_forced), "died at commit {commit}, {death:?}: {asked:?}");
        }
    }
}
