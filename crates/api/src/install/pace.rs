//! How often a machine may report: an agent that has gone wild must not keep its keeper from the others.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use model::{Attempt, OperationId, Span, Timestamp};

/// Reports of one attempt that may come at once.
pub const REPORTS_BURST: u32 = 60;

/// After them, one more for each of these.
pub const REPORTS_EVERY: Span = Span::millis(500);

/// How often those that owe nothing any more are looked for. Whoever reports would look through everybody else's otherwise, and the more
/// machines are installed at once, the more each report would cost.
const FORGOTTEN_EVERY: Span = Span::seconds(5);

#[derive(Debug)]
pub(super) struct Pace {
    burst: u32,
    every: Span,
    debts: Mutex<Debts>,
}

#[derive(Debug)]
struct Debts {
    /// When the reports of an attempt will all be made up for.
    until: BTreeMap<(OperationId, u32), Timestamp>,
    /// When those of which that is past are forgotten next.
    forget_at: Timestamp,
}

impl Debts {
    fn forget_paid(&mut self, now: Timestamp) {
        if now >= self.forget_at {
            self.until.retain(|_, until| *until > now);
            self.forget_at = now + FORGOTTEN_EVERY;
        }
    }
}

impl Pace {
    /// So many at once, and after them one more for each span.
    pub fn new(burst: u32, every: Span) -> Pace {
        Pace { burst, every, debts: Mutex::new(Debts { until: BTreeMap::new(), forget_at: Timestamp::EPOCH }) }
    }

    /// Counts a report, if there is room for it.
    pub fn allows(&self, attempt: &Attempt, now: Timestamp) -> bool {
        let mut debts = self.debts.lock().unwrap_or_else(PoisonError::into_inner);
        debts.forget_paid(now);
        let until = debts.until.entry((attempt.operation.clone(), attempt.round)).or_insert(now);
        let is_allowed = *until < now + self.every.times(self.burst);
        if is_allowed {
            *until = (*until).max(now) + self.every;
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use model::{ClusterName, MachineName};

    use super::*;

    fn beginning() -> (Pace, Attempt, Timestamp) {
        let attempt = Attempt {
            cluster: ClusterName::new("site").unwrap(),
            machine: MachineName::new("m1").unwrap(),
            operation: OperationId::new("1"),
            round: 1,
        };
        (Pace::new(REPORTS_BURST, REPORTS_EVERY), attempt, Timestamp::parse("2026-11-15T14:00:00.000Z").unwrap())
    }

    #[test]
    fn a_burst_is_let_through_and_then_one_after_the_other() {
        let (pace, attempt, now) = beginning();
        assert_eq!((0..100).filter(|_| pace.allows(&attempt, now)).count(), REPORTS_BURST as usize);
        assert!(pace.allows(&Attempt { round: 2, ..attempt.clone() }, now), "another attempt has its own");
        let later = now + REPORTS_EVERY;
        assert!(pace.allows(&attempt, later) && !pace.allows(&attempt, later));
        let much_later = now + Span::hours(1);
        assert!(pace.allows(&attempt, much_later));
        assert_eq!(pace.debts.lock().unwrap().until.len(), 1, "what is made up for is forgotten");
    }

    #[test]
    fn nothing_is_saved_up_by_an_attempt_that_was_silent() {
        let (pace, attempt, now) = beginning();
        assert!(pace.allows(&attempt, now));
        let silence = REPORTS_EVERY.times(6);
        assert!(silence < FORGOTTEN_EVERY, "it is not forgotten yet");
        assert_eq!((0..100).filter(|_| pace.allows(&attempt, now + silence)).count(), REPORTS_BURST as usize);
    }
}
