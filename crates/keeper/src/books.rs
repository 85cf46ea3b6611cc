//! What the keeper knows: the snapshot, the revisions behind it, and which machines need a visit.
//!
//! Between a commit and the next one everything that a wake-up costs is here, so benchmarks measure it here, too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{
    Bundle, ClusterName, Errand, Evacuated, KeySet, Machine, MachineName, OPERATION_FORMAT, Observation, Operation, Request, RequestId,
    Target, TenantCluster, TenantClusterName, Timestamp, Vm, VmName, keys,
};
use plan::{Enrolment, Plan, Snapshot, Stored, Visit, invariants};
use serde::Serialize;
use store::{Commit, Expected, Fence, Revision, SharedStore};

use crate::KeeperError;
use crate::agenda::Agenda;
use crate::enroll::{decode, encode, record_of};
use crate::errands::Sender;

#[derive(Debug)]
pub struct Books {
    pub snapshot: Snapshot,
    /// The revision each document was last read or written at; a foreign write shows as a conflict.
    revisions: BTreeMap<String, Revision>,
    agenda: Agenda,
    /// Machines that were emptied and not filled again.
    pub(crate) emptied: BTreeSet<MachineName>,
    /// On whose behalf each errand that is remembered was sent.
    pub(crate) errands: BTreeMap<Errand, Sender>,
}

impl Books {
    /// Reads everything of the cluster. Returns the revision from which requests are to be watched.
    pub async fn open(store: &SharedStore, cluster: &ClusterName, fence: Fence, now: Timestamp) -> Result<(Books, Revision), KeeperError> {
        let failed = |source| KeeperError::Store { cluster: cluster.clone(), source };
        let document = store.get(&keys::cluster(cluster)).await.map_err(failed)?;
        let Some(document) = document else { return Err(KeeperError::NoCluster { cluster: cluster.clone() }) };
        let mut books = Books {
            snapshot: Snapshot::new(decode(&document)?, now),
            revisions: BTreeMap::from([(document.key, document.revision)]),
            agenda: Agenda::of_beginning(),
            emptied: BTreeSet::new(),
            errands: BTreeMap::new(),
        };
        for document in store.list(&keys::machines_of(cluster)).await.map_err(failed)?.documents {
            let machine = decode::<Machine>(&document)?;
            books.note_emptied(&machine);
            books.snapshot.set_machine(machine);
            books.revisions.insert(document.key, document.revision);
        }
        for document in store.list(&keys::vms_of(cluster)).await.map_err(failed)?.documents {
            let vm = decode::<Vm>(&document)?;
            books.snapshot.vms.insert(vm.name.clone(), Arc::new(vm));
            books.revisions.insert(document.key, document.revision);
        }
        for document in store.list(&keys::tenant_clusters_of(cluster)).await.map_err(failed)?.documents {
            let tenant = decode::<TenantCluster>(&document)?;
            books.snapshot.tenant_clusters.insert(tenant.name.clone(), Arc::new(tenant));
            books.revisions.insert(document.key, document.revision);
        }
        for document in store.list(&keys::runtimes_of(cluster)).await.map_err(failed)?.documents {
            let bundle = decode::<Bundle>(&document)?;
            books.snapshot.runtimes.insert(bundle.version, Arc::new(bundle));
            books.revisions.insert(document.key, document.revision);
        }
        for document in store.list(&keys::keysets_of(cluster)).await.map_err(failed)?.documents {
            let set = decode::<KeySet>(&document)?;
            books.snapshot.key_sets.insert((set.kind, set.name.clone()), Arc::new(set));
            books.revisions.insert(document.key, document.revision);
        }
        // No decision reads the results of a validation, or what an agent has found: only where they stand is known.
        for prefix in [keys::validations_of(cluster), keys::inventories_of(cluster)] {
            for document in store.list(&prefix).await.map_err(failed)?.documents {
                books.revisions.insert(document.key, document.revision);
            }
        }
        for document in store.list(&keys::operations_of(cluster)).await.map_err(failed)?.documents {
            let operation = decode::<Operation>(&document)?;
            if operation.format > OPERATION_FORMAT {
                return Err(KeeperError::NewerOperation { id: operation.id.to_string(), found: operation.format });
            }
            books.snapshot.set_operation(operation);
            books.revisions.insert(document.key, document.revision);
        }
        let requests = store.list(&keys::requests_of(cluster)).await.map_err(failed)?;
        let mut unreadable = Commit::default().fenced(fence);
        for document in &requests.documents {
            match decode::<Request>(document) {
                Ok(request) => books.take_request(&document.key, request, document.revision),
                Err(error) => {
                    tracing::error!(key = %document.key, %error, "a request cannot be read and is thrown away");
                    unreadable = unreadable.delete(document.key.clone());
                }
            }
        }
        if !unreadable.writes.is_empty() {
            store.commit(unreadable).await.map_err(failed)?;
        }
        Ok((books, requests.revision))
    }

