//! What has changed lately, kept for everybody who listens: one bounded tail of events for the whole process.
//!
//! A listener has a position in the tail, not a queue of its own. However slow it is and however many there are, what is
//! kept is the tail; whoever falls out of it is told so.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use access::PrincipalId;
use store::Revision;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::seats::{Full, Seats, Taken};

/// Events that are kept for listeners that are behind or come back: minutes of a busy site, days of a quiet one.
pub const TAIL_EVENTS_MAX: usize = 8_192;

/// Bytes of events that are kept. One takes a few hundred; this holds when some are large.
pub const TAIL_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Events that a listener is handed at a time.
const HANDFUL: usize = 64;

/// What an event is about, as listeners choose by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Clusters,
    Racks,
    Machines,
    Vms,
    TenantClusters,
    Operations,
}

/// One event as it was rendered, once for all listeners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct News {
    pub subject: Subject,
    /// The resource that it is about; of an operation, what it is at work on.
    pub resource_id: String,
    /// The lines `event:` and `data:`.
    pub lines: String,
}

/// A place in the order of events: a commit, and one event of those that it made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    revision: Revision,
    index: usize,
}

impl Position {
    /// After all that a commit made.
    pub fn after(revision: Revision) -> Self {
        Position { revision, index: usize::MAX }
    }

    pub fn revision(self) -> Revision {
        self.revision
    }
}

#[derive(Debug)]
pub(crate) struct Event {
    pub at: Position,
    /// Whether the commit made no further event. Only then has a listener seen all of its revision.
    pub ends_commit: bool,
    pub news: News,
}

/// What there is after a position.
#[derive(Debug)]
pub(crate) enum Next {
    Events(Vec<Arc<Event>>),
    /// Nothing; everything up to this revision has been told.
    CaughtUp(Revision),
    /// The events after the position are no longer kept.
    FellBehind(Revision),
    /// Everything was read again, and what changed meanwhile is not known.
    ReadAgain {
        head: Revision,
        readings: u64,
    },
    Closed,
}

/// Where a listener begins.
#[derive(Debug)]
pub(crate) struct Seat {
    pub position: Position,
    pub readings: u64,
    /// It wanted to begin elsewhere, where events are no longer, or not yet, kept.
    pub came_late: bool,
    pub _taken: Taken,
}

#[derive(Debug)]
struct Tail {
    events: VecDeque<Arc<Event>>,
    bytes: usize,
    /// Everything after this is kept.
    floor: Position,
    head: Revision,
    /// How often everything was read again.
    readings: u64,
    closed: bool,
}

#[derive(Debug)]
pub(crate) struct Feed {
    tail: Mutex<Tail>,
    changed: Notify,
    seats: Arc<Seats>,
}

impl Feed {
    pub fn new(head: Revision) -> Self {
        let tail = Tail { events: VecDeque::new(), bytes: 0, floor: Position::after(head), head, readings: 0, closed: false };
        Feed { tail: Mutex::new(tail), changed: Notify::new(), seats: Arc::default() }
    }

    /// Tells what a commit changed. Whoever reads must see the commit already.
    pub fn publish(&self, revision: Revision, news: Vec<News>) {
        let mut tail = self.lock();
        let last = news.len().saturating_sub(1);
        for (index, news) in news.into_iter().enumerate() {
            tail.bytes += news.size();
            tail.events.push_back(Arc::new(Event { at: Position { revision, index }, ends_commit: index == last, news }));
        }
        tail.head = tail.head.max(revision);
        while tail.events.len() > TAIL_EVENTS_MAX || tail.bytes > TAIL_BYTES_MAX {
            let Some(oldest) = tail.events.pop_front() else { break };
            tail.bytes -= oldest.news.size();
            tail.floor = oldest.at;
        }
        drop(tail);
        self.changed.notify_waiters();
    }

    /// Everything was read again at this revision: what is kept does not lead there.
    pub fn read_again(&self, revision: Revision) {
        let mut tail = self.lock();
        tail.events.clear();
        tail.bytes = 0;
        tail.head = revision;
        tail.floor = Position::after(revision);
        tail.readings += 1;
        drop(tail);
        self.changed.notify_waiters();
    }

