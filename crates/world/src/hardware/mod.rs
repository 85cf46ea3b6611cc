//! What a machine's BMC knows about its hardware and keeps when everything is switched off: boot override, BIOS
//! settings, media, volumes, firmware, tasks, accounts.
//!
//! What follows from the site's seed alone is in `inventory.rs`. Requests to change any of this are in `requests.rs`;
//! what time and boots make of it is in `passing.rs`.

mod accounts;
mod bios;
mod boot;
mod firmware;
mod inventory;
mod media;
mod parts;
mod passing;
mod requests;
mod storage;
mod system;
mod tasks;

use serde::{Deserialize, Serialize};

use crate::layout::{MachineSpec, Vendor};
use crate::time::Span;

pub use accounts::{
    ACCOUNT_KEYS, ACCOUNT_SLOTS, Account, AccountChange, AccountKey, AccountRefusal, AccountRole, Accounts, KeyRefusal,
    PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN, Standing, USER_NAME_LENGTH_MAX,
};
pub use bios::{BIOS_ATTRIBUTES, Bios, BiosAttribute, BiosRange, BiosRefusal, BiosValue};
pub use boot::{BootEnabled, BootMode, BootOverride, BootSource, BootTarget, LastBoot};
pub use firmware::{Component, Firmware};
pub use inventory::{Dimm, Drive, DriveProtocol, Inventory, Link, Nic, Processor};
pub use media::{InsertedMedia, Media, MediaSlot, MediaWrites, SlotOccupied};
pub use parts::{Identity, Part, Parts, SERIAL_NUMBER_LENGTH_MAX, Swap, SwapRefusal};
pub use requests::FirmwareRefusal;
pub(crate) use storage::HostDisk;
pub use storage::{Contents, NewVolume, RaidLevel, Volume, VolumeRefusal, Volumes};
pub use system::{FirstBoot, Join, PhoneHome, Release, Setup, System};
pub use tasks::{AfterRestart, TASKS_KEPT, Task, TaskState, Tasks, Work};

/// How long an unused session lives unless somebody sets another time.
const SESSION_TIMEOUT: Span = Span::minutes(30);

/// The durable state of one machine's hardware and BMC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hardware {
    #[serde(default)]
    pub boot: BootOverride,
    /// `None` until the first boot that the simulator saw.
    #[serde(default)]
    pub last_boot: Option<LastBoot>,
    #[serde(default)]
    pub bios: Bios,
    #[serde(default)]
    pub media: Media,
    #[serde(default)]
    pub firmware: Firmware,
    #[serde(default)]
    pub tasks: Tasks,
    #[serde(default)]
    pub parts: Parts,
    pub volumes: Volumes,
    pub accounts: Accounts,
    /// Tokens are never scaled with the site's speed.
    pub session_timeout: Span,
}

impl Hardware {
    /// As the machine was delivered, with the login of the site's cabling plan.
    pub(crate) fn factory(spec: &MachineSpec, site_seed: u64) -> Hardware {
        Hardware {
            boot: BootOverride::default(),
            last_boot: None,
            bios: Bios::default(),
            media: Media::default(),
            firmware: Firmware::default(),
            tasks: Tasks::default(),
            parts: Parts::default(),
            volumes: Volumes::factory(spec, site_seed),
            accounts: Accounts::factory(first_slot(spec.vendor), &spec.bmc_user, &spec.bmc_password),
            session_timeout: SESSION_TIMEOUT,
        }
    }
}

/// Dell keeps slot 1 for itself.
fn first_slot(vendor: Vendor) -> u8 {
    if vendor == Vendor::Dell { 2 } else { 1 }
}

#[cfg(test)]
mod tests;
