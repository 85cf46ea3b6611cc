//! A store in one SQLite file, for one process with a data directory.
//!
//! Documents and leases are mirrored in memory, so reads never touch the disk. One thread owns the writing connection
//! and commits everything that waits in one transaction, so that many callers share one fsync. The change log is on
//! disk; its newest part is in memory too, for watchers that keep up. Records of the log are on disk only.

mod archive;
mod backup;
mod errors;
mod lock;
mod open;
mod records;
mod restore;
mod rows;
mod schema;
mod writer;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use async_trait::async_trait;
use model::{Clock, Span, Timestamp};
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::ledger::Ledger;
use crate::published::Published;
use crate::watcher::{Archive, Watcher};
use crate::{Change, Commit, Document, Lease, Listing, LogQuery, Record, Retention, Revision, Store, StoreError, Watch};
use archive::ChangeArchive;
pub use backup::StoreCopy;
use errors::Place;
use lock::DirectoryLock;
pub use restore::Restoration;
use writer::{Job, Pending, Rows, Writer};

/// How many commits may wait for the writer before callers have to wait for a place in the queue.
///
/// Four full batches: enough that the writer never idles, small enough that a stuck disk shows as slow callers
/// and not as growing memory.
const QUEUE_LENGTH: usize = 1_024;

pub struct SqliteStore {
    place: Place,
    published: Arc<Published>,
    archive: Arc<ChangeArchive>,
    /// Taken by `drop`, which tells the writer that nothing more will come.
    jobs: Option<mpsc::Sender<Box<dyn Job>>>,
    writer: Option<JoinHandle<()>>,
    /// One copy at a time: each takes up as much of the disk as the store.
    copies: Arc<Semaphore>,
    /// Declared last and therefore dropped last: the directory is ours until the file is closed.
    _lock: DirectoryLock,
}

impl SqliteStore {
    /// Opens `<dir>/rackwright.db`, and makes it if the directory has none.
    pub fn open(dir: &Path, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        SqliteStore::open_with(dir, clock, Retention::default())
    }

    pub fn open_with(dir: &Path, clock: Arc<dyn Clock>, retention: Retention) -> Result<Self, StoreError> {
        let place = Place::in_directory(dir);
        open::create_directory(&place)?;
        let lock = DirectoryLock::take(&place)?;
        let connection = open::open_database(&place)?;
        let ledger = rows::load_ledger(&connection, &place)?;
        // What was read once, to look at everything, is not what the writer needs.
        connection.execute_batch("PRAGMA shrink_memory").map_err(|error| place.fault(error))?;
        let archive = Arc::new(ChangeArchive::open(&place)?);
        let published = Arc::new(Published::new(ledger.clone()));
        let writer = Writer { connection, place: place.clone(), ledger, published: Arc::clone(&published), clock, retention };
        let (jobs, waiting) = mpsc::channel::<Box<dyn Job>>(QUEUE_LENGTH);
        let writer = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || writer.run(waiting))
            .map_err(|error| place.io_fault(error))?;
        Ok(SqliteStore {
            place,
            published,
            archive,
            jobs: Some(jobs),
            writer: Some(writer),
            copies: Arc::new(Semaphore::new(1)),
            _lock: lock,
        })
    }

    /// Whether a directory has a store already.
    pub fn is_in(dir: &Path) -> bool {
        Place::in_directory(dir).database.exists()
    }

    /// Copies the store as it is now to a new file, while it stays in use.
    ///
    /// [`Restoration`] puts it back. The vault's key is not part of it.
    pub async fn backup(&self, to: &Path) -> Result<Revision, StoreError> {
        let (place, to) = (self.place.clone(), to.to_owned());
        tokio::task::spawn_blocking(move || backup::copy(&place, &to)).await.map_err(|_| StoreError::Closed)?
    }

    /// Bytes of the file and of its write-ahead log.
    pub fn size_on_disk(&self) -> u64 {
        let files = [self.place.database.clone(), self.place.beside("-wal")];
        files.iter().filter_map(|file| Some(std::fs::metadata(file).ok()?.len())).sum()
    }

    /// Lets the writer decide on its ledger, and waits until the decision is durable.
    async fn submit<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&mut Ledger, Timestamp) -> Result<(T, Rows), StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let jobs = self.jobs.as_ref().ok_or(StoreError::Closed)?;
        jobs.send(Box::new(Pending::new(decide, reply))).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn get(&self, key: &str) -> Result<Option<Document>, StoreError> {
        self.published.ask(|ledger| ledger.get(key))
    }

    async fn list(&self, prefix: &str) -> Result<Listing, StoreError> {
        Ok(self.published.snapshot()?.list(prefix))
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, StoreError> {
        self.submit(move |ledger, now| {
            let accepted = ledger.commit(commit, now)?;
            Ok((accepted.revision, Rows::Commit(accepted)))
        })
        .await
    }

    async fn watch(&self, prefix: &str, from: Revision) -> Result<Box<dyn Watch>, StoreError> {
        let archive = Arc::clone(&self.archive) as Arc<dyn Archive>;
        Watcher::start(Arc::clone(&self.published), Some(archive), prefix, from)
    }

    async fn history(&self, prefix: &str, limit: usize) -> Result<Vec<Change>, StoreError> {
        let through = self.published.ask(Ledger::revision)?;
        self.archive.read_history(prefix, through, limit).await
    }

    async fn read_log(&self, query: LogQuery) -> Result<Vec<Record>, StoreError> {
        let through = self.published.ask(Ledger::revision)?;
        self.archive.read(move |connection| records::load(connection, &query, through)).await
    }

    async fn copy(&self) -> Result<StoreCopy, StoreError> {
        let turn = Arc::clone(&self.copies).try_acquire_owned().map_err(|_| StoreError::CopyBusy)?;
        let place = self.place.clone();
        tokio::task::spawn_blocking(move || backup::copy_unnamed(&place, turn)).await.map_err(|_| StoreError::Closed)?
    }

    async fn acquire_lease(&self, name: &str, holder: &str, ttl: Span) -> Result<Lease, StoreError> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        self.submit(move |ledger, now| {
            let lease = ledger.acquire_lease(&name, &holder, ttl, now)?;
            Ok((lease.clone(), Rows::granted(&lease)))
        })
        .await
    }

    async fn renew_lease(&self, lease: &Lease, ttl: Span) -> Result<Lease, StoreError> {
        let lease = lease.clone();
        self.submit(move |ledger, now| {
            let renewed = ledger.renew_lease(&lease, ttl, now)?;
            Ok((renewed.clone(), Rows::granted(&renewed)))
        })
        .await
    }

    async fn release_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        let lease = lease.clone();
        self.submit(move |ledger, now| {
            let rows = match ledger.release_lease(&lease, now) {
                Some(tenure) => Rows::Lease { name: lease.name, tenure },
                None => Rows::Nothing,
            };
            Ok(((), rows))
        })
        .await
    }
}

/// Commits that were accepted are finished, the log is folded into the file, and the directory is free again.
impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.jobs = None;
        // The reading connection goes first: SQLite tidies up when the last connection closes, and only the
        // writer's may write.
        self.archive.close();
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!(path = %self.place, "the store's writer had panicked");
        }
        self.published.close();
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("place", &self.place).finish_non_exhaustive()
    }
}
