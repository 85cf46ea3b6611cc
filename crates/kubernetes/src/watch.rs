//! The standing look at the nodes: a list, then a watch from there, resumed for ever.
//!
//! `kube::runtime::watcher` does the same but swallows bookmarks and dead connections, and with them the two things
//! that tell a quiet site from a line that is cut. So this is written on the calls beneath it.

use std::time::Duration;

use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::Node;
use kube::Api;
use kube::api::{ListParams, WatchEvent, WatchParams};
use kube::core::Status;
use model::{Delivery, Fault, FaultClass, NodeSeen, Span};
use tokio::time::{Instant, sleep, timeout};

use crate::fault::{self, Purpose};
use crate::node::node_seen;
use crate::undercloud::CALL_TIMEOUT;

/// How long listing all nodes may take, all pages together.
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

/// Nodes per page of a list. The largest clusters have ten pages.
const PAGE_SIZE: u32 = 500;

/// How faults name what was asked.
const LISTING: &str = "GET nodes";
const WATCHING: &str = "watch of nodes";

/// What the watch has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// All nodes there are. A node seen before and not among them is gone.
    Listed(Vec<NodeSeen>),
    Changed(NodeSeen),
    Gone {
        name: String,
    },
    /// The API server answered, and nothing has changed.
    Heard,
    /// The line is cut for now. What was seen before is getting old.
    Lost(Fault),
}

pub(crate) fn nodes(api: Api<Node>) -> impl Stream<Item = NodeEvent> + Send + use<> {
    let watch = Watch { api, place: Place::Nowhere, failures: 0, pause: Duration::ZERO };
    stream::unfold(watch, |mut watch| async move {
        loop {
            if let Some(event) = watch.step().await {
                return Some((event, watch));
            }
        }
    })
}

type Events = BoxStream<'static, kube::Result<WatchEvent<Node>>>;

struct Watch {
    api: Api<Node>,
    place: Place,
    /// Failures in a row.
    failures: u32,
    /// What the last failure costs before the next request.
    pause: Duration,
}

enum Place {
    /// Nothing is known, or the server no longer knows where we were.
    Nowhere,
    /// All up to `version` is known.
    At {
        version: String,
    },
    Watching {
        version: String,
        events: Events,
        since: Instant,
    },
}

impl Watch {
    /// Does the next thing and tells what is worth telling of it.
    async fn step(&mut self) -> Option<NodeEvent> {
        match std::mem::replace(&mut self.place, Place::Nowhere) {
            Place::Nowhere => {
                self.sit_out_pause().await;
                self.list().await
            }
            Place::At { version } => {
                self.sit_out_pause().await;
                self.open(version).await
            }
            Place::Watching { version, mut events, since } => match timeout(WATCH_SILENCE_TIMEOUT.to_std(), events.next()).await {
                Ok(Some(Ok(event))) => self.told(event, version, events, since),
                Ok(Some(Err(error))) => self.cut(version, &error),
                Ok(None) => {
                    self.ended(version, since);
                    None
                }
                Err(_) => {
                    self.note_failure();
                    self.place = Place::At { version };
                    Some(NodeEvent::Lost(fault::silent(WATCHING, Purpose::Observe, WATCH_SILENCE_TIMEOUT)))
                }
            },
        }
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

    async fn list(&mut self) -> Option<NodeEvent> {
        let listed = timeout(LIST_TIMEOUT.to_std(), list_all(&self.api)).await;
        let fault = match listed {
            Ok(Ok((nodes, Some(version)))) => {
                self.place = Place::At { version };
                return Some(NodeEvent::Listed(nodes));
            }
            Ok(Ok((_, None))) => Fault::new(FaultClass::Garbled, Delivery::No, format!("{LISTING}: the list has no resourceVersion")),
            Ok(Err(error)) => fault::failed(LISTING, Purpose::Observe, &error),
            Err(_) => fault::silent(LISTING, Purpose::Observe, LIST_TIMEOUT),
        };
        self.note_failure();
        Some(NodeEvent::Lost(fault))
    }

    async fn open(&mut self, version: String) -> Option<NodeEvent> {
        let seconds = u32::try_from(WATCH_TIMEOUT.to_std().as_secs()).unwrap_or(u32::MAX);
        let params = WatchParams { timeout: Some(seconds), bookmarks: true, ..WatchParams::default() };
        match timeout(CALL_TIMEOUT.to_std(), self.api.watch(&params, &version)).await {
            Ok(Ok(events)) => {
                self.place = Place::Watching { version, events: events.boxed(), since: Instant::now() };
                Some(NodeEvent::Heard)
            }
            Ok(Err(error)) => self.cut(version, &error),
            Err(_) => {
                self.note_failure();
                self.place = Place::At { version };
                Some(NodeEvent::Lost(fault::silent(WATCHING, Purpose::Observe, CALL_TIMEOUT)))
            }
        }
    }

    fn told(&mut self, event: WatchEvent<Node>, version: String, events: Events, since: Instant) -> Option<NodeEvent> {
        let (newer, event) = match event {
            WatchEvent::Added(node) | WatchEvent::Modified(node) => {
                (node.metadata.resource_version.clone(), node_seen(&node).map(NodeEvent::Changed))
            }
            WatchEvent::Deleted(node) => (node.metadata.resource_version.clone(), node.metadata.name.map(|name| NodeEvent::Gone { name })),
            WatchEvent::Bookmark(bookmark) => (Some(bookmark.metadata.resource_version), Some(NodeEvent::Heard)),
            WatchEvent::Error(status) => return self.cut(version, &kube::Error::Api(status)),
        };
        self.failures = 0;
        let version = newer.filter(|version| !version.is_empty()).unwrap_or(version);
        self.place = Place::Watching { version, events, since };
        event
    }

    /// The watch ended as it was asked to. One that ends at once is not resumed at once, or it would spin.
    fn ended(&mut self, version: String, since: Instant) {
        if since.elapsed() < FIRST_PAUSE.to_std() {
            self.note_failure();
        } else {
            self.failures = 0;
        }
        self.place = Place::At { version };
    }

    /// The watch failed. After a failure of the line it is resumed where it was; after a refusal by the server, that
    /// place is in doubt, and all nodes are listed anew.
    fn cut(&mut self, version: String, error: &kube::Error) -> Option<NodeEvent> {
        self.note_failure();
        let lost = fault::failed(WATCHING, Purpose::Observe, error);
        if lost.class == FaultClass::Unreachable {
            self.place = Place::At { version };
        }
        // The server answered and only wants us to list again, so nothing is lost.
        (!is_too_old(error)).then_some(NodeEvent::Lost(lost))
    }
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

/// All nodes, and the version of the list.
async fn list_all(api: &Api<Node>) -> kube::Result<(Vec<NodeSeen>, Option<String>)> {
    let mut params = ListParams::default().limit(PAGE_SIZE);
    let mut nodes = Vec::new();
    loop {
        let page = api.list(&params).await?;
        nodes.extend(page.items.iter().filter_map(node_seen));
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => return Ok((nodes, page.metadata.resource_version.filter(|version| !version.is_empty()))),
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
