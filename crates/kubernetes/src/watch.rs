//! The standing look at one kind of object: a list, then a watch from there, resumed for ever.
//!
//! `kube::runtime::watcher` does the same but swallows bookmarks and dead connections, and with them the two things
//! that tell a quiet site from a line that is cut. So this is written on the calls beneath it.

use std::fmt::Debug;
use std::time::Duration;

use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt};
use kube::api::{ListParams, WatchEvent, WatchParams};
use kube::core::Status;
use kube::{Api, Resource};
use model::{Delivery, Fault, FaultClass, Span};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep, timeout};

use crate::fault::{self, Purpose};
use crate::source::Source;
use crate::undercloud::CALL_TIMEOUT;

/// How long listing all objects of a kind may take, all pages together.
pub const LIST_TIMEOUT: Span = Span::seconds(30);

/// After how long we ask the API server to end a watch, which is then resumed.
///
/// A quiet watch cannot be told from a dead connection, so it is kept short; resuming costs one small request.
pub const WATCH_TIMEOUT: Span = Span::seconds(30);

/// How long a watch may be silent before the connection counts as dead: the server was due to end it by then, with
/// some time for the end to arrive.
pub const WATCH_SILENCE_TIMEOUT: Span = Span::seconds(35);

/// The pause after the first failure. It doubles with each further one.
const FIRST_PAUSE: Span = Span::seconds(1);

/// The longest pause. A site whose API server returns should not stay blind much longer than that takes to be noticed.
/// There is no jitter: each API server has one keeper watching it, so there is no herd to spread.
const LONGEST_PAUSE: Span = Span::seconds(10);

/// How soon a kind that the server does not know is asked for again: it comes only when somebody installs it.
pub const ABSENT_PAUSE: Span = Span::minutes(1);

/// Objects per page of a list. The nodes of the largest clusters fill ten pages.
const PAGE_SIZE: u32 = 500;

/// What a watch has to say of objects that are seen as `S`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told<S> {
    /// All that there are. What was seen before and is not among them is gone.
    Listed(Vec<S>),
    Changed(S),
    Gone {
        /// Empty for what lies in no namespace.
        namespace: String,
        name: String,
    },
    /// The API server answered, and nothing has changed.
    Heard,
    /// The line is cut for now. What was seen before is getting old.
    Lost(Fault),
}

/// A kind of object, where it is found, and what of it matters.
pub(crate) struct Kind<K, S> {
    pub source: Source<K>,
    /// As faults name it: `nodes`.
    pub plural: &'static str,
    pub see: fn(&K) -> Option<S>,
    /// How many may be listed. More are not kept in memory, and the listing fails.
    pub most: usize,
}

pub(crate) trait Watched: Resource + Clone + DeserializeOwned + Debug + Send + Sync + 'static {}

impl<K: Resource + Clone + DeserializeOwned + Debug + Send + Sync + 'static> Watched for K {}

pub(crate) fn follow<K: Watched, S: Send + 'static>(kind: Kind<K, S>) -> impl Stream<Item = Told<S>> + Send + use<K, S> {
    let watch = Watch { kind, place: Place::Nowhere, failures: 0, pause: Duration::ZERO, was_there: false };
    stream::unfold(watch, |mut watch| async move {
        loop {
            if let Some(event) = watch.step().await {
                return Some((event, watch));
            }
        }
    })
}

type Events<K> = BoxStream<'static, kube::Result<WatchEvent<K>>>;

struct Watch<K, S> {
    kind: Kind<K, S>,
    place: Place<K>,
    /// Failures in a row.
    failures: u32,
    /// What the last failure costs before the next request.
    pause: Duration,
    /// Whether the kind was listed before: then it cannot be one that the server does not have.
    was_there: bool,
}

enum Place<K> {
    /// Nothing is known, or the server no longer knows where we were.
    Nowhere,
    /// All up to `version` is known.
    At {
        api: Api<K>,
        version: String,
    },
    Watching {
        api: Api<K>,
        version: String,
        events: Events<K>,
        since: Instant,
    },
}

