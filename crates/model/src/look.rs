//! Looks that a plan asks for: more than the power of a machine, and only when a decision needs it. They change nothing, so no
//! intent is written before them; what they found is kept in memory until it is too old for the question.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::etcd::EtcdSeen;
use crate::fault::Fault;
use crate::inspection::Inspection;
use crate::install::BootWay;
use crate::time::Timestamp;

/// What to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LookAt {
    /// What the BMC offers for an installation, and which jobs it has.
    Survey,
    /// What is in the virtual drive, and what the machine will start from.
    Boot,
    /// The controller's volumes.
    Volumes,
    /// Everything that hardware validation compares.
    Hardware,
    /// The accounts of the BMC.
    Accounts,
    /// The members of the undercloud's etcd; of no machine in particular.
    Etcd,
}

impl fmt::Display for LookAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LookAt::Survey => "what the BMC offers and has to do",
            LookAt::Boot => "the virtual drive and the boot source",
            LookAt::Volumes => "the volumes",
            LookAt::Hardware => "the hardware",
            LookAt::Accounts => "the BMC's accounts",
            LookAt::Etcd => "the members of etcd",
        })
    }
}

/// The latest look of its kind at a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// When the look began: what it found was so after this.
    pub began_at: Timestamp,
    pub ended_at: Timestamp,
    pub found: Result<Found, Fault>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Survey(Survey),
    Boot(BootSeen),
    Volumes(VolumesSeen),
    Hardware(Box<Inspection>),
    Accounts(Vec<AccountSeen>),
    Etcd(EtcdSeen),
}

/// What a BMC offers to whoever wants to install its machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// In the order of [`BootWay::ALL`].
    pub ways: Vec<BootWay>,
    /// Jobs that are not over; nothing if the BMC tells of none.
    pub jobs: Option<Vec<JobSeen>>,
}

/// A job in a BMC's queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSeen {
    pub name: String,
    pub percent: Option<u8>,
    pub concerns_firmware: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BootSeen {
    /// The URL of the image in the virtual drive; an empty text if one is in it and its URL is not told.
    pub media: Option<String>,
    pub source: SourceSeen,
}

impl SourceSeen {
    /// `it is set to start from its disk`.
    pub fn in_words(self) -> &'static str {
        match self {
            SourceSeen::Disk => "its disk",
            SourceSeen::Media => "virtual media",
            SourceSeen::Http => "UEFI HTTP boot",
            SourceSeen::Pxe => "PXE",
            SourceSeen::Other => "something else",
        }
    }
}

/// What the machine will start from, as far as it concerns us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceSeen {
    /// Its own order, or its disk.
    #[default]
    Disk,
    Media,
    Http,
    Pxe,
    Other,
}

/// The volumes of all controllers of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VolumesSeen {
    /// Nothing where the BMC has no volumes to offer.
    pub volumes: Option<Vec<VolumeSeen>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeSeen {
    /// Where it is on its BMC.
    pub path: String,
    /// Where its controller is.
    pub controller: String,
    pub name: String,
    /// What it is called on the bus, where the BMC tells it: a host sees no names of volumes.
    pub wwn: Option<String>,
}

/// An account of a BMC. Its password is never told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountSeen {
    pub slot: String,
    pub user: String,
    pub role: String,
    pub enabled: bool,
    /// The public keys that open it; nothing where the BMC offers no keys for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<Vec<String>>,
}