    /// Changes what was seen of a machine. `f` says whether the machine must be visited for it.
    pub fn observe(&mut self, machine: &MachineName, f: impl FnOnce(&mut Observation) -> bool) {
        let mut observation = self.snapshot.observation(machine);
        if f(&mut observation) {
            self.mark(machine.clone());
        }
        self.snapshot.observations.insert(machine.clone(), Arc::new(observation));
    }

    pub fn mark(&mut self, machine: MachineName) {
        self.agenda.mark(machine);
    }

    pub fn mark_vm(&mut self, vm: VmName) {
        self.agenda.mark_vm(vm);
    }

    pub fn mark_tenant_cluster(&mut self, cluster: TenantClusterName) {
        self.agenda.mark_tenant_cluster(cluster);
    }

    pub fn mark_all(&mut self) {
        self.agenda.mark_all();
    }

    /// Machines with an operation may be waiting for whatever has just changed.
    pub fn mark_running(&mut self) {
        for (machine, _) in self.snapshot.running() {
            self.agenda.mark(machine.clone());
        }
    }

    /// Marks the emptied machines whose memory names what has changed.
    pub fn mark_emptied(&mut self, names: impl Fn(&Evacuated) -> bool) {
        for name in &self.emptied {
            let memory = self.snapshot.machines.get(name).and_then(|machine| machine.evacuated.as_ref());
            if memory.is_some_and(&names) {
                self.agenda.mark(name.clone());
            }
        }
    }

    /// Whether somebody may be waiting for what happens to the workloads of a machine.
    pub fn is_attended(&self, machine: &MachineName) -> bool {
        self.emptied.contains(machine) || self.snapshot.running_on(machine).is_some()
    }

    fn note_emptied(&mut self, machine: &Machine) {
        if machine.evacuated.is_some() {
            self.emptied.insert(machine.name.clone());
        } else {
            self.emptied.remove(&machine.name);
        }
    }

    pub fn stir(&mut self) {
        self.agenda.stir();
    }

    pub fn take_request(&mut self, key: &str, request: Request, revision: Revision) {
        if request.verdict.is_none() {
            self.agenda.stir();
        }
        self.revisions.insert(key.to_owned(), revision);
        self.snapshot.set_request(request);
    }

    /// Whoever asked has read the verdict and swept the request away.
    pub fn drop_request(&mut self, key: &str) {
        let prefix = keys::requests_of(&self.snapshot.cluster.name);
        if let Some(id) = key.strip_prefix(&prefix) {
            self.snapshot.requests.remove(&RequestId::new(id));
        }
        self.revisions.remove(key);
    }

    /// Whether a document is known as it was written then.
    pub(crate) fn has(&self, key: &str, revision: Revision) -> bool {
        self.revisions.get(key) == Some(&revision)
    }

    pub fn needs_plan(&self) -> bool {
        self.agenda.is_pressing()
    }

