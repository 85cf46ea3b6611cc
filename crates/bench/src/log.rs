//! Queries of the activity log over loopback HTTP, from a small log to the fullest there can be.

mod entries;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::{Clock, Site};
use store::{Commit, SharedStore, SqliteStore};

use crate::client::{self, Client};
use crate::door::Door;
use crate::figure::{Bench, Curve, Figure, Report, Size, Unit};
use crate::fleet::{self, SUBSCRIPTION};
use crate::plane::{self, Plane};
use crate::stats::milliseconds;
use crate::table;
use entries::{Past, Restart};

pub const BENCH: Bench = Bench { name: "log", what: "queries of an activity log of up to 250,000 entries", measure };

/// The fleet that the table is of.
const TABLE_FLEET: u64 = 10_000;

/// Two restarts of each machine.
const ENTRIES_PER_MACHINE: usize = 25;

/// Entries that the log keeps: a fuller one does not exist.
const FULL: usize = 250_000;

/// Restarts that are written with one commit.
const RESTARTS_PER_COMMIT: usize = 25;

fn measure(size: Size) -> io::Result<Report> {
    let fleets: &[u64] = size.pick(&[128, 1_000, TABLE_FLEET, 100_000], &[20]);
    let mut report = Report::default();
    for machines in fleets.iter().copied() {
        let entries = FULL.min(ENTRIES_PER_MACHINE * usize::try_from(machines).unwrap_or(FULL));
        table::say(&format!("  {machines} machines, {entries} entries …"));
        let directory = tempfile::tempdir()?;
        let restarts = fill(directory.path(), &fleet::sites(machines), entries)?;
        let plane = Plane::start(directory.path())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let figures = runtime.block_on(measure_log(&plane.door, &restarts, size))?;
        if report.curves.is_empty() {
            report.curves =
                figures.iter().map(|figure| Curve { what: figure.what.clone(), unit: figure.unit, points: Vec::new() }).collect();
        }
        for (curve, figure) in report.curves.iter_mut().zip(&figures) {
            curve.points.push((machines, figure.value));
        }
        if machines == size.pick(TABLE_FLEET, 20) {
            let of_size =
                |figure: Figure| Figure { what: format!("{} entries: {}", Unit::Count.show(entries as f64), figure.what), ..figure };
            report.figures = figures.into_iter().map(of_size).collect();
        }
    }
    Ok(report)
}

/// Writes a fleet and its log through the store's own commits, as if the last month had been full of restarts.
fn fill(directory: &Path, sites: &[Site], entries: usize) -> io::Result<Vec<Restart>> {
    let commits = entries.div_ceil(Restart::ENTRIES * RESTARTS_PER_COMMIT);
    let clock = Arc::new(Past::over(entries::MONTH, commits));
    plane::fill(directory, clock.clone(), sites)?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let store: SharedStore = Arc::new(SqliteStore::open(directory, clock.clone()).map_err(io::Error::other)?);
        let mut restarts = Vec::new();
        for _ in 0..commits {
            clock.step();
            let mut commit = Commit::default();
            for _ in 0..RESTARTS_PER_COMMIT {
                let restart = Restart::nth(restarts.len(), sites, clock.now());
                commit.records.extend(restart.records()?);
                restarts.push(restart);
            }
            store.commit(commit).await.map_err(io::Error::other)?;
        }
        Ok(restarts)
    })
}

async fn measure_log(door: &Door, restarts: &[Restart], size: Size) -> io::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for query in queries(restarts) {
        let found = entries_of(door, &query.path).await?.0;
        // In a log that is not full there is also what was written when the machines were enrolled.
        if found < query.finds {
            return Err(io::Error::other(format!("{} finds {found} entries instead of {}", query.path, query.finds)));
        }
        let path = query.path.clone();
        let load = client::read(door, 1, size.pick(200, 2), move |_| path.clone()).await?;
        let what = format!("{}, 99 of 100", query.what);
        figures.push(Figure::new(what, milliseconds(load.times.percentile(99.0)), Unit::Milliseconds, query.limited_by));
    }
    let walk = walk(door).await?;
    figures.push(Figure::new(
        "all of it, page after page, for a caller who is not in it",
        milliseconds(walk),
        Unit::Milliseconds,
        "reading each entry from the file, its checksum, and decoding it",
    ));
    Ok(figures)
}

struct Query {
    what: &'static str,
    path: String,
    finds: usize,
    limited_by: &'static str,
}

fn queries(restarts: &[Restart]) -> Vec<Query> {
    let middle = &restarts[restarts.len() / 2];
    let query = |what, filter: String, finds: usize, limited_by| {
        let filter = filter.replace(' ', "%20");
        let path = format!("{VALUES}?api-version=2015-04-01&$filter={filter}").replace("{}", SUBSCRIPTION);
        Query { what, path, finds: finds.min(100), limited_by }
    };
    let of_machine = restarts.iter().filter(|restart| restart.resource_id() == middle.resource_id()).count();
    let failed = restarts.iter().filter(|restart| restart.fails).count();
    let (from, to) = (middle.at, middle.at + entries::MONTH.scaled(1_000.0, model::Span::ZERO));
    let in_time = restarts.iter().filter(|restart| restart.at >= from && restart.at <= to).count();
    vec![
        query("by resource", format!("resourceUri eq '{}'", middle.resource_id()), of_machine * Restart::ENTRIES, RENDERING),
        query("by correlation id", format!("correlationId eq '{}'", middle.correlation_id()), Restart::ENTRIES, RENDERING),
        query("what failed", "status eq 'Failed'".to_owned(), failed, RENDERING),
        query(
            "a thousandth of the month, from its middle",
            format!("eventTimestamp ge '{from}' and eventTimestamp le '{to}'"),
            in_time * Restart::ENTRIES,
            "the walk over the index to that time",
        ),
        query("the newest 100", "eventTimestamp ge '2000-01-01'".to_owned(), restarts.len() * Restart::ENTRIES, RENDERING),
    ]
}

const VALUES: &str = "/subscriptions/{}/providers/Microsoft.Insights/eventtypes/management/values";

const RENDERING: &str = "reading the entries of the page from the file, and rendering them";

/// How many entries a page has, and where the next one is.
async fn entries_of(door: &Door, path: &str) -> io::Result<(usize, Option<String>)> {
    let (status, body) = Client::connect(door).await?.get(path).await?;
    let page: serde_json::Value = serde_json::from_slice(&body)?;
    let entries = page["value"].as_array().ok_or_else(|| io::Error::other(format!("{path} answers {status}: {page}")))?.len();
    let next = page["nextLink"].as_str().and_then(|link| link.split_once(&door.address.to_string())).map(|(_, path)| path.to_owned());
    Ok((entries, next))
}

/// How long it takes to learn that somebody did nothing.
async fn walk(door: &Door) -> io::Result<Duration> {
    let began = Instant::now();
    let mut next = Some(format!("{VALUES}?api-version=2015-04-01&$filter=caller%20eq%20'nobody'").replace("{}", SUBSCRIPTION));
    while let Some(path) = next {
        let (found, rest) = entries_of(door, &path).await?;
        if found > 0 {
            return Err(io::Error::other(format!("{path} finds {found} entries of nobody")));
        }
        next = rest;
    }
    Ok(began.elapsed())
}
