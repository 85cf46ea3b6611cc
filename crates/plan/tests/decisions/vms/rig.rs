//! A closed loop: a keeper that plans for virtual machines, and the model of KubeVirt. Of every plan is checked what must be so of all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{
    Activity, Ask, Connection, CorrelationId, Errand, ErrandAnswer, ErrandOutcome, ErrandState, Fault, Observation, Operation, Power,
    Provisioning, REQUEST_LIFE, Request, RequestId, RequestKey, Role, Seen, Span, Target, TenantClusterName, TenantClusterSeen, Timestamp,
    VmName,
};
use plan::{ErrandStep, Inside, Plan, Snapshot, Visit, Visited, invariants};

use super::kubevirt::KubeVirt;
use crate::desk;

/// How often the undercloud is heard from.
const HEARD_EVERY: Span = Span::seconds(20);

/// How KubeVirt's API answers.
#[derive(Clone, Debug)]
pub enum Reply {
    Obey,
    Refuse(Fault),
    Hang,
}

/// What a keeper leaves undone when it dies: the commit, the errands, or the answers to them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Death {
    Uncommitted,
    Unsent,
    Unanswered,
}

pub struct Rig {
    pub snapshot: Snapshot,
    pub kubevirt: KubeVirt,
    pub clusters: BTreeMap<TenantClusterName, (TenantClusterSeen, Inside)>,
    pub now: Timestamp,
    pub reply: Reply,
    pub silence: Option<Fault>,
    pub log: Vec<Activity>,
    /// Commits that changed something, so far.
    pub commits: u32,
    pub death: Option<(u32, Death)>,
    pub down_for: Span,
    dirty: Visited,
    due: BTreeMap<VmName, Timestamp>,
    wake_at: Option<Timestamp>,
    requests: u32,
}

impl Rig {
    pub fn new() -> Self {
        let now = desk::morning();
        Rig {
            snapshot: Snapshot::new(desk::empty_cluster(now), now),
            kubevirt: KubeVirt::default(),
            clusters: BTreeMap::new(),
            now,
            reply: Reply::Obey,
            silence: None,
            log: Vec::new(),
            commits: 0,
            death: None,
            down_for: Span::seconds(1),
            dirty: Visited::default(),
            due: BTreeMap::new(),
            wake_at: None,
            requests: 0,
        }
    }

    pub fn add_machine(&mut self, name: &str) {
        let machine = desk::machine(name, Role::Compute, Provisioning::Provisioned, self.now);
        self.snapshot.set_machine(machine);
    }

    /// A machine is seen on and ready, or is not.
    pub fn see_machine(&mut self, name: &str, ready: bool) {
        let mut observation = Observation::default();
        observation.bmc.answered(self.now);
        observation.power = Some(Seen { what: if ready { Power::On } else { Power::Off }, at: self.now });
        let mut node = desk::node(name, 1);
        if !ready {
            node.ready = model::Readiness::Unknown;
        }
        let held = !self.snapshot.machines[&desk::name(name)].holds.is_empty();
        (node.unschedulable, node.cordoned_by_us) = (held, held);
        observation.node = Some(Seen { what: Some(node), at: self.now });
        self.snapshot.observations.insert(desk::name(name), Arc::new(observation));
        self.snapshot.nodes.insert(name.to_owned(), desk::name(name));
        self.dirty.machines.insert(desk::name(name));
    }

    pub fn request(&mut self, caller: &str, ask: Ask, key: Option<&str>) -> RequestId {
        self.requests += 1;
        let id = RequestId::new(format!("op{}", self.requests));
        self.snapshot.set_request(Request {
            sent: None,
            id: id.clone(),
            cluster: self.snapshot.cluster.name.clone(),
            ask,
            caller: caller.into(),
            correlation_id: CorrelationId::new("c"),
            key: key.map(RequestKey::new),
            received_at: self.now,
            expires_at: self.now + REQUEST_LIFE,
            verdict: None,
        });
        id
    }

