//! What a BMC is asked to change about its machine and itself. A refusal changes nothing.

use std::collections::BTreeMap;

use super::accounts::{AccountChange, AccountKey, AccountRefusal, AccountRole, KeyRefusal, Standing};
use super::bios::{BiosRefusal, BiosValue};
use super::boot::BootOverride;
use super::firmware::{self, Component};
use super::inventory::Inventory;
use super::media::{InsertedMedia, MediaSlot, SlotOccupied};
use super::storage::{NewVolume, VolumeRefusal};
use super::tasks::{AfterRestart, Task, Work};
use super::{Hardware, Span};
use crate::bmc::Logged;
use crate::site::World;
use crate::time::Instant;

/// Another update is under way: a BMC takes one image at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirmwareRefusal;

impl World {
    /// The parts of the machine as they are now.
    pub fn inventory(&self, machine: usize) -> Inventory {
        let (spec, site_seed) = (self.spec(machine), self.layout.site_seed());
        let mut inventory = Inventory::of(spec, site_seed);
        self.hardware(machine).parts.fit(&mut inventory, spec, site_seed);
        self.take_missing_parts(machine, &mut inventory);
        inventory
    }

    pub fn hardware(&self, machine: usize) -> &Hardware {
        &self.states[machine].hardware
    }

    /// Holds from the next boot on.
    pub fn set_boot_override(&mut self, machine: usize, boot: BootOverride, now: Instant) {
        self.advance(now);
        self.hardware_mut(machine).boot = boot;
    }

    pub fn set_bios(&mut self, machine: usize, changes: BTreeMap<String, BiosValue>, now: Instant) -> Result<(), BiosRefusal> {
        self.advance(now);
        self.hardware_mut(machine).bios.propose(changes)
    }

    /// The factory's settings come back at the next boot.
    pub fn reset_bios(&mut self, machine: usize, now: Instant) {
        self.advance(now);
        self.hardware_mut(machine).bios.propose_factory();
    }

    pub fn insert_media(&mut self, machine: usize, slot: MediaSlot, media: InsertedMedia, now: Instant) -> Result<(), SlotOccupied> {
        self.advance(now);
        let image = media.image.clone();
        self.hardware_mut(machine).media.insert(slot, media)?;
        self.write_log(machine, self.now, Logged::MediaInserted { image });
        Ok(())
    }

    /// Ejecting from an empty slot changes nothing.
    pub fn eject_media(&mut self, machine: usize, slot: MediaSlot, now: Instant) {
        self.advance(now);
        if let Some(media) = self.hardware_mut(machine).media.eject(slot) {
            self.write_log(machine, self.now, Logged::MediaEjected { image: media.image });
        }
    }

    /// Begins an update and returns its task. Without a `target` the image says what it is for.
    pub fn update_firmware(
        &mut self,
        machine: usize,
        image: &str,
        target: Option<Component>,
        after_restart: AfterRestart,
        now: Instant,
    ) -> Result<Task, FirmwareRefusal> {
        self.advance(now);
        if self.is_at_work(machine, |work| !work.is_storage()) {
            return Err(FirmwareRefusal);
        }
        let named = firmware::read_image_name(image);
        let firmware = named.filter(|(component, _)| target.is_none_or(|target| target == *component));
        Ok(self.start_task(machine, Work::UpdateFirmware { image: image.to_owned(), firmware, after_restart }, self.pace.firmware_update))
    }

    pub fn create_volume(&mut self, machine: usize, wanted: NewVolume, now: Instant) -> Result<Task, VolumeRefusal> {
        self.advance(now);
        self.check_controller_is_free(machine)?;
        self.hardware(machine).volumes.check(&wanted, &self.inventory(machine).drives)?;
        Ok(self.start_task(machine, Work::CreateVolume(wanted), self.pace.volume_work))
    }

    pub fn delete_volume(&mut self, machine: usize, number: u32, now: Instant) -> Result<Task, VolumeRefusal> {
        self.advance(now);
        self.check_controller_is_free(machine)?;
        if self.hardware(machine).volumes.get(number).is_none() {
            return Err(VolumeRefusal::NoSuchVolume { number });
        }
        Ok(self.start_task(machine, Work::DeleteVolume { number }, self.pace.volume_work))
    }

    /// Deletes every volume.
    pub fn reset_storage(&mut self, machine: usize, now: Instant) -> Result<Task, VolumeRefusal> {
        self.advance(now);
        self.check_controller_is_free(machine)?;
        Ok(self.start_task(machine, Work::ResetStorage, self.pace.volume_work))
    }

    /// Returns the new account's slot.
    pub fn create_account(
        &mut self,
        machine: usize,
        user: String,
        password: String,
        role: AccountRole,
        standing: Standing,
        now: Instant,
    ) -> Result<u8, AccountRefusal> {
        self.advance(now);
        self.hardware_mut(machine).accounts.create(user, password, role, standing)
    }

    pub fn change_account(&mut self, machine: usize, slot: u8, change: AccountChange, now: Instant) -> Result<(), AccountRefusal> {
        self.advance(now);
        self.hardware_mut(machine).accounts.change(slot, change)
    }

    pub fn delete_account(&mut self, machine: usize, slot: u8, now: Instant) -> Result<(), AccountRefusal> {
        self.advance(now);
        self.hardware_mut(machine).accounts.delete(slot).map(drop)
    }

    pub fn add_account_key(&mut self, machine: usize, slot: u8, text: String, now: Instant) -> Result<AccountKey, KeyRefusal> {
        self.advance(now);
        self.hardware_mut(machine).accounts.add_key(slot, text)
    }

    /// Whether there was such a key.
    pub fn remove_account_key(&mut self, machine: usize, slot: u8, number: u32, now: Instant) -> bool {
        self.advance(now);
        self.hardware_mut(machine).accounts.remove_key(slot, number)
    }

    pub fn set_session_timeout(&mut self, machine: usize, timeout: Span, now: Instant) {
        self.advance(now);
        self.hardware_mut(machine).session_timeout = timeout;
    }

    /// For changing, and so for saving.
    pub(crate) fn hardware_mut(&mut self, machine: usize) -> &mut Hardware {
        self.unsaved.hardware.insert(machine);
        &mut self.states[machine].hardware
    }

    fn is_at_work(&self, machine: usize, which: impl Fn(&Work) -> bool) -> bool {
        self.hardware(machine).tasks.iter().any(|task| task.is_running() && which(&task.work))
    }

    fn check_controller_is_free(&self, machine: usize) -> Result<(), VolumeRefusal> {
        if self.is_at_work(machine, Work::is_storage) { Err(VolumeRefusal::Busy) } else { Ok(()) }
    }

    fn start_task(&mut self, machine: usize, work: Work, takes: Span) -> Task {
        let now = self.now;
        let number = self.hardware_mut(machine).tasks.start(work.clone(), now, takes);
        self.reschedule(machine);
        // What takes no time has happened when the BMC answers.
        self.advance(now);
        // A task that made the BMC restart at once may be forgotten already; the answer still names it.
        let begun = Task { number, work, started_at: now, ends_at: now + takes, state: super::TaskState::Running };
        self.hardware(machine).tasks.get(number).cloned().unwrap_or(begun)
    }
}
