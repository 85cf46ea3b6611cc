//! Random workloads, people and accidents: what ran before an evacuation runs after the return, and nothing else does.

use std::collections::BTreeSet;

use model::{
    Action, Ask, Delivery, DrainPolicy, Errand, Evacuate, Fault, FaultClass, MachineName, Outage, Power, Provisioning, Role, RunStrategy,
    Shutdown, Span,
};
use proptest::prelude::*;

use crate::desk;
use crate::lodging::{tenant, vm_name};
use crate::rig::{Death, Rig};

/// As many as take about ten seconds without optimization.
const CASES: u32 = 60;

#[derive(Clone, Debug)]
struct Workload {
    vms: Vec<(RunStrategy, Option<u64>)>,
    /// Whether somebody else has cordoned it, and had it left alone.
    nodes: Vec<(bool, bool)>,
    pods: Vec<Pod>,
    budgets: [u32; 2],
    policy: DrainPolicy,
}

#[derive(Clone, Debug)]
struct Pod {
    node: usize,
    owner: &'static str,
    budget: Option<usize>,
    ends_after: u64,
    has_finalizers: bool,
}

/// What befalls the site while it is emptied or filled.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Accident {
    ApiDown,
    ApiUp,
    EvictionsFail,
    EvictionsWork,
    KubevirtFails,
    KubevirtWorks,
    UndercloudSilent,
    UndercloudBack,
    Crash(u64),
    Cancel,
}

/// What a person does to a virtual machine while it is stopped.
#[derive(Clone, Copy, Debug)]
enum Doing {
    Start,
    StartAndStop,
    Delete,
}

fn workload() -> impl Strategy<Value = Workload> {
    let run = prop::sample::select(vec![RunStrategy::Always, RunStrategy::Always, RunStrategy::Manual, RunStrategy::Halted]);
    let owner = prop::sample::select(vec!["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"]);
    let pod = (0_usize..3, owner, prop::option::of(0_usize..2), 1_u64..90, prop::bool::weighted(0.1))
        .prop_map(|(node, owner, budget, ends_after, has_finalizers)| Pod { node, owner, budget, ends_after, has_finalizers });
    let policy = prop::sample::select(vec![DrainPolicy::Wait, DrainPolicy::Hold, DrainPolicy::Force]);
    (
        prop::collection::vec((run, prop::option::weighted(0.8, 1_u64..300)), 0..4),
        prop::collection::vec((prop::bool::weighted(0.3), prop::bool::weighted(0.2)), 0..4),
        prop::collection::vec(pod, 0..7),
        [0_u32..3, 0_u32..3],
        policy,
    )
        .prop_map(|(vms, nodes, pods, budgets, policy)| Workload { vms, nodes, pods, budgets, policy })
}

fn accidents() -> impl Strategy<Value = Vec<(u64, Accident)>> {
    let accident = prop_oneof![
        Just(Accident::ApiDown),
        Just(Accident::ApiUp),
        Just(Accident::EvictionsFail),
        Just(Accident::EvictionsWork),
        Just(Accident::KubevirtFails),
        Just(Accident::KubevirtWorks),
        Just(Accident::UndercloudSilent),
        Just(Accident::UndercloudBack),
        (0_u64..4_000).prop_map(Accident::Crash),
        Just(Accident::Cancel),
    ];
    prop::collection::vec((0_u64..400, accident), 0..6)
}

fn target() -> MachineName {
    desk::name("rack1compute01")
}

fn build(workload: &Workload) -> Rig {
    let mut rig = Rig::new();
    let now = rig.desk.now;
    rig.add(desk::machine(target().as_str(), Role::Compute, Provisioning::Provisioned, now), Power::On);
    let lodging = &mut rig.lodging;
    for (n, (run, stop_takes)) in workload.vms.iter().enumerate() {
        lodging.add_vm(&format!("vm{n}"), &target(), *run, None).stop_takes = stop_takes.map(Span::seconds);
    }
    for (n, (is_cordoned, is_skipped)) in workload.nodes.iter().enumerate() {
        let name = format!("n{n}");
        lodging.add_node(&name, "naks01", "pool1", &target(), now);
        lodging.nodes.get_mut(&name).unwrap().is_unschedulable = *is_cordoned;
        lodging.skipped.insert(name, *is_skipped);
    }
    for (n, pod) in workload.pods.iter().enumerate().filter(|(_, pod)| pod.node < workload.nodes.len()) {
        let body = lodging.add_pod(&format!("p{n}"), "naks01", &format!("n{}", pod.node), Some(pod.owner));
        body.budgets = pod.budget.iter().map(|budget| format!("b{budget}")).collect();
        body.ends_after = Span::seconds(pod.ends_after);
        body.seen.has_finalizers = pod.has_finalizers;
    }
    for (n, allowed) in workload.budgets.iter().enumerate() {
        lodging.budgets.insert(format!("b{n}"), *allowed);
    }
    lodging.set_policy("naks01", workload.policy);
    rig.run_for(Span::minutes(1));
    rig
}

