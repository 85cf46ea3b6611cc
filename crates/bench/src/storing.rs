//! The store by itself, on SQLite with full sync: commits, reads, opening it, who is woken by a commit, and its size on disk.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use model::keys;
use store::{Commit, Document, Revision, SharedStore, SqliteStore, SystemClock};
use tokio::task::JoinSet;

use crate::figure::{Bench, Curve, Figure, Report, Size, Unit};
use crate::fleet;
use crate::stats::{Times, microseconds, milliseconds};

pub const BENCH: Bench = Bench { name: "storing", what: "commits, reads and size of the store", measure };

const MACHINES: &[u64] = &[128, 1_000, 10_000, 30_000, 100_000];

/// Fleets whose figures are told in the table; the others are in the picture.
const TOLD: u64 = 10_000;

const WRITERS: [usize; 3] = [1, 8, 64];

/// Keepers of a fleet of 10,000, each of which watches for requests to its cluster.
const WATCHERS: u64 = 79;

const MEASURED: Duration = Duration::from_secs(2);

fn measure(size: Size) -> io::Result<Report> {
    let runtime = tokio::runtime::Runtime::new()?;
    let mut measured = Vec::new();
    for machines in size.pick(MACHINES, &[128]) {
        measured.push((*machines, runtime.block_on(of_fleet(*machines, size))?));
    }
    let told = measured.iter().find(|(machines, _)| *machines == size.pick(TOLD, 128));
    Ok(Report { figures: told.map(|(machines, costs)| figures(*machines, costs)).unwrap_or_default(), curves: curves(&measured) })
}

struct Costs {
    /// Commits a second, by the number of writers.
    commits: [f64; 3],
    /// Processor time of a commit while nobody watches, and while every keeper does.
    alone: Duration,
    watched: Duration,
    get: Duration,
    list: Duration,
    open: Duration,
    bytes: u64,
}

/// What the profile shows of the thread that writes.
const WRITING: &str = "the kernel, which writes and syncs, more than half; the rest SQLite's rows, and checksums";

fn figures(machines: u64, costs: &Costs) -> Vec<Figure> {
    let of = format!("{} machines", Unit::Count.show(machines as f64));
    let mut figures = Vec::new();
    for (writers, rate) in WRITERS.iter().zip(costs.commits) {
        let limit = if *writers == 1 { "one fsync for each" } else { "one fsync for all that wait, and SQLite's rows" };
        let plural = if *writers == 1 { "" } else { "s" };
        figures.push(Figure::new(format!("commits of one document, {writers} writer{plural}, {of}"), rate, Unit::PerSecond, limit));
    }
    let kib = costs.bytes as f64 / machines as f64 / 1_024.0;
    figures.extend([
        Figure::new(format!("processor time of a commit, nobody watches, {of}"), microseconds(costs.alone), Unit::Microseconds, WRITING),
        Figure::new(
            format!("the same while {WATCHERS} keepers watch for requests"),
            microseconds(costs.watched),
            Unit::Microseconds,
            "each commit wakes each watcher, which finds that it is not concerned",
        ),
        Figure::new(format!("a document read, {of}"), microseconds(costs.get), Unit::Microseconds, "the lock and the search in memory"),
        Figure::new(
            format!("a cluster's machines listed, {of}"),
            microseconds(costs.list),
            Unit::Microseconds,
            "copies of keys and counts",
        ),
        Figure::new(format!("opening the store, {of}"), milliseconds(costs.open), Unit::Milliseconds, "SQLite's check of every page"),
        Figure::new(format!("size on disk of a machine, {of}"), kib, Unit::Kibibytes, "its document, and each version of the last day"),
    ]);
    figures
}

fn curves(measured: &[(u64, Costs)]) -> Vec<Curve> {
    let curve = |what: &str, unit, of: fn(&Costs) -> f64| Curve {
        what: what.to_owned(),
        unit,
        points: measured.iter().map(|(machines, costs)| (*machines, of(costs))).collect(),
    };
    vec![
        curve("commits by 1 writer", Unit::PerSecond, |costs| costs.commits[0]),
        curve("by 8 writers", Unit::PerSecond, |costs| costs.commits[1]),
        curve("by 64 writers", Unit::PerSecond, |costs| costs.commits[2]),
        curve("a document read", Unit::Microseconds, |costs| microseconds(costs.get)),
        curve("a cluster listed", Unit::Microseconds, |costs| microseconds(costs.list)),
        curve("opening the store", Unit::Milliseconds, |costs| milliseconds(costs.open)),
        curve("size on disk", Unit::Megabytes, |costs| costs.bytes as f64 / 1e6),
    ]
}

