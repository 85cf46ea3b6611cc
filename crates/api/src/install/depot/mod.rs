//! The images that we fetch for machines: each once, from where its bundle says, and kept on our disk by its digest, so that machines
//! need not reach anybody but us.
//!
//! Nobody gets one before its length and its digest were found right: a wrong image costs nobody the system that he has. A file of an
//! earlier process is read once to know that, and so is one that an agent complains about or that was touched since: that takes seconds,
//! beside which finding out by a machine that its disk was written in vain takes minutes. Beyond a limit the one goes that was not asked
//! for longest, but never one that an installation needs.

mod directory;
mod fetch;
mod filling;
mod kept;
mod part;
mod room;
#[cfg(test)]
pub(super) mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use model::{Artefact, Digest, InstallTrouble};
use tokio::time::Instant;

use directory::{Directory, Found};
pub use fetch::{Coming, Fetch, Rest, Unfetched};
pub use filling::FETCH_IDLE_TIMEOUT;
use filling::{Filling, words_of};
pub use kept::Kept;
use part::{Complete, Part, digest_of, on_thread};
use room::{Item, what_goes};

/// What is left free on the disk, where the store lies too.
const LEFT_FREE: u64 = 512 * 1024 * 1024;

/// How long it is told to those who ask later why an image could not be had, if nobody was told before.
const TOLD_FOR: Duration = Duration::from_secs(60);

/// Why an image cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    pub trouble: InstallTrouble,
    pub detail: String,
}

fn unreachable(why: &str) -> Unusable {
    Unusable { trouble: InstallTrouble::ImageUnreachable, detail: why.to_owned() }
}

fn wrong(artefact: &Artefact, why: &str) -> Unusable {
    Unusable { trouble: InstallTrouble::WrongDigest, detail: format!("{}: {why}", told_url(artefact)) }
}

/// The URL without its query, in which an origin may have a secret.
pub(super) fn told_url(artefact: &Artefact) -> &str {
    artefact.url.split('?').next().unwrap_or_default()
}

/// It has another length than is said.
fn misfit(artefact: &Artefact, why: &str) -> Unusable {
    Unusable { trouble: InstallTrouble::ImageMisfit, ..wrong(artefact, why) }
}

fn stored_badly(problem: &io::Error) -> Unusable {
    unreachable(&words_of(problem))
}

type Obtained = Result<Arc<Kept>, (Unusable, Instant)>;
type Awaited = Shared<BoxFuture<'static, Obtained>>;

/// How many bytes images are promised that are coming.
type Granted = Arc<Mutex<BTreeMap<Digest, u64>>>;

/// The digests of the images that installations need now.
pub type Needed<'a> = &'a (dyn Fn() -> BTreeSet<Digest> + Sync);

#[derive(Clone)]
pub struct Depot {
    fetch: Arc<dyn Fetch>,
    /// None if all is kept in memory.
    shelf: Option<Shelf>,
    /// The one that was asked for last is last.
    known: Arc<Mutex<Vec<Known>>>,
    /// Room is made for one after the other.
    making_room: Arc<tokio::sync::Mutex<()>>,
    granted: Granted,
}

#[derive(Clone)]
struct Shelf {
    directory: Directory,
    /// How many bytes all images may have together.
    limit: u64,
}

struct Known {
    digest: Digest,
    /// Where it comes, or came, from.
    url: String,
    awaited: Awaited,
}

impl Known {
    /// The image, if it is there.
    fn kept(&self) -> Option<Arc<Kept>> {
        self.awaited.clone().now_or_never()?.ok()
    }

    /// Why it did not come, for as long as that is worth telling.
    fn is_stale(&self) -> bool {
        matches!(self.awaited.clone().now_or_never(), Some(Err((_, at))) if at.elapsed() > TOLD_FOR)
    }
}

impl Depot {
    /// Keeps everything in memory: for tests, and for simulated sites on virtual time.
    pub fn in_memory(fetch: Arc<dyn Fetch>) -> Depot {
        Depot { fetch, shelf: None, known: Arc::default(), making_room: Arc::default(), granted: Arc::default() }
    }

    /// Keeps images of `limit` bytes at most in a directory, which is made if it is not there.
    pub fn in_directory(fetch: Arc<dyn Fetch>, path: &Path, limit: u64) -> io::Result<Depot> {
        let shelf = Shelf { directory: Directory::open(path)?, limit };
        Ok(Depot { shelf: Some(shelf), ..Depot::in_memory(fetch) })
    }

