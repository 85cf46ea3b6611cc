//! Everything a decision may look at, in one value that is cheap to share and to change.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use model::{
    Bundle, Cluster, Contact, KeySet, KeySetKind, KeySetName, Looked, Machine, MachineName, Observation, Operation, OperationId, Request,
    RequestId, RequestKey, RuntimeVersion, Target, TenantCluster, TenantClusterName, Timestamp, Vm, VmName,
};

use crate::cadence::waits_for_look;
use crate::tenants::Tenants;

#[derive(Clone, Debug)]
pub struct Snapshot {
    pub cluster: Arc<Cluster>,
    pub machines: OrdMap<MachineName, Arc<Machine>>,
    pub observations: OrdMap<MachineName, Arc<Observation>>,
    /// Tenants' virtual machines and Kubernetes clusters, as they are stored.
    pub vms: OrdMap<VmName, Arc<Vm>>,
    pub tenant_clusters: OrdMap<TenantClusterName, Arc<TenantCluster>>,
    /// What was observed of them.
    pub tenants: Tenants,
    /// Which machine each node of the undercloud is.
    pub nodes: OrdMap<String, MachineName>,
    /// Running operations, and ended ones for as long as they are kept.
    pub operations: OrdMap<OperationId, Arc<Operation>>,
    pub requests: OrdMap<RequestId, Arc<Request>>,
    /// Machines that the site's description no longer names: there is no way to their BMCs, and nothing is asked of them.
    pub undescribed: OrdSet<MachineName>,
    /// Runtimes that the cluster knows.
    pub runtimes: OrdMap<RuntimeVersion, Arc<Bundle>>,
    /// Who may log in.
    pub key_sets: OrdMap<(KeySetKind, KeySetName), Arc<KeySet>>,
    /// The latest look at the undercloud's etcd, and whether one is under way.
    pub etcd: Option<Arc<Looked>>,
    pub is_looking_at_etcd: bool,
    /// By which URL machines that are being installed reach us, as far as they do; nothing where that is not known.
    pub install_url: Option<String>,
    /// How the line to the undercloud's API is.
    pub undercloud: Contact,
    /// Deadlines are judged only on what was seen after this.
    pub keeper_started_at: Timestamp,

    index: Index,
}

/// What would otherwise be searched for; kept true by the setters.
#[derive(Clone, Debug, Default)]
struct Index {
    running: OrdMap<MachineName, OperationId>,
    /// Of virtual machines and tenant nodes.
    running_for_tenants: OrdMap<Target, OperationId>,
    by_key: OrdMap<RequestKey, OperationId>,
    ended: OrdSet<(Timestamp, OperationId)>,
    /// The latest ended operation of each kind on each machine, and those ended ones that are not.
    latest: OrdMap<(MachineName, &'static str), (Timestamp, OperationId)>,
    outdone: OrdSet<(Timestamp, OperationId)>,
    control_plane: OrdSet<MachineName>,
}

impl Snapshot {
    pub fn new(cluster: Cluster, keeper_started_at: Timestamp) -> Self {
        Snapshot {
            cluster: Arc::new(cluster),
            machines: OrdMap::new(),
            observations: OrdMap::new(),
            vms: OrdMap::new(),
            tenant_clusters: OrdMap::new(),
            tenants: Tenants::default(),
            nodes: OrdMap::new(),
            operations: OrdMap::new(),
            requests: OrdMap::new(),
            undescribed: OrdSet::new(),
            runtimes: OrdMap::new(),
            key_sets: OrdMap::new(),
            etcd: None,
            is_looking_at_etcd: false,
            install_url: None,
            undercloud: Contact::default(),
            keeper_started_at,
            index: Index::default(),
        }
    }

    pub fn set_machine(&mut self, machine: Machine) {
        if machine.is_kcp() {
            self.index.control_plane.insert(machine.name.clone());
        } else {
            self.index.control_plane.remove(&machine.name);
        }
        self.machines.insert(machine.name.clone(), Arc::new(machine));
    }

    /// A machine that was taken out of the site. What was done to it stays as long as ended operations do.
    pub fn forget_machine(&mut self, name: &MachineName) {
        self.index.control_plane.remove(name);
        self.machines.remove(name);
        let of_machine = self.index.latest.range((name.clone(), "")..).take_while(|((machine, _), _)| machine == name);
        for (kind, own) in of_machine.map(|(kind, own)| (kind.clone(), own.clone())).collect::<Vec<_>>() {
            self.index.latest.remove(&kind);
            self.index.outdone.insert(own);
        }
        self.undescribed.remove(name);
        self.observations.remove(name);
    }

    pub fn set_operation(&mut self, operation: Operation) {
        self.index_running(&operation);
        if let Some(ended) = &operation.ended {
            self.index.ended.insert((ended.at, operation.id.clone()));
            self.index_latest(&operation, ended.at);
        }
        if let Some(key) = &operation.request_key {
            self.index.by_key.insert(key.clone(), operation.id.clone());
        }
        self.operations.insert(operation.id.clone(), Arc::new(operation));
    }

