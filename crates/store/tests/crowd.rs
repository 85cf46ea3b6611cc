//! A crowd that reads the log takes no threads from others, and does not make watchers wait.

use std::sync::Arc;
use std::time::Duration;

use store::{Commit, LogQuery, NewRecord, Retention, Revision, SqliteStore, Store, SystemClock};

const READERS: usize = 80;
const RECORDS: usize = 1_000;

/// More than any watcher finds in memory.
const COMMITS: usize = 3_000;

fn record() -> NewRecord {
    NewRecord { labels: vec!["x".to_owned()], value: vec![b'x'; 200].into() }
}

async fn filled(dir: &std::path::Path) -> Arc<SqliteStore> {
    let store = Arc::new(SqliteStore::open_with(dir, Arc::new(SystemClock), Retention::default()).unwrap());
    let records = Commit { records: (0..RECORDS).map(|_| record()).collect(), ..Commit::default() };
    store.commit(records).await.unwrap();
    let commits = (0..COMMITS).map(|n| store.commit(Commit::default().put("counter", n.to_string())));
    futures::future::try_join_all(commits).await.unwrap();
    store
}

/// As few threads for waiting work as possible: whoever takes one while it waits for its turn stops everybody.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).max_blocking_threads(3).enable_all().build().unwrap()
}

#[test]
fn watchers_and_copies_go_on_while_a_crowd_reads_the_log() {
    let dir = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let store = filled(dir.path()).await;
        let all = || LogQuery { label: Some("x".to_owned()), limit: RECORDS, ..LogQuery::default() };
        let crowd: Vec<_> = (0..READERS)
            .map(|_| {
                let store = Arc::clone(&store);
                tokio::spawn(async move { store.read_log(all()).await.map(|records| records.len()) })
            })
            .collect();
        let others = async {
            let mut watch = store.watch("counter", Revision(1)).await.unwrap();
            let first = watch.next().await.unwrap();
            store.copy().await.unwrap();
            first[0].value.clone()
        };
        let first = tokio::time::timeout(Duration::from_secs(60), others).await.expect("nobody waits for the crowd");
        assert_eq!(first.as_deref(), Some(b"0".as_slice()));
        let waiting = crowd.iter().filter(|reader| !reader.is_finished()).count();
        assert!(waiting > READERS / 2, "{waiting} still waited for their turn when the others had had theirs");
        for reader in crowd {
            assert_eq!(reader.await.unwrap().unwrap(), RECORDS);
        }
    });
}