    /// The image, once it is there. All who want it from the same place at the same time wait for one fetch.
    pub async fn get(&self, artefact: &Artefact, needed: Needed<'_>) -> Result<Arc<Kept>, Unusable> {
        loop {
            let awaited = self.awaited(artefact, needed);
            match awaited.clone().await {
                Ok(kept) if kept.is_untouched().await => return Ok(kept),
                Ok(_) => {
                    tracing::warn!(digest = %artefact.sha256, "an image was touched since it was found right, and is looked at again");
                    self.drop_awaited(&awaited);
                }
                Err((unusable, _)) => {
                    // The next who asks tries again.
                    self.drop_awaited(&awaited);
                    return Err(unusable);
                }
            }
        }
    }

    /// Lets the image come, for those who will ask for it soon.
    pub fn begin(&self, artefact: &Artefact, needed: Needed<'_>) {
        drop(self.awaited(artefact, needed));
    }

    /// Somebody found that it is not what it should be: it is looked at again before the next gets it.
    pub fn doubt(&self, digest: &Digest) {
        self.lock().retain(|known| known.digest != *digest || known.awaited.peek().is_none());
    }

    fn drop_awaited(&self, awaited: &Awaited) {
        self.lock().retain(|known| !known.awaited.ptr_eq(awaited));
    }

    fn awaited(&self, artefact: &Artefact, needed: Needed<'_>) -> Awaited {
        let mut all = self.lock();
        all.retain(|known| !known.is_stale());
        // One that is there is good wherever it came from; one that is not may never come from elsewhere.
        let is_it = |known: &Known| known.digest == artefact.sha256 && (known.url == artefact.url || known.kept().is_some());
        let awaited = match all.iter().position(is_it) {
            Some(at) => all.remove(at).awaited,
            None => {
                // On its own, so that it goes on when the one who asked first goes away.
                let obtaining =
                    self.clone().obtain(artefact.clone(), needed()).map(|obtained| obtained.map_err(|why| (why, Instant::now())));
                let broke_off = |_| Err((unreachable("the fetch broke off"), Instant::now()));
                tokio::spawn(obtaining).map(move |ended| ended.unwrap_or_else(broke_off)).boxed().shared()
            }
        };
        all.push(Known { digest: artefact.sha256.clone(), url: artefact.url.clone(), awaited: awaited.clone() });
        awaited
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn obtain(self, artefact: Artefact, needed: BTreeSet<Digest>) -> Result<Arc<Kept>, Unusable> {
        let Some(shelf) = &self.shelf else {
            let part = Filling::new(self.fetch.as_ref(), &artefact, Part::in_memory()).fill().await?;
            return kept(part, PathBuf::new()).await;
        };
        let whole = shelf.directory.whole(&artefact.sha256);
        if let Some(kept) = find(&whole, &artefact).await.map_err(|problem| stored_badly(&problem))? {
            return Ok(kept);
        }
        let _room = self.make_room(shelf, &artefact, &needed).await?;
        let part = Part::in_file(shelf.directory.part(&artefact), artefact.bytes).await.map_err(|problem| stored_badly(&problem))?;
        let (began, had) = (Instant::now(), part.len());
        tracing::info!(url = told_url(&artefact), bytes = artefact.bytes, had, "an image is fetched");
        let part = Filling::new(self.fetch.as_ref(), &artefact, part).fill().await?;
        tracing::info!(url = told_url(&artefact), seconds = began.elapsed().as_secs(), "an image is there");
        kept(part, whole).await
    }

    /// Lets images go that nobody needs, if there is no room for this one otherwise.
    async fn make_room(&self, shelf: &Shelf, artefact: &Artefact, needed: &BTreeSet<Digest>) -> Result<Grant, Unusable> {
        let _one_after_the_other = self.making_room.lock().await;
        let directory = shelf.directory.clone();
        let looked = on_thread(move || Ok((directory.list()?, directory.free()?))).await;
        let (found, free) = looked.map_err(|problem| stored_badly(&problem))?;
        let there: u64 = found.iter().map(|found| found.bytes).sum();
        let on_disk = there.saturating_add(free).saturating_sub(LEFT_FREE);
        let limit = shelf.limit.min(on_disk);
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let coming = granted.iter().filter(|(digest, _)| **digest != artefact.sha256).map(|(_, bytes)| bytes).sum();
        granted.insert(artefact.sha256.clone(), artefact.bytes);
        let items = self.items(found, &granted, needed);
        let goes = what_goes(&items, artefact.bytes, coming, limit).map_err(|no_room| {
            let whose = if limit < shelf.limit { "the disk has room for" } else { "--image-cache-bytes allows" };
            let words = format!(
                "there is no room for its {} bytes: {whose} {limit} of all images, and {} are taken by those that are in use",
                artefact.bytes, no_room.taken
            );
            tracing::error!(url = told_url(artefact), "an image cannot be fetched: {words}");
            unreachable(&format!("{}: {words}", told_url(artefact)))
        })?;
        for item in goes {
            tracing::info!(name = item.name, bytes = item.bytes, "an image that was not asked for longest goes");
            self.lock().retain(|known| known.digest.as_str() != item.name);
            let (directory, name) = (shelf.directory.clone(), item.name.clone());
            on_thread(move || directory.remove(&name)).await.map_err(|problem| stored_badly(&problem))?;
        }
        self.granted.lock().unwrap_or_else(PoisonError::into_inner).insert(artefact.sha256.clone(), artefact.bytes);
        Ok(Grant { digest: artefact.sha256.clone(), granted: self.granted.clone() })
    }

    /// What lies there and has no part in `granted`, with what was not asked for longest first.
    fn items(&self, found: Vec<Found>, granted: &BTreeMap<Digest, u64>, needed: &BTreeSet<Digest>) -> Vec<Item> {
        let all = self.lock();
        let turn_of = |digest: &Digest| all.iter().rposition(|known| known.digest == *digest);
        // The depot's own hold on it, and that of this look.
        let is_sent = |known: &Known| known.kept().is_some_and(|kept| Arc::strong_count(&kept) > 2);
        let is_held = |digest: &Digest| all.iter().any(|known| known.digest == *digest && is_sent(known));
        let mut found: Vec<Found> = found.into_iter().filter(|found| !granted.contains_key(&found.digest)).collect();
        // Stable: those that nobody has asked for in this process come first, as old as they are.
        found.sort_by_key(|found| turn_of(&found.digest).map_or(0, |turn| turn + 1));
        let item = |Found { name, digest, bytes, .. }: Found| {
            let is_whole = name == digest.as_str();
            Item { is_spared: is_whole && (needed.contains(&digest) || is_held(&digest)), name, bytes }
        };
        found.into_iter().map(item).collect()
    }
}

/// Room that an image has while it comes.
struct Grant {
    digest: Digest,
    granted: Granted,
}

impl Drop for Grant {
    fn drop(&mut self) {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.digest);
    }
}

