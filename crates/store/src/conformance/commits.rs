//! Checks of commits, listings and history.

use bytes::Bytes;
use futures::future::join_all;
use model::{Clock, Span};

use super::{Bench, RETENTION, shown};
use crate::{Commit, Expected, Revision, StoreError};

pub async fn a_commit_writes_all_its_documents_at_one_revision(bench: Bench) {
    let revision = bench.store.commit(Commit::default().put("a", "1").put("b", "2")).await.unwrap();
    let listing = bench.store.list("").await.unwrap();
    assert_eq!(listing.revision, revision);
    let written: Vec<_> = listing.documents.iter().map(|document| (document.key.as_str(), document.revision)).collect();
    assert_eq!(written, [("a", revision), ("b", revision)]);
}

pub async fn a_refused_commit_writes_nothing(bench: Bench) {
    let before = bench.put("b", "old").await;
    let commit = Commit::default().put("a", "new").put("b", "new").delete("b").expect("a", Expected::Absent).expect("b", Expected::Absent);
    let refusal = bench.store.commit(commit).await.unwrap_err();
    assert!(matches!(refusal, StoreError::Conflict { key, found } if key == "b" && found == Some(before)));
    assert_eq!((bench.value("a").await, bench.value("b").await), (None, Some("old".to_owned())));
    assert_eq!(bench.revision().await, before);
    assert_eq!(shown(&bench.store.history("", 10).await.unwrap()), "b=old");
}

pub async fn absent_is_refused_once_the_document_exists(bench: Bench) {
    let create = || Commit::default().put("a", "1").expect("a", Expected::Absent);
    let created = bench.store.commit(create()).await.unwrap();
    let refusal = bench.store.commit(create()).await.unwrap_err();
    assert!(matches!(refusal, StoreError::Conflict { found, .. } if found == Some(created)));
}

pub async fn at_is_refused_after_another_write(bench: Bench) {
    let first = bench.put("a", "1").await;
    let replace = |value: &'static str| Commit::default().put("a", value).expect("a", Expected::At(first));
    let second = bench.store.commit(replace("2")).await.unwrap();
    let refusal = bench.store.commit(replace("3")).await.unwrap_err();
    assert!(matches!(refusal, StoreError::Conflict { found, .. } if found == Some(second)));
    assert_eq!(bench.value("a").await.as_deref(), Some("2"));
}

pub async fn a_deleted_document_counts_as_absent(bench: Bench) {
    let written = bench.put("a", "1").await;
    let deleted = bench.store.commit(Commit::default().delete("a").expect("a", Expected::At(written))).await.unwrap();
    assert!(deleted > written);
    assert_eq!(bench.value("a").await, None);
    assert!(bench.store.list("").await.unwrap().documents.is_empty());
    let late = bench.store.commit(Commit::default().put("a", "2").expect("a", Expected::At(written))).await;
    assert!(matches!(late, Err(StoreError::Conflict { found: None, .. })));
    bench.store.commit(Commit::default().put("a", "2").expect("a", Expected::Absent)).await.unwrap();
}

pub async fn deleting_what_does_not_exist_is_no_write(bench: Bench) {
    let before = bench.put("a", "1").await;
    assert_eq!(bench.store.commit(Commit::default().delete("b")).await.unwrap(), before);
    assert_eq!(shown(&bench.store.history("", 10).await.unwrap()), "a=1");
}

pub async fn a_commit_without_writes_only_checks(bench: Bench) {
    let before = bench.put("a", "1").await;
    assert_eq!(bench.store.commit(Commit::default().expect("a", Expected::At(before))).await.unwrap(), before);
    let refusal = bench.store.commit(Commit::default().expect("a", Expected::Absent)).await;
    assert!(matches!(refusal, Err(StoreError::Conflict { .. })));
    assert_eq!(bench.revision().await, before);
}

