//! Opening the file: making it, knowing it for ours, and refusing it when it is damaged or too new.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, MAIN_DB, OpenFlags};

use super::errors::Place;
use super::schema;
use crate::StoreError;

/// Only another tool that looks into the file can hold its lock, and such a look is short.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// What the write-ahead log may keep on disk after a large transaction.
const LARGEST_IDLE_LOG: u32 = 64 * 1_024 * 1_024;

/// Pages that the writer keeps, in KiB. A batch of a busy fleet touches more than the two megabytes that SQLite would keep by itself; it
/// then writes pages in the middle of a transaction, and reads them again for the next.
const WRITERS_CACHE_KIB: i32 = 8 * 1_024;

/// Pages in the write-ahead log before they are folded into the file: 16 MiB. Most pages are written again before that, and are folded in
/// once. So many fit into the first table of the log's index.
const FOLDED_AFTER: u32 = 4_000;

pub(super) fn create_directory(place: &Place) -> Result<(), StoreError> {
    DirBuilder::new().recursive(true).mode(0o700).create(&place.directory).map_err(|error| place.io_fault(error))
}

/// The writing connection to a file that was checked and has the newest format.
pub(super) fn open_database(place: &Place) -> Result<Connection, StoreError> {
    match fs::metadata(&place.database) {
        // A new file gets its name only once it is complete, so an empty one has lost its content.
        Ok(metadata) if metadata.len() == 0 => return Err(place.damaged(&"it is empty")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => create_database(place)?,
        Err(error) => return Err(place.io_fault(error)),
    }
    let fault = |error| place.fault(error);
    let mut connection = connect(&place.database, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(fault)?;
    check_identity(&connection, place)?;
    if connection.is_readonly(MAIN_DB).map_err(fault)? {
        return Err(place.read_only());
    }
    check_health(&connection, place)?;
    schema::migrate(&mut connection, schema::MIGRATIONS).map_err(fault)?;
    configure(&connection, place)?;
    Ok(connection)
}

/// A connection that is never shared between threads without a lock of ours.
pub(super) fn connect(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    Ok(connection)
}

/// Makes the file under another name first, so that a crash leaves either no database or a whole one.
fn create_database(place: &Place) -> Result<(), StoreError> {
    if place.beside("-wal").exists() {
        return Err(place.damaged(&"the file is missing but its write-ahead log is there"));
    }
    let unfinished = place.beside(".new");
    for suffix in [".new", ".new-wal", ".new-shm"] {
        remove_if_present(&place.beside(suffix)).map_err(|error| place.io_fault(error))?;
    }
    // Made by us, so that it is its owner's alone; SQLite gives the files beside it the same mode.
    private_file(&unfinished).map_err(|error| place.io_fault(error))?;
    let mut connection = connect(&unfinished, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(|error| place.fault(error))?;
    configure(&connection, place)?;
    schema::migrate(&mut connection, schema::MIGRATIONS).map_err(|error| place.fault(error))?;
    connection.close().map_err(|(_, error)| place.fault(error))?;
    fs::rename(&unfinished, &place.database).and_then(|()| sync_directory(&place.directory)).map_err(|error| place.io_fault(error))
}

/// A new, empty file that only its owner reads: it holds logins, if encrypted, and who did what.
pub(super) fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

fn configure(connection: &Connection, place: &Place) -> Result<(), StoreError> {
    let fault = |error| place.fault(error);
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0)).map_err(fault)?;
    if mode != "wal" {
        return Err(place.other(io::Error::other("this file system has no shared memory for a write-ahead log; use a local disk")));
    }
    // FULL syncs the log at every commit: what was acknowledged survives a power cut.
    connection.pragma_update(None, "synchronous", "full").map_err(fault)?;
    connection.pragma_update(None, "cache_size", -WRITERS_CACHE_KIB).map_err(fault)?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", FOLDED_AFTER, |_| Ok(())).map_err(fault)?;
    connection.pragma_update_and_check(None, "journal_size_limit", LARGEST_IDLE_LOG, |_| Ok(())).map_err(fault)
}

pub(super) fn check_identity(connection: &Connection, place: &Place) -> Result<(), StoreError> {
    let application = schema::application_of(connection).map_err(|error| place.fault(error))?;
    if application != schema::APPLICATION_ID {
        return Err(place.damaged(&"it is not a database of Rackwright"));
    }
    let found = schema::format_of(connection).map_err(|error| place.fault(error))?;
    if found > schema::FORMAT {
        return Err(StoreError::NewerFormat { path: place.to_string(), found, known: schema::FORMAT });
    }
    Ok(())
}

/// Walks every page. The values inside are checked by their own checksums when they are read.
pub(super) fn check_health(connection: &Connection, place: &Place) -> Result<(), StoreError> {
    let verdict: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(|error| place.fault(error))?;
    if verdict == "ok" { Ok(()) } else { Err(place.damaged(&verdict.replace('\n', " "))) }
}

pub(super) fn remove_if_present(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A renamed file is only sure to keep its new name after a power cut once its directory was synced.
pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
