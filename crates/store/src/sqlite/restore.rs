//! Putting a backup into a data directory, while no process uses it.
//!
//! The backup is copied beside its place and judged there, so that a wrong one changes nothing, and takes its place only
//! when whoever restores has seen what is in it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use model::Timestamp;
use rusqlite::{Connection, OpenFlags};

use super::errors::Place;
use super::lock::DirectoryLock;
use super::{open, records, rows, schema};
use crate::ledger::Tenure;
use crate::{Document, Revision, StoreError, vault};

/// A backup that was found good, and waits beside the place that it will take.
#[derive(Debug)]
pub struct Restoration {
    pub documents: Vec<Document>,
    pub revision: Revision,
    /// When its newest commit was made; `None` if it has none that is remembered.
    pub latest_at: Option<Timestamp>,
    connection: Option<Connection>,
    place: Place,
    backup: Place,
    /// What was made for it, innermost first; it goes again unless the restoration is finished.
    made: Vec<PathBuf>,
    /// The directory is ours until the store in it is whole.
    _lock: DirectoryLock,
}

impl Restoration {
    /// Judges a backup: whether it is ours, whole, and of a format that we know. The directory is made if it is absent.
    pub fn prepare(from: &Path, dir: &Path) -> Result<Restoration, StoreError> {
        let (place, backup) = (Place::in_directory(dir), Place::of_backup(from));
        check_header(&backup)?;
        let made = [place.directory.join("lock"), place.directory.clone()].into_iter().filter(|path| !path.exists()).collect();
        open::create_directory(&place)?;
        let lock = DirectoryLock::take(&place)?;
        let mut restoration = Restoration {
            documents: Vec::new(),
            revision: Revision::default(),
            latest_at: None,
            connection: None,
            place,
            backup,
            made,
            _lock: lock,
        };
        restoration.load()?;
        Ok(restoration)
    }

