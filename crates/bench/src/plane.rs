//! A control plane without keepers, in a process of its own: store, cache and API, put together as `rackwright serve` does it.
//!
//! Keepers are left out because a hundred thousand BMCs to watch would not fit on the machine that measures. Whatever they
//! would write is written here on command, through the same store.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use access::roles::OWNER;
use access::{PrincipalId, Scope};
use gate::OpenHouse;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use model::{Clock, Footing, KeeperState, MeterKind, Site, keys};
use store::{SharedStore, SqliteStore, SystemClock};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;
use uuid::Uuid;

use crate::changes::{self, Changes, Committed};
use crate::door::Door;
use crate::fleet;
use crate::process::Process;

/// The argument that makes our binary the measured process; the directory of the store follows it.
pub const ARGUMENT: &str = "--plane";

const LISTENING: &str = "listening on ";

/// Callers that a measured process knows.
const CALLERS: u128 = 4;

/// How often samples are put into their buckets, as in `rackwright serve`.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// The process, as the one that measures sees it.
pub struct Plane {
    pub process: Process,
    pub door: Door,
    commands: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Plane {
    /// Starts a process on a directory that nobody has open.
    pub fn start(directory: &Path) -> io::Result<Plane> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.arg(ARGUMENT).arg(directory).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let process = Process::of(child);
        let (commands, stdout) = pipes.ok_or_else(|| io::Error::other("the child has no pipes"))?;
        let mut answers = BufReader::new(stdout).lines();
        let greeting = answers.next().transpose()?.unwrap_or_default();
        let told = greeting.strip_prefix(LISTENING).and_then(|told| told.split_once(' '));
        let door = told.and_then(|(address, token)| Some(Door::in_the_clear(address.parse().ok()?, token)));
        let door = door.ok_or_else(|| io::Error::other(format!("the measured process says `{greeting}`")))?;
        Ok(Plane { process, door, commands, answers })
    }

    /// Lets the process change machines, and waits until it has.
    pub fn change(&mut self, changes: Changes) -> io::Result<Vec<Committed>> {
        writeln!(self.commands, "{}", serde_json::to_string(&changes)?)?;
        let answer = self.answers.next().transpose()?.ok_or_else(|| io::Error::other("the measured process has ended"))?;
        Ok(serde_json::from_str(&answer)?)
    }
}

/// Fills a store with these machines, all of them well.
pub fn fill(directory: &Path, clock: Arc<dyn Clock>, sites: &[Site]) -> io::Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async move {
        let store: SharedStore = Arc::new(SqliteStore::open(directory, clock.clone()).map_err(io::Error::other)?);
        fleet::settle(&store, clock.as_ref(), sites).await?;
        fleet::restart_some(&store, clock.as_ref(), sites).await
    })
}

/// Serves until nobody can send commands any more.
pub fn serve(directory: &Path) -> io::Result<()> {
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_env_filter(EnvFilter::new("info"));
    log.try_init().map_err(io::Error::other)?;
    let recorder = recorder()?;
    tokio::runtime::Runtime::new()?.block_on(async {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let store: SharedStore = Arc::new(SqliteStore::open(directory, clock.clone()).map_err(io::Error::other)?);
        let cache = api::Cache::load(&store).await.map_err(io::Error::other)?;
        let shutdown = CancellationToken::new();
        tokio::spawn(cache.clone().follow(store.clone(), shutdown.clone()));
        tokio::spawn(upkeep(recorder.clone()));
        let process = api::Process { exposition: Arc::new(move || recorder.render()), ..api::Process::default() };
        let keepers = keepers(&store, clock.as_ref()).await?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let gate = OpenHouse::open(clock.clone()).await;
        let api = api::Api::new(store.clone(), clock, cache, keepers, process, gate.gate());
        tokio::spawn(api::serve(listener, api::router(api), api::MAX_CONNECTIONS, shutdown));
        say(&format!("{LISTENING}{address} {}", tokens(&gate).await.join(",")))?;
        obey(&store).await
    })
}

/// Tokens of so many callers who own everything: no caller has enough seats for all listeners of a measurement.
async fn tokens(gate: &OpenHouse) -> Vec<String> {
    let mut tokens = vec![gate.token("bench")];
    for number in 1..CALLERS {
        let caller = PrincipalId::new(Uuid::from_u128(1_000 + number));
        gate.assign(caller, OWNER.id, Scope::root()).await;
        tokens.push(gate.token_of(caller, "bench"));
    }
    tokens
}

/// Carries out commands until there are no more.
async fn obey(store: &SharedStore) -> io::Result<()> {
    loop {
        let next = tokio::task::spawn_blocking(|| io::stdin().lines().next().transpose());
        let Some(line) = next.await.map_err(io::Error::other)?? else { return Ok(()) };
        let done = changes::commit(store, serde_json::from_str(&line)?).await?;
        say(&serde_json::to_string(&done)?)?;
    }
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// Every cluster is counted in `/metrics` only if it is kept here, so each has a keeper that says so.
async fn keepers(store: &SharedStore, clock: &dyn Clock) -> io::Result<api::Keepers> {
    let clusters = store.list(keys::CLUSTERS).await.map_err(io::Error::other)?.documents;
    let mut keepers = BTreeMap::new();
    for document in clusters {
        let cluster: model::Cluster = serde_json::from_slice(&document.value)?;
        let state = watch::channel(KeeperState::Keeping { since: clock.now() }).1;
        let watch = api::KeeperWatch { state, footing: watch::channel(Footing::default()).1, site_file: watch::channel(None).1 };
        keepers.insert(cluster.name, watch);
    }
    Ok(Arc::new(keepers))
}

fn recorder() -> io::Result<PrometheusHandle> {
    let mut builder = PrometheusBuilder::new();
    for meter in keeper::METERS.iter().chain(api::METERS) {
        if let MeterKind::Histogram(buckets) = meter.kind {
            builder = builder.set_buckets_for_metric(Matcher::Full(meter.name.to_owned()), buckets).map_err(io::Error::other)?;
        }
    }
    builder.install_recorder().map_err(io::Error::other)
}

async fn upkeep(recorder: PrometheusHandle) {
    loop {
        tokio::time::sleep(UPKEEP_EVERY).await;
        recorder.run_upkeep();
    }
}
