//! What a replace is told of the hardware that stands in the slot now.

use serde::{Deserialize, Serialize};

use crate::machine::Hardware;
use crate::secret::SecretRef;
use crate::time::Timestamp;

/// The new identifiers and login, each as it was if it is not named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replacement {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial_number: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bmc_mac: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_mac: Option<String>,
    /// What the request calls the machine. It keeps its name, so that another one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_name: Option<String>,
    /// In the vault since the request came; the machine's own only after a login with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<SecretRef>,
}

impl Replacement {
    /// The hardware as it is to be called and recognized.
    pub fn applied_to(&self, hardware: &Hardware) -> Hardware {
        let mut after = hardware.clone();
        let set = |field: &mut String, new: &Option<String>| {
            if let Some(new) = new {
                field.clone_from(new);
            }
        };
        set(&mut after.serial_number, &self.serial_number);
        set(&mut after.bmc_mac, &self.bmc_mac);
        set(&mut after.boot_mac, &self.boot_mac);
        if let Some(credentials) = &self.credentials {
            after.credentials = credentials.clone();
        }
        after
    }
}

/// That a machine's hardware is no longer what the site file says, because it was replaced. It stands until the site file is
/// changed: then the file has the last word again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replaced {
    pub at: Timestamp,
    /// The hardware as it was described when it was replaced.
    pub described: Hardware,
}

/// What becomes of a machine's volumes when it is replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum StoragePolicy {
    #[default]
    DiscardAll,
    Preserve,
}

/// Whether the platform refuses where it could do harm, or evacuates by itself and goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Safeguard {
    #[default]
    All,
    None,
}

/// That the platform has given a machine up. Only a replace clears it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unhealthy {
    pub since: Timestamp,
    pub because: String,
}
