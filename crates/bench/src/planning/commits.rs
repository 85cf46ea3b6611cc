//! What a commit of a keeper costs on SQLite with full sync, and how much of it is the disk's.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use store::{Commit, SharedStore, SqliteStore, SystemClock};

use crate::figure::{Figure, Size, Unit};
use crate::fleet;
use crate::stats::{Times, milliseconds};

/// Commits of each size.
const COMMITS: usize = 300;

/// What one commit appends to the write-ahead log at least: a page with its header.
const PAGE: usize = 4_096;

pub async fn measure(size: Size) -> io::Result<Vec<Figure>> {
    let directory = tempfile::tempdir()?;
    let clock = SystemClock;
    let store: SharedStore = Arc::new(SqliteStore::open(directory.path(), Arc::new(clock)).map_err(io::Error::other)?);
    fleet::settle(&store, &clock, &fleet::sites(size.pick(1_000, 128))).await?;
    let commits = size.pick(COMMITS, 3);
    let sync = fsync(directory.path(), commits)?;
    let mut figures = vec![Figure::new("one fsync of a page, without SQLite", milliseconds(sync), Unit::Milliseconds, "the disk")];
    for documents in [1, 10, 128] {
        let median = commit_of(&store, documents, commits).await?;
        let share = 100.0 * sync.as_secs_f64() / median.as_secs_f64();
        figures.push(Figure::new(
            format!("a commit of {documents} machine{}, on SQLite with full sync", if documents == 1 { "" } else { "s" }),
            milliseconds(median),
            Unit::Milliseconds,
            format!("one fsync, about {share:.0} % of it; the rest is SQLite's rows and their checksums"),
        ));
    }
    Ok(figures)
}

async fn commit_of(store: &SharedStore, documents: usize, commits: usize) -> io::Result<Duration> {
    let listing = store.list("machines/site1/").await.map_err(io::Error::other)?;
    let mut times = Vec::new();
    for _ in 0..commits {
        let written = listing.documents.iter().take(documents);
        let commit = written.fold(Commit::default(), |commit, document| commit.put(document.key.clone(), document.value.clone()));
        let began = Instant::now();
        store.commit(commit).await.map_err(io::Error::other)?;
        times.push(began.elapsed());
    }
    Ok(Times::new(times).median())
}

/// As the write-ahead log is written, whose file is there already.
fn fsync(directory: &Path, times: usize) -> io::Result<Duration> {
    let path = directory.join("page");
    std::fs::write(&path, vec![0; PAGE * times])?;
    let file = File::options().write(true).open(path)?;
    file.sync_all()?;
    let measured = (0..times).map(|nth| {
        let began = Instant::now();
        file.write_all_at(&[7; PAGE], (nth * PAGE) as u64)?;
        file.sync_data()?;
        Ok(began.elapsed())
    });
    Ok(Times::new(measured.collect::<io::Result<_>>()?).median())
}
