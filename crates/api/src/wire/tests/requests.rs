//! Requests that are wrong, and those that are merely unusual.

use model::keys;

use super::*;
use crate::{BODY_MAX, HEADER_BYTES_MAX, HEADERS_MAX, URI_MAX};

/// A request with its last header, after which the server hangs up.
fn request(line: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("{line}\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n{body}").into_bytes()
}

fn get(path: &str) -> Vec<u8> {
    request(&format!("GET {path} HTTP/1.1"), "", "")
}

fn unmanage(headers: &str, body: &str) -> Vec<u8> {
    let line = format!("POST {MACHINES}/m1/unmanage?api-version=1 HTTP/1.1");
    request(&line, &format!("{headers}content-length: {}\r\n", body.len()), body)
}

#[tokio::test]
async fn every_wrong_request_gets_a_clear_error_with_an_id_and_changes_nothing() {
    let served = served(100).await;
    let deep = format!("{{\"reason\":{}1{}}}", "[".repeat(500), "]".repeat(500));
    let many: String = (0..=HEADERS_MAX).map(|n| format!("x-{n}: 1\r\n")).collect();
    let chunked = "transfer-encoding: chunked\r\n";
    let post = format!("POST {MACHINES}/m1/unmanage?api-version=1 HTTP/1.1");
    let endless = format!("{:x}\r\n{}\r\n", BODY_MAX, "x".repeat(BODY_MAX)).repeat(3);
    let cases: Vec<(&str, Vec<u8>, u16, &str)> = vec![
        ("no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(), 400, "InvalidRequestContent"),
        ("a line of words", b"hello there\r\n\r\n".to_vec(), 400, "InvalidRequestContent"),
        ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec(), 400, "InvalidRequestContent"),
        ("HTTP/3.0", b"GET / HTTP/3.0\r\n\r\n".to_vec(), 400, "InvalidRequestContent"),
        ("a NUL in the path", b"GET /a\0b HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec(), 400, "InvalidRequestContent"),
        ("a broken header", request("GET /healthz HTTP/1.1", "no colon\r\n", ""), 400, "InvalidRequestContent"),
        ("two lengths", request(&post, "content-length: 2\r\ncontent-length: 3\r\n", "{}"), 400, "InvalidRequestContent"),
        ("a length that is none", request(&post, "content-length: many\r\n", "{}"), 400, "InvalidRequestContent"),
        ("a chunk size that is none", request(&post, chunked, "zz\r\n{}\r\n0\r\n\r\n"), 400, "InvalidRequestContent"),
        ("no host", b"GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n".to_vec(), 400, "InvalidRequestContent"),
        ("HTTP/1.0 without host", b"GET /healthz HTTP/1.0\r\n\r\n".to_vec(), 400, "InvalidRequestContent"),
        ("two hosts", request("GET /healthz HTTP/1.1", "host: elsewhere\r\n", ""), 400, "InvalidRequestContent"),
        (
            "large headers",
            request("GET /healthz HTTP/1.1", &format!("x: {}\r\n", "x".repeat(HEADER_BYTES_MAX)), ""),
            431,
            "RequestHeadersTooLarge",
        ),
        ("many headers", request("GET /healthz HTTP/1.1", &many, ""), 431, "RequestHeadersTooLarge"),
        ("a long URI", get(&format!("/{}", "x".repeat(URI_MAX))), 414, "RequestUriTooLong"),
        ("a huge URI", get(&format!("/{}", "x".repeat(200_000))), 431, "RequestHeadersTooLarge"),
        ("an escaped NUL", get(&format!("{MACHINES}/m1%00?api-version=1")), 400, "InvalidRequestContent"),
        ("a path in Latin-1", get(&format!("{MACHINES}/%e9?api-version=1")), 400, "InvalidRequestContent"),
        ("a query in Latin-1", get(&format!("{MACHINES}/m1?api-version=%e9")), 400, "InvalidRequestContent"),
        ("an escaped line break", get(&format!("{MACHINES}/m1?api-version=1%0d%0ax: y")), 400, "InvalidRequestContent"),
        ("an escaped slash", get(&format!("{MACHINES}/m1%2Frestart?api-version=1")), 404, "ResourceNotFound"),
        ("a way up", get(&format!("{MACHINES}/m1/../m1?api-version=1")), 404, "InvalidResourceType"),
        ("a long name", get(&format!("{MACHINES}/{}?api-version=1", "m".repeat(4_000))), 404, "ResourceNotFound"),
        ("a long subscription", get(&format!("/subscriptions/{}?api-version=1", "s".repeat(4_000))), 404, "SubscriptionNotFound"),
        ("an unknown method", request(&format!("BREW {MACHINES}/m1?api-version=1 HTTP/1.1"), "", ""), 405, "MethodNotAllowed"),
        ("CONNECT", request("CONNECT localhost:443 HTTP/1.1", "", ""), 404, "InvalidResourceType"),
        ("no api-version", get(&format!("{MACHINES}/m1")), 400, "MissingApiVersionParameter"),
        ("half an object", unmanage("", "{\"reason\":"), 400, "InvalidRequestContent"),
        ("a wrong type", unmanage("", "{\"reason\":1}"), 400, "InvalidRequestContent"),
        ("a field twice", unmanage("", "{\"reason\":\"a\",\"reason\":\"b\"}"), 400, "InvalidRequestContent"),
        ("deep nesting", unmanage("", &deep), 400, "InvalidRequestContent"),
        ("a number out of range", unmanage("", "{\"reason\":1e999}"), 400, "InvalidRequestContent"),
        ("a form", unmanage("content-type: application/x-www-form-urlencoded\r\n", "reason=x"), 415, "UnsupportedMediaType"),
        ("UTF-16", unmanage("content-type: application/json; charset=utf-16\r\n", "{}"), 415, "UnsupportedMediaType"),
        ("gzip", unmanage("content-encoding: gzip\r\n", "{}"), 415, "UnsupportedMediaType"),
        ("a large body", unmanage("", &"x".repeat(BODY_MAX + 1)), 413, "RequestBodyTooLarge"),
        ("a body without end", request(&post, chunked, &endless), 413, "RequestBodyTooLarge"),
    ];
    let before = served.api.cache.view().revision;
    for (what, bytes, status, code) in cases {
        let mut answers = exchange(served.address, &bytes).await;
        let answer = answers.pop().unwrap_or_else(|| panic!("{what}: no answer"));
        assert!(answers.is_empty(), "{what}: {answers:?}");
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{what}: {}", answer.json());
        assert!(answer.header("x-ms-request-id").is_some_and(|id| id.len() == 36), "{what}: {}", answer.head);
        assert!(answer.header("x-ms-correlation-request-id").is_some_and(|id| id.len() == 36), "{what}: {}", answer.head);
        let hygiene = (answer.header("x-content-type-options"), answer.header("cache-control"), answer.header("server"));
        assert_eq!(hygiene, (Some("nosniff"), Some("no-store"), None), "{what}");
        assert_eq!(answer.header("x-ms-error-code"), Some(code), "{what}");
        assert!(answer.body.len() < 1_000, "{what}: what was sent is not sent back in full");
    }
    assert_eq!(served.api.cache.view().revision, before);
    assert_eq!(served.api.store.list(keys::REQUESTS).await.unwrap().documents, []);
}

#[tokio::test]
async fn what_is_unusual_but_right_is_served() {
    let served = served(100).await;
    let machine = format!("{MACHINES}/m1?api-version=1");
    let old = exchange(served.address, format!("GET {machine} HTTP/1.0\r\nhost: localhost\r\n\r\n").as_bytes()).await;
    assert_eq!((old.len(), old[0].status, &old[0].json()["name"]), (1, 200, &Value::from("m1")));

    let escaped = exchange(served.address, &get(&format!("{MACHINES}/%6D1?%61pi-version=1"))).await;
    assert_eq!((escaped[0].status, &escaped[0].json()["name"]), (200, &Value::from("m1")));

    let whole = exchange(served.address, &get(&machine)).await;
    let head = exchange(served.address, &request(&format!("HEAD {machine} HTTP/1.1"), "", "")).await;
    let length = whole[0].header("content-length").unwrap().to_owned();
    assert_eq!((head[0].status, head[0].header("content-length"), head[0].body.len()), (200, Some(length.as_str()), 0));

    let options = exchange(served.address, &request(&format!("OPTIONS {machine} HTTP/1.1"), "", "")).await;
    assert_eq!((options[0].status, options[0].header("allow")), (204, Some("GET, PATCH, PUT, DELETE, HEAD, OPTIONS")));

    let one = format!("GET {machine} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let pipelined = format!("{one}{one}GET /nowhere HTTP/1.1\r\nhost: localhost\r\n\r\nthis is no request\r\n\r\n");
    let statuses: Vec<u16> = exchange(served.address, pipelined.as_bytes()).await.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [200, 200, 404, 400], "answered in order, until it is no request any more");
}

#[tokio::test]
async fn a_body_is_asked_for_and_its_trailers_are_not_taken_for_a_request() {
    let served = served(100).await;
    let post = format!("POST {MACHINES}/m1/unmanage?api-version=1 HTTP/1.1");
    let expecting = request(&post, "expect: 100-continue\r\ncontent-length: 3\r\n", "{ }");
    let answers = exchange(served.address, &expecting).await;
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [100, 400], "the body was read, and has no reason");
    let trailers = request(&post, "transfer-encoding: chunked\r\n", "2\r\n{}\r\n0\r\nx-a: 1\r\nGET / HTTP/1.1: 1\r\n\r\n");
    let statuses: Vec<u16> = exchange(served.address, &trailers).await.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [400]);
}

#[tokio::test]
async fn a_client_that_sends_everything_before_it_reads_hears_why_it_was_refused() {
    let served = served(100).await;
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    stream.write_all(&unmanage("", &"x".repeat(BODY_MAX * 10))).await.expect("it is listened to until it has sent everything");
    let mut said = Vec::new();
    stream.read_to_end(&mut said).await.expect("the answer is not taken away by a reset");
    assert_eq!(answers(&said)[0].code(), "RequestBodyTooLarge");
}