    fn load(&mut self) -> Result<(), StoreError> {
        let staged = self.place.beside(STAGED);
        copy_file(&self.backup.database, &staged).map_err(|error| self.place.io_fault(error))?;
        let fault = |error| self.backup.fault(error);
        let mut connection = open::connect(&staged, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(fault)?;
        open::check_identity(&connection, &self.backup)?;
        open::check_health(&connection, &self.backup)?;
        schema::migrate(&mut connection, schema::MIGRATIONS).map_err(fault)?;
        let ledger = rows::load_ledger(&connection, &self.backup)?;
        check_changes(&connection).map_err(fault)?;
        free_leases(&connection).map_err(fault)?;
        let latest: Option<i64> = connection.query_row("SELECT max(at) FROM commits", [], |row| row.get(0)).map_err(fault)?;
        leap(&connection, ledger.revision()).map_err(fault)?;
        let listing = ledger.list("");
        self.documents = listing.documents;
        self.revision = listing.revision;
        self.latest_at = latest.map(Timestamp::from_millis);
        self.connection = Some(connection);
        Ok(())
    }

    /// The store that is there already, if there is one.
    pub fn occupant(&self) -> Option<&Path> {
        let files = [self.place.database.clone(), self.place.beside("-wal")];
        files.iter().any(|file| file.exists()).then_some(self.place.database.as_path())
    }

    /// The secrets of the backup, encrypted, and the wrapped keys that they were encrypted with.
    pub fn secrets(&self) -> Vec<&Document> {
        self.documents.iter().filter(|document| vault::is_of_vault(document)).collect()
    }

    /// Leaves the secrets out, and their keys. Their ciphertext stays in the history, where only the lost key could read it.
    pub fn discard_secrets(&mut self) -> Result<(), StoreError> {
        if let Some(connection) = &self.connection {
            for prefix in vault::PREFIXES {
                let removed = connection.execute("DELETE FROM documents WHERE substr(key, 1, length(?1)) = ?1", [prefix]);
                removed.map_err(|error| self.backup.fault(error))?;
            }
        }
        self.documents.retain(|document| !vault::is_of_vault(document));
        Ok(())
    }

    /// Puts the store in its place. One that is there is refused, unless it is to be kept under another name, which is
    /// returned.
    pub fn finish(mut self, aside: Option<&str>) -> Result<Option<PathBuf>, StoreError> {
        if let Some(connection) = self.connection.take() {
            connection.close().map_err(|(_, error)| self.backup.fault(error))?;
        }
        let place = &self.place;
        let fault = |error| place.io_fault(error);
        let kept = match (self.occupant(), aside) {
            (None, _) => None,
            (Some(path), None) => return Err(StoreError::Occupied { path: path.display().to_string() }),
            (Some(_), Some(suffix)) => Some(set_aside(place, suffix).map_err(fault)?),
        };
        let staged = place.beside(STAGED);
        File::open(&staged).and_then(|file| file.sync_all()).map_err(fault)?;
        fs::rename(&staged, &place.database).and_then(|()| open::sync_directory(&place.directory)).map_err(fault)?;
        self.made.clear();
        Ok(kept)
    }
}

impl Drop for Restoration {
    /// What was not finished leaves nothing behind.
    fn drop(&mut self) {
        self.connection = None;
        for suffix in [STAGED, ".restoring-wal", ".restoring-shm"] {
            if let Err(error) = open::remove_if_present(&self.place.beside(suffix)) {
                tracing::debug!(%error, "a copy of a backup stays behind");
            }
        }
        // Only what nobody used before: taking away a lock that others know would let two of them in.
        for path in &self.made {
            let removed = if path.is_dir() { fs::remove_dir(path) } else { open::remove_if_present(path) };
            if let Err(error) = removed {
                tracing::debug!(%error, "something that a restoration made stays behind");
            }
        }
    }
}

/// What the copy is called beside its place.
const STAGED: &str = ".restoring";

/// Tells a file that is something else before it is copied, however large it is.
fn check_header(backup: &Place) -> Result<(), StoreError> {
    const HEADER: &[u8] = b"SQLite format 3\0";
    let mut found = [0; HEADER.len()];
    let mut file = File::open(&backup.database).map_err(|error| backup.other(error))?;
    match io::Read::read_exact(&mut file, &mut found) {
        Ok(()) if found == HEADER => Ok(()),
        Ok(()) => Err(backup.damaged(&"it is not a backup of Rackwright")),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(backup.damaged(&"it is too short for a backup")),
        Err(error) => Err(backup.other(error)),
    }
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    open::remove_if_present(to)?;
    let mut options = fs::OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::mode(options.write(true).create_new(true), 0o600);
    let mut staged = options.open(to)?;
    io::copy(&mut File::open(from)?, &mut staged)?;
    staged.sync_all()
}

/// Reads every change and every record of the past once, for the sake of their checksums.
fn check_changes(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement = connection
        .prepare("SELECT c.revision, m.at, c.key, c.value, c.checksum FROM changes c JOIN commits m ON m.revision = c.revision")?;
    let mut changes = statement.query([])?;
    while let Some(row) = changes.next()? {
        rows::load_change(row)?;
    }
    let mut statement = connection.prepare("SELECT revision, position, at, value, checksum FROM records")?;
    let mut records = statement.query([])?;
    while let Some(row) = records.next()? {
        records::load_record(row)?;
    }
    Ok(())
}

/// Whoever held a lease when the copy was made does not hold it in the copy. Epochs go on, so that what such a holder might
/// still write is refused.
fn free_leases(connection: &Connection) -> rusqlite::Result<()> {
    for (name, tenure) in rows::load_leases(connection)? {
        rows::save_lease(connection, &name, &Tenure { holder: None, epoch: tenure.epoch + 1, expires_at: Timestamp::EPOCH })?;
    }
    Ok(())
}

/// How far a restored store's revisions are ahead of its backup's: farther than any store writes between two backups.
const LEAP: u64 = 1_000_000_000;

/// Revisions that the lost store gave out after the backup must not come again with another meaning: they are ids of
/// activity-log entries and places in the event stream. The changes of before are forgotten with it, so that whoever
/// watches from an old place is told to list again.
fn leap(connection: &Connection, revision: Revision) -> rusqlite::Result<()> {
    rows::remove_changes_through(connection, revision)?;
    let ahead = (revision.0 + LEAP).cast_signed();
    connection.execute("UPDATE state SET revision = ?1, compacted = ?1", [ahead])?;
    Ok(())
}

fn set_aside(place: &Place, suffix: &str) -> io::Result<PathBuf> {
    for part in ["-wal", "-shm", ""] {
        let from = place.beside(part);
        if from.exists() {
            fs::rename(&from, place.beside(&format!(".{suffix}{part}")))?;
        }
    }
    Ok(place.beside(&format!(".{suffix}")))
}
