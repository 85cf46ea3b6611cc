//! One HTTP request: who sent it, what it asks, and the ids that go back with the answer.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::OnceLock;

use access::{Permission, Scope};
use axum::body::{Body, HttpBody};
use axum::extract::Request as HttpRequest;
use axum::response::Response;
use gate::Caller;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, header};
use http_body_util::{BodyExt, Limited};
use model::{CorrelationId, Sent, Span};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::audit::Grounds;
use crate::codes::Code;
use crate::cross_origin;
use crate::entry::Sight;
use crate::hygiene::{self, Transport};
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

/// The name of the header that a client correlates its requests by.
const CORRELATION_HEADER: &str = "x-ms-correlation-request-id";

/// The name of the header that a client tells its own requests apart by.
const REQUEST_ID_HEADER: &str = "x-ms-client-request-id";

/// Longest correlation id and client request id, in characters.
pub const IDENTITY_MAX: usize = 128;

#[derive(Debug)]
pub(crate) struct Call {
    pub method: Method,
    /// As it was sent, with its escapes.
    pub path: String,
    query: Vec<(String, String)>,
    address: Address,
    headers: HeaderMap,
    request_id: String,
    pub correlation_id: CorrelationId,
    /// Where it comes from, if it came over a socket.
    peer: Option<Peer>,
    /// Who sent it, once that is known.
    sight: OnceLock<Sight>,
    /// Why it was denied, if it was, for the log.
    grounds: OnceLock<Grounds>,
    /// What it was let in for.
    wanted: OnceLock<(Permission, Scope)>,
}

/// The address that a connection comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub IpAddr);

