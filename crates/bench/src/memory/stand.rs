//! A control plane under measurement, and the simulated sites that it keeps, as two processes.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::door::Door;
use crate::process::Process;

/// Longer than the first looks at the largest fleet take on two cores.
const PATIENCE: Duration = Duration::from_secs(300);

const ASK_EVERY: Duration = Duration::from_secs(1);

/// How the simulated sites are made.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub clusters: u64,
    pub racks: u64,
    pub machines_per_rack: u64,
    pub speed: &'static str,
    pub bmcs: Bmcs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bmcs {
    Http,
    Https,
}

impl Shape {
    pub fn machines(&self) -> u64 {
        self.clusters * self.racks * self.machines_per_rack
    }
}

/// Both processes; they end with this.
pub struct Stand {
    pub plane: Process,
    pub door: Door,
    _world: Process,
    _directory: tempfile::TempDir,
}

impl Stand {
    /// Starts both and waits until the control plane says that it is there. `prepare` is given its data directory before.
    pub fn start(shape: Shape, prepare: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<Stand> {
        let directory = tempfile::tempdir()?;
        let (world_dir, plane_dir) = (directory.path().join("sim"), directory.path().join("serve"));
        let world = Process::start(&strs(&world_arguments(shape, &world_dir)), "A control plane for them")?;
        prepare(&plane_dir)?;
        let mut arguments: Vec<String> = ["serve", "--listen", "127.0.0.1:0", "--log-level", "warn"].map(str::to_owned).into();
        arguments.extend(["--data-dir".to_owned(), text(&plane_dir)]);
        for number in 1..=shape.clusters {
            arguments.extend(["--config".to_owned(), text(&world_dir.join(format!("site{number}.toml")))]);
        }
        let plane = Process::start(&strs(&arguments), "Context")?;
        Ok(Stand { door: plane.door(0)?, plane, _world: world, _directory: directory })
    }

    /// Waits until as many calls of a kind to BMCs have been answered well.
    pub fn until_called(&self, call: &str, times: u64) -> io::Result<()> {
        let began = Instant::now();
        loop {
            let answered = self.calls(call)?;
            if answered >= times {
                return Ok(());
            }
            if began.elapsed() > PATIENCE {
                return Err(io::Error::other(format!("{answered} of {times} calls `{call}` after {PATIENCE:?}")));
            }
            std::thread::sleep(ASK_EVERY);
        }
    }

    fn calls(&self, call: &str) -> io::Result<u64> {
        let line = format!("rackwright_device_calls_total{{device=\"bmc\",call=\"{call}\",result=\"ok\"}} ");
        let shown = runtime()?.block_on(async { Client::connect(&self.door).await?.get("/metrics").await })?.1;
        let shown = String::from_utf8_lossy(&shown);
        Ok(shown.lines().find_map(|shown| shown.strip_prefix(&line)?.parse().ok()).unwrap_or(0))
    }
}

/// For clients that are few: they must not take the cores from what is measured.
pub fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

fn world_arguments(shape: Shape, directory: &Path) -> Vec<String> {
    let mut arguments: Vec<String> = ["sim", "serve", "--speed", shape.speed].map(str::to_owned).into();
    let counts = [("--clusters", shape.clusters), ("--racks", shape.racks), ("--machines-per-rack", shape.machines_per_rack)];
    arguments.extend(counts.iter().flat_map(|(flag, count)| [(*flag).to_owned(), count.to_string()]));
    arguments.extend(["--data-dir".to_owned(), text(directory)]);
    if shape.bmcs == Bmcs::Https {
        arguments.push("--bmc-tls".to_owned());
    }
    arguments
}

fn strs(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
