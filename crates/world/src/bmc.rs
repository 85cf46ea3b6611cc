//! A BMC's own log: what it was asked, what its machine's power did, and what it did itself. Tests read it as the witness of a crash.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::time::Instant;

/// How many entries a BMC keeps. Real ones wrap their log too; the counters go on.
pub(crate) const LOG_LENGTH: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Logged {
    /// A reset arrived from an authenticated caller and was answered with this HTTP status.
    ResetRequested {
        reset: String,
        status: u16,
    },
    PoweredOn,
    PoweredOff,
    BmcRestarted,
    TaskEnded {
        task: u64,
        has_succeeded: bool,
    },
    MediaInserted {
        image: String,
    },
    MediaEjected {
        image: String,
    },
    BiosSettingsApplied,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Counts from 1 and is never used twice.
    pub number: u64,
    pub at: Instant,
    pub logged: Logged,
}

/// How often each kind of entry was written, over the machine's whole life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    pub resets_requested: u64,
    pub powered_on: u64,
    pub powered_off: u64,
    /// Entries of all other kinds.
    #[serde(default)]
    pub others: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BmcLog {
    pub(crate) entries: VecDeque<LogEntry>,
    pub(crate) counters: Counters,
}

impl BmcLog {
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &LogEntry> + ExactSizeIterator {
        self.entries.iter()
    }

    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The number of the last entry; entries count from 1.
    pub fn last_number(&self) -> u64 {
        let Counters { resets_requested, powered_on, powered_off, others } = self.counters;
        resets_requested + powered_on + powered_off + others
    }

    /// Writes an entry and returns the number of the one that fell out, if one did.
    pub(crate) fn write(&mut self, at: Instant, logged: Logged) -> Option<u64> {
        let counter = match logged {
            Logged::ResetRequested { .. } => &mut self.counters.resets_requested,
            Logged::PoweredOn => &mut self.counters.powered_on,
            Logged::PoweredOff => &mut self.counters.powered_off,
            _ => &mut self.counters.others,
        };
        *counter += 1;
        let number = self.last_number();
        self.entries.push_back(LogEntry { number, at, logged });
        if self.entries.len() > LOG_LENGTH { self.entries.pop_front().map(|entry| entry.number) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_forgets_its_oldest_entry_but_counts_on() {
        let mut log = BmcLog::default();
        let fallen: Vec<u64> = (0..1_002).filter_map(|_| log.write(Instant(0), Logged::PoweredOn)).collect();
        assert_eq!(fallen, [1, 2]);
        assert_eq!(log.entries().len(), LOG_LENGTH);
        assert_eq!(log.counters().powered_on, 1_002);
        assert_eq!(log.entries().next_back().unwrap().number, 1_002);
    }
}
