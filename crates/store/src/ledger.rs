//! What a store contains, as one value, and every rule about changing it.
//!
//! Both stores decide here, so that they cannot disagree about a conflict or an epoch. The maps share structure:
//! a copy is cheap, so a writer changes a draft, makes it durable, and only then lets readers see it. Nothing here
//! reads a clock, writes a file or wakes anybody.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use imbl::OrdMap;
use model::{Span, Timestamp};

use crate::record::Records;
use crate::{Change, Commit, Document, Expected, Fence, Lease, Listing, NewRecord, Retention, Revision, StoreError};

#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    revision: Revision,
    /// Changes up to and including this revision are no longer kept anywhere.
    compacted: Revision,
    documents: OrdMap<Arc<str>, Stored>,
    leases: OrdMap<Arc<str>, Tenure>,
    log: OrdMap<Revision, Logged>,
    logged_changes: u64,
    /// Commits up to and including this revision have been `shelve`d: their changes are only in the archive.
    shelved: Revision,
    held_changes: u64,
    /// Of the log, wherever its records are kept.
    record_count: u64,
    /// The records themselves, of a store that has no file for them.
    pub records: Records,
}

#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub value: Bytes,
    pub revision: Revision,
}

/// The state of one lease. It outlives its holder, because the epoch must never start again.
#[derive(Clone, Debug)]
pub(crate) struct Tenure {
    /// Nobody once it was released.
    pub holder: Option<String>,
    pub epoch: u64,
    pub expires_at: Timestamp,
}

/// One commit in the log.
#[derive(Clone, Debug)]
pub(crate) struct Logged {
    pub at: Timestamp,
    pub count: u64,
    /// Absent once the changes were shelved.
    pub changes: Option<Arc<[Change]>>,
}

/// What an accepted commit did; `changes` and `records` are empty if it only checked.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub revision: Revision,
    pub at: Timestamp,
    pub changes: Arc<[Change]>,
    pub records: Vec<NewRecord>,
}

impl Accepted {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.records.is_empty()
    }
}

/// What a watcher finds after its position.
#[derive(Debug)]
pub(crate) enum Next {
    Changes(Vec<Change>),
    /// Nothing for this watcher up to and including this revision.
    CaughtUp(Revision),
    /// The changes up to and including `through` must be read from the archive.
    Shelved {
        through: Revision,
    },
}

/// What some commits touch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Touched<'a> {
    /// In order.
    Keys(Vec<&'a str>),
    /// It is not in memory any more.
    Anything,
}

impl Touched<'_> {
    pub fn includes(&self, prefix: &str) -> bool {
        match self {
            Touched::Anything => true,
            // Keys with a prefix follow it at once.
            Touched::Keys(keys) => keys.get(keys.partition_point(|key| *key < prefix)).is_some_and(|key| key.starts_with(prefix)),
        }
    }
}

impl Ledger {
    /// A ledger as it was written down. `log` is in revision order.
    pub fn restore(
        (revision, compacted): (Revision, Revision),
        documents: OrdMap<Arc<str>, Stored>,
        leases: OrdMap<Arc<str>, Tenure>,
        log: OrdMap<Revision, Logged>,
        record_count: u64,
    ) -> Self {
        let logged_changes = log.values().map(|logged| logged.count).sum();
        let records = Records::default();
        Ledger { revision, compacted, documents, leases, log, logged_changes, shelved: revision, held_changes: 0, record_count, records }
    }

    pub fn revision(&self) -> Revision {
        self.revision
    }

    pub fn compacted(&self) -> Revision {
        self.compacted
    }

    pub fn get(&self, key: &str) -> Option<Document> {
        self.documents.get(key).map(|stored| document(key, stored))
    }

    pub fn list(&self, prefix: &str) -> Listing {
        let documents = self
            .documents
            .range::<_, str>((Bound::Included(prefix), Bound::Unbounded))
            .take_while(|(key, _)| key.starts_with(prefix))
            .map(|(key, stored)| document(key, stored))
            .collect();
        Listing { revision: self.revision, documents }
    }

