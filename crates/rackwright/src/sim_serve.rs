//! `rackwright sim serve`: the simulated world as a process of its own.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tokio_util::sync::CancellationToken;

use crate::cli::trouble::Trouble;
use crate::logging::LogArgs;
use crate::places;
use crate::remembering;
use crate::simulation::{Simulation, WorldArgs};

#[derive(Args, Clone, Debug)]
pub struct SimServeArgs {
    #[command(flatten)]
    pub world: WorldArgs,
    /// Where the simulated world keeps itself, and where the site files are written
    #[arg(long)]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub log: LogArgs,
}

pub async fn run(args: SimServeArgs) -> Result<(), Trouble> {
    let signals = places::Signals::listen()?;
    let shutdown = CancellationToken::new();
    let data_dir = places::data_dir(args.data_dir, "sim")?;
    let mut simulation = Simulation::start(&args.world, &data_dir, &shutdown).await?;
    let other = remembering::remember_simulator(&simulation.simulator, &data_dir).await?;
    let mut lines = vec![format!("{} simulated machines are up, at {}×", simulation.machines, args.world.speed)];
    lines.extend(other.iter().map(|file| remembering::simulator_line(file)));
    lines.extend(simulation.tenant_lines());
    let sites: Vec<String> = simulation.site_files.iter().map(|path| format!("--config {}", path.display())).collect();
    lines.push(format!("A control plane for them: {} serve {}", places::own_command(), sites.join(" ")));
    let runtimes = simulation.runtime_files.first().and_then(|file| file.parent());
    lines.extend(runtimes.map(|dir| {
        format!("What they can be installed with: {} runtime import FILE, with a file of {}", places::own_command(), dir.display())
    }));
    places::announce(&lines);
    signals.until_told_to_stop(&shutdown, Duration::ZERO, simulation.ended()).await
}
