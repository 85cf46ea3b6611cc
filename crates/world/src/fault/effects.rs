//! What faults do to a site: to what its BMCs report and obey, to its hosts, and to what its nodes tell.
//!
//! Physics keep their own truth: a BMC that reports stale power still has a machine whose power changes.

use std::collections::BTreeSet;

use super::links::{FLAP_WINDOW, FLAPPING_PORT, Flaps, port_name};
use super::{Fault, FaultError, FaultId, FaultKind, FaultOrder, FaultTarget};
use crate::machine::{PowerState, ResetType};
use crate::node::{self, Problem};
use crate::objects::Durability;
use crate::site::World;
use crate::time::{Instant, Span};

impl World {
    /// Faults that are and faults that are planned, in the order in which they were asked for.
    pub fn faults(&self) -> &[Fault] {
        self.faults.list()
    }

    /// Changes with every fault that begins, ends or is planned.
    pub fn fault_revision(&self) -> u64 {
        self.faults.revision()
    }

    pub fn active_fault(&self, kind: FaultKind, target: FaultTarget) -> Option<&Fault> {
        self.faults.active(kind, target)
    }

    /// Takes up all orders, or none if one of them makes no sense.
    pub fn add_faults(&mut self, orders: &[FaultOrder], now: Instant) -> Result<Vec<FaultId>, FaultError> {
        self.advance(now);
        let now = self.now;
        orders.iter().try_for_each(FaultOrder::check)?;
        orders.iter().try_for_each(|order| self.check_presence(&order.target))?;
        if self.faults.list().len() + orders.len() > super::FAULTS_MAX {
            return Err(FaultError::TooMany);
        }
        let pace = self.pace;
        let ids = orders.iter().map(|order| self.faults.plan(order, &pace, now)).collect();
        self.unsaved.faults = true;
        // What begins at once has begun when the answer comes.
        self.advance(now);
        Ok(ids)
    }

    /// Ends faults, and forgets planned ones. Returns those that there were.
    pub fn clear_faults(&mut self, ids: &[FaultId], now: Instant) -> Vec<Fault> {
        self.advance(now);
        let now = self.now;
        let cleared = ids.iter().filter_map(|id| self.end_fault(*id, now)).collect();
        // What follows at once has followed when the answer comes.
        self.advance(now);
        cleared
    }

    /// Whether a connection to a machine's BMC is accepted.
    pub fn is_bmc_reachable(&self, machine: usize) -> bool {
        self.is_bmc_up(machine) && !self.faults.is_active(FaultKind::BmcUnreachable, machine)
    }

    /// Whether the API server itself is down, rather than without quorum.
    pub fn is_api_down(&self) -> bool {
        self.faults.is_api_active(FaultKind::ApiDown)
    }

    /// Whether a port of the machine's network card has link.
    pub fn is_link_up(&self, machine: usize, port: u32) -> bool {
        let is_down = self.faults.all_active(FaultKind::LinkDown, FaultTarget::Machine(machine)).any(|fault| fault.setting == port);
        let flaps_down = port == FLAPPING_PORT && self.faults.flaps.get(&machine).is_some_and(Flaps::is_down);
        !is_down && !flaps_down
    }

    pub(crate) fn stale_power_state(&self, machine: usize) -> Option<PowerState> {
        self.faults.active(FaultKind::BmcStale, FaultTarget::Machine(machine)).and_then(|fault| fault.frozen)
    }

    /// A BMC that says yes and does nothing, or an operating system that does not listen.
    pub(crate) fn is_reset_ignored(&self, machine: usize, reset: ResetType) -> bool {
        let needs_host = matches!(reset, ResetType::GracefulShutdown | ResetType::GracefulRestart);
        self.faults.is_active(FaultKind::BmcIgnores, machine) || needs_host && self.faults.is_active(FaultKind::HostHangs, machine)
    }

    /// Whether what runs on the host can talk to the undercloud's API server, and its etcd to the others.
    pub(crate) fn reaches_api(&self, index: usize) -> bool {
        self.states[index].machine.is_member()
            && !self.faults.is_active(FaultKind::HostHangs, index)
            && !self.faults.is_active(FaultKind::HostNetworkLoss, index)
    }

    /// What the agent on the machine's node has found.
    pub(crate) fn node_problems(&self, index: usize) -> Vec<Problem> {
        let target = FaultTarget::Machine(index);
        let port = |port| port_name(self.spec(index), port);
        let read_only = self.faults.active(FaultKind::HostReadOnlyRoot, target.clone()).map(|_| Problem::ReadOnlyRoot);
        let down: BTreeSet<u32> = self.faults.all_active(FaultKind::LinkDown, target).map(|fault| fault.setting).collect();
        let down = down.into_iter().map(|number| Problem::PortDown { port: port(number) });
        let flapping = self.faults.flaps.get(&index).and_then(Flaps::flapping);
        let flapping = flapping.map(|times| Problem::PortFlapping { port: port(FLAPPING_PORT), times });
        read_only.into_iter().chain(down).chain(flapping).collect()
    }

    /// Lets the kubelet of a machine know what the agent beside it has found, for its next report.
    pub(crate) fn refresh_problems(&mut self, index: usize) {
        self.undercloud.host_mut(index).problems = self.node_problems(index);
    }

