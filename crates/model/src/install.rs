//! The installation of an operating system: attempts, ways to start one, and what the machine itself says meanwhile.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::host_inventory::HostInventory;
use crate::install_settings::{AgentNetwork, is_same_disk};
use crate::name::{ClusterName, KeySetName, MachineName, OperationId};
use crate::runtime::{Digest, RuntimeVersion};
use crate::time::Timestamp;

/// One try of an operation to install a machine. Its tokens and its URL die with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    pub cluster: ClusterName,
    pub machine: MachineName,
    pub operation: OperationId,
    /// Counts from 1 within the operation.
    pub round: u32,
}

/// What an attempt installs, and how the machine is started for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Installing<'a> {
    pub round: u32,
    pub way: BootWay,
    pub version: RuntimeVersion,
    pub image: &'a Digest,
    pub network: Option<&'a AgentNetwork>,
    pub began_at: Timestamp,
}

/// How a machine is started to be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BootWay {
    VirtualMedia,
    UefiHttp,
    Pxe,
}

impl BootWay {
    /// The best first: virtual media needs nothing of the network but a route.
    pub const ALL: [BootWay; 3] = [BootWay::VirtualMedia, BootWay::UefiHttp, BootWay::Pxe];
}

impl fmt::Display for BootWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BootWay::VirtualMedia => "virtual media",
            BootWay::UefiHttp => "UEFI HTTP boot",
            BootWay::Pxe => "PXE",
        })
    }
}

/// What a machine that is being installed tells us. Its token has been checked by then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum MachineReport {
    /// The agent runs, and trades its token for a session. Once for each attempt: `nonce` is the digest of what this agent drew
    /// when it started, so that one whose answer was lost is told from another.
    Exchange { nonce: Digest },
    /// What the agent has found in the machine.
    Inventory { host: Box<HostInventory> },
    /// So much of the image has been written, in percent.
    Progress { percent: u8 },
    /// The image is on the disk; this is the digest of what was read back.
    Written { digest: Digest },
    /// The agent gives up.
    Failed { trouble: InstallTrouble, detail: String },
    /// The installed system runs, and has been configured.
    PhonedHome {
        /// The key sets that it was configured with, and the editions of their users.
        #[serde(default, rename = "keySets", skip_serializing_if = "BTreeMap::is_empty")]
        key_sets: BTreeMap<KeySetName, u64>,
    },
}

/// Why an installation cannot go on, as the agent or we found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum InstallTrouble {
    /// What was written, or fetched, has another digest.
    WrongDigest,
    /// The image's URL does not answer, or not with the image.
    ImageUnreachable,
    /// There is no disk to install on, or none of those to wipe.
    MissingDisk,
    /// Several disks answer to what one of them is to be known by.
    AmbiguousDisk,
    /// The image does not fit on the disk.
    DiskTooSmall,
    /// The image is longer or shorter than was said, or not of the kind.
    ImageMisfit,
    /// The image has no place for a first-boot configuration.
    Unconfigurable,
    /// The token was used before, or by another machine.
    TokenMisused,
    /// The disk cannot be written or read.
    DiskFailed,
    /// The first-boot configuration could not be had or written.
    SeedFailed,
}

impl fmt::Display for InstallTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InstallTrouble::WrongDigest => "the image's digest is wrong",
            InstallTrouble::ImageUnreachable => "the image cannot be fetched",
            InstallTrouble::MissingDisk => "a disk that was named is not there",
            InstallTrouble::AmbiguousDisk => "several disks answer to the identity of one",
            InstallTrouble::DiskTooSmall => "the disk is too small for the image",
            InstallTrouble::ImageMisfit => "the image is not what it is said to be",
            InstallTrouble::Unconfigurable => "the image has no place for the first-boot configuration",
            InstallTrouble::TokenMisused => "the token was used twice, or by another machine",
            InstallTrouble::DiskFailed => "the disk cannot be written or read",
            InstallTrouble::SeedFailed => "the first-boot configuration could not be written",
        })
    }
}

/// The disk that the operating system goes to. It is found by what identifies it, never by its place in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OsTarget {
    /// Of a drive, or of the volume that the controller shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wwn: Option<String>,
    /// The name of the controller's volume, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// The serial number or the WWN of one disk, as the site file names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl fmt::Display for OsTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.volume, &self.serial, self.id.as_ref().or(self.wwn.as_ref())) {
            (Some(volume), ..) => write!(f, "volume `{volume}`"),
            (None, Some(serial), _) => write!(f, "the drive with serial number {serial}"),
            (None, None, Some(id)) => write!(f, "disk `{id}`"),
            (None, None, None) => f.write_str("no disk"),
        }
    }
}

/// The volume that the operating system goes to, unless the machine's SKU says otherwise.
pub const OS_VOLUME: &str = "OS";

impl OsTarget {
    pub fn volume(name: impl Into<String>) -> OsTarget {
        OsTarget { volume: Some(name.into()), ..OsTarget::default() }
    }

    pub fn drive(serial: impl Into<String>) -> OsTarget {
        OsTarget { serial: Some(serial.into()), ..OsTarget::default() }
    }

    pub fn disk(id: impl Into<String>) -> OsTarget {
        OsTarget { id: Some(id.into()), ..OsTarget::default() }
    }

    /// Whether this serial number or WWN is the target's own, as far as its own are known.
    pub fn is_called(&self, id: &str) -> bool {
        [&self.serial, &self.wwn, &self.id].into_iter().flatten().any(|own| is_same_disk(own, id))
    }
}
