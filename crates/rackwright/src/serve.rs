//! `rackwright serve`: the control plane for the sites that its files describe.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use keeper::{Keeper, VaultCredentials, enroll_site};
use kubernetes::Undercloud;
use model::{Clock, ClusterName, KeeperState, MachineName, Site};
use redfish::{Bmc, Transport};
use store::{SharedStore, SqliteStore, SystemClock, Vault};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cli::trouble::{Exit, Trouble};
use crate::places::{self, Signals};
use crate::site_file::Loaded;

/// Where the API listens unless told otherwise: RACK on a telephone's keys.
pub const LISTEN: &str = "127.0.0.1:7225";

#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// A file that describes a site; give it once for each site
    #[arg(long = "config", value_name = "FILE", required = true)]
    pub configs: Vec<PathBuf>,
    /// Where the control plane keeps what it knows. Without it: `data/serve` under RACKWRIGHT_HOME, or `serve` in the
    /// platform's data directory
    #[arg(long)]
    pub data_dir: Option<PathBuf>,
    /// Where the API listens. Loopback only, until there is authentication
    #[arg(long, default_value = LISTEN)]
    pub listen: String,
}

pub async fn run(args: ServeArgs) -> Result<(), Trouble> {
    let signals = Signals::listen()?;
    let shutdown = CancellationToken::new();
    let listener = bind(&args.listen).await?;
    let data_dir = places::data_dir(args.data_dir, "serve")?;
    let mut plane = ControlPlane::start(&args.configs, &data_dir, listener, &shutdown).await?;
    let contexts = places::remember(&plane)?;
    places::until_connected(&plane).await;
    let sites: Vec<String> = plane.sites.iter().map(|site| format!("{} ({} machines)", site.cluster, site.machines.len())).collect();
    places::announce(&[
        format!("Rackwright keeps {}", sites.join(", ")),
        format!("  API      http://{}", plane.address),
        format!("  Data     {}", data_dir.display()),
        format!("  Context  local, in {}", contexts.display()),
    ]);
    signals.until_told_to_stop(&shutdown, plane.ended()).await
}

/// A running control plane: store, keepers and API.
pub struct ControlPlane {
    pub address: SocketAddr,
    pub sites: Vec<Site>,
    pub store: SharedStore,
    keeper_states: BTreeMap<ClusterName, watch::Receiver<KeeperState>>,
    keepers: JoinSet<()>,
    faces: JoinSet<()>,
}

/// How long a client that is still sending or reading is waited for once the keepers have ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl ControlPlane {
    pub async fn start(site_files: &[PathBuf], dir: &Path, listener: TcpListener, shutdown: &CancellationToken) -> Result<Self, Trouble> {
        let address = listener.local_addr().map_err(|error| Trouble::caused("the API cannot listen", &error))?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let store = SqliteStore::open(dir, clock.clone()).map_err(|error| Trouble::caused("the store cannot be opened", &error))?;
        let store: SharedStore = Arc::new(store);
        let vault = Vault::open(store.clone(), &dir.join("vault.key")).await;
        let vault = Arc::new(vault.map_err(|error| Trouble::caused("the secret vault cannot be opened", &error))?);
        let mut plane = ControlPlane {
            address,
            sites: Vec::new(),
            store: store.clone(),
            keeper_states: BTreeMap::new(),
            keepers: JoinSet::new(),
            faces: JoinSet::new(),
        };
        for path in site_files {
            plane.keep(Loaded::read(path)?, &vault, &clock, shutdown).await?;
        }
        let cache = api::Cache::load(&store).await.map_err(|error| Trouble::caused("the store cannot be read", &error))?;
        plane.faces.spawn(cache.clone().follow(store.clone(), shutdown.clone()));
        let router = api::router(api::Api { store, clock, cache, keepers: Arc::new(std::mem::take(&mut plane.keeper_states)) });
        let stop = shutdown.clone();
        plane.faces.spawn(async move {
            let served = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await;
            if let Err(error) = served {
                tracing::error!(%error, "the API stopped");
            }
        });
        Ok(plane)
    }

    /// Enrols a site and starts its keeper.
    async fn keep(
        &mut self,
        loaded: Loaded,
        vault: &Arc<Vault>,
        clock: &Arc<dyn Clock>,
        shutdown: &CancellationToken,
    ) -> Result<(), Trouble> {
        let Loaded { described, kubeconfig, logins, trusts, .. } = loaded;
        let site = described.site;
        if self.sites.iter().any(|known| known.cluster == site.cluster) {
            return Err(Trouble::failed(format!("cluster `{}` is described twice", site.cluster)));
        }
        let _ = trusts;
        let transport = Transport::tcp();
        let mut bmcs: BTreeMap<MachineName, Bmc> = BTreeMap::new();
        // At once, so that they share a few commits.
        let saves = site.machines.iter().filter_map(|machine| {
            let login = logins.get(&machine.name)?;
            let text = format!("{}\n{}", login.user, *login.password);
            Some(async move { vault.save(&machine.hardware.credentials, text.as_bytes()).await })
        });
        let saved = futures::future::try_join_all(saves).await;
        saved.map_err(|error| Trouble::caused("BMC credentials cannot be saved", &error))?;
        for machine in &site.machines {
            let secret = machine.hardware.credentials.clone();
            let address = machine.hardware.bmc_address.parse().map_err(|error| Trouble::caused("a BMC address is no URL", &error))?;
            let credentials = Arc::new(VaultCredentials::new(vault.clone(), secret));
            bmcs.insert(machine.name.clone(), Bmc::new(transport.clone(), address, credentials));
        }
        let undercloud = Undercloud::from_kubeconfig(&kubeconfig).await;
        let undercloud =
            undercloud.map_err(|fault| Trouble::caused(&format!("the kubeconfig of `{}` cannot be used", site.cluster), &fault))?;
        enroll_site(&self.store, clock.as_ref(), &site).await.map_err(|error| Trouble::caused("the site cannot be enrolled", &error))?;
        let (state, how_it_is) = watch::channel(KeeperState::Starting);
        self.keeper_states.insert(site.cluster.clone(), how_it_is);
        let keeper = Keeper {
            cluster: site.cluster.clone(),
            // A data directory has one process, so what this name held before has ended.
            holder: "local".to_owned(),
            store: self.store.clone(),
            clock: clock.clone(),
            bmcs,
            undercloud,
            state,
        };
        self.keepers.spawn(keeper.run_for_ever(shutdown.clone()));
        self.sites.push(site);
        Ok(())
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

/// Takes the address before anything is made, so that a wrong one leaves nothing behind.
pub async fn bind(listen: &str) -> Result<TcpListener, Trouble> {
    let numeric = listen.strip_prefix("localhost:").map_or_else(|| listen.to_owned(), |port| format!("127.0.0.1:{port}"));
    let address: SocketAddr = numeric.parse().map_err(|_| {
        Trouble::new(Exit::Usage, format!("`{listen}` is not an address to listen on")).hint(format!("for example --listen {LISTEN}"))
    })?;
    if !address.ip().is_loopback() {
        return Err(Trouble::new(Exit::Usage, format!("the API does not listen on {address}: there is no authentication yet"))
            .hint(format!("listen on loopback, for example --listen {LISTEN}, and reach it through an SSH tunnel")));
    }
    TcpListener::bind(address).await.map_err(|error| {
        Trouble::caused(&format!("the API cannot listen on {address}"), &error)
            .hint("is it running already? `--listen 127.0.0.1:0` takes any free port")
    })
}
