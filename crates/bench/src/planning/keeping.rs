//! A whole keeper at work: requests through its store, and looks at BMCs in this process. Counted from outside.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use keeper::{Keeper, NeverReplaced, Rota, VaultCredentials, VaultSecrets, enroll_site};
use kubernetes::{NetworkDoor, Undercloud};
use model::{
    Ask, Clock, ClusterName, Conditions, CorrelationId, Footing, KeeperState, Limits, MachineName, REQUEST_LIFE, Request, RequestId, Role,
    SecretRef, Sent, Site, Span, Standing, keys,
};
use redfish::{Bmc, Transport};
use sim::{DescribedMachine, SiteSpec};
use store::{Commit, MemoryStore, Revision, SharedStore, SqliteStore, SystemClock, Vault};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::figure::{Figure, Size, Unit};
use crate::fleet;
use crate::stats::{Times, milliseconds};

/// Clients that wait for a verdict at any moment.
const CLIENTS: usize = 64;

const MEASURED: Duration = Duration::from_secs(5);

pub async fn measure(size: Size) -> io::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for machines in size.pick([128, 1_000, 10_000].as_slice(), &[32]) {
        let directory = tempfile::tempdir()?;
        let file = SqliteStore::open(directory.path(), Arc::new(SystemClock)).map_err(io::Error::other)?;
        let stores: [(&str, SharedStore); 2] =
            [("in memory", Arc::new(MemoryStore::new(Arc::new(SystemClock)))), ("on SQLite", Arc::new(file))];
        for (place, store) in stores {
            let kept = Kept::start(*machines, store).await?;
            let (asked, looked) = (kept.judge(size).await?, kept.look(size).await);
            let of = format!("cluster of {}, {place}", Unit::Count.show(*machines as f64));
            figures.extend(told(&of, &asked, looked));
            kept.stop().await;
        }
    }
    Ok(figures)
}

fn told(of: &str, asked: &Judged, looks: f64) -> Vec<Figure> {
    vec![
        Figure::new(
            format!("wake-ups that judge requests, {of}"),
            asked.wake_ups,
            Unit::PerSecond,
            "plans are 20 ms apart by design, and wait for the commit before",
        ),
        Figure::new(
            format!("requests judged by them, {of}"),
            asked.requests,
            Unit::PerSecond,
            "the pause between plans, and the 64 clients",
        ),
        Figure::new(
            format!("median time to a verdict, {of}"),
            milliseconds(asked.times.median()),
            Unit::Milliseconds,
            "the pause between plans, and two commits",
        ),
        Figure::new(format!("looks at BMCs that are always due, {of}"), looks, Unit::PerSecond, "the simulated BMC and the driver"),
    ]
}

/// What a stretch of requests came to.
struct Judged {
    wake_ups: f64,
    requests: f64,
    times: Times,
}

/// A keeper and the simulated site that it keeps.
struct Kept {
    site: Site,
    store: SharedStore,
    looks: Arc<AtomicU64>,
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

/// Who waits for a verdict, by the key of the request, and how many commits brought some.
#[derive(Clone, Default)]
struct Waiting {
    by_key: Arc<Mutex<HashMap<String, oneshot::Sender<()>>>>,
    plans: Arc<AtomicU64>,
}

impl Kept {
    async fn start(machines: u64, store: SharedStore) -> io::Result<Kept> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let mut site = fleet::site(1, machines);
        // Looks are always due, so that as many are made as can be.
        site.limits = Limits { idle_poll: Span::millis(10), ..Limits::default() };
        let world_store: SharedStore = Arc::new(MemoryStore::new(clock.clone()));
        let spec = SiteSpec::described("site1", site.machines.iter().map(described).collect(), 1);
        let world = sim::Site::open(spec, world_store, clock.clone()).await.map_err(io::Error::other)?;
        enroll_site(&store, clock.as_ref(), &site).await.map_err(io::Error::other)?;
        let (stop, mut tasks, looks) = (CancellationToken::new(), JoinSet::new(), Arc::new(AtomicU64::new(0)));
        let (running, stopped) = (world.clone(), stop.clone());
        tasks.spawn(async move {
            // It ends when it is told to, or the figures show that it did not.
            let _ = running.run(stopped).await;
        });
        let (state, mut keeping) = watch::channel(KeeperState::Starting);
        let keeper = Keeper {
            cluster: site.cluster.clone(),
            holder: "bench".to_owned(),
            store: store.clone(),
            clock: clock.clone(),
            bmcs: bmcs(&world, &site, &clock, &looks).await?,
            maker: Arc::new(NeverReplaced),
            undercloud: undercloud(&world),
            install: None,
            etcd: None,
            door: Arc::new(NetworkDoor),
            secrets: Arc::new(VaultSecrets::new(Arc::new(Vault::ephemeral(Arc::new(MemoryStore::new(clock.clone())))))),
            offers: watch::channel(None).1,
            rota: Rota::default(),
            taken_over: watch::Sender::new(None),
            state,
            footing: watch::Sender::new(Footing::default()),
        };
        tasks.spawn(keeper.run_for_ever(stop.clone()));
        keeping.wait_for(|state| matches!(state, KeeperState::Keeping { .. })).await.map_err(io::Error::other)?;
        Ok(Kept { site, store, looks, stop, tasks })
    }

