//! One Kubernetes cluster as one value: its objects, its hosts, and the order in which its kubelets and controllers act.
//!
//! The undercloud and the tenants' clusters are the same code. What a write makes of the rest of its cluster is in
//! `writes.rs` and below it; which clusters a site has, in `clusters.rs`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::json;

use crate::KUBERNETES_VERSION;
use crate::host::{Host, HostFacts};
use crate::objects::{DISRUPTION_BUDGETS, NAMESPACES, ObjectKey, ObjectTable, RESOURCES, Resource, TENANT_RESOURCES};
use crate::pace::Pace;
use crate::taint_manager::Doom;
use crate::time::Instant;
use crate::workloads::Controllers;
use crate::{budget, namespace};

/// What a cluster is for, and so which kinds it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    Undercloud,
    Tenant,
}

impl Flavour {
    /// The kinds that the cluster's API serves, in the order of discovery.
    pub fn resources(self) -> &'static [&'static Resource] {
        match self {
            Flavour::Undercloud => &RESOURCES,
            Flavour::Tenant => &TENANT_RESOURCES,
        }
    }
}

/// Controllers that wait for an instant, in the order in which they act when they are due together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// Budgets whose pods changed are counted.
    Counting,
    /// Spent disruptions are given back.
    Budgets,
    Workloads,
    Placing,
    Taints,
    Garbage,
    /// Namespaces that are being deleted lose their content.
    Namespaces,
    /// Nodes of hosts outside that fell silent are declared unknown.
    Strangers,
}

/// Whose turn it is: hosts in the order in which they joined, and then the controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Turn {
    Host(usize),
    Timer(Timer),
}

/// A Kubernetes cluster at one instant.
#[derive(Clone, Debug)]
pub struct Kube {
    pub(crate) flavour: Flavour,
    pub(crate) seed: u64,
    pub(crate) pace: Pace,
    pub(crate) objects: ObjectTable,
    /// By slot. The slots of the undercloud are the places of its machines in the layout.
    pub(crate) hosts: BTreeMap<usize, Host>,
    slots: BTreeMap<String, usize>,
    /// When each event was posted, oldest first, so that the API forgets them in time.
    pub(crate) posted_events: VecDeque<(Instant, ObjectKey)>,
    /// Whether the API answers.
    pub(crate) available: bool,
    /// Hosts that changed since the last records were taken.
    pub(crate) unsaved_hosts: BTreeSet<usize>,
    /// The names of hosts that were dropped since then.
    pub(crate) unsaved_drops: BTreeSet<String>,
    /// No version above this one is handed out before a higher one is saved.
    pub(crate) reserved_version: u64,
    /// Whether a fault keeps the API servers down.
    pub(crate) is_held_down: bool,
    pub(crate) controllers: Controllers,
    /// Whether a fault keeps the disruption controller from counting.
    pub(crate) is_counting_held_up: bool,
    /// The budgets that are to be counted.
    pub(crate) uncounted: BTreeSet<ObjectKey>,
    /// The pods that each budget means.
    pub(crate) budget_members: BTreeMap<ObjectKey, BTreeSet<ObjectKey>>,
    /// The pods that wait for a node.
    pub(crate) unplaced: BTreeSet<ObjectKey>,
    /// The pods that a taint of their node will end, and when.
    pub(crate) dooms: BTreeMap<ObjectKey, Doom>,
    /// The nodes of hosts that are not simulated, and when each was last heard of. One that is unknown is not among them.
    pub(crate) strangers: BTreeMap<String, Instant>,
    /// What is due when, and whose turn it then is. Empty while the API is away.
    agenda: BTreeSet<(Instant, Turn)>,
    scheduled: BTreeMap<usize, Instant>,
    timers: BTreeMap<Timer, Instant>,
}

impl Kube {
    /// A cluster without objects and hosts, whose API does not answer yet.
    pub(crate) fn empty(flavour: Flavour, seed: u64, pace: Pace) -> Kube {
        Kube {
            flavour,
            seed,
            pace,
            objects: ObjectTable::new(seed),
            hosts: BTreeMap::new(),
            slots: BTreeMap::new(),
            posted_events: VecDeque::new(),
            available: false,
            unsaved_hosts: BTreeSet::new(),
            unsaved_drops: BTreeSet::new(),
            reserved_version: 0,
            is_held_down: false,
            controllers: Controllers::default(),
            is_counting_held_up: false,
            uncounted: BTreeSet::new(),
            budget_members: BTreeMap::new(),
            unplaced: BTreeSet::new(),
            dooms: BTreeMap::new(),
            strangers: BTreeMap::new(),
            agenda: BTreeSet::new(),
            scheduled: BTreeMap::new(),
            timers: BTreeMap::new(),
        }
    }

    /// Makes the namespaces that every cluster has.
    pub(crate) fn found(&mut self, at: Instant) {
        for name in namespace::IMMORTAL {
            // The table is empty, so the name is free.
            let _ = self.create(&NAMESPACES, "", json!({"metadata": {"name": name}}), at);
        }
    }

    pub fn flavour(&self) -> Flavour {
        self.flavour
    }

    pub fn objects(&self) -> &ObjectTable {
        &self.objects
    }

    /// Whether the API answers.
    pub fn is_available(&self) -> bool {
        self.available
    }

    pub(crate) fn slot_of(&self, node: &str) -> Option<usize> {
        self.slots.get(node).copied()
    }

