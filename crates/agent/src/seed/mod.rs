//! The first-boot configuration, put where cloud-init looks for it: a small FAT filesystem labelled `CIDATA` (NoCloud).
//!
//! It goes into the image's own partition named `cidata`; where there is none, one is made at the end of the disk. An image without a
//! partition table that names partitions has no place for it. It is written after the image was read back, and read back itself.

mod fat;
mod gpt;

use std::io;

use crate::disk::Disk;
use crate::trouble::{Failure, Stop, Trouble};
use crate::wire::Seed;

/// What the partition is called, in any case.
const NAME: &str = "cidata";

/// How large a partition is that is made for it.
const PARTITION_BYTES: u64 = 4 * 1024 * 1024;

/// How much of a partition is made zero before it is formatted: beyond this, nothing is looked at for what is in it.
const CLEARED_BYTES: u64 = 16 * 1024 * 1024;

/// Where on the disk the configuration goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    at: u64,
    bytes: u64,
}

pub fn write_seed(disk: &Disk, seed: &Seed) -> Result<(), Stop> {
    let place = find_place(disk)?;
    let files = [("user-data", seed.user_data.as_bytes()), ("meta-data", seed.meta_data.as_bytes())];
    let Some(filesystem) = fat::format(place.bytes, disk.block_bytes(), &files) else {
        let detail = format!("its partition `{NAME}` of {} bytes is too small for the first-boot configuration", place.bytes);
        return Err(Failure::new(Trouble::Unconfigurable, detail).into());
    };
    put(disk, place, &filesystem).map_err(|error| seed_failed(&error))
}

fn find_place(disk: &Disk) -> Result<Place, Stop> {
    let mut table = match gpt::Table::load(disk) {
        Ok(Some(table)) => table,
        Ok(None) => {
            let detail = format!("the image has no GPT partition table, and so no place for a partition `{NAME}`");
            return Err(Failure::new(Trouble::Unconfigurable, detail).into());
        }
        Err(error) => return Err(seed_failed(&error)),
    };
    if let Some(place) = table.named(NAME) {
        return Ok(place);
    }
    let id = random_id().map_err(|error| seed_failed(&error))?;
    let place = table.add_at_end(disk.bytes(), NAME, PARTITION_BYTES, id).map_err(|full| {
        let (trouble, why) = match full {
            gpt::Full::Disk => (Trouble::DiskTooSmall, "behind the image there is no room on the disk"),
            gpt::Full::Table => (Trouble::Unconfigurable, "the image's partition table has no room"),
        };
        Failure::new(trouble, format!("{why} for a partition `{NAME}` of {PARTITION_BYTES} bytes"))
    })?;
    table.save(disk).map_err(|error| seed_failed(&error))?;
    Ok(place)
}

fn put(disk: &Disk, place: Place, filesystem: &[u8]) -> io::Result<()> {
    disk.zero(place.at, place.bytes.min(CLEARED_BYTES))?;
    disk.write(place.at, filesystem)?;
    disk.sync()?;
    let mut read = Vec::with_capacity(filesystem.len());
    disk.read_back(place.at, place.at + filesystem.len() as u64, |piece| {
        read.extend_from_slice(piece);
        Ok(())
    })?;
    if read == filesystem { Ok(()) } else { Err(io::Error::other("the disk gives back something else than was written")) }
}

/// A random identity for a partition, marked as such.
fn random_id() -> io::Result<[u8; 16]> {
    let mut id = [0; 16];
    rustix::rand::getrandom(&mut id, rustix::rand::GetRandomFlags::empty())?;
    // The first three fields are little-endian on disks, so the version is in the eighth byte.
    id[7] = id[7] & 0x0f | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    Ok(id)
}

fn seed_failed(error: &io::Error) -> Stop {
    Failure::new(Trouble::SeedFailed, format!("the first-boot configuration cannot be written: {error}")).into()
}

#[cfg(test)]
mod tests;
