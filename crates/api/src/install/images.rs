//! The images that machines are started from, in memory for every machine that needs them.
//!
//! They are small beside what they install, few at a time, and read in many small parts by many BMCs at once. They come from the
//! depot, as what is installed does.

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use model::{Artefact, Digest, InstallTrouble};

use super::depot::{Depot, Fetch, Kept, Needed, Unusable, told_url};
use super::splice::BaseImage;

/// The largest image that machines may be started from. What is installed may be larger: that we never hold.
pub const BOOT_IMAGE_MAX: u64 = 256 * 1024 * 1024;

/// How many of them are kept in memory: two versions of each of two kinds. The one that was not asked for longest goes first.
pub const IMAGES_MAX: usize = 4;

type Coming = Shared<BoxFuture<'static, Result<Arc<BaseImage>, Unusable>>>;

/// All images: those in memory, and the depot that they and all others come from.
#[derive(Clone)]
pub struct Images {
    depot: Depot,
    /// The one that was asked for last is last.
    ready: Arc<Mutex<Vec<Ready>>>,
}

struct Ready {
    digest: Digest,
    /// Where it comes, or came, from.
    url: String,
    coming: Coming,
}

impl Images {
    /// Everything is kept in memory: for tests, and for simulated sites on virtual time.
    pub fn new(fetch: Arc<dyn Fetch>) -> Images {
        Images::from(Depot::in_memory(fetch))
    }

    /// An image to start a machine from, once it is there.
    pub(super) async fn get(&self, artefact: &Artefact, needed: Needed<'_>) -> Result<Arc<BaseImage>, Unusable> {
        let coming = self.coming(artefact, needed);
        let image = coming.clone().await;
        if image.is_err() {
            // The next who asks tries again.
            self.lock().retain(|ready| !ready.coming.ptr_eq(&coming));
        }
        image
    }

    /// An image that is sent from where it lies, once it is there.
    pub(super) async fn file(&self, artefact: &Artefact, needed: Needed<'_>) -> Result<Arc<Kept>, Unusable> {
        self.depot.get(artefact, needed).await
    }

    /// Lets an image come that will be asked for soon.
    pub(super) fn begin(&self, artefact: &Artefact, needed: Needed<'_>) {
        self.depot.begin(artefact, needed);
    }

    /// A machine found that an image is not what it should be.
    pub(super) fn doubt(&self, digest: &Digest) {
        self.depot.doubt(digest);
    }

    fn coming(&self, artefact: &Artefact, needed: Needed<'_>) -> Coming {
        let mut all = self.lock();
        // One that is there is good wherever it came from; one that is not may never come from elsewhere.
        let is_it =
            |ready: &Ready| ready.digest == artefact.sha256 && (ready.url == artefact.url || matches!(ready.coming.peek(), Some(Ok(_))));
        let coming = match all.iter().position(is_it) {
            Some(at) => all.remove(at).coming,
            None => {
                // On its own, so that it goes on when the one who asked first goes away.
                let loading = tokio::spawn(load(self.depot.clone(), artefact.clone(), needed()));
                loading.map(|ended| ended.unwrap_or_else(|_| Err(unread("the fetch broke off")))).boxed().shared()
            }
        };
        all.push(Ready { digest: artefact.sha256.clone(), url: artefact.url.clone(), coming: coming.clone() });
        if all.len() > IMAGES_MAX {
            drop(all.remove(0));
        }
        coming
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Ready>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Depot> for Images {
    fn from(depot: Depot) -> Images {
        Images { depot, ready: Arc::default() }
    }
}

impl std::fmt::Debug for Images {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Images").field("depot", &self.depot).field("ready", &self.lock().len()).finish()
    }
}

fn unread(why: &str) -> Unusable {
    Unusable { trouble: InstallTrouble::ImageUnreachable, detail: why.to_owned() }
}

/// Takes an image into memory, if it takes a configuration.
async fn load(depot: Depot, artefact: Artefact, needed: std::collections::BTreeSet<Digest>) -> Result<Arc<BaseImage>, Unusable> {
    let kept = depot.get(&artefact, &|| needed.clone()).await?;
    let bytes = kept.whole().await.map_err(|problem| unread(&format!("it cannot be read from the disk: {problem}")))?;
    let image = BaseImage::new(bytes)
        .map_err(|problem| Unusable { trouble: InstallTrouble::ImageMisfit, detail: format!("{}: {problem}", told_url(&artefact)) })?;
    Ok(Arc::new(image))
}

#[cfg(test)]
mod tests;
