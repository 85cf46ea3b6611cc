//! A watch over a published ledger.
//!
//! A watcher keeps a position, not a queue: however slow its reader is, it holds at most one page of changes, and
//! reads on from the log when asked. If the log no longer reaches back to its position, it says `Compacted`.

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;

use crate::ledger::Next;
use crate::published::Published;
use crate::{Change, Revision, StoreError, Watch};

/// Where changes are read from that memory no longer holds.
#[async_trait]
pub(crate) trait Archive: Send + Sync {
    /// Some commits after `after`, oldest first, only with their changes under `prefix`.
    async fn read_page(&self, after: Revision, through: Revision, prefix: &str) -> Result<Page, StoreError>;
}

#[derive(Debug)]
pub(crate) struct Page {
    pub commits: VecDeque<Vec<Change>>,
    /// Everything up to and including this revision has been read.
    pub read_to: Revision,
}

pub(crate) struct Watcher {
    published: Arc<Published>,
    archive: Option<Arc<dyn Archive>>,
    prefix: String,
    position: Revision,
    page: VecDeque<Vec<Change>>,
}

impl Watcher {
    pub fn start(
        published: Arc<Published>,
        archive: Option<Arc<dyn Archive>>,
        prefix: &str,
        from: Revision,
    ) -> Result<Box<dyn Watch>, StoreError> {
        published.ask(|ledger| ledger.check_kept(from))??;
        Ok(Box::new(Watcher { published, archive, prefix: prefix.to_owned(), position: from, page: VecDeque::new() }))
    }
}

#[async_trait]
impl Watch for Watcher {
    async fn next(&mut self) -> Result<Vec<Change>, StoreError> {
        loop {
            if let Some(changes) = self.page.pop_front() {
                return Ok(changes);
            }
            // The bell is listened to before the ledger is read, so that a commit in between is not missed.
            let changed = self.published.changed();
            let next = self.published.ask(|ledger| ledger.next_after(self.position, &self.prefix))??;
            match (next, &self.archive) {
                (Next::Changes(changes), _) => {
                    self.position = changes.first().map_or(self.position, |change| change.revision);
                    return Ok(changes);
                }
                (Next::CaughtUp(revision), _) => {
                    self.position = revision;
                    changed.await;
                }
                (Next::Shelved { through }, Some(archive)) => {
                    let page = archive.read_page(self.position, through, &self.prefix).await?;
                    self.position = page.read_to;
                    self.page = page.commits;
                }
                (Next::Shelved { through }, None) => {
                    return Err(StoreError::Compacted { asked: self.position, oldest: Revision(through.0 + 1) });
                }
            }
        }
    }
}
