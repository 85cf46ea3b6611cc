//! The watch: what it says, and how it goes on.

use std::io::ErrorKind;
use std::pin::pin;

use expect_test::expect;
use fake::{End, Fake, Reply, bookmark, event, list, node, refusal, status};
use futures::{Stream, StreamExt};
use kubernetes::{NodeEvent, WATCH_SILENCE_TIMEOUT};
use serde_json::json;
use tokio::time::{Duration, Instant, timeout};

use crate::fake;

/// The first events, each with the time at which it was told.
async fn first(count: usize, events: impl Stream<Item = NodeEvent>) -> String {
    let began = Instant::now();
    let mut events = pin!(events);
    let mut told = String::new();
    for _ in 0..count {
        let event =
            timeout(Duration::from_secs(3600), events.next()).await.expect("the watch has more to say").expect("the watch never ends");
        let text = match event {
            NodeEvent::Listed(nodes) if nodes.is_empty() => "listed nothing".to_owned(),
            NodeEvent::Listed(nodes) => format!("listed {}", nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>().join(" ")),
            NodeEvent::Changed(node) => format!("changed {}", node.name),
            NodeEvent::Gone { name } => format!("gone {name}"),
            NodeEvent::Heard => "heard".to_owned(),
            NodeEvent::Lost(fault) => format!("lost: {fault}"),
        };
        told += &format!("{}s {text}\n", began.elapsed().as_secs());
    }
    told
}

