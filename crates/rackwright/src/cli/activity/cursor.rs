//! How far a follower of the activity log has come: what is new in an answer, and from when on to ask next.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::cli::answer::field;

/// An entry may be written this much later than the time that it carries, and is shown all the same.
const LATEST_BY: SignedDuration = SignedDuration::from_secs(120);

/// Only the server's own times are compared, so the two clocks need not agree.
#[derive(Debug)]
pub struct Cursor {
    first: Timestamp,
    newest: Option<Timestamp>,
    seen: BTreeMap<String, Timestamp>,
}

impl Cursor {
    pub fn new(first: Timestamp) -> Cursor {
        Cursor { first, newest: None, seen: BTreeMap::new() }
    }

    /// From when on to ask: a little before the newest entry, never before the first.
    pub fn start(&self) -> Timestamp {
        let back = self.newest.and_then(|newest| newest.checked_sub(LATEST_BY).ok());
        back.map_or(self.first, |back| back.max(self.first))
    }

    /// The entries that were not there before, the oldest first.
    pub fn take(&mut self, entries: Vec<Value>) -> Vec<Value> {
        let mut new: Vec<(Timestamp, Value)> = Vec::new();
        for entry in entries {
            let id = field(&entry, "/eventDataId").or_else(|| field(&entry, "/id")).unwrap_or_default();
            // One whose time cannot be read is taken for the oldest: it is shown, and moves nothing.
            let at = field(&entry, "/eventTimestamp").and_then(|text| text.parse().ok()).unwrap_or(self.first);
            if self.seen.insert(id, at).is_none() {
                new.push((at, entry));
            }
        }
        self.newest = new.iter().map(|(at, _)| *at).chain(self.newest).max();
        let start = self.start();
        self.seen.retain(|_, at| *at >= start);
        // The server lists the newest first; entries of one instant keep that order, turned round.
        new.reverse();
        new.sort_by_key(|(at, _)| *at);
        new.into_iter().map(|(_, entry)| entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const FIRST: &str = "2026-11-15T14:00:00Z";

    fn first() -> Timestamp {
        FIRST.parse().unwrap()
    }

    fn entry(id: usize, seconds: i64) -> Value {
        let at = first() + SignedDuration::from_secs(seconds);
        json!({ "eventDataId": id.to_string(), "eventTimestamp": at.to_string() })
    }

    fn ids(entries: &[Value]) -> Vec<&str> {
        entries.iter().map(|entry| entry["eventDataId"].as_str().unwrap()).collect()
    }

    #[test]
    fn an_entry_is_new_once_and_the_oldest_comes_first() {
        let mut cursor = Cursor::new(first());
        assert_eq!(ids(&cursor.take(vec![entry(2, 20), entry(1, 10)])), ["1", "2"]);
        assert_eq!(ids(&cursor.take(vec![entry(3, 20), entry(2, 20), entry(1, 10)])), ["3"]);
        assert_eq!(cursor.start(), first(), "it never asks for what was not asked for");
        assert_eq!(ids(&cursor.take(vec![entry(4, 300)])), ["4"]);
        assert_eq!(cursor.start(), first() + SignedDuration::from_secs(180));
        assert_eq!(cursor.seen.len(), 1, "what can no longer be listed is forgotten");
    }

    proptest! {
        /// Entries that are written up to `LATEST_BY` after their time, listed as a server would at each poll.
        #[test]
        fn each_entry_is_shown_exactly_once(written in prop::collection::vec((0_i64..600, 0_i64..=120), 0..40), polls in 1_i64..30) {
            let mut cursor = Cursor::new(first());
            let mut shown: Vec<usize> = Vec::new();
            for poll in 1..=polls {
                let now = 720 * poll / polls;
                let mut listed: Vec<(i64, usize)> = written
                    .iter()
                    .enumerate()
                    .filter(|(_, (at, delay))| at + delay <= now && first() + SignedDuration::from_secs(*at) >= cursor.start())
                    .map(|(id, (at, _))| (*at, id))
                    .collect();
                listed.sort_by(|a, b| b.cmp(a));
                let entries = listed.into_iter().map(|(at, id)| entry(id, at)).collect();
                let new = cursor.take(entries);
                shown.extend(ids(&new).iter().map(|id| id.parse::<usize>().unwrap()));
            }
            shown.sort_unstable();
            prop_assert_eq!(shown, (0..written.len()).collect::<Vec<_>>());
        }
    }
}