    /// Clients that have tags written, one request after the other; each is swept away once its verdict is there.
    async fn judge(&self, size: Size) -> io::Result<Judged> {
        let cluster = &self.site.cluster;
        let waiting = Waiting::default();
        let from = self.store.list(&keys::requests_of(cluster)).await.map_err(io::Error::other)?.revision;
        let verdicts = tokio::spawn(tell_verdicts(self.store.clone(), cluster.clone(), from, waiting.clone()));
        let end = Instant::now() + size.pick(MEASURED, Duration::from_millis(200));
        let mut clients = JoinSet::new();
        for client in 0..CLIENTS {
            let machine = self.site.machines[client % self.site.machines.len()].name.clone();
            clients.spawn(ask_until(self.store.clone(), cluster.clone(), machine, client, end, waiting.clone()));
        }
        let began = Instant::now();
        let mut times = Vec::new();
        while let Some(answers) = clients.join_next().await {
            times.extend(answers??);
        }
        let elapsed = began.elapsed().as_secs_f64();
        verdicts.abort();
        let wake_ups = waiting.plans.load(Ordering::Relaxed) as f64 / elapsed;
        Ok(Judged { wake_ups, requests: times.len() as f64 / elapsed, times: Times::new(times) })
    }

    /// Looks a second, after they have all begun.
    async fn look(&self, size: Size) -> f64 {
        let (before, began) = (self.looks.load(Ordering::Relaxed), Instant::now());
        tokio::time::sleep(size.pick(MEASURED, Duration::from_millis(200))).await;
        (self.looks.load(Ordering::Relaxed) - before) as f64 / began.elapsed().as_secs_f64()
    }

    async fn stop(mut self) {
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
    }
}

/// Wakes those whose verdicts a commit brings.
async fn tell_verdicts(store: SharedStore, cluster: ClusterName, from: Revision, waiting: Waiting) -> io::Result<()> {
    let mut watch = store.watch(&keys::requests_of(&cluster), from).await.map_err(io::Error::other)?;
    loop {
        let changes = watch.next().await.map_err(io::Error::other)?;
        let judged = changes.iter().filter(|change| {
            let request = change.value.as_deref().and_then(|value| serde_json::from_slice::<Request>(value).ok());
            request.is_some_and(|request| request.verdict.is_some())
        });
        let mut by_key = waiting.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        let waited: Vec<_> = judged.filter_map(|change| by_key.remove(&change.key)).collect();
        waiting.plans.fetch_add(u64::from(!waited.is_empty()), Ordering::Relaxed);
        for sender in waited {
            // A client that went away at the end of the measurement needs no verdict.
            let _ = sender.send(());
        }
    }
}

