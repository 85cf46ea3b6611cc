//! The API's own description, as far as kubectl insists on one before it creates anything.
//!
//! It names no schemas. kubectl then leaves the checking of objects to the server, as it does for kinds that it does not
//! know; `kubectl explain` finds nothing to explain. Of the operations it names only the patches and their `dryRun`,
//! which is how older kubectls learn whether `--dry-run=server` may be asked for.

use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Method, StatusCode};
use serde_json::json;
use world::{KUBERNETES_VERSION, Offer, Resource};

use super::{Call, json_response};

/// The document as protocol buffers, which kubectl of every age asks for. It asks with an `@` before the version, which
/// its own reader of answers then refuses, so that servers write a dot there.
const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

const GVK_EXTENSION: &str = "x-kubernetes-group-version-kind";

const TITLE: &str = "Kubernetes";

pub(super) fn answer(call: &Call, served: &[&Resource]) -> Option<Response> {
    if call.method != Method::GET || call.path != "/openapi/v2" {
        return None;
    }
    let accept = call.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accept.contains("protobuf") {
        return Some(([(CONTENT_TYPE, PROTOBUF)], document(served)).into_response());
    }
    let info = json!({"title": TITLE, "version": KUBERNETES_VERSION});
    Some(json_response(StatusCode::OK, &json!({"swagger": "2.0", "info": info, "paths": {}, "definitions": {}})))
}

/// The `Document` of the published OpenAPI v2 messages. The numbers are those of its fields.
fn document(served: &[&Resource]) -> Vec<u8> {
    let info = [text(1, TITLE), text(2, KUBERNETES_VERSION)].concat();
    let offered = served.iter().filter(|resource| resource.offer == Offer::Full);
    let paths: Vec<u8> = offered.flat_map(|resource| field(2, &path(resource))).collect();
    [text(1, "2.0"), field(2, &info), field(8, &paths)].concat()
}

/// A `NamedPathItem` with the patch of one kind.
fn path(resource: &Resource) -> Vec<u8> {
    let root = if resource.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", resource.group) };
    let name = format!("{root}/{}/{}/{{name}}", resource.version, resource.plural);
    const PATCH: u64 = 8;
    [text(1, &name), field(2, &field(PATCH, &operation(resource)))].concat()
}

/// An `Operation` that takes `dryRun` in its query.
fn operation(resource: &Resource) -> Vec<u8> {
    // ParametersItem { parameter = 1 { non_body_parameter = 2 { query = 3 { in = 2, name = 4 } } } }
    let query = [text(2, "query"), text(4, "dryRun")].concat();
    let parameter = field(1, &field(2, &field(3, &query)));
    let kind = format!("group: \"{}\"\nkind: {}\nversion: {}\n", resource.group, resource.kind, resource.version);
    // NamedAny { name = 1, value = 2 { yaml = 2 } }
    let extension = [text(1, GVK_EXTENSION), field(2, &text(2, &kind))].concat();
    [field(8, &parameter), field(13, &extension)].concat()
}

fn text(number: u64, text: &str) -> Vec<u8> {
    field(number, text.as_bytes())
}

/// A field of bytes: its tag, its length, itself.
fn field(number: u64, bytes: &[u8]) -> Vec<u8> {
    const LENGTH_DELIMITED: u64 = 2;
    let length = bytes.len() as u64;
    [varint(number << 3 | LENGTH_DELIMITED), varint(length), bytes.to_vec()].concat()
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_protocol_buffers_write_them() {
        assert_eq!(text(1, "2.0"), b"\x0a\x032.0");
        assert_eq!(varint(300), [0xac, 0x02]);
        assert_eq!(field(13, &[0; 200])[..3], [0x6a, 0xc8, 0x01]);
    }

    #[test]
    fn every_kind_that_can_be_written_is_named() {
        let document = document(&world::RESOURCES);
        let document = String::from_utf8_lossy(&document);
        assert!(document.contains("kind: PodDisruptionBudget\n") && document.contains("/api/v1/pods/{name}"));
        assert!(!document.contains("kind: Service\n"));
    }
}