    fn index_latest(&mut self, operation: &Operation, at: Timestamp) {
        let own = (at, operation.id.clone());
        let Some(machine) = operation.machine().filter(|machine| self.machines.contains_key(*machine)) else {
            self.index.outdone.insert(own);
            return;
        };
        let key = (machine.clone(), operation.action.verb());
        let outdone = match self.index.latest.get(&key) {
            Some(latest) if *latest > own => own,
            _ => match self.index.latest.insert(key, own.clone()).filter(|before| *before != own) {
                Some(before) => before,
                None => return,
            },
        };
        self.index.outdone.insert(outdone);
    }

    fn index_running(&mut self, operation: &Operation) {
        let id = &operation.id;
        match (&operation.target, operation.is_running()) {
            (Target::Machine(machine), true) => drop(self.index.running.insert(machine.clone(), id.clone())),
            (Target::Machine(machine), false) if self.index.running.get(machine) == Some(id) => {
                self.index.running.remove(machine);
            }
            (Target::Machine(_), false) => {}
            (target, true) => drop(self.index.running_for_tenants.insert(target.clone(), id.clone())),
            (target, false) => {
                if self.index.running_for_tenants.get(target) == Some(id) {
                    self.index.running_for_tenants.remove(target);
                }
            }
        }
    }

    pub fn forget_operation(&mut self, id: &OperationId) {
        let Some(operation) = self.operations.remove(id) else { return };
        if let Some(ended) = &operation.ended {
            let own = (ended.at, id.clone());
            self.index.ended.remove(&own);
            self.index.outdone.remove(&own);
            let kind = operation.machine().map(|machine| (machine.clone(), operation.action.verb()));
            if let Some(kind) = kind.filter(|kind| self.index.latest.get(kind) == Some(&own)) {
                self.index.latest.remove(&kind);
            }
        }
        if let Some(key) = &operation.request_key
            && self.index.by_key.get(key) == Some(id)
        {
            self.index.by_key.remove(key);
        }
    }

    pub fn set_request(&mut self, request: Request) {
        self.requests.insert(request.id.clone(), Arc::new(request));
    }

    /// The operation that is at work on a machine. There is at most one.
    pub fn running_on(&self, machine: &MachineName) -> Option<&Arc<Operation>> {
        self.index.running.get(machine).and_then(|id| self.operations.get(id))
    }

    /// The operation that is at work on a machine, a virtual machine or a tenant node. There is at most one.
    pub fn running_for(&self, target: &Target) -> Option<&Arc<Operation>> {
        match target {
            Target::Machine(machine) => self.running_on(machine),
            tenant => self.index.running_for_tenants.get(tenant).and_then(|id| self.operations.get(id)),
        }
    }

    /// What is at work on virtual machines and tenant nodes.
    pub fn running_for_tenants(&self) -> impl Iterator<Item = (&Target, &OperationId)> {
        self.index.running_for_tenants.iter()
    }

    /// The operation that may be waiting for a look at a machine: its own, or one elsewhere in the control plane, whose
    /// vote may be taken only while this machine is well.
    pub fn awaiting_look_at(&self, machine: &MachineName) -> Option<&Arc<Operation>> {
        let own = self.running_on(machine);
        if self.index.control_plane.contains(machine) {
            own.or_else(|| self.index.control_plane.iter().find_map(|member| self.running_on(member)))
        } else {
            own.filter(|operation| waits_for_look(operation))
        }
    }

    /// What is at work on machines.
    pub fn running(&self) -> impl Iterator<Item = (&MachineName, &OperationId)> {
        self.index.running.iter()
    }

    pub fn running_count(&self) -> usize {
        self.index.running.len() + self.index.running_for_tenants.len()
    }

    pub fn operation_of_request(&self, key: &RequestKey) -> Option<&Arc<Operation>> {
        self.index.by_key.get(key).and_then(|id| self.operations.get(id))
    }

    /// Ended operations, the one that ended first first.
    pub fn ended(&self) -> impl DoubleEndedIterator<Item = &(Timestamp, OperationId)> {
        self.index.ended.iter()
    }

    /// Ended operations that are not the latest of their kind on a machine that there is; the one that ended first first.
    pub fn outdone(&self) -> impl Iterator<Item = &(Timestamp, OperationId)> {
        self.index.outdone.iter()
    }

    /// The latest ended operation of each kind on a machine.
    pub fn latest_on<'a>(&'a self, machine: &'a MachineName) -> impl Iterator<Item = &'a Arc<Operation>> {
        let of_machine = self.index.latest.range((machine.clone(), "")..).take_while(move |((own, _), _)| own == machine);
        of_machine.filter_map(|(_, (_, id))| self.operations.get(id))
    }

    pub fn ended_count(&self) -> usize {
        self.index.ended.len()
    }

    /// Control-plane machines, the spare included.
    pub fn control_plane(&self) -> impl Iterator<Item = &Arc<Machine>> {
        self.index.control_plane.iter().filter_map(|name| self.machines.get(name))
    }

    /// What was seen of a machine; nothing, if it has not been looked at.
    pub fn observation(&self, machine: &MachineName) -> Observation {
        self.observations.get(machine).map(|observation| (**observation).clone()).unwrap_or_default()
    }
}
