//! Changes of machines, committed as keepers commit what they see: one machine at a time, several keepers at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::future::try_join_all;
use model::{Machine, Power, Seen, keys};
use serde::{Deserialize, Serialize};
use store::{Commit, Document, SharedStore};
use tokio::time::Instant;

/// What is to be changed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Changes {
    pub count: usize,
    /// Writers at once; each waits for its commit before it begins another.
    pub writers: usize,
    /// Commits a second of all writers together; as many as there can be without it.
    pub per_second: Option<f64>,
}

/// One commit: its revision, and when it was asked for and answered, in microseconds since 1970.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Committed {
    pub revision: u64,
    pub asked_at: u64,
    pub answered_at: u64,
}

/// Two processes compare their times, so it is the computer's clock.
pub fn now_micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// Commits the changes, and tells of each in the order of revisions.
pub async fn commit(store: &SharedStore, changes: Changes) -> io::Result<Vec<Committed>> {
    let machines = Arc::new(store.list(keys::MACHINES).await.map_err(io::Error::other)?.documents);
    let next = Arc::new(AtomicUsize::new(0));
    let began = Instant::now();
    let writers = (0..changes.writers).map(|_| tokio::spawn(write(store.clone(), changes, machines.clone(), next.clone(), began)));
    let done = try_join_all(writers).await.map_err(io::Error::other)?;
    let mut committed = done.into_iter().collect::<io::Result<Vec<_>>>()?.concat();
    committed.sort_unstable_by_key(|commit| commit.revision);
    Ok(committed)
}

async fn write(
    store: SharedStore,
    changes: Changes,
    machines: Arc<Vec<Document>>,
    next: Arc<AtomicUsize>,
    began: Instant,
) -> io::Result<Vec<Committed>> {
    let mut committed = Vec::new();
    loop {
        let nth = next.fetch_add(1, Ordering::Relaxed);
        if nth >= changes.count {
            return Ok(committed);
        }
        if let Some(rate) = changes.per_second {
            tokio::time::sleep_until(began + Duration::from_secs_f64(nth as f64 / rate)).await;
        }
        let document = &machines[nth % machines.len()];
        let changed = changed(document)?;
        let asked_at = now_micros();
        let revision = store.commit(Commit::default().put(document.key.clone(), changed)).await.map_err(io::Error::other)?;
        committed.push(Committed { revision: revision.0, asked_at, answered_at: now_micros() });
    }
}

/// The machine as it is written when its power was seen anew.
fn changed(document: &Document) -> io::Result<Vec<u8>> {
    let mut machine: Machine = serde_json::from_slice(&document.value)?;
    let at = model::Timestamp::from_millis(i64::try_from(now_micros() / 1_000).unwrap_or(i64::MAX));
    machine.last_seen.power = Some(Seen { what: Power::On, at });
    Ok(serde_json::to_vec(&machine)?)
}
