//! What went wrong with the file, in the store's words.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Error, ErrorCode};

use crate::StoreError;

const DATABASE: &str = "rackwright.db";
const PROBE: &str = "write-probe";

/// As much as SQLite writes at once; less might still fit on a disk that is full for SQLite.
const PROBE_BYTES: usize = 64 * 1_024;

/// Where a store is; errors name it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub directory: PathBuf,
    pub database: PathBuf,
    pub role: Role,
}

/// What a file is to us, which decides what to advise when it is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Store,
    Backup,
}

impl Place {
    pub fn in_directory(directory: &Path) -> Self {
        Place { directory: directory.to_owned(), database: directory.join(DATABASE), role: Role::Store }
    }

    /// A file next to the database, e.g. with suffix `-wal`.
    pub fn beside(&self, suffix: &str) -> PathBuf {
        self.directory.join(format!("{DATABASE}{suffix}"))
    }

    pub fn fault(&self, error: Error) -> StoreError {
        self.shared_fault(&Arc::new(error))
    }

    /// The same fault, for one of several callers that it hits together.
    pub fn shared_fault(&self, error: &Arc<Error>) -> StoreError {
        if is_not_our_schema(error) {
            return self.damaged(error);
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => self.damaged(error),
            Some(ErrorCode::DiskFull) => self.disk_full(),
            Some(ErrorCode::ReadOnly) => self.read_only(),
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                self.probe_fault().unwrap_or_else(|| self.other(Arc::clone(error)))
            }
            _ => self.other(Arc::clone(error)),
        }
    }

    pub fn io_fault(&self, error: io::Error) -> StoreError {
        self.known_io_fault(error.kind()).unwrap_or_else(|| self.other(error))
    }

    /// A file that may have any name.
    pub fn of_backup(file: &Path) -> Self {
        let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Place { directory: directory.to_owned(), database: file.to_owned(), role: Role::Backup }
    }

    pub fn damaged(&self, what: &impl fmt::Display) -> StoreError {
        let directory = self.directory.display();
        let detail = match self.role {
            Role::Store => {
                format!("{what}; move {DATABASE}, {DATABASE}-wal and {DATABASE}-shm out of {directory} and copy a backup to {self}")
            }
            Role::Backup => format!("{what}; nothing was restored from it"),
        };
        StoreError::Damaged { path: self.to_string(), detail }
    }

    pub fn read_only(&self) -> StoreError {
        StoreError::ReadOnly { path: self.to_string() }
    }

    pub fn other(&self, source: impl std::error::Error + Send + Sync + 'static) -> StoreError {
        StoreError::Io { path: self.to_string(), source: Box::new(source) }
    }

    fn disk_full(&self) -> StoreError {
        StoreError::DiskFull { path: self.to_string() }
    }

    fn known_io_fault(&self, kind: ErrorKind) -> Option<StoreError> {
        match kind {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some(self.disk_full()),
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => Some(self.read_only()),
            _ => None,
        }
    }

    /// Asks the operating system why SQLite could not write.
    ///
    /// SQLite says only "disk I/O error" for an exhausted quota, for a file system that turned read-only after a
    /// fault, and for a full disk that its index file hits first.
    fn probe_fault(&self) -> Option<StoreError> {
        let path = self.directory.join(PROBE);
        let written = OpenOptions::new().write(true).create(true).truncate(true).open(&path).and_then(|mut file| {
            file.write_all(&[0; PROBE_BYTES])?;
            file.sync_all()
        });
        // A leftover is harmless: the next probe overwrites it.
        drop(fs::remove_file(&path));
        self.known_io_fault(written.err()?.kind())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.database.display().fmt(f)
    }
}

/// Our statements fit our tables. If they do not, or if a value has a type that its column does not allow, then something
/// scribbled on the file.
fn is_not_our_schema(error: &Error) -> bool {
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::Utf8Error(..)
            | Error::InvalidColumnType(..)
            | Error::QueryReturnedNoRows
            | Error::SqlInputError { .. }
    )
}
