//! Which tenants a story begins with, in its own words. These lines stand after `site …`, before anything happens.
//!
//! ```text
//! with tenants seed                   the article's: VM firewallvnf, and naks-01 with its four nodes and something to drain
//! vm web1 on rack1compute01 2cpu 8g   a virtual machine; also `stopped`, `stubborn`, `ephemeral`
//! tenant naks-01 nodes a@rack1compute01 agentpool2/b@rack1compute02 cp@rack1compute02
//!                                     a cluster: `cp…` are of its control plane, others of agentpool1 unless they say
//! deployment web x3 in naks-01 500m 256Mi pdb 2
//!                                     also `statefulset`, `daemonset` and `bare`; `pdb 2` wants two available
//! ```

use sim::{ClusterNode, Tenancy, TenantCluster, TenantVm, VmDisk, VmManner, VmPower, Workload, WorkloadKind};

const VERSION: &str = "v1.32.4";

/// How many cores and GiB a tenant's node has.
const CORES: u32 = 8;
const MEMORY_GIB: u32 = 32;

/// The tenants that a text describes, line by line.
pub fn tenancy_of(text: &str) -> Tenancy {
    let mut tenancy = Tenancy::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        assert!(describes(&mut tenancy, line), "`{line}` describes no tenants");
    }
    tenancy
}

/// Takes a line in if it describes tenants.
pub fn describes(tenancy: &mut Tenancy, line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["with", "tenants", "seed"] => SEED.iter().for_each(|line| assert!(describes(tenancy, line), "`{line}` describes tenants")),
        ["vm", name, "on", machine, ref rest @ ..] => tenancy.vms.push(vm(name, machine, rest)),
        ["tenant", name, "nodes", ref nodes @ ..] => tenancy.clusters.push(TenantCluster {
            name: name.to_owned(),
            version: VERSION.to_owned(),
            nodes: nodes.iter().map(|text| node(text)).collect(),
            workloads: Vec::new(),
        }),
        [kind, name, copies, "in", cluster, ref rest @ ..] => {
            let Some(kind) = workload_kind(kind) else { return false };
            let cluster = tenancy.clusters.iter_mut().find(|known| known.name == cluster);
            let cluster = cluster.unwrap_or_else(|| panic!("`{line}`: the cluster is described before what runs in it"));
            cluster.workloads.push(workload(kind, name, copies, rest));
        }
        _ => return false,
    }
    true
}

/// The article's site, with machine names that have no hyphens.
const SEED: [&str; 5] = [
    "vm firewallvnf on rack1compute01 4cpu 16g",
    "tenant naks-01 nodes naks-01-agentpool1-md-tjr8k-4qqx4@rack1compute01 agentpool2/naks-01-agentpool2-md-zzrw8-gg8rx@rack1compute01 \
     agentpool2/naks-01-agentpool2-md-zzrw8-lqrmt@rack1compute02 control/naks-01-control-plane-rmwqr@rack1compute02",
    "deployment web x3 in naks-01 100m 128Mi pdb 2",
    "statefulset db x1 in naks-01",
    "daemonset agent x0 in naks-01",
];

fn vm(name: &str, machine: &str, words: &[&str]) -> TenantVm {
    let mut vm = TenantVm::new(name, machine, 2, 8);
    for word in words {
        match *word {
            "stopped" => vm.power = VmPower::Stopped,
            "stubborn" => vm.manner = VmManner::Stubborn,
            "ephemeral" => vm.disk = VmDisk::Ephemeral,
            size => match (size.strip_suffix("cpu"), size.strip_suffix('g')) {
                (Some(cores), _) => vm.cores = number(cores),
                (_, Some(memory)) => vm.memory_gib = number(memory),
                _ => panic!("`{size}` says nothing of a virtual machine"),
            },
        }
    }
    vm
}

/// `a@machine`, `pool/a@machine`, or `cp@machine` for the control plane, whose pool may also be called `control`.
fn node(text: &str) -> ClusterNode {
    let (name, machine) = text.split_once('@').unwrap_or_else(|| panic!("`{text}` is not `node@machine`"));
    let (pool, name) = match name.split_once('/') {
        Some(("control", name)) => (None, name),
        Some((pool, name)) => (Some(pool), name),
        None if name.starts_with("cp") => (None, name),
        None => (Some("agentpool1"), name),
    };
    let pool = pool.map(str::to_owned);
    ClusterNode { name: name.to_owned(), machine: machine.to_owned(), pool, cores: CORES, memory_gib: MEMORY_GIB }
}

fn workload_kind(word: &str) -> Option<WorkloadKind> {
    match word {
        "deployment" => Some(WorkloadKind::Deployment),
        "statefulset" => Some(WorkloadKind::StatefulSet),
        "daemonset" => Some(WorkloadKind::DaemonSet),
        "bare" => Some(WorkloadKind::Bare),
        _ => None,
    }
}

fn workload(kind: WorkloadKind, name: &str, copies: &str, words: &[&str]) -> Workload {
    let mut workload = Workload::new(kind, name, number(copies.trim_start_matches('x')));
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match (*word, word.strip_suffix("Mi"), word.strip_suffix('m')) {
            ("pdb", ..) => workload.min_available = words.next().map(|least| number(least)),
            (_, Some(memory), _) => workload.memory_mib = number(memory),
            (_, None, Some(cpu)) => workload.cpu_millis = number(cpu),
            _ => panic!("`{word}` says nothing of a workload"),
        }
    }
    workload
}

fn number(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number"))
}
