//! What time and boots do to a machine's hardware: tasks end, settings take effect, an override is used up.

use super::boot::LastBoot;
use super::firmware::Component;
use super::storage::Contents;
use super::tasks::{AfterRestart, Task, TaskState, Work};
use crate::bmc::Logged;
use crate::fault::FaultKind;
use crate::site::World;
use crate::time::Instant;

impl World {
    /// Lets the tasks that are due end, in the order of their ends.
    pub(crate) fn hardware_steps(&mut self, index: usize, at: Instant) {
        while let Some(task) = self.states[index].hardware.tasks.due(at) {
            let state = self.finish(index, &task);
            let has_succeeded = !matches!(state, TaskState::Failed { .. });
            self.hardware_mut(index).tasks.end(task.number, state);
            self.write_log(index, at, Logged::TaskEnded { task: task.number, has_succeeded });
            if has_succeeded && let Work::UpdateFirmware { firmware: Some((Component::Bmc, _)), after_restart, .. } = task.work {
                if after_restart == AfterRestart::Forgotten {
                    self.hardware_mut(index).tasks.forget(task.number);
                }
                self.begin_bmc_restart(index, at);
            }
        }
    }

    fn finish(&mut self, index: usize, task: &Task) -> TaskState {
        let deletes = matches!(task.work, Work::DeleteVolume { .. } | Work::ResetStorage);
        if deletes && self.use_up_fault(FaultKind::RaidDeletionFails, index) {
            return TaskState::Failed { reason: "The controller could not delete the volume: a drive does not answer.".to_owned() };
        }
        let hardware = self.hardware_mut(index);
        match &task.work {
            Work::UpdateFirmware { firmware: Some((component, version)), .. } => {
                hardware.firmware.install(*component, version.clone());
                TaskState::Completed { volume: None }
            }
            Work::UpdateFirmware { firmware: None, image, .. } => {
                TaskState::Failed { reason: format!("The image '{image}' is not for any component of this machine that was asked for.") }
            }
            Work::CreateVolume(wanted) => {
                let number = hardware.volumes.add(wanted.clone(), Contents::Nothing);
                TaskState::Completed { volume: Some(number) }
            }
            Work::DeleteVolume { number } => {
                hardware.volumes.remove(*number);
                TaskState::Completed { volume: None }
            }
            Work::ResetStorage => {
                hardware.volumes.clear();
                TaskState::Completed { volume: None }
            }
        }
    }

    /// The firmware begins a boot: settings take effect, and it chooses where to boot from.
    pub(crate) fn firmware_starts(&mut self, index: usize, at: Instant) {
        let had_settings = self.states[index].hardware.bios.has_pending();
        let source = self.boot_source(index);
        let hardware = self.hardware_mut(index);
        hardware.bios.apply();
        hardware.last_boot = Some(LastBoot { at, source });
        hardware.boot.use_up();
        if had_settings {
            self.write_log(index, at, Logged::BiosSettingsApplied);
        }
    }
}
