//! A plan in the making: the snapshot as it would be, and what has to be written and asked to get there.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Attempt, BootWay, Bundle, Cluster, DeviceAsk, Errand, Inventoried, KeySet, KeySetKind, KeySetName, LookAt, Machine, MachineName,
    Operation, OperationId, Privilege, Request, RequestId, RuntimeVersion, TenantCluster, TenantClusterName, Timestamp, Validation, Vm,
    VmName,
};

use crate::snapshot::Snapshot;

/// What follows from a snapshot at a moment. It leaves no choice to whoever carries it out.
///
/// Waits are part of the machines and operations in `changes`, so that they are shown and stored with them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// To be committed together, before any step is taken.
    pub changes: Changes,
    /// To be asked of devices once `changes` are durable.
    pub steps: Vec<Step>,
    /// To be looked at now, beside what is looked at anyway.
    pub looks: BTreeSet<LookStep>,
    /// To be asked of KubeVirt, Cluster API and tenants' APIs once `changes` are durable.
    pub errands: Vec<ErrandStep>,
    /// When a machine that was visited has to be visited again, should nothing else happen to it.
    pub revisits: BTreeMap<MachineName, Option<Timestamp>>,
    /// The same for virtual machines, and for tenant nodes by their virtual machines' names.
    pub vm_revisits: BTreeMap<VmName, Option<Timestamp>>,
    /// When something that belongs to no machine is due.
    pub wake_at: Option<Timestamp>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    pub cluster: Option<Cluster>,
    pub machines: BTreeMap<MachineName, Machine>,
    pub vms: BTreeMap<VmName, Vm>,
    pub forgotten_vms: BTreeSet<VmName>,
    pub tenant_clusters: BTreeMap<TenantClusterName, TenantCluster>,
    pub forgotten_tenant_clusters: BTreeSet<TenantClusterName>,
    pub runtimes: BTreeMap<RuntimeVersion, Bundle>,
    pub forgotten_runtimes: BTreeSet<RuntimeVersion>,
    pub validations: BTreeMap<MachineName, Validation>,
    pub inventories: BTreeMap<MachineName, Inventoried>,
    pub key_sets: BTreeMap<(KeySetKind, KeySetName), KeySet>,
    pub forgotten_key_sets: BTreeSet<(KeySetKind, KeySetName)>,
    pub operations: BTreeMap<OperationId, Operation>,
    pub forgotten_operations: BTreeSet<OperationId>,
    /// Requests with their verdicts.
    pub requests: BTreeMap<RequestId, Request>,
    pub forgotten_requests: BTreeSet<RequestId>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        *self == Changes::default()
    }
}

/// One request to one device. Its intent is in `changes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub machine: MachineName,
    pub node: Option<String>,
    /// `None` if it serves the machine's holds alone.
    pub operation: Option<OperationId>,
    pub ask: DeviceAsk,
    pub attempt: u32,
    /// Why, in a few words; a cordon carries it to the node.
    pub reason: String,
    /// What the ask is about, beyond the machine.
    pub with: With,
}

/// The particulars of an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum With {
    Nothing,
    /// The installation that it belongs to.
    Install {
        attempt: Attempt,
        way: BootWay,
    },
    /// A member of etcd that there is.
    Member {
        id: String,
    },
    /// One that is to be added.
    Learner {
        peer_url: String,
    },
    /// A user's account on the BMC.
    Account {
        user: String,
        /// Where it is, if it is there.
        path: Option<String>,
        /// What it is to be like; nothing if it is to go.
        privilege: Option<Privilege>,
        key: Option<String>,
    },
    /// A volume, by where it is on its BMC.
    Volume {
        path: String,
    },
    /// One that is to be made for the system.
    OsVolume {
        name: String,
    },
}

/// A look that a decision needs. It changes nothing, and no intent is written before it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LookStep {
    /// Nothing for what belongs to no machine.
    pub machine: Option<MachineName>,
    pub at: LookAt,
}

/// One errand. Its intent is in `changes`: in an operation's journal, or in what is remembered of an emptied machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrandStep {
    /// The machine that is emptied or filled again by it; nothing for what a virtual machine's own operation asks.
    pub machine: Option<MachineName>,
    /// `None` if it brings back what is remembered of a machine, outside any operation.
    pub operation: Option<OperationId>,
    pub errand: Errand,
    /// The undercloud's node on which a virtual machine is stopped for its machine's sake: one that has moved on is left alone.
    pub node: Option<String>,
    pub attempt: u32,
    /// Why, in a few words; a cordon carries it to the node.
    pub reason: String,
}