impl<K: Watched, S> Watch<K, S> {
    /// Does the next thing and tells what is worth telling of it.
    async fn step(&mut self) -> Option<Told<S>> {
        match std::mem::replace(&mut self.place, Place::Nowhere) {
            Place::Nowhere => {
                self.sit_out_pause().await;
                Some(self.list().await)
            }
            Place::At { api, version } => {
                self.sit_out_pause().await;
                self.open(api, version).await
            }
            Place::Watching { api, version, mut events, since } => match timeout(WATCH_SILENCE_TIMEOUT.to_std(), events.next()).await {
                Ok(Some(Ok(event))) => self.told(event, Place::Watching { api, version, events, since }),
                Ok(Some(Err(error))) => self.cut(api, version, &error),
                Ok(None) => {
                    self.ended(api, version, since);
                    None
                }
                Err(_) => {
                    self.note_failure();
                    self.place = Place::At { api, version };
                    Some(Told::Lost(fault::silent(&self.watching(), Purpose::Observe, WATCH_SILENCE_TIMEOUT)))
                }
            },
        }
    }

    fn listing(&self) -> String {
        format!("GET {}", self.kind.plural)
    }

    fn watching(&self) -> String {
        format!("watch of {}", self.kind.plural)
    }

    async fn sit_out_pause(&mut self) {
        let pause = std::mem::take(&mut self.pause);
        // Even a sleep of zero would give up the turn, and shuffle the order of events in virtual time.
        if !pause.is_zero() {
            sleep(pause).await;
        }
    }

    fn note_failure(&mut self) {
        self.failures = self.failures.saturating_add(1);
        self.pause = pause_after(self.failures);
    }

    async fn list(&mut self) -> Told<S> {
        let asked = self.listing();
        let listed = timeout(LIST_TIMEOUT.to_std(), list_all(&self.kind)).await;
        let fault = match listed {
            Ok(Ok(Listing::All(all))) => {
                let All { api, seen, version } = *all;
                if let Some(version) = version {
                    self.was_there = true;
                    self.place = Place::At { api, version };
                    return Told::Listed(seen);
                }
                Fault::new(FaultClass::Garbled, Delivery::No, format!("{asked}: the list has no resourceVersion"))
            }
            // A server that knew the kind before has not lost it: something that stands before it answers instead.
            Ok(Ok(Listing::NoSuchKind)) if self.was_there => {
                Fault::new(FaultClass::Missing, Delivery::No, format!("{asked}: the server knows no such kind any more"))
            }
            Ok(Ok(Listing::NoSuchKind)) => {
                self.failures = 0;
                self.pause = ABSENT_PAUSE.to_std();
                return Told::Listed(Vec::new());
            }
            Ok(Ok(Listing::TooMany)) => {
                let detail = format!("{asked}: there are more than {} of them", self.kind.most);
                Fault::new(FaultClass::Unsupported, Delivery::No, detail)
            }
            Ok(Err(error)) => fault::failed(&asked, Purpose::Observe, &error),
            Err(_) => fault::silent(&asked, Purpose::Observe, LIST_TIMEOUT),
        };
        self.note_failure();
        Told::Lost(fault)
    }

    async fn open(&mut self, api: Api<K>, version: String) -> Option<Told<S>> {
        let seconds = u32::try_from(WATCH_TIMEOUT.to_std().as_secs()).unwrap_or(u32::MAX);
        let params = WatchParams { timeout: Some(seconds), bookmarks: true, ..WatchParams::default() };
        let opened = timeout(CALL_TIMEOUT.to_std(), api.watch(&params, &version)).await.map(|opened| opened.map(StreamExt::boxed));
        match opened {
            Ok(Ok(events)) => {
                self.place = Place::Watching { api, version, events, since: Instant::now() };
                Some(Told::Heard)
            }
            Ok(Err(error)) => self.cut(api, version, &error),
            Err(_) => {
                self.note_failure();
                self.place = Place::At { api, version };
                Some(Told::Lost(fault::silent(&self.watching(), Purpose::Observe, CALL_TIMEOUT)))
            }
        }
    }

