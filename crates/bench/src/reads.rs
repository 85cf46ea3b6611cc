//! What reads cost over loopback HTTP as the fleet grows: lists, pages, single machines, and what looks at the whole fleet.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use model::{ClusterName, MachineName, Site};
use store::SystemClock;

use crate::client::{self, Client, Load};
use crate::door::Door;
use crate::figure::{Bench, Curve, Figure, Report, Size, Unit};
use crate::fleet::{self, SUBSCRIPTION};
use crate::plane::{self, Plane};
use crate::process::Process;
use crate::stats::{microseconds, milliseconds};
use crate::table;

pub const BENCH: Bench = Bench { name: "reads", what: "lists and single reads at up to 100,000 machines", measure };

/// The fleet that the targets are for.
const TARGET_FLEET: u64 = 10_000;

/// Clients of the single reads.
const CLIENTS: usize = 8;

/// Who they are, with `rackwright serve`: each may send 2,000 requests at once, and so many more are not rationed.
const CALLERS: usize = 40;

/// Machines of a fleet with keepers: as many as one simulated site has without running out of sockets.
const KEPT_PER_RACK: &str = "250";

fn measure(size: Size) -> io::Result<Report> {
    let fleets: &[u64] = size.pick(&[100, 1_000, TARGET_FLEET, 100_000], &[130]);
    let mut report = Report::default();
    let mut curves: Vec<Curve> =
        COSTS.iter().map(|cost| Curve { what: cost.what.to_owned(), unit: cost.unit, points: Vec::new() }).collect();
    for machines in fleets.iter().copied() {
        table::say(&format!("  {machines} machines …"));
        let directory = tempfile::tempdir()?;
        let sites = fleet::sites(machines);
        plane::fill(directory.path(), Arc::new(SystemClock), &sites)?;
        let costs = measure_fleet(directory.path(), &sites, size)?;
        for (curve, value) in curves.iter_mut().zip(&costs) {
            curve.points.push((machines, *value));
        }
        if machines == size.pick(TARGET_FLEET, 130) {
            report.figures = COSTS.iter().zip(&costs).map(|(cost, value)| cost.figure(machines, *value)).collect();
        }
    }
    report.figures.push(with_keepers(size)?);
    report.curves = curves;
    Ok(report)
}

/// One thing that is measured at every size of fleet.
struct Cost {
    what: &'static str,
    unit: Unit,
    target: fn(Figure) -> Figure,
    limited_by: &'static str,
}

impl Cost {
    fn figure(&self, machines: u64, value: f64) -> Figure {
        (self.target)(Figure::new(
            format!("{} machines: {}", Unit::Count.show(machines as f64), self.what),
            value,
            self.unit,
            self.limited_by,
        ))
    }
}

const fn cost(what: &'static str, unit: Unit, limited_by: &'static str) -> Cost {
    Cost { what, unit, target: |figure| figure, limited_by }
}

impl Cost {
    const fn target(mut self, target: fn(Figure) -> Figure) -> Cost {
        self.target = target;
        self
    }
}

/// In the order in which [`measure_fleet`] answers.
const COSTS: &[Cost] = &[
    cost("a list of 100 machines, median", Unit::Milliseconds, RENDERING),
    cost("a list of 100 machines, 99 of 100", Unit::Milliseconds, RENDERING).target(|figure| figure.under(5.0)),
    cost("a page of 1,000 machines, 95 of 100", Unit::Milliseconds, RENDERING).target(|figure| figure.under(30.0)),
    cost(
        "100 of all resources by `resourceType`, 99 of 100",
        Unit::Milliseconds,
        "the walk over racks that do not match, then the rendering",
    ),
    cost("the one resource of a name, median", Unit::Milliseconds, "walking the whole fleet and comparing names"),
    cost("machines of a resource group, median", Unit::Milliseconds, RENDERING),
    cost("a page of clusters, median", Unit::Milliseconds, "rendering each machine of up to 100 clusters"),
    cost(
        "the status page, median",
        Unit::Milliseconds,
        "rendering each cluster and what runs there as JSON, then counting the whole fleet",
    ),
    cost(
        "`/metrics`, median",
        Unit::Milliseconds,
        "the recorder of metrics, which keeps and prints all lines of each cluster, then counting the whole fleet",
    ),
    cost(
        "single reads at 8 clients",
        Unit::PerSecond,
        "both cores, which clients and server share: the server spends a third in the kernel, the rest on HTTP and rendering",
    )
    .target(|figure| figure.at_least(10_000.0)),
    cost(
        "processor time of the server for a single read",
        Unit::Microseconds,
        "a third in the kernel, the rest on HTTP and rendering, spread thin",
    ),
];

