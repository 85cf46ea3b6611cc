//! Fetching an image to its end: from where it broke off, for as long as something comes, and judged before anybody gets it.

use std::io;
use std::time::Duration;

use futures::StreamExt;
use model::Artefact;

use super::fetch::{Coming, Fetch, Rest};
use super::part::Part;
use super::{Unusable, misfit, stored_badly, told_url, unreachable, wrong};

/// How long an origin may say nothing, at its beginning and in the middle.
pub const FETCH_IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// The pauses before an origin is asked again that broke off or did not answer. Every byte that is new makes up for all of them; after
/// the last, the installations that wait for it fail and say why.
const FETCH_AGAIN_AFTER: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(10)];

/// Why a try did not bring the rest.
enum Broken {
    /// The next one may.
    Off(String),
    /// It would not help.
    ForGood(Unusable),
}

pub(super) struct Filling<'a> {
    fetch: &'a dyn Fetch,
    artefact: &'a Artefact,
    part: Part,
    etag: Option<String>,
    /// What there is came from several answers, which need not have been of the same file.
    is_pieced: bool,
    has_begun_anew: bool,
}

impl<'a> Filling<'a> {
    /// Goes on with what there is.
    pub fn new(fetch: &'a dyn Fetch, artefact: &'a Artefact, part: Part) -> Filling<'a> {
        let is_pieced = part.len() > 0;
        Filling { fetch, artefact, part, etag: None, is_pieced, has_begun_anew: false }
    }

    /// The whole, once it is there and is what the bundle means.
    pub async fn fill(mut self) -> Result<Part, Unusable> {
        let (mut pauses, mut furthest) = (FETCH_AGAIN_AFTER.iter(), self.part.len());
        loop {
            let problem = match self.bring_rest().await {
                Ok(()) if self.is_right().await? => return Ok(self.part),
                // Pieces of two files: it is fetched once more, in one piece.
                Ok(()) => {
                    furthest = 0;
                    continue;
                }
                Err(Broken::Off(problem)) => problem,
                Err(Broken::ForGood(unusable)) => return Err(unusable),
            };
            let (url, there) = (told_url(self.artefact), self.part.len());
            tracing::warn!(url, there, of = self.artefact.bytes, problem, "an image cannot be fetched");
            if there > furthest {
                (pauses, furthest) = (FETCH_AGAIN_AFTER.iter(), there);
            }
            match pauses.next() {
                Some(pause) => tokio::time::sleep(*pause).await,
                None => return Err(unreachable(&format!("{url}: {problem}"))),
            }
        }
    }

    /// Whether what is there is the image. If it may only have been put together wrongly it is thrown away, once.
    async fn is_right(&mut self) -> Result<bool, Unusable> {
        let found = self.part.digest().await.map_err(|problem| stored_badly(&problem))?;
        if found == self.artefact.sha256.as_str() {
            return Ok(true);
        }
        self.forget().await?;
        if !self.is_pieced || self.has_begun_anew {
            let words = format!("its digest is {}…, and the bundle says {}…", &found[..12], self.artefact.sha256.short());
            return Err(wrong(self.artefact, &words));
        }
        tracing::warn!(url = told_url(self.artefact), "an image that came in several pieces is not what it should be, and is fetched anew");
        (self.is_pieced, self.has_begun_anew) = (false, true);
        Ok(false)
    }

    async fn forget(&mut self) -> Result<(), Unusable> {
        self.etag = None;
        self.part.clear().await.map_err(|problem| stored_badly(&problem))
    }

    /// Asks once for all that is missing.
    async fn bring_rest(&mut self) -> Result<(), Broken> {
        if self.part.len() == self.artefact.bytes {
            return Ok(());
        }
        let result = self.bring().await;
        // What has come is kept for the next try, however this one ended.
        if let Err(problem) = self.part.flush().await {
            return Err(self.cannot_store(&problem).await);
        }
        result?;
        let (there, bytes) = (self.part.len(), self.artefact.bytes);
        if there < bytes { Err(Broken::Off(format!("it ends after {there} of {bytes} bytes"))) } else { Ok(()) }
    }

    async fn bring(&mut self) -> Result<(), Broken> {
        let mut coming = self.open().await?;
        loop {
            let piece = match tokio::time::timeout(FETCH_IDLE_TIMEOUT, coming.body.next()).await {
                Ok(None) => return Ok(()),
                Ok(Some(Ok(piece))) => piece,
                Ok(Some(Err(problem))) => return Err(Broken::Off(problem.0)),
                Err(_) => return Err(Broken::Off(silent())),
            };
            if self.part.len() + piece.len() as u64 > self.artefact.bytes {
                self.forget().await.map_err(Broken::ForGood)?;
                return Err(Broken::ForGood(misfit(self.artefact, &format!("it is longer than {} bytes", self.artefact.bytes))));
            }
            if let Err(problem) = self.part.append(&piece).await {
                return Err(self.cannot_store(&problem).await);
            }
        }
    }

    /// The disk is the store's too: what fills it goes.
    async fn cannot_store(&mut self, problem: &io::Error) -> Broken {
        tracing::error!(url = told_url(self.artefact), there = self.part.len(), "an image cannot be kept: {}", words_of(problem));
        let _ = self.part.clear().await;
        Broken::ForGood(stored_badly(problem))
    }

    async fn open(&mut self) -> Result<Coming, Broken> {
        let rest = Rest { at: self.part.len(), etag: self.etag.clone() };
        let opened = tokio::time::timeout(FETCH_IDLE_TIMEOUT, self.fetch.open(&self.artefact.url, &rest)).await;
        let coming = opened.map_err(|_| Broken::Off(silent()))?.map_err(|problem| Broken::Off(problem.0))?;
        if let Some(whole) = coming.whole.filter(|whole| *whole != self.artefact.bytes) {
            self.forget().await.map_err(Broken::ForGood)?;
            let words = format!("it has {whole} bytes, and the bundle says {}", self.artefact.bytes);
            return Err(Broken::ForGood(misfit(self.artefact, &words)));
        }
        if coming.at < rest.at {
            self.forget().await.map_err(Broken::ForGood)?;
            self.is_pieced = false;
        } else {
            self.is_pieced |= rest.at > 0;
        }
        self.etag.clone_from(&coming.etag);
        Ok(coming)
    }
}

fn silent() -> String {
    format!("nothing came for {} s", FETCH_IDLE_TIMEOUT.as_secs())
}

/// What a person is told who has to make room.
pub(super) fn words_of(problem: &io::Error) -> String {
    match problem.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "the disk with the data directory is full".to_owned(),
        _ => format!("it cannot be kept on the disk: {problem}"),
    }
}
