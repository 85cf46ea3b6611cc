//! One disk that may be written. Whoever holds a [`Disk`] chose it by its identity; there is no other way to a disk's contents.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, FallocateFlags, OFlags, fadvise, fallocate, major, minor};

use crate::inventory::DiskFacts;

/// Zeros that are written where nothing else makes them.
const ZEROS: &[u8] = &[0; 256 * 1024];

/// How much the kernel is asked to make zero at once, so that one request does not take for ever.
const ZEROED_AT_ONCE: u64 = 1 << 30;

/// What reads without the page cache have to begin and end at, in memory and on the disk: no disk has larger blocks.
const ALIGNMENT: usize = 4_096;

/// A disk that is open for writing.
#[derive(Debug)]
pub struct Disk {
    file: File,
    path: PathBuf,
    bytes: u64,
    block_bytes: u64,
    /// The disk in words.
    told: String,
}

impl fmt::Display for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told)
    }
}

impl Disk {
    /// Opens the disk of that name under `root`, and sees to it that it is the one that was looked at. A disk that is in use is not opened.
    pub fn open(root: &Path, facts: &DiskFacts) -> io::Result<Disk> {
        let path = root.join("dev").join(&facts.name);
        let in_use_is_an_error = OFlags::EXCL.bits() as i32;
        let file = OpenOptions::new().read(true).write(true).custom_flags(in_use_is_an_error).open(&path)?;
        let metadata = file.metadata()?;
        if metadata.file_type().is_block_device() {
            let number = format!("{}:{}", major(metadata.rdev()), minor(metadata.rdev()));
            if facts.device.as_ref() != Some(&number) {
                return Err(io::Error::other(format!("{} is device {number} and not the one that was chosen", path.display())));
            }
        }
        let bytes = io::Seek::seek(&mut &file, io::SeekFrom::End(0))?;
        if bytes != facts.bytes {
            return Err(io::Error::other(format!("{} has {bytes} bytes, and had {}", path.display(), facts.bytes)));
        }
        Ok(Disk { file, path, bytes, block_bytes: facts.block_bytes, told: facts.to_string() })
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn block_bytes(&self) -> u64 {
        self.block_bytes
    }

    pub fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let end = at.checked_add(bytes.len() as u64);
        if end.is_none_or(|end| end > self.bytes) {
            return Err(io::Error::new(io::ErrorKind::WriteZero, format!("{} bytes at {at} are beyond the end of the disk", bytes.len())));
        }
        self.file.write_all_at(bytes, at)
    }

    pub fn read(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, at)?;
        Ok(bytes)
    }

    /// Makes a part of the disk read as zeros, whatever was there: by the disk itself if it can, by the kernel else, and by hand where
    /// neither does. A kernel that agrees to punch a hole vouches for the zeros; a mere discard would not.
    pub fn zero(&self, at: u64, length: u64) -> io::Result<()> {
        if at.checked_add(length).is_none_or(|end| end > self.bytes) {
            return Err(io::Error::new(io::ErrorKind::WriteZero, format!("{length} zeros at {at} are beyond the end of the disk")));
        }
        let block = self.block_bytes.max(ALIGNMENT as u64);
        let from = at.next_multiple_of(block).min(at + length);
        let to = ((at + length) / block * block).max(from);
        self.write_zeros(at, from - at)?;
        let mut done = from;
        while done < to {
            let piece = (to - done).min(ZEROED_AT_ONCE);
            if !self.zero_by_kernel(done, piece)? {
                self.write_zeros(done, piece)?;
            }
            done += piece;
        }
        self.write_zeros(to, at + length - to)
    }

    fn zero_by_kernel(&self, at: u64, length: u64) -> io::Result<bool> {
        for way in [FallocateFlags::PUNCH_HOLE, FallocateFlags::ZERO_RANGE] {
            match fallocate(&self.file, way | FallocateFlags::KEEP_SIZE, at, length) {
                Ok(()) => return Ok(true),
                Err(rustix::io::Errno::IO | rustix::io::Errno::NOSPC) => return Err(io::Error::other("the disk did not make zeros")),
                Err(_) => {}
            }
        }
        Ok(false)
    }

    fn write_zeros(&self, at: u64, length: u64) -> io::Result<()> {
        let mut done = 0;
        while done < length {
            let piece = (length - done).min(ZEROS.len() as u64);
            self.file.write_all_at(&ZEROS[..piece as usize], at + done)?;
            done += piece;
        }
        Ok(())
    }

    /// Waits until the disk itself has everything.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Reads a part of the disk from the disk itself and not from memory, piece by piece. Everything must be synced before.
    pub fn read_back(&self, from: u64, to: u64, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        fadvise(&self.file, 0, None, Advice::DontNeed)?;
        let direct = OpenOptions::new().read(true).custom_flags(OFlags::DIRECT.bits() as i32).open(&self.path);
        let mut reader = direct.as_ref().unwrap_or(&self.file);
        let mut memory = vec![0; ZEROS.len() * 4 + ALIGNMENT];
        // The address of a buffer is known only at run time; what lies before an aligned one is not used.
        let skipped = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        let buffer = &mut memory[skipped..skipped + ZEROS.len() * 4];
        let mut at = from / ALIGNMENT as u64 * ALIGNMENT as u64;
        while at < to {
            let read = match reader.read_at(buffer, at) {
                // Some filesystems, under the disks of tests, cannot read like this.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput && !std::ptr::eq(reader, &self.file) => {
                    reader = &self.file;
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if read == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("the disk ends at {at}")));
            }
            let begin = from.saturating_sub(at).min(read as u64) as usize;
            let end = (to - at).min(read as u64) as usize;
            each(&buffer[begin..end])?;
            at += read as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
