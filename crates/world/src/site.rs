//! A site as one value: its machines, its Kubernetes clusters, and the order in which things happen.
//!
//! Time is an argument. `advance` lets everything due happen in time order, and gives the same result in one step or in many.

use std::collections::{BTreeMap, BTreeSet};

use crate::bmc::{BmcLog, Logged};
use crate::etcd::Etcd;
use crate::events::Announce;
use crate::fault::{FaultKind, FaultTarget, Faults};
use crate::hardware::{BootSource, Hardware};
use crate::host::HostFacts;
use crate::kube::{Flavour, Kube, Turn};
use crate::layout::{Layout, MachineSpec, Role};
use crate::machine::{Disk, Happening, Machine, Membership, PowerState, ResetAnswer, ResetType, Surroundings};
use crate::objects::ObjectTable;
use crate::pace::Pace;
use crate::persist::Unsaved;
use crate::time::Instant;
use crate::virt::Virt;

/// Everything about one machine that changes.
#[derive(Clone, Debug)]
pub(crate) struct MachineState {
    pub machine: Machine,
    pub log: BmcLog,
    pub hardware: Hardware,
    /// While the BMC restarts: when it answers again.
    pub bmc_up_at: Option<Instant>,
    pub bmc_restarts: u32,
    /// The state of power before the present one, and when it ended, for BMCs that notice late.
    pub power_before: (PowerState, Instant),
}

/// Who acts next: machines in layout order, each before its kubelet; then the undercloud's controllers; then the tenants'
/// clusters, by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Actor {
    Machine(usize),
    Undercloud(Turn),
    Tenant(String, Turn),
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
    /// The site's own Kubernetes. It answers while most of the voting members of its etcd run.
    pub(crate) undercloud: Kube,
    /// The tenants' Kubernetes clusters, by name.
    pub(crate) tenants: BTreeMap<String, Kube>,
    /// KubeVirt's controllers, and the guests.
    pub(crate) virt: Virt,
    /// Who has a vote in the undercloud's control plane.
    pub(crate) etcd: Etcd,
    pub(crate) faults: Faults,
    pub(crate) unsaved: Unsaved,
    /// The machines that want to ask something over the network, and have not been heard yet.
    pub(crate) calling: BTreeSet<usize>,
    /// The machines whose BMCs have written into their logs, for whoever waits for that.
    logged: BTreeSet<usize>,
    /// Which machine is due when.
    agenda: BTreeSet<(Instant, usize)>,
    scheduled: Vec<Option<Instant>>,
}

