//! What is measured: the name, kind, labels and meaning of a metric, so that code, page and alerts cannot part.

/// One metric. Its labels have few values: never a machine's name, a path or a caller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meter {
    /// With its unit, as Prometheus names things: `rackwright_plan_seconds`.
    pub name: &'static str,
    pub kind: MeterKind,
    pub labels: &'static [&'static str],
    pub help: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeterKind {
    /// Only grows, until the process ends.
    Counter,
    Gauge,
    /// Seconds, counted in buckets with these upper ends.
    Histogram(&'static [f64]),
}

impl Meter {
    pub const fn counter(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Meter {
        Meter { name, kind: MeterKind::Counter, labels, help }
    }

    pub const fn gauge(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Meter {
        Meter { name, kind: MeterKind::Gauge, labels, help }
    }

    pub const fn histogram(name: &'static str, labels: &'static [&'static str], buckets: &'static [f64], help: &'static str) -> Meter {
        Meter { name, kind: MeterKind::Histogram(buckets), labels, help }
    }
}

impl MeterKind {
    /// As Prometheus says it.
    pub fn name(self) -> &'static str {
        match self {
            MeterKind::Counter => "counter",
            MeterKind::Gauge => "gauge",
            MeterKind::Histogram(_) => "histogram",
        }
    }
}
