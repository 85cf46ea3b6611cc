//! `rackwright serve`: the control plane for the sites that its files describe.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use access::principal::{ClientSecret, ServicePrincipal};
use clap::Args;
use gate::Gate;
use keeper::{Equipment, InstallDesk, InstallUrls, Keeper, KeeperError, Rota, VaultSecrets, enroll_site, load_install_key};
use kubernetes::NetworkDoor;
use model::{Clock, ClusterName, Footing, KeeperState, Site, keys};
use store::{MasterKeySource, SharedStore, SqliteStore, StoreError, SystemClock, Vault};
use ticket::InstallKey;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::authority::{Authority, AuthorityError};
use crate::cli::access::{Access, Login, Pass, Secret};
use crate::cli::trouble::{Exit, Trouble};
use crate::descriptors;
use crate::equip::equip;
use crate::front::Front;
use crate::images;
use crate::installing::{self, InstallArgs, InstallDoor, InstallKeys};
use crate::key_fetcher::WebKeys;
use crate::logging::{LogArgs, LogFormat};
use crate::master_key::MasterKeyArgs;
use crate::measuring;
use crate::notify::{self, Word};
use crate::places::{self, Signals};
use crate::reload::{self, KeptSite};
use crate::remembering;
use crate::safekeeping;
use crate::site_file::Loaded;
use crate::site_file::neighbours::Neighbours;
use crate::stopping::{self, Stages};

/// Where the API listens unless told otherwise: RACK on a telephone's keys.
pub const LISTEN: &str = "127.0.0.1:7225";

/// Longer than any load balancer needs to look again.
pub const STOP_DELAY_MAX: u64 = 300;

#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// A file that describes a site; give it once for each site
    #[arg(long = "config", value_name = "FILE", required = true)]
    pub configs: Vec<PathBuf>,
    /// Start nothing: read the files, look at every BMC and at the undercloud, and say what is not as described
    #[arg(long)]
    pub check: bool,
    /// Where the control plane keeps what it knows. Without it: `data/serve` under RACKWRIGHT_HOME, or `serve` in the
    /// platform's data directory
    #[arg(long)]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub front: FrontArgs,
    /// How many seconds the API goes on listening after it was told to stop, while /readyz says no, so that a load
    /// balancer notices
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=STOP_DELAY_MAX))]
    pub stop_delay: u64,
    #[command(flatten)]
    pub install: InstallArgs,
    #[command(flatten)]
    pub key: MasterKeyArgs,
    #[command(flatten)]
    pub log: LogArgs,
}

/// Where clients come in.
#[derive(Args, Clone, Debug)]
pub struct FrontArgs {
    /// Where the API listens, with TLS
    #[arg(long, default_value = LISTEN)]
    pub listen: String,
    /// A name or address that clients reach the API by, besides the address that it listens on and localhost; once for each
    #[arg(long = "host", value_name = "HOST")]
    pub hosts: Vec<String>,
}

pub async fn run(args: ServeArgs) -> Result<(), Trouble> {
    let signals = Signals::listen()?;
    let hangup = signal(SignalKind::hangup()).map_err(|error| Trouble::caused("signals cannot be heard", &error))?;
    let shutdown = CancellationToken::new();
    let loaded = load_all(&args.configs)?;
    let listener = bind(&args.front.listen).await?;
    let data_dir = places::data_dir(args.data_dir, "serve")?;
    let keeping = Keeping { dir: &data_dir, key: &args.key.source(&data_dir)? };
    let stop_delay = Duration::from_secs(args.stop_delay);
    let door = InstallDoor::open(&args.install, &data_dir).await?;
    let mut plane =
        ControlPlane::start(loaded, keeping, Doors { api: listener, hosts: args.front.hosts, install: door }, &shutdown, stop_delay)
            .await?;
    let context = remembering::remember(&plane).await?;
    places::until_connected(&plane).await;
    let sites: Vec<String> = plane.sites.iter().map(|site| format!("{} ({} machines)", site.cluster, site.machines.len())).collect();
    let mut lines = vec![
        format!("Rackwright keeps {}", sites.join(", ")),
        format!("  API      {}", plane.url()),
        format!("  Install  {}", plane.install_urls.agents),
        format!("  Data     {}", data_dir.display()),
        context.line(),
        "  Files    are looked at every few seconds; SIGHUP reads them at once".to_owned(),
    ];
    for site in &plane.sites {
        lines.extend(plan::weaknesses(site).iter().map(|weakness| format!("  Note     {}: {weakness}", site.cluster)));
    }
    lines.extend(plane.sites.iter().filter(|site| plan::is_install_url_useless(&plane.install_urls.agents, site)).map(|site| {
        format!(
            "  Note     {}: its machines cannot reach the install address, so none can be installed; see --install-listen",
            site.cluster
        )
    }));
    for stranger in plane.undescribed().await? {
        lines.push(format!("  Note     {stranger}: it is in the data directory, but no file describes it, so nobody keeps it"));
    }
    places::announce(&lines);
    plane.watch_files(hangup, args.log.log_format, &shutdown);
    notify::tell(Word::Ready);
    signals.until_told_to_stop(&shutdown, stop_delay, plane.ended()).await
}

