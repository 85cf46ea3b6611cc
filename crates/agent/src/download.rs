//! Fetching an image as one stream of bytes, over as many connections as it takes.
//!
//! A body that breaks off is asked for from where it broke off. What is fetched is what was said, or it is an error: never a byte more,
//! and never one less.

use std::io::{self, Read};

use http::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap};
use sha2::{Digest, Sha256};

use crate::home::{Home, is_over};
use crate::http::{Body, Question};
use crate::trouble::{Failure, Stop, Trouble};

/// How often an image is asked for without a new byte of it before it counts as unreachable.
const TRIES: u32 = 10;

/// An image that is being fetched. Why it stops is in [`Download::into_result`]: a reader can only be told that it does.
#[derive(Debug)]
pub struct Download<'a> {
    home: &'a Home,
    url: String,
    /// How long it is said to be.
    bytes: u64,
    fetched: u64,
    digest: Sha256,
    /// What tells this content from another one at the same place.
    etag: Option<String>,
    body: Option<Body>,
    /// Since the last new byte.
    tries: u32,
    /// Tries since then that do not count, because the control plane was away.
    waits: u32,
    stop: Option<Stop>,
}

/// What an answer to a request for an image means.
enum Found {
    /// A body that goes on with the byte of this number.
    From(u64),
    /// The control plane is there, and does not have it yet.
    Later(String),
    Again(String),
    Stop(Stop),
}

