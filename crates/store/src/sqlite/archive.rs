//! Reading the change log and the records back from the file, on connections of their own and off the async threads.
//!
//! Whoever reads takes a turn before a thread: a crowd of readers waits without threads, and leaves those of the process to
//! others. Watchers that catch up have a connection to themselves, so that no reader of the log makes them fall behind.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params};
use tokio::sync::Semaphore;

use super::errors::Place;
use super::{open, rows};
use crate::watcher::{Archive, Page};
use crate::{Change, Revision, StoreError};

/// How many changes a watcher that catches up takes into memory at once; a commit is never cut.
const PAGE_CHANGES: usize = 256;

pub(super) struct ChangeArchive {
    watchers: Reader,
    readers: Reader,
}

/// A connection that is read from by one at a time.
struct Reader {
    place: Place,
    /// `None` once the store is closed; a watcher may live longer than its store.
    connection: Arc<Mutex<Option<Connection>>>,
    turns: Arc<Semaphore>,
}

impl Reader {
    fn open(place: &Place) -> Result<Self, StoreError> {
        let connection = open::connect(&place.database, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|error| place.fault(error))?;
        Ok(Reader { place: place.clone(), connection: Arc::new(Mutex::new(Some(connection))), turns: Arc::new(Semaphore::new(1)) })
    }

    fn close(&self) {
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let (place, connection) = (self.place.clone(), Arc::clone(&self.connection));
        let reading = tokio::task::spawn_blocking(move || {
            // Until the end of the query, even if nobody waits for it any more.
            let _turn = turn;
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            let connection = connection.as_mut().ok_or(StoreError::Closed)?;
            query(connection).map_err(|error| place.fault(error))
        });
        reading.await.map_err(|_| StoreError::Closed)?
    }
}

impl ChangeArchive {
    pub fn open(place: &Place) -> Result<Self, StoreError> {
        Ok(ChangeArchive { watchers: Reader::open(place)?, readers: Reader::open(place)? })
    }

    pub fn close(&self) {
        self.watchers.close();
        self.readers.close();
    }

    /// The newest `limit` changes under `prefix` that are not newer than `through`, oldest first.
    pub async fn read_history(&self, prefix: &str, through: Revision, limit: usize) -> Result<Vec<Change>, StoreError> {
        let (from, to) = key_range(prefix);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT revision, at, key, value, checksum FROM changes JOIN commits USING (revision)
                 WHERE key >= ?1 AND key < ?2 AND revision <= ?3 ORDER BY revision DESC, key DESC LIMIT ?4",
            )?;
            let newest_first = statement.query_map(params![from, to, through.0.cast_signed(), limit], rows::load_change)?;
            let mut changes = newest_first.collect::<rusqlite::Result<Vec<_>>>()?;
            changes.reverse();
            Ok(changes)
        })
        .await
    }

    pub async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.readers.read(query).await
    }
}

#[async_trait]
impl Archive for ChangeArchive {
    async fn read_page(&self, after: Revision, through: Revision, prefix: &str) -> Result<Page, StoreError> {
        let prefix = prefix.to_owned();
        let (compacted, page) = self.watchers.read(move |connection| read_page(connection, after, through, &prefix)).await?;
        // The writer may have trimmed the log since the watcher looked at the ledger.
        if after < compacted {
            return Err(StoreError::Compacted { asked: after, oldest: Revision(compacted.0 + 1) });
        }
        Ok(page)
    }
}

/// A page, and how far the log was trimmed when the page was read.
fn read_page(connection: &mut Connection, after: Revision, through: Revision, prefix: &str) -> rusqlite::Result<(Revision, Page)> {
    // One transaction, so that the trimming and the rows are of the same moment.
    let transaction = connection.transaction()?;
    let compacted = transaction.query_row("SELECT compacted FROM state", [], |row| rows::revision_at(row, 0))?;
    // The plus sign keeps SQLite from walking the keys and sorting everything for one page.
    let mut statement = transaction.prepare_cached(
        "SELECT revision, at, key, value, checksum FROM changes JOIN commits USING (revision)
         WHERE revision > ?1 AND revision <= ?2 AND +key >= ?3 AND +key < ?4 ORDER BY revision, key",
    )?;
    let (from, to) = key_range(prefix);
    let mut page = Page { commits: VecDeque::new(), read_to: through };
    let changes = statement.query_map(params![after.0.cast_signed(), through.0.cast_signed(), from, to], rows::load_change)?;
    for (count, change) in changes.enumerate() {
        let change = change?;
        match page.commits.back_mut() {
            Some(commit) if commit[0].revision == change.revision => commit.push(change),
            Some(complete) if count >= PAGE_CHANGES => {
                page.read_to = complete[0].revision;
                break;
            }
            _ => page.commits.push_back(vec![change]),
        }
    }
    drop(statement);
    Ok((compacted, page))
}

/// The keys that start with `prefix` are those from the first value up to, but without, the second.
fn key_range(prefix: &str) -> (String, Value) {
    (prefix.to_owned(), key_range_end(prefix))
}

fn key_range_end(prefix: &str) -> Value {
    let mut end = prefix.to_owned();
    while let Some(last) = end.pop() {
        // Iterating skips the surrogates, which are no characters.
        if let Some(next) = (last..=char::MAX).nth(1) {
            end.push(next);
            return Value::Text(end);
        }
    }
    // SQLite sorts every blob after every text.
    Value::Blob(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_range_ends_just_after_its_prefix() {
        assert_eq!(key_range_end("a/"), Value::Text("a0".to_owned()));
        assert_eq!(key_range_end("a\u{d7ff}"), Value::Text("a\u{e000}".to_owned()));
        assert_eq!(key_range_end("a\u{10ffff}"), Value::Text("b".to_owned()));
        assert_eq!(key_range_end(""), Value::Blob(Vec::new()));
    }
}
