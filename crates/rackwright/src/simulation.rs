//! Simulated sites as `up` and `sim serve` run them: opened, listening on loopback, and described by site files.

mod runtimes;
mod skus;
mod tenants;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use model::{ClusterName, Hardware, InvalidName, Limits, MachineName, RackName, Role, SecretRef, SiteMachine, SiteRack, Standing};
use sim::{BmcScheme, Control, DescribedMachine, Endpoints, Site, SiteSpec, Tenancy};
use store::{SharedStore, SqliteStore, SystemClock};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cli::runtime::import_missing;
use crate::cli::simulator::Simulator;
use crate::cli::trouble::Trouble;
use crate::private_file;
use crate::serve::ControlPlane;
use crate::site_file::Described;
use crate::site_file::written::{self, LoginTable, Reach};

/// The subscription of simulated sites. Any GUID does; this one is easy to tell from a real one.
pub const SUBSCRIPTION: &str = "00000000-0000-4000-8000-000000000001";

/// Nothing of a simulation is reached from elsewhere.
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Racks of one site at most, as in the documents that describe such sites; with some room.
const RACKS_MAX: u32 = 64;
const MACHINES_PER_RACK_MAX: u32 = 256;
const CLUSTERS_MAX: u32 = 64;

#[derive(Args, Clone, Debug)]
pub struct WorldArgs {
    /// Simulate the site that a file describes, instead of a made-up one; give it once for each site. Its BMC addresses,
    /// logins and kubeconfig are the simulator's
    #[arg(long = "config", value_name = "FILE", conflicts_with_all = ["racks", "machines_per_rack", "clusters"])]
    pub configs: Vec<PathBuf>,
    /// Racks of each simulated site
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=RACKS_MAX as i64))]
    pub racks: u32,
    /// Servers in each rack; two of them are management-class (three if there is one rack)
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(3..=MACHINES_PER_RACK_MAX as i64))]
    pub machines_per_rack: u32,
    /// Simulated sites, each a cluster of its own
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=CLUSTERS_MAX as i64))]
    pub clusters: u32,
    /// How much faster than life the simulated world runs
    #[arg(long, default_value_t = 60.0, value_parser = parse_speed)]
    pub speed: f64,
    /// What the world's variations are drawn from
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Put no tenants' virtual machines and Kubernetes clusters on the machines of a made-up site
    #[arg(long, conflicts_with = "configs")]
    pub without_tenants: bool,
    /// Let the BMCs speak https, with certificates of an authority of the site's own
    #[arg(long)]
    pub bmc_tls: bool,
}

impl WorldArgs {
    fn bmc_scheme(&self) -> BmcScheme {
        if self.bmc_tls { BmcScheme::Https } else { BmcScheme::Http }
    }
}

fn parse_speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed.is_finite() && (0.1..=10_000.0).contains(&speed) => Ok(speed),
        Ok(_) => Err("it must be from 0.1 to 10000".to_owned()),
        Err(_) => Err("it must be a number".to_owned()),
    }
}

/// Running sites, and the files that describe them.
pub struct Simulation {
    pub site_files: Vec<PathBuf>,
    pub machines: usize,
    /// The files by which tenants' clusters are reached.
    tenant_kubeconfigs: Vec<PathBuf>,
    /// The files that describe what its machines can be installed with.
    pub runtime_files: Vec<PathBuf>,
    sites: Vec<Site>,
    /// Where it can be broken.
    pub simulator: Simulator,
    tasks: JoinSet<Result<(), sim::SimError>>,
}

impl Simulation {
    pub async fn start(args: &WorldArgs, dir: &Path, shutdown: &CancellationToken) -> Result<Simulation, Trouble> {
        let blueprints = blueprints(args)?;
        let clock: Arc<dyn model::Clock> = Arc::new(SystemClock);
        let store =
            SqliteStore::open(dir, clock.clone()).map_err(|error| Trouble::caused("the simulated site cannot be opened", &error))?;
        let store: SharedStore = Arc::new(store);
        refuse_other_sites(&store, &blueprints).await?;
        let (mut site_files, mut machines, mut tasks) = (Vec::new(), 0, JoinSet::new());
        let mut tenant_kubeconfigs = Vec::new();
        let (mut sites, mut versions) = (Vec::new(), Vec::new());
        // Every site serves the same images; the runtimes are described once for all.
        let mut images = None;
        for Blueprint { spec, described } in blueprints {
            let site = Site::open(spec.at_speed(args.speed), store.clone(), clock.clone()).await.map_err(|error| {
                Trouble::caused("the simulated site cannot be opened", &error)
                    .hint("start it as it was, or begin a new world with another --data-dir")
            })?;
            let endpoints = site
                .listen_with(LOOPBACK, args.bmc_scheme())
                .await
                .map_err(|error| Trouble::caused("the simulated site cannot listen", &error))?;
            machines += site.layout().machines().len();
            images.get_or_insert(endpoints.images);
            let files = endpoints.tenants.keys().map(|tenant| dir.join(tenant_kubeconfig_name(&site.layout().site, tenant)));
            tenant_kubeconfigs.extend(files);
            versions.extend(described.as_ref().map(|described| described.version.clone()));
            site_files.push(describe(&site, described, &endpoints, args, dir)?);
            sites.push(site.clone());
            let shutdown = shutdown.clone();
            tasks.spawn(async move { site.run(shutdown).await });
        }
        let runtime_files = match images {
            Some(images) => runtimes::write(dir, &format!("http://{images}"), versions.iter().map(String::as_str))?,
            None => Vec::new(),
        };
        let simulator = start_control(sites.clone(), shutdown, &mut tasks).await?;
        Ok(Simulation { site_files, machines, tenant_kubeconfigs, runtime_files, sites, simulator, tasks })
    }

