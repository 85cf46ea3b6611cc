//! What an agent finds in the machine that it runs on. The machine's own word: what its BMC says of the same parts is an inspection's.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::name::{ClusterName, MachineName, OperationId};
use crate::time::Timestamp;

/// How many disks, and how many ports, an inventory may have. No server has half as many.
pub const INVENTORY_PARTS_MAX: usize = 64;

/// The latest inventory of a machine, and the installation that brought it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Inventoried {
    pub cluster: ClusterName,
    pub machine: MachineName,
    pub by: OperationId,
    pub at: Timestamp,
    pub host: HostInventory,
}

/// What could not be found out is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostInventory {
    #[serde(default)]
    pub disks: Vec<HostDisk>,
    #[serde(default)]
    pub nics: Vec<HostNic>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<HostCpus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<HostFirmware>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostDisk {
    /// As the agent's kernel calls it: `sda`. It tells nothing of the place, and may be another at the next start.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wwn: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// `ssd`, `hdd`, `nvme` or `virtual`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default)]
    pub read_only: bool,
    #[serde(default)]
    pub removable: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostNic {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mac: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mbps: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostCpus {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sockets: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
}

/// What the machine was started by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HostFirmware {
    Uefi,
    Bios,
}

/// A few numbers that stand for an inventory in one line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InventoryCount {
    pub disks: u64,
    pub nics: u64,
    pub memory_bytes: Option<u64>,
}

impl fmt::Display for InventoryCount {
    /// `2 disks, 1 NIC, 4 GiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        write!(f, "{}, {}", counted(self.disks, "disk"), counted(self.nics, "NIC"))?;
        self.memory_bytes.map_or(Ok(()), |bytes| write!(f, ", {}", size_in_words(bytes)))
    }
}

/// How much something holds, as people say it: in GiB with at most one decimal, in MiB if that would be less than one.
pub fn size_in_words(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;
    if bytes < GIB {
        return format!("{} MiB", bytes / MIB);
    }
    let tenths = u128::from(bytes) * 10 / u128::from(GIB);
    if tenths >= 1_000 || tenths.is_multiple_of(10) {
        format!("{} GiB", tenths / 10)
    } else {
        format!("{}.{} GiB", tenths / 10, tenths % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inventory_is_one_line_with_sizes_that_people_say() {
        let line = |disks, nics, memory_bytes| InventoryCount { disks, nics, memory_bytes }.to_string();
        assert_eq!(line(2, 1, Some(4 << 30)), "2 disks, 1 NIC, 4 GiB");
        assert_eq!(line(1, 0, None), "1 disk, 0 NICs");
        assert_eq!(size_in_words(503_316_480), "480 MiB");
        assert_eq!(size_in_words((1 << 30) - 1), "1023 MiB");
        assert_eq!(size_in_words(1_610_612_736), "1.5 GiB");
        assert_eq!(size_in_words(480_103_981_056), "447 GiB");
        assert_eq!(size_in_words(u64::MAX), "17179869183 GiB");
    }
}
