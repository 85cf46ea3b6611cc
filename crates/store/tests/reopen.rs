//! What the SQLite store keeps when it is closed and opened again, and what it reads back from its file.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use model::{Clock, Span, Timestamp};
use store::conformance::ManualClock;
use store::{Change, Commit, Expected, LogQuery, NewRecord, Retention, Revision, SqliteStore, Store, StoreError, SystemClock, Watch};

const TTL: Span = Span::seconds(15);

fn open(dir: &Path) -> SqliteStore {
    SqliteStore::open(dir, Arc::new(SystemClock)).unwrap()
}

async fn put(store: &SqliteStore, key: &str, value: &str) -> Revision {
    store.commit(Commit::default().put(key, value.to_owned())).await.unwrap()
}

async fn next(watch: &mut Box<dyn Watch>) -> Vec<Change> {
    tokio::time::timeout(Duration::from_secs(30), watch.next()).await.expect("the watch hangs").unwrap()
}

#[tokio::test]
async fn documents_revision_and_history_survive() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    put(&store, "a", "1").await;
    put(&store, "b", "2").await;
    let last = store.commit(Commit::default().delete("a")).await.unwrap();
    let (listing, history) = (store.list("").await.unwrap(), store.history("", 10).await.unwrap());
    drop(store);

    let store = open(dir.path());
    assert_eq!(store.list("").await.unwrap(), listing);
    assert_eq!(store.history("", 10).await.unwrap(), history);
    let created = store.commit(Commit::default().put("a", "3").expect("a", Expected::Absent)).await.unwrap();
    assert_eq!(created, Revision(last.0 + 1));
}

#[tokio::test]
async fn records_survive_and_are_still_counted() {
    let dir = tempfile::tempdir().unwrap();
    let few = Retention { records: 3, ..Retention::default() };
    let open = || SqliteStore::open_with(dir.path(), Arc::new(SystemClock), few).unwrap();
    let write = async |store: &SqliteStore, value: &str| {
        let record = NewRecord { labels: vec!["x".to_owned()], value: value.to_owned().into() };
        store.commit(Commit::default().record(record)).await.unwrap();
    };
    let read =
        async |store: &SqliteStore| store.read_log(LogQuery { label: Some("x".into()), limit: 9, ..LogQuery::default() }).await.unwrap();
    let store = open();
    for value in ["1", "2", "3"] {
        write(&store, value).await;
    }
    let before = read(&store).await;
    drop(store);

    let store = open();
    assert_eq!(read(&store).await, before);
    write(&store, "4").await;
    let values: Vec<_> = read(&store).await.into_iter().map(|record| record.value).collect();
    assert_eq!(values, ["4", "3", "2"]);
}

#[tokio::test]
async fn the_revision_survives_even_when_everything_was_deleted_and_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let forgetful = Retention { changes: 1, ..Retention::default() };
    let store = SqliteStore::open_with(dir.path(), Arc::new(SystemClock), forgetful).unwrap();
    for n in 0..5 {
        put(&store, "a", &n.to_string()).await;
    }
    store.commit(Commit::default().delete("a")).await.unwrap();
    drop(store);

    let store = open(dir.path());
    assert_eq!(store.list("").await.unwrap().revision, Revision(6));
    assert!(matches!(store.watch("", Revision(4)).await.err(), Some(StoreError::Compacted { oldest: Revision(6), .. })));
    let mut watch = store.watch("", Revision(5)).await.unwrap();
    assert_eq!(next(&mut watch).await[0].revision, Revision(6));
}

#[tokio::test]
async fn leases_survive_with_holder_end_and_epoch() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_794_744_000_000)));
    let open = || SqliteStore::open(dir.path(), Arc::clone(&clock) as Arc<dyn Clock>).unwrap();

    let store = open();
    let first = store.acquire_lease("site1", "one", TTL).await.unwrap();
    drop(store);

    let store = open();
    let refusal = store.acquire_lease("site1", "two", TTL).await;
    assert!(matches!(refusal, Err(StoreError::LeaseHeld { holder, until, .. }) if holder == "one" && until == first.expires_at));
    clock.advance(TTL);
    let second = store.acquire_lease("site1", "two", TTL).await.unwrap();
    store.release_lease(&second).await.unwrap();
    drop(store);

    let store = open();
    let fenced = store.commit(Commit::default().put("a", "1").fenced(first.fence())).await;
    assert!(matches!(fenced, Err(StoreError::Fenced { .. })));
    let third = store.acquire_lease("site1", "one", TTL).await.unwrap();
    assert_eq!((first.epoch, second.epoch, third.epoch), (1, 2, 3));
}

#[tokio::test]
async fn a_watch_catches_up_from_the_file_and_goes_on_live() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    // Several changes a commit; more of them than memory holds and than one page takes.
    let commits = (0..1_500).map(|n| {
        let store = &store;
        async move {
            store.commit(Commit::default().put(format!("a/{n:04}"), "1").put("b", "2").put("a0", "2").put("a/last", "3")).await.unwrap()
        }
    });
    futures::future::join_all(commits).await;
    let mut slow = store.watch("a/", Revision(0)).await.unwrap();
    for expected in 1..=1_500 {
        let changes = next(&mut slow).await;
        assert_eq!((changes.len(), changes[0].revision, changes[1].revision), (2, Revision(expected), Revision(expected)));
    }
    drop((slow, store));

    let store = open(dir.path());
    let mut watch = store.watch("b", Revision(1_400)).await.unwrap();
    for expected in 1_401..=1_500 {
        assert_eq!(next(&mut watch).await[0].revision, Revision(expected));
    }
    let live = put(&store, "b", "live").await;
    assert_eq!(next(&mut watch).await[0].revision, live);
}

#[tokio::test]
async fn closing_leaves_one_file_and_an_empty_lock() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    put(&store, "a", "1").await;
    drop(store);
    let mut files: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, ["lock", "rackwright.db"]);
    assert_eq!(fs::metadata(dir.path().join("lock")).unwrap().len(), 0);
}

#[tokio::test]
async fn commits_that_wait_when_the_store_is_dropped_are_still_written() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for n in 0..100 {
        // Polled once, the commit is in the writer's queue; nobody waits for its answer.
        drop(store.commit(Commit::default().put(format!("{n}"), "")).now_or_never());
    }
    drop(store);
    assert_eq!(open(dir.path()).list("").await.unwrap().documents.len(), 100);
}

#[tokio::test]
async fn a_backup_taken_in_use_opens_as_a_store() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let copy = other.path().join("rackwright.db");
    let store = open(dir.path());
    put(&store, "a", "1").await;
    store.backup(&copy).await.unwrap();
    put(&store, "a", "2").await;

    let refusal = store.backup(&copy).await.unwrap_err();
    assert!(matches!(refusal, StoreError::Io { .. }), "an older backup is not overwritten");
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);

    let restored = open(other.path());
    assert_eq!(restored.get("a").await.unwrap().unwrap().value, "1");
    assert_eq!(store.get("a").await.unwrap().unwrap().value, "2");
}

#[tokio::test]
async fn its_size_on_disk_has_what_is_still_in_the_write_ahead_log() {
    const WRITTEN: usize = 300_000;
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path(), Arc::new(SystemClock)).unwrap();
    let before = store.size_on_disk();
    assert!(before > 0);
    store.commit(Commit::default().put("large", vec![7; WRITTEN])).await.unwrap();
    assert!(store.size_on_disk() >= before + WRITTEN as u64);
}
