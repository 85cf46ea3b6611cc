//! One listener's stream: the events that it chose, in order, and a sign of life when there are none.

use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;

use bytes::Bytes;
use futures::Stream;
use model::Span;
use tokio::time::Instant;

use super::Filter;
use super::feed::{Event, Next, Position, Seat};
use super::render::lost;
use crate::cache::Cache;
use crate::entry::{Badge, Sight};

/// How often a listener without news hears that we are still there. Proxies and clients commonly give up after 30 s.
pub const HEARTBEAT_EVERY: Span = Span::seconds(15);

/// How long a client should wait before it connects again.
const RECONNECT_AFTER: Span = Span::seconds(2);

pub(super) struct Listener {
    cache: Arc<Cache>,
    filter: Filter,
    sight: Sight,
    badge: Badge,
    /// When it is looked at whether the listener would still be let in.
    look_at: Instant,
    seat: Seat,
    /// Events of a commit were sent, but not yet its id: the client would ask for them again.
    owes_id: bool,
    /// When a sign of life is due, if nothing is sent before.
    heartbeat_at: Instant,
    ended: bool,
}

/// The stream's bytes from the seat on.
pub(super) fn stream(
    cache: Arc<Cache>,
    filter: Filter,
    (sight, badge): (Sight, Badge),
    seat: Seat,
) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let begin = seat.position.revision();
    let mut greeting = format!("retry: {}\nid: {}\n\n", RECONNECT_AFTER.as_millis(), begin.0);
    if seat.came_late {
        greeting.push_str(&lost("late", begin));
    }
    let now = Instant::now();
    let look_at = now + HEARTBEAT_EVERY.to_std();
    let listener = Listener { cache, filter, sight, badge, look_at, seat, owes_id: false, heartbeat_at: now, ended: false };
    futures::stream::unfold((Some(greeting), listener), |(greeting, mut listener)| async move {
        let text = match greeting {
            Some(greeting) => greeting,
            None => listener.next().await?,
        };
        listener.heartbeat_at = Instant::now() + HEARTBEAT_EVERY.to_std();
        Some((Ok(Bytes::from(text)), (None, listener)))
    })
}

impl Listener {
    /// What to send next; nothing once the stream has ended.
    async fn next(&mut self) -> Option<String> {
        let cache = self.cache.clone();
        let feed = cache.feed();
        while !self.ended {
            if !self.is_welcome() {
                break;
            }
            // Listened to before the tail is read, so that news in between are not missed.
            let changed = feed.changed();
            match feed.next_after(self.seat.position, self.seat.readings) {
                Next::Events(events) => {
                    let text = self.write(&events);
                    if !text.is_empty() {
                        return Some(text);
                    }
                }
                Next::CaughtUp(head) => {
                    self.seat.position = self.seat.position.max(Position::after(head));
                    // News that were not chosen do not put it off: the client hears nothing of them.
                    if tokio::time::timeout_at(self.heartbeat_at, changed).await.is_err() || Instant::now() >= self.heartbeat_at {
                        return Some(self.heartbeat());
                    }
                }
                Next::ReadAgain { head, readings } => {
                    self.seat.readings = readings;
                    self.seat.position = Position::after(head);
                    self.owes_id = false;
                    return Some(lost("readAgain", head));
                }
                Next::FellBehind(head) => {
                    self.ended = true;
                    return Some(lost("slow", head));
                }
                Next::Closed => self.ended = true,
            }
        }
        None
    }

    /// Whether the listener would still be let in; looked at now and then, because a signature takes longer than most events.
    fn is_welcome(&mut self) -> bool {
        let now = Instant::now();
        if now < self.look_at {
            return true;
        }
        self.look_at = now + HEARTBEAT_EVERY.to_std();
        self.ended = !self.badge.is_good();
        !self.ended
    }

    /// A comment, and how far everything has been told: whoever comes back need not have heard an event since.
    fn heartbeat(&self) -> String {
        format!(": still here\nid: {}\n\n", self.seat.position.revision().0)
    }

    fn write(&mut self, events: &[Arc<Event>]) -> String {
        // A role may have been given or taken since the last.
        self.sight = self.sight.afresh();
        let mut text = String::new();
        for event in events {
            self.seat.position = event.at;
            let chosen = self.filter.takes(&event.news) && self.sight.sees(&event.news.resource_id);
            if chosen {
                text.push_str(&event.news.lines);
            }
            self.owes_id |= chosen;
            // The id comes with the last event of a commit, so that a stream that is cut before it is resumed at its first.
            if event.ends_commit && self.owes_id {
                let _ = write!(text, "id: {}\n\n", event.at.revision().0);
                self.owes_id = false;
            } else if chosen {
                text.push('\n');
            }
        }
        text
    }
}