/// Reads every file before anything is made, so that a wrong one leaves nothing behind.
pub fn load_all(paths: &[PathBuf]) -> Result<Vec<Loaded>, Trouble> {
    let mut loaded: Vec<Loaded> = Vec::new();
    let mut neighbours = Neighbours::default();
    for path in paths {
        let next = Loaded::read(path)?;
        neighbours.judge(&|number| &loaded[number], &next)?;
        neighbours.admit(&next);
        loaded.push(next);
    }
    Ok(loaded)
}

/// Where clients come in, and where machines do.
pub struct Doors {
    pub api: TcpListener,
    /// What clients call the API by, besides its address.
    pub hosts: Vec<String>,
    pub install: InstallDoor,
}

/// Where a control plane keeps what it knows, and the key of its secrets.
#[derive(Clone, Copy, Debug)]
pub struct Keeping<'a> {
    pub dir: &'a Path,
    pub key: &'a MasterKeySource,
}

/// A running control plane: store, keepers, API and install face.
pub struct ControlPlane {
    pub address: SocketAddr,
    /// What machines that are being installed, and their BMCs, call us by.
    pub install_urls: InstallUrls,
    pub sites: Vec<Site>,
    pub store: SharedStore,
    pub gate: Arc<Gate>,
    /// Who signed our certificate, in PEM.
    pub authority: String,
    /// The first administrator, if it was made just now.
    pub administrator: Option<Login>,
    vault: Arc<Vault>,
    kept: Vec<KeptSite>,
    keeper_watches: BTreeMap<ClusterName, api::KeeperWatch>,
    keepers: JoinSet<()>,
    rota: Rota,
    faces: JoinSet<()>,
    /// Closed after the faces were dropped.
    _fronts: [Front; 2],
}

