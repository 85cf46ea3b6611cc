//! The API on its socket: how many clients are served at once, and how long one may take.
//!
//! Every client gets an answer in the same form, also one that sends what is no HTTP, and none can keep a connection by
//! doing nothing: not sending, sending slowly, or not reading.

mod line;
mod own_words;
#[cfg(test)]
mod tests;
mod welcome;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use model::Span;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{debug, warn};

use crate::audit::Audit;
use crate::call::Peer;
use crate::codes::Code;
use crate::reply::{RETRY_AFTER, Refused};
use crate::submit::ANSWER_TIMEOUT;
use line::Line;
pub use line::READ_NOTHING_TIMEOUT;
use own_words::{in_full, no_http};
pub use welcome::{HANDSHAKE_TIMEOUT, Welcome};

/// Connections at once. More are told to come back: each takes a descriptor, of which the store and the BMCs need some too.
pub const MAX_CONNECTIONS: usize = 2_048;

/// How long a client may take for a request's line and headers, and how long it may keep a connection without a request.
///
/// Half a minute outlasts the polling of every Azure client, so that they keep their connection from one poll to the next.
pub const HEADERS_TIMEOUT: Span = Span::seconds(30);

/// The largest request line and headers together.
pub const HEADER_BYTES_MAX: usize = 32 * 1024;

/// The most headers of one request.
pub const HEADERS_MAX: usize = 100;

/// What a connection buffers of what comes and of what goes, each.
const BUFFER_MAX: usize = 64 * 1024;

/// How long, and for how many bytes, a client that was refused while it was still sending is listened to. A socket that is
/// closed before takes the answer away with it.
const FAREWELL_TIMEOUT: Duration = Duration::from_secs(1);
const FAREWELL_BYTES_MAX: u64 = 1024 * 1024;

/// Clients beyond the limit that are told so at the same time; further ones are hung up on.
const TURNED_AWAY_MAX: usize = 64;

/// The pause after accepting failed, such as for want of descriptors.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Serves until `shutdown`, and a moment longer those that are being answered.
pub async fn serve(listener: TcpListener, welcome: impl Into<Welcome>, max_connections: usize, shutdown: CancellationToken) {
    let welcome = welcome.into();
    let places = Arc::new(Semaphore::new(max_connections));
    let doorstep = Arc::new(Semaphore::new(TURNED_AWAY_MAX));
    let connections = TaskTracker::new();
    let audit = Audit::default();
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok((stream, from)) => (stream, Peer(from.ip())),
            Err(problem) => {
                warn!(error = %problem, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
                continue;
            }
        };
        // Answers are small, and waiting to fill a packet would only delay them. A socket that refuses still works.
        let _ = stream.set_nodelay(true);
        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            let (welcome, shutdown) = (welcome.clone(), shutdown.clone());
            connections.spawn(async move {
                welcome.receive(stream, peer, shutdown).await;
                drop(place);
            });
            continue;
        }
        audit.note("ConnectionLimit", "connection", peer.0, None);
        if let Ok(step) = Arc::clone(&doorstep).try_acquire_owned() {
            connections.spawn(async move {
                turn_away(Line::new(stream), max_connections).await;
                drop(step);
            });
        }
    }
    // Nobody who comes now would be answered.
    drop(listener);
    connections.close();
    // Connections end by themselves within their time.
    connections.wait().await;
}

type Connection<S> = http1::Connection<TokioIo<Line<S>>, TowerToHyperService<Router>>;

/// Serves one connection to its end.
async fn converse<S>(stream: S, peer: Peer, router: Router, shutdown: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_TIMEOUT.to_std())
        .max_headers(HEADERS_MAX)
        .max_header_size(HEADER_BYTES_MAX)
        .max_buf_size(BUFFER_MAX)
        // The answers that hyper gives by itself are recognized in one piece.
        .writev(false)
        .serve_connection(TokioIo::new(Line::new(stream)), TowerToHyperService::new(router.layer(Extension(peer))));
    let ended = tokio::select! {
        biased;
        result = until_done(&mut connection) => Some(result),
        () = shutdown.cancelled() => None,
    };
    let result = match ended {
        Some(result) => result,
        None => {
            Pin::new(&mut connection).graceful_shutdown();
            let Ok(result) = tokio::time::timeout(ANSWER_TIMEOUT.to_std(), until_done(&mut connection)).await else { return };
            result
        }
    };
    let mut line = connection.into_parts().io.into_inner();
    if let Err(problem) = &result {
        debug!(error = %problem, "a connection broke");
    }
    if let Some(refused) = result.err().filter(|_| line.is_mid_request()).and_then(|problem| refusal_of(&problem)) {
        let _ = line.write_all(&in_full(refused)).await;
    }
    say_farewell(line).await;
}

/// What a client is told whose request broke off without an answer, if it is its own doing.
fn refusal_of(problem: &hyper::Error) -> Option<Refused> {
    if problem.is_timeout() {
        let message = format!("the request's headers did not arrive within {HEADERS_TIMEOUT}");
        return Some(Refused::new(Code::RequestTimeout, message));
    }
    problem.is_parse().then(no_http)
}

/// Serves until there is nothing more to serve, and leaves the closing to us.
async fn until_done<S>(connection: &mut Connection<S>) -> hyper::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    std::future::poll_fn(|context| connection.poll_without_shutdown(context)).await
}

async fn turn_away<S: AsyncRead + AsyncWrite + Unpin>(mut line: Line<S>, max_connections: usize) {
    let message = format!("{max_connections} connections are open, and no more are served");
    let refused = Refused::new(Code::TooManyRequests, message).retry_after(RETRY_AFTER);
    if line.write_all(&in_full(refused)).await.is_ok() {
        say_farewell(line).await;
    }
}

/// Ends a connection so that what was said last arrives.
async fn say_farewell<S: AsyncRead + AsyncWrite + Unpin>(mut line: Line<S>) {
    let end = async {
        if line.shutdown().await.is_ok() {
            let _ = tokio::io::copy(&mut line.take(FAREWELL_BYTES_MAX), &mut tokio::io::sink()).await;
        }
    };
    let _ = tokio::time::timeout(FAREWELL_TIMEOUT, end).await;
}
