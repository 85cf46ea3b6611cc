//! A store on which the keeper dies at a commit of its choosing.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use model::Span;
use store::{Commit, Document, Lease, Listing, Revision, SharedStore, Store, StoreError, Watch};
use tokio::sync::Notify;

/// When the n-th commit of the keeper comes, everything stops: before it is written, or right after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    Before,
    After,
}

pub struct Mortal {
    inner: SharedStore,
    commits_left: AtomicI64,
    moment: Moment,
    died: Arc<Notify>,
}

impl Mortal {
    /// The keeper dies at its n-th commit, and `died` is told.
    pub fn new(inner: SharedStore, position: i64, moment: Moment, died: Arc<Notify>) -> Mortal {
        Mortal { inner, commits_left: AtomicI64::new(position), moment, died }
    }

    async fn die(&self) -> ! {
        self.died.notify_one();
        std::future::pending().await
    }
}

#[async_trait]
impl Store for Mortal {
    async fn get(&self, key: &str) -> Result<Option<Document>, StoreError> {
        self.inner.get(key).await
    }

    async fn list(&self, prefix: &str) -> Result<Listing, StoreError> {
        self.inner.list(prefix).await
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, StoreError> {
        // Only the keeper's commits are fenced; the API's requests are not what we interrupt.
        if commit.fence.is_none() {
            return self.inner.commit(commit).await;
        }
        let left = self.commits_left.fetch_sub(1, Ordering::SeqCst);
        match (left, self.moment) {
            (..=0, _) | (1, Moment::Before) => self.die().await,
            (1, Moment::After) => {
                self.inner.commit(commit).await?;
                self.die().await
            }
            _ => self.inner.commit(commit).await,
        }
    }

    async fn watch(&self, prefix: &str, from: Revision) -> Result<Box<dyn Watch>, StoreError> {
        self.inner.watch(prefix, from).await
    }

    async fn history(&self, prefix: &str, limit: usize) -> Result<Vec<store::Change>, StoreError> {
        self.inner.history(prefix, limit).await
    }

    async fn read_log(&self, query: store::LogQuery) -> Result<Vec<store::Record>, StoreError> {
        self.inner.read_log(query).await
    }

    async fn acquire_lease(&self, name: &str, holder: &str, ttl: Span) -> Result<Lease, StoreError> {
        self.inner.acquire_lease(name, holder, ttl).await
    }

    async fn renew_lease(&self, lease: &Lease, ttl: Span) -> Result<Lease, StoreError> {
        self.inner.renew_lease(lease, ttl).await
    }

    async fn release_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        self.inner.release_lease(lease).await
    }
}

impl std::fmt::Debug for Mortal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mortal").field("moment", &self.moment).finish_non_exhaustive()
    }
}
