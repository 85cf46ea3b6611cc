//! The machine's disks, and what each says of itself.

use std::fmt;
use std::fs;
use std::path::Path;

use serde::Serialize;

use super::{names, number, value};

/// The kernel counts a disk's size in these, whatever the disk's own blocks are.
const SYSFS_SECTOR_BYTES: u64 = 512;

/// A disk, as it is told and chosen by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiskFacts {
    /// What the kernel calls it, which may change from one start to the next.
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wwn: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub bytes: u64,
    pub kind: DiskKind,
    pub read_only: bool,
    pub removable: bool,
    /// The smallest part that it reads and writes.
    #[serde(skip)]
    pub block_bytes: u64,
    /// The kernel's number for it, such as `8:0`.
    #[serde(skip)]
    pub device: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DiskKind {
    Ssd,
    Hdd,
    Nvme,
    Virtual,
}

pub(super) fn observe_disks(root: &Path) -> Vec<DiskFacts> {
    let block = root.join("sys/block");
    names(&block).iter().filter(|name| is_disk(&block, name)).map(|name| observe_disk(&block, name)).collect()
}

/// A device that is hardware, and one that data is kept on: no optical drive, no path of a multipath NVMe disk, and no part of an
/// eMMC beside its own area.
fn is_disk(block: &Path, name: &str) -> bool {
    let folder = block.join(name);
    let is_beside = name.starts_with("mmcblk") && (name.contains("boot") || name.contains("rpmb"));
    let is_hardware = folder.join("device").exists();
    let is_hidden = number(&folder.join("hidden")) == Some(1);
    is_hardware && !is_hidden && !is_beside && !name.starts_with("sr") && !name.starts_with("fd")
}

fn observe_disk(block: &Path, name: &str) -> DiskFacts {
    let folder = block.join(name);
    let device = folder.join("device");
    let is = |file: &str| number(&folder.join(file)) == Some(1);
    let wwid = value(&folder.join("wwid")).or_else(|| value(&device.join("wwid")));
    DiskFacts {
        name: name.to_owned(),
        serial: serial(&folder),
        wwn: wwid.and_then(|wwid| wwn(&wwid)),
        model: value(&device.join("model")).map(|model| words(&model)),
        bytes: number(&folder.join("size")).unwrap_or(0).saturating_mul(SYSFS_SECTOR_BYTES),
        kind: kind(&folder, name),
        read_only: is("ro"),
        removable: is("removable"),
        block_bytes: number(&folder.join("queue/logical_block_size")).unwrap_or(SYSFS_SECTOR_BYTES),
        device: value(&folder.join("dev")),
    }
}

/// Virtio tells the serial number with the disk, NVMe and MMC with the device, and SCSI, which SATA speaks here too, in a page
/// of vital product data: four bytes of header, then the text.
fn serial(folder: &Path) -> Option<String> {
    let page = || {
        let page = fs::read(folder.join("device/vpd_pg80")).ok()?;
        let text = String::from_utf8_lossy(page.get(4..)?).into_owned();
        let text = text.trim_matches(|letter: char| letter.is_whitespace() || letter == '\0').to_owned();
        (!text.is_empty()).then_some(text)
    };
    value(&folder.join("serial")).or_else(|| value(&folder.join("device/serial"))).or_else(page)
}

/// The WWN in a name of the kernel's, such as `naa.5000c500a1b2c3d4`. Names of the kinds `t10` and `nvme` are made of maker, model and
/// serial number, and are none.
fn wwn(wwid: &str) -> Option<String> {
    let (kind, name) = wwid.split_once('.')?;
    matches!(kind, "naa" | "eui" | "uuid").then(|| name.to_owned())
}

fn kind(folder: &Path, name: &str) -> DiskKind {
    let vendor = value(&folder.join("device/vendor")).unwrap_or_default();
    let is_emulated = ["QEMU", "VMware", "Msft"].contains(&vendor.as_str());
    if name.starts_with("vd") || name.starts_with("xvd") || is_emulated {
        return DiskKind::Virtual;
    }
    if name.starts_with("nvme") {
        return DiskKind::Nvme;
    }
    if number(&folder.join("queue/rotational")) == Some(1) { DiskKind::Hdd } else { DiskKind::Ssd }
}

/// Makers fill up their fields with spaces.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl fmt::Display for DiskFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DiskFacts { name, serial, wwn, bytes, .. } = self;
        write!(f, "{name} ({} bytes, serial number {}, WWN {}", bytes, or_none(serial), or_none(wwn))?;
        f.write_str(if self.removable { ", removable" } else { "" })?;
        f.write_str(if self.read_only { ", read-only)" } else { ")" })
    }
}

fn or_none(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or("none")
}
