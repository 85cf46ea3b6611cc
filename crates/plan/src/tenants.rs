//! What is known of tenants' workloads: virtual machines as KubeVirt reports them, and what each tenant cluster's own API says.
//!
//! Kept by whoever watches; decisions only read. All of it is cheap to clone.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use model::{
    BudgetSeen, Contact, Errand, ErrandState, MachineName, PodSeen, TenantClusterName, TenantClusterSeen, TenantNodeSeen, Timestamp,
    VmName, VmSeen,
};

/// Everything that was observed of tenants.
#[derive(Clone, Debug, Default)]
pub struct Tenants {
    /// When the undercloud's virtual machines and tenant clusters were first listed by this keeper. Before that nothing is known of
    /// them, and what is absent below may be there.
    pub listed_at: Option<Timestamp>,
    /// How the watches of them are. They may be cut while the undercloud's nodes are heard of, as where a right is missing.
    pub contact: Contact,
    vms: OrdMap<VmName, Arc<VmSeen>>,
    by_node: OrdMap<String, OrdSet<VmName>>,
    /// As Cluster API reports them.
    pub clusters: OrdMap<TenantClusterName, Arc<TenantClusterSeen>>,
    /// As their own APIs report them.
    pub insides: OrdMap<TenantClusterName, Inside>,
    /// Errands that are under way, and the latest answers to those that were.
    pub errands: OrdMap<Errand, Arc<ErrandState>>,
}

/// What a tenant cluster's own API says.
#[derive(Clone, Debug, Default)]
pub struct Inside {
    /// How the line to it is.
    pub contact: Contact,
    /// When its nodes, pods and budgets were first listed; nothing before.
    pub listed_at: Option<Timestamp>,
    pub nodes: OrdMap<String, Arc<TenantNodeSeen>>,
    /// By namespace and name.
    pods: OrdMap<(String, String), Arc<PodSeen>>,
    by_node: OrdMap<String, OrdSet<(String, String)>>,
    /// By namespace and name.
    pub budgets: OrdMap<(String, String), Arc<BudgetSeen>>,
}

impl Tenants {
    pub fn vms(&self) -> &OrdMap<VmName, Arc<VmSeen>> {
        &self.vms
    }

    pub fn set_vm(&mut self, vm: VmSeen) -> Option<Arc<VmSeen>> {
        let before = self.forget_vm(&vm.name);
        if let Some(node) = vm.node() {
            self.by_node.entry(node.to_owned()).or_default().insert(vm.name.clone());
        }
        self.vms.insert(vm.name.clone(), Arc::new(vm));
        before
    }

    pub fn forget_vm(&mut self, name: &VmName) -> Option<Arc<VmSeen>> {
        let before = self.vms.remove(name)?;
        if let Some(node) = before.node() {
            unindex(&mut self.by_node, node, name);
        }
        Some(before)
    }

    /// Virtual machines with an instance on this node of the undercloud, those of tenant nodes among them.
    pub fn vms_on_node(&self, node: &str) -> impl Iterator<Item = &Arc<VmSeen>> {
        self.by_node.get(node).into_iter().flatten().filter_map(|name| self.vms.get(name))
    }
}

impl Inside {
    pub fn pods(&self) -> &OrdMap<(String, String), Arc<PodSeen>> {
        &self.pods
    }

    pub fn set_pod(&mut self, pod: PodSeen) {
        let key = (pod.pod.namespace.clone(), pod.pod.name.clone());
        self.forget_pod(&key);
        if let Some(node) = &pod.node {
            self.by_node.entry(node.clone()).or_default().insert(key.clone());
        }
        self.pods.insert(key, Arc::new(pod));
    }

    /// Takes a listing over: what is not in it is gone.
    pub fn set_pods(&mut self, pods: impl IntoIterator<Item = PodSeen>) {
        self.pods.clear();
        self.by_node.clear();
        for pod in pods {
            self.set_pod(pod);
        }
    }

    pub fn forget_pod(&mut self, key: &(String, String)) -> Option<Arc<PodSeen>> {
        let before = self.pods.remove(key)?;
        if let Some(node) = &before.node {
            unindex(&mut self.by_node, node, key);
        }
        Some(before)
    }

    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = &Arc<PodSeen>> {
        self.by_node.get(node).into_iter().flatten().filter_map(|key| self.pods.get(key))
    }
}

fn unindex<T: Ord + Clone>(index: &mut OrdMap<String, OrdSet<T>>, node: &str, entry: &T) {
    if let Some(entries) = index.get_mut(node) {
        entries.remove(entry);
        if entries.is_empty() {
            index.remove(node);
        }
    }
}

impl crate::Snapshot {
    /// Virtual machines with an instance on a machine, as its node was last called.
    pub fn vms_on<'a>(&'a self, machine: &MachineName) -> impl Iterator<Item = &'a Arc<VmSeen>> + use<'a> {
        let observed = self.observations.get(machine).and_then(|seen| seen.node.as_ref()).and_then(|node| node.what.as_ref());
        let stored = || self.machines.get(machine).and_then(|machine| machine.last_seen.node.as_ref()).map(|node| &node.what);
        let node = observed.or_else(stored).map(|node| node.name.as_str());
        node.into_iter().flat_map(|node| self.tenants.vms_on_node(node))
    }

    /// The machine that a node of the undercloud is.
    pub fn machine_of_node(&self, node: &str) -> Option<&MachineName> {
        self.nodes.get(node)
    }
}
