//! Files of older, newer and foreign formats.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use model::{Clock, Span, Timestamp};
use rusqlite::Connection;
use store::conformance::ManualClock;
use store::{Commit, LogQuery, NewRecord, Record, Revision, SqliteStore, Store, StoreError};

fn open(dir: &Path) -> Result<SqliteStore, StoreError> {
    let a_minute_after_the_fixtures = Timestamp::parse("2026-11-15T12:02:00Z").unwrap();
    SqliteStore::open(dir, Arc::new(ManualClock::at(a_minute_after_the_fixtures)) as Arc<dyn Clock>)
}

fn open_fixture(name: &str) -> (tempfile::TempDir, SqliteStore) {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(format!("tests/fixtures/{name}.db"), dir.path().join("rackwright.db")).unwrap();
    let store = open(dir.path()).unwrap();
    (dir, store)
}

async fn labelled(store: &SqliteStore, label: &str) -> Vec<Record> {
    store.read_log(LogQuery { label: Some(label.to_owned()), limit: 10, ..LogQuery::default() }).await.unwrap()
}

/// The files of all formats were written by the same program, but for the records, which came with the second.
async fn check_documents_and_leases(store: &SqliteStore) {
    let listing = store.list("").await.unwrap();
    let documents: Vec<_> = listing.documents.iter().map(|d| (d.key.as_str(), d.value.as_ref(), d.revision)).collect();
    assert_eq!(documents, [("machines/rack1-compute01", b"off".as_slice(), Revision(2))]);
    assert_eq!(listing.revision, Revision(2));

    let history = store.history("", 10).await.unwrap();
    let history: Vec<_> = history.iter().map(|c| (c.revision.0, c.at.time_of_day(), c.key.as_str(), c.value.as_deref())).collect();
    assert_eq!(
        history,
        [
            (1, "12:00:00".to_owned(), "machines/rack1-compute01", Some(b"on".as_slice())),
            (1, "12:00:00".to_owned(), "machines/rack1-compute02", Some(b"off".as_slice())),
            (2, "12:01:00".to_owned(), "machines/rack1-compute01", Some(b"off".as_slice())),
            (2, "12:01:00".to_owned(), "machines/rack1-compute02", None),
        ]
    );
    assert_eq!(store.acquire_lease("site1", "replica-3", Span::seconds(15)).await.unwrap().epoch, 3);
    assert_eq!(store.acquire_lease("site2", "replica-3", Span::seconds(15)).await.unwrap().epoch, 2);
    assert_eq!(store.commit(Commit::default().put("a", "1")).await.unwrap(), Revision(3));
}

#[tokio::test]
async fn a_file_of_format_1_opens_with_all_it_holds_and_takes_records() {
    let (_dir, store) = open_fixture("format-1");
    check_documents_and_leases(&store).await;
    assert_eq!(store.read_log(LogQuery { limit: 10, ..LogQuery::default() }).await.unwrap(), []);
    let record = NewRecord { labels: vec!["x".to_owned()], value: "first".into() };
    store.commit(Commit::default().record(record)).await.unwrap();
    assert_eq!(labelled(&store, "x").await.len(), 1);
}

async fn check_all(fixture: &str) {
    let (_dir, store) = open_fixture(fixture);
    check_documents_and_leases(&store).await;
    let records = labelled(&store, "machines/rack1-compute02").await;
    let records: Vec<_> = records.iter().map(|r| (r.place.revision.0, r.place.position, r.at.time_of_day(), r.value.as_ref())).collect();
    assert_eq!(records, [(2, 0, "12:01:00".to_owned(), b"removed".as_slice())]);
}

#[tokio::test]
async fn a_file_of_format_2_opens_with_all_it_holds() {
    check_all("format-2").await;
}

#[tokio::test]
async fn a_file_of_format_3_opens_with_all_it_holds() {
    check_all("format-3").await;
}

#[test]
fn a_file_of_a_newer_format_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rackwright.db");
    drop(open(dir.path()).unwrap());
    Connection::open(&file).unwrap().pragma_update(None, "user_version", 9).unwrap();
    let before = fs::read(&file).unwrap();
    assert!(matches!(open(dir.path()), Err(StoreError::NewerFormat { found: 9, known: 3, .. })));
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn a_database_of_another_program_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    Connection::open(dir.path().join("rackwright.db")).unwrap().execute_batch("CREATE TABLE notes (text)").unwrap();
    let refusal = open(dir.path()).unwrap_err();
    assert!(matches!(&refusal, StoreError::Damaged { detail, .. } if detail.starts_with("it is not a database of Rackwright")));
}