/// How long a client that is still sending or reading is waited for once the keepers have ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl ControlPlane {
    pub async fn start(
        sites: Vec<Loaded>,
        keeping: Keeping<'_>,
        doors: Doors,
        shutdown: &CancellationToken,
        stop_delay: Duration,
    ) -> Result<Self, Trouble> {
        let Keeping { dir, key } = keeping;
        let Doors { api: listener, hosts, install } = doors;
        let address = listener.local_addr().map_err(|error| Trouble::caused("the API cannot listen", &error))?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let store = SqliteStore::open(dir, clock.clone()).map_err(|error| unopened(dir, &error))?;
        let file = Arc::new(store);
        let store: SharedStore = file.clone();
        let vault = Vault::open(store.clone(), key).await;
        let vault = Arc::new(vault.map_err(|error| Trouble::caused("the secret vault cannot be opened", &error))?);
        let gate = Gate::open(store.clone(), vault.clone(), clock.clone()).await;
        let gate = gate.map_err(|error| Trouble::caused("who may come in cannot be read", &error))?;
        let names = names(address, hosts);
        let gate = Arc::new(gate.with_fetcher(Arc::new(WebKeys::new()?)).with_hosts(names.clone()));
        let (tls, authority) = identify(&vault, &names).await?;
        let front = Front::open().map_err(|error| Trouble::caused("the API's threads cannot be started", &error))?;
        let listener = front.adopt(listener).map_err(|error| Trouble::caused("the API cannot listen", &error))?;
        let back = Front::open_for_machines().map_err(|error| Trouble::caused("the install face's threads cannot be started", &error))?;
        let machines = back.adopt(install.listener).map_err(|error| Trouble::caused("the install face cannot listen", &error))?;
        let (threads, machine_threads) = (front.threads().clone(), back.threads().clone());
        let mut plane = ControlPlane {
            address,
            install_urls: install.urls,
            sites: Vec::new(),
            store: store.clone(),
            gate: gate.clone(),
            authority,
            administrator: None,
            vault,
            kept: Vec::new(),
            keeper_watches: BTreeMap::new(),
            keepers: JoinSet::new(),
            rota: Rota::default(),
            faces: JoinSet::new(),
            _fronts: [front, back],
        };
        let stages = Stages::default();
        // Nobody is called before every site is enrolled.
        let enrolled = enrol_all(sites, &store, &plane.vault, &clock).await?;
        let keys = install_keys(&enrolled, &plane.vault).await?;
        // Before the first keeper counts anything.
        let (recorder, exposition) = measuring::begin(file, dir, enrolled.iter().map(|(loaded, _)| &loaded.site().cluster))?;
        for (loaded, equipment) in enrolled {
            let key = keys.get(&loaded.site().cluster).cloned();
            plane.keep(loaded, equipment, key, &clock, &stages.keeping);
        }
        let cache = api::Cache::load(&store).await.map_err(|error| Trouble::caused("the store cannot be read", &error))?;
        plane.faces.spawn_on(cache.clone().follow(store.clone(), stages.keeping.clone()), &threads);
        let process = api::Process { stopping: shutdown.clone(), exposition, ..api::Process::default() };
        plane.faces.spawn(measuring::upkeep(recorder, stages.keeping.clone()));
        plane.faces.spawn(notify::stay_alive(stages.keeping.clone()));
        plane.faces.spawn(stopping::in_order(shutdown.clone(), stop_delay, process.answering.clone(), stages.clone()));
        let keepers = Arc::new(std::mem::take(&mut plane.keeper_watches));
        plane.faces.spawn_on(gate.clone().follow(stages.keeping.clone()), &threads);
        let api = api::Api::new(store, clock, cache, keepers, process, gate.clone()).with_vault(plane.vault.clone());
        let max_connections = api::MAX_CONNECTIONS.min(descriptors::share_for_clients());
        let face = api::InstallFace::new(api.clone(), keys, images::open(dir, &install.images)?, &plane.install_urls.agents);
        let face = face.with_rates(install.images.rates());
        let welcome = installing::welcome(face, &install.identity, &plane.vault).await?;
        // Last of what can fail: its secret is told once, and a start that fails afterwards would lose it.
        let made = gate.make_administrator().await.map_err(|error| Trouble::caused("there can be no administrator", &error))?;
        plane.administrator = made.map(|(principal, secret)| login_of(&principal, &secret));
        let max_machines = api::MAX_IN_FLIGHT.min(descriptors::share_for_clients());
        let serving = api::serve(machines, welcome, max_machines, stages.listening.clone());
        plane.faces.spawn_on(serving, &machine_threads);
        let welcome = api::Welcome::Either { tls, inside: api::router(api), outside: api::https_router() };
        plane.faces.spawn_on(api::serve(listener, welcome, max_connections, stages.listening), &threads);
        Ok(plane)
    }

    /// What clients on this computer call the API by.
    pub fn url(&self) -> String {
        let ip = match self.address.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        };
        format!("https://{}", SocketAddr::new(ip, self.address.port()))
    }

    /// How this process itself calls its API: as the first administrator.
    pub async fn access(&self) -> Result<Access, Trouble> {
        let cannot = |error: &dyn std::error::Error| Trouble::caused("this process cannot log in to itself", error);
        let administrator = self.gate.administrator().await.map_err(|error| cannot(&error))?;
        let administrator = administrator.ok_or_else(|| Trouble::failed("the first administrator was removed"))?;
        let minted = self.gate.hand_out(&administrator).map_err(|error| cannot(&error))?;
        let pass = Pass::Token(Secret::new(minted.text.as_str()));
        Ok(Access { authority: Some(self.authority.clone()), pass: Some(pass) })
    }

    /// Starts the keeper of a site.
    fn keep(
        &mut self,
        loaded: Loaded,
        equipment: Arc<Equipment>,
        key: Option<InstallKey>,
        clock: &Arc<dyn Clock>,
        shutdown: &CancellationToken,
    ) {
        let site = loaded.site().clone();
        let (state, how_it_is) = watch::channel(KeeperState::Starting);
        let (footing, stands) = watch::channel(Footing::default());
        let (refused, site_file) = watch::channel(None);
        self.keeper_watches.insert(site.cluster.clone(), api::KeeperWatch { state: how_it_is, footing: stands, site_file });
        let (offers, offered) = watch::channel(None);
        let keeper = Keeper {
            cluster: site.cluster.clone(),
            // A data directory has one process, so what this name held before has ended.
            holder: "local".to_owned(),
            store: self.store.clone(),
            clock: clock.clone(),
            bmcs: equipment.bmcs.clone(),
            maker: equipment.maker.clone(),
            undercloud: equipment.undercloud.clone(),
            etcd: equipment.etcd.clone(),
            door: Arc::new(NetworkDoor),
            secrets: Arc::new(VaultSecrets::new(self.vault.clone())),
            install: key.map(|key| InstallDesk { key, urls: self.install_urls.clone() }),
            offers: offered,
            rota: self.rota.clone(),
            taken_over: watch::Sender::new(None),
            state,
            footing,
        };
        self.keepers.spawn(keeper.run_for_ever(shutdown.clone()));
        self.kept.push(KeptSite::new(loaded, equipment, offers, refused));
        self.sites.push(site);
    }

    /// Clusters that are stored, and that none of the files describes.
    async fn undescribed(&self) -> Result<Vec<ClusterName>, Trouble> {
        let stored = self.store.list(keys::CLUSTERS).await.map_err(|error| Trouble::caused("the store cannot be read", &error))?;
        let names = stored.documents.iter().filter_map(|document| ClusterName::new(document.key.strip_prefix(keys::CLUSTERS)?).ok());
        Ok(names.filter(|name| !self.sites.iter().any(|site| site.cluster == *name)).collect())
    }

    /// Takes changes of the site files over while they are kept.
    pub fn watch_files(&mut self, hangup: Signal, log: LogFormat, shutdown: &CancellationToken) {
        let kept = std::mem::take(&mut self.kept);
        self.faces.spawn(reload::watch_files(kept, self.vault.clone(), hangup, log, shutdown.clone()));
    }

    /// Waits until everything has ended after a shutdown. A client that dawdles is not waited for.
    pub async fn ended(&mut self) -> Result<(), Trouble> {
        let stopped = |error: tokio::task::JoinError| Trouble::caused("a part of the control plane stopped", &error);
        while !self.keepers.is_empty() {
            tokio::select! {
                Some(result) = self.keepers.join_next() => result.map_err(stopped)?,
                // The faces end with the shutdown; one that panicked must not leave a frozen view behind.
                Some(result) = self.faces.join_next() => result.map_err(stopped)?,
            }
        }
        let faces = async {
            while let Some(result) = self.faces.join_next().await {
                result.map_err(stopped)?;
            }
            Ok(())
        };
        tokio::time::timeout(LAST_WORDS, faces).await.unwrap_or(Ok(()))
    }
}

