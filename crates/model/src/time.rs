//! Instants and spans as the pure crates see them: milliseconds, no clock.

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An instant of wall time, to the millisecond.
///
/// Milliseconds are what Azure clients, Kubernetes and Redfish all keep when they round-trip a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const EPOCH: Timestamp = Timestamp(0);

    pub const fn from_millis(millis: i64) -> Self {
        Timestamp(millis)
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// How long before this instant `earlier` was; nothing if it was not before.
    pub fn since(self, earlier: Timestamp) -> Span {
        Span(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// `14:02:31Z`, for people who are looking at a clock. It says its zone: theirs may be another.
    pub fn clock(self) -> String {
        format!("{}Z", self.time_of_day())
    }

    /// `2026-03-09 14:02:31Z`, for what may have been on another day.
    pub fn dated(self) -> String {
        self.to_jiff().strftime("%Y-%m-%d %H:%M:%SZ").to_string()
    }

    /// `2026-12-31`, in UTC.
    pub fn date(self) -> String {
        self.to_jiff().strftime("%Y-%m-%d").to_string()
    }

    /// `14:02:31`, for a column of which everybody knows the zone.
    pub fn time_of_day(self) -> String {
        self.to_jiff().strftime("%H:%M:%S").to_string()
    }

    pub fn parse(text: &str) -> Option<Timestamp> {
        let parsed: jiff::Timestamp = text.parse().ok()?;
        Some(Timestamp(parsed.as_millisecond()))
    }

    fn to_jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::MAX)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.to_jiff())
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Add<Span> for Timestamp {
    type Output = Timestamp;
    fn add(self, span: Span) -> Timestamp {
        Timestamp(self.0.saturating_add(i64::try_from(span.0).unwrap_or(i64::MAX)))
    }
}

impl Sub<Span> for Timestamp {
    type Output = Timestamp;
    fn sub(self, span: Span) -> Timestamp {
        Timestamp(self.0.saturating_sub(i64::try_from(span.0).unwrap_or(i64::MAX)))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Timestamp::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not an RFC 3339 instant")))
    }
}

/// A length of time, to the millisecond.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(u64);

impl Span {
    pub const ZERO: Span = Span(0);

    pub const fn millis(n: u64) -> Self {
        Span(n)
    }

    pub const fn seconds(n: u64) -> Self {
        Span(n * 1_000)
    }

    pub const fn minutes(n: u64) -> Self {
        Span(n * 60_000)
    }

    pub const fn hours(n: u64) -> Self {
        Span(n * 3_600_000)
    }

    pub const fn as_millis(self) -> u64 {
        self.0
    }

    pub const fn to_std(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0)
    }

    /// This span at a world that runs `speed` times faster, but never under `floor`.
    pub fn scaled(self, speed: f64, floor: Span) -> Span {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "spans are far below 2^52 ms"
        )]
        let scaled = Span((self.0 as f64 / speed).round() as u64);
        scaled.max(floor.min(self))
    }

    pub fn times(self, n: u32) -> Span {
        Span(self.0.saturating_mul(u64::from(n)))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

/// The two largest units: `1h 20m`, `4m 05s`, `12s`, `350ms`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1_000;
        match (seconds / 86_400, seconds / 3_600, seconds / 60, seconds) {
            (0, 0, 0, 0) => write!(f, "{}ms", self.0),
            (0, 0, 0, s) => write!(f, "{s}s"),
            (0, 0, m, s) => write!(f, "{m}m {:02}s", s % 60),
            (0, h, m, _) => write!(f, "{h}h {:02}m", m % 60),
            (d, h, _, _) => write!(f, "{d}d {:02}h", h % 24),
        }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Where the shell gets `now` from; the pure crates only ever receive it as an argument.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_survives_json() {
        let at = Timestamp::from_millis(1_794_737_251_005);
        let json = serde_json::to_string(&at).unwrap();
        assert_eq!(json, "\"2026-11-15T10:07:31.005Z\"");
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), at);
    }

    #[test]
    fn a_span_prints_its_two_largest_units() {
        let printed: Vec<String> = [Span::millis(350), Span::seconds(12), Span::seconds(245), Span::minutes(80), Span::hours(50)]
            .iter()
            .map(Span::to_string)
            .collect();
        assert_eq!(printed, ["350ms", "12s", "4m 05s", "1h 20m", "2d 02h"]);
    }

    #[test]
    fn scaling_never_goes_under_the_floor_nor_over_the_original() {
        assert_eq!(Span::minutes(40).scaled(60.0, Span::seconds(10)), Span::seconds(40));
        assert_eq!(Span::minutes(5).scaled(60.0, Span::seconds(10)), Span::seconds(10));
        assert_eq!(Span::seconds(2).scaled(60.0, Span::seconds(10)), Span::seconds(2));
    }
}
