//! Faults of a machine's hardware: parts that are not there, and a controller and a BMC that do not do their work.

use super::{FaultKind, FaultTarget};
use crate::hardware::Inventory;
use crate::site::World;
use crate::time::Instant;

/// The image of a firmware update that does not end.
const STUCK_IMAGE: &str = "bios-update.bin";

impl World {
    /// Takes out of an inventory what faults say is not there.
    pub(crate) fn take_missing_parts(&self, machine: usize, inventory: &mut Inventory) {
        let all = |kind| self.faults.all_active(kind, FaultTarget::Machine(machine)).map(|fault| fault.setting);
        if let Some(dimms) = all(FaultKind::MemoryMissing).max() {
            let left = inventory.dimms.len().saturating_sub(dimms as usize);
            inventory.dimms.truncate(left);
        }
        for port in all(FaultKind::NicMissing) {
            inventory.nics.retain(|nic| nic.port != port);
        }
        for bay in all(FaultKind::DriveMissing) {
            inventory.drives.retain(|drive| drive.bay != bay);
        }
    }

    /// The memory that is there.
    pub fn memory_gib(&self, machine: usize) -> u32 {
        let missing = self.faults.all_active(FaultKind::MemoryMissing, FaultTarget::Machine(machine)).map(|fault| fault.setting).max();
        Inventory::memory_gib_without(self.spec(machine).role, missing.unwrap_or(0))
    }

    /// Whether a fault strikes that strikes so many times and then is over.
    pub(crate) fn use_up_fault(&mut self, kind: FaultKind, machine: usize) -> bool {
        let Some(id) = self.faults.active(kind, FaultTarget::Machine(machine)).map(|fault| fault.id) else { return false };
        self.unsaved.faults = true;
        let Some(fault) = self.faults.list.iter_mut().find(|fault| fault.id == id) else { return false };
        fault.setting = fault.setting.saturating_sub(1);
        if fault.setting == 0 {
            self.faults.remove(id);
        }
        true
    }

    /// A firmware job gets stuck in the queue, or is taken out of it.
    pub(super) fn firmware_job_sticks(&mut self, machine: usize, at: Instant) {
        let is_stuck = self.faults.is_active(FaultKind::FirmwareJobStuck, machine);
        let tasks = &mut self.hardware_mut(machine).tasks;
        tasks.unstick(at);
        if is_stuck {
            tasks.stick(STUCK_IMAGE, at);
        }
    }
}
