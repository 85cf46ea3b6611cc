//! One HTTP request: who sent it, what it asks, and the ids that go back with the answer.

use axum::body::{Body, HttpBody};
use axum::extract::Request as HttpRequest;
use axum::response::Response;
use bytes::Bytes;
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method};
use http_body_util::{BodyExt, Limited};
use model::{CorrelationId, Sent, Span};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::codes::Code;
use crate::cross_origin;
use crate::media_type;
use crate::reply::{RETRY_AFTER, Refused, shortened};

/// Larger bodies are refused: the largest action body of the model is under a kilobyte.
pub const BODY_MAX: usize = 64 * 1024;

/// A client that has not sent its body by then is not waited for.
pub const BODY_TIMEOUT: Span = Span::seconds(10);

/// The same once the process was told to stop: long enough for what is on its way, and a stop is not held up.
const BODY_TIMEOUT_AT_STOP: Span = Span::seconds(2);

/// Longest path and query together. The longest that clients of ARM send are filters and page tokens of a few hundred bytes.
pub const URI_MAX: usize = 8 * 1024;

/// Who is asking. There is no authentication yet, and so the API listens on loopback only; this names the caller in
/// operations and holds.
pub const CALLER_HEADER: &str = "x-ms-client-principal-name";

/// The name of the header that a client correlates its requests by.
const CORRELATION_HEADER: &str = "x-ms-correlation-request-id";

/// The name of the header that a client tells its own requests apart by.
const REQUEST_ID_HEADER: &str = "x-ms-client-request-id";

/// Longest caller, correlation id and client request id, in characters.
pub const IDENTITY_MAX: usize = 128;

#[derive(Debug)]
pub(crate) struct Call {
    pub method: Method,
    /// As it was sent, with its escapes.
    pub path: String,
    query: Vec<(String, String)>,
    address: Address,
    /// The host in the request line, if it is there too.
    authority: Option<Authority>,
    headers: HeaderMap,
    request_id: String,
    pub correlation_id: CorrelationId,
}

/// Whether path and query can be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Address {
    Fine,
    TooLong,
    QueryIsNoText,
}

impl Call {
    pub fn begin(request: HttpRequest) -> (Call, Body) {
        let (Parts { method, uri, headers, .. }, body) = request.into_parts();
        let correlation_id = header_text(&headers, CORRELATION_HEADER).unwrap_or_else(|| Uuid::new_v4().to_string());
        let query = uri.query().unwrap_or_default();
        let (address, query) = match parse_query(query) {
            _ if uri.path().len() + query.len() > URI_MAX => (Address::TooLong, Vec::new()),
            Some(query) => (Address::Fine, query),
            None => (Address::QueryIsNoText, Vec::new()),
        };
        let call = Call {
            method,
            path: uri.path().to_owned(),
            query,
            address,
            authority: uri.authority().cloned(),
            request_id: Uuid::new_v4().to_string(),
            correlation_id: CorrelationId::new(correlation_id),
            headers,
        };
        (call, body)
    }

    /// Refuses what a web page sent.
    pub fn check_sender(&self) -> Result<(), Refused> {
        cross_origin::check(self.authority.as_ref(), &self.headers)
    }

    /// Refuses a path and query that cannot be understood.
    pub fn check_address(&self) -> Result<(), Refused> {
        match self.address {
            Address::Fine => Ok(()),
            Address::TooLong => {
                Err(Refused::new(Code::RequestUriTooLong, format!("path and query are longer than {URI_MAX} bytes together")))
            }
            Address::QueryIsNoText => Err(Refused::bad_content("the query has a control character or is not UTF-8")),
        }
    }

    /// Refuses a caller or an id that cannot be kept as it is: cut or left out, it would be another.
    pub fn check_identity(&self) -> Result<(), Refused> {
        let text = |name: &str| self.headers.get(name).map(|line| std::str::from_utf8(line.as_bytes()));
        for name in [CALLER_HEADER, CORRELATION_HEADER, REQUEST_ID_HEADER] {
            let problem = match text(name) {
                Some(Err(_)) => "is not UTF-8".to_owned(),
                Some(Ok(text)) if text.trim().chars().count() > IDENTITY_MAX => format!("is longer than {IDENTITY_MAX} characters"),
                // Ids go back in headers, which are ASCII. Names of people are not.
                Some(Ok(text)) if name != CALLER_HEADER && text.bytes().any(|byte| !(0x20..0x7f).contains(&byte)) => {
                    "has a character that is not printable ASCII".to_owned()
                }
                _ => continue,
            };
            return Err(Refused::bad_content(format!("the header `{name}` {problem}")).target(name));
        }
        Ok(())
    }

    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// A header's text, if it is short and printable.
    pub fn header(&self, name: &str) -> Option<String> {
        header_text(&self.headers, name)
    }

