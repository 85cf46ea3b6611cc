//! Clients that take their time, on paused time.

use std::time::Duration;

use tokio::time::Instant;

use super::*;
use crate::HEADERS_TIMEOUT;
use crate::fixtures::{Documents, cluster, machine};
use crate::wire::FAREWELL_TIMEOUT;
use crate::wire::line::READ_NOTHING_TIMEOUT;

/// Sends a byte each `pause` until the server hangs up; returns what it said, and after how long.
async fn dribble(first: &str, pause: Duration) -> (Vec<Answer>, Duration) {
    let (client, serving) = connected(64 * 1024).await;
    let begin = Instant::now();
    let (mut reading, mut writing) = tokio::io::split(client);
    let first = first.to_owned();
    let dribbling = tokio::spawn(async move {
        writing.write_all(first.as_bytes()).await.unwrap();
        while writing.write_all(b"x").await.is_ok() {
            tokio::time::sleep(pause).await;
        }
    });
    let mut said = Vec::new();
    reading.read_to_end(&mut said).await.unwrap();
    let took = begin.elapsed();
    serving.await.unwrap();
    dribbling.abort();
    (answers(&said), took)
}

#[tokio::test(start_paused = true)]
async fn headers_that_never_end_are_not_waited_for() {
    let (answers, took) = dribble("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ", Duration::from_secs(5)).await;
    assert_eq!((answers.len(), answers[0].status, answers[0].code().as_str()), (1, 408, "RequestTimeout"));
    assert_eq!(answers[0].json()["error"]["message"], "the request's headers did not arrive within 30s");
    assert!(answers[0].header("x-ms-request-id").is_some());
    assert!(took >= HEADERS_TIMEOUT.to_std() && took <= HEADERS_TIMEOUT.to_std() + FAREWELL_TIMEOUT, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_trickles_is_not_waited_for() {
    let line = format!("POST {MACHINES}/m1/restart?api-version=1 HTTP/1.1\r\nhost: localhost\r\ncontent-length: 60000\r\n\r\n");
    let (answers, took) = dribble(&line, Duration::from_millis(500)).await;
    assert_eq!((answers.len(), answers[0].status, answers[0].code().as_str()), (1, 408, "RequestTimeout"));
    assert!(took >= Duration::from_secs(10) && took < Duration::from_secs(12), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_nobody_reads_does_not_keep_the_connection() {
    let line = "GET /healthz HTTP/1.1\r\nhost: localhost\r\ncontent-length: 60000\r\n\r\n";
    let (answers, took) = dribble(line, Duration::from_millis(500)).await;
    assert_eq!((answers.len(), answers[0].status), (1, 200));
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_request_ends_without_a_word() {
    for before in ["", "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"] {
        let (mut client, serving) = connected(64 * 1024).await;
        let begin = Instant::now();
        client.write_all(before.as_bytes()).await.unwrap();
        let mut said = Vec::new();
        client.read_to_end(&mut said).await.unwrap();
        let statuses: Vec<u16> = answers(&said).iter().map(|answer| answer.status).collect();
        assert_eq!(statuses, vec![200; usize::from(!before.is_empty())], "an idle connection is no failed request");
        assert!(begin.elapsed() >= HEADERS_TIMEOUT.to_std() && begin.elapsed() < Duration::from_secs(32));
        drop(client);
        serving.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_is_hung_up_on() {
    let mut documents = Documents::default().cluster(&cluster("site"));
    for n in 0..500 {
        documents = documents.machine(&machine("site", "rack1", &format!("m{n}")));
    }
    let api = documents.serve().await;
    let (mut client, server) = tokio::io::duplex(1_024);
    let serving = tokio::spawn(converse(server, HERE, let_in(&api), CancellationToken::new()));
    let begin = Instant::now();
    client.write_all(format!("GET {MACHINES}?api-version=1&$top=500 HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).await.unwrap();
    serving.await.unwrap();
    let took = begin.elapsed();
    assert!(took >= READ_NOTHING_TIMEOUT.to_std() && took < READ_NOTHING_TIMEOUT.to_std() + Duration::from_secs(5), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_reads_nothing_is_hung_up_on() {
    let stop = CancellationToken::new();
    let api = site(&stop).await;
    let (mut client, server) = tokio::io::duplex(1_024);
    let serving = tokio::spawn(converse(server, HERE, let_in(&api), CancellationToken::new()));
    client.write_all(b"GET /rackwright/v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    // Its heartbeats fill what lies between us, and then nothing moves any more.
    tokio::time::timeout(Duration::from_secs(3_600), serving).await.expect("the connection ends").unwrap();
}