fn act(rig: &mut Rig, action: Action) {
    rig.desk.request("alice", Ask::Act { machine: target(), action, outage: Outage::Refused, replacement: None }, None);
    rig.run_for(Span::seconds(2));
}

fn befall(rig: &mut Rig, accident: Accident) {
    let fault = Fault::new(FaultClass::Garbled, Delivery::No, "random");
    let unreachable = Fault::new(FaultClass::Unreachable, Delivery::No, "random");
    let lodging = &mut rig.lodging;
    match accident {
        Accident::ApiDown => drop(lodging.api_faults.insert(tenant("naks01"), unreachable)),
        Accident::ApiUp => drop(lodging.api_faults.remove(&tenant("naks01"))),
        Accident::EvictionsFail => lodging.eviction_fault = Some(fault),
        Accident::EvictionsWork => lodging.eviction_fault = None,
        Accident::KubevirtFails => lodging.kubevirt_fault = Some(fault),
        Accident::KubevirtWorks => lodging.kubevirt_fault = None,
        Accident::UndercloudSilent => rig.undercloud_fault = Some(unreachable),
        Accident::UndercloudBack => rig.undercloud_fault = None,
        Accident::Crash(seconds) => {
            rig.down_for = Span::seconds(seconds);
            rig.die();
        }
        Accident::Cancel => {
            let running = rig.desk.snapshot.running_on(&target()).map(|operation| operation.id.clone());
            if let Some(operation) = running {
                rig.desk.request("bob", Ask::Cancel { operation }, None);
            }
        }
    }
}

fn suffer(rig: &mut Rig, accidents: &[(u64, Accident)]) {
    for (after, accident) in accidents {
        rig.run_for(Span::seconds(*after));
        befall(rig, *accident);
        rig.run_for(Span::ZERO);
    }
}

fn mend(rig: &mut Rig) {
    for accident in [Accident::ApiUp, Accident::EvictionsWork, Accident::KubevirtWorks, Accident::UndercloudBack] {
        befall(rig, accident);
    }
    assert!(rig.run_until_idle(Span::hours(2)), "it is still running long after the world behaves");
}

/// Restores what ran: who is meant to run, who is cordoned and left alone, and that nothing is kept in mind.
fn check_restored(rig: &Rig, running: &BTreeSet<String>, cordoned: &BTreeSet<String>, skipped: &[(String, bool)]) {
    let machine = &rig.desk.snapshot.machines[&target()];
    assert_eq!(machine.evacuated, None, "waits: {:?}", machine.waits);
    assert_eq!(rig.lodging.running(), *running, "other virtual machines run than before");
    assert_eq!(rig.lodging.cordoned(), *cordoned, "other nodes are cordoned than before");
    let now: Vec<(String, bool)> = rig.lodging.skipped.iter().map(|(node, is_skipped)| (node.clone(), *is_skipped)).collect();
    assert_eq!(now, *skipped, "other Machines are left alone than before");
    assert!(machine.holds.is_empty());
}