    /// A query parameter; names are matched without case, as Azure does.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, value)| key.eq_ignore_ascii_case(name) && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// The caller in one line of what can be seen. One that `check_identity` refuses is cut, and never somebody else.
    pub fn caller(&self) -> String {
        let sent = self.headers.get(CALLER_HEADER).map(|line| String::from_utf8_lossy(line.as_bytes()));
        let name = sent.map(|name| model::cleaned(&name, IDENTITY_MAX)).filter(|name| !name.is_empty());
        name.unwrap_or_else(|| "anonymous".to_owned())
    }

    /// The id a client gives its own request, so that sending it twice is asking once.
    pub fn client_request_id(&self) -> Option<String> {
        header_text(&self.headers, REQUEST_ID_HEADER)
    }

    /// What is kept of it in the activity log.
    pub fn sent(&self) -> Sent {
        Sent { method: self.method.as_str().to_owned(), client_request_id: self.client_request_id() }
    }

    /// Scheme and authority for absolute links, as the client addressed us.
    pub fn origin(&self) -> String {
        let host = header_text(&self.headers, "host").unwrap_or_else(|| "localhost".to_owned());
        format!("http://{host}")
    }

    /// The lines of a header, in the order they came. One that is not text cannot be one of ours.
    pub fn header_lines(&self, name: &str) -> impl Iterator<Item = Option<&str>> {
        self.headers.get_all(name).iter().map(|line| line.to_str().ok())
    }

    pub async fn read_body(&self, body: Body, stopping: &CancellationToken) -> Result<Bytes, Refused> {
        let in_time = tokio::time::timeout(BODY_TIMEOUT.to_std(), Limited::new(body, BODY_MAX).collect());
        let stopped = async {
            stopping.cancelled().await;
            tokio::time::sleep(BODY_TIMEOUT_AT_STOP.to_std()).await;
        };
        let read = tokio::select! {
            biased;
            read = in_time => read,
            () = stopped => {
                let message = format!("the server is stopping, and the body did not arrive within {BODY_TIMEOUT_AT_STOP} of that");
                return Err(Refused::new(Code::ServerStopping, message).retry_after(RETRY_AFTER));
            }
        };
        match read {
            Ok(Ok(collected)) => {
                let bytes = collected.to_bytes();
                if !bytes.is_empty() {
                    media_type::check(&self.headers)?;
                }
                Ok(bytes)
            }
            Ok(Err(problem)) if problem.is::<http_body_util::LengthLimitError>() => {
                let message = format!("the body is larger than {BODY_MAX} bytes");
                Err(Refused::new(Code::RequestBodyTooLarge, message))
            }
            Ok(Err(_)) => Err(Refused::bad_content("the body could not be read to its end")),
            Err(_) => {
                let message = format!("the body did not arrive within {BODY_TIMEOUT}");
                Err(Refused::new(Code::RequestTimeout, message))
            }
        }
    }

    /// The answer with the ids that it is asked about by. What failed on our side is in the log under the same id.
    pub fn finish(&self, mut response: Response) -> Response {
        let status = response.status();
        // A 503 of `/readyz` carries no error: it is the answer.
        if status.is_server_error()
            && let Some(code) = response.headers().get("x-ms-error-code").and_then(|code| code.to_str().ok())
        {
            let (method, path) = (self.method.as_str(), shortened(&self.path));
            let (request_id, correlation_id) = (self.request_id.as_str(), self.correlation_id.as_str());
            tracing::warn!(request_id, correlation_id, method, path, status = status.as_u16(), code, "a request could not be answered");
        }
        if self.method == Method::HEAD {
            let body = std::mem::take(response.body_mut());
            if let Some(length) = HttpBody::size_hint(&body).exact() {
                response.headers_mut().insert(http::header::CONTENT_LENGTH, HeaderValue::from(length));
            }
        }
        let headers = response.headers_mut();
        if let Ok(id) = HeaderValue::from_str(&self.request_id) {
            headers.insert("x-ms-request-id", id);
        }
        if let Ok(id) = HeaderValue::from_str(self.correlation_id.as_str()) {
            headers.insert("x-ms-correlation-request-id", id);
        }
        response
    }
}

/// A header's text, if it is short and printable enough to be kept and sent back.
fn header_text(headers: &HeaderMap, name: &str) -> Option<String> {
    let text = headers.get(name)?.to_str().ok()?.trim();
    let fine = !text.is_empty() && text.len() <= IDENTITY_MAX && text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    fine.then(|| text.to_owned())
}

/// The parameters of a query; none at all if one of them is not text.
fn parse_query(query: &str) -> Option<Vec<(String, String)>> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decode(key)?, decode(value)?))
        })
        .collect()
}

/// Broken escapes stay as they are: they then match nothing, and the answer says so.
fn decode(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    let decoded = percent_encoding::percent_decode_str(&spaced).decode_utf8().ok()?;
    (!decoded.chars().any(char::is_control)).then(|| decoded.into_owned())
}

#[cfg(test)]
mod tests;
