use model::{Request, Verdict};
use serde_json::json;

use super::*;
use crate::fixtures::{NOW, cluster, of_json};

fn put(view: &mut View, key: &str, document: &impl serde::Serialize) {
    view.put(key, &serde_json::to_vec(document).unwrap(), Revision(1));
}

fn names(view: &View, subscription: &str, group: &str) -> Vec<String> {
    view.clusters_in(subscription, Some(group)).iter().map(|cluster| cluster.document.name.to_string()).collect()
}

#[test]
fn clusters_are_found_in_their_resource_group_without_case_and_follow_when_they_move() {
    let mut view = View::default();
    for (name, group) in [("site10", "G1"), ("site2", "g1"), ("other", "g2")] {
        let mut document = cluster(name);
        document.home.resource_group = group.to_owned();
        put(&mut view, &keys::cluster(&document.name), &document);
    }
    assert_eq!(names(&view, "S1", "g1"), ["site2", "site10"]);
    let mut moved = cluster("site2");
    moved.home.resource_group = "G2".to_owned();
    put(&mut view, &keys::cluster(&moved.name), &moved);
    assert_eq!(
        (names(&view, "s1", "G1"), names(&view, "s1", "g2")),
        (vec!["site10".to_owned()], vec!["other".to_owned(), "site2".to_owned()])
    );
    assert_eq!(names(&view, "s2", "g1"), [""; 0]);
}

fn request(id: &str) -> Request {
    of_json(json!({
        "id": id, "cluster": "site", "ask": { "kind": "cancel", "operation": "x" }, "caller": "alice", "correlationId": "c",
        "receivedAt": NOW, "expiresAt": NOW,
    }))
}

#[test]
fn a_request_is_pending_until_it_is_judged_or_gone() {
    let mut view = View::default();
    let site = ClusterName::new("site").unwrap();
    let (judged, withdrawn, waiting) = (request("a"), request("b"), request("c"));
    for request in [&judged, &withdrawn, &waiting, &waiting] {
        put(&mut view, &keys::request(&site, &request.id), request);
    }
    assert_eq!(view.pending(&site), 3);
    put(&mut view, &keys::request(&site, &judged.id), &Request { verdict: Some(Verdict::Done), ..judged.clone() });
    view.remove(&keys::request(&site, &withdrawn.id));
    assert_eq!(view.pending(&site), 1);
    for request in [&judged, &withdrawn, &waiting] {
        view.remove(&keys::request(&site, &request.id));
    }
    assert_eq!(view.pending(&site), 0);
    assert_eq!(view.pending(&ClusterName::new("other").unwrap()), 0);
}

#[tokio::test]
async fn a_sender_hears_of_its_own_verdict_whenever_it_begins_to_wait() {
    let store: SharedStore = Arc::new(store::MemoryStore::new(Arc::new(store::SystemClock)));
    let cache = Cache::load(&store).await.unwrap();
    tokio::spawn(cache.clone().follow(store.clone(), CancellationToken::new()));
    let site = ClusterName::new("site").unwrap();
    let judge = async |id: &str| {
        let judged = Request { verdict: Some(Verdict::Done), ..request(id) };
        let commit = store::Commit::default().put(keys::request(&site, &judged.id), serde_json::to_vec(&judged).unwrap());
        store.commit(commit).await.unwrap()
    };
    let wait = |id: &'static str| {
        let cache = cache.clone();
        tokio::spawn(async move { cache.verdict(&RequestId::new(id)).await })
    };
    let (early, other) = (wait("a"), wait("b"));
    tokio::task::yield_now().await;
    let revision = judge("a").await;
    assert_eq!(early.await.unwrap(), Verdict::Done);
    cache.changes().wait_for(|seen| *seen >= revision).await.unwrap();
    assert_eq!(cache.verdict(&RequestId::new("a")).await, Verdict::Done, "it was there before");
    assert!(!other.is_finished());
    other.abort();
    assert!(other.await.unwrap_err().is_cancelled());
    assert!(cache.verdicts.waits_for_nobody(), "whoever goes away gives up the place");
}
