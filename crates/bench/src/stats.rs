//! Of many measurements, the ones that matter.

use std::time::Duration;

/// Measured times, in order.
#[derive(Clone, Debug, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    pub fn new(mut times: Vec<Duration>) -> Times {
        times.sort_unstable();
        Times(times)
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The time that `percent` of all measurements did not exceed; zero if there are none.
    pub fn percentile(&self, percent: f64) -> Duration {
        let rank = (percent / 100.0 * self.0.len() as f64).ceil() as usize;
        self.0.get(rank.clamp(1, self.0.len().max(1)) - 1).copied().unwrap_or_default()
    }

    pub fn median(&self) -> Duration {
        self.percentile(50.0)
    }
}

/// A span in the unit that most figures have.
pub fn milliseconds(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}

pub fn microseconds(span: Duration) -> f64 {
    span.as_secs_f64() * 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_measurement_and_the_hundredth_is_the_longest() {
        let times = Times::new((1..=200).rev().map(Duration::from_millis).collect());
        let at = |percent| times.percentile(percent).as_millis();
        assert_eq!((at(0.0), at(50.0), at(99.0), at(100.0)), (1, 100, 198, 200));
        assert_eq!(Times::default().median(), Duration::ZERO);
    }
}