    /// Who answers machines that start over PXE.
    pub fn set_pxe_server(&self, url: &str) {
        for site in &self.sites {
            site.set_pxe_server(url);
        }
    }

    /// Makes its runtimes known to a control plane that keeps it, unless they are.
    pub async fn import_runtimes(&self, plane: &ControlPlane) -> Result<(), Trouble> {
        import_missing(&plane.url(), &plane.access().await?, &plane.sites, &self.runtime_files).await
    }

    /// How a tenant looks at its own cluster.
    pub fn tenant_lines(&self) -> impl Iterator<Item = String> {
        self.tenant_kubeconfigs.iter().map(|path| format!("  Tenant   kubectl --kubeconfig {} get nodes", path.display()))
    }

    /// Waits until every site has ended; the first one that ends with an error tells.
    pub async fn ended(&mut self) -> Result<(), Trouble> {
        while let Some(result) = self.tasks.join_next().await {
            match result {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Err(Trouble::caused("the simulated site stopped", &error)),
                Err(error) => return Err(Trouble::caused("the simulated site stopped", &error)),
            }
        }
        Ok(())
    }
}

/// Listens for those who want to break something.
async fn start_control(
    sites: Vec<Site>,
    shutdown: &CancellationToken,
    tasks: &mut JoinSet<Result<(), sim::SimError>>,
) -> Result<Simulator, Trouble> {
    let cannot = |error: std::io::Error| Trouble::caused("the simulation's control face cannot listen", &error);
    let listener = TcpListener::bind(SocketAddr::new(LOOPBACK, 0)).await.map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let token = uuid::Uuid::new_v4().simple().to_string();
    let router = sim::control(Control { sites, token: token.clone() });
    let shutdown = shutdown.clone();
    tasks.spawn(async move {
        // It has nothing to put away, so it ends with the simulation and waits for nobody.
        tokio::select! {
            () = shutdown.cancelled() => {}
            result = std::future::IntoFuture::into_future(axum::serve(listener, router)) => {
                if let Err(error) = result {
                    tracing::error!(%error, "the simulation's control face stopped listening");
                }
            }
        }
        Ok(())
    });
    Ok(Simulator { address, token })
}

/// A world goes on as it was made: a site that nobody asks for would stand still, and its control plane would miss it.
async fn refuse_other_sites(store: &SharedStore, blueprints: &[Blueprint]) -> Result<(), Trouble> {
    let saved = sim::saved_sites(store).await.map_err(|error| Trouble::caused("the simulated site cannot be opened", &error))?;
    match saved.iter().find(|name| !blueprints.iter().any(|asked| asked.spec.name == **name)) {
        None => Ok(()),
        Some(name) => Err(Trouble::failed(format!("this data directory holds the simulated site `{name}`, which is not asked for"))
            .hint("start it as it was, or begin a new world with another --data-dir")),
    }
}

/// A site to simulate, and how somebody described it.
struct Blueprint {
    spec: SiteSpec,
    described: Option<model::Site>,
}

fn blueprints(args: &WorldArgs) -> Result<Vec<Blueprint>, Trouble> {
    if args.configs.is_empty() {
        let generated = (1..=args.clusters).map(|number| {
            let seed = args.seed.wrapping_add(u64::from(number - 1));
            let spec = SiteSpec::new(format!("site{number}"), args.racks, args.machines_per_rack, seed);
            let tenancy = if args.without_tenants { Tenancy::default() } else { tenants::made_up(args.racks, args.machines_per_rack) };
            Blueprint { spec: spec.with_tenancy(tenancy), described: None }
        });
        return Ok(generated.collect());
    }
    let mut blueprints: Vec<Blueprint> = Vec::new();
    for path in &args.configs {
        let described = Described::read(path)?;
        let name = described.site.cluster.to_string();
        if blueprints.iter().any(|known| known.spec.name.eq_ignore_ascii_case(&name)) {
            return Err(Trouble::failed(format!("{}: cluster `{name}` is described twice", path.display())));
        }
        let machines = described.site.machines.iter().map(|machine| described_machine(&described, machine)).collect();
        let spec = SiteSpec::described(name, machines, args.seed).with_tenancy(described.tenancy().clone());
        blueprints.push(Blueprint { spec, described: Some(described.site) });
    }
    Ok(blueprints)
}

