//! A site as one value: its machines, its Kubernetes objects, and the order in which things happen.
//!
//! Time is an argument. `advance` lets everything due happen in time order, and gives the same result in one step or in many.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::bmc::{BmcLog, Logged};
use crate::events::Announce;
use crate::hardware::Hardware;
use crate::kubelet::NodeState;
use crate::layout::{Layout, MachineSpec, Role};
use crate::machine::{Happening, Machine, PowerState, ResetAnswer, ResetType, Surroundings};
use crate::objects::{Durability, NAMESPACES, NODES, ObjectError, ObjectKey, ObjectTable, Part, Preconditions, Resource};
use crate::pace::Pace;
use crate::persist::Unsaved;
use crate::time::{Instant, Span};

/// The namespaces that every cluster has.
const NAMESPACE_NAMES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Everything about one machine that changes.
#[derive(Clone, Debug)]
pub(crate) struct MachineState {
    pub machine: Machine,
    pub node: NodeState,
    pub log: BmcLog,
    pub hardware: Hardware,
    /// While the BMC restarts: when it answers again.
    pub bmc_up_at: Option<Instant>,
    pub bmc_restarts: u32,
    /// The state of power before the present one, and when it ended, for BMCs that notice late.
    pub power_before: (PowerState, Instant),
}

impl MachineState {
    /// When the machine or its BMC next changes by itself.
    pub fn next_at(&self) -> Option<Instant> {
        self.machine.next_at().into_iter().chain(self.hardware.tasks.next_at()).chain(self.bmc_up_at).min()
    }
}

/// A simulated site at one instant.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) layout: Layout,
    pub(crate) pace: Pace,
    pub(crate) now: Instant,
    pub(crate) states: Vec<MachineState>,
    pub(crate) objects: ObjectTable,
    /// When each event was posted, oldest first, so that the API forgets them in time.
    pub(crate) posted_events: VecDeque<(Instant, ObjectKey)>,
    pub(crate) unsaved: Unsaved,
    /// The machines whose BMCs have written into their logs, for whoever waits for that.
    logged: BTreeSet<usize>,
    /// Whether a majority of the control-plane machines serves.
    pub(crate) available: bool,
    /// What is due when, and for which machine: at one instant the machines take their turns in layout order.
    agenda: BTreeSet<(Instant, usize)>,
    scheduled: Vec<Option<Instant>>,
}

impl World {
    /// A site that has been running since before anybody looked: all but the spare are up and joined.
    pub fn new(layout: Layout, pace: Pace, now: Instant) -> World {
        let mut world = World::assemble(layout, pace, now);
        for name in NAMESPACE_NAMES {
            let namespace = json!({
                "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
                "spec": {"finalizers": ["kubernetes"]},
                "status": {"phase": "Active"},
            });
            // The table is empty, so the name is free.
            let _ = world.objects.create(&NAMESPACES, "", namespace, now);
        }
        world.available = world.has_quorum();
        for index in 0..world.states.len() {
            world.unsaved.machines.insert(index);
            if world.states[index].machine.is_up() {
                world.kubelet_reports(index, now, Announce::Nothing);
            }
            world.reschedule(index);
        }
        world
    }