    pub fn commit(&mut self, commit: Commit, now: Timestamp) -> Result<Accepted, StoreError> {
        if let Some(fence) = &commit.fence {
            self.check_fence(fence)?;
        }
        for (key, expected) in &commit.expected {
            self.check_expected(key, *expected)?;
        }
        let revision = Revision(self.revision.0 + 1);
        let mut changes = Vec::with_capacity(commit.writes.len());
        for (key, value) in commit.writes {
            if self.write(&key, value.as_ref(), revision) {
                changes.push(Change { revision, at: now, key, value });
            }
        }
        let accepted = Accepted { revision, at: now, changes: changes.into(), records: commit.records };
        if accepted.is_empty() {
            return Ok(Accepted { revision: self.revision, ..accepted });
        }
        self.log_accepted(&accepted);
        Ok(accepted)
    }

    fn log_accepted(&mut self, accepted: &Accepted) {
        let count = accepted.changes.len() as u64;
        self.revision = accepted.revision;
        self.logged_changes += count;
        self.held_changes += count;
        self.record_count += accepted.records.len() as u64;
        self.log.insert(accepted.revision, Logged { at: accepted.at, count, changes: Some(Arc::clone(&accepted.changes)) });
    }

    /// Does again what a commit did to another draft, from which nothing that came before it has been left out.
    pub fn repeat(&mut self, accepted: &Accepted) {
        if !accepted.is_empty() {
            for change in accepted.changes.iter() {
                self.write(&change.key, change.value.as_ref(), accepted.revision);
            }
            self.log_accepted(accepted);
        }
    }

    /// The same with a lease.
    pub fn repeat_tenure(&mut self, name: &str, tenure: Tenure) {
        self.leases.insert(name.into(), tenure);
    }

    pub fn record_count(&self) -> u64 {
        self.record_count
    }

    /// The oldest records were removed from where they are kept.
    pub fn forget_records(&mut self, count: u64) {
        self.record_count -= count;
    }

    /// Whether anything was written: deleting what does not exist is nothing.
    fn write(&mut self, key: &str, value: Option<&Bytes>, revision: Revision) -> bool {
        match value {
            Some(value) => {
                let stored = Stored { value: value.clone(), revision };
                // A key that is known need not be made again.
                match self.documents.get_mut(key) {
                    Some(before) => *before = stored,
                    None => drop(self.documents.insert(key.into(), stored)),
                }
                true
            }
            None => self.documents.remove(key).is_some(),
        }
    }

    fn check_expected(&self, key: &str, expected: Expected) -> Result<(), StoreError> {
        let found = self.documents.get(key).map(|stored| stored.revision);
        let wanted = match expected {
            Expected::Absent => None,
            Expected::At(revision) => Some(revision),
        };
        if found == wanted { Ok(()) } else { Err(StoreError::Conflict { key: key.to_owned(), found }) }
    }

    fn check_fence(&self, fence: &Fence) -> Result<(), StoreError> {
        match self.leases.get(fence.lease.as_str()) {
            Some(tenure) if tenure.epoch == fence.epoch && tenure.holder.is_some() => Ok(()),
            _ => Err(StoreError::Fenced { lease: fence.lease.clone(), held: fence.epoch }),
        }
    }

    pub fn acquire_lease(&mut self, name: &str, holder: &str, ttl: Span, now: Timestamp) -> Result<Lease, StoreError> {
        let epoch = match self.leases.get(name) {
            None => 1,
            Some(tenure) => match tenure.holder_at(now) {
                None => tenure.epoch + 1,
                Some(current) if current == holder => tenure.epoch,
                Some(other) => {
                    return Err(StoreError::LeaseHeld { lease: name.to_owned(), holder: other.to_owned(), until: tenure.expires_at });
                }
            },
        };
        Ok(self.grant(name, holder, epoch, now + ttl))
    }

    pub fn renew_lease(&mut self, lease: &Lease, ttl: Span, now: Timestamp) -> Result<Lease, StoreError> {
        let held = self.leases.get(lease.name.as_str()).is_some_and(|tenure| tenure.is(lease) && tenure.holder_at(now).is_some());
        if !held {
            return Err(StoreError::Fenced { lease: lease.name.clone(), held: lease.epoch });
        }
        Ok(self.grant(&lease.name, &lease.holder, lease.epoch, now + ttl))
    }