#[tokio::test(start_paused = true)]
async fn nodes_are_listed_then_followed() {
    let events = vec![event("MODIFIED", &node("n1", 11)), event("ADDED", &node("n3", 12)), bookmark(15), event("DELETED", &node("n2", 16))];
    let fake = Fake::default().on("LIST", list(10, &[node("n1", 5), node("n2", 6)])).on("WATCH", Reply::Stream(events, End::FallSilent));
    let told = first(6, fake.undercloud().watch_nodes()).await;
    expect![[r#"
        0s listed n1 n2
        0s heard
        0s changed n1
        0s changed n3
        0s heard
        0s gone n2
    "#]]
    .assert_eq(&told);
    expect![[r#"
        GET /api/v1/nodes?&limit=500
        GET /api/v1/nodes?&watch=true&timeoutSeconds=30&allowWatchBookmarks=true&resourceVersion=10
    "#]]
    .assert_eq(&fake.take_log());
}

#[tokio::test]
async fn a_long_list_is_read_page_by_page() {
    let page =
        json!({"apiVersion": "v1", "kind": "NodeList", "metadata": {"resourceVersion": "9", "continue": "more"}, "items": [node("n1", 5)]});
    let fake = Fake::default().on("LIST", Reply::Answer(200, page)).on("LIST", list(9, &[node("n2", 6)]));
    assert_eq!(first(1, fake.undercloud().watch_nodes()).await, "0s listed n1 n2\n");
    expect![[r#"
        GET /api/v1/nodes?&limit=500
        GET /api/v1/nodes?&limit=500&continue=more
    "#]]
    .assert_eq(&fake.take_log());
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_too_long_ago_lists_anew_without_an_alarm() {
    let at_once = refusal(410, "too old resource version");
    let later = Reply::Stream(vec![event("ERROR", &status(410, "too old resource version"))], End::Close);
    let fake = Fake::default()
        .on("LIST", list(10, &[node("n1", 5), node("n2", 6)]))
        .on("LIST", list(90, &[node("n1", 5)]))
        .on("WATCH", at_once)
        .on("WATCH", later)
        .on("WATCH", Reply::Stream(vec![event("MODIFIED", &node("n1", 91))], End::FallSilent));
    let told = first(6, fake.undercloud().watch_nodes()).await;
    expect![[r#"
        0s listed n1 n2
        1s listed n1
        1s heard
        3s listed n1
        3s heard
        3s changed n1
    "#]]
    .assert_eq(&told);
    let versions = fake.take_log().lines().filter_map(|line| Some(line.split_once("resourceVersion=")?.1.to_owned())).collect::<Vec<_>>();
    assert_eq!(versions, ["10", "90", "90"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_goes_on_from_the_last_version() {
    let fake = Fake::default()
        .on("LIST", list(10, &[]))
        .on("WATCH", Reply::Stream(vec![event("ADDED", &node("n1", 20)), bookmark(33)], End::Close))
        .on("WATCH", Reply::Stream(vec![], End::FallSilent));
    let told = first(5, fake.undercloud().watch_nodes()).await;
    expect![[r#"
        0s listed nothing
        0s heard
        0s changed n1
        0s heard
        1s heard
    "#]]
    .assert_eq(&told);
    expect![[r#"
        GET /api/v1/nodes?&limit=500
        GET /api/v1/nodes?&watch=true&timeoutSeconds=30&allowWatchBookmarks=true&resourceVersion=10
        GET /api/v1/nodes?&watch=true&timeoutSeconds=30&allowWatchBookmarks=true&resourceVersion=33
    "#]]
    .assert_eq(&fake.take_log());
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_noticed_and_replaced() {
    let fake = Fake::default().on("LIST", list(10, &[])).on("WATCH", Reply::Stream(vec![], End::FallSilent));
    let told = first(4, fake.undercloud().watch_nodes()).await;
    expect![[r#"
        0s listed nothing
        0s heard
        35s lost: unreachable: watch of nodes: no answer in 35s
        36s heard
    "#]]
    .assert_eq(&told);
    assert_eq!(WATCH_SILENCE_TIMEOUT.to_std().as_secs(), 35);
}

#[tokio::test(start_paused = true)]
async fn a_broken_connection_is_resumed_and_a_refused_watch_is_listed_anew() {
    let fake = Fake::default()
        .on("LIST", list(10, &[]))
        .on("WATCH", Reply::Stream(vec![], End::Break))
        .on("WATCH", Reply::Break(ErrorKind::ConnectionRefused))
        .on("WATCH", refusal(500, "etcdserver: leader changed"))
        .on("WATCH", Reply::Never)
        .on("WATCH", Reply::Stream(vec![], End::FallSilent));
    let told = first(8, fake.undercloud().watch_nodes()).await;
    expect![[r#"
        0s listed nothing
        0s heard
        0s lost: unreachable: watch of nodes: connection reset
        1s lost: unreachable: watch of nodes: connection refused
        3s lost: garbled: watch of nodes answered 500: etcdserver: leader changed
        7s listed nothing
        17s lost: unreachable: watch of nodes: no answer in 10s
        25s heard
    "#]]
    .assert_eq(&told);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_away_is_asked_ever_more_slowly_until_it_returns() {
    let mut fake = Fake::default().on("WATCH", Reply::Stream(vec![], End::FallSilent));
    for _ in 0..5 {
        fake = fake.on("LIST", Reply::Break(ErrorKind::ConnectionRefused));
    }
    let fake = fake.on("LIST", Reply::Never).on("LIST", list(10, &[node("n1", 5)]));
    let told = first(7, fake.undercloud().watch_nodes()).await;
    expect![[r#"
        0s lost: unreachable: GET nodes: connection refused
        1s lost: unreachable: GET nodes: connection refused
        3s lost: unreachable: GET nodes: connection refused
        7s lost: unreachable: GET nodes: connection refused
        15s lost: unreachable: GET nodes: connection refused
        55s lost: unreachable: GET nodes: no answer in 30s
        65s listed n1
    "#]]
    .assert_eq(&told);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_every_watch_at_once_is_not_hammered() {
    let fake = Fake::default().on("LIST", list(10, &[])).on("WATCH", Reply::Stream(vec![], End::Close));
    let told = first(7, fake.undercloud().watch_nodes()).await;
    expect![[r#"
        0s listed nothing
        0s heard
        1s heard
        3s heard
        7s heard
        15s heard
        25s heard
    "#]]
    .assert_eq(&told);
}
