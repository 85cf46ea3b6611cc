//! Who is served what, by how they begin: in the clear, or with TLS.
//!
//! One listener takes both, so that a firewall has one port to let through. What is sent first tells them apart: no request begins with
//! the byte that a TLS handshake begins with.

use axum::Router;
use model::Span;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::{HEADERS_TIMEOUT, converse};
use crate::call::Peer;

/// How long a client may take for its part of the handshake.
pub const HANDSHAKE_TIMEOUT: Span = Span::seconds(10);

/// The first byte of a TLS connection: a record with a handshake in it.
const HANDSHAKE: u8 = 0x16;

#[derive(Clone)]
pub enum Welcome {
    /// Everything, and nothing but HTTP in the clear.
    Plain(Router),
    /// With TLS, everything; in the clear, what those get who cannot know our certificate, or who should.
    Either { tls: TlsAcceptor, inside: Router, outside: Router },
}

impl From<Router> for Welcome {
    fn from(router: Router) -> Welcome {
        Welcome::Plain(router)
    }
}

impl std::fmt::Debug for Welcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Welcome::Plain(_) => "Plain",
            Welcome::Either { .. } => "Either",
        })
    }
}

impl Welcome {
    /// Serves one connection to its end.
    pub(super) async fn receive(self, stream: TcpStream, peer: Peer, shutdown: CancellationToken) {
        match self {
            Welcome::Plain(router) => converse(stream, peer, router, shutdown).await,
            Welcome::Either { tls, inside, outside } => match begins_with_tls(&stream).await {
                Some(true) => {
                    if let Some(stream) = shake_hands(&tls, stream).await {
                        converse(stream, peer, inside, shutdown).await;
                    }
                }
                Some(false) => converse(stream, peer, outside, shutdown).await,
                None => {}
            },
        }
    }
}

/// What the first byte says; nothing if none comes.
async fn begins_with_tls(stream: &TcpStream) -> Option<bool> {
    let mut first = [0];
    let peeked = tokio::time::timeout(HEADERS_TIMEOUT.to_std(), stream.peek(&mut first)).await;
    matches!(peeked, Ok(Ok(1))).then_some(first == [HANDSHAKE])
}

async fn shake_hands(tls: &TlsAcceptor, stream: TcpStream) -> Option<tokio_rustls::server::TlsStream<TcpStream>> {
    match tokio::time::timeout(HANDSHAKE_TIMEOUT.to_std(), tls.accept(stream)).await {
        Ok(Ok(stream)) => Some(stream),
        Ok(Err(problem)) => {
            debug!(error = %problem, "a handshake failed");
            None
        }
        Err(_) => None,
    }
}