    /// What the watch tells: everything that is different from what was known.
    pub fn look(&mut self) {
        match &self.silence {
            Some(fault) => return self.snapshot.undercloud.failed(self.now, fault.clone()),
            None => self.snapshot.undercloud.answered(self.now),
        }
        let is_first = self.snapshot.tenants.listed_at.is_none();
        self.snapshot.tenants.listed_at.get_or_insert(self.now);
        let known: BTreeSet<VmName> = self.snapshot.tenants.vms().keys().cloned().collect();
        for name in known.iter().filter(|name| !self.kubevirt.vms.contains_key(*name)) {
            self.snapshot.tenants.forget_vm(name);
            self.dirty.vms.insert(name.clone());
        }
        for (name, body) in &self.kubevirt.vms {
            if self.snapshot.tenants.vms().get(name).is_none_or(|seen| **seen != body.seen) {
                self.snapshot.tenants.set_vm(body.seen.clone());
                self.dirty.vms.insert(name.clone());
            }
        }
        let gone: Vec<_> = self.snapshot.tenants.clusters.keys().filter(|name| !self.clusters.contains_key(*name)).cloned().collect();
        for name in gone {
            self.snapshot.tenants.clusters.remove(&name);
            self.snapshot.tenants.insides.remove(&name);
            self.dirty.tenant_clusters.insert(name);
        }
        for (name, (seen, inside)) in &self.clusters {
            self.snapshot.tenants.clusters.insert(name.clone(), Arc::new(seen.clone()));
            self.snapshot.tenants.insides.insert(name.clone(), inside.clone());
            self.dirty.tenant_clusters.insert(name.clone());
        }
        if is_first {
            // What is stored and not there any more is found out by the first listing.
            self.dirty.vms.extend(self.snapshot.vms.keys().cloned());
            self.dirty.tenant_clusters.extend(self.snapshot.tenant_clusters.keys().cloned());
        }
    }

    /// A plan as the keeper makes it: only what changed, is busy or is due. It must be the plan of everything.
    fn plan(&self) -> Plan {
        let mut visited = self.dirty.clone();
        // Machines have their own tests of that.
        visited.machines.extend(self.snapshot.machines.keys().cloned());
        visited.vms.extend(self.due.iter().filter(|(_, at)| **at <= self.now).map(|(vm, _)| vm.clone()));
        let visit = Visit::Only(visited);
        let some = plan::plan(&self.snapshot, &visit, self.now);
        let all = plan::plan(&self.snapshot, &Visit::All, self.now);
        assert_eq!(some.changes, all.changes, "incremental planning changes something else than planning everything");
        assert_eq!(some.errands, all.errands, "incremental planning asks something else than planning everything");
        for (vm, revisit) in &all.vm_revisits {
            let kept = some.vm_revisits.get(vm).copied().unwrap_or_else(|| self.due.get(vm).copied());
            assert_eq!(kept, *revisit, "{vm} would be visited again at another time");
        }
        assert_eq!(some, plan::plan(&self.snapshot, &visit, self.now), "the same snapshot at the same time has two plans");
        assert_eq!(invariants::check(&self.snapshot, &some), []);
        some
    }

    fn commit(&mut self, plan: &Plan) {
        let entries = plan::chronicle(&self.snapshot, plan, self.now);
        for step in plan.errands.iter().filter(|step| step.machine.is_none()) {
            let told = |entry: &&Activity| {
                let what = model::ActivityKind::Errand { errand: step.errand.clone(), attempt: step.attempt };
                entry.what == what && entry.status == model::ActivityStatus::Started && entry.operation == step.operation
            };
            assert_eq!(entries.iter().filter(told).count(), 1, "{} is told once", step.errand);
        }
        self.log.extend(entries);
        self.snapshot = invariants::apply(&self.snapshot, plan);
        self.dirty = Visited::default();
        self.prune_errands();
        self.wake_at = plan.wake_at;
        for (vm, revisit) in &plan.vm_revisits {
            match revisit {
                Some(at) => self.due.insert(vm.clone(), *at),
                None => self.due.remove(vm),
            };
        }
        let again = plan::plan(&self.snapshot, &Visit::All, self.now);
        assert_eq!(again.errands, [], "planning twice asks twice");
        assert_eq!(again.changes, plan::Changes::default(), "planning twice writes twice");
        self.check_documents();
    }

    /// What was asked for by operations that are over matters no more.
    fn prune_errands(&mut self) {
        let running: Vec<_> = self.snapshot.running_for_tenants().map(|(_, id)| self.snapshot.operations[id].clone()).collect();
        let errands = self.snapshot.tenants.errands.clone();
        for errand in errands.keys().filter(|errand| !running.iter().any(|operation| operation.errand_asked(errand).is_some())) {
            self.snapshot.tenants.errands.remove(errand);
        }
    }

    /// Every running operation says what it waits for, and so does its virtual machine.
    fn check_documents(&self) {
        for (target, id) in self.snapshot.running_for_tenants() {
            let operation = &self.snapshot.operations[id];
            assert!(operation.wait.is_some(), "operation {id} neither waits nor has ended");
            if let Target::Vm(name) = target {
                let vm = self.snapshot.vms.get(name).expect("what an operation is at work on has a document");
                assert_eq!(vm.waits, operation.wait.iter().cloned().collect::<Vec<_>>());
            }
        }
    }

