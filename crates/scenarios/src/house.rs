//! A site, its control plane, and the hands to use them with.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use etcd::EtcdCluster;
use gate::OpenHouse;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use keeper::{Equipment, Keeper, LEASE_TTL, Offer, Rota, VaultSecrets, Verdict, enroll_site};
use model::{Clock, ClusterName, Footing, KeeperState, Limits, Site, Timestamp, keys};
use serde_json::Value;
use sim::{Pace, SiteSpec, Tenancy};
use store::{MemoryStore, SharedStore, TokioClock, Vault};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::installing;
use crate::wiring::{self, SUBSCRIPTION};

/// Stands among headers for who is asking, who then shows a token of that name.
pub const CALLER: &str = "caller";

/// When stories begin.
const BEGINNING: &str = "2026-11-15T14:00:00Z";

/// One process with everything in it.
pub struct House {
    pub site: sim::Site,
    pub clock: Arc<dyn Clock>,
    /// What the control plane writes to. A test may wrap it, to crash at a commit.
    pub store: SharedStore,
    vault: Arc<Vault>,
    /// Everybody who comes has a token; this says what they may with it.
    pub gate: OpenHouse,
    definition: Site,
    /// The undercloud's etcd, if it is not the simulated one.
    etcd: Option<EtcdCluster>,
    api: Router,
    /// What the simulated machines are plugged into. A test may listen in.
    pub net: sim::Switchboard,
    world: JoinSet<()>,
    plane: JoinSet<()>,
    stop_world: CancellationToken,
    keeper_state: watch::Sender<KeeperState>,
    keeper_footing: watch::Sender<Footing>,
    offers: watch::Sender<Option<Arc<Offer>>>,
    taken_over: watch::Sender<Option<Arc<Equipment>>>,
}

/// An HTTP answer.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Value,
}

impl House {
    /// A site at real speed, with its control plane running and connected.
    pub async fn build(racks: u32, machines_per_rack: u32) -> House {
        let house = House::without_control_plane(racks, machines_per_rack).await;
        house.with_control_plane().await
    }

    /// The same with tenants on its machines.
    pub async fn build_with(racks: u32, machines_per_rack: u32, tenancy: Tenancy) -> House {
        let house = House::with_tenants_alone(racks, machines_per_rack, tenancy).await;
        house.with_control_plane().await
    }

    /// The same on hardware of another pace. The keeper is as patient as ever.
    pub async fn build_at(pace: Pace, racks: u32, machines_per_rack: u32, tenancy: Tenancy) -> House {
        let spec = SiteSpec::new("site1", racks, machines_per_rack, 1).with_tenancy(tenancy).with_pace(pace);
        House::open(spec, Limits::default()).await.with_control_plane().await
    }

    /// A site that is so much faster, whose keeper changes the members of this etcd instead of the simulated one. Needs wall time.
    pub async fn build_around(etcd: EtcdCluster, racks: u32, machines_per_rack: u32, speed: f64) -> House {
        let spec = SiteSpec::new("site1", racks, machines_per_rack, 1).at_speed(speed);
        let mut house = House::open(spec, Limits::default().scaled(speed)).await;
        house.etcd = Some(etcd);
        house.with_control_plane().await
    }

    pub async fn without_control_plane(racks: u32, machines_per_rack: u32) -> House {
        House::with_tenants_alone(racks, machines_per_rack, Tenancy::default()).await
    }

    /// A site with tenants on its machines, and no control plane yet.
    pub async fn with_tenants_alone(racks: u32, machines_per_rack: u32, tenancy: Tenancy) -> House {
        House::open(SiteSpec::new("site1", racks, machines_per_rack, 1).with_tenancy(tenancy), Limits::default()).await
    }

    async fn open(spec: SiteSpec, limits: Limits) -> House {
        let beginning = Timestamp::parse(BEGINNING).expect("a constant instant");
        let clock: Arc<dyn Clock> = Arc::new(TokioClock::starting_at(beginning));
        let world_store: SharedStore = Arc::new(MemoryStore::new(clock.clone()));
        let site = sim::Site::open(spec, world_store, clock.clone()).await.expect("a new simulated site opens");
        let stop_world = CancellationToken::new();
        let mut world = JoinSet::new();
        let (running, stop) = (site.clone(), stop_world.clone());
        world.spawn(async move { running.run(stop).await.expect("the simulated site runs") });
        let store: SharedStore = Arc::new(MemoryStore::new(clock.clone()));
        let vault = Arc::new(Vault::ephemeral(store.clone()));
        let (definition, net) = (Site { limits, ..wiring::definition_of(&site) }, installing::network());
        installing::plug(&site, &net);
        enroll_site(&store, clock.as_ref(), &definition).await.expect("a new site is enrolled");
        let gate = OpenHouse::open(clock.clone()).await;
        let plane = JoinSet::new();
        let keeper_state = watch::Sender::new(KeeperState::Starting);
        House {
            site,
            clock,
            store,
            vault,
            gate,
            definition,
            etcd: None,
            api: Router::new(),
            net,
            world,
            plane,
            stop_world,
            keeper_state,
            keeper_footing: watch::Sender::default(),
            offers: watch::Sender::new(None),
            taken_over: watch::Sender::new(None),
        }
    }

