//! The way to a BMC: an HTTP service, over TCP, over TLS, or inside this process.
//!
//! It turns a request into a whole answer, the beginning of a stream, or a [`TransportError`]. It knows nothing of
//! Redfish.

use std::error::Error as StdError;
use std::{fmt, io};

use bytes::{Buf, Bytes};
use http::{HeaderMap, Request, Response, StatusCode, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Body;
use hyper::rt::{Read, Write};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use model::Span;
use tokio::time::{Instant, timeout_at};
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceExt};

use crate::stream;
use crate::trust::{self, Trust, TrustError};

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

/// How long an idle connection is kept: longer than the pause between looks at a busy machine (2 s), and much shorter than
/// that at an idle one (60 s), so that thousands of idle BMCs hold no sockets. Each takes 26 KiB until it is closed, which is
/// after up to twice this long.
const IDLE_CONNECTION_AGE: Span = Span::seconds(3);

/// When a silent connection is probed by the kernel: an event stream from a BMC that lost power would otherwise stay
/// open for ever, since nothing is ever sent on it.
const TCP_KEEPALIVE: Span = Span::seconds(30);

/// An HTTP service that reaches BMCs. Cheap to clone; one serves any number of BMCs.
#[derive(Clone)]
pub struct Transport {
    service: BoxCloneSyncService<(Request<Full<Bytes>>, Reading), Answer, TransportError>,
}

/// Content that is still arriving.
pub(crate) type Content = UnsyncBoxBody<Bytes, TransportError>;

/// How much of an answer is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Whole,
    /// The same, and no connection is kept for another request.
    Once,
    /// If it succeeds, the content is left to be read as it comes; a refusal is read whole.
    Stream,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Empty if the content is a stream.
    pub body: Bytes,
    pub stream: Option<Content>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    #[error("no connection")]
    Connect(#[source] BoxError),
    /// Nothing was sent: the BMC is not the one we mean, as far as its certificate tells.
    #[error("the certificate is not trusted")]
    Untrusted(rustls::CertificateError),
    #[error("connection lost")]
    Lost(#[source] BoxError),
    #[error("no answer in time")]
    Silent,
    #[error("the answer is longer than {MAX_ANSWER_BYTES} bytes")]
    TooLong,
}

impl Transport {
    /// Plain HTTP over TCP. An `https` address is not reachable this way.
    pub fn tcp() -> Self {
        Transport::over(connector())
    }

    /// HTTP over TLS. A plain `http` address is not reachable this way, so that a mistyped scheme shows no password.
    ///
    /// Nothing is sent before the certificate is trusted.
    pub fn tls(trust: &Trust) -> Result<Self, TrustError> {
        let mut tcp = connector();
        tcp.enforce_http(false);
        let tls = HttpsConnectorBuilder::new().with_tls_config(trust.client_config()?).https_only().enable_http1();
        Ok(Transport::over(tls.wrap_connector(tcp)))
    }

    /// What is asked once has a connection of its own, and so has a stream, which never gives it back: `stream` keeps much less for
    /// one than the library does.
    fn over<C, I>(connector: C) -> Self
    where
        C: Service<Uri, Response = I> + Clone + Send + Sync + 'static,
        C::Error: Into<BoxError>,
        C::Future: Unpin + Send + 'static,
        I: Read + Write + Connection + Unpin + Send + 'static,
    {
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
            .pool_idle_timeout(IDLE_CONNECTION_AGE.to_std())
            .build(connector.clone());
        let service = tower::service_fn(move |(request, reading): (Request<Full<Bytes>>, Reading)| {
            let (client, connector) = (client.clone(), connector.clone());
            async move {
                match reading {
                    Reading::Whole => exchange(client, request, reading).await,
                    Reading::Once | Reading::Stream => exchange_once(connector, &request, reading).await,
                }
            }
        });
        Transport { service: BoxCloneSyncService::new(service) }
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
        let service = tower::service_fn(move |(request, reading)| exchange(service.clone(), request, reading));
        Transport { service: BoxCloneSyncService::new(service) }
    }

    /// Sends one request and reads the answer, all before `deadline`; a stream may go on after it.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>, reading: Reading, deadline: Instant) -> Result<Answer, TransportError> {
        let deadline = deadline.min(Instant::now() + ANSWER_TIMEOUT.to_std());
        timeout_at(deadline, self.service.clone().oneshot((request, reading))).await.unwrap_or(Err(TransportError::Silent))
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").finish_non_exhaustive()
    }
}

