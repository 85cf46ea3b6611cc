//! Checks of the log of records.

use model::{Clock, Span};

use super::{Bench, RETENTION};
use crate::{Commit, Expected, Fence, LogOrder, LogQuery, NewRecord, Record, RecordPlace, Revision, StoreError};

fn record(value: &str, labels: &[&str]) -> NewRecord {
    NewRecord { labels: labels.iter().map(|label| (*label).to_owned()).collect(), value: value.to_owned().into() }
}

fn all() -> LogQuery {
    LogQuery { limit: usize::MAX, ..LogQuery::default() }
}

async fn read(bench: &Bench, query: LogQuery) -> Vec<Record> {
    bench.store.read_log(query).await.expect("the log can be read")
}

/// The values that a query finds, in its order.
async fn values(bench: &Bench, query: LogQuery) -> String {
    let found = read(bench, query).await;
    found.iter().map(|record| String::from_utf8_lossy(&record.value).into_owned()).collect::<Vec<_>>().join(" ")
}

async fn write(bench: &Bench, value: &str, labels: &[&str]) -> Revision {
    bench.store.commit(Commit::default().record(record(value, labels))).await.expect("a record is taken")
}

pub async fn records_come_with_their_commit_in_its_order_and_at_its_time(bench: Bench) {
    let start = bench.clock.now();
    let commit = Commit::default().put("a", "1").record(record("first", &[])).record(record("second", &["x"]));
    let revision = bench.store.commit(commit).await.unwrap();
    let place = |position| RecordPlace { revision, position };
    let expected = [("second", place(1)), ("first", place(0))]
        .map(|(value, place)| Record { place, at: start, value: value.to_owned().into() })
        .to_vec();
    assert_eq!(read(&bench, all()).await, expected);
}

pub async fn a_refused_commit_leaves_no_record(bench: Bench) {
    bench.put("a", "1").await;
    let conflicting = Commit::default().put("a", "2").expect("a", Expected::Absent).record(record("never", &["x"]));
    assert!(matches!(bench.store.commit(conflicting).await, Err(StoreError::Conflict { .. })));
    let fenced = Commit::default().record(record("never", &["x"])).fenced(Fence { lease: "nobody's".into(), epoch: 1 });
    assert!(matches!(bench.store.commit(fenced).await, Err(StoreError::Fenced { .. })));
    assert_eq!(read(&bench, all()).await, []);
}

pub async fn records_alone_make_a_revision_and_disturb_no_watch(bench: Bench) {
    let before = bench.put("a", "1").await;
    let mut watch = bench.watch("", before).await;
    assert_eq!(write(&bench, "only", &[]).await, Revision(before.0 + 1));
    assert_eq!(bench.revision().await, Revision(before.0 + 1));
    let after = bench.put("a", "2").await;
    assert_eq!(super::next(&mut watch).await.unwrap()[0].revision, after, "the watch passes over the commit without changes");
    assert_eq!(after, Revision(before.0 + 2));
}

pub async fn records_are_found_by_any_of_their_labels(bench: Bench) {
    write(&bench, "1", &["red", "round", "red"]).await;
    write(&bench, "2", &["green", "round"]).await;
    write(&bench, "3", &["red"]).await;
    let labelled = |label: &str| LogQuery { label: Some(label.to_owned()), ..all() };
    assert_eq!(values(&bench, labelled("red")).await, "3 1");
    assert_eq!(values(&bench, labelled("round")).await, "2 1");
    assert_eq!(values(&bench, labelled("Red")).await, "", "labels are compared as they are");
    assert_eq!(values(&bench, labelled("re")).await, "", "and whole");
}

pub async fn both_ends_of_a_time_range_count(bench: Bench) {
    let start = bench.clock.now();
    for minute in 0..5 {
        write(&bench, &minute.to_string(), &["x"]).await;
        bench.clock.advance(Span::minutes(1));
    }
    let (from, to) = (Some(start + Span::minutes(1)), Some(start + Span::minutes(3)));
    for label in [None, Some("x".to_owned())] {
        assert_eq!(values(&bench, LogQuery { label: label.clone(), from, to, ..all() }).await, "3 2 1");
        assert_eq!(values(&bench, LogQuery { label: label.clone(), from, ..all() }).await, "4 3 2 1");
        assert_eq!(values(&bench, LogQuery { label, to, ..all() }).await, "3 2 1 0");
    }
}

pub async fn pages_by_place_hold_each_record_once_in_either_order(bench: Bench) {
    let mut expected = Vec::new();
    for commit in 0..4 {
        let values: Vec<String> = (0..3).map(|n| format!("{commit}{n}")).collect();
        let records = values.iter().map(|value| record(value, &["x"])).collect();
        bench.store.commit(Commit { records, ..Commit::default() }).await.unwrap();
        expected.extend(values);
    }
    for (order, label) in [(LogOrder::OldestFirst, None), (LogOrder::NewestFirst, Some("x".to_owned()))] {
        if order == LogOrder::NewestFirst {
            expected.reverse();
        }
        for limit in 1..=expected.len() + 1 {
            let (mut paged, mut after) = (Vec::new(), None);
            loop {
                let page = read(&bench, LogQuery { order, label: label.clone(), after, limit, ..LogQuery::default() }).await;
                let Some(last) = page.last() else { break };
                after = Some(last.place);
                paged.extend(page.iter().map(|record| String::from_utf8_lossy(&record.value).into_owned()));
            }
            assert_eq!(paged, expected, "{limit} on a page");
        }
    }
    assert_eq!(values(&bench, LogQuery::default()).await, "", "nothing is found if nothing may be");
}

pub async fn of_too_many_records_the_oldest_are_forgotten(bench: Bench) {
    let most = RETENTION.records;
    for n in 0..most + 10 {
        write(&bench, &n.to_string(), &["x"]).await;
    }
    for label in [None, Some("x".to_owned())] {
        let kept = read(&bench, LogQuery { order: LogOrder::OldestFirst, label, ..all() }).await;
        assert_eq!((kept.len() as u64, kept[0].value.as_ref()), (most, b"10".as_slice()));
    }
}

pub async fn records_outlive_the_changes_of_their_commits_and_are_forgotten_by_age(bench: Bench) {
    write(&bench, "old", &["x"]).await;
    bench.clock.advance(RETENTION.record_age);
    bench.put_too_many().await;
    assert_eq!(values(&bench, all()).await, "old");
    bench.clock.advance(Span::millis(1));
    write(&bench, "new", &["x"]).await;
    assert_eq!(values(&bench, all()).await, "new");
    assert_eq!(values(&bench, LogQuery { label: Some("x".to_owned()), ..all() }).await, "new");
}

pub async fn commits_without_changes_are_not_kept_for_ever(bench: Bench) {
    for _ in 0..=RETENTION.changes {
        write(&bench, "x", &[]).await;
    }
    assert!(matches!(bench.store.watch("", Revision(0)).await.err(), Some(StoreError::Compacted { oldest: Revision(2), .. })));
}
