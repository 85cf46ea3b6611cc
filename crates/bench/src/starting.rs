//! How soon the control plane is of use again after it was killed: many sites, and restarts under way on a tenth of the machines.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::StatusCode;
use tokio::runtime::Runtime;

use crate::client::Client;
use crate::door::Door;
use crate::figure::{Bench, Curve, Figure, Report, Size, Unit};
use crate::fleet::{CLUSTER_SIZE, SUBSCRIPTION};
use crate::process::{Process, Started};
use crate::stats::{Times, milliseconds};
use crate::worlds::{Shape, Worlds};

pub const BENCH: Bench = Bench { name: "starting", what: "ready again after a kill", measure };

/// Clusters, up to 10,000 machines: each BMC has a socket that listens in a simulator, and more than this machine allows would be
/// needed beyond that.
const CLUSTERS: &[u32] = &[1, 4, 8, 20, 40, 79];

/// Restarts after a kill; the median counts.
const STARTS: usize = 3;

/// Clients that ask for the operations.
const CLIENTS: usize = 16;

/// How long it may take at all.
const PATIENCE: Duration = Duration::from_secs(120);

const LIMITED_BY: &str = "many small parts: site files, SQLite's check of its pages, each document read from JSON by enrolment, keeper and cache, \
     the system's root certificates for each undercloud";

fn measure(size: Size) -> io::Result<Report> {
    let clusters = size.pick(CLUSTERS, &[1]);
    let largest = clusters.last().copied().unwrap_or(1);
    let directory = tempfile::tempdir()?;
    let (racks, machines_per_rack) = size.pick((8, 16), (4, 3));
    let worlds = Worlds::start(Shape { clusters: largest, racks, machines_per_rack }, "1", &[])?;
    let mut report = Report::default();
    let (mut ready, mut greeted) = (Vec::new(), Vec::new());
    for count in clusters {
        let sites = &worlds.site_files[..usize::try_from(*count).unwrap_or(usize::MAX)];
        let measured = after_kills(directory.path(), sites, size)?;
        let machines = u64::from(*count) * size.pick(CLUSTER_SIZE, 12);
        ready.push((machines, milliseconds(measured.ready)));
        greeted.push((machines, milliseconds(measured.greeted)));
        if *count == largest {
            report.figures.extend(figures(machines, &measured));
        }
    }
    report.curves.push(Curve { what: "until /readyz says yes".to_owned(), unit: Unit::Milliseconds, points: ready });
    report.curves.push(Curve { what: "until the greeting".to_owned(), unit: Unit::Milliseconds, points: greeted });
    Ok(report)
}

fn figures(machines: u64, measured: &Measured) -> Vec<Figure> {
    let (machines, operations) = (Unit::Count.show(machines as f64), Unit::Count.show(measured.in_flight as f64));
    let of = format!("{machines} machines, {operations} operations in flight");
    vec![
        Figure::new(format!("from exec to `/readyz` saying yes: {of}"), measured.ready.as_secs_f64(), Unit::Seconds, LIMITED_BY).under(2.0),
        Figure::new(format!("from exec to the greeting: {of}"), measured.greeted.as_secs_f64(), Unit::Seconds, "the same").under(2.0),
        Figure::new(
            format!("processor time by then: {of}"),
            measured.spent.as_secs_f64(),
            Unit::Seconds,
            "the first looks at the devices, which have begun",
        ),
    ]
}

struct Measured {
    ready: Duration,
    greeted: Duration,
    spent: Duration,
    in_flight: u64,
}

/// Fills a data directory, sets a tenth of the machines restarting, and kills and starts the control plane.
fn after_kills(directory: &Path, sites: &[PathBuf], size: Size) -> io::Result<Measured> {
    let data = tempfile::tempdir_in(directory)?;
    let address = free_address()?;
    let (listen, data) = (address.to_string(), data.path().to_string_lossy().into_owned());
    let sites: Vec<String> = sites.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let mut arguments = vec!["serve", "--listen", &listen, "--data-dir", &data];
    arguments.extend(sites.iter().flat_map(|site| ["--config", site]));
    let runtime = Runtime::new()?;
    let first = Process::start(&arguments, "Context")?;
    let door = first.door(0)?;
    runtime.block_on(until_ready(door.clone()))?;
    let paths = restarts(sites.len() as u64, size);
    runtime.block_on(ask_all(&door, paths))?;
    drop(first);
    let mut measured = Vec::new();
    for _ in 0..size.pick(STARTS, 1) {
        let waiting = runtime.spawn(until_ready(door.clone()));
        let Started { process, executed_at, greeted_at } = Process::start_timed(&arguments, "Context")?;
        let ready_at = runtime.block_on(waiting)??;
        let in_flight = runtime.block_on(operations_in_flight(&door))?;
        measured.push(Measured { ready: ready_at - executed_at, greeted: greeted_at - executed_at, spent: process.cpu_time()?, in_flight });
    }
    let median = |of: fn(&Measured) -> Duration| Times::new(measured.iter().map(of).collect()).median();
    let in_flight = measured.iter().map(|start| start.in_flight).min().unwrap_or(0);
    Ok(Measured {
        ready: median(|start| start.ready),
        greeted: median(|start| start.greeted),
        spent: median(|start| start.spent),
        in_flight,
    })
}

fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0")?.local_addr()
}

/// When `/readyz` says yes for the first time. A question that comes too early is repeated after a few milliseconds.
async fn until_ready(door: Door) -> io::Result<Instant> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if let Ok(mut client) = Client::connect(&door).await
            && let Ok((StatusCode::OK, _)) = client.get("/readyz").await
        {
            return Ok(Instant::now());
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Err(io::Error::other("the control plane did not get ready"))
}

/// What is asked: restarts of compute machines, for a tenth of all machines.
fn restarts(clusters: u64, size: Size) -> Vec<String> {
    let wanted = usize::try_from(clusters * CLUSTER_SIZE / 10).unwrap_or(usize::MAX);
    let per_cluster = size.pick(13, 2);
    let path = |site: u64, nth: u64| {
        let (rack, slot) = (nth % 4 + 1, nth / 4 + 1);
        let group = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/site{site}");
        format!("{group}/providers/Microsoft.NetworkCloud/bareMetalMachines/rack{rack}compute{slot:02}/restart?api-version=1")
    };
    (0..per_cluster).flat_map(|nth| (1..=clusters).map(move |site| path(site, nth))).take(wanted).collect()
}

async fn ask_all(door: &Door, paths: Vec<String>) -> io::Result<()> {
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        let paths: Vec<String> = paths.iter().skip(client).step_by(CLIENTS).cloned().collect();
        let door = door.clone();
        clients.spawn(async move {
            let mut client = Client::connect(&door).await?;
            for path in paths {
                let (status, body) = client.post(&path, Bytes::new()).await?;
                if status != StatusCode::ACCEPTED {
                    return Err(io::Error::other(format!("{path} answers {status}: {}", String::from_utf8_lossy(&body))));
                }
            }
            Ok(())
        });
    }
    while let Some(asked) = clients.join_next().await {
        asked??;
    }
    Ok(())
}

async fn operations_in_flight(door: &Door) -> io::Result<u64> {
    let (_, body) = Client::connect(door).await?.get("/rackwright/v1/status").await?;
    let status: serde_json::Value = serde_json::from_slice(&body)?;
    let clusters = status["clusters"].as_array().into_iter().flatten();
    Ok(clusters.filter_map(|cluster| cluster["operationCount"].as_u64()).sum())
}
