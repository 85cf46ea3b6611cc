//! What an image's origin is asked, and what it answers. A body comes in pieces, and one that broke off is asked for from there on.

use bytes::Bytes;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use http::{HeaderMap, HeaderName, Response, StatusCode, header};
use http_body_util::{BodyDataStream, BodyExt};

/// Asks for what a URL names.
pub trait Fetch: Send + Sync {
    fn open<'a>(&'a self, url: &'a str, rest: &'a Rest) -> BoxFuture<'a, Result<Coming, Unfetched>>;
}

/// Why nothing could be fetched, in words for an operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unfetched(pub String);

/// What is still wanted of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// From here on.
    pub at: u64,
    /// Of this file and no other.
    pub etag: Option<String>,
}

/// What an origin sends.
pub struct Coming {
    /// Where in the file it begins: at its beginning, if the origin sends no parts.
    pub at: u64,
    /// How long the whole file is, if it is told.
    pub whole: Option<u64>,
    /// By which the file can be asked for again; only one that changes with every byte.
    pub etag: Option<String>,
    pub body: BoxStream<'static, Result<Bytes, Unfetched>>,
}

impl std::fmt::Debug for Coming {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Coming").field("at", &self.at).field("whole", &self.whole).field("etag", &self.etag).finish_non_exhaustive()
    }
}

impl Rest {
    /// The headers that say so.
    pub fn headers(&self) -> Vec<(HeaderName, String)> {
        // What is packed on the way would have another length, and no parts that fit.
        let mut headers = vec![(header::ACCEPT_ENCODING, "identity".to_owned())];
        if self.at > 0 {
            headers.push((header::RANGE, format!("bytes={}-", self.at)));
            headers.extend(self.etag.clone().map(|etag| (header::IF_RANGE, etag)));
        }
        headers
    }
}

impl Coming {
    /// What an answer to [`Rest::headers`] brings.
    pub fn of<B>(response: Response<B>, rest: &Rest) -> Result<Coming, Unfetched>
    where
        B: hyper::body::Body<Data = Bytes> + Send + 'static,
        B::Error: std::fmt::Display,
    {
        let (parts, body) = response.into_parts();
        let range = ContentRange::of(&parts.headers);
        let (at, whole) = match parts.status {
            StatusCode::OK => (0, number(&parts.headers, header::CONTENT_LENGTH)),
            StatusCode::PARTIAL_CONTENT if range.first == Some(rest.at) => (rest.at, range.whole),
            StatusCode::PARTIAL_CONTENT => return Err(Unfetched("it sent another part than was asked for".to_owned())),
            // It ends before: how long it is says whether it is the wrong one.
            StatusCode::RANGE_NOT_SATISFIABLE if range.whole.is_some() => {
                return Ok(Coming { at: rest.at, whole: range.whole, etag: None, body: futures::stream::empty().boxed() });
            }
            status => return Err(Unfetched(format!("it answered {status}"))),
        };
        let etag = parts.headers.get(header::ETAG).and_then(|value| value.to_str().ok());
        let etag = etag.filter(|etag| etag.starts_with('"')).map(str::to_owned);
        let body = BodyDataStream::new(body.map_err(|problem| Unfetched(format!("it broke off: {problem}"))));
        Ok(Coming { at, whole, etag, body: body.boxed() })
    }
}

fn number(headers: &HeaderMap, name: HeaderName) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}

/// `bytes 5-9/10`, or `bytes */10`.
#[derive(Default)]
struct ContentRange {
    first: Option<u64>,
    whole: Option<u64>,
}

impl ContentRange {
    fn of(headers: &HeaderMap) -> ContentRange {
        let text = headers.get(header::CONTENT_RANGE).and_then(|value| value.to_str().ok());
        let parts = text.and_then(|text| text.trim().strip_prefix("bytes ")).and_then(|text| text.split_once('/'));
        let Some((part, whole)) = parts else { return ContentRange::default() };
        ContentRange { first: part.split_once('-').and_then(|(first, _)| first.parse().ok()), whole: whole.parse().ok() }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn coming(status: u16, headers: &[(&str, &str)], at: u64) -> Result<(u64, Option<u64>, Option<String>), String> {
        let mut response = Response::builder().status(status);
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        let rest = Rest { at, etag: None };
        let coming = Coming::of(response.body(Body::empty()).unwrap(), &rest).map_err(|problem| problem.0)?;
        Ok((coming.at, coming.whole, coming.etag))
    }

    #[test]
    fn an_answer_says_where_it_begins_and_how_long_the_file_is() {
        let (weak, strong) = (("etag", "W/\"1\""), ("etag", "\"1\""));
        assert_eq!(coming(200, &[("content-length", "9"), strong], 0), Ok((0, Some(9), Some("\"1\"".to_owned()))));
        assert_eq!(coming(200, &[weak], 5), Ok((0, None, None)), "one that sends no parts begins again");
        assert_eq!(coming(206, &[("content-range", "bytes 5-8/9")], 5), Ok((5, Some(9), None)));
        assert_eq!(coming(206, &[("content-range", "bytes 5-8/*")], 5), Ok((5, None, None)));
        assert_eq!(coming(416, &[("content-range", "bytes */3")], 5), Ok((5, Some(3), None)));
        for (status, headers) in [(206, &[("content-range", "bytes 4-8/9")][..]), (206, &[]), (416, &[]), (302, &[]), (404, &[])] {
            assert!(coming(status, headers, 5).is_err(), "{status} {headers:?}");
        }
    }

    #[test]
    fn a_rest_is_asked_for_by_its_beginning_and_its_tag() {
        let asked = |rest: &Rest| rest.headers().into_iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>();
        assert_eq!(asked(&Rest::default()), ["accept-encoding: identity"]);
        let rest = Rest { at: 7, etag: Some("\"1\"".to_owned()) };
        assert_eq!(asked(&rest), ["accept-encoding: identity", "range: bytes=7-", "if-range: \"1\""]);
    }
}
