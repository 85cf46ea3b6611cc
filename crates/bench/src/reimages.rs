//! Reimages of machines that take no time themselves: from the request over the exchange with the agent to the joined node.

mod beside;

use std::io;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::acting::Wish;
use crate::cores::Apart;
use crate::figure::{Bench, Curve, Figure, Report, Size, Unit};
use crate::table;
use crate::tally::Tally;
use crate::worlds::Shape;
use beside::{Beside, Rest};

pub const BENCH: Bench = Bench { name: "reimages", what: "reimages of machines that take no time", measure };

/// Looked for seldom, so that it is reimages that are measured and not reads.
const REIMAGE: Wish = Wish { verb: "reimage", body: r#"{"safeguardMode":"None"}"#, look_every: Duration::from_millis(500) };

/// A machine stays cordoned after its reimage, and whoever reimages it again must find it as it was: to cordon it is work, too.
const UNCORDON: Wish = Wish { verb: "uncordon", body: "", look_every: Duration::from_millis(500) };

/// Machines that are reimaged at once. Each cluster has 104 machines, of which 100 are no members of the control plane.
const SMALL_FLEET: u32 = 100;
const LARGE_FLEETS: [u32; 2] = [1_000, 10_000];
const RACKS: u32 = 4;
const MACHINES_PER_RACK: u32 = 26;
const PER_CLUSTER: u32 = 100;

/// The fleet that all is told of.
const TOLD_FLEET: u32 = 1_000;

/// Clients that ask. A request is good for five seconds, within which each BMC has to be surveyed: more clients would only be refused.
const CLIENTS: usize = 64;

/// How fleets are watched at rest.
const REST: Rest = Rest { warm_up: Duration::from_secs(20), watched: Duration::from_secs(60) };
const NO_REST: Rest = Rest { warm_up: Duration::ZERO, watched: Duration::ZERO };

/// How often the small fleet is reimaged for each thousand machines of the large one, about as long as a tenth of them take. A request is
/// good for five seconds, so that those which wait while the large fleet is stopped are asked again: it must not be stopped often.
const SMALL_EVERY: Duration = Duration::from_secs(5);

/// What profiles showed of these figures.
const ITS_CORE: &str = "the core that the control plane has to itself";
const PLANE_TIME: &str =
    "a fifth is the store's writer, a quarter what answers clients and agents; then JSON, copies of documents, sockets";
const WORLD_TIME: &str = "as with restarts";
const COMMITS: &str =
    "the API's, which files each request and each report, and sweeps many away at once; a keeper's carries the news of many machines";
const CALLS: &str = "the steps of an installation; those beyond are looks at machines that wait or are done, one a minute";
const PLANS: &str = "keepers take turns, so many a second: the longer all takes, the more there are for each";
const MEMORY: &str =
    "operations with their journals, what was looked at, and an open connection to each BMC; read from the code, not measured";
const GROWTH: &str = "linear would be 1; what is known of it stands above the table";

/// What linear means here: a machine of the largest fleet costs at most so much beside one of the smallest.
const GROWTH_MAX: f64 = 1.25;

/// How often each large fleet is reimaged, in turn. Told is the median round.
const ROUNDS: usize = 3;

fn measure(size: Size) -> io::Result<Report> {
    let apart = Apart::begin()?;
    let runtime = Runtime::new()?;
    let fleets = match size {
        Size::Full => LARGE_FLEETS.to_vec(),
        Size::Fleet(machines) => vec![machines],
        Size::Small => vec![3],
    };
    let rounds_of_each = if size == Size::Full { ROUNDS } else { 1 };
    let mut rounds: Vec<Vec<Beside>> = fleets.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds_of_each {
        for (fleet, measured) in fleets.iter().zip(&mut rounds) {
            let shapes = [SMALL_FLEET, *fleet].map(|machines| shape(machines, size));
            let every = size.pick(SMALL_EVERY * fleet.div_ceil(1_000), Duration::from_millis(1));
            let beside = runtime.block_on(beside::reimage(shapes, &size.pick(REST, NO_REST), every, apart.as_ref()))?;
            for cost in [&beside.small, &beside.large] {
                table::say(&cost.line());
                if let Size::Fleet(_) = size {
                    cost.done.iter().for_each(|(what, each)| table::say(&format!("    {each:8.3} {what}")));
                }
            }
            let (large, small) = (beside.large.machines, beside.small.machines);
            table::say(&format!("  one of {large} costs {:.3} times as much as one of {small}", beside.growth()));
            measured.push(beside);
        }
    }
    let told: Vec<(u32, Told)> = fleets.into_iter().zip(rounds).map(|(fleet, rounds)| (fleet, median(rounds))).collect();
    let curve = |what: &str, of: fn(&Cost) -> f64| Curve {
        what: what.to_owned(),
        unit: Unit::Milliseconds,
        points: all_costs(&told).map(|(fleet, cost)| (u64::from(fleet), of(cost))).collect(),
    };
    let curves = vec![
        curve("processor time of the control plane for one", |cost| cost.plane),
        curve("of it, beyond what the fleet costs at rest", |cost| cost.beyond_rest),
    ];
    Ok(Report { figures: figures(&told), curves })
}

fn shape(machines: u32, size: Size) -> Shape {
    let full = Shape { clusters: machines.div_ceil(PER_CLUSTER), racks: RACKS, machines_per_rack: MACHINES_PER_RACK };
    size.pick(full, Shape { clusters: 1, racks: 1, machines_per_rack: 6 })
}

/// The rounds of one large fleet: the one in the middle, and the least and the most that its machines cost beside those of the small fleet.
struct Told {
    beside: Beside,
    growths: (f64, f64),
}

/// The round in the middle, by what a machine of the large fleet costs beside one of the small.
fn median(mut rounds: Vec<Beside>) -> Told {
    rounds.sort_by(|one, other| one.growth().total_cmp(&other.growth()));
    let growths = (rounds[0].growth(), rounds[rounds.len() - 1].growth());
    Told { beside: rounds.swap_remove(rounds.len() / 2), growths }
}

/// The small fleet as it was beside the largest, and the large ones.
fn all_costs(told: &[(u32, Told)]) -> impl Iterator<Item = (u32, &Cost)> {
    let small = told.last().map(|(_, told)| (SMALL_FLEET, &told.beside.small));
    small.into_iter().chain(told.iter().map(|(fleet, told)| (*fleet, &told.beside.large)))
}

/// What the reimages of a fleet cost. Times are of one machine, in milliseconds; memory is in bytes.
struct Cost {
    machines: f64,
    took: Duration,
    plane: f64,
    beyond_rest: f64,
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

fn figures(told: &[(u32, Told)]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (fleet, cost) in all_costs(told) {
        let what = format!("{} machines reimaged at once", Unit::Count.show(cost.machines));
        figures.push(Figure::new(what, cost.per_minute(), Unit::PerMinute, ITS_CORE));
        figures.push(Figure::new("of each, the control plane's processor time", cost.plane, Unit::Milliseconds, PLANE_TIME));
        let what = "of it, beyond what the fleet costs at rest in that time";
        figures.push(Figure::new(what, cost.beyond_rest, Unit::Milliseconds, PLANE_TIME));
        figures.push(Figure::new("what each machine adds to its memory", cost.memory_each() / 1024.0, Unit::Kibibytes, MEMORY));
        figures.push(Figure::new("calls to the BMC of each", cost.done.of("bmc: "), Unit::Count, CALLS));
        figures.push(Figure::new("plans for each", cost.done.of("plans"), Unit::Count, PLANS));
        if fleet == TOLD_FLEET || told.len() == 1 {
            figures.extend(details(cost));
        }
    }
    for (index, (fleet, Told { beside, growths })) in told.iter().enumerate() {
        let fleet = Unit::Count.show(f64::from(*fleet));
        let what = format!("what one of {fleet} costs the control plane beside one of {SMALL_FLEET} in the same minutes, without the rest");
        let figure = Figure::new(what, beside.growth(), Unit::Count, GROWTH);
        figures.push(if index + 1 == told.len() { figure.under(GROWTH_MAX) } else { figure });
        figures.push(Figure::new("the least of the rounds", growths.0, Unit::Count, GROWTH));
        figures.push(Figure::new("the most of the rounds", growths.1, Unit::Count, GROWTH));
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
