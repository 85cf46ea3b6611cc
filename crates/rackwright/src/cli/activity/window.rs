//! From when until when, and the filter that says so to the server.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::cli::trouble::{Exit, Trouble};

/// How far back the log is shown, as in `az`.
const OFFSET_DEFAULT: Offset = Offset(SignedDuration::from_hours(6));

/// Farther back nobody keeps a log; it also keeps sums of instants in range.
const OFFSET_MAX: SignedDuration = SignedDuration::from_hours(24 * 366 * 10);

/// A field that must have a value.
pub type Condition = (&'static str, String);

/// An instant as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment(Timestamp);

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Moment, String> {
        let utc = |time: DateTime| time.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp()).ok();
        let instant = text.parse::<Timestamp>().ok();
        let instant = instant.or_else(|| text.parse::<DateTime>().ok().and_then(utc));
        let instant = instant.or_else(|| text.parse::<Date>().ok().and_then(|date| utc(date.to_datetime(jiff::civil::Time::midnight()))));
        instant.map(Moment).ok_or_else(|| "it is not a time such as `2026-11-15T14:00:00Z` or `2026-11-15`".to_owned())
    }
}

/// A span as it is typed: `90m`, `6h`, `1d12h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset(SignedDuration);

impl FromStr for Offset {
    type Err = String;

    fn from_str(text: &str) -> Result<Offset, String> {
        let wrong = || "it is not a span such as `90m`, `6h` or `1d12h`".to_owned();
        let mut sum = SignedDuration::ZERO;
        let mut rest = text;
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let number: i64 = rest[..digits].parse().map_err(|_| wrong())?;
            let seconds = match rest[digits..].bytes().next() {
                Some(b's') => 1,
                Some(b'm') => 60,
                Some(b'h') => 3_600,
                Some(b'd') => 86_400,
                _ => return Err(wrong()),
            };
            let part = number.checked_mul(seconds).map(SignedDuration::from_secs).ok_or_else(wrong)?;
            sum = sum.checked_add(part).ok_or_else(wrong)?;
            rest = &rest[digits + 1..];
        }
        match sum {
            SignedDuration::ZERO => Err(wrong()),
            sum if sum > OFFSET_MAX => Err("it is longer than ten years".to_owned()),
            sum => Ok(Offset(sum)),
        }
    }
}

/// The part of the log that is looked at. Without an end it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub start: Timestamp,
    pub end: Option<Timestamp>,
}

impl Window {
    /// A span counts back from the end, or from now; with a start alone it counts on from there.
    pub fn of(start: Option<Moment>, end: Option<Moment>, offset: Option<Offset>, now: Timestamp) -> Result<Window, Trouble> {
        let wrong = |why: &str| Trouble::new(Exit::Usage, why);
        let out_of_range = |_| wrong("that time is out of range");
        let window = match (start, end, offset) {
            (Some(_), Some(_), Some(_)) => return Err(wrong("`--offset` says nothing beside both `--start-time` and `--end-time`")),
            (Some(start), end, None) => Window { start: start.0, end: end.map(|end| end.0) },
            (Some(start), None, Some(offset)) => Window { start: start.0, end: Some(start.0.checked_add(offset.0).map_err(out_of_range)?) },
            (None, end, offset) => {
                let until = end.map_or(now, |end| end.0);
                let start = until.checked_sub(offset.unwrap_or(OFFSET_DEFAULT).0).map_err(out_of_range)?;
                Window { start, end: end.map(|end| end.0) }
            }
        };
        match window.end {
            Some(end) if end < window.start => Err(wrong("`--end-time` is before `--start-time`")),
            _ => Ok(window),
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |instant: Timestamp| instant.strftime("%Y-%m-%dT%H:%M:%SZ");
        write!(f, "from {} ", seconds(self.start))?;
        match self.end {
            Some(end) => write!(f, "to {}", seconds(end)),
            None => f.write_str("until now"),
        }
    }
}

/// What the server filters by.
pub fn filter(window: Window, conditions: &[Condition]) -> String {
    let start = format!("eventTimestamp ge '{}'", written(window.start));
    let end = window.end.map(|end| format!("eventTimestamp le '{}'", written(end)));
    // A quote within a quoted text is written twice.
    let named = conditions.iter().map(|(name, value)| format!("{name} eq '{}'", value.replace('\'', "''")));
    [start].into_iter().chain(end).chain(named).collect::<Vec<_>>().join(" and ")
}

fn written(instant: Timestamp) -> String {
    instant.strftime("%Y-%m-%dT%H:%M:%S%.fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Option<Moment> {
        Some(text.parse().unwrap())
    }

    fn offset(text: &str) -> Option<Offset> {
        Some(text.parse().unwrap())
    }

    fn check(start: Option<Moment>, end: Option<Moment>, span: Option<Offset>, expected: &str) {
        let now = "2026-11-15T14:03:00.250Z".parse().unwrap();
        let window = Window::of(start, end, span, now).map_or_else(|trouble| trouble.message, |window| filter(window, &[]));
        assert_eq!(window, expected);
    }

    #[test]
    fn the_last_six_hours_unless_told_otherwise() {
        check(None, None, None, "eventTimestamp ge '2026-11-15T08:03:00.25Z'");
        check(None, None, offset("1d30m"), "eventTimestamp ge '2026-11-14T13:33:00.25Z'");
    }

    #[test]
    fn a_span_counts_back_from_the_end_or_on_from_the_start() {
        let (noon, one) = (moment("2026-11-15T12:00"), moment("2026-11-15T13:00:00+00:00"));
        check(None, noon, offset("1h"), "eventTimestamp ge '2026-11-15T11:00:00Z' and eventTimestamp le '2026-11-15T12:00:00Z'");
        check(noon, None, offset("1h"), "eventTimestamp ge '2026-11-15T12:00:00Z' and eventTimestamp le '2026-11-15T13:00:00Z'");
        check(moment("2026-11-14"), noon, None, "eventTimestamp ge '2026-11-14T00:00:00Z' and eventTimestamp le '2026-11-15T12:00:00Z'");
        check(one, noon, None, "`--end-time` is before `--start-time`");
        check(noon, one, offset("1h"), "`--offset` says nothing beside both `--start-time` and `--end-time`");
    }

    #[test]
    fn what_is_no_time_and_no_span_is_refused() {
        for wrong in ["", "soon", "2026-13-01", "14:00"] {
            assert!(wrong.parse::<Moment>().is_err(), "{wrong}");
        }
        for wrong in ["", "6", "h", "-6h", "6w", "0h", "6h ", "99999999999999999999h", "9223372036854775807d", "4000d", "6é"] {
            assert!(wrong.parse::<Offset>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_quote_in_a_value_stays_within_it() {
        let window = Window { start: "2026-11-15T00:00:00Z".parse().unwrap(), end: None };
        let conditions = [("status", "Failed".to_owned()), ("caller", "o'hara' or '1".to_owned())];
        assert_eq!(
            filter(window, &conditions),
            "eventTimestamp ge '2026-11-15T00:00:00Z' and status eq 'Failed' and caller eq 'o''hara'' or ''1'"
        );
    }
}
