//! Simulated sites, their keepers and the API in this process: tower services instead of sockets, a real store on disk.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use gate::OpenHouse;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use keeper::{Keeper, Rota, VaultSecrets, enroll_site};
use kubernetes::NetworkDoor;
use model::{Clock, ClusterName, Footing, KeeperState, Machine, keys};
use sim::{Pace, SiteSpec};
use store::{MemoryStore, SharedStore, SqliteStore, SystemClock, Vault};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::acting::Caller;
use crate::fleet::CLUSTER_SIZE;
use crate::pair::{FASTEST, workers};

/// Sites, all alike.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub clusters: u64,
    pub racks: u32,
    pub machines_per_rack: u32,
}

impl Shape {
    /// Clusters of 128 machines in eight racks, as many as it takes, or one that is smaller.
    pub fn of(machines: u64) -> Shape {
        let racks = 8;
        let per_rack = u32::try_from(machines.min(CLUSTER_SIZE)).unwrap_or(u32::MAX) / racks;
        Shape { clusters: machines.div_ceil(CLUSTER_SIZE).max(1), racks, machines_per_rack: per_rack }
    }
}

/// How often it is looked whether every machine has been seen.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Everything in one process.
pub struct House {
    pub machines: Vec<String>,
    clusters: Vec<ClusterName>,
    store: SharedStore,
    vault: Arc<Vault>,
    rota: Rota,
    net: sim::Switchboard,
    gate: OpenHouse,
    router: Router,
    stop: CancellationToken,
    tasks: JoinSet<()>,
    // Dropped last: the store lies in it.
    directory: TempDir,
}

/// A client without a connection.
pub struct Inside {
    router: Router,
    token: String,
}

impl Caller for Inside {
    async fn call(&mut self, method: Method, path: &str, body: Bytes) -> io::Result<(StatusCode, Bytes)> {
        let request = Request::builder().method(method).uri(path).header("host", "localhost").header("content-type", "application/json");
        let request = request.header("authorization", format!("Bearer {}", self.token));
        let request = request.body(Body::from(body)).map_err(io::Error::other)?;
        let response = self.router.clone().oneshot(request).await.map_err(io::Error::other)?;
        let status = response.status();
        Ok((status, response.into_body().collect().await.map_err(io::Error::other)?.to_bytes()))
    }
}

impl House {
    fn client(&self) -> Inside {
        Inside { router: self.router.clone(), token: self.gate.token("bench") }
    }

    pub async fn build(shape: Shape) -> io::Result<House> {
        let directory = tempfile::tempdir()?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let store: SharedStore = Arc::new(SqliteStore::open(directory.path(), clock.clone()).map_err(io::Error::other)?);
        let mut house = House {
            machines: Vec::new(),
            clusters: Vec::new(),
            store: store.clone(),
            rota: Rota::default(),
            vault: Arc::new(Vault::ephemeral(Arc::new(MemoryStore::new(clock.clone())))),
            net: scenarios::network(),
            gate: OpenHouse::open(clock.clone()).await,
            router: Router::new(),
            stop: CancellationToken::new(),
            tasks: JoinSet::new(),
            directory,
        };
        let mut keepers = BTreeMap::new();
        for number in 1..=shape.clusters {
            let (cluster, watch) = house.settle_site(number, shape, &clock).await?;
            house.clusters.push(cluster.clone());
            keepers.insert(cluster, watch);
        }
        let cache = api::Cache::load(&store).await.map_err(io::Error::other)?;
        house.tasks.spawn(cache.clone().follow(store.clone(), house.stop.clone()));
        let api = api::Api::new(store, clock, cache, Arc::new(keepers), api::Process::default(), house.gate.gate());
        scenarios::connect(&house.net, api.clone(), &house.vault, &house.clusters).await;
        house.router = api::router(api);
        house.until_all_is_well().await?;
        Ok(house)
    }

    /// One site with its keeper. The world is kept in memory, so that only the control plane's store is measured.
    async fn settle_site(&mut self, number: u64, shape: Shape, clock: &Arc<dyn Clock>) -> io::Result<(ClusterName, api::KeeperWatch)> {
        let spec = SiteSpec::new(format!("site{number}"), shape.racks, shape.machines_per_rack, number).with_pace(pace());
        let world = Arc::new(MemoryStore::new(clock.clone()));
        let site = sim::Site::open(spec, world, clock.clone()).await.map_err(io::Error::other)?;
        scenarios::plug(&site, &self.net);
        self.machines.extend(workers(site.layout()));
        let (running, stop) = (site.clone(), self.stop.clone());
        self.tasks.spawn(async move { drop(running.run(stop).await) });
        let definition = scenarios::definition_of(&site);
        enroll_site(&self.store, clock.as_ref(), &definition).await.map_err(io::Error::other)?;
        let equipment = scenarios::equipment_of(&site, &definition, &self.vault).await;
        let (state, how_it_is) = watch::channel(KeeperState::Starting);
        let (footing, stands) = watch::channel(Footing::default());
        let keeper = Keeper {
            cluster: definition.cluster.clone(),
            holder: "local".to_owned(),
            store: self.store.clone(),
            clock: clock.clone(),
            bmcs: equipment.bmcs,
            maker: equipment.maker,
            install: Some(scenarios::desk(&self.vault, &definition).await),
            undercloud: equipment.undercloud,
            etcd: equipment.etcd,
            door: Arc::new(NetworkDoor),
            secrets: Arc::new(VaultSecrets::new(self.vault.clone())),
            offers: watch::channel(None).1,
            rota: self.rota.clone(),
            taken_over: watch::Sender::new(None),
            state,
            footing,
        };
        self.tasks.spawn(keeper.run_for_ever(self.stop.clone()));
        Ok((definition.cluster, api::KeeperWatch { state: how_it_is, footing: stands, site_file: watch::channel(None).1 }))
    }

    async fn until_all_is_well(&self) -> io::Result<()> {
        loop {
            let documents = self.store.list(keys::MACHINES).await.map_err(io::Error::other)?.documents;
            let machines: Vec<Machine> = documents.iter().map(|found| serde_json::from_slice(&found.value)).collect::<Result<_, _>>()?;
            if machines.iter().all(|machine| machine.is_spare() || machine.is_ready()) {
                return Ok(());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    pub fn callers(&self, count: usize) -> Vec<Inside> {
        (0..count).map(|_| self.client()).collect()
    }

    /// How many commits the store has had.
    pub async fn commits(&self) -> io::Result<f64> {
        Ok(self.store.list(keys::CLUSTERS).await.map_err(io::Error::other)?.revision.0 as f64)
    }

    pub async fn close(mut self) {
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
        drop(self.directory);
    }
}

/// As fast as over sockets, where a boot takes 24 ms; kubelets renew their leases as often as real ones.
fn pace() -> Pace {
    Pace { lease_every: Pace::REAL.lease_every, node_grace: Pace::REAL.node_grace, ..Pace::REAL.scaled(FASTEST) }
}
