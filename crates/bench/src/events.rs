//! Events to a hundred listeners at once: how soon the last of them hears of a commit, and how many are told in a second.

mod listeners;

use std::io;
use std::time::Duration;

use crate::changes::{Changes, Committed};
use crate::figure::{Bench, Curve, Figure, Report, Size, Unit};
use crate::fleet;
use crate::plane::{self, Plane};
use crate::stats::{Times, microseconds, milliseconds};
use crate::table;
use listeners::Listeners;

pub const BENCH: Bench = Bench { name: "events", what: "events to 100 listeners at up to 100,000 machines", measure };

/// The fleet that the table is of.
const TABLE_FLEET: u64 = 10_000;

const LISTENERS: usize = 100;

/// Commits a second of the steady run: each machine of a fleet of ten thousand changes every hundred seconds.
const STEADY: f64 = 100.0;

/// Changes of a burst: within what is kept for listeners that are behind, so that none may be lost.
const BURST: usize = 8_000;

/// Keepers that commit at once in a burst.
const WRITERS: usize = 16;

fn measure(size: Size) -> io::Result<Report> {
    let fleets: &[u64] = size.pick(&[128, 1_000, TABLE_FLEET, 100_000], &[20]);
    let mut report = Report::default();
    for machines in fleets.iter().copied() {
        table::say(&format!("  {machines} machines …"));
        let directory = tempfile::tempdir()?;
        plane::fill(directory.path(), std::sync::Arc::new(store::SystemClock), &fleet::sites(machines))?;
        let figures = measure_fleet(Plane::start(directory.path())?, size)?;
        if report.curves.is_empty() {
            report.curves =
                figures.iter().map(|figure| Curve { what: figure.what.clone(), unit: figure.unit, points: Vec::new() }).collect();
        }
        for (curve, figure) in report.curves.iter_mut().zip(&figures) {
            curve.points.push((machines, figure.value));
        }
        if machines == size.pick(TABLE_FLEET, 20) {
            let of_size =
                |figure: Figure| Figure { what: format!("{} machines: {}", Unit::Count.show(machines as f64), figure.what), ..figure };
            report.figures = figures.into_iter().map(of_size).collect();
        }
    }
    report.curves.retain(|curve| curve.unit != Unit::Count);
    Ok(report)
}

fn measure_fleet(mut plane: Plane, size: Size) -> io::Result<Vec<Figure>> {
    let listeners = Listeners::sit_down(&plane.door, size.pick(LISTENERS, 3))?;
    let steady = Changes { count: size.pick(1_000, 10), writers: 1, per_second: Some(STEADY) };
    let steady = Run::of(&mut plane, &listeners, steady)?;
    let burst = Run::of(&mut plane, &listeners, Changes { count: size.pick(BURST, 10), writers: WRITERS, per_second: None })?;
    let lost = steady.lost + burst.lost;
    let at_leisure = |what: &str, span, limited_by: &str| Figure::new(what, milliseconds(span), Unit::Milliseconds, limited_by);
    Ok(vec![
        at_leisure("100 changes a second: the commit itself, median", steady.commits.median(), "the sync of SQLite's file"),
        at_leisure(
            "100 changes a second: from the commit's beginning to the last of 100 listeners, median",
            steady.heard.median(),
            "the commit, then a system call for each listener and one for each client that reads",
        ),
        at_leisure(
            "100 changes a second: from the commit's beginning to the last of 100 listeners, 99 of 100",
            steady.heard.percentile(99.0),
            "commits that wait for the disk",
        ),
        Figure::new(
            "100 changes a second: processor time of the server for an event delivered",
            microseconds(steady.cpu_each),
            Unit::Microseconds,
            "the system call that sends it",
        ),
        Figure::new(
            "a burst of 8,000 changes: events delivered",
            burst.per_second,
            Unit::PerSecond,
            "both cores, of which the listening clients take a half",
        ),
        Figure::new(
            "a burst of 8,000 changes: processor time of the server for an event delivered",
            microseconds(burst.cpu_each),
            Unit::Microseconds,
            "decoding and storing the change, shared by 100 listeners",
        ),
        Figure::new("events lost", lost as f64, Unit::Count, "nothing: a burst fits what is kept for listeners that are behind").under(1.0),
    ])
}

/// What came of some changes.
struct Run {
    commits: Times,
    /// From the beginning of each commit to the last listener's receipt.
    heard: Times,
    cpu_each: Duration,
    per_second: f64,
    lost: usize,
}

impl Run {
    fn of(plane: &mut Plane, listeners: &Listeners, changes: Changes) -> io::Result<Run> {
        let before = plane.process.cpu_time()?;
        let committed = plane.change(changes)?;
        let heard = listeners.hear(&committed)?;
        let spent = plane.process.cpu_time()? - before;
        let began_at = committed.iter().map(|commit| commit.asked_at).min().unwrap_or_default();
        let ended_at = heard.last_at.iter().copied().max().unwrap_or_default();
        let span = |from: u64, to: u64| Duration::from_micros(to.saturating_sub(from));
        let each = |commit: &Committed, last_at: &u64| span(commit.asked_at, *last_at);
        Ok(Run {
            commits: Times::new(committed.iter().map(|commit| span(commit.asked_at, commit.answered_at)).collect()),
            heard: Times::new(committed.iter().zip(&heard.last_at).map(|(commit, last_at)| each(commit, last_at)).collect()),
            cpu_each: spent / u32::try_from(heard.events).unwrap_or(u32::MAX).max(1),
            per_second: heard.events as f64 / span(began_at, ended_at).as_secs_f64(),
            lost: committed.len() * listeners.count() - heard.events,
        })
    }
}
