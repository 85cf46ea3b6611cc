//! Bytes of any kind, on paused time: each connection ends, and everything that is said is an answer with an id.

use std::time::Duration;

use proptest::prelude::*;
use tokio::time::Instant;

use super::*;

/// The longest that a client can make a connection last without saying a whole request.
const LONGEST: Duration = Duration::from_secs(60);

/// Pieces that are found in requests, so that what is sent comes further than the first byte.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "GET ",
        "POST ",
        "HEAD ",
        "/healthz",
        "/rackwright/v1/status",
        "/subscriptions?api-version=1",
        "/%2e%2e/%ff%00",
        " HTTP/1.1\r\n",
        " HTTP/1.0\r\n",
        "host: localhost\r\n",
        "content-length: 5\r\n",
        "content-length: 99999999999999999999\r\n",
        "transfer-encoding: chunked\r\n",
        "expect: 100-continue\r\n",
        "connection: keep-alive\r\n",
        "upgrade: h2c\r\n",
        "\r\n",
        "ffffffffffffffff\r\n",
        "0\r\n\r\n",
        "{\"a\":",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ]);
    let piece = prop_oneof![3 => known.prop_map(|text| text.as_bytes().to_vec()), 1 => prop::collection::vec(any::<u8>(), 0..40)];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

async fn meet(bytes: Vec<u8>) -> (Vec<u8>, Duration) {
    let (client, serving) = connected(256 * 1024).await;
    let begin = Instant::now();
    let (mut reading, mut writing) = tokio::io::split(client);
    writing.write_all(&bytes).await.unwrap();
    let mut said = Vec::new();
    reading.read_to_end(&mut said).await.unwrap();
    serving.await.expect("nothing panics");
    (said, begin.elapsed())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_of_any_kind_end_in_time_and_are_answered_with_an_id_or_not_at_all(bytes in pieces()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let (said, took) = runtime.block_on(meet(bytes));
        prop_assert!(took <= LONGEST, "{:?}", took);
        for head in String::from_utf8_lossy(&said).replace("HTTP/1.0 ", "HTTP/1.1 ").split("HTTP/1.1 ").skip(1) {
            let head = head.split("\r\n\r\n").next().unwrap_or_default();
            let status = head.split(' ').next().unwrap_or_default();
            prop_assert!(!status.starts_with('5'), "{}", head);
            prop_assert!(status == "100" || head.contains("\r\nx-ms-request-id: "), "{}", head);
        }
    }
}
