//! Copying the file while it is in use: to a file that stays, or to one that is there only while it is read.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use sha2::{Digest, Sha256};
use tokio::sync::OwnedSemaphorePermit;

use super::errors::Place;
use super::{open, rows};
use crate::{Revision, StoreError};

/// Every page in one step: readers do not hold up the writer, and a copy in several steps would start again
/// with each commit.
const ALL_PAGES: i32 = -1;

/// Copies to a new file, which has its name only once it is complete. An existing file is never overwritten, be it an
/// older backup or the store itself.
pub(super) fn copy(place: &Place, to: &Path) -> Result<Revision, StoreError> {
    let target = Place::of_backup(to);
    if to.exists() {
        return Err(target.io_fault(io::Error::new(io::ErrorKind::AlreadyExists, "a file of this name exists; choose another")));
    }
    let mut unfinished = to.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = Path::new(&unfinished);
    let copied = copy_pages(place, &target, unfinished)
        .and_then(|revision| name_finished(unfinished, &target).map(|()| revision).map_err(|error| target.io_fault(error)));
    if copied.is_err() {
        // The error is what matters; a leftover is overwritten by the next backup of this name.
        drop(fs::remove_file(unfinished));
    }
    copied
}

/// A copy of the whole store at one revision. Its file has no name any more, so that it is gone with this value, and
/// with the process whatever happens to it.
#[derive(Debug)]
pub struct StoreCopy {
    pub file: File,
    pub bytes: u64,
    pub revision: Revision,
    /// Of the whole file, in hexadecimal digits.
    pub sha256: String,
    /// Others wait while this copy takes up room on the disk.
    _turn: OwnedSemaphorePermit,
}

/// Copies to a file beside the store, which must have room for it.
pub(super) fn copy_unnamed(place: &Place, turn: OwnedSemaphorePermit) -> Result<StoreCopy, StoreError> {
    let path = place.beside(".copy");
    let fault = |error| place.io_fault(error);
    // A process that was killed while it copied left one.
    open::remove_if_present(&path).map_err(fault)?;
    let revision = copy(place, &path)?;
    let opened = File::open(&path);
    fs::remove_file(&path).map_err(fault)?;
    let mut file = opened.map_err(fault)?;
    let (bytes, sha256) = digest(&mut file).map_err(fault)?;
    Ok(StoreCopy { file, bytes, revision, sha256, _turn: turn })
}

/// The length and the checksum of a file, which is then at its beginning again.
fn digest(file: &mut File) -> io::Result<(u64, String)> {
    const CHUNK: usize = 64 * 1_024;
    let (mut hash, mut bytes, mut chunk) = (Sha256::new(), 0, vec![0; CHUNK]);
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        hash.update(&chunk[..read]);
        bytes += read as u64;
    }
    file.rewind()?;
    Ok((bytes, hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

fn copy_pages(place: &Place, target: &Place, unfinished: &Path) -> Result<Revision, StoreError> {
    let fault = |error| target.fault(error);
    open::private_file(unfinished).map_err(|error| target.io_fault(error))?;
    let from = open::connect(&place.database, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|error| place.fault(error))?;
    let mut into = Connection::open_with_flags(unfinished, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(fault)?;
    let step = Backup::new(&from, &mut into).map_err(fault)?.step(ALL_PAGES).map_err(fault)?;
    if step != StepResult::Done {
        return Err(place.other(io::Error::other("the database stayed locked during the backup")));
    }
    let revision = into.query_row("SELECT revision FROM state", [], |row| rows::revision_at(row, 0)).map_err(fault)?;
    into.close().map_err(|(_, error)| target.fault(error))?;
    Ok(revision)
}

fn name_finished(unfinished: &Path, target: &Place) -> io::Result<()> {
    File::open(unfinished)?.sync_all()?;
    fs::rename(unfinished, &target.database)?;
    open::sync_directory(&target.directory)
}
