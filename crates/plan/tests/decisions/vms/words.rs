//! What virtual machines, tenant clusters, pools and nodes are called where people read of them.

use std::collections::BTreeMap;
use std::fmt::Write;

use expect_test::expect;
use model::{
    Delivery, Fault, FaultClass, Machine, NodeRole, PoolName, PoolSeen, Power, Provisioning, Readiness, Role, Seen, Settings, Span,
    TenantCluster, TenantClusterName, TenantClusterSeen, TenantNode, Timestamp, Vm, VmProvisioning, VmState,
};
use plan::{VmStatusWords, agent_pool_status, tenant_cluster_status, tenant_node_status, vm_status};

use super::script::{play, vm_name};
use crate::desk;

const STATES: [VmState; 11] = [
    VmState::Stopped,
    VmState::Provisioning,
    VmState::Starting,
    VmState::Running,
    VmState::Paused,
    VmState::Migrating,
    VmState::Stopping,
    VmState::Terminating,
    VmState::Unschedulable,
    VmState::Failing,
    VmState::Unknown,
];

fn fw() -> Vm {
    let (rig, _) = play(
        "
        machine rack1compute01
        vm fw running rack1compute01
        ",
    );
    (*rig.snapshot.vms[&vm_name("fw")]).clone()
}

fn machine(power: Power, ready: Readiness) -> Machine {
    let mut machine = desk::machine("rack1compute01", Role::Compute, Provisioning::Provisioned, desk::morning());
    let node = model::NodeSeen { ready, ..desk::node("rack1compute01", 1) };
    machine.last_seen.power = Some(Seen { what: power, at: desk::morning() });
    machine.last_seen.node = Some(Seen { what: node, at: desk::morning() });
    machine
}

fn say(words: &VmStatusWords) -> String {
    format!("{}/{}: {}", words.detailed, words.power, words.message)
}