const RENDERING: &str = "rendering the machines as JSON";

fn measure_fleet(directory: &Path, sites: &[Site], size: Size) -> io::Result<Vec<f64>> {
    let plane = Plane::start(directory)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let paths = Paths::of(sites);
        let one = |count: usize, kind: fn(&Paths, usize) -> String| one_client(&plane.door, &paths, size.pick(count, 2), kind);
        check(&plane.door, &paths).await?;
        let list = one(1_000, Paths::list).await?;
        let page = one(200, Paths::page).await?;
        let by_type = one(300, Paths::by_type).await?;
        let by_name = one(100, Paths::by_name).await?;
        let group = one(300, Paths::group).await?;
        let clusters = one(30, Paths::clusters).await?;
        let status = one(50, |_, _| "/rackwright/v1/status".to_owned()).await?;
        let metrics = one(50, |_, _| "/metrics".to_owned()).await?;
        let before = plane.process.cpu_time()?;
        let single = many_clients(&plane.door, &paths, size.pick(60_000, 16)).await?;
        let spent = (plane.process.cpu_time()? - before) / u32::try_from(single.times.count()).unwrap_or(u32::MAX);
        let median = |load: &Load| milliseconds(load.times.median());
        Ok(vec![
            median(&list),
            milliseconds(list.times.percentile(99.0)),
            milliseconds(page.times.percentile(95.0)),
            milliseconds(by_type.times.percentile(99.0)),
            median(&by_name),
            median(&group),
            median(&clusters),
            median(&status),
            median(&metrics),
            single.per_second(),
            microseconds(spent),
        ])
    })
}

async fn one_client(door: &Door, paths: &Arc<Paths>, count: usize, kind: fn(&Paths, usize) -> String) -> io::Result<Load> {
    let warm_up = paths.clone();
    client::read(door, 1, count.div_ceil(10), move |nth| kind(&warm_up, nth)).await?;
    let paths = paths.clone();
    client::read(door, 1, count, move |nth| kind(&paths, nth)).await
}

async fn many_clients(door: &Door, paths: &Arc<Paths>, count: usize) -> io::Result<Load> {
    let warm_up = paths.clone();
    client::read(door, CLIENTS, count / 10, move |nth| warm_up.single(nth)).await?;
    let paths = paths.clone();
    client::read(door, CLIENTS, count, move |nth| paths.single(nth)).await
}

/// The addresses that are read. Which machine or page the nth is jumps about, so that no two in a row are neighbours.
struct Paths {
    /// Cluster and name of each machine, in the order of lists.
    machines: Vec<(ClusterName, MachineName)>,
}

/// A prime larger than any fleet: its multiples meet every machine before they meet one again.
const STRIDE: usize = 1_000_003;

impl Paths {
    fn of(sites: &[Site]) -> Arc<Paths> {
        let of_site = |site: &Site| -> Vec<(ClusterName, MachineName)> {
            site.machines.iter().map(|machine| (site.cluster.clone(), machine.name.clone())).collect()
        };
        let mut machines: Vec<(ClusterName, MachineName)> = sites.iter().flat_map(of_site).collect();
        machines.sort_unstable();
        Arc::new(Paths { machines })
    }

    fn nth(&self, nth: usize, of: usize) -> &(ClusterName, MachineName) {
        &self.machines[nth.wrapping_mul(STRIDE) % of.clamp(1, self.machines.len())]
    }

    fn list(&self, nth: usize) -> String {
        self.page_of(nth, 100)
    }

    fn page(&self, nth: usize) -> String {
        self.page_of(nth, 1_000)
    }

    /// A full page somewhere in the list, if the fleet has more than one.
    fn page_of(&self, nth: usize, top: usize) -> String {
        let list = format!("/subscriptions/{SUBSCRIPTION}/providers/Microsoft.NetworkCloud/bareMetalMachines?{VERSION}&$top={top}");
        match self.machines.len().checked_sub(top + 1) {
            Some(places) if places > 0 => {
                let (cluster, machine) = self.nth(nth, places);
                format!("{list}&$skipToken={cluster}%2F{machine}")
            }
            _ => list,
        }
    }

    fn by_type(&self, _: usize) -> String {
        let filter = "resourceType%20eq%20'Microsoft.NetworkCloud/bareMetalMachines'";
        format!("/subscriptions/{SUBSCRIPTION}/resources?{VERSION}&$top=100&$filter={filter}")
    }

