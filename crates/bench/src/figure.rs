//! What a benchmark gives: figures with their targets, and curves over the number of machines.

use std::fmt;
use std::io;

/// One benchmark.
pub struct Bench {
    pub name: &'static str,
    /// What it does, in a few words.
    pub what: &'static str,
    pub measure: fn(Size) -> io::Result<Report>,
}

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Full,
    /// One fleet of those that are measured, once: for whoever looks for what it costs.
    Fleet(u32),
    /// As little as goes through the whole of it: shows that the benchmark works, and its figures mean nothing.
    Small,
}

impl Size {
    /// One value for a measurement, another for a trial of it.
    pub fn pick<T>(self, full: T, small: T) -> T {
        match self {
            Size::Full | Size::Fleet(_) => full,
            Size::Small => small,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Report {
    pub figures: Vec<Figure>,
    /// One picture of how the costs grow with the number of machines.
    pub curves: Vec<Curve>,
}

/// One measured value.
#[derive(Clone, Debug)]
pub struct Figure {
    pub what: String,
    pub value: f64,
    pub unit: Unit,
    pub target: Option<Target>,
    /// What the value is made of, as a profile showed it, so that nobody reads more into it.
    pub limited_by: String,
}

/// How something grows: machines, and the cost at that many.
#[derive(Clone, Debug)]
pub struct Curve {
    pub what: String,
    pub unit: Unit,
    pub points: Vec<(u64, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    Microseconds,
    Milliseconds,
    Seconds,
    PerSecond,
    PerMinute,
    Kibibytes,
    Megabytes,
    MegabytesPerSecond,
    Count,
}

/// What a value should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    Under(f64),
    AtLeast(f64),
}

impl Figure {
    pub fn new(what: impl Into<String>, value: f64, unit: Unit, limited_by: impl Into<String>) -> Figure {
        Figure { what: what.into(), value, unit, target: None, limited_by: limited_by.into() }
    }

    #[must_use]
    pub fn under(mut self, most: f64) -> Figure {
        self.target = Some(Target::Under(most));
        self
    }

    #[must_use]
    pub fn at_least(mut self, least: f64) -> Figure {
        self.target = Some(Target::AtLeast(least));
        self
    }

    pub fn value_text(&self) -> String {
        self.unit.show(self.value)
    }

    /// The target, and that it is missed if it is; empty where there is none.
    pub fn target_text(&self) -> String {
        let (text, is_met) = match self.target {
            None => return String::new(),
            Some(Target::Under(most)) => (format!("under {}", self.unit.show(most)), self.value < most),
            Some(Target::AtLeast(least)) => (format!("at least {}", self.unit.show(least)), self.value >= least),
        };
        if is_met { text } else { format!("{text}: missed") }
    }
}

impl Unit {
    pub fn show(self, value: f64) -> String {
        let number = Digits(value);
        match self {
            Unit::Count => number.to_string(),
            Unit::PerSecond => format!("{number}/s"),
            Unit::PerMinute => format!("{number}/min"),
            _ => format!("{number} {}", self.symbol()),
        }
    }

    pub fn symbol(self) -> &'static str {
        match self {
            Unit::Microseconds => "µs",
            Unit::Milliseconds => "ms",
            Unit::Seconds => "s",
            Unit::PerSecond => "per second",
            Unit::PerMinute => "per minute",
            Unit::Kibibytes => "KiB",
            Unit::Megabytes => "MB",
            Unit::MegabytesPerSecond => "MB/s",
            Unit::Count => "",
        }
    }
}

/// Three digits that count, and commas between thousands: a benchmark is not more exact.
struct Digits(f64);

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0;
        let decimals = match value.abs() {
            size if size >= 100.0 || size == 0.0 => 0,
            size if size >= 10.0 => 1,
            size if size >= 1.0 => 2,
            _ => 3,
        };
        let text = format!("{value:.decimals$}");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        for (place, digit) in whole.char_indices() {
            let left = whole.len() - place;
            if place > 0 && left.is_multiple_of(3) && digit.is_ascii_digit() && !whole[..place].ends_with('-') {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() { Ok(()) } else { write!(f, ".{fraction}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_with_three_digits_and_their_unit() {
        let shown: Vec<String> =
            [0.0, 0.0414, 1.5, 3.21987, 27.28, 999.6, 12_345.6, 1_234_567.0, -1_234.0].map(|v| Digits(v).to_string()).into();
        assert_eq!(shown, ["0", "0.041", "1.5", "3.22", "27.3", "1,000", "12,346", "1,234,567", "-1,234"]);
        assert_eq!(Unit::Milliseconds.show(4.2), "4.2 ms");
        assert_eq!(Unit::PerSecond.show(10_500.0), "10,500/s");
    }

    #[test]
    fn a_target_that_is_missed_says_so() {
        let figure = Figure::new("x", 5.0, Unit::Milliseconds, "");
        assert_eq!(figure.clone().under(5.5).target_text(), "under 5.5 ms");
        assert_eq!(figure.clone().under(5.0).target_text(), "under 5 ms: missed");
        assert_eq!(figure.clone().at_least(6.0).target_text(), "at least 6 ms: missed");
        assert_eq!(figure.target_text(), "");
    }
}
