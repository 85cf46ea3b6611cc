//! The log of records: what it takes, how it is asked, and how a store without a file keeps it.
//!
//! A record is written with its commit, is never changed, and is forgotten when it is too old or there are too many.
//! What a record says is not known here: it is bytes, and labels to find them by.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use imbl::OrdMap;
use model::Timestamp;

use crate::ledger::Accepted;
use crate::{Retention, Revision};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecord {
    /// What the record can be found by. A label that is given twice counts once.
    pub labels: Vec<String>,
    pub value: Bytes,
}

/// Where a record stands: the commit that wrote it, and its number there, from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordPlace {
    pub revision: Revision,
    pub position: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub place: RecordPlace,
    /// When its commit was.
    pub at: Timestamp,
    pub value: Bytes,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogOrder {
    #[default]
    NewestFirst,
    OldestFirst,
}

/// Which records to read; without any condition, `limit` of the newest.
#[derive(Clone, Debug, Default)]
pub struct LogQuery {
    pub label: Option<String>,
    /// The first and the last instant that count.
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// Begin behind this place, in the order that is asked for.
    pub after: Option<RecordPlace>,
    pub order: LogOrder,
    pub limit: usize,
}

impl RecordPlace {
    /// The place just before this one, so that a reader that begins behind it meets this record first.
    pub fn predecessor(self) -> RecordPlace {
        match self.position.checked_sub(1) {
            Some(position) => RecordPlace { position, ..self },
            None => RecordPlace { revision: Revision(self.revision.0.saturating_sub(1)), position: u32::MAX },
        }
    }
}

/// The places that the `n`-th records of a commit have.
pub(crate) fn places(revision: Revision) -> impl Iterator<Item = RecordPlace> {
    (0..=u32::MAX).map(move |position| RecordPlace { revision, position })
}

/// Records in memory, for a store that has nothing else.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records(OrdMap<RecordPlace, Arc<Kept>>);

#[derive(Debug)]
struct Kept {
    at: Timestamp,
    record: NewRecord,
}

impl Records {
    pub fn keep(&mut self, accepted: Accepted) {
        for (place, record) in places(accepted.revision).zip(accepted.records) {
            self.0.insert(place, Arc::new(Kept { at: accepted.at, record }));
        }
    }

    pub fn read(&self, query: &LogQuery) -> Vec<Record> {
        match query.order {
            LogOrder::NewestFirst => {
                let end = query.after.map_or(Bound::Unbounded, Bound::Excluded);
                select(self.0.range::<_, RecordPlace>((Bound::Unbounded, end)).rev(), query)
            }
            LogOrder::OldestFirst => {
                let begin = query.after.map_or(Bound::Unbounded, Bound::Excluded);
                select(self.0.range::<_, RecordPlace>((begin, Bound::Unbounded)), query)
            }
        }
    }

    /// Forgets what is over the limits; returns how many records that were.
    pub fn trim(&mut self, retention: Retention, now: Timestamp) -> u64 {
        let oldest_kept_at = now - retention.record_age;
        let mut forgotten = 0;
        while let Some(&(place, ref oldest)) = self.0.get_min() {
            if self.0.len() as u64 <= retention.records && oldest.at >= oldest_kept_at {
                break;
            }
            self.0.remove(&place);
            forgotten += 1;
        }
        forgotten
    }
}

fn select<'a>(kept: impl Iterator<Item = (&'a RecordPlace, &'a Arc<Kept>)>, query: &LogQuery) -> Vec<Record> {
    let is_in_time = |at: Timestamp| query.from.is_none_or(|from| at >= from) && query.to.is_none_or(|to| at <= to);
    let has_label = |record: &NewRecord| query.label.as_ref().is_none_or(|label| record.labels.contains(label));
    kept.filter(|(_, kept)| is_in_time(kept.at) && has_label(&kept.record))
        .take(query.limit)
        .map(|(place, kept)| Record { place: *place, at: kept.at, value: kept.record.value.clone() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_the_predecessor_of_a_place_that_place_comes_first() {
        let place = |revision, position| RecordPlace { revision: Revision(revision), position };
        assert_eq!(place(3, 7).predecessor(), place(3, 6));
        assert_eq!(place(3, 0).predecessor(), place(2, u32::MAX));
        assert!(place(2, 1_000_000) < place(3, 0).predecessor());
    }
}