    /// The last cluster, and whatever else has its name.
    fn by_name(&self, _: usize) -> String {
        let name = self.machines.last().map_or("site1", |(cluster, _)| cluster.as_str());
        format!("/subscriptions/{SUBSCRIPTION}/resources?{VERSION}&$filter=name%20eq%20'{name}'")
    }

    fn group(&self, nth: usize) -> String {
        let (cluster, _) = self.nth(nth, self.machines.len());
        format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/{cluster}/providers/Microsoft.NetworkCloud/bareMetalMachines?{VERSION}")
    }

    fn clusters(&self, _: usize) -> String {
        format!("/subscriptions/{SUBSCRIPTION}/providers/Microsoft.NetworkCloud/clusters?{VERSION}")
    }

    fn single(&self, nth: usize) -> String {
        let (group, machine) = self.nth(nth, self.machines.len());
        let group = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}");
        format!("{group}/providers/Microsoft.NetworkCloud/bareMetalMachines/{machine}?{VERSION}")
    }
}

const VERSION: &str = "api-version=2026-07-01";

/// Nobody measures answers that are not what they seem.
async fn check(door: &Door, paths: &Paths) -> io::Result<()> {
    let mut client = Client::connect(door).await?;
    let fleet = paths.machines.len();
    let one_cluster = fleet.min(usize::try_from(fleet::CLUSTER_SIZE).unwrap_or(usize::MAX)).min(100);
    for (path, items) in [
        (paths.list(1), fleet.min(100)),
        (paths.page(1), fleet.min(1_000)),
        (paths.by_type(0), fleet.min(100)),
        (paths.group(0), one_cluster),
        (paths.by_name(0), 1),
    ] {
        let (status, body) = client.get(&path).await?;
        let answer: serde_json::Value = serde_json::from_slice(&body)?;
        let found = answer["value"].as_array().map_or(0, Vec::len);
        if found != items {
            return Err(io::Error::other(format!("{path} answers {status} with {found} items instead of {items}")));
        }
    }
    Ok(())
}

/// The same single reads from `rackwright serve` itself, whose keeper watches a simulated site meanwhile.
fn with_keepers(size: Size) -> io::Result<Figure> {
    let directory = tempfile::tempdir()?;
    let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
    let (world_dir, plane_dir, site_file) = (path("sim"), path("serve"), path("sim/site1.toml"));
    let per_rack = size.pick(KEPT_PER_RACK, "3");
    let _world = Process::start(
        &["sim", "serve", "--machines-per-rack", per_rack, "--speed", "1", "--data-dir", &world_dir],
        "A control plane for them",
    )?;
    let serve = ["serve", "--config", &site_file, "--data-dir", &plane_dir, "--listen", "127.0.0.1:0"];
    let plane = Process::start(&serve, "Context")?;
    let door = plane.door(size.pick(CALLERS, 1))?;
    // Logins, first looks and the first listing are over by then.
    std::thread::sleep(size.pick(Duration::from_secs(30), Duration::ZERO));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let load = runtime.block_on(async {
        let names = names(&door).await?;
        let path_of = move |nth: usize| names[nth.wrapping_mul(STRIDE) % names.len()].clone();
        client::read(&door, CLIENTS, size.pick(6_000, 16), path_of.clone()).await?;
        client::read(&door, CLIENTS, size.pick(60_000, 16), path_of).await
    })?;
    Ok(Figure::new(
        "single reads at 8 clients from `rackwright serve`, its keeper watching 1,000 simulated machines",
        load.per_second(),
        Unit::PerSecond,
        "as above; the keeper and the simulator take a little of both cores",
    )
    .at_least(10_000.0))
}

/// Where the machines of a served site are read.
async fn names(door: &Door) -> io::Result<Vec<String>> {
    let mut client = Client::connect(door).await?;
    let (_, status) = client.get("/subscriptions?api-version=2026-07-01").await?;
    let subscriptions: serde_json::Value = serde_json::from_slice(&status)?;
    let subscription = subscriptions["value"][0]["subscriptionId"].as_str().unwrap_or_default();
    let list = format!("/subscriptions/{subscription}/providers/Microsoft.NetworkCloud/bareMetalMachines?{VERSION}&$top=1000");
    let (_, page) = client.get(&list).await?;
    let page: serde_json::Value = serde_json::from_slice(&page)?;
    let ids = page["value"].as_array().into_iter().flatten().filter_map(|machine| machine["id"].as_str());
    let paths: Vec<String> = ids.map(|id| format!("{id}?{VERSION}")).collect();
    if paths.is_empty() { Err(io::Error::other("the served site has no machines")) } else { Ok(paths) }
}
