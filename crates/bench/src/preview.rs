//! What a preview takes from the API's path to its answer, by the size of the cluster: twenty pods to each machine.

mod desk;
mod tenants;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use gate::OpenHouse;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use model::{MachineName, Role, Site};
use store::{SharedStore, SqliteStore, SystemClock};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::figure::{Bench, Curve, Figure, Report, Size, Unit};
use crate::fleet::{self, SUBSCRIPTION};
use crate::stats::{Times, microseconds, milliseconds};
use crate::table;

pub const BENCH: Bench = Bench { name: "preview", what: "previews of one machine at up to 10,000 machines and 200,000 pods", measure };

/// The cluster that the target is for.
const TARGET_CLUSTER: u64 = 1_000;

const PREVIEWS: usize = 500;

/// Clients that preview at once, each another machine.
const CLIENTS: usize = 8;

/// One thing that is measured at every size of cluster, in the order in which [`measure_cluster`] answers.
const COSTS: [(&str, Unit, &str); 5] = [
    ("a preview alone, median", Unit::Microseconds, "finding room: each node of the tenant clusters that have one on the machine"),
    ("a preview alone, 99 of 100", Unit::Microseconds, "the same"),
    ("a preview over the API, median", Unit::Milliseconds, WAITING),
    ("a preview over the API, 99 of 100", Unit::Milliseconds, WAITING),
    ("a preview over the API while 8 clients preview, 99 of 100", Unit::Milliseconds, WAITING),
];

const WAITING: &str = "the pause of 20 ms between plans, and three commits";

fn measure(size: Size) -> io::Result<Report> {
    let clusters: &[u64] = size.pick(&[128, TARGET_CLUSTER, 10_000], &[32]);
    let curves = COSTS.iter().map(|(what, unit, _)| Curve { what: (*what).to_owned(), unit: *unit, points: Vec::new() }).collect();
    let mut report = Report { figures: Vec::new(), curves };
    for machines in clusters.iter().copied() {
        table::say(&format!("  {machines} machines …"));
        let runtime = tokio::runtime::Runtime::new()?;
        let costs = runtime.block_on(measure_cluster(machines, size))?;
        for (curve, value) in report.curves.iter_mut().zip(costs) {
            curve.points.push((machines, value));
        }
        let pods = Unit::Count.show((machines * tenants::PODS_PER_MACHINE) as f64);
        let of = format!("{} machines, {pods} pods", Unit::Count.show(machines as f64));
        let figures =
            COSTS.iter().zip(costs).map(|((what, unit, limit), value)| Figure::new(format!("{of}: {what}"), value, *unit, *limit));
        let with_target = |figure: Figure| {
            let is_answer = figure.what.ends_with("over the API, 99 of 100");
            if is_answer && machines == TARGET_CLUSTER { figure.under(50.0) } else { figure }
        };
        report.figures.extend(figures.map(with_target));
    }
    Ok(report)
}

async fn measure_cluster(machines: u64, size: Size) -> io::Result<[f64; 5]> {
    let directory = tempfile::tempdir()?;
    let store: SharedStore = Arc::new(SqliteStore::open(directory.path(), Arc::new(SystemClock)).map_err(io::Error::other)?);
    let site = fleet::site(1, machines);
    fleet::settle(&store, &SystemClock, std::slice::from_ref(&site)).await?;
    fleet::restart_some(&store, &SystemClock, std::slice::from_ref(&site)).await?;
    let compute: Vec<MachineName> =
        site.machines.iter().filter(|machine| machine.role == Role::Compute).map(|machine| machine.name.clone()).collect();
    let stop = CancellationToken::new();
    let mut desk = desk::Desk::open(&store, &site).await?;
    let count = size.pick(PREVIEWS, 3);
    let alone = desk.previews_alone(&compute, count)?;
    let cache = api::Cache::load(&store).await.map_err(io::Error::other)?;
    let following = tokio::spawn(cache.clone().follow(store.clone(), stop.clone()));
    let keeping = tokio::spawn(desk.keep(store.clone(), stop.clone()));
    let gate = OpenHouse::open(Arc::new(SystemClock)).await;
    let api = api::Api::new(store, Arc::new(SystemClock), cache, Arc::default(), api::Process::default(), gate.gate());
    let client = Client { router: api::router(api), token: gate.token("bench").into(), site: Arc::new(site), machines: Arc::new(compute) };
    client.preview(0, count.div_ceil(10)).await?;
    let one = Times::new(client.preview(0, count).await?);
    let several = (0..CLIENTS).map(|nth| client.clone().spawn_previews(nth, count / CLIENTS + 1));
    let mut times = Vec::new();
    for client in several.collect::<Vec<_>>() {
        times.extend(client.await??);
    }
    stop.cancel();
    keeping.await??;
    following.await?;
    Ok([
        microseconds(alone.median()),
        microseconds(alone.percentile(99.0)),
        milliseconds(one.median()),
        milliseconds(one.percentile(99.0)),
        milliseconds(Times::new(times).percentile(99.0)),
    ])
}

/// Somebody who looks at what restarts would do, one machine after the other.
#[derive(Clone)]
struct Client {
    router: axum::Router,
    token: Arc<str>,
    site: Arc<Site>,
    machines: Arc<Vec<MachineName>>,
}

impl Client {
    fn spawn_previews(self, nth: usize, count: usize) -> tokio::task::JoinHandle<io::Result<Vec<Duration>>> {
        tokio::spawn(async move { self.preview(nth, count).await })
    }

    async fn preview(&self, nth: usize, count: usize) -> io::Result<Vec<Duration>> {
        let mut times = Vec::with_capacity(count);
        for at in 0..count {
            let machine = &self.machines[(nth + at * CLIENTS) % self.machines.len()];
            let path = format!(
                "/subscriptions/{SUBSCRIPTION}/resourceGroups/{}/providers/Microsoft.NetworkCloud/bareMetalMachines/{machine}/restart?api-version=1&preview=true",
                self.site.home.resource_group
            );
            let request = Request::builder().method(Method::POST).uri(path).header("host", "localhost");
            let request = request.header("authorization", format!("Bearer {}", self.token)).body(Body::empty());
            let began = Instant::now();
            let answer = self.router.clone().oneshot(request.map_err(io::Error::other)?).await.map_err(io::Error::other)?;
            let (status, body) = (answer.status(), answer.into_body().collect().await.map_err(io::Error::other)?.to_bytes());
            times.push(began.elapsed());
            let preview: serde_json::Value = serde_json::from_slice(&body).map_err(io::Error::other)?;
            // A figure of previews that say nothing would mean nothing.
            if status != StatusCode::OK || preview["pods"].as_array().is_none_or(Vec::is_empty) {
                return Err(io::Error::other(format!("a preview was answered {status}: {preview}")));
            }
        }
        Ok(times)
    }
}
