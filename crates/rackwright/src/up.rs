//! `rackwright up`: a simulated site and the control plane for it, in one process and with one command.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use model::Role;
use tokio_util::sync::CancellationToken;

use crate::cli::access::Login;
use crate::cli::trouble::Trouble;
use crate::installing::{InstallArgs, InstallDoor};
use crate::logging::LogArgs;
use crate::master_key::MasterKeyArgs;
use crate::notify::{self, Word};
use crate::places;
use crate::remembering::{self, Remembered};
use crate::serve::{self, ControlPlane, Doors, FrontArgs, Keeping, STOP_DELAY_MAX};
use crate::simulation::{Simulation, WorldArgs};

/// Where the control plane's data lies, below the data directory.
pub const CONTROL: &str = "control";

#[derive(Args, Clone, Debug)]
pub struct UpArgs {
    #[command(flatten)]
    pub world: WorldArgs,
    /// Where everything is kept; starting again with the same directory continues. Without it: `data/up` under
    /// RACKWRIGHT_HOME, or `up` in the platform's data directory
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

pub async fn run(args: UpArgs) -> Result<(), Trouble> {
    let signals = places::Signals::listen()?;
    let listener = serve::bind(&args.front.listen).await?;
    let data_dir = places::data_dir(args.data_dir, "up")?;
    let control = data_dir.join(CONTROL);
    let key = args.key.source(&control)?;
    // The world outlives the control plane's last requests, so it has its own end.
    let (plane_stop, world_stop) = (CancellationToken::new(), CancellationToken::new());
    let mut simulation = Simulation::start(&args.world, &data_dir.join("sim"), &world_stop).await?;
    let sites = serve::load_all(&simulation.site_files)?;
    let stop_delay = Duration::from_secs(args.stop_delay);
    let doors = Doors { api: listener, hosts: args.front.hosts.clone(), install: InstallDoor::open(&args.install, &control).await? };
    simulation.set_pxe_server(&doors.install.urls.firmware);
    let mut plane = ControlPlane::start(sites, Keeping { dir: &control, key: &key }, doors, &plane_stop, stop_delay).await?;
    let context = remembering::remember(&plane).await?;
    places::until_connected(&plane).await;
    // A site without runtimes is of use too, and the next start tries again.
    let runtimes = simulation.import_runtimes(&plane).await;
    let other = remembering::remember_simulator(&simulation.simulator, &data_dir.join("sim")).await?;
    let mut lines = greeting(&args.world, &plane, &data_dir, &context);
    let more = other.iter().map(|file| remembering::simulator_line(file)).chain(simulation.tenant_lines());
    let more = more.chain(runtimes.err().map(|trouble| format!("  Note     its runtimes could not be imported: {trouble}")));
    lines.splice(4..4, more);
    lines.splice(4..4, plane.administrator.as_ref().into_iter().flat_map(administrator_lines));
    places::announce(&lines);
    notify::tell(Word::Ready);
    tokio::select! {
        result = signals.until_told_to_stop(&plane_stop, stop_delay, plane.ended()) => result?,
        result = simulation.ended() => return result,
    }
    world_stop.cancel();
    simulation.ended().await
}

/// The only time that the secret is shown.
fn administrator_lines(login: &Login) -> [String; 2] {
    [
        format!("  Admin    client id {}", login.client_id),
        format!("           secret {}, shown this once; the context has it", login.client_secret.text()),
    ]
}

fn greeting(world: &WorldArgs, plane: &ControlPlane, data_dir: &Path, context: &Remembered) -> Vec<String> {
    let (command, option) = (places::own_command(), context.option());
    let sites: Vec<String> = plane.sites.iter().map(|site| site.cluster.to_string()).collect();
    let racks: usize = plane.sites.iter().map(|site| site.racks.len()).sum();
    let racks = if racks == 1 { "1 rack".to_owned() } else { format!("{racks} racks") };
    // The same names stand in every site, so a command must say which is meant.
    let group = plane.sites.first().filter(|_| sites.len() > 1);
    let group = group.map_or_else(String::new, |first| format!(" -g {}", first.home.resource_group));
    let machines: usize = plane.sites.iter().map(|site| site.machines.len()).sum();
    let example = plane
        .sites
        .iter()
        .flat_map(|site| &site.machines)
        .find(|machine| machine.role == Role::Compute)
        .map(|machine| machine.name.to_string());
    let example = example.unwrap_or_else(|| "NAME".to_owned());
    let look = if world.without_tenants { "bmm list" } else { "vm list" };
    vec![
        format!("Rackwright is up: {}, {racks}, {} machines, at {}×", sites.join(", "), machines, world.speed),
        format!("  API      {}", plane.url()),
        format!("  Data     {}", data_dir.display()),
        context.line(),
        String::new(),
        "Try, in another terminal:".to_owned(),
        format!("  {command} status{option}"),
        format!("  {command} {look}{option}"),
        format!("  {command} bmm restart {example}{group}{option}"),
        String::new(),
        "Ctrl-C stops it; starting it again continues where it was.".to_owned(),
    ]
}
