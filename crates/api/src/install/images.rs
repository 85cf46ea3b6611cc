//! The images that machines are started from: fetched once from where the bundle says, compared with its digest and length, and
//! kept in memory for every machine that needs them.
//!
//! They are small beside what they install, few at a time, and read in many small parts by many BMCs at once; on a disk they would
//! be read from its cache all the same. After a restart they are fetched again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use model::{Artefact, Digest, InstallTrouble};
use sha2::Digest as _;
use sha2::Sha256;

use super::splice::BaseImage;

/// The largest image that machines may be started from. What is installed may be larger: that we never hold.
pub const BOOT_IMAGE_MAX: u64 = 256 * 1024 * 1024;

/// How many of them are kept: two versions of each of two kinds. The one that was not asked for longest goes first.
pub const IMAGES_MAX: usize = 4;

/// How long one fetch may take.
pub const FETCH_TIMEOUT: Duration = Duration::from_secs(120);

/// The pauses before an image that could not be fetched is tried again. After the last its installation fails, and says why.
const FETCH_AGAIN_AFTER: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];

/// Fetches what a URL names. What is longer than `limit` is not read to its end.
pub trait Fetch: Send + Sync {
    fn fetch<'a>(&'a self, url: &'a str, limit: u64) -> BoxFuture<'a, Result<Bytes, Unfetched>>;
}

/// Why nothing could be fetched, in words for an operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unfetched(pub String);

/// Why an image cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    pub trouble: InstallTrouble,
    pub detail: String,
}

type Coming = Shared<BoxFuture<'static, Result<Arc<BaseImage>, Unusable>>>;

#[derive(Clone)]
pub struct Images {
    fetch: Arc<dyn Fetch>,
    /// The one that was asked for last is last.
    kept: Arc<Mutex<Vec<Kept>>>,
}

struct Kept {
    digest: Digest,
    /// Where it comes, or came, from.
    url: String,
    coming: Coming,
}

impl Images {
    pub fn new(fetch: Arc<dyn Fetch>) -> Images {
        Images { fetch, kept: Arc::default() }
    }

    /// The image, once it is there. All who want it from the same place at the same time wait for one fetch.
    pub(super) async fn get(&self, artefact: &Artefact) -> Result<Arc<BaseImage>, Unusable> {
        let coming = self.coming(artefact);
        let image = coming.clone().await;
        if image.is_err() {
            // The next who asks tries again.
            self.lock().retain(|kept| !kept.coming.ptr_eq(&coming));
        }
        image
    }

    fn coming(&self, artefact: &Artefact) -> Coming {
        let mut kept = self.lock();
        // One that is there is good wherever it came from; one that is not may never come from elsewhere.
        let is_it = |kept: &Kept| kept.digest == artefact.sha256 && (kept.url == artefact.url || matches!(kept.coming.peek(), Some(Ok(_))));
        let coming = match kept.iter().position(is_it) {
            Some(at) => kept.remove(at).coming,
            None => {
                // On its own, so that it goes on when the one who asked first goes away.
                let fetching = tokio::spawn(obtain(self.fetch.clone(), artefact.clone()));
                fetching.map(|ended| ended.unwrap_or_else(|_| Err(unreachable("the fetch broke off")))).boxed().shared()
            }
        };
        kept.push(Kept { digest: artefact.sha256.clone(), url: artefact.url.clone(), coming: coming.clone() });
        if kept.len() > IMAGES_MAX {
            drop(kept.remove(0));
        }
        coming
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Images {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Images").field("kept", &self.lock().len()).finish_non_exhaustive()
    }
}

fn unreachable(why: &str) -> Unusable {
    Unusable { trouble: InstallTrouble::ImageUnreachable, detail: why.to_owned() }
}

async fn obtain(fetch: Arc<dyn Fetch>, artefact: Artefact) -> Result<Arc<BaseImage>, Unusable> {
    let mut pauses = FETCH_AGAIN_AFTER.iter();
    let bytes = loop {
        let fetched = tokio::time::timeout(FETCH_TIMEOUT, fetch.fetch(&artefact.url, artefact.bytes)).await;
        let problem = match fetched {
            Ok(Ok(bytes)) => break bytes,
            Ok(Err(problem)) => problem.0,
            Err(_) => format!("it did not come within {} s", FETCH_TIMEOUT.as_secs()),
        };
        tracing::warn!(url = artefact.url, problem, "an image that machines are started from cannot be fetched");
        match pauses.next() {
            Some(pause) => tokio::time::sleep(*pause).await,
            None => return Err(unreachable(&format!("{}: {problem}", artefact.url))),
        }
    };
    checked(bytes, &artefact).map(Arc::new)
}

/// The image, if it is the one that the bundle means and takes a configuration.
fn checked(bytes: Bytes, artefact: &Artefact) -> Result<BaseImage, Unusable> {
    let wrong = |detail: String| Unusable { trouble: InstallTrouble::WrongDigest, detail: format!("{}: {detail}", artefact.url) };
    if bytes.len() as u64 != artefact.bytes {
        return Err(wrong(format!("it has {} bytes, and the bundle says {}", bytes.len(), artefact.bytes)));
    }
    let found: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if found != artefact.sha256.as_str() {
        return Err(wrong(format!("its digest is {}…, and the bundle says {}…", &found[..12], artefact.sha256.short())));
    }
    BaseImage::new(bytes).map_err(|problem| wrong(problem.to_string()))
}

#[cfg(test)]
mod tests;