    /// The machines as they are racked, with no objects and nothing due.
    pub(crate) fn assemble(layout: Layout, pace: Pace, now: Instant) -> World {
        let site_seed = layout.site_seed();
        let states: Vec<MachineState> = layout
            .machines()
            .iter()
            .map(|spec| MachineState {
                machine: match spec.role {
                    Role::SpareControlPlane => Machine::bare(),
                    _ => Machine::running(Surroundings { pace: &pace, site_seed, name: &spec.name }),
                },
                node: NodeState::default(),
                log: BmcLog::default(),
                hardware: Hardware::factory(spec),
                bmc_up_at: None,
                bmc_restarts: 0,
                power_before: (PowerState::Off, Instant(i64::MIN)),
            })
            .collect();
        let scheduled = vec![None; states.len()];
        World {
            objects: ObjectTable::new(site_seed),
            layout,
            pace,
            now,
            states,
            posted_events: VecDeque::new(),
            unsaved: Unsaved::default(),
            logged: BTreeSet::new(),
            available: false,
            agenda: BTreeSet::new(),
            scheduled,
        }
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn now(&self) -> Instant {
        self.now
    }

    pub fn objects(&self) -> &ObjectTable {
        &self.objects
    }

    pub fn power_state(&self, machine: usize) -> PowerState {
        self.states[machine].machine.power_state()
    }

    /// The state of power as a BMC tells it that notices a change only `lag` later.
    pub fn power_state_noticed(&self, machine: usize, lag: Span) -> PowerState {
        let (before, ended_at) = self.states[machine].power_before;
        if ended_at + lag > self.now { before } else { self.power_state(machine) }
    }

    /// Whether the machine's operating system runs.
    pub fn is_host_up(&self, machine: usize) -> bool {
        self.states[machine].machine.is_up()
    }

    pub fn bmc_log(&self, machine: usize) -> &BmcLog {
        &self.states[machine].log
    }

    /// Whether the Kubernetes API answers.
    pub fn is_api_available(&self) -> bool {
        self.available
    }

    /// When something next happens by itself, if it ever does.
    pub fn next_event_at(&self) -> Option<Instant> {
        self.agenda.first().map(|(at, _)| *at)
    }

    /// Lets everything happen that is due at `now` or before.
    pub fn advance(&mut self, now: Instant) {
        while let Some((at, index)) = self.agenda.first().copied().filter(|(at, _)| *at <= now) {
            self.now = self.now.max(at);
            self.machine_steps(index, at);
            self.hardware_steps(index, at);
            self.bmc_steps(index, at);
            if self.available {
                self.kubelet_steps(index, at);
                self.lifecycle_steps(index, at);
            }
            self.reschedule(index);
        }
        self.now = self.now.max(now);
    }

    /// A reset as the machine's BMC receives it.
    pub fn reset(&mut self, machine: usize, reset: ResetType, now: Instant) -> ResetAnswer {
        self.advance(now);
        let now = self.now;
        let World { layout, pace, states, .. } = self;
        let around = Surroundings { pace, site_seed: layout.site_seed(), name: &layout.machines()[machine].name };
        let before = states[machine].machine.clone();
        let (answer, happenings) = states[machine].machine.reset(reset, now, around);
        self.write_log(machine, now, Logged::ResetRequested { reset: reset.to_string(), status: answer.status() });
        self.note_transition(machine, &before, now);
        self.react(machine, &happenings, now);
        self.reschedule(machine);
        // What takes no time has happened when the BMC answers.
        self.advance(now);
        answer
    }

    /// Notes a reset that the BMC did not understand.
    pub fn note_bad_reset(&mut self, machine: usize, reset: &str, status: u16, now: Instant) {
        self.advance(now);
        self.write_log(machine, self.now, Logged::ResetRequested { reset: reset.to_owned(), status });
    }

    /// A creation through the API.
    pub fn create_object(&mut self, resource: &Resource, namespace: &str, object: Value, now: Instant) -> Result<Arc<Value>, ObjectError> {
        self.advance(now);
        let now = self.now;
        let created = self.objects.create(resource, namespace, object, now)?;
        if resource == &NODES {
            self.node_written(&created, None, now);
        }
        Ok(created)
    }

    /// A change through the API by a function of the object as it is.
    pub fn modify_object<E: From<ObjectError>>(
        &mut self,
        resource: &Resource,
        key: &ObjectKey,
        part: Part,
        now: Instant,
        change: impl FnOnce(&Value) -> Result<Value, E>,
    ) -> Result<Arc<Value>, E> {
        self.advance(now);
        let now = self.now;
        let before = self.objects.get(resource, key).cloned();
        let after = self.objects.modify(resource, key, part, Durability::Kept, change)?;
        if resource == &NODES {
            self.node_written(&after, before.as_deref(), now);
        }
        Ok(after)
    }

    /// A deletion through the API.
    pub fn delete_object(
        &mut self,
        resource: &Resource,
        key: &ObjectKey,
        only_if: &Preconditions,
        now: Instant,
    ) -> Result<Arc<Value>, ObjectError> {
        self.advance(now);
        self.objects.delete(resource, key, only_if)
    }

    pub(crate) fn spec(&self, index: usize) -> &MachineSpec {
        &self.layout.machines()[index]
    }

    pub(crate) fn write_log(&mut self, index: usize, at: Instant, logged: Logged) {
        let state = &mut self.states[index];
        if let Some(fallen) = state.log.write(at, logged) {
            self.unsaved.fallen_entries.push((index, fallen));
        }
        if let Some(entry) = state.log.entries.back() {
            self.unsaved.entries.push((index, entry.clone()));
        }
        self.unsaved.machines.insert(index);
        self.logged.insert(index);
    }

    /// The machines whose BMCs have written into their logs since the last call.
    pub fn take_logged(&mut self) -> BTreeSet<usize> {
        std::mem::take(&mut self.logged)
    }

    fn machine_steps(&mut self, index: usize, at: Instant) {
        while self.states[index].machine.next_at().is_some_and(|next| next <= at) {
            let World { layout, pace, states, .. } = self;
            let around = Surroundings { pace, site_seed: layout.site_seed(), name: &layout.machines()[index].name };
            let before = states[index].machine.clone();
            let happenings = states[index].machine.step(at, around);
            self.unsaved.machines.insert(index);
            self.note_transition(index, &before, at);
            self.react(index, &happenings, at);
        }
    }

    /// What the BMC makes of what its machine just did.
    fn note_transition(&mut self, index: usize, before: &Machine, at: Instant) {
        let state = &mut self.states[index];
        if before.power_state() != state.machine.power_state() {
            state.power_before = (before.power_state(), at);
        }
        if before.starts != state.machine.starts {
            self.firmware_starts(index, at);
        }
    }

    /// What the rest of the site makes of what a machine just did.
    fn react(&mut self, index: usize, happenings: &[Happening], at: Instant) {
        for happening in happenings {
            match happening {
                Happening::PoweredOn => self.write_log(index, at, Logged::PoweredOn),
                Happening::PoweredOff => self.write_log(index, at, Logged::PoweredOff),
                Happening::HostLeft => {
                    self.kubelet_stops(index);
                    self.weigh_quorum(at);
                }
                Happening::HostCameUp => {
                    let was_available = self.available;
                    self.weigh_quorum(at);
                    // A control plane that just returned has heard from every kubelet already.
                    if was_available {
                        self.kubelet_reports(index, at, Announce::Events);
                    }
                }
            }
        }
    }

    /// Notes when the machine is next due. While the API is away only its hardware moves.
    pub(crate) fn reschedule(&mut self, index: usize) {
        let state = &self.states[index];
        let node = if self.available { state.node.next_at(&self.pace) } else { None };
        let next = state.next_at().into_iter().chain(node).min();
        if self.scheduled[index] == next {
            return;
        }
        if let Some(old) = self.scheduled[index] {
            self.agenda.remove(&(old, index));
        }
        if let Some(new) = next {
            self.agenda.insert((new, index));
        }
        self.scheduled[index] = next;
    }
}

#[cfg(test)]
#[path = "site_tests.rs"]
mod tests;