fn described_machine(described: &Described, machine: &SiteMachine) -> DescribedMachine {
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
        vendor: described.vendor(&machine.name),
        serial_number: machine.hardware.serial_number.clone(),
        bmc_mac: machine.hardware.bmc_mac.clone(),
        boot_mac: machine.hardware.boot_mac.clone(),
    }
}

/// Writes the files by which a control plane finds the site: the same that a real site has.
fn describe(site: &Site, described: Option<model::Site>, endpoints: &Endpoints, args: &WorldArgs, dir: &Path) -> Result<PathBuf, Trouble> {
    let layout = site.layout();
    let name = &layout.site;
    let mut definition = match described {
        Some(described) => described,
        None => generated(site).map_err(|error| Trouble::failed(error.to_string()))?,
    };
    if definition.skus.is_empty() {
        definition.skus = skus::of(site);
    }
    for machine in &mut definition.machines {
        let address = endpoints.bmcs.get(machine.name.as_str());
        let address = address.ok_or_else(|| Trouble::failed(format!("`{}` does not listen", machine.name)))?;
        machine.hardware.bmc_address = format!("{}://{address}", args.bmc_scheme().as_str());
    }
    let reach = Reach {
        kubeconfig: PathBuf::from(format!("{name}-kubeconfig.yaml")),
        bmc_credentials: PathBuf::from(format!("{name}-bmc-credentials.toml")),
        bmc_ca: endpoints.trust.as_ref().map(|_| PathBuf::from(format!("{name}-bmc-ca.pem"))),
        etcd: endpoints.etcd.values().map(|address| format!("http://{address}")).collect(),
        speed: args.speed,
    };
    let logins: BTreeMap<String, LoginTable> = layout
        .machines()
        .iter()
        .map(|machine| (machine.name.clone(), LoginTable { user: machine.bmc_user.clone(), password: machine.bmc_password.clone() }))
        .collect();
    let unwritable = |error| Trouble::caused("a site file cannot be written", &error);
    write_private(&dir.join(&reach.kubeconfig), &site.kubeconfig(endpoints))?;
    for (tenant, endpoint) in &endpoints.tenants {
        write_private(&dir.join(tenant_kubeconfig_name(name, tenant)), &endpoint.kubeconfig)?;
    }
    write_private(&dir.join(&reach.bmc_credentials), &written::logins(&logins).map_err(unwritable)?)?;
    if let (Some(file), Some(trust)) = (&reach.bmc_ca, &endpoints.trust) {
        write_private(&dir.join(file), &trust.ca_pem)?;
    }
    let path = dir.join(format!("{name}.toml"));
    write_private(&path, &written::site(&definition, &reach).map_err(unwritable)?)?;
    Ok(path)
}

/// The file by which a tenant's cluster is reached, beside the undercloud's.
fn tenant_kubeconfig_name(site: &str, tenant: &str) -> String {
    format!("{site}-{tenant}-kubeconfig.yaml")
}

/// A made-up site as its owner would describe it.
fn generated(site: &Site) -> Result<model::Site, InvalidName> {
    let layout = site.layout();
    let racks = (1..=layout.racks).map(|number| {
        Ok(SiteRack {
            name: RackName::new(format!("rack{number}"))?,
            availability_zone: number.to_string(),
            location: format!("row 1, position {number}"),
            serial_number: format!("RACK{number:04}"),
            sku: "simulated".to_owned(),
        })
    });
    Ok(model::Site {
        cluster: ClusterName::new(layout.site.as_str())?,
        home: model::Home { subscription: SUBSCRIPTION.to_owned(), resource_group: layout.site.clone(), location: "local".to_owned() },
        version: "4.9.2".to_owned(),
        limits: Limits::default(),
        racks: racks.collect::<Result<_, InvalidName>>()?,
        machines: layout.machines().iter().map(generated_machine).collect::<Result<_, InvalidName>>()?,
        skus: Vec::new(),
        join: None,
        new_logins: std::collections::BTreeSet::new(),
    })
}

fn generated_machine(machine: &sim::MachineSpec) -> Result<SiteMachine, InvalidName> {
    Ok(SiteMachine {
        name: MachineName::new(machine.name.as_str())?,
        role: match machine.role {
            sim::Role::ControlPlane | sim::Role::SpareControlPlane => Role::ControlPlane,
            sim::Role::Management => Role::Management,
            sim::Role::Compute => Role::Compute,
        },
        standing: if matches!(machine.role, sim::Role::SpareControlPlane) { Standing::Spare } else { Standing::Provisioned },
        install: model::InstallSettings::default(),
        hardware: Hardware {
            rack: RackName::new(machine.rack_name())?,
            slot: machine.slot,
            sku: machine.model.to_owned(),
            serial_number: machine.serial_number.clone(),
            bmc_address: String::new(),
            bmc_mac: machine.bmc_mac.clone(),
            boot_mac: machine.boot_mac.clone(),
            credentials: SecretRef::new(machine.name.as_str()),
        },
    })
}

fn write_private(path: &Path, text: &str) -> Result<(), Trouble> {
    private_file::replace(path, text).map_err(|error| Trouble::caused(&format!("{} cannot be written", path.display()), &error))
}