impl<'a> Download<'a> {
    pub fn new(home: &'a Home, url: &str, bytes: u64) -> Download<'a> {
        let (digest, url) = (Sha256::new(), url.to_owned());
        Download { home, url, bytes, fetched: 0, digest, etag: None, body: None, tries: 0, waits: 0, stop: None }
    }

    /// Fetches what has not been read, for its digest.
    pub fn drain(&mut self) -> io::Result<()> {
        io::copy(self, &mut io::sink()).map(drop)
    }

    /// The digest of everything that was fetched, or why it stopped.
    pub fn into_result(mut self) -> Result<String, Stop> {
        match self.stop.take() {
            Some(stop) => Err(stop),
            None => Ok(hex(&self.digest.finalize())),
        }
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// Reads from the open body, or from a new one; nothing if that did not succeed and may be tried again.
    fn read_once(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Stop> {
        if self.body.is_none() && !self.open()? {
            return Ok(None);
        }
        let Some(body) = &mut self.body else { return Ok(None) };
        let room = buffer.len().min(usize::try_from(self.bytes - self.fetched).unwrap_or(usize::MAX));
        match body.read(&mut buffer[..room]) {
            Ok(0) => self.again("the answer ended early").map(|()| None),
            Ok(read) => {
                self.fetched += read as u64;
                self.digest.update(&buffer[..read]);
                (self.tries, self.waits) = (0, 0);
                self.check_end()?;
                Ok(Some(read))
            }
            Err(error) => self.again(&error.to_string()).map(|()| None),
        }
    }

    /// A body without an announced length may go on where it should end.
    fn check_end(&mut self) -> Result<(), Stop> {
        if self.fetched < self.bytes {
            return Ok(());
        }
        let mut more = [0];
        let has_more = self.body.take().is_some_and(|mut body| body.read(&mut more).is_ok_and(|read| read > 0));
        if has_more { Err(self.misfit(&format!("it is longer than {} bytes", self.bytes))) } else { Ok(()) }
    }

    /// Asks for what is missing.
    fn open(&mut self) -> Result<bool, Stop> {
        let bearer = self.home.bearer_for(&self.url);
        let mut question = Question::get(&self.url, bearer);
        if self.fetched > 0 {
            question.headers.push(("range", format!("bytes={}-", self.fetched)));
            question.headers.extend(self.etag.clone().map(|etag| ("if-range", etag)));
        }
        let is_ours = bearer.is_some();
        let answer = match self.home.client.send(question) {
            Ok(answer) => answer,
            // A control plane that answers nothing else either is away.
            Err(error) if is_ours && !self.home.mention_again()? => {
                self.wait(&error.to_string());
                return Ok(false);
            }
            Err(error) => return self.again(&error.to_string()).map(|()| false),
        };
        match self.judge(answer.status, &answer.headers, is_ours) {
            Found::Stop(stop) => Err(stop),
            Found::Later(why) => {
                self.wait(&why);
                self.home.mention_again().map(|_| false)
            }
            Found::Again(why) => self.again(&why).map(|()| false),
            Found::From(at) => {
                let mut body = answer.body;
                // A server that knows no ranges sends everything again.
                if let Err(error) = skip(&mut body, self.fetched - at) {
                    return self.again(&error.to_string()).map(|()| false);
                }
                self.etag = self.etag.take().or_else(|| header(&answer.headers, ETAG.as_str()));
                self.body = Some(body);
                Ok(true)
            }
        }
    }

    fn judge(&self, status: u16, headers: &HeaderMap, is_ours: bool) -> Found {
        let etag = header(headers, ETAG.as_str());
        let is_another = self.fetched > 0 && self.etag.is_some() && etag.is_some() && etag != self.etag;
        let length = header(headers, CONTENT_LENGTH.as_str()).and_then(|length| length.parse().ok());
        let (at, total) = range(headers).unwrap_or((None, None));
        match status {
            200 | 206 if is_another => Found::Stop(self.misfit("it was replaced by another one while it was fetched")),
            200 if length.is_some_and(|length: u64| length != self.bytes) => Found::Stop(self.misfit_by(length)),
            200 => Found::From(0),
            206 | 416 if total.is_some_and(|total| total != self.bytes) => Found::Stop(self.misfit_by(total)),
            206 if at == Some(self.fetched) => Found::From(self.fetched),
            206 => Found::Again("another part came than was asked for".to_owned()),
            status if is_ours && is_over(status) => Found::Stop(Stop::Over { status }),
            429 | 503 if is_ours => Found::Later(format!("it answers {status}")),
            404 | 410 => Found::Stop(self.unreachable(&format!("it answers {status}"))),
            status => Found::Again(format!("it answers {status}")),
        }
    }

    /// Waits for the next try, if there is to be one.
    fn again(&mut self, why: &str) -> Result<(), Stop> {
        self.body = None;
        self.tries += 1;
        if self.tries >= TRIES {
            return Err(
                self.unreachable(&format!("{TRIES} tries without a new byte after {} of {}, the last: {why}", self.fetched, self.bytes))
            );
        }
        self.pause(self.tries, why);
        Ok(())
    }

    /// Waits for a control plane that is away, or is still fetching the image itself. That is not counted: it may take as long as it
    /// takes, and whoever started this machine switches it off when it takes too long.
    fn wait(&mut self, why: &str) {
        self.body = None;
        self.waits += 1;
        self.pause(self.waits, why);
    }

    fn pause(&self, tries: u32, why: &str) {
        let pause = self.home.pauses.after(tries);
        self.home.log.say(format_args!("image, at byte {}: {why}; again in {} ms", self.fetched, pause.as_millis()));
        std::thread::sleep(pause);
    }

    fn misfit_by(&self, is: Option<u64>) -> Stop {
        self.misfit(&format!("it has {} bytes, and should have {}", is.unwrap_or(0), self.bytes))
    }

    fn misfit(&self, why: &str) -> Stop {
        Failure::new(Trouble::ImageMisfit, format!("{}: {why}", self.told_url())).into()
    }

    fn unreachable(&self, why: &str) -> Stop {
        Failure::new(Trouble::ImageUnreachable, format!("{}: {why}", self.told_url())).into()
    }

    /// The URL without what may be secret in it.
    fn told_url(&self) -> &str {
        self.url.split('?').next().unwrap_or_default()
    }
}

impl Read for Download<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.stop.is_none() && self.fetched < self.bytes && !buffer.is_empty() {
            match self.read_once(buffer) {
                Ok(Some(read)) => return Ok(read),
                Ok(None) => {}
                Err(stop) => self.stop = Some(stop),
            }
        }
        match &self.stop {
            Some(stop) => Err(io::Error::other(stop.to_string())),
            None => Ok(0),
        }
    }
}

fn skip(body: &mut Body, bytes: u64) -> io::Result<()> {
    let skipped = io::copy(&mut body.take(bytes), &mut io::sink())?;
    if skipped < bytes { Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the answer ended early")) } else { Ok(()) }
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// Where a part begins, and how long the whole is: `bytes 5-9/10`, `bytes 5-9/*`, `bytes */10`.
fn range(headers: &HeaderMap) -> Option<(Option<u64>, Option<u64>)> {
    let text = header(headers, CONTENT_RANGE.as_str())?;
    let (part, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let from = part.split_once('-').and_then(|(from, _)| from.trim().parse().ok());
    Some((from, total.trim().parse().ok()))
}

/// A digest as it is told.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_understood() {
        let of = |text: &'static str| range(&HeaderMap::from_iter([(CONTENT_RANGE, text.parse().unwrap())]));
        assert_eq!(of("bytes 5-9/10"), Some((Some(5), Some(10))));
        assert_eq!(of("bytes 5-9/*"), Some((Some(5), None)));
        assert_eq!(of("bytes */10"), Some((None, Some(10))));
        assert_eq!(of("lines 5-9/10"), None);
    }
}
