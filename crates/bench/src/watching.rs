//! What it costs to watch a thousand idle BMCs for a minute, over sockets.

use std::io;
use std::time::Duration;

use crate::figure::{Bench, Figure, Report, Size, Unit};
use crate::process::Process;

pub const BENCH: Bench = Bench { name: "watching", what: "an idle minute of 1,000 BMCs", measure };

/// Logins, first looks and the first listing are over by then, and the looks are spread as they will be for ever.
const WARM_UP: Duration = Duration::from_secs(75);

const MEASURED: Duration = Duration::from_secs(60);

fn measure(size: Size) -> io::Result<Report> {
    let mut figures = one_minute("http", &[], size)?;
    figures.extend(one_minute("https", &["--bmc-tls"], size)?);
    Ok(Report { figures, ..Report::default() })
}

fn one_minute(scheme: &str, flags: &[&str], size: Size) -> io::Result<Vec<Figure>> {
    let directory = tempfile::tempdir()?;
    let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
    let (world_dir, plane_dir, site_file) = (path("sim"), path("serve"), path("sim/site1.toml"));
    let machines_per_rack = size.pick("250", "3");
    let mut world = vec!["sim", "serve", "--machines-per-rack", machines_per_rack, "--speed", "1", "--data-dir", &world_dir];
    world.extend(flags);
    let world = Process::start(&world, "A control plane for them")?;
    let serve = ["serve", "--config", &site_file, "--data-dir", &plane_dir, "--listen", "127.0.0.1:0"];
    let plane = Process::start(&serve, "Context")?;
    std::thread::sleep(size.pick(WARM_UP, Duration::ZERO));
    let before = (plane.cpu_time()?, world.cpu_time()?);
    std::thread::sleep(size.pick(MEASURED, Duration::ZERO));
    let spent = |process: &Process, before: Duration| Ok::<_, io::Error>((process.cpu_time()? - before).as_secs_f64());
    Ok(vec![
        Figure::new(
            format!("an idle minute of 1,000 BMCs over {scheme}: processor time of the control plane"),
            spent(&plane, before.0)?,
            Unit::Seconds,
            "one GET per BMC and minute, on a new connection; open event streams of the makes that offer them; the node watch of 1,000 kubelets",
        )
        .under(10.0),
        Figure::new(
            format!("the simulator beside it, {scheme}"),
            spent(&world, before.1)?,
            Unit::Seconds,
            "the leases of 1,000 kubelets, and the answers",
        ),
        Figure::new(
            format!("memory of the control plane meanwhile, {scheme}"),
            plane.memory()? as f64 / 1e6,
            Unit::Megabytes,
            "see the benchmark `memory`",
        ),
    ])
}