    /// The lease as it is after it was given back; nothing if it was not held any more.
    pub fn release_lease(&mut self, lease: &Lease, now: Timestamp) -> Option<Tenure> {
        let tenure = self.leases.get_mut(lease.name.as_str()).filter(|tenure| tenure.is(lease))?;
        tenure.holder = None;
        tenure.expires_at = now;
        Some(tenure.clone())
    }

    fn grant(&mut self, name: &str, holder: &str, epoch: u64, expires_at: Timestamp) -> Lease {
        self.leases.insert(name.into(), Tenure { holder: Some(holder.to_owned()), epoch, expires_at });
        Lease { name: name.to_owned(), holder: holder.to_owned(), epoch, expires_at }
    }

    /// The first commit after `position` that touches `prefix`.
    pub fn next_after(&self, position: Revision, prefix: &str) -> Result<Next, StoreError> {
        self.check_kept(position)?;
        for (_, logged) in self.log.range::<_, Revision>((Bound::Excluded(position), Bound::Unbounded)) {
            let Some(changes) = &logged.changes else {
                return Ok(Next::Shelved { through: self.shelved });
            };
            let seen: Vec<Change> = changes.iter().filter(|change| change.key.starts_with(prefix)).cloned().collect();
            if !seen.is_empty() {
                return Ok(Next::Changes(seen));
            }
        }
        Ok(Next::CaughtUp(self.revision.max(position)))
    }

    /// What the commits after `position` touch: gathered once, however many watchers are then asked about.
    pub fn touched_after(&self, position: Revision) -> Touched<'_> {
        // Those that are forgotten already may have touched anything.
        if position < self.compacted {
            return Touched::Anything;
        }
        let mut keys = Vec::new();
        for (_, logged) in self.log.range::<_, Revision>((Bound::Excluded(position), Bound::Unbounded)) {
            let Some(changes) = &logged.changes else { return Touched::Anything };
            keys.extend(changes.iter().map(|change| change.key.as_str()));
        }
        keys.sort_unstable();
        Touched::Keys(keys)
    }

    pub fn check_kept(&self, position: Revision) -> Result<(), StoreError> {
        if position < self.compacted {
            return Err(StoreError::Compacted { asked: position, oldest: Revision(self.compacted.0 + 1) });
        }
        Ok(())
    }

    /// The newest `limit` changes under `prefix` that are not shelved, oldest first.
    pub fn history(&self, prefix: &str, limit: usize) -> Vec<Change> {
        let newest_first = self.log.iter().rev().filter_map(|(_, logged)| logged.changes.as_ref()).flat_map(|changes| changes.iter().rev());
        let mut changes: Vec<Change> = newest_first.filter(|change| change.key.starts_with(prefix)).take(limit).cloned().collect();
        changes.reverse();
        changes
    }

    /// Forgets the oldest commits until the log keeps to `retention`.
    ///
    /// The newest commit always stays, so that a watcher that keeps up is never refused.
    pub fn trim(&mut self, retention: Retention, now: Timestamp) {
        let oldest_kept_at = now - retention.age;
        while let Some(&(revision, ref oldest)) = self.log.get_min() {
            // Commits are counted too: one that only recorded something has no changes.
            let is_over = self.logged_changes.max(self.log.len() as u64) > retention.changes || oldest.at < oldest_kept_at;
            if !is_over || revision == self.revision {
                break;
            }
            let count = oldest.count;
            if oldest.changes.is_some() {
                self.held_changes -= count;
            }
            self.log.remove(&revision);
            self.logged_changes -= count;
            self.compacted = revision;
            self.shelved = self.shelved.max(revision);
        }
    }

    /// Drops the changes of all but the newest commits from memory, to about `most_held` changes; but of those after `heard`, of which some
    /// watcher has not heard, to about `most_awaited`. The log still knows when each commit was and how large.
    pub fn shelve(&mut self, most_held: u64, most_awaited: u64, heard: Revision) {
        while self.held_changes > most_held {
            let next = Revision(self.shelved.0 + 1);
            if next > heard && self.held_changes <= most_awaited {
                break;
            }
            let Some(logged) = self.log.get_mut(&next) else { break };
            logged.changes = None;
            self.held_changes -= logged.count;
            self.shelved = next;
        }
    }
}

