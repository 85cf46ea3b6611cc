//! Reimages of machines that take no time themselves: from the request over the exchange with the agent to the joined node.

use std::io;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::acting::{self, Wish};
use crate::cores::Apart;
use crate::figure::{Bench, Curve, Figure, Report, Size, Unit};
use crate::pair::Pair;
use crate::stats::milliseconds;
use crate::table;
use crate::tally::Tally;
use crate::worlds::Shape;

pub const BENCH: Bench = Bench { name: "reimages", what: "reimages of machines that take no time", measure };

/// Looked for seldom, so that it is reimages that are measured and not reads.
const REIMAGE: Wish = Wish { verb: "reimage", body: r#"{"safeguardMode":"None"}"#, look_every: Duration::from_millis(500) };

/// A machine stays cordoned after its reimage, and whoever reimages it again must find it as it was: to cordon it is work, too.
const UNCORDON: Wish = Wish { verb: "uncordon", body: "", look_every: Duration::from_millis(500) };

/// How long is waited after that: the revision of the store that the metrics tell may be a second old, and the uncordons' commits would be
/// counted with the reimages'.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// Machines that are reimaged at once. Each cluster has 104 machines, of which 100 are no members of the control plane.
const FLEETS: [u32; 3] = [100, 1_000, 10_000];
const RACKS: u32 = 4;
const MACHINES_PER_RACK: u32 = 26;
const PER_CLUSTER: u32 = 100;

/// The fleet that all is told of.
const TOLD_FLEET: u32 = 1_000;

/// Clients that ask. A request is good for five seconds, within which each BMC has to be surveyed: more clients would only be refused.
const CLIENTS: usize = 64;

/// Reimages that are measured at least: a small fleet is reimaged again and again, all of it at once each time. A hundred machines take
/// two seconds, in which one look more or less counts.
const REIMAGED: usize = 2_000;

/// How long a fleet is watched at rest, to know what of the processor time is not the reimages'. Logins and first looks are over by then,
/// and within a minute every BMC is looked at once.
const WARM_UP: Duration = Duration::from_secs(20);
const AT_REST: Duration = Duration::from_secs(60);

/// What profiles showed of these figures.
const ITS_CORE: &str = "the core that the control plane has to itself";
const PLANE_TIME: &str =
    "a fifth is the store's writer, a quarter what answers clients and agents; then JSON, copies of documents, sockets";
const WORLD_TIME: &str = "as with restarts";
const COMMITS: &str =
    "the API's, which files each request and each report and sweeps it away; a keeper's carries the news of many machines";
const CALLS: &str = "the steps of an installation; those beyond are looks at machines that wait or are done, one a minute";
const PLANS: &str = "keepers take turns, so many a second: the longer all takes, the more there are for each";
const MEMORY: &str =
    "operations with their journals, what was looked at, and an open connection to each BMC; read from the code, not measured";
const GROWTH: &str = "linear would be 1; medians of the rounds, which differ by as much as told here";

/// How often each fleet is reimaged, the fleets in turn, so that an hour in which the computer is slow falls on all of them. Told is
/// the median round.
const ROUNDS: usize = 3;

fn measure(size: Size) -> io::Result<Report> {
    let apart = Apart::begin()?;
    let runtime = Runtime::new()?;
    let fleets = match size {
        Size::Full => FLEETS.to_vec(),
        Size::Fleet(machines) => vec![machines],
        Size::Small => vec![3],
    };
    let rounds_of_each = if size == Size::Full { ROUNDS } else { 1 };
    let mut rounds: Vec<Vec<Cost>> = fleets.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds_of_each {
        for (fleet, costs) in fleets.iter().zip(&mut rounds) {
            let full = Shape { clusters: fleet.div_ceil(PER_CLUSTER), racks: RACKS, machines_per_rack: MACHINES_PER_RACK };
            let shape = size.pick(full, Shape { clusters: 1, racks: 1, machines_per_rack: 6 });
            let cost = runtime.block_on(reimage(shape, size, apart.as_ref()))?;
            table::say(&cost.line());
            if let Size::Fleet(_) = size {
                cost.done.iter().for_each(|(what, each)| table::say(&format!("    {each:8.3} {what}")));
            }
            costs.push(cost);
        }
    }
    let costs: Vec<(u32, Cost)> = fleets.into_iter().zip(rounds).map(|(fleet, costs)| (fleet, median(costs))).collect();
    let curve = |what: &str, of: fn(&Cost) -> f64| Curve {
        what: what.to_owned(),
        unit: Unit::Milliseconds,
        points: costs.iter().map(|(fleet, cost)| (u64::from(*fleet), of(cost))).collect(),
    };
    let curves = vec![
        curve("processor time of the control plane for one", |cost| cost.plane),
        curve("of it, beyond what the fleet costs at rest", |cost| cost.beyond_rest),
    ];
    Ok(Report { figures: figures(&costs), curves })
}

/// What the reimages of a fleet cost. Times are of one machine, in milliseconds; memory is in bytes.
struct Cost {
    machines: f64,
    took: Duration,
    plane: f64,
    beyond_rest: f64,
    /// Between the rounds of one fleet.
    spread: f64,
    world: f64,
    /// How often what was done for one machine.
    done: Tally,
    memory: f64,
    peak: f64,
}

impl Cost {
    fn per_minute(&self) -> f64 {
        60.0 * self.machines / self.took.as_secs_f64()
    }

    fn memory_each(&self) -> f64 {
        (self.peak - self.memory).max(0.0) / self.machines
    }

    fn line(&self) -> String {
        format!(
            "  {} machines: {:.1} ms each, {:.1} beyond rest, {:.0} per minute, {:.1} commits, {:.0} KiB",
            self.machines,
            self.plane,
            self.beyond_rest,
            self.per_minute(),
            self.done.commits().unwrap_or_default(),
            self.memory_each() / 1024.0
        )
    }
}

/// The round in the middle, by what its machines cost; it is told how far apart the cheapest and the dearest were.
fn median(mut rounds: Vec<Cost>) -> Cost {
    rounds.sort_by(|one, other| one.beyond_rest.total_cmp(&other.beyond_rest));
    let spread = rounds.last().map_or(0.0, |dearest| dearest.beyond_rest - rounds[0].beyond_rest);
    Cost { spread, ..rounds.swap_remove(rounds.len() / 2) }
}

/// What reimages have taken of the computer, and what was done for them.
#[derive(Default)]
struct Spent {
    took: Duration,
    plane: Duration,
    worlds: Duration,
    done: Tally,
}

impl Spent {
    /// Since the processes began, whenever that was.
    async fn so_far(pair: &Pair) -> io::Result<Spent> {
        let (plane, worlds) = (pair.plane.cpu_time()?, pair.worlds.cpu_time()?);
        Ok(Spent { plane, worlds, done: pair.tally().await?, ..Spent::default() })
    }

    fn since(self, before: &Spent) -> Spent {
        let (plane, worlds) = (self.plane.saturating_sub(before.plane), self.worlds.saturating_sub(before.worlds));
        Spent { plane, worlds, done: self.done.since(&before.done), ..self }
    }

    fn and(self, other: &Spent) -> Spent {
        Spent {
            took: self.took + other.took,
            plane: self.plane + other.plane,
            worlds: self.worlds + other.worlds,
            done: self.done.and(&other.done),
        }
    }
}

/// Reimages all machines of a fleet at once, over sockets.
async fn reimage(shape: Shape, size: Size, apart: Option<&Apart>) -> io::Result<Cost> {
    let pair = Pair::start_without_tenants(shape, apart)?;
    pair.import_runtimes().await?;
    tokio::time::sleep(size.pick(WARM_UP, Duration::ZERO)).await;
    let rest = at_rest(&pair, size.pick(AT_REST, Duration::ZERO)).await?;
    let (machines, mut clients) = (pair.machines.len() as f64, pair.clients(CLIENTS.min(pair.machines.len())).await?);
    let memory = pair.plane.memory()? as f64;
    pair.plane.forget_peak()?;
    let times = size.pick(REIMAGED.div_ceil(pair.machines.len()), 1);
    let mut spent = Spent::default();
    for time in 0..times {
        if time > 0 {
            (_, clients) = acting::act_at_once(clients, &pair.machines, UNCORDON).await?;
            tokio::time::sleep(SETTLED_AFTER).await;
        }
        let before = Spent::so_far(&pair).await?;
        let (took, callers) = acting::act_at_once(clients, &pair.machines, REIMAGE).await?;
        let after = Spent { took, ..Spent::so_far(&pair).await? };
        (spent, clients) = (spent.and(&after.since(&before)), callers);
    }
    let reimaged = machines * times as f64;
    let plane = milliseconds(spent.plane);
    Ok(Cost {
        machines,
        took: spent.took / u32::try_from(times).unwrap_or(u32::MAX),
        plane: plane / reimaged,
        beyond_rest: (plane - rest * milliseconds(spent.took)).max(0.0) / reimaged,
        spread: 0.0,
        world: milliseconds(spent.worlds) / reimaged,
        done: spent.done.for_each_of(reimaged),
        memory,
        peak: pair.plane.peak_memory()? as f64,
    })
}

/// The part of a core that the control plane takes while nothing is asked of it.
async fn at_rest(pair: &Pair, span: Duration) -> io::Result<f64> {
    let before = pair.plane.cpu_time()?;
    tokio::time::sleep(span).await;
    Ok(if span.is_zero() { 0.0 } else { (pair.plane.cpu_time()? - before).as_secs_f64() / span.as_secs_f64() })
}

fn figures(costs: &[(u32, Cost)]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (fleet, cost) in costs {
        let what = format!("{} machines reimaged at once", Unit::Count.show(cost.machines));
        figures.push(Figure::new(what, cost.per_minute(), Unit::PerMinute, ITS_CORE));
        figures.push(Figure::new("of each, the control plane's processor time", cost.plane, Unit::Milliseconds, PLANE_TIME));
        let what = "of it, beyond what the fleet costs at rest in that time";
        figures.push(Figure::new(what, cost.beyond_rest, Unit::Milliseconds, PLANE_TIME));
        let what = "by which the cheapest and the dearest round differ in that";
        figures.push(Figure::new(what, cost.spread, Unit::Milliseconds, "whatever else runs on this machine"));
        figures.push(Figure::new("what each machine adds to its memory", cost.memory_each() / 1024.0, Unit::Kibibytes, MEMORY));
        figures.push(Figure::new("calls to the BMC of each", cost.done.of("bmc: "), Unit::Count, CALLS));
        figures.push(Figure::new("plans for each", cost.done.of("plans"), Unit::Count, PLANS));
        if *fleet == TOLD_FLEET || costs.len() == 1 {
            figures.extend(details(cost));
        }
    }
    if let [(_, few), .., (_, many)] = costs {
        let what = "what one of 10,000 costs the control plane beside one of 100, without the rest";
        figures.push(Figure::new(what, many.beyond_rest / few.beyond_rest, Unit::Count, GROWTH).under(1.25));
    }
    figures
}

fn details(cost: &Cost) -> Vec<Figure> {
    vec![
        Figure::new("all of them", cost.took.as_secs_f64(), Unit::Seconds, "the same"),
        Figure::new("of each, the simulator's processor time", cost.world, Unit::Milliseconds, WORLD_TIME),
        Figure::new("of each, commits", cost.done.commits().unwrap_or_default(), Unit::Count, COMMITS),
        Figure::new("memory of the control plane before", cost.memory / 1e6, Unit::Megabytes, "see the benchmark `memory`"),
        Figure::new("its peak meanwhile", cost.peak / 1e6, Unit::Megabytes, MEMORY),
    ]
}
