//! Tenants of a made-up site: enough to see machines being emptied and filled again.

use sim::{ClusterNode, Tenancy, TenantCluster, TenantVm, VmPower, Workload, WorkloadKind};

/// What the made-up cluster runs.
const VERSION: &str = "v1.32.4";

/// A cluster `naks-01` and a few virtual machines in the first two racks.
pub fn made_up(racks: u32, machines_per_rack: u32) -> Tenancy {
    let control_servers = if racks == 1 { 3 } else { 2 };
    let compute = machines_per_rack.saturating_sub(control_servers);
    // A site without compute machines has nowhere to put anything.
    if compute == 0 {
        return Tenancy::default();
    }
    let machine = |rack: u32, number: u32| format!("rack{}compute{:02}", rack.min(racks), number.min(compute));
    let node = |name: &str, machine: String, pool: Option<&str>| ClusterNode {
        name: name.to_owned(),
        machine,
        pool: pool.map(str::to_owned),
        cores: 8,
        memory_gib: 32,
    };
    let pools = ["agentpool1", "agentpool2"];
    let nodes = vec![
        node("naks-01-agentpool1-md-tjr8k-4qqx4", machine(1, 1), Some(pools[0])),
        node("naks-01-agentpool2-md-zzrw8-gg8rx", machine(1, 2), Some(pools[1])),
        node("naks-01-agentpool2-md-zzrw8-lqrmt", machine(2, 1), Some(pools[1])),
        node("naks-01-control-plane-rmwqr", machine(2, 2), None),
    ];
    let workloads = vec![
        Workload { min_available: Some(2), ..Workload::new(WorkloadKind::Deployment, "web", 3) },
        Workload::new(WorkloadKind::StatefulSet, "db", 2),
        Workload::new(WorkloadKind::DaemonSet, "agent", 0),
    ];
    let stopped = TenantVm { power: VmPower::Stopped, ..TenantVm::new("sandbox", &machine(1, 1), 2, 8) };
    Tenancy {
        vms: vec![
            TenantVm::new("firewallvnf", &machine(1, 1), 4, 16),
            TenantVm::new("router", &machine(1, 2), 4, 16),
            TenantVm::new("probe", &machine(2, 1), 2, 8),
            stopped,
        ],
        clusters: vec![TenantCluster { name: "naks-01".to_owned(), version: VERSION.to_owned(), nodes, workloads }],
    }
}
