//! How a machine is installed, as far as its site file says it of this machine alone.

use serde::{Deserialize, Serialize};

/// How many data disks a machine may have, and how many name servers: a resolver asks no more.
pub const DATA_DISKS_MAX: usize = 64;
pub const DNS_MAX: usize = 3;

/// Characters of a serial number or a WWN.
pub const DISK_ID_MAX: usize = 128;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallSettings {
    /// Serial number or WWN of the disk that the system goes to. It wins over what the SKU says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os_disk: Option<String>,
    /// The same of disks with tenants' data that no controller has volumes on: a replace with `DiscardAll` wipes these, and no others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_disks: Vec<String>,
    /// The agent's network; nothing if it asks for one by DHCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<InstallNetwork>,
}

impl InstallSettings {
    pub fn is_default(&self) -> bool {
        *self == InstallSettings::default()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallNetwork {
    /// With the length of its network's prefix: `10.0.2.50/24`.
    pub address: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dns: Vec<String>,
}

/// The network of one attempt's agent: the port that it is for is settled with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentNetwork {
    pub mac: String,
    #[serde(flatten)]
    pub at: InstallNetwork,
}

/// Whether two texts name the same disk. A WWN is written with or without `0x`, `naa.` or `wwn-`, and with colons between its digits
/// or none; nobody means anything by the case.
pub fn is_same_disk(a: &str, b: &str) -> bool {
    let plain = |id: &str| -> String {
        let id = id.trim().to_ascii_lowercase();
        let digits = ["wwn-", "naa.", "eui.", "uuid.", "nvme.", "0x"]
            .into_iter()
            .fold(id.as_str(), |id, prefix| id.strip_prefix(prefix).unwrap_or(id));
        digits.chars().filter(|c| !matches!(c, ':' | '-')).collect()
    };
    let (a, b) = (plain(a), plain(b));
    !a.is_empty() && a == b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_the_same_however_its_name_is_written() {
        for other in
            ["0x5002538F01C2A1B0", "naa.5002538f01c2a1b0", "wwn-0x5002538f01c2a1b0", "50:02:53:8f:01:c2:a1:b0", " 5002538f01c2a1b0 "]
        {
            assert!(is_same_disk("5002538f01c2a1b0", other), "{other}");
        }
        assert!(is_same_disk("s4xyz", "S4XYZ") && !is_same_disk("S4XYZ", "S4XYZ1"));
        assert!(!is_same_disk("", "") && !is_same_disk("0x", "naa."));
    }
}
