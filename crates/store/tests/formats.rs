//! Files of older, newer and foreign formats.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use model::{Clock, Span, Timestamp};
use rusqlite::Connection;
use store::conformance::ManualClock;
use store::{Commit, Revision, SqliteStore, Store, StoreError};

fn open(dir: &Path) -> Result<SqliteStore, StoreError> {
    let a_minute_after_the_fixtures = Timestamp::parse("2026-11-15T12:02:00Z").unwrap();
    SqliteStore::open(dir, Arc::new(ManualClock::at(a_minute_after_the_fixtures)) as Arc<dyn Clock>)
}

#[tokio::test]
async fn a_file_of_format_1_opens_with_all_it_holds() {
    let dir = tempfile::tempdir().unwrap();
    fs::copy("tests/fixtures/format-1.db", dir.path().join("rackwright.db")).unwrap();
    let store = open(dir.path()).unwrap();

    let listing = store.list("").await.unwrap();
    let documents: Vec<_> = listing.documents.iter().map(|d| (d.key.as_str(), d.value.as_ref(), d.revision)).collect();
    assert_eq!(documents, [("machines/rack1-compute01", b"off".as_slice(), Revision(2))]);
    assert_eq!(listing.revision, Revision(2));

    let history = store.history("", 10).await.unwrap();
    let history: Vec<_> = history.iter().map(|c| (c.revision.0, c.at.clock(), c.key.as_str(), c.value.as_deref())).collect();
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

#[test]
fn a_file_of_a_newer_format_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rackwright.db");
    drop(open(dir.path()).unwrap());
    Connection::open(&file).unwrap().pragma_update(None, "user_version", 9).unwrap();
    let before = fs::read(&file).unwrap();
    assert!(matches!(open(dir.path()), Err(StoreError::NewerFormat { found: 9, known: 1, .. })));
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn a_database_of_another_program_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    Connection::open(dir.path().join("rackwright.db")).unwrap().execute_batch("CREATE TABLE notes (text)").unwrap();
    let refusal = open(dir.path()).unwrap_err();
    assert!(matches!(&refusal, StoreError::Damaged { detail, .. } if detail.starts_with("it is not a database of Rackwright")));
}