    /// One moment: plans, commits, sends and hears until nothing more changes. `told` sees every plan.
    pub fn work(&mut self, told: &mut dyn FnMut(&Snapshot, &Snapshot, &Plan, Timestamp)) {
        loop {
            self.kubevirt.live(self.now);
            self.look();
            let plan = self.plan();
            let before = self.snapshot.clone();
            let changes_something = plan.changes != plan::Changes::default();
            self.commits += u32::from(changes_something);
            let death = self.death.filter(|(at, _)| changes_something && *at == self.commits).map(|(_, death)| death);
            if death == Some(Death::Uncommitted) {
                return self.die(told);
            }
            self.commit(&plan);
            told(&before, &self.snapshot, &plan, self.now);
            if death == Some(Death::Unsent) {
                return self.die(told);
            }
            let is_calm = plan.errands.is_empty() && !changes_something;
            for step in &plan.errands {
                self.send(step);
            }
            if death == Some(Death::Unanswered) {
                return self.die(told);
            }
            if is_calm {
                return;
            }
        }
    }

    /// The keeper dies over its commit, and the next one begins at once.
    fn die(&mut self, told: &mut dyn FnMut(&Snapshot, &Snapshot, &Plan, Timestamp)) {
        self.crash(self.down_for);
        self.work(told);
    }

    fn send(&mut self, step: &ErrandStep) {
        let answer = match self.silence.clone().map_or(self.reply.clone(), Reply::Refuse) {
            Reply::Hang => None,
            Reply::Obey => {
                self.kubevirt.obey(&step.errand, self.now);
                Some(Ok(ErrandOutcome::Accepted))
            }
            Reply::Refuse(fault) => {
                if fault.delivery == model::Delivery::Maybe {
                    self.kubevirt.obey(&step.errand, self.now);
                }
                Some(Err(fault))
            }
        };
        let answer = answer.map(|outcome| ErrandAnswer { at: self.now, outcome });
        let state = ErrandState { attempt: step.attempt, asked_at: self.now, answer };
        self.snapshot.tenants.errands.insert(step.errand.clone(), Arc::new(state));
    }

    /// What hangs is answered.
    pub fn answer(&mut self, outcome: &Result<(), Fault>) {
        let errands = self.snapshot.tenants.errands.clone();
        for (errand, state) in errands.iter().filter(|(_, state)| state.answer.is_none()) {
            if outcome.is_ok() {
                self.kubevirt.obey(errand, self.now);
            }
            let outcome = outcome.clone().map(|()| ErrandOutcome::Accepted);
            let answer = Some(ErrandAnswer { at: self.now, outcome });
            self.snapshot.tenants.errands.insert(errand.clone(), Arc::new(ErrandState { answer, ..(**state).clone() }));
        }
    }

    pub fn run_for(&mut self, span: Span, told: &mut dyn FnMut(&Snapshot, &Snapshot, &Plan, Timestamp)) {
        let end = self.now + span;
        self.work(told);
        while self.now < end {
            let due = self.due.values().copied().chain(self.wake_at).filter(|at| *at > self.now).min();
            let next = [due, self.kubevirt.next_at(), Some(self.now + HEARD_EVERY), Some(end)].into_iter().flatten().min();
            self.now = next.unwrap_or(end).max(self.now + Span::millis(1));
            self.work(told);
        }
    }

    /// Runs until no operation is at work; false if some still are after `span`.
    pub fn run_until_idle(&mut self, span: Span) -> bool {
        let end = self.now + span;
        while self.now < end {
            self.run_for(Span::seconds(10), &mut |_, _, _, _| {});
            if self.snapshot.running_count() == 0 {
                return true;
            }
        }
        false
    }

    /// The keeper dies, and another one begins on the same documents, which has seen nothing.
    pub fn crash(&mut self, down: Span) {
        self.now = self.now + down;
        let old = std::mem::replace(&mut self.snapshot, Snapshot::new(desk::empty_cluster(self.now), self.now));
        self.snapshot.cluster = old.cluster;
        old.machines.values().for_each(|machine| self.snapshot.set_machine((**machine).clone()));
        old.operations.values().for_each(|operation| self.snapshot.set_operation((**operation).clone()));
        old.requests.values().for_each(|request| self.snapshot.set_request((**request).clone()));
        self.snapshot.vms = old.vms;
        self.snapshot.tenant_clusters = old.tenant_clusters;
        self.dirty = Visited {
            machines: self.snapshot.machines.keys().cloned().collect(),
            vms: self.snapshot.vms.keys().cloned().collect(),
            tenant_clusters: self.snapshot.tenant_clusters.keys().cloned().collect(),
        };
        self.due.clear();
        self.wake_at = None;
        for machine in self.snapshot.machines.keys().cloned().collect::<Vec<_>>() {
            self.see_machine(machine.as_str(), true);
        }
    }

    pub fn disconnect(&mut self) {
        let mut cluster = (*self.snapshot.cluster).clone();
        cluster.connection = Connection::Timeout;
        self.snapshot.cluster = Arc::new(cluster);
    }

    pub fn operations(&self) -> Vec<Operation> {
        self.snapshot.operations.values().map(|operation| (**operation).clone()).collect()
    }

    pub fn asked(&self) -> &[Errand] {
        &self.kubevirt.obeyed
    }
}
