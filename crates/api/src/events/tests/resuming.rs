//! Coming back, falling behind, and what is told to whoever missed something.

use std::sync::Arc;

use model::Timestamp;
use store::{MemoryStore, Retention, SharedStore, TokioClock};

use super::*;
use crate::fixtures::NOW;
use crate::{Cache, TAIL_EVENTS_MAX};

#[tokio::test]
async fn a_listener_that_comes_back_at_any_moment_hears_the_rest_without_gap_or_double() {
    let (api, _stop, _follower) = site().await;
    let begin = api.cache.view().revision;
    let mut first = Ear::open(&api, EVENTS, None).await;
    let mut last = Revision(0);
    for round in 0..10 {
        last = api.store.commit(put(put(put(Commit::default(), "a"), "b"), &format!("c{round}"))).await.unwrap();
    }
    let all = first.take(30).await;
    assert_eq!(all.iter().map(Heard::in_short).collect::<Vec<_>>(), history(&api, begin).await);
    for cut in 0..30 {
        // The stream breaks after so many events; the client knows the last id that came.
        let seen = all[..cut].iter().rev().find_map(|event| event.id);
        let kept = all.iter().position(|event| event.id == seen && seen.is_some()).map_or(0, |index| index + 1);
        let mut again = Ear::open(&api, EVENTS, Some(seen.unwrap_or(begin.0))).await;
        assert_eq!(again.take(30 - kept).await, all[kept..], "cut after {cut}");
        assert_eq!(again.last_id, Some(last.0));
    }
    let path = format!("{EVENTS}?lastEventId={}", last.0 - 1);
    assert_eq!(Ear::open(&api, &path, None).await.take(3).await, all[27..], "a page that cannot set headers says it in the query");
}

/// Commits more than the tail holds, and waits until the cache has seen it all.
async fn overflow(api: &Api) -> Revision {
    let mut last = Revision(0);
    for _ in 0..=TAIL_EVENTS_MAX {
        last = put_machine(api, "m1").await;
    }
    api.cache.changes().wait_for(|seen| *seen >= last).await.unwrap();
    last
}

#[tokio::test]
async fn a_listener_that_is_too_slow_is_told_so_and_its_stream_ends() {
    let (api, _stop, _follower) = site().await;
    let mut slow = Ear::open(&api, EVENTS, None).await;
    put_machine(&api, "m1").await;
    assert_eq!(slow.next().await.unwrap().event, "resource");
    let last = overflow(&api).await;
    let heard = slow.next().await.unwrap();
    assert_eq!((heard.event.as_str(), heard.data["reason"].as_str(), heard.id), ("lost", Some("slow"), Some(last.0)));
    assert_eq!(slow.next().await, None);
}

#[tokio::test]
async fn a_listener_that_comes_too_late_is_told_so_first_and_then_hears_what_is_new() {
    let (api, _stop, _follower) = site().await;
    let begin = api.cache.view().revision;
    let last = overflow(&api).await;
    // A revision that is not there yet is one of another store, or of one that was restored.
    for seen in [begin.0, last.0 + 1_000] {
        let mut late = Ear::open(&api, EVENTS, Some(seen)).await;
        let heard = late.next().await.unwrap();
        assert_eq!((heard.event.as_str(), heard.data["reason"].as_str()), ("lost", Some("late")), "{seen}");
        let revision = put_machine(&api, "m2").await;
        assert_eq!(late.next().await.unwrap().id, Some(revision.0));
    }
}

#[tokio::test]
async fn everybody_is_told_when_the_cache_had_to_read_everything_again() {
    let clock = Arc::new(TokioClock::starting_at(Timestamp::parse(NOW).unwrap()));
    let store = MemoryStore::new(clock.clone()).with_retention(Retention { changes: 10, ..Retention::default() });
    let store: SharedStore = Arc::new(store);
    store
        .commit(Commit::default().put(keys::cluster(&ClusterName::new("site").unwrap()), serde_json::to_vec(&cluster("site")).unwrap()))
        .await
        .unwrap();
    let cache = Cache::load(&store).await.unwrap();
    let gate = gate::OpenHouse::open(clock.clone()).await.gate();
    let api = Api::new(store, clock, cache, Arc::default(), crate::Process::default(), gate);
    let mut ears = vec![Ear::open(&api, EVENTS, None).await, Ear::open(&api, &format!("{EVENTS}?types=racks"), None).await];
    let mut last = Revision(0);
    for n in 0..50 {
        last = put_machine(&api, &format!("m{n}")).await;
    }
    // The store keeps fewer changes than the cache has missed before it begins to follow.
    let (_stop, _follower) = follow(&api);
    for ear in &mut ears {
        let heard = ear.next().await.unwrap();
        assert_eq!((heard.event.as_str(), heard.data["reason"].as_str(), heard.id), ("lost", Some("readAgain"), Some(last.0)));
        assert!(api.cache.view().revision >= last);
    }
    let revision = put_machine(&api, "later").await;
    let heard = ears[0].next().await.unwrap();
    assert_eq!((heard.data["name"].as_str(), heard.id), (Some("later"), Some(revision.0)), "the stream goes on");
    let mut back = Ear::open(&api, EVENTS, Some(last.0)).await;
    assert_eq!(back.next().await.unwrap().id, Some(revision.0), "what was told since can be resumed");
}