    async fn with_control_plane(mut self) -> House {
        self.start_control_plane().await;
        self.settle().await;
        self
    }

    /// Starts keeper and API on the store as it is.
    pub async fn start_control_plane(&mut self) {
        let store = self.store.clone();
        self.start_control_plane_on(store).await;
    }

    pub async fn start_control_plane_on(&mut self, store: SharedStore) {
        let keeper = self.keeper(store.clone()).await;
        self.start_api_on(store).await;
        self.plane.spawn(keeper.run_for_ever(CancellationToken::new()));
    }

    /// A second keeper, as another replica would run it. It outlives a crash of the first.
    pub async fn start_rival(&mut self, holder: &str) {
        let keeper = Keeper { holder: holder.to_owned(), ..self.keeper(self.store.clone()).await };
        self.world.spawn(keeper.run_for_ever(self.stop_world.clone()));
    }

    /// Takes the keeper's lease away and keeps it, as a replica would that believes the keeper dead.
    pub async fn steal_lease(&self, thief: &str) {
        let name = keys::keeper_lease(&self.definition.cluster);
        let lease = self.store.acquire_lease(&name, "local", LEASE_TTL).await.expect("the lease is the keeper's");
        self.store.release_lease(&lease).await.expect("a lease can be given back");
        self.store.acquire_lease(&name, thief, LEASE_TTL.times(1_000)).await.expect("the lease is free");
    }

    /// An API whose keeper is elsewhere, and silent.
    pub async fn start_api_only(&mut self) {
        let store = self.store.clone();
        self.start_api_on(store).await;
    }

    async fn start_api_on(&mut self, store: SharedStore) {
        let cache = api::Cache::load(&store).await.expect("the store is readable");
        self.plane.spawn(cache.clone().follow(store.clone(), CancellationToken::new()));
        let (clock, keepers) = (self.clock.clone(), Arc::new(self.keepers()));
        let gate = self.gate.gate();
        let api = api::Api::new(store, clock, cache, keepers, api::Process::default(), gate).with_vault(self.vault.clone());
        installing::connect(&self.net, api.clone(), &self.vault, [&self.definition.cluster]).await;
        self.api = api::router(api);
    }

    /// Serves the API on a socket too, which needs wall time.
    pub async fn listen(&mut self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a listener has an address");
        self.plane.spawn(api::serve(listener, self.api.clone(), api::MAX_CONNECTIONS, CancellationToken::new()));
        address
    }

    async fn keeper(&self, store: SharedStore) -> Keeper {
        let Equipment { bmcs, maker, undercloud, etcd } = self.equipment_of(&self.definition).await;
        Keeper {
            cluster: self.definition.cluster.clone(),
            holder: "local".to_owned(),
            store,
            clock: self.clock.clone(),
            bmcs,
            maker,
            undercloud,
            etcd,
            door: Arc::new(wiring::door_of(&self.site)),
            secrets: Arc::new(VaultSecrets::new(self.vault.clone())),
            install: Some(installing::desk(&self.vault, &self.definition).await),
            offers: self.offers.subscribe(),
            rota: Rota::default(),
            taken_over: self.taken_over.clone(),
            state: self.keeper_state.clone(),
            footing: self.keeper_footing.clone(),
        }
    }

    async fn equipment_of(&self, site: &Site) -> Equipment {
        let simulated = wiring::equipment_of(&self.site, site, &self.vault).await;
        Equipment { etcd: self.etcd.clone().or(simulated.etcd), ..simulated }
    }

    /// Offers the running keeper another description of its site, with new ways to all devices; returns its verdict.
    pub async fn describe_anew(&self, change: impl FnOnce(&mut Site)) -> Verdict {
        let mut site = self.definition.clone();
        change(&mut site);
        let equipment = Arc::new(self.equipment_of(&site).await);
        let (offer, mut verdict) = Offer::new(site, equipment);
        self.offers.send_replace(Some(Arc::new(offer)));
        let verdict = verdict.wait_for(Option::is_some).await.expect("the keeper judges");
        verdict.clone().expect("it was waited for")
    }

    /// The process ends, its file is changed, and it is started again.
    pub async fn restart_described(&mut self, change: impl FnOnce(&mut Site)) {
        self.crash().await;
        change(&mut self.definition);
        enroll_site(&self.store, self.clock.as_ref(), &self.definition).await.expect("the site is enrolled again");
        self.start_control_plane().await;
        self.settle().await;
    }

    fn keepers(&self) -> BTreeMap<ClusterName, api::KeeperWatch> {
        let footing = self.keeper_footing.subscribe();
        // A house has no site file that somebody could write wrongly.
        let watch = api::KeeperWatch { state: self.keeper_state(), footing, site_file: watch::channel(None).1 };
        BTreeMap::from([(self.definition.cluster.clone(), watch)])
    }

    pub fn keeper_state(&self) -> watch::Receiver<KeeperState> {
        self.keeper_state.subscribe()
    }

