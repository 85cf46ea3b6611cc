//! What runs on a machine beside an operating system that has joined: the installing agent, which came over the network,
//! and the installed system until it has joined.
//!
//! Both talk to others over HTTP, which is `sim`'s: here it is decided what they want to ask ([`Errand`]) and what they
//! make of the answer ([`Outcome`]). Whatever they know is part of the machine's state, so that a simulator that is
//! restarted goes on where it was.

mod course;
mod first_boot;
mod found;
mod stage;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::hardware::{BootSource, FirstBoot, PhoneHome, Release};

pub use found::{FoundCpus, FoundDisk, FoundNic, FoundParts};
pub(crate) use stage::AgentRun;

/// What an agent reads out of the image that it was started from.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentConfig {
    /// The base of every URL that it calls.
    pub url: String,
    /// The authority that it trusts, as PEM.
    pub ca: Option<String>,
    pub cluster: String,
    pub machine: String,
    pub operation: String,
    pub round: u32,
    pub token: String,
}

/// What an agent gets for its token.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    pub session: String,
    pub image: WantedImage,
    pub os_disk: WantedDisk,
    pub hostname: String,
    /// Data disks to wipe, each by serial number or WWN.
    #[serde(default)]
    pub wipe: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedImage {
    pub url: String,
    pub sha256: String,
    pub bytes: u64,
}

/// The disk to write to. What is not said does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedDisk {
    #[serde(default)]
    pub serial: Option<String>,
    #[serde(default)]
    pub wwn: Option<String>,
    /// The name of the controller's volume.
    #[serde(default)]
    pub volume: Option<String>,
    /// The serial number or the WWN.
    #[serde(default)]
    pub id: Option<String>,
}

/// An agent that has traded its token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub config: AgentConfig,
    pub grant: Grant,
}

/// Why an agent gives up, in the words of the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AgentTrouble {
    WrongDigest,
    ImageUnreachable,
    MissingDisk,
    AmbiguousDisk,
    DiskTooSmall,
    SeedFailed,
}

/// What an agent tells in its session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum AgentReport {
    Progress { percent: u8 },
    Written { sha256: String },
    Failed { trouble: AgentTrouble, detail: String },
}

/// Something to ask over the network in a machine's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Errand {
    /// Fetch what the firmware starts, and read the agent's configuration out of it.
    FetchMedia {
        source: BootSource,
    },
    /// Trade the token for a session, as the machine of this name. The nonce tells one start of an agent from another.
    Exchange {
        config: AgentConfig,
        machine: String,
        nonce: String,
    },
    /// Fetch the operating system. `is_spoiled` is a fault: what arrives is not what was sent.
    FetchImage {
        session: Session,
        is_spoiled: bool,
    },
    Report {
        session: Session,
        report: AgentReport,
    },
    /// Tell what the machine has.
    SendInventory {
        session: Session,
        found: FoundParts,
    },
    /// Tell what was done so far, in the agent's own words.
    SendLog {
        session: Session,
        log: String,
    },
    FetchSeed {
        session: Session,
    },
    PhoneHome {
        home: PhoneHome,
        ca: Option<String>,
    },
}

/// What came of an errand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nobody answered, the answer broke off, or it was of no use.
    Silence {
        why: String,
    },
    /// The answer is no.
    Refused {
        status: u16,
    },
    Media(Box<AgentConfig>),
    Granted(Box<Grant>),
    /// What was fetched, as it is and not as it should be; and what it says of itself, if it is an operating system.
    Image {
        bytes: u64,
        sha256: String,
        release: Option<Release>,
    },
    Seed(Box<FirstBoot>),
    Done,
}

/// An errand that is to be run, and by which number it is finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub machine: usize,
    pub number: u64,
    pub errand: Errand,
}

/// Debug output ends up in logs; tokens do not belong there.
impl fmt::Debug for AgentConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AgentConfig { url, cluster, machine, operation, round, .. } = self;
        write!(f, "AgentConfig({url} {cluster} {machine} {operation} {round})")
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Grant { image, os_disk, hostname, .. } = self;
        write!(f, "Grant({image:?} {os_disk:?} {hostname})")
    }
}

#[cfg(test)]
mod tests;
