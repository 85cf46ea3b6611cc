//! What a wake-up of a keeper costs, by the size of its cluster: its own work, the commit, and both end to end.

mod commits;
mod desk;
mod keeping;

use std::io;
use std::time::Duration;

use crate::figure::{Bench, Curve, Figure, Report, Size, Unit};
use crate::stats::{microseconds, milliseconds};
use desk::{Costs, Desk};

pub const BENCH: Bench = Bench { name: "planning", what: "wake-ups of one keeper", measure };

/// Clusters as the figures name them, and larger ones than any site has, for the curve.
const CLUSTERS: &[u64] = &[128, 1_000, 10_000, 30_000, 100_000];

/// Wake-ups of each kind. A cluster of 128 has about as many compute machines.
const WAKE_UPS: usize = 100;

/// What a wake-up is made of, for the table and the picture. Work that should not depend on the size of the cluster comes first.
type Part = (&'static str, fn(&Costs) -> Duration, &'static str);

const PARTS: &[Part] = &[
    ("a look without news", |costs| costs.quiet_look, "the observation, copied and put back; nothing is planned"),
    (
        "a look with news",
        |costs| costs.news,
        "the machine's document, copied for the plan, its check and the books, and written as JSON once",
    ),
    ("a request judged", |costs| costs.judged, "three documents and three entries of the activity log written as JSON"),
    ("a look at one of 100 busy machines", |costs| costs.busy_look, "the operation and its machine, copied and compared"),
];

const WHOLE: &[Part] = &[
    ("a visit of all machines, all well", |costs| costs.visit, "each machine copied and compared"),
    ("the first plan after a start", |costs| costs.first_plan, "the same: a machine that was well is not written before it is seen"),
    ("opening the books", |costs| costs.opened, "each document read from JSON"),
];

fn measure(size: Size) -> io::Result<Report> {
    let runtime = tokio::runtime::Runtime::new()?;
    let clusters = size.pick(CLUSTERS, &[32, 64]);
    let wake_ups = size.pick(WAKE_UPS, 3);
    let mut measured: Vec<(u64, Costs)> = Vec::new();
    for machines in clusters {
        measured.push((*machines, runtime.block_on(Desk::measure(*machines, wake_ups))?));
    }
    let mut report = Report { figures: figures(&measured), curves: curves(&measured) };
    report.figures.extend(runtime.block_on(commits::measure(size))?);
    report.figures.extend(runtime.block_on(keeping::measure(size))?);
    Ok(report)
}

fn figures(measured: &[(u64, Costs)]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (machines, costs) in measured.iter().filter(|(machines, _)| *machines <= 10_000) {
        let of = format!("cluster of {}", Unit::Count.show(*machines as f64));
        for (what, cost, limit) in PARTS {
            figures.push(Figure::new(format!("{what}, {of}"), microseconds(cost(costs)), Unit::Microseconds, *limit));
        }
        for (what, cost, limit) in WHOLE {
            figures.push(Figure::new(format!("{what}, {of}"), milliseconds(cost(costs)), Unit::Milliseconds, *limit));
        }
    }
    figures
}

fn curves(measured: &[(u64, Costs)]) -> Vec<Curve> {
    let curve = |(what, cost, _): &Part, unit, shown: fn(Duration) -> f64| Curve {
        what: (*what).to_owned(),
        unit,
        points: measured.iter().map(|(machines, costs)| (*machines, shown(cost(costs)))).collect(),
    };
    let single = PARTS.iter().map(|part| curve(part, Unit::Microseconds, microseconds));
    let whole = WHOLE.iter().map(|part| curve(part, Unit::Milliseconds, milliseconds));
    single.chain(whole).collect()
}
