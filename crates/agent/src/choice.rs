//! Which disk is meant. A disk is known by what it says of itself, never by its name or its place: those change.
//!
//! Whatever is not plainly the one disk that was named is left alone.

use crate::inventory::DiskFacts;
use crate::trouble::{Failure, Trouble};
use crate::wire::Identity;

/// The disks that may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice<'a> {
    pub os: &'a DiskFacts,
    pub wipe: Vec<&'a DiskFacts>,
}

/// Chooses the disk of the operating system, which must hold `bytes`, and those that are to be wiped.
pub fn choose_disks<'a>(disks: &'a [DiskFacts], os: &Identity, bytes: u64, wipe: &[String]) -> Result<Choice<'a>, Failure> {
    let os = the_one(disks, os)?;
    if os.bytes < bytes {
        let detail = format!("the image has {bytes} bytes, and {os} is smaller");
        return Err(Failure::new(Trouble::DiskTooSmall, detail));
    }
    let mut chosen: Vec<&DiskFacts> = Vec::new();
    for id in wipe {
        let disk = the_one(disks, &Identity { id: Some(id.clone()), ..Identity::default() })?;
        if disk.name == os.name {
            let detail = format!("the disk to be wiped by the name `{id}` is that of the operating system: {os}");
            return Err(Failure::new(Trouble::AmbiguousDisk, detail));
        }
        if !chosen.iter().any(|known| known.name == disk.name) {
            chosen.push(disk);
        }
    }
    Ok(Choice { os, wipe: chosen })
}

/// The one disk that is meant, if it can be written. A second one counts even if it cannot: which of them is meant is not known.
fn the_one<'a>(disks: &'a [DiskFacts], wanted: &Identity) -> Result<&'a DiskFacts, Failure> {
    let meant: Vec<&DiskFacts> = disks.iter().filter(|disk| is_meant(disk, wanted)).collect();
    match meant[..] {
        [disk] if is_writable(disk) => Ok(disk),
        [disk] => Err(Failure::new(Trouble::MissingDisk, format!("the disk with {wanted} is removable or cannot be written: {disk}"))),
        [] => Err(Failure::new(Trouble::MissingDisk, format!("no disk has {wanted}; there are: {}", list(disks.iter())))),
        _ => Err(Failure::new(Trouble::AmbiguousDisk, format!("several disks have {wanted}: {}", list(meant.iter().copied())))),
    }
}

fn is_writable(disk: &DiskFacts) -> bool {
    !disk.removable && !disk.read_only
}

/// Whether everything that is said of a disk holds. Who says nothing means none.
fn is_meant(disk: &DiskFacts, wanted: &Identity) -> bool {
    let has_serial = |wanted: &str| disk.serial.as_deref().is_some_and(|serial| is_same_text(serial, wanted));
    let has_wwn = |wanted: &str| disk.wwn.as_deref().is_some_and(|wwn| is_same_wwn(wwn, wanted));
    let has_either = |wanted: &str| has_serial(wanted) || has_wwn(wanted);
    let Identity { serial, wwn, volume, id } = wanted;
    // A host does not see what a controller calls its volumes: where a WWN comes with it, that is what counts.
    let volume = volume.as_deref().filter(|_| wwn.is_none() && serial.is_none());
    let holds = |wanted: Option<&str>, has: &dyn Fn(&str) -> bool| wanted.map(has);
    let said = [
        holds(serial.as_deref(), &has_serial),
        holds(wwn.as_deref(), &has_wwn),
        holds(volume, &has_either),
        holds(id.as_deref(), &has_either),
    ];
    let mut said = said.into_iter().flatten().peekable();
    said.peek().is_some() && said.all(|holds| holds)
}

fn is_same_text(one: &str, other: &str) -> bool {
    let other = other.trim();
    !other.is_empty() && one.trim().eq_ignore_ascii_case(other)
}

/// A WWN is written in several ways: `naa.5000c500a1b2c3d4`, `0x5000C500A1B2C3D4`, `50:00:c5:00:a1:b2:c3:d4`.
fn is_same_wwn(one: &str, other: &str) -> bool {
    let other = plain_wwn(other);
    !other.is_empty() && plain_wwn(one) == other
}

fn plain_wwn(wwn: &str) -> String {
    let mut text = wwn.trim().to_ascii_lowercase();
    for prefix in ["wwn-", "naa.", "eui.", "uuid.", "0x"] {
        text = text.strip_prefix(prefix).unwrap_or(&text).to_owned();
    }
    text.retain(|letter| !matches!(letter, ':' | '-' | ' '));
    text
}

fn list<'a>(disks: impl Iterator<Item = &'a DiskFacts>) -> String {
    let disks: Vec<String> = disks.map(ToString::to_string).collect();
    if disks.is_empty() { "none at all".to_owned() } else { disks.join(", ") }
}

#[cfg(test)]
mod tests;
