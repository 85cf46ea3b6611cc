//! Reimages of machines that take no time themselves: from the request over the exchange with the agent to the joined node.

use std::io;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::acting::{self, Wish};
use crate::figure::{Bench, Curve, Figure, Report, Size, Unit};
use crate::house::{House, Shape as Fleet};
use crate::pair::{Pair, Shape};
use crate::process::own_cpu_time;
use crate::stats::milliseconds;
use crate::table;

pub const BENCH: Bench = Bench { name: "reimages", what: "reimages of machines that take no time", measure };

/// Looked for seldom, so that it is reimages that are measured and not reads.
const REIMAGE: Wish = Wish { verb: "reimage", body: r#"{"safeguardMode":"None"}"#, look_every: Duration::from_millis(500) };

/// Machines that are reimaged at once over sockets. Each cluster has 104 machines, of which 100 are no members of the control plane.
const TOLD_FLEET: u64 = 1_000;
const RACKS: u32 = 4;
const MACHINES_PER_RACK: u32 = 26;
const PER_CLUSTER: u64 = 100;

/// Clients that ask. A request is good for five seconds, within which each BMC has to be surveyed: more clients would only be refused.
const CLIENTS: usize = 64;

/// Logins and first looks are over by then.
const WARM_UP: Duration = Duration::from_secs(5);

/// How long a fleet is watched at rest, to know what of the processor time is not the reimages'.
const AT_REST: Duration = Duration::from_secs(10);

/// What profiles showed of these figures.
const BOTH_CORES: &str = "both cores, with the control plane and the simulator, and whatever else runs on this machine";
const PLANE_TIME: &str = "a fifth is the store's writer, a sixth what answers clients and agents; then JSON, copies of documents, sockets";
const WORLD_TIME: &str = "as with restarts";
const COMMITS: &str =
    "the API's, which files each request and each report and sweeps it away; a keeper's carries the news of many machines";
const MEMORY: &str =
    "operations with their journals, what was looked at, and an open connection to each BMC; read from the code, not measured";
const HOUSE_TIME: &str = "a quarter is the store's writer; then copies and comparisons of documents, JSON, and the allocator";
const BEYOND_REST: &str = "plans: the more keepers share the cores, the fewer machines each plan is for";

fn measure(size: Size) -> io::Result<Report> {
    let runtime = Runtime::new()?;
    let mut figures = runtime.block_on(over_sockets(size))?;
    let (inside, curves) = runtime.block_on(in_process(size))?;
    figures.extend(inside);
    Ok(Report { figures, curves })
}

async fn over_sockets(size: Size) -> io::Result<Vec<Figure>> {
    let clusters = u32::try_from(TOLD_FLEET / PER_CLUSTER).unwrap_or(u32::MAX);
    let full = Shape { clusters, racks: RACKS, machines_per_rack: MACHINES_PER_RACK };
    let pair = Pair::start_without_tenants(size.pick(full, Shape { clusters: 1, racks: 1, machines_per_rack: 6 }))?;
    pair.import_runtimes().await?;
    tokio::time::sleep(size.pick(WARM_UP, Duration::ZERO)).await;
    let (machines, clients) = (pair.machines.len() as f64, pair.clients(CLIENTS.min(pair.machines.len())).await?);
    let memory = pair.plane.memory()? as f64;
    pair.plane.forget_peak()?;
    let before = (pair.plane.cpu_time()?, pair.world.cpu_time()?, pair.commits().await?);
    let took = acting::act_at_once(clients, &pair.machines, REIMAGE).await?;
    let plane = milliseconds(pair.plane.cpu_time()? - before.0) / machines;
    let world = milliseconds(pair.world.cpu_time()? - before.1) / machines;
    let commits = (pair.commits().await? - before.2) / machines;
    let peak = pair.plane.peak_memory()? as f64;
    let what = format!("{} machines reimaged at once over sockets", Unit::Count.show(machines));
    Ok(vec![
        Figure::new(what, 60.0 * machines / took.as_secs_f64(), Unit::PerMinute, BOTH_CORES),
        Figure::new("all of them", took.as_secs_f64(), Unit::Seconds, "the same"),
        Figure::new("of each, the control plane's processor time", plane, Unit::Milliseconds, PLANE_TIME),
        Figure::new("of each, the simulator's processor time", world, Unit::Milliseconds, WORLD_TIME),
        Figure::new("of each, commits", commits, Unit::Count, COMMITS),
        Figure::new("memory of the control plane before", memory / 1e6, Unit::Megabytes, "see the benchmark `memory`"),
        Figure::new("its peak meanwhile", peak / 1e6, Unit::Megabytes, MEMORY),
        Figure::new("what each machine adds to it", (peak - memory).max(0.0) / 1024.0 / machines, Unit::Kibibytes, MEMORY),
    ])
}

/// A fleet in clusters, or in one cluster that is larger than any site has.
#[derive(Clone, Copy)]
enum Clusters {
    Usual,
    One,
}

impl Clusters {
    fn hold(self, machines: u64) -> Fleet {
        match self {
            Clusters::Usual => Fleet { clusters: machines.div_ceil(PER_CLUSTER), racks: RACKS, machines_per_rack: MACHINES_PER_RACK },
            Clusters::One => {
                let all = u32::try_from(machines).unwrap_or(u32::MAX) + RACKS;
                let racks = all.div_ceil(128).max(RACKS);
                Fleet { clusters: 1, racks, machines_per_rack: all.div_ceil(racks) }
            }
        }
    }

    fn fleets(self) -> &'static [u64] {
        match self {
            Clusters::Usual => &[100, 1_000, 10_000],
            Clusters::One => &[100, 1_000],
        }
    }

    fn what(self) -> &'static str {
        match self {
            Clusters::Usual => "in clusters of 104",
            Clusters::One => "in one cluster",
        }
    }
}

