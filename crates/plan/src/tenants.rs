//! What is known of tenants' workloads: virtual machines as KubeVirt reports them, and what each tenant cluster's own API says.
//!
//! Kept by whoever watches; decisions only read. All of it is cheap to clone.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use model::{
    Amount, BudgetSeen, Contact, Errand, ErrandState, MachineName, PodPhase, PodSeen, TenantClusterName, TenantClusterSeen, TenantNodeSeen,
    Timestamp, VmName, VmSeen,
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
    /// What is taken of each node.
    loads: OrdMap<String, Load>,
    /// Pods that keep others away from where they are.
    wary: OrdSet<(String, String)>,
    /// By namespace and name.
    pub budgets: OrdMap<(String, String), Arc<BudgetSeen>>,
}

/// What the pods of a node take of it together. A pod that has ended takes nothing; one that is ending still does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    pub requests: Amount,
    pub pods: u32,
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
            if takes_room(&pod) {
                let load = self.loads.entry(node.clone()).or_default();
                *load = Load { requests: load.requests + pod.requests, pods: load.pods + 1 };
            }
            if !pod.demands.apart_from.is_empty() {
                self.wary.insert(key.clone());
            }
        }
        self.pods.insert(key, Arc::new(pod));
    }

    /// Takes a listing over: what is not in it is gone.
    pub fn set_pods(&mut self, pods: impl IntoIterator<Item = PodSeen>) {
        self.pods.clear();
        self.by_node.clear();
        self.loads.clear();
        self.wary.clear();
        for pod in pods {
            self.set_pod(pod);
        }
    }

    pub fn forget_pod(&mut self, key: &(String, String)) -> Option<Arc<PodSeen>> {
        let before = self.pods.remove(key)?;
        if let Some(node) = &before.node {
            unindex(&mut self.by_node, node, key);
            if takes_room(&before)
                && let Some(load) = self.loads.get_mut(node)
            {
                *load = Load { requests: load.requests.less(before.requests), pods: load.pods.saturating_sub(1) };
                if load.pods == 0 {
                    self.loads.remove(node);
                }
            }
            self.wary.remove(key);
        }
        Some(before)
    }

    /// What the pods of a node take of it.
    pub fn load_of(&self, node: &str) -> Load {
        self.loads.get(node).copied().unwrap_or_default()
    }

    /// Pods of a namespace that are on nodes and keep others away from where they are.
    pub fn wary_pods(&self, namespace: &str) -> impl Iterator<Item = &Arc<PodSeen>> {
        let from = (namespace.to_owned(), String::new());
        let of_namespace = self.wary.range(from.clone()..).take_while(move |(of, _)| *of == from.0);
        of_namespace.filter_map(|key| self.pods.get(key))
    }

    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = &Arc<PodSeen>> {
        self.by_node.get(node).into_iter().flatten().filter_map(|key| self.pods.get(key))
    }
}

fn takes_room(pod: &PodSeen) -> bool {
    !matches!(pod.phase, PodPhase::Succeeded | PodPhase::Failed)
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

#[cfg(test)]
mod tests {
    use model::{PodDemands, PodRef, Readiness, Span};

    use super::*;

    fn pod(name: &str, node: &str, cpu_millis: u64, phase: PodPhase) -> PodSeen {
        PodSeen {
            pod: PodRef { namespace: "web".into(), name: name.into(), uid: "u".into() },
            phase,
            ready: Readiness::True,
            owner: None,
            is_mirror: false,
            has_local_storage: false,
            termination: None,
            grace: Span::seconds(30),
            node: Some(node.into()),
            has_finalizers: false,
            requests: Amount { cpu_millis, memory_bytes: 0 },
            labels: Arc::default(),
            demands: Arc::default(),
        }
    }

    #[test]
    fn what_is_taken_of_a_node_follows_its_pods() {
        let mut inside = Inside::default();
        let taken = |inside: &Inside, node: &str| (inside.load_of(node).requests.cpu_millis, inside.load_of(node).pods);
        inside.set_pod(pod("a", "n1", 500, PodPhase::Running));
        inside.set_pod(pod("b", "n1", 200, PodPhase::Pending));
        inside.set_pod(pod("c", "n1", 900, PodPhase::Succeeded));
        assert_eq!(taken(&inside, "n1"), (700, 2), "what has ended takes nothing");
        inside.set_pod(pod("a", "n2", 300, PodPhase::Running));
        inside.set_pod(pod("c", "n1", 900, PodPhase::Failed));
        assert_eq!((taken(&inside, "n1"), taken(&inside, "n2")), ((200, 1), (300, 1)));
        inside.forget_pod(&("web".into(), "b".into()));
        assert_eq!(taken(&inside, "n1"), (0, 0));
    }

    #[test]
    fn pods_that_keep_others_away_are_found_by_namespace() {
        let near = model::Neighbourhood { selector: model::LabelSelector::default(), topology_key: "rack".into() };
        let demands = Arc::new(PodDemands { apart_from: vec![near], ..PodDemands::default() });
        let mut inside = Inside::default();
        inside.set_pod(pod("plain", "n1", 1, PodPhase::Running));
        inside.set_pod(PodSeen { demands, ..pod("wary", "n1", 1, PodPhase::Running) });
        let wary = |inside: &Inside, namespace| inside.wary_pods(namespace).count();
        assert_eq!((wary(&inside, "web"), wary(&inside, "we"), wary(&inside, "webs")), (1, 0, 0));
        inside.set_pod(pod("wary", "n1", 1, PodPhase::Running));
        assert_eq!(wary(&inside, "web"), 0);
    }

    #[test]
    fn what_is_listed_again_is_not_counted_twice() {
        let mut inside = Inside::default();
        for _ in 0..3 {
            inside.set_pods([pod("a", "n1", 500, PodPhase::Running)]);
        }
        let load = inside.load_of("n1");
        assert_eq!((load.requests.cpu_millis, load.pods), (500, 1));
    }
}
