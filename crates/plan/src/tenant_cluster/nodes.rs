//! The nodes of a tenant cluster: Cluster API's machines and what its own API calls a node, each with where it runs.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    MachineName, NodeRole, PoolName, Readiness, TenantClusterSeen, TenantMachineSeen, TenantNode, TenantNodeSeen, Timestamp, VmName, VmSeen,
};

use crate::snapshot::Snapshot;
use crate::tenants::Inside;

const CONTROL_PLANE_LABEL: &str = "node-role.kubernetes.io/control-plane";
const POOL_LABEL: &str = "kubernetes.azure.com/agentpool";

pub(super) fn nodes_of(
    snapshot: &Snapshot,
    seen: &TenantClusterSeen,
    inside: Option<&Inside>,
    stored: &BTreeMap<String, TenantNode>,
    now: Timestamp,
) -> BTreeMap<String, TenantNode> {
    // Until its own API has said what there is, what was known of it stands.
    let listed = inside.filter(|inside| inside.listed_at.is_some());
    let mut names: BTreeSet<&str> = seen.machines.iter().map(|machine| machine.name.as_str()).collect();
    match listed {
        Some(inside) => names.extend(inside.nodes.keys().map(String::as_str)),
        None => names.extend(stored.keys().map(String::as_str)),
    }
    let machines: BTreeMap<&str, &TenantMachineSeen> = seen.machines.iter().map(|machine| (machine.name.as_str(), machine)).collect();
    let mut nodes = BTreeMap::new();
    for name in names {
        let vm = VmName::new(name).ok().and_then(|vm| snapshot.tenants.vms().get(&vm));
        let sources = Sources {
            snapshot,
            machine: machines.get(name).copied(),
            node: listed.and_then(|inside| inside.nodes.get(name)).map(AsRef::as_ref),
            is_listed: listed.is_some(),
            vm: vm.map(AsRef::as_ref),
            stored: stored.get(name),
        };
        let node = sources.node(seen, now);
        let kept = sources.stored.filter(|stored| TenantNode { since: stored.since, ..node.clone() } == **stored).cloned();
        nodes.insert(name.to_owned(), kept.unwrap_or(node));
    }
    nodes
}

/// Whoever has a word about a node.
struct Sources<'a> {
    snapshot: &'a Snapshot,
    machine: Option<&'a TenantMachineSeen>,
    node: Option<&'a TenantNodeSeen>,
    is_listed: bool,
    vm: Option<&'a VmSeen>,
    stored: Option<&'a TenantNode>,
}

impl Sources<'_> {
    fn node(&self, cluster: &TenantClusterSeen, now: Timestamp) -> TenantNode {
        let known = self.stored.filter(|_| !self.is_listed);
        let allocatable = self.node.map(|node| node.allocatable);
        let (ready, is_unschedulable) = match (self.node, known) {
            (Some(node), _) => (node.ready, node.is_unschedulable),
            (None, Some(known)) => (known.ready, known.is_unschedulable),
            // It has not joined, or its own API has not been heard yet.
            (None, None) => (Readiness::Unknown, false),
        };
        let version = self.node.map(|node| node.version.clone()).or_else(|| known.map(|known| known.version.clone()));
        let of_machine = || self.machine.map_or_else(|| cluster.version.clone(), |machine| machine.version.clone());
        let cpu_cores = self.vm.map(|vm| vm.cpu_cores).or_else(|| self.stored.map(|stored| stored.cpu_cores));
        let memory_bytes = self.vm.map(|vm| vm.memory_bytes).or_else(|| self.stored.map(|stored| stored.memory_bytes));
        TenantNode {
            role: self.role(),
            pool: self.pool(),
            machine: self.where_it_is(),
            vm: self.vm.map(|vm| vm.state),
            ready,
            is_unschedulable,
            version: version.filter(|version| !version.is_empty()).unwrap_or_else(of_machine),
            cpu_cores: cpu_cores.or_else(|| u32::try_from(allocatable?.cpu_millis / 1_000).ok()).unwrap_or(0),
            memory_bytes: memory_bytes.or_else(|| Some(allocatable?.memory_bytes)).unwrap_or(0),
            since: now,
        }
    }

    fn role(&self) -> NodeRole {
        let by_label = |node: &TenantNodeSeen| {
            if node.labels.contains_key(CONTROL_PLANE_LABEL) { NodeRole::ControlPlane } else { NodeRole::Worker }
        };
        let of_machine = self.machine.map(|machine| machine.role);
        of_machine.or_else(|| self.node.map(by_label)).or_else(|| self.stored.map(|stored| stored.role)).unwrap_or(NodeRole::Worker)
    }

    fn pool(&self) -> Option<PoolName> {
        let of_machine = self.machine.and_then(|machine| machine.pool.clone());
        let of_vm = || self.vm.and_then(|vm| vm.node_of.as_ref()).and_then(|node_of| node_of.pool.clone());
        let by_label = || PoolName::new(self.node?.labels.get(POOL_LABEL)?.as_str()).ok();
        of_machine.or_else(of_vm).or_else(by_label).or_else(|| self.stored.and_then(|stored| stored.pool.clone()))
    }

    /// Where its virtual machine runs, or ran last; failing that, where the node itself says it is.
    fn where_it_is(&self) -> Option<MachineName> {
        let by_vm = self.vm.and_then(VmSeen::node).and_then(|node| self.snapshot.machine_of_node(node)).cloned();
        let by_label = || {
            let name = MachineName::new(self.node?.machine.as_deref()?).ok()?;
            self.snapshot.machines.get(&name).map(|machine| machine.name.clone())
        };
        by_vm.or_else(|| self.stored.and_then(|stored| stored.machine.clone())).or_else(by_label)
    }
}