    /// Lets faults begin and end that are due at `at`, and links flap.
    pub(crate) fn fault_steps(&mut self, at: Instant) {
        while let Some(fault) = self.faults.list.iter().find(|fault| fault.next_at().is_some_and(|due| due <= at)).cloned() {
            if fault.has_begun {
                self.end_fault(fault.id, at);
            } else {
                self.begin_fault(&fault, at);
            }
        }
        let due: Vec<usize> =
            self.faults.flaps.iter().filter(|(_, flaps)| flaps.next_at().is_some_and(|due| due <= at)).map(|(index, _)| *index).collect();
        for index in due {
            if let Some(flaps) = self.faults.flaps.get_mut(&index) {
                flaps.step(at);
                if flaps.is_over() {
                    self.faults.flaps.remove(&index);
                }
            }
            self.unsaved.faults = true;
            self.node_agent_tells(index, at);
        }
    }

    fn begin_fault(&mut self, planned: &Fault, at: Instant) {
        self.unsaved.faults = true;
        self.faults.revision += 1;
        let earlier = self.faults.active(planned.kind, planned.target.clone()).cloned();
        // A BMC restarts, and a link flaps, in one way at a time.
        if let (FaultKind::BmcRestart | FaultKind::LinkFlapping, Some(earlier)) = (planned.kind, &earlier) {
            let id = earlier.id;
            self.faults.remove(id);
        }
        let frozen = match (planned.kind, &planned.target) {
            // A BMC that is stale already knows nothing newer.
            (FaultKind::BmcStale, FaultTarget::Machine(index)) => {
                earlier.and_then(|earlier| earlier.frozen).or(Some(self.states[*index].machine.power_state()))
            }
            _ => None,
        };
        if let Some(fault) = self.faults.list.iter_mut().find(|fault| fault.id == planned.id) {
            (fault.has_begun, fault.frozen) = (true, frozen);
        }
        let FaultTarget::Machine(index) = planned.target else { return self.strike_tenants(&planned.target, at) };
        self.virt.disturb(&self.layout.machines()[index].name);
        match planned.kind {
            FaultKind::BmcRestart => {
                self.begin_bmc_restart(index, at);
                self.states[index].bmc_up_at = planned.until;
                self.reschedule(index);
            }
            FaultKind::HostHangs | FaultKind::HostNetworkLoss if self.states[index].machine.is_up() => {
                self.undercloud.kubelet_stops(index);
                self.weigh_quorum(at);
                self.reschedule(index);
            }
            FaultKind::HostPanics => self.panic_host(index, at),
            FaultKind::FirmwareJobStuck => self.firmware_job_sticks(index, at),
            FaultKind::LinkFlapping => {
                let every = self.pace.in_site_time(Span::seconds(i64::from(planned.setting)));
                self.faults.flaps.insert(index, Flaps::starting(at, every, self.pace.in_site_time(FLAP_WINDOW)));
            }
            _ => self.node_agent_tells(index, at),
        }
    }

    fn end_fault(&mut self, id: FaultId, at: Instant) -> Option<Fault> {
        let fault = self.faults.remove(id)?;
        self.unsaved.faults = true;
        let FaultTarget::Machine(index) = fault.target else {
            self.strike_tenants(&fault.target, at);
            return Some(fault);
        };
        self.virt.disturb(&self.layout.machines()[index].name);
        match fault.kind {
            _ if !fault.has_begun => {}
            FaultKind::BmcRestart => {
                self.states[index].bmc_up_at = self.states[index].bmc_up_at.map(|up_at| up_at.min(at));
                self.reschedule(index);
            }
            FaultKind::HostHangs | FaultKind::HostNetworkLoss => self.host_speaks_again(index, at),
            FaultKind::FirmwareJobStuck => self.firmware_job_sticks(index, at),
            FaultKind::LinkFlapping => {
                if let Some(flaps) = self.faults.flaps.get_mut(&index) {
                    flaps.stop();
                }
                self.faults.flaps.retain(|_, flaps| !flaps.is_over());
            }
            _ => self.node_agent_tells(index, at),
        }
        Some(fault)
    }

    /// Some faults are those of one boot, and end with it.
    pub(crate) fn end_faults_of_boot(&mut self, index: usize) {
        for kind in [FaultKind::HostHangs, FaultKind::HostReadOnlyRoot] {
            while let Some(id) = self.faults.active(kind, FaultTarget::Machine(index)).map(|fault| fault.id) {
                self.faults.remove(id);
                self.unsaved.faults = true;
            }
        }
    }

    pub(crate) fn panic_host(&mut self, index: usize, at: Instant) {
        let before = self.states[index].machine.clone();
        let happenings = self.with_machine(index, |machine, around| machine.panic(at, around));
        self.unsaved.machines.insert(index);
        self.note_transition(index, &before, at);
        self.react(index, &happenings, at);
        self.reschedule(index);
    }

    fn host_speaks_again(&mut self, index: usize, at: Instant) {
        if !self.reaches_api(index) {
            return;
        }
        self.kubelet_speaks(index, at);
        self.reschedule(index);
    }

    /// The agent on the node tells what it found; without a way to the API server it does so with the next report.
    fn node_agent_tells(&mut self, index: usize, at: Instant) {
        self.refresh_problems(index);
        if self.undercloud.available && self.reaches_api(index) {
            let problems = self.node_problems(index);
            self.undercloud.change_node(index, Durability::Kept, at, |node| node::with_problems(node, &problems, at));
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
