//! The way to a BMC: an HTTP service, over TCP or inside this process.
//!
//! It turns a request into a whole answer or a [`TransportError`]. It knows nothing of Redfish.

use std::error::Error as StdError;
use std::{fmt, io};

use bytes::{Buf, Bytes};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Body;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use model::Span;
use tokio::time::{Instant, timeout_at};
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceExt};

/// How long a BMC may take to accept a connection.
///
/// A management network is local; one that needs more than five seconds for a handshake is down.
pub const CONNECT_TIMEOUT: Span = Span::seconds(5);

/// How long a BMC may take to answer one request, connecting included.
///
/// Slow service processors assemble a System document in up to ten seconds.
pub const ANSWER_TIMEOUT: Span = Span::seconds(15);

/// The longest answer that is read.
///
/// A System document has some tens of kilobytes, an expanded inventory some hundreds. Beyond this the peer is not
/// a BMC, or it is broken, and thousands of them must not fill our memory.
pub const MAX_ANSWER_BYTES: usize = 2 * 1024 * 1024;

/// Idle connections kept per BMC. Service processors allow few connections, and we send one request at a time.
const MAX_IDLE_CONNECTIONS: usize = 1;

/// How long an idle connection is kept: longer than the pause between looks at a busy machine (2 s), shorter than
/// that at an idle one (60 s), so that thousands of idle BMCs hold no sockets.
const IDLE_CONNECTION_AGE: Span = Span::seconds(10);

/// An HTTP service that reaches BMCs. Cheap to clone; one serves any number of BMCs.
#[derive(Clone)]
pub struct Transport {
    service: BoxCloneSyncService<Request<Full<Bytes>>, Answer, TransportError>,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    #[error("no connection")]
    Connect(#[source] BoxError),
    #[error("connection lost")]
    Lost(#[source] BoxError),
    #[error("no answer in time")]
    Silent,
    #[error("the answer is longer than {MAX_ANSWER_BYTES} bytes")]
    TooLong,
}

impl Transport {
    /// Plain HTTP over TCP.
    pub fn tcp() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT_TIMEOUT.to_std()));
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
            .pool_idle_timeout(IDLE_CONNECTION_AGE.to_std())
            .build(connector);
        Transport::in_process(client)
    }

    /// Any HTTP service in this process. An `axum::Router` fits as
    /// `router.map_request(|request: Request<Full<Bytes>>| request.map(axum::body::Body::new))`.
    ///
    /// A service that wants to seem unreachable fails with an [`io::Error`] of kind `ConnectionRefused`.
    pub fn in_process<S, B>(service: S) -> Self
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let service = service.map_err(|error| TransportError::from_service(error.into())).and_then(read_answer::<B>);
        Transport { service: BoxCloneSyncService::new(service) }
    }

    /// Sends one request and reads the whole answer, all before `deadline`.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>, deadline: Instant) -> Result<Answer, TransportError> {
        let deadline = deadline.min(Instant::now() + ANSWER_TIMEOUT.to_std());
        timeout_at(deadline, self.service.clone().oneshot(request)).await.unwrap_or(Err(TransportError::Silent))
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").finish_non_exhaustive()
    }
}

async fn read_answer<B>(response: Response<B>) -> Result<Answer, TransportError>
where
    B: Body + Send + 'static,
    B::Data: Buf + Send,
    B::Error: Into<BoxError>,
{
    let (head, body) = response.into_parts();
    match Limited::new(body, MAX_ANSWER_BYTES).collect().await {
        Ok(body) => Ok(Answer { status: head.status, headers: head.headers, body: body.to_bytes() }),
        Err(error) if error.is::<LengthLimitError>() => Err(TransportError::TooLong),
        Err(error) => Err(TransportError::Lost(error)),
    }
}

impl TransportError {
    fn from_service(error: BoxError) -> Self {
        if is_unsent(error.as_ref()) { TransportError::Connect(error) } else { TransportError::Lost(error) }
    }

    /// The root of the trouble in a few words: `connection refused`.
    pub(crate) fn cause(&self) -> String {
        let mut innermost: &(dyn StdError + 'static) = self;
        while let Some(source) = innermost.source() {
            innermost = source;
        }
        match innermost.downcast_ref::<io::Error>().map(io::Error::kind) {
            // An error of no kind, such as that of a name lookup, says more in its own words.
            None | Some(io::ErrorKind::Other) => innermost.to_string(),
            Some(kind) if kind.to_string().starts_with("uncategorized") => innermost.to_string(),
            Some(kind) => kind.to_string(),
        }
    }
}

/// Whether the request surely never left: there was no connection to send it on.
fn is_unsent(error: &(dyn StdError + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.downcast_ref::<ClientError>().is_some_and(ClientError::is_connect) {
            return true;
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            use io::ErrorKind::{AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkDown, NetworkUnreachable};
            if matches!(error.kind(), ConnectionRefused | HostUnreachable | NetworkUnreachable | NetworkDown | AddrNotAvailable) {
                return true;
            }
        }
        next = error.source();
    }
    false
}