async fn ask_until(
    store: SharedStore,
    cluster: ClusterName,
    machine: MachineName,
    client: usize,
    end: Instant,
    waiting: Waiting,
) -> io::Result<Vec<Duration>> {
    let mut times = Vec::new();
    while Instant::now() < end {
        let request = tagging(&cluster, &machine, format!("{client:04}-{:06}", times.len()));
        let key = keys::request(&cluster, &request.id);
        let (told, verdict) = oneshot::channel();
        waiting.by_key.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), told);
        let document = serde_json::to_vec(&request).map_err(io::Error::other)?;
        let began = Instant::now();
        store.commit(Commit::default().put(key.clone(), document)).await.map_err(io::Error::other)?;
        verdict.await.map_err(io::Error::other)?;
        times.push(began.elapsed());
        store.commit(Commit::default().delete(key)).await.map_err(io::Error::other)?;
    }
    Ok(times)
}

/// A request that changes one document and asks no device.
fn tagging(cluster: &ClusterName, machine: &MachineName, id: String) -> Request {
    let now = SystemClock.now();
    Request {
        ask: Ask::Update {
            machine: machine.clone(),
            tags: Some(BTreeMap::from([("changed-by".to_owned(), id.clone())])),
            details: None,
            conditions: Conditions::default(),
        },
        id: RequestId::new(id),
        cluster: cluster.clone(),
        caller: "bench".to_owned(),
        correlation_id: CorrelationId::new("bench"),
        key: None,
        sent: Some(Sent { method: "PATCH".to_owned(), client_request_id: None }),
        received_at: now,
        expires_at: now + REQUEST_LIFE,
        verdict: None,
    }
}

fn described(machine: &model::SiteMachine) -> DescribedMachine {
    DescribedMachine {
        name: machine.name.to_string(),
        rack: machine.hardware.rack.to_string(),
        slot: machine.hardware.slot,
        role: match (machine.role, machine.standing) {
            (Role::ControlPlane, Standing::Provisioned) => sim::Role::ControlPlane,
            (Role::ControlPlane, Standing::Spare) => sim::Role::SpareControlPlane,
            (Role::Management, _) => sim::Role::Management,
            (Role::Compute, _) => sim::Role::Compute,
        },
        vendor: None,
        serial_number: machine.hardware.serial_number.clone(),
        bmc_mac: machine.hardware.bmc_mac.clone(),
        boot_mac: machine.hardware.boot_mac.clone(),
    }
}

/// The drivers of the BMCs, each request to which is counted: a look at a BMC that is known is one.
async fn bmcs(world: &sim::Site, site: &Site, clock: &Arc<dyn Clock>, looks: &Arc<AtomicU64>) -> io::Result<BTreeMap<MachineName, Bmc>> {
    let vault = Arc::new(Vault::ephemeral(Arc::new(MemoryStore::new(clock.clone()))));
    let mut bmcs = BTreeMap::new();
    for (machine, simulated) in site.machines.iter().zip(world.layout().machines()) {
        let secret = SecretRef::new(simulated.name.as_str());
        let login = format!("{}\n{}", simulated.bmc_user, simulated.bmc_password);
        vault.save(&secret, login.as_bytes()).await.map_err(io::Error::other)?;
        let service = world.redfish(&simulated.name).ok_or_else(|| io::Error::other("a simulated machine has no BMC"))?;
        let looks = looks.clone();
        let service = service.map_request(move |request: http::Request<Full<Bytes>>| {
            looks.fetch_add(1, Ordering::Relaxed);
            request
        });
        let address = format!("http://{}.bmc.invalid", simulated.name).parse().map_err(io::Error::other)?;
        let credentials = Arc::new(VaultCredentials::new(vault.clone(), secret));
        let bmc = Bmc::of_machine(Transport::in_process(service), address, credentials, &machine.hardware.serial_number);
        bmcs.insert(machine.name.clone(), bmc);
    }
    Ok(bmcs)
}

/// The undercloud's API with the token that a kubeconfig would carry.
fn undercloud(world: &sim::Site) -> Undercloud {
    let bearer = format!("Bearer {}", world.layout().kubernetes_token());
    Undercloud::in_process(world.kubernetes().map_request(move |mut request: http::Request<kube::client::Body>| {
        if let Ok(bearer) = bearer.parse() {
            request.headers_mut().insert(http::header::AUTHORIZATION, bearer);
        }
        request
    }))
}
