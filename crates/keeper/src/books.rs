//! What the keeper knows: the snapshot, the revisions behind it, and which machines need a visit.
//!
//! Between a commit and the next one everything that a wake-up costs is here, so benchmarks measure it here, too.

use std::collections::{BTreeMap, BTreeSet};

use model::{ClusterName, Machine, MachineName, OPERATION_FORMAT, Observation, Operation, Request, RequestId, Timestamp, keys};
use plan::{Enrolment, Plan, Snapshot, Stored, Visit, invariants};
use serde::Serialize;
use store::{Commit, Expected, Fence, Revision, SharedStore};

use crate::KeeperError;
use crate::enroll::{decode, encode, record_of};

#[derive(Debug)]
pub struct Books {
    pub snapshot: Snapshot,
    /// The revision each document was last read or written at; a foreign write shows as a conflict.
    revisions: BTreeMap<String, Revision>,
    dirty: BTreeSet<MachineName>,
    all_dirty: bool,
    /// Something that belongs to no machine has changed: a request came, or the line to the undercloud did.
    stirred: bool,
    revisits: BTreeMap<MachineName, Timestamp>,
    due: BTreeSet<(Timestamp, MachineName)>,
    wake_at: Option<Timestamp>,
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
            dirty: BTreeSet::new(),
            all_dirty: true,
            stirred: true,
            revisits: BTreeMap::new(),
            due: BTreeSet::new(),
            wake_at: None,
        };
        for document in store.list(&keys::machines_of(cluster)).await.map_err(failed)?.documents {
            books.snapshot.set_machine(decode::<Machine>(&document)?);
            books.revisions.insert(document.key, document.revision);
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
        self.snapshot.observations.insert(machine.clone(), std::sync::Arc::new(observation));
    }

    pub fn mark(&mut self, machine: MachineName) {
        self.dirty.insert(machine);
    }

    pub fn mark_all(&mut self) {
        self.all_dirty = true;
    }

    /// Machines with an operation may be waiting for whatever has just changed.
    pub fn mark_running(&mut self) {
        let running: Vec<MachineName> = self.snapshot.running().map(|(machine, _)| machine.clone()).collect();
        self.dirty.extend(running);
    }

    pub fn stir(&mut self) {
        self.stirred = true;
    }

    pub fn take_request(&mut self, key: &str, request: Request, revision: Revision) {
        self.stirred |= request.verdict.is_none();
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

    pub fn needs_plan(&self) -> bool {
        self.all_dirty || self.stirred || !self.dirty.is_empty()
    }

    /// When planning is due without anything happening.
    pub fn next_wake(&self) -> Option<Timestamp> {
        let first_due = self.due.first().map(|(at, _)| *at);
        [self.wake_at, first_due].into_iter().flatten().min()
    }

    pub fn plan(&mut self, now: Timestamp) -> Result<Plan, KeeperError> {
        let visit = if std::mem::take(&mut self.all_dirty) { Visit::All } else { Visit::Only(plan::Visited::machines(self.take_due(now))) };
        self.dirty.clear();
        self.stirred = false;
        let plan = plan::plan(&self.snapshot, &visit, now);
        if let Some(violation) = invariants::check(&self.snapshot, &plan).into_iter().next() {
            return Err(KeeperError::Invariant { violation: violation.to_string() });
        }
        Ok(plan)
    }

    fn take_due(&mut self, now: Timestamp) -> BTreeSet<MachineName> {
        let mut visit = std::mem::take(&mut self.dirty);
        while let Some((at, machine)) = self.due.first() {
            if *at > now {
                break;
            }
            visit.insert(machine.clone());
            let first = self.due.pop_first();
            if let Some((_, machine)) = first {
                self.revisits.remove(&machine);
            }
        }
        visit
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
            self.snapshot.cluster = std::sync::Arc::new(document.clone());
            self.revisions.insert(keys::cluster(&cluster), revision);
        }
        for (name, machine) in &enrolment.machines {
            self.snapshot.set_machine(machine.clone());
            self.revisions.insert(keys::machine(&cluster, name), revision);
        }
        for name in &enrolment.forgotten_machines {
            self.snapshot.forget_machine(name);
            self.revisions.remove(&keys::machine(&cluster, name));
            self.dirty.remove(name);
            if let Some(at) = self.revisits.remove(name) {
                self.due.remove(&(at, name.clone()));
            }
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
        for (id, operation) in &changes.operations {
            commit = self.put(commit, keys::operation(cluster, id), operation);
        }
        for id in &changes.forgotten_operations {
            commit = commit.delete(keys::operation(cluster, id));
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
        for id in &plan.changes.forgotten_operations {
            self.revisions.remove(&keys::operation(&self.snapshot.cluster.name, id));
        }
        for id in &plan.changes.forgotten_requests {
            self.revisions.remove(&keys::request(&self.snapshot.cluster.name, id));
        }
        self.wake_at = plan.wake_at;
        for (machine, revisit) in &plan.revisits {
            if let Some(at) = self.revisits.remove(machine) {
                self.due.remove(&(at, machine.clone()));
            }
            if let Some(at) = revisit {
                self.revisits.insert(machine.clone(), *at);
                self.due.insert((*at, machine.clone()));
            }
        }
    }
}
