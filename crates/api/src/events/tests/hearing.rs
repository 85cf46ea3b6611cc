//! What is heard, in which order, and when.

use http::{Method, StatusCode};
use model::{Timestamp, keys};
use serde_json::json;
use store::Commit;

use super::*;
use crate::fixtures::{NOW, operation, rack, send};
use crate::{MAX_LISTENERS, MAX_LISTENERS_OF_CALLER};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_change_is_heard_once_in_order_and_a_read_shows_it_already() {
    const WRITERS: usize = 8;
    const ROUNDS: usize = 40;
    let (api, _stop, _follower) = site().await;
    let begin = api.cache.view().revision;
    let mut ears = vec![Ear::open(&api, EVENTS, None).await, Ear::open(&api, "/rackwright/v1/events?types=machines", None).await];
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let api = api.clone();
        writers.spawn(async move {
            for round in 0..ROUNDS {
                let (one, other) = (format!("w{writer}a"), format!("w{writer}b"));
                let commit = if round % 3 == 2 {
                    put(Commit::default(), &one).delete(machine_key(&other))
                } else {
                    put(put(Commit::default(), &one), &other)
                };
                api.store.commit(commit).await.unwrap();
            }
        });
    }
    let count = WRITERS * ROUNDS * 2;
    let mut all = Vec::new();
    for ear in &mut ears {
        let mut heard = Vec::new();
        while heard.len() < count {
            let event = ear.next().await.unwrap();
            let (revision, change, name) = event.in_short();
            let view = api.cache.view();
            assert!(view.revision.0 >= revision, "a read shows what was heard");
            if let (Some(shown), "put") =
                (view.machine(&ClusterName::new("site").unwrap(), &MachineName::new(&name).unwrap()), change.as_str())
            {
                assert!(shown.revision.0 >= revision);
            }
            heard.push(event);
        }
        all.push(heard);
    }
    writers.join_all().await;
    let expected = history(&api, begin).await;
    assert_eq!(expected.len(), count);
    for heard in &all {
        assert_eq!(heard.iter().map(Heard::in_short).collect::<Vec<_>>(), expected);
        let ids: Vec<u64> = heard.iter().filter_map(|event| event.id).collect();
        assert_eq!(ids.len(), WRITERS * ROUNDS, "one id for each commit");
        assert!(ids.is_sorted());
    }
}

#[tokio::test]
async fn events_look_as_documented() {
    let (api, _stop, _follower) = site().await;
    let mut ear = Ear::open(&api, EVENTS, None).await;
    let (site, rack1) = (ClusterName::new("site").unwrap(), rack("site", "rack1"));
    let running = operation("8f3c1a2b", "site", "m1", Timestamp::parse(NOW).unwrap());
    let commit = put(Commit::default(), "m1")
        .put(keys::rack(&site, &rack1.name), serde_json::to_vec(&rack1).unwrap())
        .put(keys::operation(&site, &running.id), serde_json::to_vec(&running).unwrap())
        .put("requests/site/1", "not for listeners")
        .put("secrets/bmc", "not for listeners either");
    let revision = api.store.commit(commit).await.unwrap().0;
    let heard = ear.take(3).await;
    let group = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud";
    assert_eq!(
        heard[0],
        Heard {
            event: "resource".to_owned(),
            data: json!({
                "change": "put", "id": format!("{group}/bareMetalMachines/m1"), "type": "Microsoft.NetworkCloud/bareMetalMachines",
                "name": "m1", "etag": "\"1\"", "revision": revision,
            }),
            id: None,
        }
    );
    let (_, mut listed) = send(&api, Method::GET, "/rackwright/v1/operations", "").await;
    let mut rendered = heard[1].data.clone();
    assert_eq!((&heard[1].event, &rendered["change"], &rendered["revision"]), (&"operation".to_owned(), &json!("put"), &json!(revision)));
    for ours in ["change", "revision"] {
        rendered.as_object_mut().unwrap().remove(ours);
    }
    assert_eq!(rendered, listed["value"][0].take(), "as the list of operations renders it");
    assert_eq!((&heard[2].data["id"], heard[2].id), (&json!(format!("{group}/racks/rack1")), Some(revision)));

    api.store.commit(Commit::default().delete(machine_key("m1")).delete(keys::operation(&site, &running.id))).await.unwrap();
    let gone = ear.take(2).await;
    assert_eq!((&gone[0].data["change"], &gone[0].data["id"], &gone[0].data["etag"]), (&json!("gone"), &heard[0].data["id"], &json!(null)));
    assert_eq!((&gone[1].data["change"], &gone[1].data["id"]), (&json!("gone"), &json!("8f3c1a2b")));
}

#[tokio::test]
async fn a_listener_hears_only_what_it_chose() {
    let (api, _stop, _follower) = site().await;
    let id = "/SUBSCRIPTIONS/s1/resourceGroups/G1/providers/Microsoft.NetworkCloud/bareMetalMachines/M2";
    let mut one = Ear::open(&api, &format!("{EVENTS}?types=bareMetalMachines,operations&resourceId={id}"), None).await;
    let mut racks = Ear::open(&api, &format!("{EVENTS}?types=Racks"), None).await;
    put_machine(&api, "m1").await;
    let site = ClusterName::new("site").unwrap();
    let running = operation("8f3c1a2b", "site", "m2", Timestamp::parse(NOW).unwrap());
    let rack1 = rack("site", "rack1");
    let commit = put(put(Commit::default(), "m2"), "m3")
        .put(keys::operation(&site, &running.id), serde_json::to_vec(&running).unwrap())
        .put(keys::rack(&site, &rack1.name), serde_json::to_vec(&rack1).unwrap());
    let revision = api.store.commit(commit).await.unwrap().0;
    let heard = one.take(2).await;
    assert_eq!((heard[0].data["name"].as_str(), heard[1].event.as_str()), (Some("m2"), "operation"));
    assert_eq!(one.block().await.as_deref(), Some(format!("id: {revision}").as_str()), "the rest of the commit was not chosen");
    assert_eq!(racks.next().await.unwrap().data["name"], "rack1");
}