async fn of_fleet(machines: u64, size: Size) -> io::Result<Costs> {
    let directory = tempfile::tempdir()?;
    let span = size.pick(MEASURED, Duration::from_millis(100));
    let file = open(directory.path())?;
    let store: SharedStore = file.clone();
    fleet::settle(&store, &SystemClock, &fleet::sites(machines)).await?;
    let bytes = file.size_on_disk();
    drop((store, file));
    let began = Instant::now();
    let store: SharedStore = open(directory.path())?;
    let open = began.elapsed();
    let documents = store.list(keys::MACHINES).await.map_err(io::Error::other)?.documents;
    let (get, list) = (get(&store, &documents).await?, list(&store).await?);
    let mut commits = [0.0; 3];
    for (rate, writers) in commits.iter_mut().zip(WRITERS) {
        *rate = write(&store, &documents, writers, span).await?.0;
    }
    let (_, alone) = write(&store, &documents, 1, span).await?;
    let watchers = watch(&store).await?;
    let (_, watched) = write(&store, &documents, 1, span).await?;
    drop(watchers);
    Ok(Costs { commits, alone, watched, get, list, open, bytes })
}

fn open(directory: &Path) -> io::Result<Arc<SqliteStore>> {
    SqliteStore::open(directory, Arc::new(SystemClock)).map(Arc::new).map_err(io::Error::other)
}

async fn get(store: &SharedStore, documents: &[Document]) -> io::Result<Duration> {
    let mut times = Vec::new();
    for document in documents.iter().step_by(documents.len().div_ceil(1_000)) {
        let began = Instant::now();
        let found = store.get(&document.key).await.map_err(io::Error::other)?;
        times.push(began.elapsed());
        assert!(found.is_some(), "what was written is there");
    }
    Ok(Times::new(times).median())
}

async fn list(store: &SharedStore) -> io::Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..100 {
        let began = Instant::now();
        let listing = store.list("machines/site1/").await.map_err(io::Error::other)?;
        times.push(began.elapsed());
        assert_eq!(listing.documents.len() as u64, fleet::CLUSTER_SIZE, "a whole cluster is listed");
    }
    Ok(Times::new(times).median())
}

/// Commits a second of so many writers, each of which writes documents of its own; and the processor time of one commit.
async fn write(store: &SharedStore, documents: &[Document], writers: usize, span: Duration) -> io::Result<(f64, Duration)> {
    let end = Instant::now() + span;
    let (began, before) = (Instant::now(), processor_time());
    let mut tasks = JoinSet::new();
    for writer in 0..writers {
        let own: Vec<(String, Bytes)> = documents
            .iter()
            .skip(writer)
            .step_by(writers)
            .take(64)
            .map(|document| (document.key.clone(), document.value.clone()))
            .collect();
        let store = store.clone();
        tasks.spawn(async move {
            let mut written = 0_u64;
            while Instant::now() < end {
                let (key, value) = own[written as usize % own.len()].clone();
                store.commit(Commit::default().put(key, value)).await.map_err(io::Error::other)?;
                written += 1;
            }
            Ok::<u64, io::Error>(written)
        });
    }
    let mut commits = 0;
    while let Some(written) = tasks.join_next().await {
        commits += written??;
    }
    let spent = processor_time() - before;
    Ok((commits as f64 / began.elapsed().as_secs_f64(), spent / u32::try_from(commits.max(1)).unwrap_or(u32::MAX)))
}

/// Watches for requests, as keepers do. They end when they are dropped.
async fn watch(store: &SharedStore) -> io::Result<JoinSet<()>> {
    let revision: Revision = store.list("nowhere/").await.map_err(io::Error::other)?.revision;
    let mut watchers = JoinSet::new();
    for cluster in 1..=WATCHERS {
        let mut watch = store.watch(&format!("requests/site{cluster}/"), revision).await.map_err(io::Error::other)?;
        watchers.spawn(async move { while watch.next().await.is_ok() {} });
    }
    Ok(watchers)
}

fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}
