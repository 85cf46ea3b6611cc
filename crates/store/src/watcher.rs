//! A watch over a published ledger.
//!
//! A watcher keeps a position, not a queue: however slow its reader is, it holds at most one page of changes, and
//! reads on from the log when asked. If the log no longer reaches back to its position, it says `Compacted`.

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Notify;

use crate::ledger::Next;
use crate::published::{PostId, Published};
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
    post: PostId,
    bell: Arc<Notify>,
    page: VecDeque<Vec<Change>>,
}

impl Watcher {
    pub fn start(
        published: Arc<Published>,
        archive: Option<Arc<dyn Archive>>,
        prefix: &str,
        from: Revision,
    ) -> Result<Box<dyn Watch>, StoreError> {
        let (post, bell) = published.take_post(prefix, from)?;
        Ok(Box::new(Watcher { published, archive, prefix: prefix.to_owned(), post, bell, page: VecDeque::new() }))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.published.leave_post(self.post);
    }
}

#[async_trait]
impl Watch for Watcher {
    async fn next(&mut self) -> Result<Vec<Change>, StoreError> {
        loop {
            if let Some(changes) = self.page.pop_front() {
                return Ok(changes);
            }
            match (self.published.next_for(self.post)?, &self.archive) {
                ((Next::Changes(changes), _), _) => return Ok(changes),
                // A bell that rings before anybody listens is heard all the same.
                ((Next::CaughtUp(_), _), _) => self.bell.notified().await,
                ((Next::Shelved { through }, position), Some(archive)) => {
                    let page = archive.read_page(position, through, &self.prefix).await?;
                    self.published.read_to(self.post, page.read_to);
                    self.page = page.commits;
                }
                ((Next::Shelved { through }, position), None) => {
                    return Err(StoreError::Compacted { asked: position, oldest: Revision(through.0 + 1) });
                }
            }
        }
    }
}