#[tokio::test]
async fn wrong_wishes_are_refused_and_named() {
    let (api, _stop, _follower) = site().await;
    for (query, target) in [
        ("types=toasters", "types"),
        ("types=machines,", "types"),
        ("resourceId=rack1compute01", "resourceId"),
        ("lastEventId=yesterday", "Last-Event-ID"),
        ("lastEventId=-1", "Last-Event-ID"),
        ("lastEventId=99999999999999999999", "Last-Event-ID"),
    ] {
        let (status, body) = send(&api, Method::GET, &format!("{EVENTS}?{query}"), "").await;
        assert_eq!((status, &body["error"]["target"]), (StatusCode::BAD_REQUEST, &json!(target)), "{query}");
    }
    let (status, headers, mut body) = call(&api, "HEAD", EVENTS, None).await;
    assert_eq!((status, headers["content-type"].to_str().unwrap()), (StatusCode::OK, "text/event-stream"));
    assert!(body.next().await.is_none(), "HEAD has no body");
}

/// The status of somebody with a number who wants to listen, when to come back, and the stream.
async fn listen_as(api: &Api, number: usize) -> (StatusCode, Option<String>, BodyDataStream) {
    let who = access::PrincipalId::new(uuid::Uuid::from_u128(100 + number as u128));
    let token = gate::OpenHouse::around(api.gate.clone()).token_of(who, "somebody");
    let (status, headers, body) = call_as(api, &token, "GET", EVENTS, None).await;
    (status, headers.get("retry-after").map(|value| value.to_str().unwrap().to_owned()), body)
}

#[tokio::test]
async fn more_listeners_than_there_are_seats_are_told_to_come_back() {
    let (api, _stop, _follower) = site().await;
    let mut ears = Vec::new();
    for n in 0..MAX_LISTENERS {
        let (status, _, ear) = listen_as(&api, n / MAX_LISTENERS_OF_CALLER).await;
        assert_eq!(status, StatusCode::OK, "{n}");
        ears.push(ear);
    }
    let (status, retry_after, _) = listen_as(&api, MAX_LISTENERS).await;
    assert_eq!((status, retry_after.as_deref()), (StatusCode::TOO_MANY_REQUESTS, Some("1")));
    ears.pop();
    assert_eq!(listen_as(&api, MAX_LISTENERS).await.0, StatusCode::OK);
}

#[tokio::test]
async fn one_caller_cannot_take_the_seats_of_all_others() {
    let (api, _stop, _follower) = site().await;
    let mut ears = Vec::new();
    for _ in 0..MAX_LISTENERS_OF_CALLER {
        ears.push(listen_as(&api, 1).await.2);
    }
    let (status, retry_after, _) = listen_as(&api, 1).await;
    assert_eq!((status, retry_after.as_deref()), (StatusCode::TOO_MANY_REQUESTS, Some("1")));
    assert_eq!(listen_as(&api, 2).await.0, StatusCode::OK, "another caller finds a seat");
    ears.pop();
    assert_eq!(listen_as(&api, 1).await.0, StatusCode::OK, "a seat that was left is theirs again");
}

#[tokio::test(start_paused = true)]
async fn without_news_there_is_a_sign_of_life_that_tells_how_far_everything_is_told() {
    let (api, _stop, _follower) = site().await;
    let mut ear = Ear::open(&api, &format!("{EVENTS}?types=racks"), None).await;
    let revision = api.cache.view().revision.0;
    assert_eq!(ear.block().await, Some(format!("retry: 2000\nid: {revision}")));
    let begin = tokio::time::Instant::now();
    assert_eq!(ear.block().await, Some(format!(": still here\nid: {revision}")));
    assert_eq!(begin.elapsed(), crate::HEARTBEAT_EVERY.to_std());
    let later = put_machine(&api, "m1").await.0;
    assert_eq!(ear.block().await, Some(format!(": still here\nid: {later}")), "what was not chosen counts as told");
}

#[tokio::test(start_paused = true)]
async fn news_that_were_not_chosen_do_not_put_off_the_sign_of_life() {
    let (api, _stop, _follower) = site().await;
    let mut ear = Ear::open(&api, &format!("{EVENTS}?types=racks"), None).await;
    ear.block().await;
    let begin = tokio::time::Instant::now();
    let busy = tokio::spawn(async move {
        for _ in 0..100 {
            tokio::time::sleep(std::time::Duration::from_secs(2)).await;
            put_machine(&api, "m1").await;
        }
    });
    assert!(ear.block().await.unwrap().starts_with(": still here\nid: "));
    assert!(begin.elapsed() < crate::HEARTBEAT_EVERY.to_std() + std::time::Duration::from_secs(3), "{:?}", begin.elapsed());
    busy.abort();
}

#[tokio::test]
async fn the_streams_end_when_the_cache_stops_however_it_does() {
    for orderly in [true, false] {
        let (api, stop, follower) = site().await;
        let mut ear = Ear::open(&api, EVENTS, None).await;
        put_machine(&api, "m1").await;
        assert_eq!(ear.next().await.unwrap().data["name"], "m1");
        if orderly {
            stop.cancel();
        } else {
            follower.abort();
        }
        assert_eq!(ear.next().await, None);
        assert_eq!(Ear::open(&api, EVENTS, None).await.next().await, None, "nor is there anything for whoever comes later");
    }
}
