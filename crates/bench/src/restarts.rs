//! Restarts of machines that take no time themselves: what is left is the control plane's own.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use crate::acting::{self, Caller, Ended, Wish};
use crate::figure::{Bench, Curve, Figure, Report, Size, Unit};
use crate::house::{House, Shape as Fleet};
use crate::pair::Pair;
use crate::process::own_cpu_time;
use crate::stats::{Times, milliseconds};
use crate::worlds::Shape;

pub const BENCH: Bench = Bench { name: "restarts", what: "restarts of machines that take no time", measure };

/// Looked for seldom, so that it is restarts that are measured and not reads.
const RESTART: Wish = Wish { verb: "restart", body: "", look_every: Duration::from_millis(100) };

/// One alone is looked for at once.
const LONE_RESTART: Wish = Wish { look_every: Duration::from_millis(5), ..RESTART };

/// Clients at once: enough that each commit carries the news of many machines.
const CLIENTS: usize = 128;
const CLIENTS_INSIDE: usize = 512;

/// Logins are over by then, and every client has begun.
const WARM_UP: Duration = Duration::from_secs(2);
const MEASURED: Duration = Duration::from_secs(10);

/// Fleets of the curve, and the one that the figures are told of: eight clusters.
const FLEETS: [u64; 4] = [128, 1_024, 4_096, 10_240];
const TOLD_FLEET: u64 = 1_024;

/// What profiles showed of these figures.
const PLANE_TIME: &str = "a quarter is the store's writer, a sixth the allocator; then JSON, comparing names, and sockets";
const HOUSE_TIME: &str =
    "a fifth is the store's writer, a fifth the allocator; then JSON, of the control plane and of the simulated devices";
const COMMITS: &str =
    "one of the API, which files a request, and a part of one that sweeps many away; a keeper's carries the news of many machines";
const LONE: &str =
    "six plans of a keeper, which are 20 ms apart, the looks 20 ms after each change of power, and the boot; hardly any work";

fn measure(size: Size) -> io::Result<Report> {
    let runtime = Runtime::new()?;
    let mut figures = runtime.block_on(over_sockets(size))?;
    let (inside, curves) = runtime.block_on(in_process(size))?;
    figures.extend(inside);
    Ok(Report { figures, curves })
}

async fn over_sockets(size: Size) -> io::Result<Vec<Figure>> {
    let shape = size.pick(Shape { clusters: 4, racks: 4, machines_per_rack: 32 }, Shape { clusters: 1, racks: 1, machines_per_rack: 6 });
    let pair = Pair::start(shape)?;
    let clients = CLIENTS.min(pair.machines.len());
    let lone = lone_restarts(&mut pair.clients(1).await?[0], &pair.machines[0], size).await?;
    acting::keep_acting(pair.clients(clients).await?, &pair.machines, RESTART, size.pick(WARM_UP, Duration::ZERO)).await?;
    let before = (pair.plane.cpu_time()?, pair.worlds.cpu_time()?, pair.commits().await?);
    let ended = acting::keep_acting(pair.clients(clients).await?, &pair.machines, RESTART, measured(size)).await?;
    let count = ended.times.count().max(1) as f64;
    let plane = milliseconds(pair.plane.cpu_time()? - before.0) / count;
    let world = milliseconds(pair.worlds.cpu_time()? - before.1) / count;
    let commits = (pair.commits().await? - before.2) / count;
    Ok(vec![
        Figure::new(
            format!("restarts over sockets, {} machines, {clients} clients", pair.machines.len()),
            ended.per_second(),
            Unit::PerSecond,
            "both cores are busy: with the control plane, the simulator, and a little with the clients",
        )
        .at_least(100.0),
        Figure::new("of each, the control plane's processor time", plane, Unit::Milliseconds, PLANE_TIME),
        Figure::new(
            "of each, the simulator's processor time",
            world,
            Unit::Milliseconds,
            "JSON, the allocator, sockets, and a third of it its own store",
        ),
        Figure::new("of each, commits", commits, Unit::Count, COMMITS),
        Figure::new("one restart alone over sockets, from the call to its end", milliseconds(lone.median()), Unit::Milliseconds, LONE),
        Figure::new("one fsync of 4 KiB on this disk", milliseconds(sync_time(pair.directory())?), Unit::Milliseconds, "the disk"),
    ])
}

async fn in_process(size: Size) -> io::Result<(Vec<Figure>, Vec<Curve>)> {
    let mut figures = Vec::new();
    let mut rate = Curve { what: "restarts in process".to_owned(), unit: Unit::PerSecond, points: Vec::new() };
    let mut cost = Curve { what: "processor time of one".to_owned(), unit: Unit::Milliseconds, points: Vec::new() };
    for fleet in size.pick(FLEETS.to_vec(), vec![64]) {
        let house = House::build(Fleet::of(fleet)).await?;
        let clients = CLIENTS_INSIDE.min(house.machines.len());
        let lone = lone_restarts(&mut house.callers(1)[0], &house.machines[0], size).await?;
        acting::keep_acting(house.callers(clients), &house.machines, RESTART, size.pick(WARM_UP, Duration::ZERO)).await?;
        let before = (own_cpu_time()?, house.commits().await?);
        let ended: Ended = acting::keep_acting(house.callers(clients), &house.machines, RESTART, measured(size)).await?;
        let count = ended.times.count().max(1) as f64;
        let spent = milliseconds(own_cpu_time()? - before.0) / count;
        let commits = (house.commits().await? - before.1) / count;
        house.close().await;
        rate.points.push((fleet, ended.per_second()));
        cost.points.push((fleet, spent));
        if fleet == size.pick(TOLD_FLEET, fleet) {
            figures = vec![
                Figure::new(
                    format!("restarts in process, {} machines, {clients} clients", Unit::Count.show(fleet as f64)),
                    ended.per_second(),
                    Unit::PerSecond,
                    "both cores, five sixths of the time; then commits, which follow each other",
                )
                .at_least(500.0),
                Figure::new("of each, processor time of everything", spent, Unit::Milliseconds, HOUSE_TIME),
                Figure::new("of each, commits", commits, Unit::Count, COMMITS),
                Figure::new("one restart alone in process", milliseconds(lone.median()), Unit::Milliseconds, LONE),
            ];
        }
    }
    Ok((figures, vec![rate, cost]))
}

fn measured(size: Size) -> Duration {
    size.pick(MEASURED, Duration::from_millis(500))
}

async fn lone_restarts(caller: &mut impl Caller, machine: &str, size: Size) -> io::Result<Times> {
    let mut times = Vec::new();
    for _ in 0..size.pick(20, 1) {
        times.push(acting::act(caller, machine, LONE_RESTART).await?);
    }
    Ok(Times::new(times))
}

/// What SQLite waits for at each transaction, on the disk where the stores lie.
fn sync_time(directory: &Path) -> io::Result<Duration> {
    let mut file = File::create(directory.join("sync"))?;
    let mut times = Vec::new();
    for _ in 0..200 {
        file.write_all(&[0; 4_096])?;
        let began = Instant::now();
        file.sync_data()?;
        times.push(began.elapsed());
    }
    Ok(Times::new(times).median())
}
