//! The writer on a real file, one batch at a time.
//!
//! The faults are provoked on the writer's own connection: SQLite really refuses the write with the code that a full
//! or read-only disk would cause, but the disk itself has room and may be written.

use tempfile::TempDir;
use tokio::sync::oneshot::Receiver;

use super::*;
use crate::sqlite::open;
use crate::{Commit, Expected, Revision, SystemClock};

type Answer = Receiver<Result<Revision, StoreError>>;

struct Bench {
    dir: TempDir,
    writer: Writer,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let writer = writer_in(&dir);
        Bench { dir, writer }
    }

    fn pragma(&self, sql: &str) {
        self.writer.connection.execute_batch(sql).unwrap();
    }

    fn run(&mut self, commits: Vec<Commit>) -> Vec<Result<Revision, StoreError>> {
        let (batch, answers): (Vec<_>, Vec<_>) = commits.into_iter().map(job).unzip();
        self.writer.run_batch(batch);
        answers.into_iter().map(|mut answer| answer.try_recv().unwrap()).collect()
    }

    fn run_one(&mut self, commit: Commit) -> Result<Revision, StoreError> {
        self.run(vec![commit]).remove(0)
    }

    /// What is published, after making sure that the file says the same.
    fn keys(self) -> Vec<String> {
        let Bench { dir, writer } = self;
        let keys = |ledger: Ledger| ledger.list("").documents.into_iter().map(|document| document.key).collect::<Vec<_>>();
        let published = keys(writer.published.snapshot().unwrap());
        drop(writer);
        assert_eq!(keys(writer_in(&dir).ledger), published);
        published
    }
}

fn writer_in(dir: &TempDir) -> Writer {
    let place = Place::in_directory(dir.path());
    let connection = open::open_database(&place).unwrap();
    let ledger = rows::load_ledger(&connection, &place).unwrap();
    let published = Arc::new(Published::new(ledger.clone()));
    Writer { connection, place, ledger, published, clock: Arc::new(SystemClock), retention: Retention::default() }
}

fn job(commit: Commit) -> (Box<dyn Job>, Answer) {
    let (reply, answer) = oneshot::channel();
    let decide = move |ledger: &mut Ledger, now: Timestamp| {
        let accepted = ledger.commit(commit, now)?;
        Ok((accepted.revision, Rows::Commit(accepted)))
    };
    (Box::new(Pending::new(decide, reply)), answer)
}

fn put(key: &str) -> Commit {
    Commit::default().put(key, vec![b'x'; 3_000])
}

#[test]
fn a_conflict_is_refused_alone_and_sees_the_earlier_commits_of_its_batch() {
    let mut bench = Bench::new();
    let answers = bench.run(vec![put("a"), put("a").put("b", "").expect("a", Expected::Absent), put("c")]);
    assert!(
        matches!(answers.as_slice(), [Ok(Revision(1)), Err(StoreError::Conflict { found: Some(Revision(1)), .. }), Ok(Revision(2))]),
        "{answers:?}"
    );
    assert_eq!(bench.keys(), ["a", "c"]);
}

#[test]
fn rows_that_sqlite_refuses_fail_alone_and_whole() {
    let mut bench = Bench::new();
    bench.pragma(
        "CREATE TEMP TRIGGER refuse BEFORE INSERT ON documents WHEN NEW.key = 'bad'
         BEGIN SELECT RAISE(ABORT, 'refused by the test'); END",
    );
    let answers = bench.run(vec![put("a"), put("aa").put("bad", ""), put("c")]);
    assert!(matches!(answers.as_slice(), [Ok(Revision(1)), Err(StoreError::Io { .. }), Ok(Revision(2))]), "{answers:?}");
    assert_eq!(bench.keys(), ["a", "c"]);
}

#[test]
fn what_was_decided_beside_refused_rows_is_what_the_file_says() {
    let mut bench = Bench::new();
    bench.pragma(
        "CREATE TEMP TRIGGER refuse BEFORE INSERT ON documents WHEN NEW.key = 'bad'
         BEGIN SELECT RAISE(ABORT, 'refused by the test'); END",
    );
    let record = || crate::NewRecord { labels: vec!["x".to_owned()], value: "x".into() };
    let bad = || put("bad").record(record());
    let answers = bench.run(vec![
        put("a").put("b", "1"),
        bad(),
        Commit::default().delete("b").record(record()),
        Commit::default().record(record()),
        bad(),
        put("a").expect("a", Expected::At(Revision(1))),
    ]);
    let told: Vec<Option<u64>> = answers.into_iter().map(|answer| answer.ok().map(|revision| revision.0)).collect();
    assert_eq!(told, [Some(1), None, Some(2), Some(3), None, Some(4)]);
    assert_eq!(records_in(&bench), 2);
    let found = |ledger: &Ledger| (ledger.revision(), ledger.get("a").unwrap().revision, ledger.history("", 9).len());
    assert_eq!(found(&bench.writer.ledger), (Revision(4), Revision(4), 4));
    assert_eq!(bench.keys(), ["a"]);
}

