//! Durable documents with revisions, watch, leases and history, and a log of records beside them.
//!
//! Two implementations stand behind one trait: [`MemoryStore`] for tests on virtual time and for simulations, and
//! [`SqliteStore`] for one process with a data directory. `conformance` says what every implementation must do.
//! What the documents mean is not known here: a document is a key and bytes.

mod clock;
pub mod conformance;
mod ledger;
mod memory;
mod published;
mod record;
mod sqlite;
mod vault;
mod watcher;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use model::{Span, Timestamp};
use serde::{Deserialize, Serialize};

pub use clock::{SystemClock, TokioClock};
pub use memory::MemoryStore;
pub use record::{LogOrder, LogQuery, NewRecord, Record, RecordPlace};
pub use sqlite::{Restoration, SqliteStore, StoreCopy};
pub use vault::{
    DataKeyId, DataKeySurvey, Fingerprint, KEY_COMMAND_ANSWER_BYTES, KEY_COMMAND_TIMEOUT, KeyCommand, KeyCommandError, KeyFit,
    MASTER_KEY_VARIABLE, MasterKeyId, MasterKeyRotation, MasterKeySource, NEW_MASTER_KEY_VARIABLE, Vault, VaultError, VaultSurvey,
};

/// The number of a commit. It only grows; every document carries the one that wrote it last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(pub u64);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub key: String,
    pub value: Bytes,
    pub revision: Revision,
}

/// What a writer believes a document's revision to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    Absent,
    At(Revision),
}

/// Proof of holding a lease. A commit that carries one is refused once anybody else has taken the lease, and once
/// the holder gave it back.
///
/// A lease that ran out and that nobody took still lets its holder write: fencing is about the order of writers, and
/// does not depend on any clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    pub lease: String,
    pub epoch: u64,
}

/// Several writes that happen together or not at all.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    pub fence: Option<Fence>,
    pub expected: Vec<(String, Expected)>,
    /// `None` deletes. The last write of a key wins.
    pub writes: BTreeMap<String, Option<Bytes>>,
    /// What the log says about this commit, in this order.
    pub records: Vec<NewRecord>,
}

impl Commit {
    pub fn put(mut self, key: impl Into<String>, value: impl Into<Bytes>) -> Self {
        self.writes.insert(key.into(), Some(value.into()));
        self
    }

    pub fn delete(mut self, key: impl Into<String>) -> Self {
        self.writes.insert(key.into(), None);
        self
    }

    pub fn expect(mut self, key: impl Into<String>, expected: Expected) -> Self {
        self.expected.push((key.into(), expected));
        self
    }

    pub fn fenced(mut self, fence: Fence) -> Self {
        self.fence = Some(fence);
        self
    }

    pub fn record(mut self, record: NewRecord) -> Self {
        self.records.push(record);
        self
    }
}

/// One document's part of one commit, as watchers and history see it. `value` is `None` for a deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub revision: Revision,
    pub at: Timestamp,
    pub key: String,
    pub value: Option<Bytes>,
}

/// Documents under a prefix, in key order, all read at `revision`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub revision: Revision,
    pub documents: Vec<Document>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub name: String,
    pub holder: String,
    /// Grows by one each time the lease changes hands, and each time it is taken again after it ran out or was released.
    pub epoch: u64,
    pub expires_at: Timestamp,
}

impl Lease {
    pub fn fence(&self) -> Fence {
        Fence { lease: self.name.clone(), epoch: self.epoch }
    }
}

/// How much of the past is kept: changes, for watchers that come late and for history, and records of the log.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// The most changes that are kept, and the most commits.
    pub changes: u64,
    pub age: Span,
    pub records: u64,
    pub record_age: Span,
}

