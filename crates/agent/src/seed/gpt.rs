//! As much of GPT as it takes to find a partition by its name, and to add one at the end of a disk that is larger than the image
//! on it. Everything else in the table stays as it is.

use std::io;

use crc32fast::hash;

use super::Place;
use crate::disk::Disk;

const SIGNATURE: &[u8] = b"EFI PART";

/// Sizes that the specification asks for at least, and that nobody exceeds.
const HEADER_MIN: usize = 92;
const ENTRY_MIN: usize = 128;
const ENTRIES_MAX: usize = 4 * 1024 * 1024;

/// Partitions begin at multiples of this, as everywhere.
const ALIGNMENT: u64 = 1024 * 1024;

/// What a partition with a filesystem for everyone is: Microsoft's basic data, as it is laid down on a disk.
const BASIC_DATA: [u8; 16] = [0xa2, 0xa0, 0xd0, 0xeb, 0xe5, 0xb9, 0x33, 0x44, 0x87, 0xc0, 0x68, 0xb6, 0xb7, 0x26, 0x99, 0xc7];

/// In the protective MBR of older tools: its first entry, and the type that covers the whole disk.
const MBR_ENTRIES: usize = 446;
const MBR_PROTECTIVE: u8 = 0xee;

/// A partition table as it is on a disk.
#[derive(Clone, Debug)]
pub(super) struct Table {
    block: u64,
    header: Vec<u8>,
    entries: Vec<u8>,
    entry_bytes: usize,
}

/// Why there is no room for another partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    Disk,
    Table,
}

impl Table {
    /// The table of a disk; nothing if there is none, or only a damaged one.
    pub fn load(disk: &Disk) -> io::Result<Option<Table>> {
        let block = disk.block_bytes();
        if disk.bytes() < 3 * block {
            return Ok(None);
        }
        let first = disk.read(block, block as usize)?;
        let length = u32_at(&first, 12) as usize;
        if !first.starts_with(SIGNATURE) || !(HEADER_MIN..=block as usize).contains(&length) {
            return Ok(None);
        }
        let header = first[..length].to_vec();
        let (count, entry_bytes) = (u32_at(&header, 80) as usize, u32_at(&header, 84) as usize);
        let length = count.saturating_mul(entry_bytes);
        let at = u64_at(&header, 72).saturating_mul(block);
        if checksum(&header) != u32_at(&header, 16) || entry_bytes < ENTRY_MIN || length > ENTRIES_MAX || at + length as u64 > disk.bytes()
        {
            return Ok(None);
        }
        let entries = disk.read(at, length)?;
        Ok((hash(&entries) == u32_at(&header, 88)).then_some(Table { block, header, entries, entry_bytes }))
    }

    /// The first partition of that name, in any case.
    pub fn named(&self, name: &str) -> Option<Place> {
        let entry = self.used().find(|entry| name_of(entry).eq_ignore_ascii_case(name))?;
        let (first, last) = (u64_at(entry, 32), u64_at(entry, 40));
        let blocks = last.checked_sub(first)?.checked_add(1)?;
        Some(Place { at: first.checked_mul(self.block)?, bytes: blocks.checked_mul(self.block)? })
    }

