//! What it costs to watch a thousand idle BMCs for a minute, over sockets.

use std::io;
use std::time::Duration;

use crate::figure::{Bench, Figure};
use crate::process::Process;

pub const BENCH: Bench = Bench { name: "watching", what: "an idle minute of 1,000 BMCs", measure };

const RACKS: &str = "4";
const MACHINES_PER_RACK: &str = "250";

/// Logins, first looks and the first listing are over by then, and the looks are spread as they will be for ever.
const WARM_UP: Duration = Duration::from_secs(75);

const MEASURED: Duration = Duration::from_secs(60);

fn measure() -> io::Result<Vec<Figure>> {
    let mut figures = one_minute("http", &[])?;
    figures.extend(one_minute("https", &["--bmc-tls"])?);
    Ok(figures)
}

fn one_minute(scheme: &str, flags: &[&str]) -> io::Result<Vec<Figure>> {
    let directory = tempfile::tempdir()?;
    let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
    let (world_dir, plane_dir, site_file) = (path("sim"), path("serve"), path("sim/site1.toml"));
    let mut world =
        vec!["sim", "serve", "--racks", RACKS, "--machines-per-rack", MACHINES_PER_RACK, "--speed", "1", "--data-dir", &world_dir];
    world.extend(flags);
    let world = Process::start(&world, "A control plane for them")?;
    let serve = ["serve", "--config", &site_file, "--data-dir", &plane_dir, "--listen", "127.0.0.1:0"];
    let plane = Process::start(&serve, "Context")?;
    std::thread::sleep(WARM_UP);
    let before = (plane.cpu_time()?, world.cpu_time()?);
    std::thread::sleep(MEASURED);
    let seconds =
        |process: &Process, before: Duration| Ok::<_, io::Error>(format!("{:.2} s", (process.cpu_time()? - before).as_secs_f64()));
    let figure = |what: &str, value, target, limited_by| Figure { what: format!("{what}, {scheme}"), value, target, limited_by };
    Ok(vec![
        figure(
            "idle minute of 1,000 BMCs, CPU of the control plane",
            seconds(&plane, before.0)?,
            "under 10 s",
            "one connection and one GET per BMC and minute; the node watch of 1,000 kubelets",
        ),
        figure("  CPU of the simulator beside it", seconds(&world, before.1)?, "", "1,000 kubelets' leases, and the answers"),
        figure("  memory of the control plane", format!("{} MB", plane.memory()? / 1_000_000), "", "machines, watch cache, sockets"),
    ])
}
