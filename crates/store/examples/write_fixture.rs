//! Writes a small store file of the current format, to be kept under `tests/fixtures` when a format is released.
//!
//!     cargo run -p rackwright-store --example write_fixture -- crates/store/tests/fixtures/format-3.db

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use model::{Clock, Span, Timestamp};
use store::conformance::ManualClock;
use store::{Commit, NewRecord, SqliteStore, Store};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let to = std::env::args().nth(1).ok_or("usage: write_fixture FILE")?;
    let dir = tempfile::tempdir()?;
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_794_744_000_000)));
    let store = SqliteStore::open(dir.path(), Arc::clone(&clock) as Arc<dyn Clock>)?;
    store.commit(Commit::default().put("machines/rack1-compute01", "on").put("machines/rack1-compute02", "off")).await?;
    store.acquire_lease("site1", "replica-1", Span::seconds(15)).await?;
    clock.advance(Span::minutes(1));
    let removed = NewRecord { labels: vec!["machines/rack1-compute02".to_owned()], value: "removed".into() };
    store.commit(Commit::default().put("machines/rack1-compute01", "off").delete("machines/rack1-compute02").record(removed)).await?;
    store.acquire_lease("site1", "replica-2", Span::seconds(15)).await?;
    let released = store.acquire_lease("site2", "replica-1", Span::seconds(15)).await?;
    store.release_lease(&released).await?;
    store.backup(Path::new(&to)).await?;
    Ok(())
}
