//! Buckets that fill by themselves, as many as there is room for.
//!
//! Of a bucket only the instant is kept at which it will be full again. One that is full is as good as one that is not there.

use std::collections::{BTreeMap, BTreeSet};

use model::{Span, Timestamp};

/// How much a bucket holds, and how soon it gets one back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    pub burst: u32,
    pub every: Span,
}

#[derive(Clone, Debug)]
pub struct Buckets<K> {
    pace: Pace,
    most: usize,
    full_at: BTreeMap<K, Timestamp>,
    /// The same, the fullest first.
    by_fullness: BTreeSet<(Timestamp, K)>,
}

impl<K: Ord + Clone> Buckets<K> {
    pub fn new(pace: Pace, most: usize) -> Buckets<K> {
        Buckets { pace, most: most.max(1), full_at: BTreeMap::new(), by_fullness: BTreeSet::new() }
    }

    /// Takes one, or says how long it takes until there is one.
    pub fn take(&mut self, key: &K, now: Timestamp) -> Result<(), Span> {
        let latest = now + self.pace.every.times(self.pace.burst);
        let mut full_at = self.full_at.get(key).copied().unwrap_or(now).max(now);
        if full_at > latest {
            // Only a clock that was set back leaves such an instant. Nobody waits for longer than an empty bucket takes.
            self.put(key, latest);
            full_at = latest;
        }
        full_at = full_at + self.pace.every;
        if full_at > latest {
            return Err(full_at.since(latest));
        }
        self.put(key, full_at);
        self.make_room(now);
        Ok(())
    }

    pub fn give_back(&mut self, key: &K, now: Timestamp) {
        let Some(full_at) = self.full_at.get(key).copied() else { return };
        self.put(key, full_at - self.pace.every);
        self.make_room(now);
    }

    pub fn len(&self) -> usize {
        self.full_at.len()
    }

    pub fn is_empty(&self) -> bool {
        self.full_at.is_empty()
    }

    fn put(&mut self, key: &K, full_at: Timestamp) {
        if let Some(before) = self.full_at.insert(key.clone(), full_at) {
            self.by_fullness.remove(&(before, key.clone()));
        }
        self.by_fullness.insert((full_at, key.clone()));
    }

    /// Forgets a few buckets that are full, and the fullest while there are too many.
    fn make_room(&mut self, now: Timestamp) {
        const FULL_AT_ONCE: usize = 4;
        for _ in 0..FULL_AT_ONCE {
            let is_spare = |(full_at, _): &(Timestamp, K)| *full_at <= now || self.full_at.len() > self.most;
            if !self.by_fullness.first().is_some_and(is_spare) {
                return;
            }
            if let Some((_, key)) = self.by_fullness.pop_first() {
                self.full_at.remove(&key);
            }
        }
    }
}