    /// Nothing more will come; every listener's stream ends.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_waiters();
    }

    /// A seat after the revision that the listener has seen last, or after the present one, unless too many are taken.
    pub fn sit_down(&self, listener: PrincipalId, last_seen: Option<Revision>) -> Result<Seat, Full> {
        let taken = self.seats.take(listener)?;
        let tail = self.lock();
        let wanted = last_seen.map(Position::after);
        let kept = |position: &Position| *position >= tail.floor && *position <= Position::after(tail.head);
        let came_late = wanted.is_some_and(|wanted| !kept(&wanted));
        let position = wanted.filter(kept).unwrap_or(Position::after(tail.head));
        Ok(Seat { position, readings: tail.readings, came_late, _taken: taken })
    }

    pub fn next_after(&self, position: Position, readings: u64) -> Next {
        let tail = self.lock();
        if tail.closed {
            return Next::Closed;
        }
        if tail.readings != readings {
            return Next::ReadAgain { head: tail.head, readings: tail.readings };
        }
        if position < tail.floor {
            return Next::FellBehind(tail.head);
        }
        let begin = tail.events.partition_point(|event| event.at <= position);
        let events: Vec<Arc<Event>> = tail.events.range(begin..).take(HANDFUL).cloned().collect();
        if events.is_empty() { Next::CaughtUp(tail.head) } else { Next::Events(events) }
    }

    /// Completes at the next change after this call, even if it is first polled later.
    pub fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// A panic cannot leave a tail behind that lies: events are whole before they are pushed.
    fn lock(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl News {
    fn size(&self) -> usize {
        self.lines.len() + self.resource_id.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(lines: impl Into<String>) -> News {
        News { subject: Subject::Machines, resource_id: String::new(), lines: lines.into() }
    }

    const SOMEBODY: PrincipalId = PrincipalId::new(uuid::Uuid::nil());

    fn told(feed: &Feed, position: Position) -> Vec<u64> {
        match feed.next_after(position, 0) {
            Next::Events(events) => events.iter().map(|event| event.at.revision().0).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_tail_is_bounded_by_count_and_the_oldest_go_first() {
        let feed = Feed::new(Revision(0));
        for revision in 1..=TAIL_EVENTS_MAX as u64 + 10 {
            feed.publish(Revision(revision), vec![news("x")]);
        }
        assert_eq!(feed.lock().events.len(), TAIL_EVENTS_MAX);
        assert!(matches!(feed.next_after(Position::after(Revision(9)), 0), Next::FellBehind(_)));
        assert_eq!(told(&feed, Position::after(Revision(10)))[0], 11);
        assert!(feed.sit_down(SOMEBODY, Some(Revision(9))).unwrap().came_late);
        assert!(!feed.sit_down(SOMEBODY, Some(Revision(10))).unwrap().came_late);
    }

    #[test]
    fn the_tail_is_bounded_by_bytes_whatever_one_commit_holds() {
        let feed = Feed::new(Revision(0));
        feed.publish(Revision(1), vec![news("x".repeat(TAIL_BYTES_MAX + 1))]);
        assert_eq!(feed.lock().events.len(), 0);
        assert_eq!(feed.lock().bytes, 0);
        assert!(matches!(feed.next_after(Position::after(Revision(0)), 0), Next::FellBehind(_)));
        assert!(matches!(feed.next_after(Position::after(Revision(1)), 0), Next::CaughtUp(Revision(1))));
    }

    #[test]
    fn whoever_has_seen_part_of_a_commit_that_was_trimmed_fell_behind() {
        let feed = Feed::new(Revision(0));
        feed.publish(Revision(1), vec![news("x".repeat(TAIL_BYTES_MAX / 2)), news("y".repeat(TAIL_BYTES_MAX / 2)), news("z")]);
        assert!(matches!(feed.next_after(Position::after(Revision(0)), 0), Next::FellBehind(_)));
        assert_eq!(told(&feed, Position { revision: Revision(1), index: 0 }), [1, 1]);
    }

    #[test]
    fn a_revision_that_is_not_there_yet_is_no_place_to_begin() {
        let feed = Feed::new(Revision(5));
        let seat = feed.sit_down(SOMEBODY, Some(Revision(6))).unwrap();
        assert_eq!((seat.came_late, seat.position), (true, Position::after(Revision(5))));
    }
}
