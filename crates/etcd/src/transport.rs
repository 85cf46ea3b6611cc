//! The way to a member of etcd: an HTTP service, over TCP, over TLS, or inside this process.
//!
//! It turns a request into a whole answer or a [`TransportError`]. It knows nothing of etcd.

use std::error::Error as StdError;
use std::{fmt, io};

use bytes::{Buf, Bytes};
use http::{Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Body;
use hyper::rt::{Read, Write};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use model::Span;
use tokio::time::{Instant, timeout_at};
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceExt};

use crate::trust::{self, Tls, TlsError};

/// How long a member may take to accept a connection. There are others to be asked, and one that is off accepts none.
pub const CONNECT_TIMEOUT: Span = Span::seconds(2);

/// How long a member may take to answer, connecting included.
///
/// One that cannot reach the others says so after seven seconds, with etcd's usual timings: its own five, and two elections.
pub const ANSWER_TIMEOUT: Span = Span::seconds(9);

/// The longest answer that is read. A list of seven members has two kilobytes; beyond this the peer is not etcd.
pub const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// How long an idle connection is kept: over the pauses between the looks at a member that catches up.
const IDLE_CONNECTION_AGE: Span = Span::seconds(15);

/// An HTTP service that reaches the members of an etcd cluster. Cheap to clone.
#[derive(Clone)]
pub struct Transport {
    service: BoxCloneSyncService<Request<Full<Bytes>>, Answer, TransportError>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub status: StatusCode,
    pub body: Bytes,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    #[error("no connection")]
    Connect(#[source] BoxError),
    /// Nothing was sent: the peer is not the one we mean, as far as its certificate tells.
    #[error("the certificate is not trusted")]
    Untrusted(rustls::CertificateError),
    /// The peer took none of our certificates for that of a client. Nothing was heard by etcd.
    #[error("our certificate is refused")]
    Refused(rustls::AlertDescription),
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

    /// HTTP over TLS, with a certificate of ours. A plain `http` address is not reachable this way.
    pub fn tls(tls: &Tls) -> Result<Self, TlsError> {
        let mut tcp = connector();
        tcp.enforce_http(false);
        let tls = HttpsConnectorBuilder::new().with_tls_config(tls.client_config()?).https_only().enable_http1();
        Ok(Transport::over(tls.wrap_connector(tcp)))
    }

    fn over<C, I>(connector: C) -> Self
    where
        C: Service<Uri, Response = I> + Clone + Send + Sync + 'static,
        C::Error: Into<BoxError>,
        C::Future: Unpin + Send + 'static,
        I: Read + Write + Connection + Unpin + Send + 'static,
    {
        // The client sends nothing again by itself: a change of membership that was lost on an old connection may have been heard.
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_max_idle_per_host(1)
            .pool_idle_timeout(IDLE_CONNECTION_AGE.to_std())
            .retry_canceled_requests(false)
            .build(connector);
        Transport::in_process(client)
    }

    /// Any HTTP service in this process.
    ///
    /// A service that wants to seem unreachable fails with an [`io::Error`] of kind `ConnectionRefused`.
    pub fn in_process<S, B>(service: S) -> Self
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: Body + Send + 'static,
        B::Data: Buf + Send,
        B::Error: Into<BoxError>,
    {
        let service = tower::service_fn(move |request| exchange(service.clone(), request));
        Transport { service: BoxCloneSyncService::new(service) }
    }

    /// Sends one request and reads the answer, all before `deadline`.
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

async fn exchange<S, B>(service: S, request: Request<Full<Bytes>>) -> Result<Answer, TransportError>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    B: Body,
    B::Error: Into<BoxError>,
{
    let response = service.oneshot(request).await.map_err(|error| TransportError::from_service(error.into()))?;
    let (head, body) = response.into_parts();
    match Limited::new(body, MAX_ANSWER_BYTES).collect().await {
        Ok(body) => Ok(Answer { status: head.status, body: body.to_bytes() }),
        Err(error) if error.is::<LengthLimitError>() => Err(TransportError::TooLong),
        Err(error) => Err(TransportError::Lost(error)),
    }
}

fn connector() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_connect_timeout(Some(CONNECT_TIMEOUT.to_std()));
    connector.set_nodelay(true);
    connector
}

impl TransportError {
    fn from_service(error: BoxError) -> Self {
        let tls = causes(error.as_ref()).find_map(|cause| cause.downcast_ref::<rustls::Error>().cloned());
        match tls {
            Some(rustls::Error::InvalidCertificate(wrong)) => TransportError::Untrusted(wrong),
            // With TLS 1.3 it comes after our side of the handshake; a server that refused it read nothing that came after.
            Some(rustls::Error::AlertReceived(alert)) if trust::is_about_our_certificate(alert) => TransportError::Refused(alert),
            _ if is_unsent(error.as_ref()) => TransportError::Connect(error),
            _ => TransportError::Lost(error),
        }
    }

    /// The root of the trouble in a few words: `connection refused`.
    pub(crate) fn cause(&self) -> String {
        match self {
            TransportError::Untrusted(wrong) => return trust::describe(wrong),
            TransportError::Refused(alert) => return format!("{alert:?}"),
            _ => {}
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