impl World {
    /// A site that has been running since before anybody looked: all but the spare are up and joined.
    pub fn new(layout: Layout, pace: Pace, now: Instant) -> World {
        let mut world = World::assemble(layout, pace, now);
        world.undercloud.found(now);
        world.settle_etcd(now);
        world.undercloud.available = world.has_quorum();
        for index in 0..world.states.len() {
            world.unsaved.machines.insert(index);
            if world.states[index].machine.is_up() {
                world.kubelet_starts(index);
                world.undercloud.kubelet_reports(index, now, Announce::Nothing);
            }
            world.reschedule(index);
        }
        world.found_tenants(now);
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
                    _ => Machine::running(Surroundings {
                        pace: &pace,
                        site_seed,
                        name: &spec.name,
                        boot_factor: 1,
                        first: &BootSource::Disk,
                        disk: Disk::Bootable(Membership::Member),
                    }),
                },
                log: BmcLog::default(),
                hardware: Hardware::factory(spec, site_seed),
                bmc_up_at: None,
                bmc_restarts: 0,
                power_before: (PowerState::Off, Instant(i64::MIN)),
            })
            .collect();
        let scheduled = vec![None; states.len()];
        let mut undercloud = Kube::empty(Flavour::Undercloud, site_seed, pace);
        for spec in layout.machines() {
            undercloud.add_host(HostFacts::of_machine(spec));
        }
        World {
            undercloud,
            tenants: BTreeMap::new(),
            virt: Virt::default(),
            etcd: Etcd::founded(&layout),
            faults: Faults::default(),
            layout,
            pace,
            now,
            states,
            unsaved: Unsaved::default(),
            calling: BTreeSet::new(),
            logged: BTreeSet::new(),
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

    /// The objects of the undercloud.
    pub fn objects(&self) -> &ObjectTable {
        self.undercloud.objects()
    }

    /// The power as the machine's BMC reports it.
    pub fn power_state(&self, machine: usize) -> PowerState {
        self.stale_power_state(machine).unwrap_or_else(|| self.states[machine].machine.power_state())
    }

    /// The state of power as a BMC tells it that notices changes late.
    pub fn power_state_noticed(&self, machine: usize) -> PowerState {
        let (before, ended_at) = self.states[machine].power_before;
        if ended_at + self.pace.power_lag > self.now { before } else { self.power_state(machine) }
    }

    /// Whether the machine's operating system runs.
    pub fn is_host_up(&self, machine: usize) -> bool {
        self.states[machine].machine.is_up()
    }

    pub fn bmc_log(&self, machine: usize) -> &BmcLog {
        &self.states[machine].log
    }

    /// Whether the Kubernetes API of the undercloud answers.
    pub fn is_api_available(&self) -> bool {
        self.undercloud.is_available()
    }

    /// When something next happens by itself, if it ever does.
    pub fn next_event_at(&self) -> Option<Instant> {
        self.next_actor().map(|(at, _)| at).into_iter().chain(self.faults.next_at()).chain(self.virt.next_at()).min()
    }

    fn next_actor(&self) -> Option<(Instant, Actor)> {
        let machine = self.agenda.first().map(|(at, index)| (*at, Actor::Machine(*index)));
        let undercloud = self.undercloud.next_turn().map(|(at, turn)| match turn {
            // A kubelet has its turn together with its machine.
            Turn::Host(index) => (at, Actor::Machine(index)),
            turn @ Turn::Timer(_) => (at, Actor::Undercloud(turn)),
        });
        let first = machine.into_iter().chain(undercloud).min();
        let tenant = self.tenants.iter().filter_map(|(name, kube)| Some((kube.next_turn()?, name))).min();
        match (first, tenant) {
            // At one instant the site moves before its tenants.
            (Some(first), Some(((at, _), _))) if first.0 <= at => Some(first),
            (_, Some(((at, turn), name))) => Some((at, Actor::Tenant(name.clone(), turn))),
            (first, None) => first,
        }
    }

    /// Lets everything happen that is due at `now` or before.
    pub fn advance(&mut self, now: Instant) {
        while let Some(at) = self.next_event_at().filter(|at| *at <= now) {
            self.now = self.now.max(at);
            self.fault_steps(at);
            self.virt_settle(at);
            let Some((_, actor)) = self.next_actor().filter(|(due, _)| *due <= at) else { continue };
            match actor {
                Actor::Machine(index) => self.machine_turn(index, at),
                Actor::Undercloud(turn) => self.undercloud.step(turn, at),
                Actor::Tenant(name, turn) => {
                    if let Some(tenant) = self.tenants.get_mut(&name) {
                        tenant.step(turn, at);
                    }
                }
            }
            self.virt_settle(at);
        }
        self.now = self.now.max(now);
    }

    fn machine_turn(&mut self, index: usize, at: Instant) {
        self.machine_steps(index, at);
        self.hardware_steps(index, at);
        self.bmc_steps(index, at);
        if self.undercloud.is_report_due(index, at) {
            self.refresh_problems(index);
        }
        self.undercloud.host_steps(index, at);
        self.reschedule(index);
    }

    /// A reset as the machine's BMC receives it.
    pub fn reset(&mut self, machine: usize, reset: ResetType, now: Instant) -> ResetAnswer {
        self.advance(now);
        let now = self.now;
        let before = self.states[machine].machine.clone();
        let (answer, happenings) = if self.is_reset_ignored(machine, reset) {
            (ResetAnswer::Ignored, Vec::new())
        } else {
            self.with_machine(machine, |machine, around| machine.reset(reset, now, around))
        };
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
            let before = self.states[index].machine.clone();
            let happenings = self.with_machine(index, |machine, around| machine.step(at, around));
            self.unsaved.machines.insert(index);
            self.note_transition(index, &before, at);
            self.react(index, &happenings, at);
        }
    }

    /// What the BMC makes of what its machine just did.
    pub(crate) fn note_transition(&mut self, index: usize, before: &Machine, at: Instant) {
        let state = &mut self.states[index];
        if before.power_state() != state.machine.power_state() {
            state.power_before = (before.power_state(), at);
        }
        if before.starts != state.machine.starts {
            self.firmware_starts(index, at);
        }
    }

    /// Lets a machine move in its surroundings as they are now.
    pub(crate) fn with_machine<T>(&mut self, index: usize, act: impl FnOnce(&mut Machine, Surroundings<'_>) -> T) -> T {
        let slowly = self.faults.active(FaultKind::HostBootsSlowly, FaultTarget::Machine(index));
        let boot_factor = slowly.map_or(1, |fault| i64::from(fault.setting));
        let (first, disk) = (self.boot_source(index), self.disk(index));
        let World { layout, pace, states, .. } = self;
        let (site_seed, name) = (layout.site_seed(), layout.machines()[index].name.as_str());
        let around = Surroundings { pace, site_seed, name, boot_factor, first: &first, disk };
        act(&mut states[index].machine, around)
    }

    /// What the rest of the site makes of what a machine just did.
    pub(crate) fn react(&mut self, index: usize, happenings: &[Happening], at: Instant) {
        for happening in happenings {
            match happening {
                Happening::PoweredOn => self.write_log(index, at, Logged::PoweredOn),
                Happening::PoweredOff => self.write_log(index, at, Logged::PoweredOff),
                Happening::HostLeft => {
                    self.end_faults_of_boot(index);
                    self.virt.disturb(&self.layout.machines()[index].name);
                    self.undercloud.kubelet_stops(index);
                    self.weigh_quorum(at);
                }
                Happening::HostCameUp if self.faults.is_active(FaultKind::HostPanics, index) => self.panic_host(index, at),
                Happening::HostCameUp if !self.states[index].machine.is_member() => self.first_boot_begins(index, at),
                Happening::HostCameUp if !self.reaches_api(index) => {}
                Happening::HostCameUp => {
                    self.virt.disturb(&self.layout.machines()[index].name);
                    self.kubelet_speaks(index, at);
                }
                Happening::Calls => self.machine_calls(index, at),
            }
        }
    }

    /// The host's kubelet runs and can reach the API servers.
    pub(crate) fn kubelet_starts(&mut self, index: usize) {
        self.refresh_problems(index);
        let (hardware, facts) = (&self.states[index].hardware, &mut self.undercloud.host_mut(index).facts);
        if let Some(system) = hardware.volumes.system() {
            facts.release.clone_from(&system.release);
        }
        if let (_, Some(uuid)) = hardware.parts.other_board() {
            uuid.clone_into(&mut facts.uuid);
        }
        if let Some(boot_id) = self.states[index].machine.boot_id() {
            self.undercloud.kubelet_starts(index, boot_id);
        }
    }

    /// A kubelet that was silent reports, if there is an API to report to.
    pub(crate) fn kubelet_speaks(&mut self, index: usize, at: Instant) {
        self.kubelet_starts(index);
        let was_available = self.undercloud.available;
        self.weigh_quorum(at);
        // A control plane that just returned has heard from every kubelet already.
        if was_available {
            self.undercloud.kubelet_reports(index, at, Announce::Events);
        }
    }

    /// Notes when the machine is next due.
    pub(crate) fn reschedule(&mut self, index: usize) {
        let next = self.states[index].next_at();
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