fn check_force(rig: &Rig, workload: &Workload) {
    let deleted = rig.lodging.requests.iter().any(|(_, errand)| matches!(errand, Errand::DeletePod { .. }));
    assert!(!deleted || workload.policy == DrainPolicy::Force, "a pod was deleted without anybody's leave");
    let tainted = rig.lodging.requests.iter().any(|(_, errand)| matches!(errand, Errand::MarkOutOfService { .. }));
    assert!(!tainted, "a node was let go without anybody's leave");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn what_ran_before_an_evacuation_runs_after_the_return(
        workload in workload(),
        forth in accidents(),
        back in accidents(),
        death in (1_u32..30, prop::sample::select(vec![Death::Uncommitted, Death::Unsent, Death::Unanswered])),
    ) {
        let mut rig = build(&workload);
        let (running, cordoned) = (rig.lodging.running(), rig.lodging.cordoned());
        let skipped: Vec<_> = rig.lodging.skipped.clone().into_iter().collect();
        rig.commits = 0;
        rig.death = Some(death);
        act(&mut rig, Action::Cordon { evacuate: Evacuate::Yes });
        suffer(&mut rig, &forth);
        mend(&mut rig);
        act(&mut rig, Action::Uncordon);
        suffer(&mut rig, &back);
        mend(&mut rig);
        rig.run_for(Span::minutes(10));
        // One that was cancelled, or did not get through, leaves the machine held.
        act(&mut rig, Action::Uncordon);
        mend(&mut rig);
        rig.run_for(Span::minutes(40));
        check_restored(&rig, &running, &cordoned, &skipped);
        check_force(&rig, &workload);
        rig.check_log();
    }

    #[test]
    fn a_restart_restores_what_ran(workload in workload(), accidents in accidents()) {
        let mut rig = build(&workload);
        let (running, cordoned) = (rig.lodging.running(), rig.lodging.cordoned());
        let skipped: Vec<_> = rig.lodging.skipped.clone().into_iter().collect();
        act(&mut rig, Action::Restart);
        suffer(&mut rig, &accidents);
        mend(&mut rig);
        if rig.device(&target()).power == Power::Off {
            act(&mut rig, Action::Start);
            mend(&mut rig);
        }
        rig.run_for(Span::minutes(40));
        check_restored(&rig, &running, &cordoned, &skipped);
        check_force(&rig, &workload);
    }

    #[test]
    fn what_a_person_did_meanwhile_wins(
        workload in workload(),
        doings in prop::collection::vec((0_usize..4, prop::sample::select(vec![Doing::Start, Doing::StartAndStop, Doing::Delete])), 0..4),
    ) {
        let mut rig = build(&Workload { policy: DrainPolicy::Wait, ..workload.clone() });
        let mut expected = rig.lodging.running();
        act(&mut rig, Action::Cordon { evacuate: Evacuate::Yes });
        mend(&mut rig);
        for (vm, doing) in doings.into_iter().filter(|(vm, _)| *vm < workload.vms.len()) {
            do_to(&mut rig, &format!("vm{vm}"), doing, &mut expected);
        }
        act(&mut rig, Action::Uncordon);
        mend(&mut rig);
        rig.run_for(Span::minutes(20));
        prop_assert_eq!(rig.lodging.running(), expected);
    }

    #[test]
    fn nothing_is_stopped_over_pods_under_hold_nor_under_wait_before_the_time_is_up(workload in workload(), accidents in accidents()) {
        let mut rig = build(&workload);
        let limits = rig.desk.snapshot.cluster.limits.clone();
        let began_at = rig.desk.now;
        act(&mut rig, Action::Cordon { evacuate: Evacuate::Yes });
        // A cluster whose API does not answer is passed over sooner; and a keeper's absence does not make the time shorter.
        let patience = if accidents.iter().any(|(_, accident)| *accident == Accident::ApiDown) {
            limits.unreachable_timeout
        } else {
            limits.drain_timeout
        };
        suffer(&mut rig, &accidents);
        mend(&mut rig);
        for (at, vm) in &rig.lodging.stopped_over_pods {
            prop_assert!(workload.policy != DrainPolicy::Hold, "{} was stopped over pods that are held", vm);
            prop_assert!(at.since(began_at) >= patience, "{} was stopped over pods after {}", vm, at.since(began_at));
        }
    }
}

fn do_to(rig: &mut Rig, vm: &str, doing: Doing, expected: &mut BTreeSet<String>) {
    let name = vm_name(vm);
    if !rig.lodging.vms.contains_key(&name) {
        return;
    }
    let now = rig.desk.now;
    match doing {
        Doing::Start => {
            rig.lodging.start(&name, now);
            expected.insert(vm.to_owned());
        }
        Doing::StartAndStop => {
            rig.lodging.start(&name, now);
            rig.run_for(Span::minutes(1));
            rig.lodging.stop(&name, Shutdown::Skip, rig.desk.now);
            expected.remove(vm);
        }
        Doing::Delete => {
            rig.lodging.vms.remove(&name);
            expected.remove(vm);
        }
    }
    rig.run_for(Span::minutes(1));
}
