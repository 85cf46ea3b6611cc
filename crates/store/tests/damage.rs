//! Files that were torn, cut or scribbled on: always a clear refusal, never a panic and never wrong documents.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use store::{Change, Commit, Document, LogQuery, NewRecord, Record, SqliteStore, Store, StoreError, SystemClock};
use tempfile::TempDir;

const PAGE: usize = 4_096;

fn open(dir: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(dir, Arc::new(SystemClock))
}

struct Sound {
    bytes: Vec<u8>,
    documents: Vec<Document>,
    history: Vec<Change>,
    records: Vec<Record>,
}

fn all_records() -> LogQuery {
    LogQuery { limit: 99, ..LogQuery::default() }
}

/// A closed store of some sixty pages, with documents that fill less than a page and some that need several.
async fn sound() -> Sound {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    for n in 0..20_u8 {
        let size = if n % 5 == 0 { 9_000 } else { 1_500 };
        let record = NewRecord { labels: vec![format!("document/{n}"), "all".to_owned()], value: vec![n; 400].into() };
        store.commit(Commit::default().put(format!("document/{n}"), vec![n; size]).record(record)).await.unwrap();
    }
    store.acquire_lease("site1", "one", model::Span::hours(1)).await.unwrap();
    let (documents, history) = (store.list("").await.unwrap().documents, store.history("", 99).await.unwrap());
    let records = store.read_log(all_records()).await.unwrap();
    drop(store);
    Sound { bytes: fs::read(dir.path().join("rackwright.db")).unwrap(), documents, history, records }
}

fn directory_with(bytes: &[u8]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rackwright.db");
    fs::write(&file, bytes).unwrap();
    (dir, file)
}

/// Whether the damage was noticed. If it was not, everything that can be read must be right.
async fn is_noticed(sound: &Sound, bytes: &[u8], what: &str) -> bool {
    let (dir, file) = directory_with(bytes);
    let store = match open(dir.path()) {
        Ok(store) => store,
        Err(StoreError::Damaged { path, detail }) => {
            assert_eq!(path, file.display().to_string());
            assert!(detail.contains("copy a backup to"), "{detail}");
            return true;
        }
        Err(error) => panic!("{what}: {error:?}"),
    };
    assert_eq!(store.list("").await.unwrap().documents, sound.documents, "{what}");
    let history = unless_damaged(store.history("", 99).await, what);
    let records = unless_damaged(store.read_log(all_records()).await, what);
    assert!(history.as_ref().is_none_or(|history| *history == sound.history), "{what}");
    assert!(records.as_ref().is_none_or(|records| *records == sound.records), "{what}");
    history.is_none() || records.is_none()
}

fn unless_damaged<T>(read: Result<T, StoreError>, what: &str) -> Option<T> {
    match read {
        Ok(read) => Some(read),
        Err(StoreError::Damaged { .. }) => None,
        Err(error) => panic!("{what}: {error:?}"),
    }
}

#[tokio::test]
async fn a_scribbled_page_is_noticed_wherever_it_is() {
    let sound = sound().await;
    let pages = sound.bytes.len() / PAGE;
    let mut noticed = 0;
    for page in 0..pages {
        let mut bytes = sound.bytes.clone();
        bytes[page * PAGE..(page + 1) * PAGE].fill(0xa5);
        noticed += usize::from(is_noticed(&sound, &bytes, &format!("page {page}")).await);
    }
    assert_eq!(noticed, pages);
}

#[tokio::test]
async fn a_few_scribbled_bytes_never_yield_wrong_documents() {
    let sound = sound().await;
    let mut noticed = 0;
    // Sector by sector, as a disk tears: some of these bytes are in no row, and harmless.
    for sector in 1..sound.bytes.len() / 512 {
        let mut bytes = sound.bytes.clone();
        bytes[sector * 512 + 200..][..16].fill(0xa5);
        noticed += usize::from(is_noticed(&sound, &bytes, &format!("sector {sector}")).await);
    }
    assert!(noticed > sound.bytes.len() / 512 / 2, "only {noticed} were noticed");
}

#[tokio::test]
async fn a_truncated_file_is_damaged() {
    let sound = sound().await;
    let whole = sound.bytes.len();
    for length in [0, 50, 512, PAGE, PAGE + 100, whole / 2, whole - PAGE] {
        let (dir, _) = directory_with(&sound.bytes[..length]);
        let refusal = open(dir.path()).unwrap_err();
        assert!(matches!(refusal, StoreError::Damaged { .. }), "cut to {length} bytes: {refusal}");
    }
    // SQLite fills up a last page that is cut; whose page that is decides when the loss shows.
    assert!(is_noticed(&sound, &sound.bytes[..whole - 1], "cut by one byte").await);
}

#[test]
fn a_file_that_is_no_database_is_damaged_and_left_alone() {
    let text = b"this was once a database".repeat(400);
    let (dir, file) = directory_with(&text);
    assert!(matches!(open(dir.path()), Err(StoreError::Damaged { .. })));
    assert_eq!(fs::read(file).unwrap(), text);
}

#[test]
fn a_missing_file_whose_log_is_there_is_not_replaced_by_an_empty_one() {
    let (dir, file) = directory_with(b"");
    fs::rename(&file, dir.path().join("rackwright.db-wal")).unwrap();
    assert!(matches!(open(dir.path()), Err(StoreError::Damaged { .. })));
    assert!(!file.exists());
}

#[test]
fn an_unfinished_new_file_is_made_anew() {
    let (dir, file) = directory_with(b"half a database");
    fs::rename(&file, dir.path().join("rackwright.db.new")).unwrap();
    drop(open(dir.path()).unwrap());
    assert!(file.exists());
}
