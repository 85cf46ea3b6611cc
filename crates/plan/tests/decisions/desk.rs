//! A keeper without devices: it plans as a keeper does, and checks of every plan what must be so of all plans.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{
    Activity, Answer, Ask, Cluster, ClusterName, ClusterStatus, Connection, CorrelationId, DesiredPower, ErrandAnswer, ErrandOutcome,
    ErrandState, FIRST_EDITION, Fault, Found, Hardware, Home, Inventoried, JoinFacts, LastSeen, Limits, Looked, Machine, MachineName,
    Management, NodeSeen, Obeyed, Observation, Party, Power, Provisioning, REQUEST_LIFE, RackName, Readiness, Request, RequestId,
    RequestKey, Role, SecretRef, Seen, Span, Timestamp, Validation,
};
use plan::{ErrandStep, LookStep, Plan, Snapshot, Step, Visit, invariants};

use crate::laws;
use crate::lodging::Lodging;

/// The boot of each machine that was running, by its node's word, when the machine was last seen off. Written down by
/// the tests themselves, and not lost when a keeper dies.
pub type DeadBoots = BTreeMap<MachineName, String>;

pub struct Desk {
    pub snapshot: Snapshot,
    pub now: Timestamp,
    dirty: BTreeSet<MachineName>,
    due: BTreeMap<MachineName, Timestamp>,
    wake_at: Option<Timestamp>,
    requests: u32,
    /// Boots that were seen to end, and when.
    dead_boots: BTreeMap<MachineName, (String, Timestamp)>,
    /// The activity log, as the commits have written it.
    pub log: Vec<(Timestamp, Activity)>,
    /// The validations that were kept, the latest last.
    pub validations: Vec<Validation>,
    /// The same of inventories.
    pub inventories: Vec<Inventoried>,
}

impl Desk {
    pub fn new(cluster: Cluster, now: Timestamp) -> Self {
        Desk {
            snapshot: Snapshot::new(cluster, now),
            now,
            dirty: BTreeSet::new(),
            due: BTreeMap::new(),
            wake_at: None,
            requests: 0,
            dead_boots: BTreeMap::new(),
            log: Vec::new(),
            validations: Vec::new(),
            inventories: Vec::new(),
        }
    }

    /// The time after which a plan may doubt that a boot ended. It counts from later than the Off.
    fn doubt(&self) -> Span {
        self.snapshot.cluster.limits.dead_boot_doubt
    }

    /// Boots that were seen to end within this span.
    fn dead_boots(&self, span: Span) -> DeadBoots {
        let recent = self.dead_boots.iter().filter(|(_, (_, at))| self.now < *at + span);
        recent.map(|(machine, (boot_id, _))| (machine.clone(), boot_id.clone())).collect()
    }

    pub fn add(&mut self, machine: Machine) {
        self.dirty.insert(machine.name.clone());
        self.snapshot.set_machine(machine);
    }

    /// A plan as the keeper makes it: only what changed, is busy or is due. It must be the plan of everything.
    pub fn plan(&self) -> Plan {
        let due = self.due.iter().filter(|(_, at)| **at <= self.now).map(|(machine, _)| machine.clone());
        let mut visited = plan::Visited::machines(self.dirty.iter().cloned().chain(due));
        // That documents of virtual machines and tenant clusters may be visited one by one is `vms`' to try.
        let (tenants, snapshot) = (&self.snapshot.tenants, &self.snapshot);
        visited.vms = tenants.vms().keys().chain(snapshot.vms.keys()).cloned().collect();
        visited.tenant_clusters = tenants.clusters.keys().chain(snapshot.tenant_clusters.keys()).cloned().collect();
        let visit = Visit::Only(visited);
        let some = plan::plan(&self.snapshot, &visit, self.now);
        let all = plan::plan(&self.snapshot, &Visit::All, self.now);
        assert_eq!(some.changes, all.changes, "incremental planning changes something else than planning everything");
        assert_eq!(some.steps, all.steps, "incremental planning asks something else than planning everything");
        assert_eq!(some.looks, all.looks, "incremental planning looks at something else than planning everything");
        assert_eq!(some.errands, all.errands, "incremental planning asks for something else than planning everything");
        assert_eq!(some.wake_at, all.wake_at);
        for (machine, revisit) in &all.revisits {
            let kept = some.revisits.get(machine).copied().unwrap_or_else(|| self.due.get(machine).copied());
            assert_eq!(kept, *revisit, "{machine} would be visited again at another time");
        }
        assert_eq!(some, plan::plan(&self.snapshot, &visit, self.now), "the same snapshot at the same time has two plans");
        assert_eq!(invariants::check(&self.snapshot, &some), []);
        laws::votes_are_taken_safely(&self.snapshot, &some, &self.dead_boots(Span::hours(10_000)), &self.dead_boots(self.doubt()));
        some
    }

