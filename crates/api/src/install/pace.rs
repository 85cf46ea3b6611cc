//! How often a machine may report: an agent that has gone wild must not keep its keeper from the others.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use model::{Attempt, OperationId, Span, Timestamp};

/// Reports of one attempt that may come at once.
pub const REPORTS_BURST: u32 = 60;

/// After them, one more for each of these.
pub const REPORTS_EVERY: Span = Span::millis(500);

#[derive(Debug)]
pub(super) struct Pace {
    burst: u32,
    every: Span,
    /// When the reports of an attempt will all be made up for. Those of which that is past are forgotten.
    owed: Mutex<BTreeMap<(OperationId, u32), Timestamp>>,
}

impl Pace {
    /// So many at once, and after them one more for each span.
    pub fn new(burst: u32, every: Span) -> Pace {
        Pace { burst, every, owed: Mutex::default() }
    }

    /// Counts a report, if there is room for it.
    pub fn allows(&self, attempt: &Attempt, now: Timestamp) -> bool {
        let mut owed = self.owed.lock().unwrap_or_else(PoisonError::into_inner);
        owed.retain(|_, until| *until > now);
        let until = owed.entry((attempt.operation.clone(), attempt.round)).or_insert(now);
        let is_allowed = *until < now + self.every.times(self.burst);
        if is_allowed {
            *until = *until + self.every;
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use model::{ClusterName, MachineName};

    use super::*;

    #[test]
    fn a_burst_is_let_through_and_then_one_after_the_other() {
        let attempt = Attempt {
            cluster: ClusterName::new("site").unwrap(),
            machine: MachineName::new("m1").unwrap(),
            operation: OperationId::new("1"),
            round: 1,
        };
        let (pace, now) = (Pace::new(REPORTS_BURST, REPORTS_EVERY), Timestamp::parse("2026-11-15T14:00:00.000Z").unwrap());
        assert_eq!((0..100).filter(|_| pace.allows(&attempt, now)).count(), REPORTS_BURST as usize);
        assert!(pace.allows(&Attempt { round: 2, ..attempt.clone() }, now), "another attempt has its own");
        let later = now + REPORTS_EVERY;
        assert!(pace.allows(&attempt, later) && !pace.allows(&attempt, later));
        let much_later = now + Span::hours(1);
        assert!(pace.allows(&attempt, much_later));
        assert_eq!(pace.owed.lock().unwrap().len(), 1, "what is made up for is forgotten");
    }
}