    /// Makes runtimes known to the site, with the simulator's images.
    pub async fn import_runtimes(&self) {
        for version in installing::VERSIONS {
            self.import_runtime(version, &installing::runtime(version)).await;
        }
    }

    /// The same of one that is described like this.
    pub async fn import_runtime(&self, version: &str, runtime: &Value) {
        let path = format!("{}/runtimes/{version}?api-version=1", resource_path("clusters", "site1"));
        let reply = self.call(Method::PUT, &path, "alice", &runtime.to_string()).await;
        assert!(reply.status.is_success(), "{}", reply.body);
    }

    /// The control plane dies: nothing of it runs on, nothing is put away.
    pub async fn crash(&mut self) {
        self.plane.abort_all();
        while self.plane.join_next().await.is_some() {}
        self.offers.send_replace(None);
        self.taken_over.send_replace(None);
        self.net.disconnect(installing::AUTHORITY);
        self.api = Router::new();
    }

    /// Lets what is under way come to rest, in virtual time.
    pub async fn settle(&self) {
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    }

    pub async fn call(&self, method: Method, path: &str, caller: &str, body: &str) -> Reply {
        self.call_with(method, path, &[(CALLER, caller)], body).await
    }

    pub async fn call_with(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        self.send(method, path, headers, body.as_bytes().to_vec()).await
    }

    /// The same with a body that need not be text.
    pub async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Reply {
        let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
        let caller = headers.iter().find(|(name, _)| *name == CALLER).map_or("anonymous", |(_, caller)| caller);
        if !headers.iter().any(|(name, _)| *name == "authorization") {
            request = request.header("authorization", format!("Bearer {}", self.gate.token(caller)));
        }
        for (name, value) in headers.iter().filter(|(name, _)| *name != CALLER) {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body)).expect("the test's request is well formed");
        let response = self.api.clone().oneshot(request).await.expect("the API always answers");
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.expect("the API's body is whole").to_bytes();
        Reply { status: parts.status, headers: parts.headers, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null) }
    }

    pub async fn get(&self, path: &str) -> Value {
        self.call(Method::GET, path, "anybody", "").await.body
    }

    pub async fn machine(&self, name: &str) -> Value {
        self.get(&format!("{}?api-version=1", machine_path(name))).await
    }

    pub async fn operation(&self, id: &str) -> Value {
        self.get(&format!("/rackwright/v1/operations/{id}")).await
    }

    /// Lets time pass until an operation has ended. One that outlasts every deadline is stuck, and fails the test.
    pub async fn until_ended(&self, id: &str) {
        let ended = async {
            while self.operation(id).await["status"] == "InProgress" {
                tokio::time::sleep(std::time::Duration::from_millis(500)).await;
            }
        };
        let patience = std::time::Duration::from_secs(3 * 3600);
        tokio::time::timeout(patience, ended).await.unwrap_or_else(|_| panic!("operation {id} is stuck"));
    }

    /// Ends the simulated site too.
    pub async fn close(mut self) {
        self.crash().await;
        self.stop_world.cancel();
        while self.world.join_next().await.is_some() {}
    }
}

impl std::fmt::Debug for House {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("House").field("site", &self.site).finish_non_exhaustive()
    }
}

pub fn machine_path(name: &str) -> String {
    resource_path("bareMetalMachines", name)
}

/// The path of a resource of the house's site: `virtualMachines` called `web1`.
pub fn resource_path(kind: &str, name: &str) -> String {
    format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/site1/providers/Microsoft.NetworkCloud/{kind}/{name}")
}

impl House {
    /// Resets a machine past the control plane, as a person at its BMC would. Returns the BMC's status code.
    pub async fn reset_by_hand(&self, machine: &str, reset: &str) -> u16 {
        let router = self.site.redfish(machine).expect("the machine is in the site");
        let spec = self.site.layout().machines().iter().find(|spec| spec.name == machine).expect("the machine is in the site");
        let systems = redfish_get(&router, spec, "/redfish/v1/Systems").await;
        let system = systems["Members"][0]["@odata.id"].as_str().expect("a BMC has a system").to_owned();
        let request =
            authorized(spec, Method::POST, &format!("{system}/Actions/ComputerSystem.Reset"), format!("{{\"ResetType\":\"{reset}\"}}"));
        router.oneshot(request).await.expect("the BMC answers").status().as_u16()
    }
}

async fn redfish_get(router: &sim::Wire, spec: &sim::MachineSpec, path: &str) -> Value {
    let response = router.clone().oneshot(authorized(spec, Method::GET, path, String::new())).await.expect("the BMC answers");
    let bytes = response.into_body().collect().await.expect("the body is whole").to_bytes();
    serde_json::from_slice(&bytes).expect("Redfish answers JSON")
}

fn authorized(spec: &sim::MachineSpec, method: Method, path: &str, body: String) -> Request<Body> {
    use base64::Engine;
    let login = base64::engine::general_purpose::STANDARD.encode(format!("{}:{}", spec.bmc_user, spec.bmc_password));
    Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Basic {login}"))
        .header("content-type", "application/json")
        .body(Body::from(body))
        .expect("the test's request is well formed")
}