    /// Commits a plan. Planning again at once must find nothing left to write or to ask.
    pub fn commit(&mut self, plan: &Plan) {
        let entries = plan::chronicle(&self.snapshot, plan, self.now);
        laws::the_log_tells_of_the_plan(&self.snapshot, plan, &entries);
        self.log.extend(entries.into_iter().map(|entry| (self.now, entry)));
        self.validations.extend(plan.changes.validations.values().cloned());
        self.inventories.extend(plan.changes.inventories.values().cloned());
        self.snapshot = invariants::apply(&self.snapshot, plan);
        self.dirty.clear();
        self.wake_at = plan.wake_at;
        for (machine, revisit) in &plan.revisits {
            match revisit {
                Some(at) => self.due.insert(machine.clone(), *at),
                None => self.due.remove(machine),
            };
        }
        // Whoever carries a plan out knows of its errands before the next plan is made.
        for step in &plan.errands {
            let state = ErrandState { attempt: step.attempt, asked_at: self.now, answer: None };
            self.snapshot.tenants.errands.insert(step.errand.clone(), Arc::new(state));
            self.dirty.extend(step.machine.clone());
        }
        let again = plan::plan(&self.snapshot, &Visit::All, self.now);
        assert_eq!(again.steps, [], "planning twice asks twice");
        assert_eq!(again.errands, [], "planning twice asks for the same twice");
        assert_eq!(again.changes, plan::Changes::default(), "planning twice writes twice");
        for (machine, at) in again.revisits.iter().filter_map(|(machine, at)| Some((machine, (*at)?))) {
            assert!(at > self.now, "{machine} is visited again and again at {at}, though nothing changes");
        }
        laws::running_operations_wait(&self.snapshot);
        laws::one_control_plane_machine_is_disrupted(&self.snapshot);
        laws::holds_have_living_owners(&self.snapshot);
    }