    /// The version of its API server: that of the first host of its control plane.
    pub fn version(&self) -> &str {
        let mut voters = self.hosts.values().filter(|host| host.facts.votes);
        voters.next().map_or(KUBERNETES_VERSION, |host| &host.facts.version)
    }

    /// Takes a host in, at the slot it has or at the next free one. Its kubelet does not run yet.
    pub(crate) fn add_host(&mut self, facts: HostFacts) -> usize {
        let next = self.hosts.last_key_value().map_or(0, |(slot, _)| slot + 1);
        let slot = *self.slots.entry(facts.name.clone()).or_insert(next);
        match self.hosts.get_mut(&slot) {
            Some(host) => host.facts = facts,
            None => drop(self.hosts.insert(slot, Host::new(facts))),
        }
        slot
    }

    /// Drops a host. What the API knows of it stays.
    pub(crate) fn drop_host(&mut self, slot: usize) {
        if let Some(host) = self.hosts.remove(&slot) {
            self.slots.remove(&host.facts.name);
            self.unsaved_drops.insert(host.facts.name);
        }
        self.reschedule(slot);
    }

    /// A host by a slot that is taken: slots come from `slot_of` and from the agenda, which forgets dropped hosts.
    pub(crate) fn host(&self, slot: usize) -> &Host {
        &self.hosts[&slot]
    }

    pub(crate) fn host_mut(&mut self, slot: usize) -> &mut Host {
        self.hosts.get_mut(&slot).expect("the slot is taken")
    }

    pub(crate) fn next_turn(&self) -> Option<(Instant, Turn)> {
        self.agenda.first().copied()
    }

    /// Lets whoever has the turn act.
    pub(crate) fn step(&mut self, turn: Turn, at: Instant) {
        match turn {
            Turn::Host(slot) => self.host_steps(slot, at),
            Turn::Timer(Timer::Counting) => self.count_now(at),
            Turn::Timer(Timer::Budgets) => self.budget_steps(at),
            Turn::Timer(Timer::Workloads) => self.workload_steps(at),
            Turn::Timer(Timer::Placing) => self.placing_steps(at),
            Turn::Timer(Timer::Taints) => self.taint_steps(at),
            Turn::Timer(Timer::Garbage) => self.garbage_steps(at),
            Turn::Timer(Timer::Namespaces) => self.namespace_steps(at),
            Turn::Timer(Timer::Strangers) => self.stranger_steps(at),
        }
    }

    pub(crate) fn host_steps(&mut self, slot: usize, at: Instant) {
        if self.available && self.hosts.contains_key(&slot) {
            self.kubelet_steps(slot, at);
            self.pod_steps(slot, at);
            self.lifecycle_steps(slot, at);
        }
        self.reschedule(slot);
    }

    /// Notes when the host's kubelet, or the controller that watches it, next acts.
    pub(crate) fn reschedule(&mut self, slot: usize) {
        let next = self.hosts.get(&slot).filter(|_| self.available).and_then(|host| {
            let pods = host.pods.values().flatten().copied().min();
            host.node.next_at(&self.pace).into_iter().chain(pods).chain(host.mirrors_at).min()
        });
        let old = self.scheduled.get(&slot).copied();
        if old == next {
            return;
        }
        if let Some(old) = old {
            self.agenda.remove(&(old, Turn::Host(slot)));
            self.scheduled.remove(&slot);
        }
        if let Some(new) = next {
            self.agenda.insert((new, Turn::Host(slot)));
            self.scheduled.insert(slot, new);
        }
    }

    pub(crate) fn reschedule_all(&mut self, at: Instant) {
        let slots: Vec<usize> = self.hosts.keys().copied().collect();
        for slot in slots {
            self.reschedule(slot);
        }
        for (timer, due) in &mut self.timers {
            self.agenda.remove(&(*due, Turn::Timer(*timer)));
            if self.available {
                // What fell due while the API was away happens now.
                *due = (*due).max(at);
                self.agenda.insert((*due, Turn::Timer(*timer)));
            }
        }
    }

    /// Notes when a controller next acts. While the API is away it does not.
    pub(crate) fn set_timer(&mut self, timer: Timer, due: Option<Instant>) {
        if let Some(old) = self.timers.remove(&timer) {
            self.agenda.remove(&(old, Turn::Timer(timer)));
        }
        if let Some(due) = due {
            self.timers.insert(timer, due);
            if self.available {
                self.agenda.insert((due, Turn::Timer(timer)));
            }
        }
    }

    /// Lets a controller act at an instant, or before it if it is to act sooner anyhow.
    pub(crate) fn hasten(&mut self, timer: Timer, due: Instant) {
        if self.timers.get(&timer).is_none_or(|known| *known > due) {
            self.set_timer(timer, Some(due));
        }
    }

    /// Notes when the first spent disruption is given back.
    pub(crate) fn reschedule_budgets(&mut self) {
        let budgets = self.objects.list(&DISRUPTION_BUDGETS, None);
        let timeout = self.pace.in_site_time(budget::DISRUPTION_TIMEOUT);
        let next = budgets.filter_map(|(_, budget)| budget::next_return_at(budget, timeout)).min();
        // Whoever is held up gives nothing back, and would find the same thing due for ever.
        let next = next.filter(|_| !self.is_counting_held_up);
        self.set_timer(Timer::Budgets, next);
    }
}
