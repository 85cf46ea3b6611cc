//! Where `now` comes from: the wall clock, or tokio's time, which tests can pause and move.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use model::{Clock, Span, Timestamp};

/// The machine's wall clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => Timestamp::EPOCH + span(since),
            // A machine whose clock battery died can wake up before 1970.
            Err(before) => Timestamp::EPOCH - span(before.duration()),
        }
    }
}

/// A clock that starts at a chosen instant and moves with tokio's time.
///
/// While tokio's time is paused this is a virtual clock: it jumps exactly as the timers do, so that deadlines and
/// recorded instants agree.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    base: Timestamp,
    started: tokio::time::Instant,
}

impl TokioClock {
    pub fn starting_at(base: Timestamp) -> Self {
        TokioClock { base, started: tokio::time::Instant::now() }
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        self.base + span(self.started.elapsed())
    }
}

fn span(duration: Duration) -> Span {
    Span::millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_tokio_clock_jumps_with_paused_time() {
        let nine = Timestamp::parse("2026-11-15T09:00:00Z").unwrap();
        let clock = TokioClock::starting_at(nine);
        assert_eq!(clock.now(), nine);
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        assert_eq!(clock.now(), nine + Span::hours(1));
    }

    #[test]
    fn the_system_clock_is_past_the_day_this_was_written() {
        assert!(SystemClock.now() > Timestamp::parse("2025-01-01T00:00:00Z").unwrap());
    }
}
