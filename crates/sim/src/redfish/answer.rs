//! One answer of a BMC and the headers that every answer has.

use axum::body::Body;
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::Value;
use world::hash_text;

const JSON: &str = "application/json; charset=utf-8";
const XML: &str = "application/xml; charset=utf-8";
const EVENTS: &str = "text/event-stream";

/// Where the schema of `#ComputerSystem.v1_20_0.ComputerSystem` is published.
fn schema_of(kind: &str) -> String {
    let name = kind.trim_start_matches('#').rsplit_once('.').map_or(kind, |(schema, _)| schema);
    format!("http://redfish.dmtf.org/schemas/v1/{name}.json")
}

#[derive(Debug)]
enum Content {
    Text(String),
    /// Events until one side ends it.
    Stream(Body),
}

#[derive(Debug)]
pub(super) struct Answer {
    pub status: StatusCode,
    headers: Vec<(&'static str, String)>,
    content_type: &'static str,
    content: Content,
    /// Of a document: changes with everything in it but the time of day.
    etag: Option<String>,
}

impl Answer {
    fn new(status: StatusCode, content_type: &'static str, content: Content) -> Answer {
        Answer { status, headers: Vec::new(), content_type, content, etag: None }
    }

    pub fn of(status: StatusCode, document: &Value) -> Answer {
        let mut text = document.to_string();
        let etag = if document.get("DateTime").is_some() {
            let mut timeless = document.clone();
            timeless.as_object_mut().map(|fields| fields.remove("DateTime"));
            hash_text(&timeless.to_string())
        } else {
            hash_text(&text)
        };
        let kind = document["@odata.type"].as_str();
        if kind.is_some() {
            // The tag belongs into the document too. Nothing of it is known before the text is, and the text opens with a brace.
            text.insert_str(1, &format!("\"@odata.etag\":\"\\\"{etag:016x}\\\"\","));
        }
        let answer = Answer { etag: Some(format!("\"{etag:016x}\"")), ..Answer::new(status, JSON, Content::Text(text)) };
        match kind {
            Some(kind) => answer.with_header("link", format!("<{}>; rel=describedby", schema_of(kind))),
            None => answer,
        }
    }

    pub fn ok(document: &Value) -> Answer {
        Answer::of(StatusCode::OK, document)
    }

    pub fn xml(text: String) -> Answer {
        let etag = Some(format!("\"{:016x}\"", hash_text(&text)));
        Answer { etag, ..Answer::new(StatusCode::OK, XML, Content::Text(text)) }
    }

    pub fn events(stream: Body) -> Answer {
        Answer::new(StatusCode::OK, EVENTS, Content::Stream(stream))
    }

    pub fn no_content() -> Answer {
        Answer::new(StatusCode::NO_CONTENT, JSON, Content::Text(String::new()))
    }

    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Answer {
        self.headers.push((name, value.into()));
        self
    }

    pub fn etag(&self) -> Option<&str> {
        self.etag.as_deref()
    }

    pub fn into_response(self, is_head: bool, if_none_match: Option<&HeaderValue>) -> Response {
        let Answer { mut status, headers: own, content_type, content, etag } = self;
        let mut headers = HeaderMap::new();
        for (name, value) in own {
            // Values are ours and valid; one that is not would be left out.
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.append(name, value);
            }
        }
        headers.insert("odata-version", HeaderValue::from_static("4.0"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if status != StatusCode::NO_CONTENT {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        let mut body = match content {
            Content::Text(text) => Body::from(text),
            Content::Stream(stream) => stream,
        };
        let etag = etag.and_then(|etag| HeaderValue::try_from(etag).ok()).filter(|_| status.is_success());
        if let Some(etag) = etag {
            if status == StatusCode::OK && if_none_match == Some(&etag) {
                status = StatusCode::NOT_MODIFIED;
                body = Body::empty();
            }
            headers.insert(ETAG, etag);
        }
        let mut response = Response::new(if is_head { Body::empty() } else { body });
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response
    }
}