/// A certificate for what clients call the API by, and who signed it.
async fn identify(vault: &Vault, names: &[String]) -> Result<(TlsAcceptor, String), Trouble> {
    let cannot = |error: AuthorityError| Trouble::caused("the API cannot have a certificate", &error);
    let authority = Authority::open(vault).await.map_err(cannot)?;
    let tls = authority.acceptor(&names.iter().map(String::as_str).collect::<Vec<_>>()).map_err(cannot)?;
    Ok((tls, authority.certificate().to_owned()))
}

/// What clients may call the API by: this computer, the address that it listens at, and what people said.
fn names(address: SocketAddr, hosts: Vec<String>) -> Vec<String> {
    let own = address.ip().to_string();
    let mut all = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
    if !address.ip().is_unspecified() && !all.contains(&own) {
        all.push(own);
    }
    all.extend(hosts);
    all
}

fn login_of(principal: &ServicePrincipal, secret: &ClientSecret) -> Login {
    Login { client_id: principal.client_id.to_string(), client_secret: Secret::new(secret.text()) }
}

/// The keys of the sites' installations.
async fn install_keys(enrolled: &[(Loaded, Arc<Equipment>)], vault: &Vault) -> Result<InstallKeys, Trouble> {
    let mut keys = InstallKeys::new();
    for (loaded, _) in enrolled {
        let cluster = &loaded.site().cluster;
        let key = load_install_key(vault, cluster).await;
        let key = key.map_err(|error| Trouble::caused(&format!("the key of `{cluster}`'s installations cannot be had"), &error))?;
        keys.insert(cluster.clone(), key);
    }
    Ok(keys)
}