    /// When planning is due although nothing has happened.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.due.values().copied().chain(self.wake_at).filter(|at| *at > self.now).min()
    }

    /// A new keeper on the same documents: it has seen nothing yet.
    pub fn crash(&mut self) {
        let old = std::mem::replace(&mut self.snapshot, Snapshot::new(empty_cluster(self.now), self.now));
        self.snapshot.cluster = old.cluster;
        self.snapshot.vms = old.vms;
        for machine in old.machines.values() {
            self.snapshot.set_machine((**machine).clone());
        }
        self.snapshot.tenant_clusters = old.tenant_clusters;
        for operation in old.operations.values() {
            self.snapshot.set_operation((**operation).clone());
        }
        self.snapshot.runtimes = old.runtimes;
        self.snapshot.key_sets = old.key_sets;
        for request in old.requests.values() {
            self.snapshot.set_request((**request).clone());
        }
        self.dirty = self.snapshot.machines.keys().cloned().collect();
        self.due.clear();
        self.wake_at = None;
    }

    pub fn request(&mut self, caller: &str, ask: Ask, key: Option<&str>) -> RequestId {
        self.requests += 1;
        let id = RequestId::new(format!("op{}", self.requests));
        let key = key.map(RequestKey::new);
        let request = Request { id: id.clone(), caller: caller.into(), key, ..request_at(&self.snapshot, self.now, ask) };
        self.snapshot.set_request(request);
        id
    }

    fn observe(&mut self, machine: &MachineName, change: impl FnOnce(&mut Observation)) {
        let mut observation = self.snapshot.observation(machine);
        change(&mut observation);
        self.snapshot.observations.insert(machine.clone(), Arc::new(observation));
        self.dirty.insert(machine.clone());
    }

    pub fn look_power(&mut self, machine: &MachineName, seen: Result<Power, Fault>) {
        let now = self.now;
        self.observe(machine, |observation| match seen {
            Ok(what) => {
                observation.bmc.answered(now);
                observation.power = Some(Seen { what, at: now });
            }
            Err(fault) => observation.bmc.failed(now, fault),
        });
        self.note_death(machine);
    }

    pub fn look_node(&mut self, machine: &MachineName, node: Option<NodeSeen>) {
        let now = self.now;
        match &node {
            Some(node) => self.snapshot.nodes.insert(node.name.clone(), machine.clone()),
            None => self.snapshot.nodes.remove(machine.as_str()),
        };
        self.observe(machine, |observation| observation.node = Some(Seen { what: node, at: now }));
        self.note_death(machine);
    }

    /// Seen off at this very moment: whatever the node says it runs has died.
    fn note_death(&mut self, machine: &MachineName) {
        let observation = self.snapshot.observation(machine);
        let is_off = observation.power.as_ref().is_some_and(|power| power.what == Power::Off && power.at == self.now);
        if let (true, Some(boot_id)) = (is_off, observation.boot_id()) {
            self.dead_boots.insert(machine.clone(), (boot_id, self.now));
        }
    }

    /// The undercloud answers or does not. When that changes, it concerns every machine.
    pub fn hear_undercloud(&mut self, heard: Result<(), Fault>) {
        let was_silent = self.snapshot.undercloud.fault.is_some();
        match heard {
            Ok(()) => {
                self.snapshot.undercloud.answered(self.now);
                self.snapshot.tenants.listed_at.get_or_insert(self.now);
            }
            Err(fault) => self.snapshot.undercloud.failed(self.now, fault),
        }
        let running: Vec<MachineName> = self.snapshot.running().map(|(machine, _)| machine.clone()).collect();
        self.dirty.extend(running);
        if was_silent != self.snapshot.undercloud.fault.is_some() {
            self.dirty.extend(self.snapshot.machines.keys().cloned());
        }
    }

    /// What is on the machines is seen. It concerns those that are being emptied or filled.
    pub fn look_tenants(&mut self, lodging: &Lodging) {
        lodging.show(&mut self.snapshot, self.now);
        let concerned = self
            .snapshot
            .machines
            .values()
            .filter(|machine| machine.evacuated.is_some() || self.snapshot.running_on(&machine.name).is_some());
        let concerned: Vec<MachineName> = concerned.map(|machine| machine.name.clone()).collect();
        self.dirty.extend(concerned);
    }

    /// The answer to an errand. One that was lost with its keeper is nobody's.
    pub fn answer_errand(&mut self, step: &ErrandStep, outcome: Result<ErrandOutcome, Fault>) {
        let at = self.now;
        if let Some(state) = self.snapshot.tenants.errands.get(&step.errand).cloned() {
            let state = ErrandState { answer: Some(ErrandAnswer { at, outcome }), ..(*state).clone() };
            self.snapshot.tenants.errands.insert(step.errand.clone(), Arc::new(state));
            self.dirty.extend(step.machine.clone());
        }
    }

    /// Whether the look begins: one of a kind at a time.
    pub fn begin_look(&mut self, look: &LookStep) -> bool {
        let Some(machine) = &look.machine else {
            return !std::mem::replace(&mut self.snapshot.is_looking_at_etcd, true);
        };
        let mut begins = false;
        self.observe(machine, |observation| begins = observation.looking.insert(look.at));
        begins
    }

    pub fn end_look(&mut self, look: &LookStep, began_at: Timestamp, found: Result<Found, Fault>) {
        let looked = Arc::new(Looked { began_at, ended_at: self.now, found });
        match &look.machine {
            Some(machine) => self.observe(machine, |observation| {
                observation.looking.remove(&look.at);
                observation.looked.insert(look.at, looked);
            }),
            None => {
                self.snapshot.is_looking_at_etcd = false;
                self.snapshot.etcd = Some(looked);
                let members: Vec<MachineName> = self.snapshot.control_plane().map(|machine| machine.name.clone()).collect();
                self.dirty.extend(members);
            }
        }
    }

    pub fn send(&mut self, step: &Step) {
        let under_way = self.snapshot.observation(&step.machine).asking;
        assert_eq!(under_way, None, "{}: two requests at once", step.machine);
        self.observe(&step.machine, |observation| observation.asking = Some(step.ask));
    }

    /// The device's answer, and what it tells of the line to the device.
    pub fn answer(&mut self, step: &Step, result: Result<(), Fault>) {
        let now = self.now;
        let through_bmc = step.ask.party() == Party::Bmc;
        let fault = result.err();
        let of_line = fault.clone().filter(|fault| plan::speaks_of_the_line(step.ask, fault));
        self.observe(&step.machine, |observation| {
            observation.asking = None;
            observation.ask_ended_at = Some(now);
            if fault.is_none() {
                let (operation, ask, attempt) = (step.operation.clone(), step.ask, step.attempt);
                observation.obeyed = Some(Obeyed { operation, ask, attempt, at: now });
            }
            observation.answer =
                fault.map(|fault| Answer { operation: step.operation.clone(), ask: step.ask, attempt: step.attempt, fault, at: now });
            if let (true, Some(fault)) = (through_bmc, of_line.clone()) {
                observation.bmc.failed(now, fault);
            }
        });
        if let (false, Some(fault)) = (through_bmc, of_line) {
            self.hear_undercloud(Err(fault));
        }
    }
}