/// The snapshot as the plan would leave it, with a record of what was touched.
#[derive(Debug)]
pub(crate) struct Draft {
    pub after: Snapshot,
    pub plan: Plan,
}

impl Draft {
    pub fn new(snapshot: &Snapshot) -> Self {
        Draft { after: snapshot.clone(), plan: Plan::default() }
    }

    pub fn save_cluster(&mut self, cluster: Cluster) {
        if *self.after.cluster != cluster {
            self.after.cluster = std::sync::Arc::new(cluster.clone());
            self.plan.changes.cluster = Some(cluster);
        }
    }

    pub fn save_machine(&mut self, machine: Machine) {
        if self.after.machines.get(&machine.name).is_none_or(|before| **before != machine) {
            self.after.set_machine(machine.clone());
            self.plan.changes.machines.insert(machine.name.clone(), machine);
        }
    }

    pub fn save_vm(&mut self, vm: Vm) {
        if self.after.vms.get(&vm.name).is_none_or(|before| **before != vm) {
            self.after.vms.insert(vm.name.clone(), std::sync::Arc::new(vm.clone()));
            self.plan.changes.forgotten_vms.remove(&vm.name);
            self.plan.changes.vms.insert(vm.name.clone(), vm);
        }
    }

    pub fn forget_vm(&mut self, name: &VmName) {
        self.after.vms.remove(name);
        self.plan.changes.vms.remove(name);
        self.plan.changes.forgotten_vms.insert(name.clone());
    }

    pub fn save_tenant_cluster(&mut self, cluster: TenantCluster) {
        if self.after.tenant_clusters.get(&cluster.name).is_none_or(|before| **before != cluster) {
            self.after.tenant_clusters.insert(cluster.name.clone(), std::sync::Arc::new(cluster.clone()));
            self.plan.changes.forgotten_tenant_clusters.remove(&cluster.name);
            self.plan.changes.tenant_clusters.insert(cluster.name.clone(), cluster);
        }
    }

    pub fn forget_tenant_cluster(&mut self, name: &TenantClusterName) {
        self.after.tenant_clusters.remove(name);
        self.plan.changes.tenant_clusters.remove(name);
        self.plan.changes.forgotten_tenant_clusters.insert(name.clone());
    }

    pub fn save_runtime(&mut self, bundle: Bundle) {
        if self.after.runtimes.get(&bundle.version).is_none_or(|before| **before != bundle) {
            self.after.runtimes.insert(bundle.version, std::sync::Arc::new(bundle.clone()));
            self.plan.changes.forgotten_runtimes.remove(&bundle.version);
            self.plan.changes.runtimes.insert(bundle.version, bundle);
        }
    }

    pub fn forget_runtime(&mut self, version: RuntimeVersion) {
        self.after.runtimes.remove(&version);
        self.plan.changes.runtimes.remove(&version);
        self.plan.changes.forgotten_runtimes.insert(version);
    }

    pub fn save_key_set(&mut self, set: KeySet) {
        let key = (set.kind, set.name.clone());
        if self.after.key_sets.get(&key).is_none_or(|before| **before != set) {
            self.after.key_sets.insert(key.clone(), std::sync::Arc::new(set.clone()));
            self.plan.changes.forgotten_key_sets.remove(&key);
            self.plan.changes.key_sets.insert(key, set);
        }
    }

    pub fn forget_key_set(&mut self, kind: KeySetKind, name: &KeySetName) {
        let key = (kind, name.clone());
        self.after.key_sets.remove(&key);
        self.plan.changes.key_sets.remove(&key);
        self.plan.changes.forgotten_key_sets.insert(key);
    }

    pub fn save_operation(&mut self, operation: Operation) {
        if self.after.operations.get(&operation.id).is_none_or(|before| **before != operation) {
            self.after.set_operation(operation.clone());
            self.plan.changes.operations.insert(operation.id.clone(), operation);
        }
    }

    pub fn forget_operation(&mut self, id: OperationId) {
        self.after.forget_operation(&id);
        self.plan.changes.forgotten_operations.insert(id);
    }

    pub fn save_verdict(&mut self, request: Request) {
        self.after.set_request(request.clone());
        self.plan.changes.requests.insert(request.id.clone(), request);
    }

    pub fn forget_request(&mut self, id: RequestId) {
        self.after.requests.remove(&id);
        self.plan.changes.forgotten_requests.insert(id);
    }

    pub fn wake_at(&mut self, at: Timestamp) {
        self.plan.wake_at = Some(self.plan.wake_at.map_or(at, |sooner| sooner.min(at)));
    }
}
