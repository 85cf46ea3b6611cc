//! The connection that a BMC's events come over: one request, one answer that goes on for months, no reuse.
//!
//! It is read here and not by the HTTP library, because the library keeps 26 KiB for each connection, to be quick with the next
//! request: thousands of silent streams would take most of the memory there is. While nothing comes, nothing is kept here but the
//! socket. Heads are understood by `httparse`, which the library uses too.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Body, Frame};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use zeroize::Zeroizing;

/// The longest head of an answer. BMCs send one kilobyte or two.
const HEAD_BYTES_MAX: usize = 32 * 1024;

const HEADERS_MAX: usize = 100;

/// The longest line that tells a chunk's size, or that follows the last chunk.
const LINE_BYTES_MAX: usize = 4 * 1024;

/// What is read at once. It lies on the stack, so that a silent stream has none of it.
const PIECE_BYTES: usize = 2 * 1024;

/// Asks on a new connection, and reads the head of the answer. The content is read by whoever wants it.
pub(crate) async fn open<I>(mut io: I, request: &Request<Full<Bytes>>) -> io::Result<Response<Arriving<I>>>
where
    I: AsyncRead + AsyncWrite + Unpin,
{
    io.write_all(&head_of(request)).await?;
    io.flush().await?;
    let mut unread = Vec::with_capacity(PIECE_BYTES);
    loop {
        let response = read_head(&mut io, &mut unread).await?;
        if !response.status().is_informational() {
            let framing = Framing::of(response.status(), response.headers())?;
            return Ok(response.map(|()| Arriving { io, unread, framing }));
        }
    }
}

/// The request as it goes over the wire; it has no content. Wiped after use, because a session's token is in it.
fn head_of(request: &Request<Full<Bytes>>) -> Zeroizing<Vec<u8>> {
    let uri = request.uri();
    let place = uri.path_and_query().map_or("/", |place| place.as_str());
    let host = uri.authority().map_or("", |authority| authority.as_str());
    let host = host.rsplit('@').next().unwrap_or_default();
    let mut head = Zeroizing::new(format!("{} {place} HTTP/1.1\r\nhost: {host}\r\n", request.method()).into_bytes());
    for (name, value) in request.headers() {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            head.extend_from_slice(part);
        }
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// Reads up to the end of a head. What was read beyond it stays in `unread`.
async fn read_head(io: &mut (impl AsyncRead + Unpin), unread: &mut Vec<u8>) -> io::Result<Response<()>> {
    loop {
        if let Some((length, response)) = parse_head(unread)? {
            unread.drain(..length);
            return Ok(response);
        }
        if unread.len() >= HEAD_BYTES_MAX {
            return Err(malformed("the head of the answer has no end"));
        }
        if io.read_buf(unread).await? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
    }
}

fn parse_head(read: &[u8]) -> io::Result<Option<(usize, Response<()>)>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(length) = head.parse(read).map_err(malformed)? else { return Ok(None) };
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::from_u16(head.code.unwrap_or_default()).map_err(malformed)?;
    for header in head.headers.iter() {
        let name = HeaderName::from_bytes(header.name.as_bytes()).map_err(malformed)?;
        response.headers_mut().append(name, HeaderValue::from_bytes(header.value).map_err(malformed)?);
    }
    Ok(Some((length, response)))
}

fn malformed(problem: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, problem)
}

/// The content of an answer, as it comes. Letting go of it hangs up.
#[derive(Debug)]
pub(crate) struct Arriving<I> {
    io: I,
    /// Read, and not understood yet because its end is missing.
    unread: Vec<u8>,
    framing: Framing,
}

/// How it is told where content ends, as RFC 9112 has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    UntilClosed,
    /// So many bytes are still to come.
    Counted(u64),
    ChunkSize,
    Chunk(u64),
    /// The line end after a chunk.
    ChunkEnd,
    /// What may follow the last chunk, up to an empty line.
    Trailers,
    Ended,
}

