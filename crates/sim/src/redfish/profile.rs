//! How the vendors' BMCs differ: what there is to differ in. The vendors themselves are in `vendors.rs`, and
//! `docs/simulated-bmcs.md` shows them side by side.

use world::{AfterRestart, Component, MediaSlot, Vendor};

use super::vendors;

/// Under which resources virtual media can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MediaPlace {
    SystemAndManager,
    /// The System does not even tell where it is.
    ManagerOnly,
    /// It lives under the Manager, and the System links there.
    ManagerLinkedFromSystem,
}

/// How an image is inserted and ejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MediaInsertion {
    Action,
    /// There are no actions: one writes the image's address into the resource.
    Patch,
}

/// Where a client learns which reset types a system takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResetTypes {
    AllowableValues,
    ActionInfo,
    Untold,
}

/// What happens when the boot override is set to Cd while nothing is inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CdWithoutMedia {
    Accepted,
    InternalError,
}

/// What becomes of an override that was asked for once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Once {
    Kept,
    BecomesContinuous,
}

/// Whether a change must say which version of the resource it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IfMatch {
    Optional,
    Demanded,
}

/// When the System shows a change of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PowerTold {
    AtOnce,
    /// Some seconds after it.
    Late,
}

/// What a BMC does when one more session is asked for than it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenFull {
    EndOldest,
    Refuse,
}

/// Whether the members of the firmware inventory exist before anybody has read the collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirmwareMembers {
    Always,
    OnceListed,
}

#[derive(Debug)]
pub(super) struct Profile {
    pub manufacturer: &'static str,
    pub system_id: &'static str,
    pub manager_id: &'static str,
    pub chassis_id: &'static str,
    pub storage_id: &'static str,
    pub log_id: &'static str,
    pub log_name: &'static str,
    pub manager_model: &'static str,
    pub manager_name: &'static str,
    pub product: &'static str,
    pub raid_model: &'static str,
    /// What precedes the number in the ids of parts.
    pub processor_prefix: &'static str,
    pub dimm_prefix: &'static str,
    pub nic_prefix: &'static str,
    pub drive_prefix: &'static str,
    pub volume_prefix: &'static str,
    pub task_prefix: &'static str,
    pub media_slots: [(&'static str, MediaSlot); 2],
    /// What the parts run when the machine is delivered.
    pub bmc_version: &'static str,
    pub bios_version: &'static str,
    pub raid_version: &'static str,
    pub nic_version: &'static str,
    /// Whether the service root names the vendor.
    pub has_vendor: bool,
    pub media_place: MediaPlace,
    pub media_insertion: MediaInsertion,
    pub reset_types: ResetTypes,
    pub cd_without_media: CdWithoutMedia,
    pub once: Once,
    pub if_match: IfMatch,
    pub when_full: WhenFull,
    pub firmware_members: FirmwareMembers,
    /// Firmware that is listed beside the one that runs: its id, and its version.
    pub kept_firmware: &'static [(&'static str, Component, &'static str)],
    /// Whether the BIOS advertises an action that answers 501.
    pub has_dead_action: bool,
    pub power_told: PowerTold,
    pub update_task: AfterRestart,
    /// Whether there is a stream of server-sent events.
    pub offers_events: bool,
    /// Whether the System tells what it can start from.
    pub offers_boot_options: bool,
    /// Whether accounts can be opened by public keys.
    pub offers_account_keys: bool,
    /// The BMC's license, where it tells of one.
    pub license: Option<&'static str>,
}

impl Profile {
    pub fn of(vendor: Vendor) -> &'static Profile {
        match vendor {
            Vendor::Dell => &vendors::DELL,
            Vendor::Hpe => &vendors::HPE,
            Vendor::Lenovo => &vendors::LENOVO,
            Vendor::Supermicro => &vendors::SUPERMICRO,
        }
    }

    pub fn system_path(&self) -> String {
        format!("/redfish/v1/Systems/{}", self.system_id)
    }

    pub fn manager_path(&self) -> String {
        format!("/redfish/v1/Managers/{}", self.manager_id)
    }

    pub fn chassis_path(&self) -> String {
        format!("/redfish/v1/Chassis/{}", self.chassis_id)
    }

    pub fn log_path(&self) -> String {
        format!("{}/LogServices/{}", self.manager_path(), self.log_id)
    }

    pub fn storage_path(&self) -> String {
        format!("{}/Storage/{}", self.system_path(), self.storage_id)
    }

    pub fn volume_path(&self, number: u32) -> String {
        format!("{}/Volumes/{}{number}", self.storage_path(), self.volume_prefix)
    }

    pub fn drive_path(&self, bay: u32) -> String {
        format!("{}/Drives/{}{bay}", self.storage_path(), self.drive_prefix)
    }

    pub fn delivered_version(&self, component: Component) -> &'static str {
        match component {
            Component::Bmc => self.bmc_version,
            Component::Bios => self.bios_version,
            Component::Raid => self.raid_version,
            Component::Nic => self.nic_version,
        }
    }
}
