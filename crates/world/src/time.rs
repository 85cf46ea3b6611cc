//! Instants and spans of the simulated site, and how Kubernetes and Redfish write them.

use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

/// A moment of wall time: milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Instant(pub i64);

/// A length of time in milliseconds. It is negative only as a shift, when a clock was set back while the site was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(pub i64);

impl Instant {
    /// `2026-11-15T09:27:31Z`, the precision of `metav1.Time` and of Redfish log entries.
    pub fn to_seconds_text(self) -> String {
        self.format("%Y-%m-%dT%H:%M:%SZ")
    }

    /// `2026-11-15T09:27:31.005000Z`, the precision of `metav1.MicroTime`, which leases use.
    pub fn to_micros_text(self) -> String {
        self.format("%Y-%m-%dT%H:%M:%S.%6fZ")
    }

    /// Reads an RFC 3339 instant such as an object's `creationTimestamp`.
    pub fn parse(text: &str) -> Option<Instant> {
        text.parse::<jiff::Timestamp>().ok().map(|at| Instant(at.as_millisecond()))
    }

    fn format(self, pattern: &str) -> String {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::MAX).strftime(pattern).to_string()
    }
}

impl Span {
    pub const ZERO: Span = Span(0);

    pub const fn seconds(n: i64) -> Span {
        Span(n * 1_000)
    }

    pub const fn minutes(n: i64) -> Span {
        Span(n * 60_000)
    }

    pub const fn times(self, n: i64) -> Span {
        Span(self.0 * n)
    }
}

impl Add<Span> for Instant {
    type Output = Instant;
    fn add(self, span: Span) -> Instant {
        Instant(self.0.saturating_add(span.0))
    }
}

impl Sub for Instant {
    type Output = Span;
    fn sub(self, earlier: Instant) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_as_kubernetes_writes_them() {
        let at = Instant(1_794_734_851_005);
        assert_eq!(at.to_seconds_text(), "2026-11-15T09:27:31Z");
        assert_eq!(at.to_micros_text(), "2026-11-15T09:27:31.005000Z");
        assert_eq!(Instant::parse(&at.to_micros_text()), Some(at));
    }
}