impl Default for Retention {
    /// A day of changes, or a hundred thousand of them: enough for a replica that was down over night, and small
    /// enough that the file stays in the page cache.
    ///
    /// Ninety days of records, as long as Azure keeps its activity log, or a quarter of a million: about twenty thousand
    /// restarts, and well under a gigabyte.
    fn default() -> Self {
        Retention { changes: 100_000, age: Span::hours(24), records: 250_000, record_age: Span::hours(24 * 90) }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Somebody else wrote the document first.
    #[error("`{key}` is at revision {found:?}, not at the expected one")]
    Conflict { key: String, found: Option<Revision> },
    /// The writer no longer holds the lease it writes under.
    #[error("lease `{lease}` was taken over (epoch {held} is no longer current)")]
    Fenced { lease: String, held: u64 },
    #[error("lease `{lease}` is held by {holder} until {until}")]
    LeaseHeld { lease: String, holder: String, until: Timestamp },
    /// The watcher asked for changes that are no longer kept; it must list again.
    #[error("changes after revision {asked:?} are gone; the oldest kept is {oldest:?}")]
    Compacted { asked: Revision, oldest: Revision },
    /// Another process has the data directory open.
    #[error("{path} is in use by process {pid}; stop that process first, or choose another --data-dir")]
    InUse { path: String, pid: String },
    #[error("{path} was written by a newer version (format {found}, this one knows {known}); use that version or a newer one")]
    NewerFormat { path: String, found: u32, known: u32 },
    #[error("{path} is damaged: {detail}")]
    Damaged { path: String, detail: String },
    #[error("the disk that holds {path} is full; free some space and try again")]
    DiskFull { path: String },
    #[error("{path} cannot be written: the disk or the directory is read-only")]
    ReadOnly { path: String },
    #[error("the store is being copied already; wait for that copy to end")]
    CopyBusy,
    /// What is asked is not for this kind of store to do.
    #[error("this kind of store cannot do that")]
    Unsupported,
    /// A backup is not put over a store.
    #[error("{path} is there already")]
    Occupied { path: String },
    #[error("the store is closed")]
    Closed,
    #[error("the store failed at {path}")]
    Io {
        path: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// A stream of changes in revision order; each commit's changes arrive together.
#[async_trait]
pub trait Watch: Send {
    /// Waits for the next commit that touches the watched prefix. An error ends the watch.
    ///
    /// Nothing is lost when the caller stops waiting and calls again, so this may stand in a `select!`.
    async fn next(&mut self) -> Result<Vec<Change>, StoreError>;
}

#[async_trait]
pub trait Store: Send + Sync + 'static {
    async fn get(&self, key: &str) -> Result<Option<Document>, StoreError>;

    async fn list(&self, prefix: &str) -> Result<Listing, StoreError>;

    /// All writes or none; on success they are durable.
    ///
    /// Deleting what does not exist is not a write. A commit without any write or record only checks its fence and
    /// expectations, and answers with the current revision. Records alone are reason enough for a revision.
    ///
    /// A caller that stops waiting does not take the commit back: it may or may not happen.
    async fn commit(&self, commit: Commit) -> Result<Revision, StoreError>;

    /// Changes under `prefix` after revision `from`, past ones first.
    async fn watch(&self, prefix: &str, from: Revision) -> Result<Box<dyn Watch>, StoreError>;

    /// What happened under a prefix, as far back as it is kept, oldest first, at most `limit` of the newest.
    async fn history(&self, prefix: &str, limit: usize) -> Result<Vec<Change>, StoreError>;

    /// Records of the log as the query asks. What a commit recorded is there as soon as the commit is.
    async fn read_log(&self, query: LogQuery) -> Result<Vec<Record>, StoreError>;

    /// A copy of the whole store as it is now, to be read and thrown away; `CopyBusy` while somebody else reads one.
    ///
    /// [`Restoration`] puts it back. The vault's key is not part of it. A store without a file of its own has no copy to give.
    async fn copy(&self) -> Result<StoreCopy, StoreError> {
        Err(StoreError::Unsupported)
    }

    /// Takes a lease that is free, has run out, or is already `holder`'s own (then the epoch stays).
    async fn acquire_lease(&self, name: &str, holder: &str, ttl: Span) -> Result<Lease, StoreError>;

    /// Prolongs a lease that is still held with this epoch; `Fenced` otherwise.
    async fn renew_lease(&self, lease: &Lease, ttl: Span) -> Result<Lease, StoreError>;

    /// Gives a lease back early, so that a successor need not wait. Not holding it any more is no error.
    async fn release_lease(&self, lease: &Lease) -> Result<(), StoreError>;
}

pub type SharedStore = Arc<dyn Store>;
