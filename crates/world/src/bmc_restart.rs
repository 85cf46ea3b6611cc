//! A BMC that restarts: it is away for a while, and comes back with its sessions lost.

use crate::bmc::Logged;
use crate::site::World;
use crate::time::Instant;

impl World {
    /// Restarts the machine's BMC, as its Manager's reset does. The machine itself does not notice.
    pub fn restart_bmc(&mut self, machine: usize, now: Instant) {
        self.advance(now);
        let now = self.now;
        self.begin_bmc_restart(machine, now);
        self.reschedule(machine);
        self.advance(now);
    }

    /// Whether a machine's BMC runs: it is not restarting.
    pub fn is_bmc_up(&self, machine: usize) -> bool {
        self.states[machine].bmc_up_at.is_none()
    }

    /// How often the BMC has restarted. What it only remembered ended each time.
    pub fn bmc_restarts(&self, machine: usize) -> u32 {
        self.states[machine].bmc_restarts
    }

    pub(crate) fn begin_bmc_restart(&mut self, index: usize, at: Instant) {
        let up_at = at + self.pace.bmc_restart;
        let state = &mut self.states[index];
        state.bmc_up_at = Some(up_at);
        state.bmc_restarts += 1;
        self.unsaved.machines.insert(index);
        self.faults.note_change();
    }

    pub(crate) fn bmc_steps(&mut self, index: usize, at: Instant) {
        if self.states[index].bmc_up_at.is_some_and(|up_at| up_at <= at) {
            self.states[index].bmc_up_at = None;
            self.write_log(index, at, Logged::BmcRestarted);
            self.faults.note_change();
        }
    }
}