impl Tenure {
    fn holder_at(&self, now: Timestamp) -> Option<&str> {
        self.holder.as_deref().filter(|_| now < self.expires_at)
    }

    fn is(&self, lease: &Lease) -> bool {
        self.epoch == lease.epoch && self.holder.as_deref() == Some(lease.holder.as_str())
    }
}

fn document(key: &str, stored: &Stored) -> Document {
    Document { key: key.to_owned(), value: stored.value.clone(), revision: stored.revision }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_794_744_000_000);

    fn ledger_with_commits(count: u64) -> Ledger {
        let mut ledger = Ledger::default();
        for n in 0..count {
            ledger.commit(Commit::default().put(format!("k{n}"), "v"), NOON + Span::minutes(n)).unwrap();
        }
        ledger
    }

    #[test]
    fn trimming_keeps_the_newest_commit_even_when_it_is_too_large_and_too_old() {
        let mut ledger = ledger_with_commits(3);
        ledger.trim(Retention { changes: 0, age: Span::ZERO, ..Retention::default() }, NOON + Span::hours(9));
        assert_eq!(ledger.compacted(), Revision(2));
        assert_eq!(ledger.history("", 9).len(), 1);
    }

    #[test]
    fn trimming_by_age_keeps_what_is_young_enough() {
        let mut ledger = ledger_with_commits(10);
        ledger.trim(Retention { changes: 100, age: Span::minutes(4), ..Retention::default() }, NOON + Span::minutes(9));
        assert_eq!(ledger.compacted(), Revision(5), "the commit of minute 5 is the oldest within four minutes");
    }

    #[test]
    fn what_commits_touch_is_told_by_prefix_and_is_anything_once_they_are_shelved() {
        let mut ledger = Ledger::default();
        for key in ["b/2", "a", "b/1", "c"] {
            ledger.commit(Commit::default().put(key, "v"), NOON).unwrap();
        }
        let included = |position: u64| {
            ["", "a", "b", "b/", "b/1", "b/10", "c", "d"].map(|prefix| ledger.touched_after(Revision(position)).includes(prefix))
        };
        assert_eq!(included(0), [true, true, true, true, true, false, true, false]);
        assert_eq!(included(3), [true, false, false, false, false, false, true, false]);
        assert_eq!(included(4), [false; 8]);
        ledger.shelve(1, 1, Revision(4));
        assert_eq!(ledger.touched_after(Revision(2)), Touched::Anything);
        assert_eq!(ledger.touched_after(Revision(3)), Touched::Keys(vec!["c"]));
    }

    #[test]
    fn shelved_commits_are_left_to_the_archive_and_the_rest_is_served_from_memory() {
        let mut ledger = ledger_with_commits(10);
        ledger.shelve(4, 4, Revision(10));
        assert!(matches!(ledger.next_after(Revision(0), ""), Ok(Next::Shelved { through: Revision(6) })));
        assert!(matches!(ledger.next_after(Revision(6), ""), Ok(Next::Changes(changes)) if changes[0].revision == Revision(7)));
    }

    #[test]
    fn what_a_watcher_has_not_heard_of_stays_in_memory_for_longer_but_not_for_ever() {
        let mut ledger = ledger_with_commits(10);
        ledger.shelve(2, 6, Revision(7));
        assert_eq!(ledger.shelved, Revision(7), "of those after it nobody can be sure");
        let mut ledger = ledger_with_commits(10);
        ledger.shelve(2, 6, Revision(1));
        assert_eq!((ledger.shelved, ledger.held_changes), (Revision(4), 6));
        let mut ledger = ledger_with_commits(10);
        ledger.shelve(2, 6, Revision(10));
        assert_eq!(ledger.shelved, Revision(8), "all have heard");
    }

    #[test]
    fn trimming_past_the_shelf_leaves_the_counts_right() {
        let mut ledger = ledger_with_commits(10);
        ledger.shelve(4, 4, Revision(10));
        ledger.trim(Retention { changes: 2, ..Retention::default() }, NOON);
        assert_eq!((ledger.logged_changes, ledger.held_changes), (2, 2));
        ledger.shelve(0, 0, Revision(10));
        assert_eq!((ledger.held_changes, ledger.shelved), (0, Revision(10)));
    }
}
