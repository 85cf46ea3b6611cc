//! What hyper answers by itself to what is no request that a handler could see, put into our form.
//!
//! Its answers are a status line and a few headers, without a body and without a request id. Ours always have the id, and
//! no body of ours has the bare line breaks of a header, so that the two cannot be mistaken for each other.

use std::fmt::Write;

use bytes::Bytes;
use uuid::Uuid;

use super::{HEADER_BYTES_MAX, HEADERS_MAX};
use crate::codes::Code;
use crate::hygiene::{self, Transport};
use crate::reply::Refused;

/// An answer as bytes, after which the connection is closed.
pub(super) fn in_full(refused: Refused) -> Bytes {
    let body = refused.body().to_string();
    let mut response = refused.into_response();
    // Whether it goes through TLS is not known here.
    hygiene::protect(response.headers_mut(), Transport::Clear);
    let status = response.status();
    let mut text = format!("HTTP/1.1 {} {}\r\n", status.as_u16(), status.canonical_reason().unwrap_or_default());
    for (name, value) in response.headers() {
        let _ = write!(text, "{name}: {}\r\n", String::from_utf8_lossy(value.as_bytes()));
    }
    let ids = format!("{}: {}\r\n{}: {}", hygiene::REQUEST_ID, Uuid::new_v4(), hygiene::CORRELATION_ID, Uuid::new_v4());
    let _ = write!(text, "{ids}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
    Bytes::from(text)
}

pub(super) fn no_http() -> Refused {
    Refused::bad_content("the request is not HTTP/1.1, or one of its headers is broken")
}

/// The bytes to send instead, if these end with an answer of hyper's own.
pub(super) fn translate(bytes: &[u8]) -> Option<Bytes> {
    let begin = begin_of_last_head(bytes)?;
    let refused = refusal_of(std::str::from_utf8(&bytes[begin..]).ok()?)?;
    Some([&bytes[..begin], &in_full(refused)].concat().into())
}

fn begin_of_last_head(bytes: &[u8]) -> Option<usize> {
    const VERSION: &[u8] = b"HTTP/1.";
    if !bytes.ends_with(b"\r\n\r\n") {
        return None;
    }
    bytes.windows(VERSION.len()).rposition(|window| window == VERSION)
}

fn refusal_of(head: &str) -> Option<Refused> {
    let is_hypers = head.contains("\r\ncontent-length: 0\r\n") && !head.contains("\r\nx-ms-request-id:");
    let status = head.split_whitespace().nth(1).filter(|_| is_hypers)?;
    match status {
        "400" => Some(no_http()),
        "414" => Some(Refused::new(Code::RequestUriTooLong, format!("the request line is longer than {HEADER_BYTES_MAX} bytes"))),
        "431" => {
            let message = format!(
                "the request line and headers are larger than {HEADER_BYTES_MAX} bytes, or there are more than {HEADERS_MAX} headers"
            );
            Some(Refused::new(Code::RequestHeadersTooLarge, message))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYPERS: &str = "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\ndate: Sun, 15 Nov 2026 14:00:00 GMT\r\n\r\n";

    #[test]
    fn an_answer_of_hypers_own_gets_our_form_also_behind_one_of_ours() {
        let ours = "HTTP/1.1 204 No Content\r\nx-ms-request-id: 1\r\ncontent-length: 0\r\n\r\n";
        for before in ["", ours, "0\r\n\r\n"] {
            let sent = translate(format!("{before}{HYPERS}").as_bytes()).expect("it is recognized");
            let sent = std::str::from_utf8(&sent).unwrap().strip_prefix(before).expect("what came before is kept").to_owned();
            assert!(sent.starts_with("HTTP/1.1 431 "), "{sent}");
            let (head, body) = sent.split_once("\r\n\r\n").unwrap();
            assert!(head.contains("\r\nx-ms-request-id: ") && head.contains(&format!("\r\ncontent-length: {}", body.len())), "{head}");
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            assert_eq!(body["error"]["code"], "RequestHeadersTooLarge");
        }
    }

    #[test]
    fn what_we_say_ourselves_is_left_alone() {
        let ours = [
            "HTTP/1.1 405 Method Not Allowed\r\nx-ms-request-id: 1\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "16\r\ndata: HTTP/1.1 400 Bad\n\n\r\n0\r\n\r\n",
            "{\"message\":\"HTTP/1.1 400 \\r\\ncontent-length: 0\\r\\n\\r\\n\"}",
            "",
        ];
        for text in ours {
            assert_eq!(translate(text.as_bytes()), None, "{text}");
        }
    }
}
