//! A connection's bytes: what a client does not read in time breaks it, and hyper's own answers are put into our form.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use model::Span;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::own_words::translate;

/// How long a client may read nothing of what is sent to it.
pub const READ_NOTHING_TIMEOUT: Span = Span::seconds(30);

pub(super) struct Line<S> {
    stream: S,
    /// What we say instead of hyper, as far as it has not been sent.
    unsent: Bytes,
    /// When the client has read nothing for too long; set while it does not.
    stalled: Option<Pin<Box<Sleep>>>,
    /// The client has sent something since the last answer.
    mid_request: bool,
}

impl<S> Line<S> {
    pub fn new(stream: S) -> Self {
        Line { stream, unsent: Bytes::new(), stalled: None, mid_request: false }
    }

    /// Whether the client began a request that has not been answered.
    pub fn is_mid_request(&self) -> bool {
        self.mid_request
    }
}

impl<S: AsyncWrite + Unpin> Line<S> {
    /// Sends some of `bytes`, unless the client has read nothing for too long.
    fn poll_send(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Poll::Ready(sent) = Pin::new(&mut self.stream).poll_write(context, bytes) {
            self.stalled = None;
            return Poll::Ready(sent);
        }
        let timeout = || Box::pin(tokio::time::sleep_until(Instant::now() + READ_NOTHING_TIMEOUT.to_std()));
        ready!(self.stalled.get_or_insert_with(timeout).as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
    }

    fn poll_send_rest(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.unsent.is_empty() {
            let unsent = self.unsent.clone();
            let sent = ready!(self.poll_send(context, &unsent))?;
            self.unsent.advance(sent);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Line<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        self.mid_request |= buffer.filled().len() > before;
        Poll::Ready(result)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Line<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_send_rest(context))?;
        self.mid_request = false;
        if let Some(translated) = translate(bytes) {
            self.unsent = translated;
            return Poll::Ready(Ok(bytes.len()));
        }
        self.poll_send(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send_rest(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send_rest(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