async fn exchange<S, B>(service: S, request: Request<Full<Bytes>>, reading: Reading) -> Result<Answer, TransportError>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let response = service.oneshot(request).await.map_err(|error| TransportError::from_service(error.into()))?;
    read_answer(response.map(unify), reading).await
}

/// For requests without content, which leave the machine as it is.
async fn exchange_once<C, I>(connector: C, request: &Request<Full<Bytes>>, reading: Reading) -> Result<Answer, TransportError>
where
    C: Service<Uri, Response = I>,
    C::Error: Into<BoxError>,
    I: Read + Write + Unpin + Send + 'static,
{
    let connected = connector.oneshot(request.uri().clone()).await;
    let connected = connected.map_err(|error| TransportError::from_connector(error.into()))?;
    let response = stream::open(TokioIo::new(connected), request).await.map_err(|error| TransportError::Lost(error.into()))?;
    read_answer(response.map(unify), reading).await
}

/// One type for the content of every service. The bytes of a socket are not copied by this.
fn unify<B>(body: B) -> Content
where
    B: Body + Send + 'static,
    B::Data: Buf + Send,
    B::Error: Into<BoxError>,
{
    let body = body.map_frame(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())));
    body.map_err(|error| TransportError::Lost(error.into())).boxed_unsync()
}

async fn read_answer(response: Response<Content>, reading: Reading) -> Result<Answer, TransportError> {
    let (head, body) = response.into_parts();
    let (body, stream) = match reading {
        Reading::Stream if head.status.is_success() => (Bytes::new(), Some(body)),
        Reading::Whole | Reading::Once | Reading::Stream => (read_whole(body).await?, None),
    };
    Ok(Answer { status: head.status, headers: head.headers, body, stream })
}

async fn read_whole(body: Content) -> Result<Bytes, TransportError> {
    match Limited::new(body, MAX_ANSWER_BYTES).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(TransportError::TooLong),
        Err(error) => Err(error.downcast().map_or_else(TransportError::Lost, |error| *error)),
    }
}

fn connector() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_connect_timeout(Some(CONNECT_TIMEOUT.to_std()));
    connector.set_nodelay(true);
    connector.set_keepalive(Some(TCP_KEEPALIVE.to_std()));
    connector
}

impl TransportError {
    fn from_service(error: BoxError) -> Self {
        if let Some(rustls::Error::InvalidCertificate(wrong)) = causes(error.as_ref()).find_map(|cause| cause.downcast_ref()) {
            return TransportError::Untrusted(wrong.clone());
        }
        if is_unsent(error.as_ref()) { TransportError::Connect(error) } else { TransportError::Lost(error) }
    }

    fn from_connector(error: BoxError) -> Self {
        match TransportError::from_service(error) {
            TransportError::Lost(error) => TransportError::Connect(error),
            other => other,
        }
    }

    /// The root of the trouble in a few words: `connection refused`.
    pub(crate) fn cause(&self) -> String {
        if let TransportError::Untrusted(wrong) = self {
            return trust::describe(wrong);
        }
        let Some(innermost) = causes(self).last() else { return self.to_string() };
        match innermost.downcast_ref::<io::Error>().map(io::Error::kind) {
            // An error of no kind, such as that of a name lookup, says more in its own words.
            None | Some(io::ErrorKind::Other) => innermost.to_string(),
            Some(kind) if kind.to_string().starts_with("uncategorized") => innermost.to_string(),
            Some(kind) => kind.to_string(),
        }
    }
}

/// An error and all that led to it. An [`io::Error`] does not count what it wraps among its sources, so it is opened.
fn causes<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error| {
        let error: &'a (dyn StdError + 'static) = *error;
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        }
    })
}

/// Whether the request surely never left: there was no connection to send it on.
fn is_unsent(error: &(dyn StdError + 'static)) -> bool {
    use io::ErrorKind::{AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkDown, NetworkUnreachable};
    causes(error).any(|cause| {
        let refused = cause.downcast_ref::<io::Error>().is_some_and(|error| {
            matches!(error.kind(), ConnectionRefused | HostUnreachable | NetworkUnreachable | NetworkDown | AddrNotAvailable)
        });
        refused || cause.downcast_ref::<ClientError>().is_some_and(ClientError::is_connect)
    })
}