#[test]
fn every_state_of_a_virtual_machine_has_its_words() {
    let mut table = String::new();
    let well = machine(Power::On, Readiness::True);
    for state in STATES {
        let mut vm = fw();
        let seen = &mut vm.last_seen.as_mut().unwrap().what;
        seen.state = state;
        if matches!(state, VmState::Stopped | VmState::Unschedulable) {
            seen.instance = None;
            seen.message = Some("0/4 nodes are available".into());
        }
        writeln!(table, "{state:?} {}", say(&vm_status(&vm, Some(&well), None))).unwrap();
    }
    expect![[r#"
        Stopped Stopped/Off: The virtual machine is stopped
        Provisioning Provisioning/Off: The disks of the virtual machine are being made
        Starting Scheduling/Off: The virtual machine is being started
        Running Running/On: The virtual machine is running
        Paused Running/On: The virtual machine is paused
        Migrating Running/On: The virtual machine is moving to another machine
        Stopping Running/On: The virtual machine is shutting down
        Terminating Terminating/On: The virtual machine is being deleted
        Unschedulable Error/Off: No machine can take the virtual machine: 0/4 nodes are available
        Failing Error/On: The virtual machine cannot run
        Unknown Unknown/Unknown: The state of the virtual machine is not known
    "#]]
    .assert_eq(&table);
}

#[test]
fn one_on_a_machine_that_does_not_answer_is_not_said_to_run() {
    let mut table = String::new();
    for (power, ready) in [(Power::On, Readiness::Unknown), (Power::Off, Readiness::True), (Power::On, Readiness::False)] {
        writeln!(table, "{power:?} {ready:?} {}", say(&vm_status(&fw(), Some(&machine(power, ready)), None))).unwrap();
    }
    let mut stopped = fw();
    let seen = &mut stopped.last_seen.as_mut().unwrap().what;
    (seen.state, seen.instance) = (VmState::Stopped, None);
    let silent = machine(Power::Off, Readiness::Unknown);
    writeln!(table, "stopped {}", say(&vm_status(&stopped, Some(&silent), None))).unwrap();
    // One that waits for a place is on no machine, wherever it was before.
    let mut placeless = fw();
    let seen = &mut placeless.last_seen.as_mut().unwrap().what;
    (seen.state, seen.message) = (VmState::Unschedulable, Some("0/4 nodes are available".into()));
    seen.instance.as_mut().unwrap().node = None;
    writeln!(table, "unschedulable {}", say(&vm_status(&placeless, Some(&silent), None))).unwrap();
    expect![[r#"
        On Unknown Unknown/Unknown: Machine `rack1compute01` does not answer; the virtual machine was last seen running
        Off True Unknown/Unknown: Machine `rack1compute01` is off; the virtual machine was last seen running
        On False Running/On: The virtual machine is running
        stopped Stopped/Off: The virtual machine is stopped
        unschedulable Error/Off: No machine can take the virtual machine: 0/4 nodes are available
    "#]]
    .assert_eq(&table);
}

#[test]
fn one_that_was_never_seen_is_what_became_of_its_creation() {
    let mut table = String::new();
    for provisioning in [VmProvisioning::Accepted, VmProvisioning::Failed, VmProvisioning::Canceled, VmProvisioning::Succeeded] {
        let vm = Vm { provisioning, last_seen: None, ..fw() };
        writeln!(table, "{provisioning:?} {}", say(&vm_status(&vm, None, None))).unwrap();
    }
    expect![[r#"
        Accepted Provisioning/Off: The virtual machine is being created
        Failed Error/Off: The creation of the virtual machine failed; there is none
        Canceled Error/Off: The creation of the virtual machine was cancelled; there is none
        Succeeded Unknown/Unknown: The virtual machine has not been seen yet
    "#]]
    .assert_eq(&table);
}

#[test]
fn one_that_is_being_deleted_by_us_is_terminating_from_the_first_moment() {
    let (mut rig, _) = play(
        "
        machine rack1compute01
        vm fw running rack1compute01
        > hang
        > alice delete fw
        ",
    );
    rig.run_for(Span::ZERO, &mut |_, _, _, _| {});
    let running = rig.operations().pop().unwrap();
    let words = vm_status(&rig.snapshot.vms[&vm_name("fw")], None, Some(&running));
    assert_eq!(say(&words), "Terminating/On: The virtual machine is being deleted");
}

fn node(vm: Option<VmState>, ready: Readiness) -> TenantNode {
    TenantNode {
        role: NodeRole::Worker,
        pool: Some(pool()),
        machine: None,
        vm,
        ready,
        is_unschedulable: false,
        version: "v1.36.0".into(),
        cpu_cores: 4,
        memory_bytes: 8 << 30,
        since: Timestamp::EPOCH,
    }
}

fn pool() -> PoolName {
    PoolName::new("agentpool1").unwrap()
}

fn cluster(phase: &str, nodes: &[Readiness], count: u32, fault: bool) -> TenantCluster {
    let name = TenantClusterName::new("naks-01").unwrap();
    let fault = fault.then(|| Fault::new(FaultClass::Unreachable, Delivery::No, "connection refused"));
    TenantCluster {
        name: name.clone(),
        cluster: desk::empty_cluster(desk::morning()).name,
        settings: Settings::default(),
        pools: BTreeMap::new(),
        created_at: Timestamp::EPOCH,
        last_seen: TenantClusterSeen {
            name,
            uid: "u".into(),
            phase: phase.into(),
            version: "v1.36.0".into(),
            pools: vec![PoolSeen { name: pool(), count, version: "v1.36.0".into() }],
            machines: Vec::new(),
            created_at: None,
        },
        nodes: nodes.iter().enumerate().map(|(n, ready)| (format!("n{n}"), node(Some(VmState::Running), *ready))).collect(),
        fault: fault.map(|what| Seen { what, at: desk::morning() }),
    }
}

#[test]
fn clusters_and_pools_have_their_words() {
    use Readiness::{True, Unknown};
    let cases = [
        cluster("Provisioned", &[True, True], 2, false),
        cluster("Provisioned", &[True, Unknown], 2, false),
        cluster("Provisioned", &[Unknown, Unknown], 2, false),
        cluster("Provisioned", &[True], 2, false),
        cluster("Provisioned", &[True, True], 2, true),
        cluster("Provisioning", &[], 2, false),
        cluster("Failed", &[], 0, false),
        cluster("Deleting", &[True], 1, false),
    ];
    let mut table = String::new();
    for cluster in cases {
        let (whole, of_pool) = (tenant_cluster_status(&cluster), agent_pool_status(&cluster, &pool()));
        writeln!(table, "{}: {} | {}: {}", whole.detailed, whole.message, of_pool.detailed, of_pool.message).unwrap();
    }
    expect![[r#"
        Available: Cluster is operational and ready | Available: Agent pool is operational and ready
        Available: Cluster is operational; 1 of 2 nodes are not ready | Available: 1 of 2 nodes are not ready
        Error: None of the 2 nodes of the cluster is ready | Error: None of the 2 nodes is ready
        Available: Cluster is operational and ready | Provisioning: 1 of 2 nodes are there
        Error: The API of the cluster does not answer since 10:00:00Z: unreachable: connection refused | Error: The API of the cluster does not answer since 10:00:00Z: unreachable: connection refused
        Provisioning: Cluster is being provisioned | Provisioning: 0 of 2 nodes are there
        Error: Cluster API has failed to make the cluster | Available: Agent pool is operational and ready
        Provisioning: Cluster is being deleted | Available: Agent pool is operational and ready
    "#]].assert_eq(&table);
}

#[test]
fn nodes_have_the_words_of_their_virtual_machines_and_their_own() {
    let (well, silent) = (machine(Power::On, Readiness::True), machine(Power::On, Readiness::Unknown));
    let calm = cluster("Provisioned", &[], 0, false);
    let mut table = String::new();
    for ready in [Readiness::True, Readiness::False, Readiness::Unknown] {
        let words = tenant_node_status(&calm, &node(Some(VmState::Running), ready), Some(&well));
        writeln!(table, "{ready:?} {}", say(&words)).unwrap();
    }
    let cordoned = TenantNode { is_unschedulable: true, ..node(Some(VmState::Running), Readiness::True) };
    let running = node(Some(VmState::Running), Readiness::True);
    let deaf = cluster("Provisioned", &[], 0, true);
    for (what, words) in [
        ("cordoned", tenant_node_status(&calm, &cordoned, Some(&well))),
        ("on a silent machine", tenant_node_status(&calm, &running, Some(&silent))),
        ("of a silent cluster", tenant_node_status(&deaf, &running, Some(&well))),
        ("stopped", tenant_node_status(&calm, &node(Some(VmState::Stopped), Readiness::Unknown), Some(&silent))),
        ("without a virtual machine", tenant_node_status(&calm, &node(None, Readiness::True), None)),
    ] {
        writeln!(table, "{what} {}", say(&words)).unwrap();
    }
    expect![[r#"
        True Running/On: The node is ready
        False Error/On: The node is not ready
        Unknown Error/On: The node does not answer
        cordoned Running/On: The node is ready, and cordoned
        on a silent machine Unknown/Unknown: Machine `rack1compute01` does not answer; the node was last seen running
        of a silent cluster Running/On: The virtual machine is running; the API of the cluster does not answer
        stopped Stopped/Off: The virtual machine is stopped
        without a virtual machine Unknown/Unknown: The node has no virtual machine in the undercloud
    "#]]
    .assert_eq(&table);
}