/// Enrols the sites beside each other: most of it is reading their documents.
async fn enrol_all(
    sites: Vec<Loaded>,
    store: &SharedStore,
    vault: &Arc<Vault>,
    clock: &Arc<dyn Clock>,
) -> Result<Vec<(Loaded, Arc<Equipment>)>, Trouble> {
    let enrolments = sites.into_iter().map(|loaded| tokio::spawn(enrol(loaded, store.clone(), vault.clone(), clock.clone())));
    // All come to their end, so that nobody writes any more when the first trouble is told.
    let ended = futures::future::join_all(enrolments.collect::<Vec<_>>()).await;
    let stopped = |error: tokio::task::JoinError| Trouble::caused("a site cannot be enrolled", &error);
    ended.into_iter().map(|enrolled| enrolled.map_err(stopped)?).collect()
}

/// Enrols a site, with the ways to its devices.
async fn enrol(loaded: Loaded, store: SharedStore, vault: Arc<Vault>, clock: Arc<dyn Clock>) -> Result<(Loaded, Arc<Equipment>), Trouble> {
    let equipment = equip(&loaded, None, &vault).await?;
    let site = &Site { new_logins: safekeeping::changed(&loaded, &vault).await, ..loaded.site().clone() };
    let enrolment = enroll_site(&store, clock.as_ref(), site).await.map_err(|error| match error {
        KeeperError::Objections { objections, .. } => reload::refusal(&loaded.described, &objections),
        error => Trouble::caused("the site cannot be enrolled", &error),
    })?;
    safekeeping::forget(&site.cluster, &enrolment.forgotten_machines, &vault).await;
    safekeeping::remove(&enrolment.abandoned_logins, &vault).await;
    safekeeping::save(&loaded, None, &vault).await?;
    let gone = enrolment.forgotten_machines.iter().map(|machine| format!("{}: machine {machine} is gone", site.cluster));
    let undescribed = enrolment.undescribed.iter().map(|(machine, busy)| {
        format!(
            "{}: machine {machine} is not described any more, but {busy}: it stays, nothing is asked of it, and what runs on it fails; \
             put it back into {}",
            site.cluster,
            loaded.described.path().display()
        )
    });
    let lines: Vec<String> = gone.chain(undescribed).collect();
    for line in &lines {
        tracing::warn!("{line}");
    }
    places::announce(&lines);
    Ok((loaded, Arc::new(equipment)))
}

/// A damaged store is what backups are for, so whoever meets one is told how to use theirs.
fn unopened(dir: &Path, error: &StoreError) -> Trouble {
    let trouble = Trouble::caused("the store cannot be opened", error);
    match error {
        StoreError::Damaged { .. } => {
            trouble.hint(format!("a backup is put in its place with `rackwright restore BACKUP --data-dir {} --replace`", dir.display()))
        }
        _ => trouble,
    }
}

/// Takes the address before anything is made, so that a wrong one leaves nothing behind.
pub async fn bind(listen: &str) -> Result<TcpListener, Trouble> {
    let numeric = listen.strip_prefix("localhost:").map_or_else(|| listen.to_owned(), |port| format!("127.0.0.1:{port}"));
    let address: SocketAddr = numeric.parse().map_err(|_| {
        Trouble::new(Exit::Usage, format!("`{listen}` is not an address to listen on")).hint(format!("for example --listen {LISTEN}"))
    })?;
    TcpListener::bind(address).await.map_err(|error| {
        Trouble::caused(&format!("the API cannot listen on {address}"), &error)
            .hint("is it running already? `--listen 127.0.0.1:0` takes any free port")
    })
}
