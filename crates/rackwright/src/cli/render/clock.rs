//! Instants and durations as people read them. Always UTC, so that two people on call mean the same moment.

use jiff::Timestamp;
use serde_json::Value;

use crate::cli::answer::field;

/// Tells times relative to one `now`.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    now: Timestamp,
}

impl Clock {
    pub fn of_process() -> Clock {
        Clock { now: Timestamp::now() }
    }

    #[cfg(test)]
    pub fn at(now: &str) -> Clock {
        Clock { now: now.parse().unwrap() }
    }

    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// `14:02:10Z`, with its date if that is not today's; a dash if there is none.
    pub fn time(&self, value: &Value, pointer: &str) -> String {
        let Some(text) = field(value, pointer) else { return "-".to_owned() };
        let Ok(instant) = text.parse::<Timestamp>() else { return text };
        let day = |instant: Timestamp| instant.strftime("%Y-%m-%d").to_string();
        let clock = instant.strftime("%H:%M:%SZ");
        if day(instant) == day(self.now) { clock.to_string() } else { format!("{} {clock}", day(instant)) }
    }

    /// How long it took from one instant to the other: `4m 05s`, or `12s so far` while there is no other.
    pub fn took(&self, value: &Value, from: &str, to: &str) -> String {
        let instant = |pointer| field(value, pointer).and_then(|text| text.parse::<Timestamp>().ok());
        match (instant(from), instant(to)) {
            (None, _) => "-".to_owned(),
            (Some(from), Some(to)) => span(from, to),
            (Some(from), None) => format!("{} so far", span(from, self.now)),
        }
    }
}

/// The two largest units. A server whose clock is ahead of ours makes nothing negative.
pub fn span(from: Timestamp, to: Timestamp) -> String {
    let millis = (to.as_millisecond() - from.as_millisecond()).max(0);
    let seconds = millis / 1_000;
    match (seconds / 86_400, seconds / 3_600, seconds / 60, seconds) {
        (0, 0, 0, 0) => format!("{millis}ms"),
        (0, 0, 0, s) => format!("{s}s"),
        (0, 0, m, s) => format!("{m}m {:02}s", s % 60),
        (0, h, m, _) => format!("{h}h {:02}m", m % 60),
        (d, h, _, _) => format!("{d}d {:02}h", h % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const CLOCK: &str = "2026-11-15T14:05:00Z";

    #[test]
    fn today_needs_no_date() {
        let clock = Clock::at(CLOCK);
        let value = json!({ "a": "2026-11-15T14:02:10.123Z", "b": "2026-11-14T14:02:10Z", "c": "soon", "d": null });
        assert_eq!(clock.time(&value, "/a"), "14:02:10Z");
        assert_eq!(clock.time(&value, "/b"), "2026-11-14 14:02:10Z");
        assert_eq!(clock.time(&value, "/c"), "soon");
        assert_eq!(clock.time(&value, "/d"), "-");
    }

    #[test]
    fn a_duration_shows_its_two_largest_units() {
        let clock = Clock::at(CLOCK);
        let value = json!({ "a": "2026-11-15T14:00:00Z", "b": "2026-11-15T14:00:00.350Z", "c": "2026-11-15T13:00:00Z", "d": "2026-11-15T15:00:00Z" });
        assert_eq!(clock.took(&value, "/a", "/b"), "350ms");
        assert_eq!(clock.took(&value, "/c", "/a"), "1h 00m");
        assert_eq!(clock.took(&value, "/a", "/none"), "5m 00s so far");
        assert_eq!(clock.took(&value, "/d", "/none"), "0ms so far");
    }
}
