//! Saves what changed, in order, several requests in one commit.

use std::collections::BTreeMap;

use bytes::Bytes;
use store::{Commit, SharedStore, StoreError};
use tokio::sync::Mutex;
use world::Record;

/// Where the records of every site lie, each under its name.
pub(crate) const SITES: &str = "site/";

pub(crate) struct Journal {
    store: SharedStore,
    prefix: String,
    /// What was taken from the world and is not known to be saved. It survives a failed commit, and a request that was
    /// dropped in the middle of one; writing it again does no harm.
    unsaved: Mutex<BTreeMap<String, Option<Bytes>>>,
}

impl Journal {
    pub fn new(store: SharedStore, site: &str) -> Journal {
        Journal { store, prefix: format!("{SITES}{site}/"), unsaved: Mutex::default() }
    }

    /// Saves everything that `take` gives and everything left over from before. When it returns, whatever happened before
    /// the call is durable, even if another call's commit carried it.
    pub async fn save(&self, take: impl FnOnce() -> Vec<Record>) -> Result<(), StoreError> {
        let mut unsaved = self.unsaved.lock().await;
        for record in take() {
            let value = record.value.map(|value| Bytes::from(value.to_string()));
            unsaved.insert(format!("{}{}", self.prefix, record.key), value);
        }
        if unsaved.is_empty() {
            return Ok(());
        }
        self.store.commit(Commit { writes: unsaved.clone(), ..Commit::default() }).await?;
        unsaved.clear();
        Ok(())
    }

    pub async fn load(&self, key: &str) -> Result<Option<Bytes>, StoreError> {
        Ok(self.store.get(&format!("{}{key}", self.prefix)).await?.map(|document| document.value))
    }

    /// Every saved document under the site's prefix, keys without it.
    pub async fn load_all(&self) -> Result<Vec<(String, Bytes)>, StoreError> {
        let listing = self.store.list(&self.prefix).await?;
        Ok(listing.documents.into_iter().map(|document| (document.key[self.prefix.len()..].to_owned(), document.value)).collect())
    }
}
