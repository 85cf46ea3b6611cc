//! What hardware the machine has, as the kernel tells it under `/sys` and `/proc`. Nothing is changed by looking.

mod disks;
mod machine;

use std::fs;
use std::path::Path;

use serde::Serialize;

pub use disks::{DiskFacts, DiskKind};
pub use machine::{Cpus, Firmware, Nic};

/// How many disks and network ports are told; the control plane takes no more.
const TOLD_MAX: usize = 64;

/// What the machine is made of. What the kernel does not know is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Inventory {
    pub disks: Vec<DiskFacts>,
    pub nics: Vec<Nic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    pub cpus: Cpus,
    pub firmware: Firmware,
}

impl Inventory {
    /// Looks at the machine whose `/sys` and `/proc` are under `root`.
    pub fn observe(root: &Path) -> Inventory {
        Inventory {
            disks: disks::observe_disks(root),
            nics: machine::observe_nics(root),
            memory_bytes: machine::observe_memory(root),
            cpus: machine::observe_cpus(root),
            firmware: machine::observe_firmware(root),
        }
    }

    /// The inventory as it is sent: the first of what is too many.
    pub fn for_sending(&self) -> Inventory {
        let mut told = self.clone();
        told.disks.truncate(TOLD_MAX);
        told.nics.truncate(TOLD_MAX);
        told
    }
}

pub use machine::observe_nics;

/// A file of one value, without what surrounds it; nothing if it is empty or cannot be read.
fn value(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim_matches(|letter: char| letter.is_whitespace() || letter == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

fn number(path: &Path) -> Option<u64> {
    value(path)?.parse().ok()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests;