pub async fn a_listing_is_in_key_order_and_keeps_to_its_prefix(bench: Bench) {
    for key in ["b", "a/ü", "ab", "a/z", "a", "a/", "a0", "A/", "a/b/c"] {
        bench.put(key, "").await;
    }
    let mut listings = Vec::new();
    for prefix in ["a/", "a", "", "none"] {
        let documents = bench.store.list(prefix).await.unwrap().documents;
        listings.push(documents.into_iter().map(|document| document.key).collect::<Vec<_>>().join(" "));
    }
    assert_eq!(listings, ["a/ a/b/c a/z a/ü", "a a/ a/b/c a/z a/ü a0 ab", "A/ a a/ a/b/c a/z a/ü a0 ab b", ""]);
}

pub async fn revisions_only_grow(bench: Bench) {
    let mut last = bench.revision().await;
    assert_eq!(last, Revision(0), "an empty store has seen no commit");
    for n in 0..20 {
        let commit = if n % 3 == 2 { Commit::default().delete("a") } else { Commit::default().put("a", "same") };
        let revision = bench.store.commit(commit).await.unwrap();
        assert!(revision > last, "{revision:?} follows {last:?}");
        last = revision;
    }
}

pub async fn any_bytes_come_back(bench: Bench) {
    let all: Bytes = (0..=255).collect::<Vec<u8>>().into();
    let large: Bytes = vec![7; 1_000_000].into();
    bench.store.commit(Commit::default().put("empty", Bytes::new()).put("all\0", all.clone()).put("large", large.clone())).await.unwrap();
    for (key, value) in [("empty", Bytes::new()), ("all\0", all), ("large", large)] {
        assert_eq!(bench.store.get(key).await.unwrap().unwrap().value, value);
    }
}

pub async fn sixty_four_writers_count_to_sixty_four(bench: Bench) {
    join_all((0..64).map(|_| add_one(&bench))).await;
    assert_eq!(bench.value("counter").await.as_deref(), Some("64"));
    assert_eq!(bench.revision().await, Revision(64), "each addition took one commit");
}

/// Reads, adds and writes until nobody else wrote in between.
async fn add_one(bench: &Bench) {
    loop {
        let (count, expected) = match bench.store.get("counter").await.unwrap() {
            Some(document) => (std::str::from_utf8(&document.value).unwrap().parse().unwrap(), Expected::At(document.revision)),
            None => (0, Expected::Absent),
        };
        // All writers read before any of them writes, so that most of them do collide.
        tokio::task::yield_now().await;
        match bench.store.commit(Commit::default().put("counter", (count + 1).to_string()).expect("counter", expected)).await {
            Ok(_) => return,
            Err(StoreError::Conflict { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

pub async fn history_is_oldest_first_and_keeps_the_newest(bench: Bench) {
    for n in 1..=5 {
        bench.store.commit(Commit::default().put("b", n.to_string()).put("a", n.to_string())).await.unwrap();
    }
    assert_eq!(shown(&bench.store.history("", 5).await.unwrap()), "b=3 a=4 b=4 a=5 b=5");
    assert_eq!(shown(&bench.store.history("a", 2).await.unwrap()), "a=4 a=5");
    assert_eq!(bench.store.history("", usize::MAX).await.unwrap().len(), 10);
    assert!(bench.store.history("", 0).await.unwrap().is_empty());
}

pub async fn history_has_deletions_and_instants(bench: Bench) {
    let start = bench.clock.now();
    let written = bench.put("a", "1").await;
    bench.clock.advance(Span::seconds(5));
    let deleted = bench.store.commit(Commit::default().delete("a")).await.unwrap();
    let history = bench.store.history("a", 10).await.unwrap();
    assert_eq!(shown(&history), "a=1 a-");
    let when: Vec<_> = history.iter().map(|change| (change.revision, change.at)).collect();
    assert_eq!(when, [(written, start), (deleted, start + Span::seconds(5))]);
}

pub async fn history_keeps_to_its_prefix_and_retention(bench: Bench) {
    bench.put("a/1", "x").await;
    bench.put("ab", "x").await;
    bench.put("a0", "x").await;
    assert_eq!(shown(&bench.store.history("a/", 10).await.unwrap()), "a/1=x");
    bench.put_too_many().await;
    assert!(bench.store.history("a/", 10).await.unwrap().is_empty());
    assert_eq!(bench.store.history("", usize::MAX).await.unwrap().len() as u64, RETENTION.changes);
    assert_eq!(bench.value("a/1").await.as_deref(), Some("x"), "the document outlives its history");
}
