use http_body_util::BodyExt;
use proptest::prelude::*;
use tokio::io::duplex;

use super::*;

/// Asks, and hears `answer` in pieces of a size; gives the status and the content, or how it failed.
async fn hear(answer: &[u8], size: usize) -> Result<(u16, Vec<u8>), ErrorKind> {
    let (ours, mut theirs) = duplex(1024 * 1024);
    for piece in answer.chunks(size) {
        theirs.write_all(piece).await.unwrap();
    }
    theirs.shutdown().await.unwrap();
    let request = Request::get("http://bmc:8000/sse?x=1").header("accept", "text/event-stream").body(Full::default()).unwrap();
    let response = open(ours, &request).await.map_err(|error| error.kind())?;
    let status = response.status().as_u16();
    let content = response.into_body().collect().await.map_err(|error| error.kind())?.to_bytes();
    let mut asked = String::new();
    theirs.read_to_string(&mut asked).await.unwrap();
    assert_eq!(asked, "GET /sse?x=1 HTTP/1.1\r\nhost: bmc:8000\r\naccept: text/event-stream\r\n\r\n");
    Ok((status, content.to_vec()))
}

async fn check(answer: &str, expected: Result<(u16, &str), ErrorKind>) {
    let expected = expected.map(|(status, content)| (status, content.as_bytes().to_vec()));
    for size in [1, 2, 3, 7, answer.len()] {
        assert_eq!(hear(answer.as_bytes(), size).await, expected, "in pieces of {size}: {answer}");
    }
}

#[tokio::test]
async fn content_ends_as_its_head_says_however_it_arrives() {
    check("HTTP/1.1 200 OK\r\n\r\ndata: x\n\n", Ok((200, "data: x\n\n"))).await;
    check("HTTP/1.1 403 No\r\nContent-Length: 3\r\n\r\nnot this", Ok((403, "not"))).await;
    check("HTTP/1.1 204 Nothing\r\n\r\n", Ok((204, ""))).await;
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Length: 9\r\n\r\n";
    check(&format!("{chunked}4;a=b\r\nda\r\n\r\n2\r\nta\r\n0\r\nTrailer: t\r\n\r\n"), Ok((200, "da\r\nta"))).await;
    check("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nx", Ok((200, "x"))).await;
}

#[tokio::test]
async fn an_answer_that_breaks_off_or_makes_no_sense_is_an_error() {
    check("HTTP/1.1 200", Err(ErrorKind::UnexpectedEof)).await;
    check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nno", Err(ErrorKind::UnexpectedEof)).await;
    check("HTTP/1.1 200 OK\r\nContent-Length: three\r\n\r\nno", Err(ErrorKind::InvalidData)).await;
    check("hello\r\n\r\n", Err(ErrorKind::InvalidData)).await;
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    check(&format!("{chunked}4\r\nda"), Err(ErrorKind::UnexpectedEof)).await;
    check(&format!("{chunked}2\r\ndata\r\n"), Err(ErrorKind::InvalidData)).await;
    check(&format!("{chunked}x\r\n"), Err(ErrorKind::InvalidData)).await;
}

#[tokio::test]
async fn a_head_or_a_line_without_end_is_not_collected_for_ever() {
    let endless = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(2 * HEAD_BYTES_MAX));
    assert_eq!(hear(endless.as_bytes(), 1024).await, Err(ErrorKind::InvalidData));
    let trailer = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n{}", "x".repeat(2 * LINE_BYTES_MAX));
    assert_eq!(hear(trailer.as_bytes(), 1024).await, Err(ErrorKind::InvalidData));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(answer in proptest::collection::vec(any::<u8>(), 0..200), size in 1_usize..50) {
        let chunked = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".as_slice(), &answer].concat();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let _ = hear(&answer, size).await;
            let _ = hear(&chunked, size).await;
        });
    }
}
