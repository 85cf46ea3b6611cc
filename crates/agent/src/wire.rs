//! What goes over the wire to and from the control plane, as docs/installing.md tells it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::trouble::Trouble;

/// What the agent asks with its token.
#[derive(Debug, Serialize)]
pub struct Wish<'a> {
    pub machine: &'a str,
    pub nonce: &'a str,
}

/// What it gets for it.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    pub session: String,
    pub hostname: String,
    pub image: WantedImage,
    pub os_disk: Identity,
    /// Data disks that are to be wiped, each by serial number or WWN.
    #[serde(default)]
    pub wipe: Vec<String>,
}

/// What is to be on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct WantedImage {
    pub url: String,
    /// Of the image as it is on the disk.
    pub sha256: String,
    pub bytes: u64,
    /// How it is sent, where it is not sent as it is.
    #[serde(default)]
    pub packed: Option<Packed>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Packed {
    pub format: String,
    pub sha256: String,
    pub bytes: u64,
}

/// How a disk is known. Everything that is said must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Identity {
    #[serde(default)]
    pub serial: Option<String>,
    #[serde(default)]
    pub wwn: Option<String>,
    /// The name of a controller's volume, which a host does not see; its WWN comes with it where it is known.
    #[serde(default)]
    pub volume: Option<String>,
    /// The serial number or the WWN, whichever it is.
    #[serde(default)]
    pub id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Report<'a> {
    Progress { percent: u8 },
    Written { sha256: &'a str },
    Failed { trouble: Trouble, detail: &'a str },
}

/// The first-boot configuration.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seed {
    pub user_data: String,
    pub meta_data: String,
}

/// Debug output ends up in logs; the session does not belong there.
impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Grant { hostname, image, os_disk, wipe, .. } = self;
        write!(f, "Grant({hostname} {image:?} {os_disk:?} {wipe:?})")
    }
}

/// User data has tokens in it.
impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Seed({} and {} bytes)", self.user_data.len(), self.meta_data.len())
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Identity { serial, wwn, volume, id } = self;
        let said = [("serial number", serial), ("WWN", wwn), ("volume name", volume), ("serial number or WWN", id)];
        let said: Vec<String> = said.iter().filter_map(|(what, is)| is.as_ref().map(|is| format!("{what} `{is}`"))).collect();
        if said.is_empty() { f.write_str("no identity") } else { f.write_str(&said.join(" and ")) }
    }
}