impl std::fmt::Debug for Depot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Depot").field("known", &self.lock().len()).finish_non_exhaustive()
    }
}

/// The image of an earlier process, if it is there and right. One that is not goes.
async fn find(whole: &Path, artefact: &Artefact) -> io::Result<Option<Arc<Kept>>> {
    let (path, artefact) = (whole.to_owned(), artefact.clone());
    on_thread(move || {
        let Ok(metadata) = path.metadata() else { return Ok(None) };
        let read = digest_of(&path);
        if metadata.len() == artefact.bytes && read.as_ref().is_ok_and(|digest| digest == artefact.sha256.as_str()) {
            return Kept::in_file(&path).map(|kept| Some(Arc::new(kept)));
        }
        // Also what cannot be read: a bad sector under it is no reason to fail until somebody deletes it.
        let problem = read.err().map(|error| error.to_string());
        tracing::warn!(path = %path.display(), url = told_url(&artefact), problem, "an image was damaged on our disk, and is fetched again");
        fs::remove_file(&path)?;
        Ok(None)
    })
    .await
}

/// Puts what was found right in its place.
///
/// It is not forced to the disk: a process that finds a file there reads it before it is used.
async fn kept(part: Part, whole: PathBuf) -> Result<Arc<Kept>, Unusable> {
    let placed = match part.complete() {
        Ok(Complete::Memory(bytes)) => Ok(Kept::in_memory(bytes)),
        Ok(Complete::File(path)) => on_thread(move || fs::rename(&path, &whole).and_then(|()| Kept::in_file(&whole))).await,
        Err(problem) => Err(problem),
    };
    placed.map(Arc::new).map_err(|problem| stored_badly(&problem))
}
