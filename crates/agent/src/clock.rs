//! The clock. Certificates are judged by it, and a machine whose battery is empty believes to live in another year.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rustix::time::{ClockId, Timespec, clock_settime};
use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;

/// How far the machine's clock may be ahead of what it is told before it is set back. What it is told is when the attempt began, so a good
/// clock is ahead of it by all that the machine took to start, and some start for half an hour.
const LEEWAY_AHEAD: SignedDuration = SignedDuration::from_hours(1);

/// One that is behind is off for certain, but for what times are rounded by.
const LEEWAY_BEHIND: SignedDuration = SignedDuration::from_secs(1);

/// What the machine's clock should be set to, if it is off.
pub fn decide_clock(now: Timestamp, told: Timestamp) -> Option<Timestamp> {
    let ahead = now.duration_since(told);
    (ahead < -LEEWAY_BEHIND || ahead > LEEWAY_AHEAD).then_some(told)
}

/// Whether the machine's own clock may be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineClock {
    Settable,
    /// It belongs to somebody else, as in tests: only the agent's own idea of the time changes.
    Foreign,
}

/// The time as the agent believes it: the machine's, and what that is off where it could not be set.
#[derive(Debug)]
pub struct Clock {
    machine: MachineClock,
    /// What is added to the machine's clock.
    off_ms: AtomicI64,
}

impl Clock {
    pub fn new(machine: MachineClock) -> Clock {
        Clock { machine, off_ms: AtomicI64::new(0) }
    }

    /// A clock that is off, for tests of what follows from that.
    pub fn off_by(off: SignedDuration) -> Clock {
        let clock = Clock::new(MachineClock::Foreign);
        clock.shift(off);
        clock
    }

    pub fn now(&self) -> Timestamp {
        let off = SignedDuration::from_millis(self.off_ms.load(Ordering::Relaxed));
        Timestamp::now().checked_add(off).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Sets the clock if it is too far from what it was told, and tells from when to when.
    pub fn heed(&self, told: Timestamp) -> Option<(Timestamp, Timestamp)> {
        let was = self.now();
        let new = decide_clock(was, told)?;
        if self.machine == MachineClock::Foreign || set_machine_clock(new).is_err() {
            self.shift(new.duration_since(was));
        }
        Some((was, new))
    }

    fn shift(&self, by: SignedDuration) {
        self.off_ms.fetch_add(by.as_millis().try_into().unwrap_or(0), Ordering::Relaxed);
    }
}

fn set_machine_clock(new: Timestamp) -> rustix::io::Result<()> {
    clock_settime(ClockId::Realtime, Timespec { tv_sec: new.as_second(), tv_nsec: new.subsec_nanosecond().into() })
}

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        let since_epoch = u64::try_from(self.now().as_second()).ok()?;
        Some(UnixTime::since_unix_epoch(Duration::from_secs(since_epoch)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_clock_is_set_if_it_is_behind_or_more_than_an_hour_ahead() {
        let told = at("2026-11-16T12:00:00.000Z");
        let cases = [
            ("2026-11-16T12:00:03Z", false),
            ("2026-11-16T13:00:00Z", false),
            ("2026-11-16T13:00:01Z", true),
            ("2026-11-16T12:00:00Z", false),
            ("2026-11-16T11:59:58Z", true),
            ("1970-01-01T00:00:07Z", true),
            ("2001-01-01T00:00:00Z", true),
            ("2107-01-01T00:00:00Z", true),
        ];
        for (now, is_set) in cases {
            assert_eq!(decide_clock(at(now), told), is_set.then_some(told), "{now}");
        }
    }

    #[test]
    fn a_clock_that_is_years_off_tells_the_right_time_afterwards() {
        let told = Timestamp::now();
        let clock = Clock::off_by(SignedDuration::from_hours(-24 * 365 * 20));
        assert!(clock.heed(told).is_some());
        assert!(clock.now().duration_since(told).abs() < SignedDuration::from_secs(60));
        assert_eq!(clock.heed(told), None);
    }
}
