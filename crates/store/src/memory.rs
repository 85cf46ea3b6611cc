//! A store in memory, for tests on virtual time and for simulations.
//!
//! It spawns nothing, and no call ever waits except a watch for its next change, so that a run on one thread with
//! paused time is deterministic.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use model::{Clock, Span};

use crate::ledger::Ledger;
use crate::published::Published;
use crate::watcher::Watcher;
use crate::{Change, Commit, Document, Lease, Listing, LogQuery, Record, Retention, Revision, Store, StoreError, Watch};

pub struct MemoryStore {
    published: Arc<Published>,
    clock: Arc<dyn Clock>,
    retention: Retention,
}

impl MemoryStore {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        MemoryStore { published: Arc::new(Published::new(Ledger::default())), clock, retention: Retention::default() }
    }

    #[must_use]
    pub fn with_retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn get(&self, key: &str) -> Result<Option<Document>, StoreError> {
        self.published.ask(|ledger| ledger.get(key))
    }

    async fn list(&self, prefix: &str) -> Result<Listing, StoreError> {
        Ok(self.published.snapshot()?.list(prefix))
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, StoreError> {
        let now = self.clock.now();
        self.published.update(|ledger| {
            let accepted = ledger.commit(commit, now)?;
            ledger.trim(self.retention, now);
            let revision = accepted.revision;
            ledger.records.keep(accepted);
            let forgotten = ledger.records.trim(self.retention, now);
            ledger.forget_records(forgotten);
            Ok(revision)
        })
    }

    async fn watch(&self, prefix: &str, from: Revision) -> Result<Box<dyn Watch>, StoreError> {
        Watcher::start(Arc::clone(&self.published), None, prefix, from)
    }

    async fn history(&self, prefix: &str, limit: usize) -> Result<Vec<Change>, StoreError> {
        Ok(self.published.snapshot()?.history(prefix, limit))
    }

    async fn read_log(&self, query: LogQuery) -> Result<Vec<Record>, StoreError> {
        Ok(self.published.snapshot()?.records.read(&query))
    }

    async fn acquire_lease(&self, name: &str, holder: &str, ttl: Span) -> Result<Lease, StoreError> {
        self.published.update(|ledger| ledger.acquire_lease(name, holder, ttl, self.clock.now()))
    }

    async fn renew_lease(&self, lease: &Lease, ttl: Span) -> Result<Lease, StoreError> {
        self.published.update(|ledger| ledger.renew_lease(lease, ttl, self.clock.now()))
    }

    async fn release_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        self.published.update(|ledger| {
            ledger.release_lease(lease, self.clock.now());
            Ok(())
        })
    }
}

/// Watches that outlive the store end with `Closed`.
impl Drop for MemoryStore {
    fn drop(&mut self) {
        self.published.close();
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("retention", &self.retention).finish_non_exhaustive()
    }
}