impl Peer {
    /// Where something comes from; from this process itself, if it did not come over a socket.
    pub fn address(peer: Option<Peer>) -> IpAddr {
        peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |Peer(address)| address)
    }
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
        let (Parts { method, uri, headers, extensions, .. }, body) = request.into_parts();
        let correlation_id = correlation_of(&headers);
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
            request_id: Uuid::new_v4().to_string(),
            correlation_id,
            headers,
            peer: extensions.get::<Peer>().copied(),
            sight: OnceLock::new(),
            grounds: OnceLock::new(),
            wanted: OnceLock::new(),
        };
        (call, body)
    }

    /// Refuses what a web page sent.
    pub fn check_sender(&self) -> Result<(), Refused> {
        cross_origin::check(&self.headers)
    }

    /// Refuses a path and query that cannot be understood.
    pub fn check_address(&self) -> Result<(), Refused> {
        if self.headers.get_all(header::HOST).iter().count() != 1 {
            return Err(Refused::bad_content("the request must say which host it is for, once"));
        }
        match self.address {
            Address::Fine => Ok(()),
            Address::TooLong => {
                Err(Refused::new(Code::RequestUriTooLong, format!("path and query are longer than {URI_MAX} bytes together")))
            }
            Address::QueryIsNoText => Err(Refused::bad_content("the query has a control character or is not UTF-8")),
        }
    }

    /// Refuses an id that cannot be kept as it is: cut or left out, it would be another.
    pub fn check_identity(&self) -> Result<(), Refused> {
        let text = |name: &str| self.headers.get(name).map(|line| std::str::from_utf8(line.as_bytes()));
        for name in [CORRELATION_HEADER, REQUEST_ID_HEADER] {
            let problem = match text(name) {
                Some(Err(_)) => "is not UTF-8".to_owned(),
                Some(Ok(text)) if text.trim().chars().count() > IDENTITY_MAX => format!("is longer than {IDENTITY_MAX} characters"),
                // Ids go back in headers, which are ASCII.
                Some(Ok(text)) if text.bytes().any(|byte| !(0x20..0x7f).contains(&byte)) => {
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

    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    pub fn peer(&self) -> IpAddr {
        Peer::address(self.peer)
    }

    /// Says who sent it.
    pub fn enter(&self, sight: Sight) {
        let _ = self.sight.set(sight);
    }

    /// Says what it was let in for.
    pub fn want(&self, permission: Permission, scope: Scope) {
        let _ = self.wanted.set((permission, scope));
    }

    /// What it was let in for, and where, if its route needs that.
    pub fn wanted(&self) -> Option<&(Permission, Scope)> {
        self.wanted.get()
    }

    /// What whoever sent it may see; nothing if nobody asked who it was.
    pub fn sight(&self) -> Result<&Sight, Refused> {
        self.sight.get().ok_or_else(Refused::internal)
    }

    /// Says why it is denied, for the log alone.
    pub fn deny(&self, grounds: Grounds) {
        let _ = self.grounds.set(grounds);
    }

    pub fn grounds(&self) -> Option<&Grounds> {
        self.grounds.get()
    }

    /// The caller as operations, holds and the log name them. What a person is called is their issuer's to say, so that they could be called
    /// like somebody else: the id, which nobody chooses, stands beside the name.
    pub fn caller(&self) -> String {
        let Some(sight) = self.sight.get() else { return self.name() };
        match sight.caller() {
            Caller { vouched_by: Some(_), principal, name, .. } => {
                let id = format!(" ({principal})");
                model::cleaned(name, IDENTITY_MAX - id.len()) + &id
            }
            _ => self.name(),
        }
    }

    /// The name alone, for where the id is told beside it.
    pub fn name(&self) -> String {
        self.sight.get().map_or_else(|| "anonymous".to_owned(), |sight| model::cleaned(&sight.caller().name, IDENTITY_MAX))
    }

    /// The caller as what they make says who made it.
    pub fn author(&self) -> Result<Caller, Refused> {
        Ok(Caller { name: self.caller(), ..self.sight()?.caller().clone() })
    }

    /// The id a client gives its own request, so that sending it twice is asking once.
    pub fn client_request_id(&self) -> Option<String> {
        header_text(&self.headers, REQUEST_ID_HEADER)
    }

    /// What is kept of it in the activity log.
    pub fn sent(&self) -> Sent {
        Sent { method: self.method.as_str().to_owned(), client_request_id: self.client_request_id() }
    }

    /// Scheme and authority for absolute links, as the client addressed us. Azure's clients send tokens over https alone.
    pub fn origin(&self) -> String {
        let host = header_text(&self.headers, "host").unwrap_or_else(|| "localhost".to_owned());
        format!("https://{host}")
    }

    /// The lines of a header, in the order they came. One that is not text cannot be one of ours.
    pub fn header_lines(&self, name: &str) -> impl Iterator<Item = Option<&str>> {
        self.headers.get_all(name).iter().map(|line| line.to_str().ok())
    }

    /// The body, which may have a secret in it, and is wiped when it was read. Whoever was let in is judged again by `entry::read_body`.
    pub async fn read_body(&self, body: Body, stopping: &CancellationToken) -> Result<Zeroizing<Vec<u8>>, Refused> {
        let bytes = self.read(body, stopping).await?;
        if !bytes.is_empty() {
            media_type::check(&self.headers, &bytes)?;
        }
        Ok(bytes)
    }

    /// The same of a form, as OAuth has it.
    pub async fn read_form(&self, body: Body, stopping: &CancellationToken) -> Result<Zeroizing<Vec<u8>>, Refused> {
        media_type::check_form(&self.headers)?;
        self.read(body, stopping).await
    }

    async fn read(&self, body: Body, stopping: &CancellationToken) -> Result<Zeroizing<Vec<u8>>, Refused> {
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
            Ok(Ok(collected)) => Ok(Zeroizing::new(Vec::from(collected.to_bytes()))),
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
        self.sign(response.headers_mut(), Transport::Tls);
        response
    }

    /// The same for whoever came without TLS.
    pub fn finish_in_the_clear(&self, mut response: Response) -> Response {
        self.sign(response.headers_mut(), Transport::Clear);
        response
    }

    /// The headers that every answer has.
    fn sign(&self, headers: &mut HeaderMap, transport: Transport) {
        hygiene::protect(headers, transport);
        hygiene::identify(headers, &self.request_id, self.correlation_id.as_str());
        let wants_its_own = self.header(hygiene::RETURN_CLIENT_ID).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        if let Some(id) = self.client_request_id().filter(|_| wants_its_own).and_then(|id| HeaderValue::from_str(&id).ok()) {
            headers.insert(hygiene::CLIENT_ID, id);
        }
    }
}

/// The id that a client correlates its requests by, or one of ours.
pub(crate) fn correlation_of(headers: &HeaderMap) -> CorrelationId {
    CorrelationId::new(header_text(headers, CORRELATION_HEADER).unwrap_or_else(|| Uuid::new_v4().to_string()))
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
