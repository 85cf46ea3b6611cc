//! The API's own description, as far as kubectl insists on one before it creates anything.
//!
//! It names no schemas. kubectl then leaves the checking of objects to the server, as it does for kinds that it does not
//! know; `kubectl explain` finds nothing to explain.

use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Method, StatusCode};
use serde_json::json;
use world::KUBERNETES_VERSION;

use super::{Call, json_response};

/// The document as protocol buffers, which kubectl of every age asks for. It asks with an `@` before the version, which
/// its own reader of answers then refuses, so that servers write a dot there.
const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

const TITLE: &str = "Kubernetes";

pub(super) fn answer(call: &Call) -> Option<Response> {
    if call.method != Method::GET || call.path != "/openapi/v2" {
        return None;
    }
    let accept = call.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accept.contains("protobuf") {
        return Some(([(CONTENT_TYPE, PROTOBUF)], document()).into_response());
    }
    let document = json!({"swagger": "2.0", "info": {"title": TITLE, "version": KUBERNETES_VERSION}, "paths": {}, "definitions": {}});
    Some(json_response(StatusCode::OK, &document))
}

/// `Document { swagger = 1, info = 2 { title = 1, version = 2 } }` of the published OpenAPI v2 messages.
fn document() -> Vec<u8> {
    let info = [text(1, TITLE.as_bytes()), text(2, KUBERNETES_VERSION.as_bytes())].concat();
    [text(1, b"2.0"), text(2, &info)].concat()
}

/// A field of bytes. All of them here are shorter than 128 bytes, so that tag and length take one byte each.
fn text(field: u8, bytes: &[u8]) -> Vec<u8> {
    const LENGTH_DELIMITED: u8 = 2;
    let length = u8::try_from(bytes.len()).unwrap_or(0);
    [&[field << 3 | LENGTH_DELIMITED, length], bytes].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_what_a_protobuf_reader_expects() {
        let bytes = document();
        assert!(bytes.len() < 128, "lengths take one byte");
        assert_eq!(&bytes[..5], b"\x0a\x032.0");
        assert_eq!(bytes[5..7], [0x12, u8::try_from(bytes.len() - 7).unwrap()]);
        assert_eq!(&bytes[7..9], b"\x0a\x0a");
    }
}
