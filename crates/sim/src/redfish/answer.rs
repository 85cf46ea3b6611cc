//! One answer of a BMC and the headers that every answer has.

use axum::body::Body;
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::Value;
use world::hash_text;

const JSON: &str = "application/json; charset=utf-8";
const XML: &str = "application/xml";

#[derive(Debug)]
pub(super) struct Answer {
    pub status: StatusCode,
    headers: Vec<(&'static str, String)>,
    content_type: &'static str,
    body: String,
}

impl Answer {
    fn new(status: StatusCode, content_type: &'static str, body: String) -> Answer {
        Answer { status, headers: Vec::new(), content_type, body }
    }

    pub fn of(status: StatusCode, document: &Value) -> Answer {
        Answer::new(status, JSON, document.to_string())
    }

    pub fn ok(document: &Value) -> Answer {
        Answer::of(StatusCode::OK, document)
    }

    pub fn xml(text: String) -> Answer {
        Answer::new(StatusCode::OK, XML, text)
    }

    pub fn no_content() -> Answer {
        Answer::new(StatusCode::NO_CONTENT, JSON, String::new())
    }

    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Answer {
        self.headers.push((name, value.into()));
        self
    }

    pub fn into_response(self, is_head: bool, if_none_match: Option<&HeaderValue>) -> Response {
        let Answer { mut status, headers: own, content_type, mut body } = self;
        let mut headers = HeaderMap::new();
        for (name, value) in own {
            // Values are ours and valid; one that is not would be left out.
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(name, value);
            }
        }
        headers.insert("odata-version", HeaderValue::from_static("4.0"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if status != StatusCode::NO_CONTENT {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        let etag = HeaderValue::try_from(format!("W/\"{:016x}\"", hash_text(&body))).ok();
        if let (StatusCode::OK, Some(etag)) = (status, etag) {
            if if_none_match == Some(&etag) {
                status = StatusCode::NOT_MODIFIED;
                body.clear();
            }
            headers.insert(ETAG, etag);
        }
        if is_head {
            body.clear();
        }
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response
    }
}
