//! Tenants' workloads for a whole site: on each compute machine one virtual machine and two nodes of a tenant cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{
    Amount, BudgetSeen, InstancePhase, InstanceSeen, LabelSelector, MachineName, Neighbourhood, NodeOf, PodDemands, PodOwner, PodPhase,
    PodRef, PodSeen, Readiness, Role, RunStrategy, Site, Span, TenantClusterName, TenantNodeSeen, Timestamp, VmName, VmSeen, VmState,
};
use plan::{Inside, Tenants};

pub const PODS_PER_MACHINE: u64 = 20;

const NODES_PER_MACHINE: usize = 2;

/// Machines that a tenant cluster is spread over: its nodes are twice as many.
const MACHINES_PER_TENANT: usize = 100;

/// Pods of one workload. Every fifth workload keeps its pods on nodes of their own, and each has a budget.
const REPLICAS: usize = 5;

pub fn fill(site: &Site, now: Timestamp) -> Tenants {
    let mut tenants = Tenants::default();
    tenants.listed_at = Some(now);
    let compute: Vec<&MachineName> =
        site.machines.iter().filter(|machine| machine.role == Role::Compute).map(|machine| &machine.name).collect();
    // The site has as many pods as it has machines, times twenty; they run on its compute machines.
    let pods = site.machines.len() * usize::try_from(PODS_PER_MACHINE).expect("a small constant");
    let per_node = pods.div_ceil(compute.len().max(1) * NODES_PER_MACHINE);
    for (number, machines) in compute.chunks(MACHINES_PER_TENANT).enumerate() {
        let name = TenantClusterName::new(format!("naks-{number:02}")).expect("a constant shape");
        let mut inside = Inside::default();
        inside.listed_at = Some(now);
        inside.contact.answered(now);
        fill_cluster(&mut tenants, &mut inside, &name, machines, per_node);
        tenants.insides.insert(name, inside);
    }
    for machine in compute {
        tenants.set_vm(vm(&format!("vm-{machine}"), machine, None));
    }
    tenants
}

fn fill_cluster(tenants: &mut Tenants, inside: &mut Inside, name: &TenantClusterName, machines: &[&MachineName], per_node: usize) {
    let nodes: Vec<(String, &MachineName)> =
        machines.iter().flat_map(|machine| (0..NODES_PER_MACHINE).map(move |at| (format!("{name}-{machine}-{at}"), *machine))).collect();
    for (node, machine) in &nodes {
        tenants.set_vm(vm(node, machine, Some(name)));
        inside.nodes.insert(node.clone(), Arc::new(tenant_node(node, per_node)));
    }
    for at in 0..nodes.len() * per_node {
        let workload = at / REPLICAS;
        inside.set_pod(pod(at, workload, &nodes[at % nodes.len()].0));
        if at % REPLICAS == 0 {
            let budget = budget(workload);
            inside.budgets.insert((budget.namespace.clone(), budget.name.clone()), Arc::new(budget));
        }
    }
}

fn vm(name: &str, machine: &MachineName, cluster: Option<&TenantClusterName>) -> VmSeen {
    let instance = InstanceSeen {
        uid: format!("instance-of-{name}"),
        node: Some(machine.to_string()),
        phase: InstancePhase::Running,
        ready: Readiness::True,
        is_ending: false,
    };
    VmSeen {
        name: VmName::new(name).expect("a constant shape"),
        uid: format!("uid-of-{name}"),
        run: RunStrategy::Always,
        state: VmState::Running,
        message: None,
        instance: Some(instance),
        cpu_cores: 16,
        memory_bytes: 64 << 30,
        grace: Span::seconds(180),
        node_of: cluster.map(|cluster| NodeOf { cluster: cluster.clone(), pool: None }),
        created_at: None,
        os_disk: None,
    }
}

/// A node with a little more room than its own pods take, so that those of another fit, some here and some there.
fn tenant_node(name: &str, pods: usize) -> TenantNodeSeen {
    let millis = u64::try_from(pods).unwrap_or(u64::MAX).saturating_mul(600);
    TenantNodeSeen {
        name: name.to_owned(),
        uid: format!("uid-of-{name}"),
        ready: Readiness::True,
        ready_since: None,
        is_unschedulable: false,
        is_cordoned_by_us: false,
        is_out_of_service: false,
        version: "v1.33.1".to_owned(),
        boot_id: "5f1d0c66-6a2b-4c1e-9d3e-000000000000".to_owned(),
        machine: None,
        allocatable: Amount { cpu_millis: millis, memory_bytes: 64 << 30 },
        pod_limit: 110,
        taints: Vec::new(),
        labels: Arc::new([("kubernetes.io/hostname".to_owned(), name.to_owned())].into()),
    }
}

fn labels(workload: usize) -> BTreeMap<String, String> {
    [("app".to_owned(), format!("app-{workload}"))].into()
}

fn namespace(workload: usize) -> String {
    format!("team-{:02}", workload % 20)
}

fn pod(at: usize, workload: usize, node: &str) -> PodSeen {
    let near = Neighbourhood {
        selector: LabelSelector { equal: labels(workload), ..LabelSelector::default() },
        topology_key: "kubernetes.io/hostname".to_owned(),
    };
    let apart_from = if workload.is_multiple_of(5) { vec![near] } else { Vec::new() };
    PodSeen {
        pod: PodRef { namespace: namespace(workload), name: format!("app-{workload}-{at}"), uid: format!("uid-of-{at}") },
        phase: PodPhase::Running,
        ready: Readiness::True,
        owner: Some(PodOwner { kind: "ReplicaSet".to_owned(), name: format!("app-{workload}") }),
        is_mirror: false,
        has_local_storage: false,
        termination: None,
        grace: Span::seconds(30),
        node: Some(node.to_owned()),
        has_finalizers: false,
        requests: Amount { cpu_millis: 500, memory_bytes: 512 << 20 },
        labels: Arc::new(labels(workload)),
        demands: Arc::new(PodDemands { apart_from, ..PodDemands::default() }),
    }
}

fn budget(workload: usize) -> BudgetSeen {
    BudgetSeen {
        namespace: namespace(workload),
        name: format!("app-{workload}"),
        selector: LabelSelector { equal: labels(workload), ..LabelSelector::default() },
        allowed: 1,
        healthy: 5,
        needed: 4,
        is_counted: true,
        spares_unready: false,
    }
}
