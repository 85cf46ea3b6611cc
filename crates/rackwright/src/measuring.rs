//! What this process measures: one recorder for everything in it, and the figures of the process itself.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use model::{Clock, Meter, MeterKind};
use store::{SqliteStore, SystemClock};
use tokio_util::sync::CancellationToken;

use crate::cli::trouble::Trouble;

const BUILD: Meter = Meter::gauge("rackwright_build_info", &["version"], "Always 1; the label tells which version runs.");
const STORE_BYTES: Meter = Meter::gauge("rackwright_store_bytes", &[], "Size of the store's file and of its write-ahead log.");
const DISK_FREE: Meter = Meter::gauge("rackwright_store_disk_free_bytes", &[], "What is free on the disk that the store lies on.");
const DISK_SIZE: Meter = Meter::gauge("rackwright_store_disk_size_bytes", &[], "Size of the disk that the store lies on.");
const STARTED_AT: Meter = Meter::gauge("process_start_time_seconds", &[], "When the process began, in seconds since 1970.");
const CPU: Meter = Meter::counter("process_cpu_seconds_total", &[], "Processor time that the process has used, in whole seconds.");
const MEMORY: Meter = Meter::gauge("process_resident_memory_bytes", &[], "Memory that the process occupies.");
const OPEN_FILES: Meter = Meter::gauge("process_open_fds", &[], "Files and sockets that the process has open.");
const OPEN_FILES_MAX: Meter = Meter::gauge("process_max_fds", &[], "Files and sockets that it may have open.");
const THREADS: Meter = Meter::gauge("process_threads", &[], "Threads of the process.");

/// The metrics of the process itself.
const OWN: &[Meter] = &[BUILD, STORE_BYTES, DISK_FREE, DISK_SIZE, STARTED_AT, CPU, MEMORY, OPEN_FILES, OPEN_FILES_MAX, THREADS];

/// How often samples are put into their buckets. Until then each is kept as it came, also if nobody ever asks.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// Every metric there is.
pub fn meters() -> impl Iterator<Item = &'static Meter> {
    keeper::METERS.iter().chain(api::METERS).chain(OWN)
}

/// Begins to measure; what is shown includes the store and the disk that it lies on, in `dir`.
pub fn begin(store: Arc<SqliteStore>, dir: &Path) -> Result<(PrometheusHandle, api::Exposition), Trouble> {
    let handle = recorder()?;
    let (shown, dir) = (handle.clone(), dir.to_owned());
    metrics::gauge!(BUILD.name, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 are far below 2^52")]
    let started_at = SystemClock.now().as_millis() as f64 / 1_000.0;
    metrics::gauge!(STARTED_AT.name).set(started_at);
    let exposition = move || {
        gauge_store(&store, &dir);
        gauge_process();
        shown.render()
    };
    Ok((handle, Arc::new(exposition)))
}

/// Keeps the recorder small until `shutdown`.
pub async fn upkeep(handle: PrometheusHandle, shutdown: CancellationToken) {
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(UPKEEP_EVERY) => handle.run_upkeep(),
        }
    }
}

/// The recorder of the whole process: there can be one only, whoever asks first.
fn recorder() -> Result<PrometheusHandle, Trouble> {
    static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();
    if let Some(handle) = RECORDER.get() {
        return Ok(handle.clone());
    }
    let cannot = |error: &dyn std::error::Error| Trouble::caused("nothing can be measured", error);
    let mut builder = PrometheusBuilder::new();
    for meter in meters() {
        if let MeterKind::Histogram(buckets) = meter.kind {
            builder = builder.set_buckets_for_metric(Matcher::Full(meter.name.to_owned()), buckets).map_err(|error| cannot(&error))?;
        }
    }
    let handle = builder.install_recorder().map_err(|error| cannot(&error))?;
    for meter in meters() {
        match meter.kind {
            MeterKind::Counter => metrics::describe_counter!(meter.name, meter.help),
            MeterKind::Gauge => metrics::describe_gauge!(meter.name, meter.help),
            MeterKind::Histogram(_) => metrics::describe_histogram!(meter.name, meter.help),
        }
    }
    Ok(RECORDER.get_or_init(|| handle).clone())
}

