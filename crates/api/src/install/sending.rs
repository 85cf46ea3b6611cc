//! Sending an image, or a part of it: to whom it may be sent, as fast as that may be, for as long as its attempt lasts. Only a piece of
//! it is in memory at a time, and nothing while a machine waits for its turn.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::stream::{TryStreamExt, try_unfold};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use model::Attempt;
use tokio::sync::Semaphore;

use super::InstallFace;
use super::attempt::Installing;
use super::depot::Kept;
use super::door::Place;
use super::range::Wanted;
use super::rate::Passage;
use super::splice::Spliced;

/// How much of an image is read from the disk at a time.
///
/// Each piece is a thread's work, so it should not be small; and each machine has one or two in memory, so it should not be large.
const PIECE_BYTES: usize = 128 * 1024;

/// Pieces that are read from the disk at once. All other threads that may wait for a disk are somebody else's.
pub(super) const READ_AT_ONCE: usize = 16;

/// Who reads an image, and what of it.
pub(super) struct Reader {
    pub method: Method,
    pub headers: HeaderMap,
    pub place: Place,
}

/// What is sent to a machine.
pub(super) enum Content {
    Spliced(Spliced),
    File(Arc<Kept>),
}

impl Content {
    fn len(&self) -> u64 {
        match self {
            Content::Spliced(spliced) => spliced.len() as u64,
            Content::File(kept) => kept.len(),
        }
    }
}

/// What has to be asked before each piece.
struct Sending {
    face: InstallFace,
    attempt: Attempt,
    passage: Passage,
    /// Kept until all is sent.
    _place: Place,
}

impl Sending {
    /// Waits until so much may be sent. It may not once the attempt is over: whoever reads sees that it breaks off.
    async fn wait(&self, bytes: usize) -> io::Result<()> {
        self.passage.wait(bytes as u64).await;
        if self.face.is_current(&self.attempt) { Ok(()) } else { Err(io::Error::other("the attempt is over")) }
    }
}

impl InstallFace {
    /// Answers with an image, or with the part that is asked for.
    pub(super) fn send(&self, attempt: &Attempt, content: Content, etag: &str, reader: Reader) -> Response {
        let length = content.len();
        let text = |name: header::HeaderName| reader.headers.get(name).and_then(|value| value.to_str().ok());
        // A part of something else than was asked for before would not fit to it.
        let is_same = text(header::IF_RANGE).is_none_or(|known| known == etag);
        let wanted = Wanted::of(text(header::RANGE).filter(|_| is_same), length);
        let (from, to) = match wanted {
            Wanted::Whole => (0, length),
            Wanted::Part(from, to) => (from, to),
            Wanted::Nowhere => (0, 0),
        };
        let body = if reader.method == Method::HEAD {
            Body::empty()
        } else {
            let passage = self.pacing.of(attempt);
            let sending = Sending { face: self.clone(), attempt: attempt.clone(), passage, _place: reader.place };
            match content {
                Content::Spliced(spliced) => spliced_body(sending, spliced, from, to),
                Content::File(kept) => file_body(sending, kept, from, to, Arc::clone(&self.reads)),
            }
        };
        head(wanted, length, etag, body)
    }

    fn is_current(&self, attempt: &Attempt) -> bool {
        let view = self.api.cache.view();
        let installing = view.operations.get(&attempt.operation).and_then(|operation| Installing::of(operation));
        installing.is_some_and(|installing| installing.round == attempt.round)
    }
}

fn spliced_body(sending: Sending, spliced: Spliced, from: u64, to: u64) -> Body {
    // It is in memory, so that its places fit.
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let pieces = spliced.pieces(place(from), place(to));
    Body::from_stream(try_unfold((sending, pieces), |(sending, mut pieces)| async move {
        let Some(piece) = pieces.next() else { return Ok::<_, io::Error>(None) };
        sending.wait(piece.len()).await?;
        Ok(Some((piece, (sending, pieces))))
    }))
}

fn file_body(sending: Sending, kept: Arc<Kept>, from: u64, to: u64, reads: Arc<Semaphore>) -> Body {
    let pieces = try_unfold((sending, kept, from), move |(sending, kept, at)| {
        let reads = Arc::clone(&reads);
        async move {
            let length = usize::try_from(to.saturating_sub(at)).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
            if length == 0 {
                return Ok::<Option<(Bytes, _)>, io::Error>(None);
            }
            sending.wait(length).await?;
            let _one_of_few = reads.acquire().await.map_err(io::Error::other)?;
            let piece = kept.read(at, length).await?;
            let next = at + piece.len() as u64;
            Ok(Some((piece, (sending, kept, next))))
        }
    });
    Body::from_stream(pieces.inspect_err(|problem| tracing::debug!(%problem, "an image breaks off")))
}

fn head(wanted: Wanted, length: u64, etag: &str, body: Body) -> Response {
    let (status, bytes, range) = match wanted {
        Wanted::Whole => (StatusCode::OK, length, None),
        Wanted::Part(from, to) => (StatusCode::PARTIAL_CONTENT, to - from, Some(format!("bytes {from}-{}/{length}", to - 1))),
        Wanted::Nowhere => (StatusCode::RANGE_NOT_SATISFIABLE, 0, Some(format!("bytes */{length}"))),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes));
    for (name, value) in [(header::ETAG, Some(etag)), (header::CONTENT_RANGE, range.as_deref())] {
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
            headers.insert(name, value);
        }
    }
    response
}
