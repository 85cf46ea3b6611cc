//! One process per data directory.
//!
//! The operating system's file lock decides, and it ends with the process, however that ends. The pid in the file
//! only tells a person whom to stop; it is never believed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use super::errors::Place;
use crate::StoreError;

/// How often a refused opener looks for the pid, which the holder writes just after it has the lock.
const PID_READS: u32 = 20;
const PID_READ_EVERY: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(super) struct DirectoryLock {
    file: File,
}

impl DirectoryLock {
    pub fn take(place: &Place) -> Result<Self, StoreError> {
        let path = place.directory.join("lock");
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(|error| place.io_fault(error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::InUse { path: place.directory.display().to_string(), pid: read_pid(&path) });
            }
            Err(TryLockError::Error(error)) => return Err(place.io_fault(error)),
        }
        write_pid(&mut file).map_err(|error| place.io_fault(error))?;
        Ok(DirectoryLock { file })
    }
}

impl Drop for DirectoryLock {
    /// Closing the file frees the lock. Emptying it before that keeps the next refusal from naming us.
    fn drop(&mut self) {
        if let Err(error) = self.file.set_len(0) {
            tracing::debug!(%error, "the lock file keeps our pid");
        }
    }
}

fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    writeln!(file, "{}", std::process::id())
}

fn read_pid(path: &Path) -> String {
    for _ in 0..PID_READS {
        match fs::read_to_string(path) {
            Ok(text) if !text.trim().is_empty() => return text.trim().to_owned(),
            _ => std::thread::sleep(PID_READ_EVERY),
        }
    }
    "unknown".to_owned()
}