impl Framing {
    fn of(status: StatusCode, headers: &HeaderMap) -> io::Result<Framing> {
        if matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
            return Ok(Framing::Ended);
        }
        if let Some(encoding) = headers.get_all(TRANSFER_ENCODING).iter().next_back() {
            let last = encoding.as_bytes().rsplit(|byte| *byte == b',').next().unwrap_or_default();
            let is_chunked = last.trim_ascii().eq_ignore_ascii_case(b"chunked");
            return Ok(if is_chunked { Framing::ChunkSize } else { Framing::UntilClosed });
        }
        let Some(length) = headers.get(CONTENT_LENGTH) else { return Ok(Framing::UntilClosed) };
        let length = length.to_str().ok().and_then(|length| length.trim().parse().ok());
        length.map(Framing::Counted).ok_or_else(|| malformed("the length of the answer is no number"))
    }

    /// Takes the content out of what was read, as far as it can be understood.
    fn take_content(&mut self, unread: &mut Vec<u8>) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        loop {
            let (taken, next) = match *self {
                Framing::UntilClosed => (unread.len(), Framing::UntilClosed),
                Framing::Counted(0) => (0, Framing::Ended),
                Framing::Counted(left) => take_of(unread, left, Framing::Counted),
                Framing::ChunkSize => match httparse::parse_chunk_size(unread).map_err(|_| malformed("a chunk has no size"))? {
                    httparse::Status::Complete((taken, 0)) => (taken, Framing::Trailers),
                    httparse::Status::Complete((taken, size)) => (taken, Framing::Chunk(size)),
                    httparse::Status::Partial => (0, Framing::ChunkSize),
                },
                Framing::Chunk(0) => (0, Framing::ChunkEnd),
                Framing::Chunk(left) => take_of(unread, left, Framing::Chunk),
                Framing::ChunkEnd if unread.starts_with(b"\r\n") => (2, Framing::ChunkSize),
                Framing::ChunkEnd if b"\r\n".starts_with(unread) => (0, Framing::ChunkEnd),
                Framing::ChunkEnd => return Err(malformed("a chunk is longer than it says")),
                Framing::Trailers => match unread.iter().position(|byte| *byte == b'\n') {
                    None => (0, Framing::Trailers),
                    Some(end) => (end + 1, if unread[..end].trim_ascii().is_empty() { Framing::Ended } else { Framing::Trailers }),
                },
                Framing::Ended => (unread.len(), Framing::Ended),
            };
            let is_content = matches!(self, Framing::UntilClosed | Framing::Counted(_) | Framing::Chunk(_));
            if is_content {
                content.extend_from_slice(&unread[..taken]);
            }
            unread.drain(..taken);
            let is_stuck = taken == 0 && next == *self;
            *self = next;
            if is_stuck && unread.len() > LINE_BYTES_MAX {
                return Err(malformed("a line of the answer has no end"));
            }
            if is_stuck {
                return Ok(content);
            }
        }
    }
}

/// As much as there is of what is still to come.
fn take_of(unread: &[u8], left: u64, next: fn(u64) -> Framing) -> (usize, Framing) {
    let taken = usize::try_from(left).unwrap_or(usize::MAX).min(unread.len());
    (taken, next(left - taken as u64))
}

impl<I: AsyncRead + Unpin> Body for Arriving<I> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = &mut *self;
        loop {
            let content = this.framing.take_content(&mut this.unread)?;
            if this.unread.is_empty() {
                this.unread = Vec::new();
            }
            if !content.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(content.into()))));
            }
            if this.framing == Framing::Ended {
                return Poll::Ready(None);
            }
            let mut space = [0; PIECE_BYTES];
            let mut piece = ReadBuf::new(&mut space);
            ready!(Pin::new(&mut this.io).poll_read(context, &mut piece))?;
            match (piece.filled().is_empty(), this.framing) {
                (false, _) => this.unread.extend_from_slice(piece.filled()),
                (true, Framing::UntilClosed) => this.framing = Framing::Ended,
                (true, _) => return Poll::Ready(Some(Err(ErrorKind::UnexpectedEof.into()))),
            }
        }
    }
}

#[cfg(test)]
mod tests;