#[test]
fn a_full_disk_refuses_the_whole_batch_and_is_forgotten_once_there_is_room() {
    let mut bench = Bench::new();
    bench.run_one(put("before")).unwrap();
    // SQLite never goes below the present size: the file may not grow any more.
    bench.pragma("PRAGMA max_page_count = 1");
    let many = |prefix: &str| (0..20).map(|n| put(&format!("{prefix}{n:02}"))).collect::<Vec<_>>();
    let answers = bench.run(many("full"));
    assert!(answers.iter().all(|answer| matches!(answer, Err(StoreError::DiskFull { .. }))), "{answers:?}");
    assert_eq!(bench.writer.published.snapshot().unwrap().revision(), Revision(1));

    bench.pragma("PRAGMA max_page_count = 1000000");
    assert_eq!(bench.run_one(put("room")).unwrap(), Revision(2));
    assert_eq!(bench.keys(), ["before", "room"]);
}

#[test]
fn a_read_only_file_refuses_and_is_forgotten_once_it_is_writable() {
    let mut bench = Bench::new();
    bench.pragma("PRAGMA query_only = on");
    assert!(matches!(bench.run_one(put("a")), Err(StoreError::ReadOnly { .. })));
    bench.pragma("PRAGMA query_only = off");
    assert_eq!(bench.run_one(put("b")).unwrap(), Revision(1));
    assert_eq!(bench.keys(), ["b"]);
}

#[test]
fn a_batch_with_nothing_to_write_does_not_touch_the_file() {
    let mut bench = Bench::new();
    bench.run_one(put("a")).unwrap();
    let log = bench.writer.place.beside("-wal");
    let before = std::fs::read(&log).unwrap();
    let checks = Commit::default().expect("a", Expected::At(Revision(1))).delete("absent");
    assert_eq!(bench.run_one(checks).unwrap(), Revision(1));
    assert_eq!(std::fs::read(&log).unwrap(), before);
}

fn records_in(bench: &Bench) -> u64 {
    let kept = records::load_count(&bench.writer.connection).unwrap();
    assert_eq!(bench.writer.ledger.record_count(), kept, "what is counted is what is there");
    kept
}

#[test]
fn records_that_are_suddenly_too_many_are_removed_a_step_with_each_batch() {
    let mut bench = Bench::new();
    let record = || crate::NewRecord { labels: vec!["x".to_owned()], value: "x".into() };
    let many = Commit { records: (0..2_000).map(|_| record()).collect(), ..Commit::default() };
    bench.run_one(many).unwrap();
    bench.writer.retention.records = 100;
    let mut kept = Vec::new();
    for _ in 0..6 {
        bench.run_one(Commit::default().record(record())).unwrap();
        kept.push(records_in(&bench));
    }
    assert_eq!(kept, [1_489, 978, 467, 100, 100, 100]);
    // A batch that adds more than a step removes more than it adds.
    bench.run_one(Commit { records: (0..3_000).map(|_| record()).collect(), ..Commit::default() }).unwrap();
    assert_eq!(records_in(&bench), 100);
}

#[test]
fn batches_of_a_crowd_are_apart_and_whoever_commits_alone_never_waits() {
    let (mut pace, began) = (Pace::default(), Instant::now());
    let after = |millis: u64| began + Duration::from_millis(millis);
    pace.begin(1, began);
    assert_eq!(pace.pause(1, after(1)), Duration::ZERO, "one after the other");
    pace.begin(3, after(1));
    assert_eq!(pace.pause(2, after(2)), BATCHES_APART - Duration::from_millis(1));
    assert_eq!(pace.pause(3, after(2)), Duration::ZERO, "all have come");
    pace.begin(1, after(6));
    assert_eq!(pace.pause(2, after(7)), BATCHES_APART - Duration::from_millis(1), "one of a crowd may come alone");
    assert_eq!(pace.pause(1, after(20)), Duration::ZERO, "what comes late need not wait");
    let crowd_left = after(1) + CROWD_LASTS;
    pace.begin(1, crowd_left);
    assert_eq!(pace.pause(1, crowd_left), Duration::ZERO);
}

#[test]
fn what_a_slow_watcher_has_not_heard_of_stays_in_memory() {
    let mut bench = Bench::new();
    let published = Arc::clone(&bench.writer.published);
    let (slow, _) = published.take_post("slow/", Revision(0)).unwrap();
    let (quick, _) = published.take_post("quick/", Revision(0)).unwrap();
    bench.run_one(Commit::default().put("slow/1", "x")).unwrap();
    for n in 0..2 * HELD_CHANGES {
        bench.run_one(Commit::default().put(format!("quick/{n}"), "x")).unwrap();
    }
    let next = |id| published.next_for(id).unwrap().0;
    assert!(matches!(next(slow), crate::ledger::Next::Changes(_)));
    assert!(matches!(next(quick), crate::ledger::Next::Changes(_)));
}