    fn told(&mut self, event: WatchEvent<K>, mut place: Place<K>) -> Option<Told<S>> {
        let (newer, event) = match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                (object.meta().resource_version.clone(), (self.kind.see)(&object).map(Told::Changed))
            }
            WatchEvent::Deleted(object) => (object.meta().resource_version.clone(), gone(&object)),
            WatchEvent::Bookmark(bookmark) => (Some(bookmark.metadata.resource_version), Some(Told::Heard)),
            WatchEvent::Error(status) => {
                let Place::Watching { api, version, .. } = place else { return None };
                return self.cut(api, version, &kube::Error::Api(status));
            }
        };
        self.failures = 0;
        if let (Place::Watching { version, .. }, Some(newer)) = (&mut place, newer.filter(|newer| !newer.is_empty())) {
            *version = newer;
        }
        self.place = place;
        event
    }

    /// The watch ended as it was asked to. One that ends at once is not resumed at once, or it would spin.
    fn ended(&mut self, api: Api<K>, version: String, since: Instant) {
        if since.elapsed() < FIRST_PAUSE.to_std() {
            self.note_failure();
        } else {
            self.failures = 0;
        }
        self.place = Place::At { api, version };
    }

    /// The watch failed. After a failure of the line it is resumed where it was; after a refusal by the server, that
    /// place is in doubt, and all objects are listed anew.
    fn cut(&mut self, api: Api<K>, version: String, error: &kube::Error) -> Option<Told<S>> {
        self.note_failure();
        let lost = fault::failed(&self.watching(), Purpose::Observe, error);
        if lost.class == FaultClass::Unreachable {
            self.place = Place::At { api, version };
        }
        // The server answered and only wants us to list again, so nothing is lost.
        (!is_too_old(error)).then_some(Told::Lost(lost))
    }
}

fn gone<K: Resource, S>(object: &K) -> Option<Told<S>> {
    let meta = object.meta();
    Some(Told::Gone { namespace: meta.namespace.clone().unwrap_or_default(), name: meta.name.clone()? })
}

/// Whether the server no longer has the changes since the version that we asked for.
fn is_too_old(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 410 || is_expired(status))
}

fn is_expired(status: &Status) -> bool {
    matches!(status.reason.as_str(), "Expired" | "Gone")
}

fn pause_after(failures: u32) -> Duration {
    match failures {
        0 => Duration::ZERO,
        n => FIRST_PAUSE.times(2u32.saturating_pow(n - 1)).min(LONGEST_PAUSE).to_std(),
    }
}

enum Listing<K, S> {
    All(Box<All<K, S>>),
    /// The server does not know the kind: what defines it is not installed.
    NoSuchKind,
    TooMany,
}

/// What a list holds, where it was read, and its version.
struct All<K, S> {
    api: Api<K>,
    seen: Vec<S>,
    version: Option<String>,
}

/// All objects of a kind. Each page is seen before the next is asked for, so that no more than one lies in memory in full.
async fn list_all<K: Watched, S>(kind: &Kind<K, S>) -> kube::Result<Listing<K, S>> {
    let Some(api) = kind.source.resolve().await? else { return Ok(Listing::NoSuchKind) };
    let mut params = ListParams::default().limit(PAGE_SIZE);
    let mut seen = Vec::new();
    loop {
        let page = match api.list(&params).await {
            Err(kube::Error::Api(status)) if status.code == 404 && kind.source.may_be_absent() => return Ok(Listing::NoSuchKind),
            page => page?,
        };
        seen.extend(page.items.iter().filter_map(kind.see));
        if seen.len() > kind.most {
            return Ok(Listing::TooMany);
        }
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => {
                let version = page.metadata.resource_version.filter(|version| !version.is_empty());
                return Ok(Listing::All(Box::new(All { api, seen, version })));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let pauses: Vec<u64> = (0..7).map(|failures| pause_after(failures).as_secs()).collect();
        assert_eq!(pauses, [0, 1, 2, 4, 8, 10, 10]);
        assert_eq!(pause_after(u32::MAX), LONGEST_PAUSE.to_std());
    }
}
