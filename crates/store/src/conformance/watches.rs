//! Checks of watches.

use futures::FutureExt;
use model::Span;

use super::{Bench, RETENTION, next, next_seen, shown};
use crate::{Commit, Revision, StoreError};

pub async fn a_watch_from_the_beginning_sees_everything(bench: Bench) {
    bench.put("a", "1").await;
    bench.store.commit(Commit::default().delete("a")).await.unwrap();
    bench.put("b", "2").await;
    let mut watch = bench.watch("", Revision(0)).await;
    let seen = [next_seen(&mut watch).await, next_seen(&mut watch).await, next_seen(&mut watch).await];
    assert_eq!(seen, ["a=1", "a-", "b=2"]);
}

pub async fn a_watch_from_now_sees_only_what_follows(bench: Bench) {
    bench.put("a", "1").await;
    let mut watch = bench.watch("", bench.revision().await).await;
    let written = bench.put("a", "2").await;
    let seen = next(&mut watch).await.unwrap();
    assert_eq!((shown(&seen).as_str(), seen[0].revision), ("a=2", written));
}

pub async fn a_watch_from_a_past_revision_sees_the_past_and_goes_on(bench: Bench) {
    let first = bench.put("a", "1").await;
    bench.put("a", "2").await;
    bench.put("a", "3").await;
    let mut watch = bench.watch("", first).await;
    assert_eq!(next_seen(&mut watch).await, "a=2");
    bench.put("a", "4").await;
    assert_eq!(next_seen(&mut watch).await, "a=3");
    assert_eq!(next_seen(&mut watch).await, "a=4");
    bench.put("a", "5").await;
    assert_eq!(next_seen(&mut watch).await, "a=5");
}

pub async fn the_changes_of_one_commit_arrive_together(bench: Bench) {
    bench.put("b", "0").await;
    let mut watch = bench.watch("", bench.revision().await).await;
    let commit = Commit::default().put("c", "1").put("a", "1").delete("b");
    let revision = bench.store.commit(commit).await.unwrap();
    let seen = next(&mut watch).await.unwrap();
    assert_eq!(shown(&seen), "a=1 b- c=1");
    assert!(seen.iter().all(|change| change.revision == revision));
}

pub async fn a_watch_keeps_to_its_prefix(bench: Bench) {
    let mut watch = bench.watch("a/", Revision(0)).await;
    bench.put("ab", "1").await;
    bench.put("a0", "1").await;
    bench.store.commit(Commit::default().put("a/1", "2").put("b", "2")).await.unwrap();
    bench.put("a", "3").await;
    bench.put("a/2", "4").await;
    assert_eq!([next_seen(&mut watch).await, next_seen(&mut watch).await], ["a/1=2", "a/2=4"]);
}

pub async fn a_waiting_watch_is_woken_by_a_commit(bench: Bench) {
    let (mut one, mut other) = (bench.watch("a", Revision(0)).await, bench.watch("b", Revision(0)).await);
    let commits = async {
        bench.put("a", "1").await;
        bench.put("b", "2").await;
    };
    let seen = tokio::join!(biased; next_seen(&mut one), next_seen(&mut other), commits);
    assert_eq!((seen.0.as_str(), seen.1.as_str()), ("a=1", "b=2"));
}

pub async fn giving_up_waiting_loses_nothing(bench: Bench) {
    let mut watch = bench.watch("", Revision(0)).await;
    assert!(watch.next().now_or_never().is_none());
    bench.put("a", "1").await;
    bench.put("a", "2").await;
    assert_eq!([next_seen(&mut watch).await, next_seen(&mut watch).await], ["a=1", "a=2"]);
    assert!(watch.next().now_or_never().is_none());
    bench.put("a", "3").await;
    assert_eq!(next_seen(&mut watch).await, "a=3");
}

pub async fn a_watch_from_before_the_kept_changes_is_refused(bench: Bench) {
    bench.put("first", "").await;
    bench.put_too_many().await;
    let newest = bench.revision().await;
    let oldest = Revision(newest.0 - RETENTION.changes + 1);
    let refusal = bench.store.watch("", Revision(0)).await.err();
    assert!(matches!(refusal, Some(StoreError::Compacted { asked: Revision(0), oldest: found }) if found == oldest), "{refusal:?}");
    let mut watch = bench.watch("", Revision(oldest.0 - 1)).await;
    assert_eq!(next(&mut watch).await.unwrap()[0].revision, oldest);
}

pub async fn a_watch_that_fell_behind_is_told_so(bench: Bench) {
    let mut watch = bench.watch("", Revision(0)).await;
    bench.put_too_many().await;
    assert!(matches!(next(&mut watch).await, Err(StoreError::Compacted { asked: Revision(0), .. })));
}

pub async fn a_waiting_watch_of_a_quiet_prefix_does_not_fall_behind(bench: Bench) {
    let mut watch = bench.watch("quiet", Revision(0)).await;
    let commits = async {
        bench.put_too_many().await;
        bench.put("quiet", "1").await;
    };
    let (seen, ()) = tokio::join!(biased; next_seen(&mut watch), commits);
    assert_eq!(seen, "quiet=1");
}

pub async fn changes_are_forgotten_by_age(bench: Bench) {
    bench.put("a", "old").await;
    bench.clock.advance(RETENTION.age + Span::seconds(1));
    let newer = bench.put("a", "new").await;
    assert!(matches!(bench.store.watch("", Revision(0)).await.err(), Some(StoreError::Compacted { oldest, .. }) if oldest == newer));
    assert_eq!(shown(&bench.store.history("", 10).await.unwrap()), "a=new");
}

pub async fn a_watch_ends_when_the_store_is_closed(bench: Bench) {
    let Bench { store, keep, .. } = bench;
    let mut watch = store.watch("", Revision(0)).await.unwrap();
    drop(store);
    assert!(matches!(next(&mut watch).await, Err(StoreError::Closed)));
    drop(keep);
}
