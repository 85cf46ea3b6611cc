//! How simulated machines reach others: over sockets, or inside this process on virtual time.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderValue, Request, Uri, header};
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceExt};

/// How long a connection may take to be accepted.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a connection is kept for the next request: less than any server keeps one. Whoever sends on one that is just being closed hears
/// nothing, and firmware does not try again.
const KEPT_FOR: Duration = Duration::from_secs(1);

/// The authority that the sender of a request trusts, as PEM; among the request's extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedCa(pub String);

/// A network that machines are plugged into. A request has an absolute URL; an error says that nobody answered.
pub trait Net: fmt::Debug + Send + Sync + 'static {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, io::Result<Response>>;
}

type SocketClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// The network of this computer. An `https` address is believed only with the authority that the request trusts.
#[derive(Clone, Debug, Default)]
pub struct SocketNet {
    /// By authority: one pool of connections for all who trust the same.
    clients: Arc<Mutex<BTreeMap<Option<String>, SocketClient>>>,
}

impl SocketNet {
    fn client(&self, ca: Option<String>) -> io::Result<SocketClient> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&ca) {
            return Ok(client.clone());
        }
        let client = client_that_trusts(ca.as_deref())?;
        clients.insert(ca, client.clone());
        Ok(client)
    }
}

fn client_that_trusts(ca: Option<&str>) -> io::Result<SocketClient> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(ca.unwrap_or_default().as_bytes()) {
        roots.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(io::Error::other)?;
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
    tcp.set_nodelay(true);
    let connector = HttpsConnectorBuilder::new().with_tls_config(config).https_or_http().enable_http1().wrap_connector(tcp);
    Ok(Client::builder(TokioExecutor::new()).pool_idle_timeout(KEPT_FOR).build(connector))
}

impl Net for SocketNet {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, io::Result<Response>> {
        let ca = request.extensions().get::<TrustedCa>().map(|trusted| trusted.0.clone());
        let client = self.client(ca);
        Box::pin(async move {
            let response = client?.request(request.map(Full::new)).await.map_err(io::Error::other)?;
            Ok(response.map(Body::new))
        })
    }
}

type Line = BoxCloneSyncService<Request<Body>, Response, io::Error>;

/// A network inside this process: which service answers at which authority. At any other nobody does.
#[derive(Clone, Default)]
pub struct Switchboard {
    lines: Arc<Mutex<BTreeMap<String, Line>>>,
}

impl Switchboard {
    /// Lets a service answer at an authority such as `control:8080`.
    pub fn connect<S>(&self, authority: impl Into<String>, service: S)
    where
        S: Service<Request<Body>, Response = Response> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send + 'static,
    {
        let line = Line::new(service.map_err(|error| io::Error::other(error.into())));
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).insert(authority.into(), line);
    }

    /// Lets nobody answer there any more.
    pub fn disconnect(&self, authority: &str) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).remove(authority);
    }
}

impl fmt::Debug for Switchboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_set().entries(lines.keys()).finish()
    }
}

impl Net for Switchboard {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, io::Result<Response>> {
        let authority = request.uri().authority().map(ToString::to_string).unwrap_or_default();
        let line = self.lines.lock().unwrap_or_else(PoisonError::into_inner).get(&authority).cloned();
        Box::pin(async move {
            let line = line.ok_or(io::ErrorKind::ConnectionRefused)?;
            line.oneshot(as_received(request.map(Body::from), &authority)?).await
        })
    }
}

/// The request as a server reads it: with a path for its address, and with whom it was sent to in a header.
fn as_received(mut request: Request<Body>, authority: &str) -> io::Result<Request<Body>> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse::<Uri>().map_err(io::Error::other)?;
    let host = HeaderValue::from_str(authority).map_err(io::Error::other)?;
    request.headers_mut().entry(header::HOST).or_insert(host);
    Ok(request)
}
