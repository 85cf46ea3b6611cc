//! What a machine boots from: what was asked for, and what its firmware then chose.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::media::{Media, MediaSlot};
use crate::time::Instant;

/// The values of Redfish's `BootSourceOverrideTarget` that these machines take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BootTarget {
    #[default]
    None,
    Pxe,
    Cd,
    Usb,
    Hdd,
    BiosSetup,
    UefiHttp,
}

impl BootTarget {
    pub const ALL: [BootTarget; 7] =
        [BootTarget::None, BootTarget::Pxe, BootTarget::Cd, BootTarget::Usb, BootTarget::Hdd, BootTarget::BiosSetup, BootTarget::UefiHttp];

    pub fn as_str(self) -> &'static str {
        match self {
            BootTarget::None => "None",
            BootTarget::Pxe => "Pxe",
            BootTarget::Cd => "Cd",
            BootTarget::Usb => "Usb",
            BootTarget::Hdd => "Hdd",
            BootTarget::BiosSetup => "BiosSetup",
            BootTarget::UefiHttp => "UefiHttp",
        }
    }
}

impl FromStr for BootTarget {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        BootTarget::ALL.into_iter().find(|target| target.as_str() == text).ok_or(())
    }
}

/// For how long an override holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BootEnabled {
    #[default]
    Disabled,
    /// For the next boot, which uses it up.
    Once,
    Continuous,
}

impl BootEnabled {
    pub const ALL: [BootEnabled; 3] = [BootEnabled::Disabled, BootEnabled::Once, BootEnabled::Continuous];

    pub fn as_str(self) -> &'static str {
        match self {
            BootEnabled::Disabled => "Disabled",
            BootEnabled::Once => "Once",
            BootEnabled::Continuous => "Continuous",
        }
    }
}

impl FromStr for BootEnabled {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        BootEnabled::ALL.into_iter().find(|enabled| enabled.as_str() == text).ok_or(())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BootMode {
    #[default]
    Uefi,
    Legacy,
}

impl BootMode {
    pub fn as_str(self) -> &'static str {
        match self {
            BootMode::Uefi => "UEFI",
            BootMode::Legacy => "Legacy",
        }
    }
}

impl FromStr for BootMode {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        [BootMode::Uefi, BootMode::Legacy].into_iter().find(|mode| mode.as_str() == text).ok_or(())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootOverride {
    pub enabled: BootEnabled,
    pub target: BootTarget,
    pub mode: BootMode,
    pub http_boot_uri: Option<String>,
}

/// What the firmware tried first at a boot. What could not be booted from was passed over for the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BootSource {
    Disk,
    Cd { image: String },
    Usb { image: String },
    Pxe,
    Http { uri: String },
    Setup,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastBoot {
    pub at: Instant,
    pub source: BootSource,
}

impl BootOverride {
    /// Where the firmware looks first, given what is inserted. An empty drive is passed over.
    pub(crate) fn choose(&self, media: &Media) -> BootSource {
        if self.enabled == BootEnabled::Disabled {
            return BootSource::Disk;
        }
        let image = |slot| media.inserted(slot).map(|inserted| inserted.image.clone());
        match self.target {
            BootTarget::None | BootTarget::Hdd => BootSource::Disk,
            BootTarget::Pxe => BootSource::Pxe,
            BootTarget::BiosSetup => BootSource::Setup,
            BootTarget::Cd => image(MediaSlot::Cd).map_or(BootSource::Disk, |image| BootSource::Cd { image }),
            BootTarget::Usb => image(MediaSlot::Usb).map_or(BootSource::Disk, |image| BootSource::Usb { image }),
            BootTarget::UefiHttp => self.http_boot_uri.clone().map_or(BootSource::Disk, |uri| BootSource::Http { uri }),
        }
    }

    /// A boot has used the override.
    pub(crate) fn use_up(&mut self) {
        if self.enabled == BootEnabled::Once {
            (self.enabled, self.target) = (BootEnabled::Disabled, BootTarget::None);
        }
    }
}