#[expect(clippy::cast_precision_loss, reason = "Prometheus keeps every number as a float")]
fn set(meter: Meter, value: u64) {
    metrics::gauge!(meter.name).set(value as f64);
}

fn gauge_store(store: &SqliteStore, dir: &Path) {
    set(STORE_BYTES, store.size_on_disk());
    if let Ok(disk) = rustix::fs::statvfs(dir) {
        set(DISK_FREE, disk.f_bavail.saturating_mul(disk.f_frsize));
        set(DISK_SIZE, disk.f_blocks.saturating_mul(disk.f_frsize));
    }
}

/// What the kernel says of this process. Where it says nothing, nothing is shown.
fn gauge_process() {
    if let Ok(entries) = std::fs::read_dir("/proc/self/fd") {
        // One of them is the directory that is being read.
        set(OPEN_FILES, (entries.count() as u64).saturating_sub(1));
    }
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    set(OPEN_FILES_MAX, limit.current.unwrap_or(u64::MAX));
    let Some(stat) = std::fs::read_to_string("/proc/self/stat").ok().as_deref().and_then(ProcStat::parse) else { return };
    metrics::counter!(CPU.name).absolute(stat.cpu_ticks / rustix::param::clock_ticks_per_second().max(1));
    set(MEMORY, stat.resident_pages.saturating_mul(rustix::param::page_size() as u64));
    set(THREADS, stat.threads);
}

/// The fields of `/proc/self/stat` that are of interest.
#[derive(Debug, PartialEq, Eq)]
struct ProcStat {
    cpu_ticks: u64,
    threads: u64,
    resident_pages: u64,
}

impl ProcStat {
    /// The second field is the program's name in parentheses, and may itself hold blanks and parentheses.
    fn parse(text: &str) -> Option<ProcStat> {
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        // Counted as proc(5) counts, where the state after the name is the third.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(ProcStat { cpu_ticks: field(14)? + field(15)?, threads: field(20)?, resident_pages: field(24)? })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Write;

    use super::*;

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");

    /// The table as the code has it.
    fn table() -> String {
        let mut table = String::from("| metric | kind | labels | meaning |\n|---|---|---|---|\n");
        let mut sorted: Vec<&Meter> = meters().collect();
        sorted.sort_by_key(|meter| meter.name);
        for meter in sorted {
            let labels = meter.labels.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(", ");
            writeln!(table, "| `{}` | {} | {labels} | {} |", meter.name, meter.kind.name(), meter.help).unwrap();
        }
        table
    }

    #[test]
    fn the_page_lists_every_metric_and_no_other() {
        let page = std::fs::read_to_string(PAGE).expect("docs/metrics.md is there");
        let (_, listed) = page.split_once("## Every metric\n").expect("the page has a table");
        let wanted = table();
        assert!(listed.trim() == wanted.trim(), "put this table into docs/metrics.md:\n\n{wanted}");
    }

    #[test]
    fn names_follow_the_conventions_of_prometheus() {
        let names: BTreeSet<&str> = meters().map(|meter| meter.name).collect();
        assert_eq!(names.len(), meters().count(), "a name stands for one metric");
        for meter in meters() {
            assert!(meter.name.starts_with("rackwright_") || meter.name.starts_with("process_"), "{}", meter.name);
            assert_eq!(meter.name.ends_with("_total"), meter.kind == MeterKind::Counter, "{}", meter.name);
            assert!(!matches!(meter.kind, MeterKind::Histogram(_)) || meter.name.ends_with("_seconds"), "{}", meter.name);
            assert!(meter.help.ends_with('.'), "{}", meter.name);
            for label in ["machine", "path", "caller", "operation"] {
                assert!(!meter.labels.contains(&label), "{} would grow with each {label}", meter.name);
            }
        }
    }

    #[test]
    fn the_kernels_line_is_read_whatever_the_program_is_called() {
        let line = "7 (a) b (c) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 9 0 12345 1000000 321 18446744073709551615 1";
        assert_eq!(ProcStat::parse(line), Some(ProcStat { cpu_ticks: 300, threads: 9, resident_pages: 321 }));
        assert_eq!(ProcStat::parse("7 (x) S 1"), None);
    }
}
