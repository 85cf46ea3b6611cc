//! HTTP as the agent needs it: one request, one connection, and bodies that are read as they come. Everything waits for its
//! answer here, since an agent does one thing after another.

use std::error::Error;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap};
use http::{Method, Request, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::clock::Clock;

/// How long one request may take at its slowest points.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    pub connect: Duration,
    /// From the request to the head of the answer. The control plane thinks for five seconds at most.
    pub answer: Duration,
    /// Without a byte of the body.
    pub stall: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts { connect: Duration::from_secs(10), answer: Duration::from_secs(30), stall: Duration::from_secs(30) }
    }
}

/// Sends requests. Servers that speak https are known by the configured authority, and by nobody else's.
#[derive(Debug)]
pub struct Client {
    runtime: Arc<Runtime>,
    tls: Option<Arc<ClientConfig>>,
    timeouts: Timeouts,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    pub method: Method,
    pub url: String,
    pub bearer: Option<String>,
    pub headers: Vec<(&'static str, String)>,
    /// The body and its type.
    pub body: Option<(&'static str, Vec<u8>)>,
}

impl Question {
    pub fn get(url: &str, bearer: Option<&str>) -> Question {
        Question { method: Method::GET, url: url.to_owned(), bearer: bearer.map(str::to_owned), headers: Vec::new(), body: None }
    }

    pub fn post(url: &str, bearer: &str, kind: &'static str, body: Vec<u8>) -> Question {
        Question { method: Method::POST, body: Some((kind, body)), ..Question::get(url, Some(bearer)) }
    }
}

/// The head of an answer, and its body to be read.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Body,
}

impl Client {
    /// `ca` is the authority's certificates as PEM.
    pub fn new(ca: Option<&str>, clock: Arc<Clock>, timeouts: Timeouts) -> io::Result<Client> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let tls = ca.map(|ca| tls_by(ca, clock)).transpose()?;
        Ok(Client { runtime: Arc::new(runtime), tls: tls.map(Arc::new), timeouts })
    }

    pub fn send(&self, question: Question) -> io::Result<Answer> {
        self.runtime.block_on(async {
            let uri: Uri = question.url.parse().map_err(invalid)?;
            let stream = within(self.timeouts.connect, "connecting", connect(&uri)).await?;
            within(self.timeouts.answer, "an answer", async {
                let response = match self.tls_for(&uri)? {
                    None => exchange(TokioIo::new(stream), &uri, question).await?,
                    Some((tls, name)) => exchange(TokioIo::new(tls.connect(name, stream).await?), &uri, question).await?,
                };
                let (head, incoming) = response.into_parts();
                let body = Body { runtime: self.runtime.clone(), incoming, rest: Bytes::new(), stall: self.timeouts.stall };
                Ok(Answer { status: head.status.as_u16(), headers: head.headers, body })
            })
            .await
        })
    }

    fn tls_for(&self, uri: &Uri) -> io::Result<Option<(TlsConnector, ServerName<'static>)>> {
        if uri.scheme_str() != Some("https") {
            return Ok(None);
        }
        let config = self.tls.clone().ok_or_else(|| invalid("there is no certificate to know an https server by"))?;
        let name = ServerName::try_from(host(uri)?.to_owned()).map_err(invalid)?;
        Ok(Some((TlsConnector::from(config), name)))
    }
}

fn tls_by(ca: &str, clock: Arc<Clock>) -> io::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(ca.as_bytes()) {
        roots.add(certificate.map_err(invalid)?).map_err(invalid)?;
    }
    if roots.is_empty() {
        return Err(invalid("the configured authority has no certificate in it"));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_details(provider, clock).with_safe_default_protocol_versions().map_err(invalid)?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn host(uri: &Uri) -> io::Result<&str> {
    let host = uri.host().ok_or_else(|| invalid("a URL names no host"))?;
    Ok(host.trim_start_matches('[').trim_end_matches(']'))
}

async fn connect(uri: &Uri) -> io::Result<TcpStream> {
    let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    let stream = TcpStream::connect((host(uri)?, uri.port_u16().unwrap_or(usual))).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn exchange<S>(stream: TokioIo<S>, uri: &Uri, question: Question) -> io::Result<http::Response<Incoming>>
where
    TokioIo<S>: hyper::rt::Read + hyper::rt::Write + Send + Unpin + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.map_err(broken)?;
    // It ends with the body, or with the runtime.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    let authority = uri.authority().map_or_else(String::new, ToString::to_string);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request = Request::builder().method(question.method).uri(path).header(HOST, authority);
    if let Some(bearer) = &question.bearer {
        request = request.header(AUTHORIZATION, format!("Bearer {bearer}"));
    }
    for (name, value) in &question.headers {
        request = request.header(*name, value);
    }
    let (kind, body) = question.body.map_or((None, Vec::new()), |(kind, body)| (Some(kind), body));
    if let Some(kind) = kind {
        request = request.header(CONTENT_TYPE, kind);
    }
    let request = request.body(Full::new(Bytes::from(body))).map_err(invalid)?;
    sender.send_request(request).await.map_err(broken)
}

/// The body of an answer. One that ends before its announced end is an error.
#[derive(Debug)]
pub struct Body {
    runtime: Arc<Runtime>,
    incoming: Incoming,
    rest: Bytes,
    stall: Duration,
}

impl Body {
    /// All of it as text, to a limit.
    pub fn text(self, limit: u64) -> io::Result<String> {
        let mut bytes = Vec::new();
        self.take(limit).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            let next = async { Ok(self.incoming.frame().await) };
            match self.runtime.block_on(within(self.stall, "more of an answer", next))? {
                None => return Ok(0),
                Some(frame) => self.rest = frame.map_err(broken)?.into_data().unwrap_or_default(),
            }
        }
        let length = buffer.len().min(self.rest.len());
        self.rest.copy_to_slice(&mut buffer[..length]);
        Ok(length)
    }
}

async fn within<T>(limit: Duration, what: &str, of: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let late = |_| io::Error::new(io::ErrorKind::TimedOut, format!("waited {} s for {what}", limit.as_secs()));
    timeout(limit, of).await.map_err(late)?
}

fn invalid(why: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Hyper says little itself; what it stands for is in its source.
#[derive(Debug, thiserror::Error)]
#[error("{error}{}", error.source().map_or_else(String::new, |source| format!(": {source}")))]
struct Broken {
    error: hyper::Error,
}

fn broken(error: hyper::Error) -> io::Error {
    io::Error::other(Broken { error })
}