    /// Adds a partition at the end of a disk of this size, behind all others.
    pub fn add_at_end(&mut self, disk_bytes: u64, name: &str, bytes: u64, id: [u8; 16]) -> Result<Place, Full> {
        let blocks = disk_bytes / self.block;
        // At the end of the disk are the copies of the entries and of the header.
        let last_usable = blocks.checked_sub(self.entry_blocks() + 2).ok_or(Full::Disk)?;
        let first_usable = u64_at(&self.header, 40);
        let taken = self.used().map(|entry| u64_at(entry, 40) + 1).max().unwrap_or(0).max(first_usable);
        let (wanted, step) = (bytes / self.block, ALIGNMENT / self.block);
        let first = (last_usable + 1).checked_sub(wanted).ok_or(Full::Disk)? / step * step;
        if first < taken || first == 0 {
            return Err(Full::Disk);
        }
        let entry_bytes = self.entry_bytes;
        let free = self.entries.chunks_exact_mut(entry_bytes).find(|entry| !is_used(entry)).ok_or(Full::Table)?;
        free.fill(0);
        free[..16].copy_from_slice(&BASIC_DATA);
        free[16..32].copy_from_slice(&id);
        free[32..40].copy_from_slice(&first.to_le_bytes());
        free[40..48].copy_from_slice(&(first + wanted - 1).to_le_bytes());
        for (place, unit) in free[56..ENTRY_MIN].chunks_exact_mut(2).zip(name.encode_utf16()) {
            place.copy_from_slice(&unit.to_le_bytes());
        }
        self.header[48..56].copy_from_slice(&last_usable.to_le_bytes());
        Ok(Place { at: first * self.block, bytes: wanted * self.block })
    }

    /// Writes the table and its copy, which goes to the end of the disk. The copy first: a table must never point to none.
    pub fn save(&self, disk: &Disk) -> io::Result<()> {
        let last = disk.bytes() / self.block - 1;
        let (entries_at, copy_at) = (u64_at(&self.header, 72), last - self.entry_blocks());
        disk.write(copy_at * self.block, &self.entries)?;
        disk.write(last * self.block, &self.header_for(last, 1, copy_at))?;
        disk.sync()?;
        disk.write(entries_at * self.block, &self.entries)?;
        disk.write(self.block, &self.header_for(1, last, entries_at))?;
        self.stretch_protection(disk, last)
    }

    /// The header as it lies at one place, with its copy at another, padded to a block.
    fn header_for(&self, at: u64, copy_at: u64, entries_at: u64) -> Vec<u8> {
        let mut header = self.header.clone();
        header[24..32].copy_from_slice(&at.to_le_bytes());
        header[32..40].copy_from_slice(&copy_at.to_le_bytes());
        header[72..80].copy_from_slice(&entries_at.to_le_bytes());
        header[88..92].copy_from_slice(&hash(&self.entries).to_le_bytes());
        let sum = checksum(&header);
        header[16..20].copy_from_slice(&sum.to_le_bytes());
        header.resize(self.block as usize, 0);
        header
    }

    /// Lets the protective entry for older tools cover the whole disk, if it is the only one; one of several was put there on purpose.
    fn stretch_protection(&self, disk: &Disk, last: u64) -> io::Result<()> {
        let mut sector = disk.read(0, self.block as usize)?;
        let entry = |number: usize| MBR_ENTRIES + number * 16;
        let is_alone = (1..4).all(|number| sector[entry(number) + 4] == 0);
        if sector[510..512] != [0x55, 0xaa] || sector[entry(0) + 4] != MBR_PROTECTIVE || !is_alone {
            return Ok(());
        }
        let blocks = u32::try_from(last).unwrap_or(u32::MAX);
        sector[entry(0) + 12..entry(0) + 16].copy_from_slice(&blocks.to_le_bytes());
        disk.write(0, &sector)
    }

    fn used(&self) -> impl Iterator<Item = &[u8]> {
        self.entries.chunks_exact(self.entry_bytes).filter(|entry| is_used(entry))
    }

    fn entry_blocks(&self) -> u64 {
        (self.entries.len() as u64).div_ceil(self.block)
    }
}

fn is_used(entry: &[u8]) -> bool {
    entry[..16].iter().any(|byte| *byte != 0)
}

fn name_of(entry: &[u8]) -> String {
    let units = entry[56..ENTRY_MIN].chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    char::decode_utf16(units.take_while(|unit| *unit != 0)).map(|letter| letter.unwrap_or('?')).collect()
}

/// The checksum of a header is made with zeros in its place.
fn checksum(header: &[u8]) -> u32 {
    let mut header = header.to_vec();
    header[16..20].fill(0);
    hash(&header)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |chunk| u32::from_le_bytes(*chunk))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk))
}
