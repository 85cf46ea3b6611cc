//! Copying the file while it is in use.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::errors::Place;
use super::open;
use crate::StoreError;

/// Every page in one step: readers do not hold up the writer, and a copy in several steps would start again
/// with each commit.
const ALL_PAGES: i32 = -1;

/// Copies to a new file, which has its name only once it is complete. An existing file is never overwritten, be it an
/// older backup or the store itself.
pub(super) fn copy(place: &Place, to: &Path) -> Result<(), StoreError> {
    let directory = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let target = Place { directory: directory.to_owned(), database: to.to_owned() };
    if to.exists() {
        return Err(target.io_fault(io::Error::new(io::ErrorKind::AlreadyExists, "a file of this name exists; choose another")));
    }
    let mut unfinished = to.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = Path::new(&unfinished);
    let copied =
        copy_pages(place, &target, unfinished).and_then(|()| name_finished(unfinished, &target).map_err(|error| target.io_fault(error)));
    if copied.is_err() {
        // The error is what matters; a leftover is overwritten by the next backup of this name.
        drop(fs::remove_file(unfinished));
    }
    copied
}

fn copy_pages(place: &Place, target: &Place, unfinished: &Path) -> Result<(), StoreError> {
    let fault = |error| target.fault(error);
    File::create(unfinished).map_err(|error| target.io_fault(error))?;
    let from = open::connect(&place.database, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|error| place.fault(error))?;
    let mut into = Connection::open_with_flags(unfinished, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(fault)?;
    let step = Backup::new(&from, &mut into).map_err(fault)?.step(ALL_PAGES).map_err(fault)?;
    if step != StepResult::Done {
        return Err(place.other(io::Error::other("the database stayed locked during the backup")));
    }
    into.close().map_err(|(_, error)| target.fault(error))
}

fn name_finished(unfinished: &Path, target: &Place) -> io::Result<()> {
    File::open(unfinished)?.sync_all()?;
    fs::rename(unfinished, &target.database)?;
    open::sync_directory(&target.directory)
}