/// Machines per minute, and the processor time of one: all of it, and without what the fleet costs at rest meanwhile.
struct Cost {
    per_minute: f64,
    each: f64,
    beyond_rest: f64,
}

async fn in_process(size: Size) -> io::Result<(Vec<Figure>, Vec<Curve>)> {
    let (mut figures, mut curves) = (Vec::new(), Vec::new());
    for clusters in [Clusters::Usual, Clusters::One] {
        let mut costs = Vec::new();
        for fleet in size.pick(clusters.fleets().to_vec(), vec![3]) {
            let fleet_shape = size.pick(clusters.hold(fleet), Fleet { clusters: 1, racks: 1, machines_per_rack: 6 });
            let cost = reimage(fleet_shape, fleet, size.pick(AT_REST, Duration::ZERO)).await?;
            table::say(&format!(
                "  {fleet} machines {}: {:.1} ms each, {:.1} beyond rest, {:.0} per minute",
                clusters.what(),
                cost.each,
                cost.beyond_rest,
                cost.per_minute
            ));
            costs.push((fleet, cost));
        }
        figures.extend(told(clusters, &costs));
        let points = costs.iter().map(|(fleet, cost)| (*fleet, cost.beyond_rest)).collect();
        curves.push(Curve {
            what: format!("processor time of one beyond the fleet's at rest, {}", clusters.what()),
            unit: Unit::Milliseconds,
            points,
        });
    }
    Ok((figures, curves))
}

/// Reimages that many machines at once.
async fn reimage(shape: Fleet, count: u64, at_rest: Duration) -> io::Result<Cost> {
    let house = House::build(shape).await?;
    house.import_runtime().await?;
    let machines: Vec<String> = house.machines.iter().take(usize::try_from(count).unwrap_or(usize::MAX)).cloned().collect();
    let resting = own_cpu_time()?;
    tokio::time::sleep(at_rest).await;
    let rest = if at_rest.is_zero() { 0.0 } else { (own_cpu_time()? - resting).as_secs_f64() / at_rest.as_secs_f64() };
    let before = own_cpu_time()?;
    let took = acting::act_at_once(house.callers(CLIENTS.min(machines.len())), &machines, REIMAGE).await?;
    let spent = milliseconds(own_cpu_time()? - before);
    house.close().await;
    let count = machines.len() as f64;
    let beyond_rest = (spent - rest * milliseconds(took)).max(0.0) / count;
    Ok(Cost { per_minute: 60.0 * count / took.as_secs_f64(), each: spent / count, beyond_rest })
}

fn told(clusters: Clusters, costs: &[(u64, Cost)]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (fleet, cost) in costs {
        let what = format!("{} machines reimaged at once in process, {}", Unit::Count.show(*fleet as f64), clusters.what());
        figures.push(Figure::new(what, cost.per_minute, Unit::PerMinute, BOTH_CORES));
        figures.push(Figure::new("of each, processor time of everything", cost.each, Unit::Milliseconds, HOUSE_TIME));
        let what = "of it, beyond what the whole fleet costs at rest in that time";
        figures.push(Figure::new(what, cost.beyond_rest, Unit::Milliseconds, BEYOND_REST));
    }
    figures
}
