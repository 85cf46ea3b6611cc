//! `rackwright sim serve`: the simulated world as a process of its own.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tokio_util::sync::CancellationToken;

use crate::cli::trouble::Trouble;
use crate::installing;
use crate::logging::LogArgs;
use crate::places;
use crate::remembering;
use crate::simulation::{Simulation, WorldArgs};

#[derive(Args, Clone, Debug)]
pub struct SimServeArgs {
    #[command(flatten)]
    pub world: WorldArgs,
    /// What a simulated PXE server leads machines to: the install face of the control plane, as its `serve` names it. Without it
    /// nobody answers them
    #[arg(long, value_name = "URL")]
    pub pxe_server: Option<String>,
    /// Where the simulated world keeps itself, and where the site files are written
    #[arg(long)]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub log: LogArgs,
}

pub async fn run(args: SimServeArgs) -> Result<(), Trouble> {
    let pxe_server = args.pxe_server.as_deref().map(|url| installing::checked("--pxe-server", url)).transpose()?;
    let signals = places::Signals::listen()?;
    let shutdown = CancellationToken::new();
    let data_dir = places::data_dir(args.data_dir, "sim")?;
    let mut simulation = Simulation::start(&args.world, &data_dir, &shutdown).await?;
    if let Some(url) = pxe_server {
        simulation.set_pxe_server(&url);
    }
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

#[cfg(test)]
mod tests {
    use api::{Fetch, Rest};
    use clap::Parser;

    use super::*;
    use crate::cli::trouble::Exit;
    use crate::images::WebFetch;
    use crate::runtime_file::RuntimeFile;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: SimServeArgs,
    }

    fn args(words: &[&str]) -> SimServeArgs {
        Line::parse_from([&["sim", "--racks", "1", "--machines-per-rack", "4", "--without-tenants"], words].concat()).args
    }

    #[tokio::test]
    async fn a_pxe_server_that_nobody_can_call_is_refused_before_anything_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = dir.path().join("sim");
        let words = ["--data-dir", data_dir.to_str().unwrap(), "--pxe-server", "10.0.0.1:7226"];
        assert_eq!(run(args(&words)).await.unwrap_err().exit, Exit::Usage);
        assert!(!data_dir.exists());
    }

    #[tokio::test]
    async fn what_the_runtimes_name_is_served_by_the_site_at_the_same_place_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let mut urls = Vec::new();
        for _ in 0..2 {
            let shutdown = CancellationToken::new();
            let mut simulation = Simulation::start(&args(&[]).world, dir.path(), &shutdown).await.unwrap();
            let file: RuntimeFile = toml::from_str(&std::fs::read_to_string(&simulation.runtime_files[0]).unwrap()).unwrap();
            let coming = WebFetch::new().unwrap().open(&file.os_image.url, &Rest::default()).await.unwrap();
            assert_eq!(coming.whole, Some(file.os_image.bytes));
            urls.push(file.os_image.url);
            shutdown.cancel();
            simulation.ended().await.unwrap();
        }
        assert_eq!(urls[0], urls[1]);
    }
}