    /// When planning is due without anything happening.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.agenda.next_wake()
    }

    pub(crate) fn take_visit(&mut self, now: Timestamp) -> Visit {
        self.agenda.take(now)
    }

    pub fn plan(&mut self, now: Timestamp) -> Result<Plan, KeeperError> {
        let visit = self.take_visit(now);
        let plan = plan::plan(&self.snapshot, &visit, now);
        if let Some(violation) = invariants::check(&self.snapshot, &plan).into_iter().next() {
            return Err(KeeperError::Invariant { violation: violation.to_string() });
        }
        Ok(plan)
    }

    /// What is stored of the site, but for its racks, which no decision of a plan needs.
    pub fn stored(&self) -> (Stored, BTreeMap<String, Revision>) {
        let machines = self.snapshot.machines.iter().map(|(name, machine)| (name.clone(), (**machine).clone()));
        let stored = Stored {
            cluster: Some((*self.snapshot.cluster).clone()),
            racks: BTreeMap::new(),
            machines: machines.collect(),
            running: self.snapshot.running().map(|(machine, operation)| (machine.clone(), operation.clone())).collect(),
            described: self.snapshot.machines.keys().filter(|name| !self.snapshot.undescribed.contains(*name)).cloned().collect(),
        };
        (stored, self.revisions.clone())
    }

    /// Takes a committed enrolment over into the snapshot.
    pub fn take_enrolment(&mut self, enrolment: &Enrolment, revision: Revision) {
        let cluster = self.snapshot.cluster.name.clone();
        if let Some(document) = &enrolment.cluster {
            self.snapshot.cluster = Arc::new(document.clone());
            self.revisions.insert(keys::cluster(&cluster), revision);
        }
        for (name, machine) in &enrolment.machines {
            self.note_emptied(machine);
            self.snapshot.set_machine(machine.clone());
            self.revisions.insert(keys::machine(&cluster, name), revision);
        }
        for name in &enrolment.forgotten_machines {
            self.snapshot.forget_machine(name);
            self.revisions.remove(&keys::machine(&cluster, name));
            self.revisions.remove(&keys::validation(&cluster, name));
            self.revisions.remove(&keys::inventory(&cluster, name));
            self.agenda.forget_machine(name);
            self.emptied.remove(name);
        }
        self.mark_all();
    }

    /// The commit of a plan's changes and of what the activity log says of them: fenced, and with the revisions we
    /// believe in.
    pub fn commit_of(&self, plan: &Plan, now: Timestamp, fence: Fence) -> Commit {
        let cluster = &self.snapshot.cluster.name;
        let changes = &plan.changes;
        let mut commit = Commit::default().fenced(fence);
        commit.records = plan::chronicle(&self.snapshot, plan, now).iter().map(record_of).collect();
        if let Some(document) = &changes.cluster {
            commit = self.put(commit, keys::cluster(cluster), document);
        }
        for (name, machine) in &changes.machines {
            commit = self.put(commit, keys::machine(cluster, name), machine);
        }
        for (name, vm) in &changes.vms {
            commit = self.put(commit, keys::vm(cluster, name), vm);
        }
        for name in &changes.forgotten_vms {
            commit = commit.delete(keys::vm(cluster, name));
        }
        for (name, tenant) in &changes.tenant_clusters {
            commit = self.put(commit, keys::tenant_cluster(cluster, name), tenant);
        }
        for name in &changes.forgotten_tenant_clusters {
            commit = commit.delete(keys::tenant_cluster(cluster, name));
        }
        for (version, bundle) in &changes.runtimes {
            commit = self.put(commit, keys::runtime(cluster, *version), bundle);
        }
        for version in &changes.forgotten_runtimes {
            commit = commit.delete(keys::runtime(cluster, *version));
        }
        for ((kind, name), set) in &changes.key_sets {
            commit = self.put(commit, keys::keyset(cluster, *kind, name.as_str()), set);
        }
        for (kind, name) in &changes.forgotten_key_sets {
            commit = commit.delete(keys::keyset(cluster, *kind, name.as_str()));
        }
        for (machine, validation) in &changes.validations {
            commit = self.put(commit, keys::validation(cluster, machine), validation);
        }
        for (machine, inventory) in &changes.inventories {
            commit = self.put(commit, keys::inventory(cluster, machine), inventory);
        }
        for (id, operation) in &changes.operations {
            commit = self.put(commit, keys::operation(cluster, id), operation);
        }
        for id in &changes.forgotten_operations {
            commit = commit.delete(keys::operation(cluster, id));
            // What its agents told goes with it. The logs are written by whoever heard them, and no decision reads them.
            for round in self.snapshot.operations.get(id).into_iter().flat_map(|operation| operation.rounds()) {
                commit = commit.delete(keys::install_log(cluster, id, round));
            }
        }
        for (id, request) in &changes.requests {
            commit = self.put(commit, keys::request(cluster, id), request);
        }
        for id in &changes.forgotten_requests {
            commit = commit.delete(keys::request(cluster, id));
        }
        commit
    }

    fn put(&self, commit: Commit, key: String, document: &impl Serialize) -> Commit {
        let expected = self.revisions.get(&key).map_or(Expected::Absent, |revision| Expected::At(*revision));
        commit.expect(key.clone(), expected).put(key, encode(document))
    }

    /// Takes a committed plan over into the snapshot.
    pub fn settle(&mut self, plan: &Plan, commit: &[String], revision: Option<Revision>) {
        self.snapshot = invariants::apply(&self.snapshot, plan);
        if let Some(revision) = revision {
            for key in commit {
                self.revisions.insert(key.clone(), revision);
            }
        }
        let cluster = self.snapshot.cluster.name.clone();
        let changes = &plan.changes;
        let operations = changes.forgotten_operations.iter().map(|id| keys::operation(&cluster, id));
        let requests = changes.forgotten_requests.iter().map(|id| keys::request(&cluster, id));
        let vms = changes.forgotten_vms.iter().map(|name| keys::vm(&cluster, name));
        let tenants = changes.forgotten_tenant_clusters.iter().map(|name| keys::tenant_cluster(&cluster, name));
        let runtimes = changes.forgotten_runtimes.iter().map(|version| keys::runtime(&cluster, *version));
        let key_sets = changes.forgotten_key_sets.iter().map(|(kind, name)| keys::keyset(&cluster, *kind, name.as_str()));
        for key in operations.chain(requests).chain(vms).chain(tenants).chain(runtimes).chain(key_sets) {
            self.revisions.remove(&key);
        }
        for machine in changes.machines.values() {
            self.note_emptied(machine);
        }
        self.forget_looks(plan);
        self.agenda.settle(plan);
        self.prune_errands(plan);
    }

    /// What was looked at for an operation is of no use after its end, and an inspection of a whole site is much to keep.
    fn forget_looks(&mut self, plan: &Plan) {
        for operation in plan.changes.operations.values().filter(|operation| !operation.is_running()) {
            let machines: Vec<MachineName> = match &operation.target {
                Target::Machine(machine) => vec![machine.clone()],
                Target::Site(_) => self.snapshot.observations.keys().cloned().collect(),
                Target::Vm(_) | Target::TenantNode { .. } => continue,
            };
            for machine in machines {
                let is_known = self.snapshot.observations.get(&machine).is_some_and(|known| !known.looked.is_empty());
                if is_known && self.snapshot.running_on(&machine).is_none() {
                    self.observe(&machine, |observation| {
                        observation.looked.clear();
                        false
                    });
                }
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
