//! An origin that can be told how to fail. It speaks what the web's do; only the socket is missing.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use http::{Response, header};
use model::{Artefact, Digest};
use sha2::{Digest as _, Sha256};

use super::super::{Coming, Fetch, Rest, Unfetched};

/// Pieces that a body comes in.
const PIECE: usize = 10_000;

/// What an origin does at one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    Well,
    Refuses,
    /// Says nothing for ever.
    Silent,
    /// The connection breaks after so many bytes of the body.
    BreaksAfter(usize),
    /// The body ends there as if that were all, and its length is not told: a proxy that truncates.
    EndsAfter(usize),
    /// Nothing more comes after so many bytes, and nobody says so.
    StallsAfter(usize),
    /// Sends the whole, whatever is asked for, and breaks after so many bytes.
    IgnoresRange(usize),
    /// Serves something else from now on.
    Changes(u8),
    /// Tells no length.
    WithoutLength,
}

#[derive(Clone)]
pub struct Origin {
    content: Arc<Mutex<Bytes>>,
    moods: Arc<Mutex<VecDeque<Mood>>>,
    asked: Arc<Mutex<Vec<Rest>>>,
}

pub fn content(fill: u8, bytes: usize) -> Bytes {
    let period: Vec<u8> = (0..251).map(|at| fill.wrapping_add(at)).collect();
    let mut content = period.repeat(bytes.div_ceil(period.len()));
    content.truncate(bytes);
    content.into()
}

pub fn digest(bytes: &[u8]) -> Digest {
    let digits: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Digest::parse(&digits).unwrap()
}

pub fn artefact(bytes: &[u8]) -> Artefact {
    Artefact { url: "http://origin/os.img".to_owned(), sha256: digest(bytes), bytes: bytes.len() as u64 }
}

impl Origin {
    /// Serves this, with one mood after the other, and well after them.
    pub fn new(content: Bytes, moods: &[Mood]) -> Origin {
        let moods = Arc::new(Mutex::new(moods.iter().copied().collect()));
        Origin { content: Arc::new(Mutex::new(content)), moods, asked: Arc::default() }
    }

    /// From where on it was asked.
    pub fn asked_at(&self) -> Vec<u64> {
        self.asked.lock().unwrap().iter().map(|rest| rest.at).collect()
    }

    pub fn asked(&self) -> Vec<Rest> {
        self.asked.lock().unwrap().clone()
    }

    fn answer(&self, mood: Mood, rest: &Rest) -> Result<Coming, Unfetched> {
        let content = self.content.lock().unwrap().clone();
        let etag = format!("\"{}\"", digest(&content).short());
        let is_same = rest.etag.as_ref().is_none_or(|known| *known == etag);
        let at = usize::try_from(rest.at).unwrap();
        let mut response = Response::builder().header(header::ETAG, etag);
        let is_part = at > 0 && is_same && !matches!(mood, Mood::IgnoresRange(_));
        if is_part && at >= content.len() {
            let response = response.status(416).header(header::CONTENT_RANGE, format!("bytes */{}", content.len()));
            return Coming::of(response.body(Body::empty()).unwrap(), rest);
        }
        let body = if is_part { content.slice(at..) } else { content.clone() };
        response = match (mood, is_part) {
            (Mood::WithoutLength | Mood::EndsAfter(_), false) => response,
            (Mood::WithoutLength | Mood::EndsAfter(_), true) => {
                response.status(206).header(header::CONTENT_RANGE, format!("bytes {at}-{}/*", content.len() - 1))
            }
            (_, false) => response.header(header::CONTENT_LENGTH, body.len()),
            (_, true) => response.status(206).header(header::CONTENT_RANGE, format!("bytes {at}-{}/{}", content.len() - 1, content.len())),
        };
        let (sent, breaks) = match mood {
            Mood::BreaksAfter(bytes) | Mood::IgnoresRange(bytes) => (body.slice(..bytes.min(body.len())), bytes < body.len()),
            Mood::EndsAfter(bytes) | Mood::StallsAfter(bytes) => (body.slice(..bytes.min(body.len())), false),
            _ => (body, false),
        };
        let pieces: Vec<Result<Bytes, std::io::Error>> = sent.chunks(PIECE).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        let end = breaks.then(|| Err(std::io::Error::other("connection reset")));
        let pieces = stream::iter(pieces.into_iter().chain(end));
        let pieces = if matches!(mood, Mood::StallsAfter(_)) { pieces.chain(stream::pending()).boxed() } else { pieces.boxed() };
        Coming::of(response.body(Body::from_stream(pieces)).unwrap(), rest)
    }
}

impl Fetch for Origin {
    fn open<'a>(&'a self, _url: &'a str, rest: &'a Rest) -> BoxFuture<'a, Result<Coming, Unfetched>> {
        async move {
            self.asked.lock().unwrap().push(rest.clone());
            let mood = self.moods.lock().unwrap().pop_front().unwrap_or(Mood::Well);
            tokio::time::sleep(Duration::from_millis(10)).await;
            match mood {
                Mood::Refuses => Err(Unfetched("connection refused".to_owned())),
                Mood::Silent => std::future::pending().await,
                Mood::Changes(fill) => {
                    let bytes = self.content.lock().unwrap().len();
                    *self.content.lock().unwrap() = content(fill, bytes);
                    self.answer(mood, rest)
                }
                mood => self.answer(mood, rest),
            }
        }
        .boxed()
    }
}