/// A request of somebody's that nobody has judged.
pub fn request_at(snapshot: &Snapshot, now: Timestamp, ask: Ask) -> Request {
    Request {
        sent: None,
        id: RequestId::new("r"),
        cluster: snapshot.cluster.name.clone(),
        ask,
        caller: "alice".into(),
        correlation_id: CorrelationId::new("c"),
        key: None,
        received_at: now,
        expires_at: now + REQUEST_LIFE,
        verdict: None,
    }
}

/// Ten in the morning: transcripts show clock times only.
pub fn morning() -> Timestamp {
    Timestamp::from_millis(1_794_736_800_000)
}

pub fn name(text: &str) -> MachineName {
    MachineName::new(text).unwrap()
}

pub fn empty_cluster(now: Timestamp) -> Cluster {
    Cluster {
        name: ClusterName::new("site1").unwrap(),
        home: Home { subscription: "s".into(), resource_group: "g".into(), location: "here".into() },
        tags: BTreeMap::new(),
        created_at: now,
        version: "4.7.8".into(),
        detailed_status: ClusterStatus::Running,
        connection: Connection::Connected,
        connection_since: now - Span::hours(1),
        limits: Limits::default(),
        waits: Vec::new(),
        skus: Vec::new(),
        join: Some(JoinFacts { api_url: "https://undercloud".into(), ca_hash: None }),
    }
}

pub fn machine(text: &str, role: Role, provisioning: Provisioning, now: Timestamp) -> Machine {
    let spare = provisioning == Provisioning::Available;
    Machine {
        name: name(text),
        cluster: ClusterName::new("site1").unwrap(),
        install: model::InstallSettings::default(),
        hardware: Hardware {
            rack: RackName::new("rack1").unwrap(),
            slot: 1,
            sku: "sku".into(),
            serial_number: "sn".into(),
            bmc_address: "bmc".into(),
            bmc_mac: "m".into(),
            boot_mac: "m".into(),
            credentials: SecretRef::new("bmc/x"),
        },
        tags: BTreeMap::new(),
        created_at: now,
        details: String::new(),
        edition: FIRST_EDITION,
        modified: None,
        role,
        provisioning,
        desired_power: if spare { DesiredPower::Off } else { DesiredPower::On },
        holds: Vec::new(),
        management: Management::Managed,
        managed_again: None,
        last_seen: LastSeen::default(),
        node_ask: None,
        evacuated: None,
        waits: Vec::new(),
        installed: None,
        validated: None,
        unhealthy: None,
        replaced: None,
        baseline: None,
        accounts: None,
    }
}

pub fn node(machine: &str, boot: u32) -> NodeSeen {
    NodeSeen {
        name: machine.into(),
        ready: Readiness::True,
        unschedulable: false,
        cordoned_by_us: false,
        boot_id: format!("boot{boot}"),
        kubelet_version: "v1.36.0".into(),
        os_image: "linux".into(),
        machine: machine.into(),
        problems: Vec::new(),
        internal_ip: None,
    }
}
