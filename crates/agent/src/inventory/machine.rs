//! What the machine has beside its disks: network ports, memory, processors, and the firmware that started it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::Serialize;

use super::{names, value};

/// A network port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Nic {
    pub name: String,
    pub mac: String,
    /// Whether something is at the other end of the cable. Only a port that is up knows.
    pub link: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mbps: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cpus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub sockets: usize,
    pub cores: usize,
    pub threads: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Firmware {
    Uefi,
    Bios,
}

/// Ports that are hardware; what the kernel makes up, such as the loopback, has no device.
pub fn observe_nics(root: &Path) -> Vec<Nic> {
    let folder = root.join("sys/class/net");
    let of_hardware = names(&folder).into_iter().filter(|name| folder.join(name).join("device").exists());
    let observe = |name: String| {
        let nic = folder.join(&name);
        let link = value(&nic.join("carrier")).as_deref() == Some("1");
        // A port without a link tells a speed of -1, or none at all.
        let mbps = value(&nic.join("speed")).and_then(|speed| speed.parse().ok()).filter(|mbps| link && (1..=10_000_000).contains(mbps));
        Some(Nic { mac: value(&nic.join("address"))?, name, link, mbps })
    };
    of_hardware.filter_map(observe).collect()
}

pub(super) fn observe_memory(root: &Path) -> Option<u64> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)
}

pub(super) fn observe_cpus(root: &Path) -> Cpus {
    let text = fs::read_to_string(root.join("proc/cpuinfo")).unwrap_or_default();
    let mut cpus = Cpus::default();
    let (mut sockets, mut cores) = (BTreeSet::new(), BTreeSet::new());
    for thread in text.split("\n\n").filter(|thread| thread.contains("processor")) {
        let of =
            |key: &str| thread.lines().filter_map(|line| line.split_once(':')).find(|(is, _)| is.trim() == key).map(|(_, is)| is.trim());
        let socket = of("physical id").unwrap_or("0");
        sockets.insert(socket.to_owned());
        // Without a number of its core a thread is one by itself.
        cores.insert((socket.to_owned(), of("core id").or_else(|| of("processor")).unwrap_or("0").to_owned()));
        cpus.threads += 1;
        cpus.model = cpus.model.or_else(|| of("model name").map(str::to_owned));
    }
    Cpus { sockets: sockets.len(), cores: cores.len(), ..cpus }
}

pub(super) fn observe_firmware(root: &Path) -> Firmware {
    if root.join("sys/firmware/efi").exists() { Firmware::Uefi } else { Firmware::Bios }
}
