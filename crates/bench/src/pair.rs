//! Simulated sites and their control plane as processes of their own, as a user runs them, with the world's clock ten thousand times
//! faster and the control plane's as it is for real hardware.

use std::io;
use std::path::Path;

use sim::{Layout, Role};
use tempfile::TempDir;

use crate::acting::{import_runtime, machine_path};
use crate::client::Client;
use crate::cores::Apart;
use crate::door::Door;
use crate::process::Process;
use crate::tally::Tally;
use crate::worlds::{Shape, Worlds};

/// The fastest there is: a shutdown takes 6 ms, a boot 24 ms, and a change of power two at most.
pub const FASTEST: f64 = 10_000.0;

/// Who asks, all clients together. Each may send 2,000 requests at once and 200 a second, which so many do not reach.
const CALLERS_MAX: usize = 16;

pub struct Pair {
    pub worlds: Worlds,
    pub plane: Process,
    door: Door,
    /// Paths of the machines that may be switched off all at once: those outside the control planes.
    pub machines: Vec<String>,
    clusters: u32,
    directory: TempDir,
}

impl Pair {
    pub fn start(shape: Shape) -> io::Result<Pair> {
        Pair::start_with(shape, &[], None)
    }

    /// With nothing on the machines, and the control plane on a core of its own where there is one to spare. Tenants' budgets would let
    /// only some of the machines be emptied at once.
    pub fn start_without_tenants(shape: Shape, apart: Option<&Apart>) -> io::Result<Pair> {
        Pair::start_with(shape, &["--without-tenants"], apart)
    }

    fn start_with(shape: Shape, options: &[&str], apart: Option<&Apart>) -> io::Result<Pair> {
        let directory = tempfile::tempdir()?;
        let worlds = Worlds::start(shape, &FASTEST.to_string(), options)?;
        let plane_dir = directory.path().join("serve").to_string_lossy().into_owned();
        let mut plane = vec!["serve".to_owned(), "--data-dir".to_owned(), plane_dir];
        let mut machines = Vec::new();
        for (cluster, file) in (1..=shape.clusters).zip(&worlds.site_files) {
            let name = format!("site{cluster}");
            live_in_real_time(file)?;
            plane.extend(["--config".to_owned(), file.to_string_lossy().into_owned()]);
            let layout = Layout::new(&name, shape.racks, shape.machines_per_rack, u64::from(cluster)).map_err(io::Error::other)?;
            machines.extend(workers(&layout));
        }
        plane.extend(["--listen", "127.0.0.1:0"].map(str::to_owned));
        let plane: Vec<&str> = plane.iter().map(String::as_str).collect();
        let plane = match apart {
            Some(apart) => Process::start_on(&apart.plane, &plane, "Context")?,
            None => Process::start(&plane, "Context")?,
        };
        Ok(Pair { door: plane.door(0)?, worlds, plane, machines, clusters: shape.clusters, directory })
    }

    /// Stops control plane and devices where they are, until they go on.
    pub fn stop(&self) -> io::Result<()> {
        self.plane.stop()?;
        self.worlds.stop()
    }

    pub fn go_on(&self) -> io::Result<()> {
        self.worlds.go_on()?;
        self.plane.go_on()
    }

    pub async fn clients(&self, count: usize) -> io::Result<Vec<Client>> {
        connect(&self.callers(count)?, count).await
    }

    /// The way in for those who ask, however many clients they have.
    pub fn callers(&self, clients: usize) -> io::Result<Door> {
        self.plane.door(clients.min(CALLERS_MAX))
    }

    /// Makes the version that all sites run known to them, with the simulator's images.
    pub async fn import_runtimes(&self) -> io::Result<()> {
        let images = self.worlds.images()?;
        let mut client = Client::connect(&self.door).await?;
        for cluster in 1..=self.clusters {
            import_runtime(&mut client, &format!("site{cluster}"), &images).await?;
        }
        Ok(())
    }

    /// What the control plane has done so far, as its metrics tell.
    pub async fn tally(&self) -> io::Result<Tally> {
        let (_, metrics) = Client::connect(&self.door).await?.get("/metrics").await?;
        Ok(Tally::read(&String::from_utf8_lossy(&metrics)))
    }

    /// How many commits the store has had.
    pub async fn commits(&self) -> io::Result<f64> {
        self.tally().await?.commits().ok_or_else(|| io::Error::other("the metrics tell no revision of the store"))
    }

    /// Where the control plane keeps its store.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }
}

/// So many clients, each on a connection of its own.
pub async fn connect(door: &Door, count: usize) -> io::Result<Vec<Client>> {
    let mut clients = Vec::new();
    for _ in 0..count {
        clients.push(Client::connect(door).await?);
    }
    Ok(clients)
}

/// Machines outside the control plane.
pub fn workers(layout: &Layout) -> impl Iterator<Item = String> {
    let others = layout.machines().iter().filter(|machine| !matches!(machine.role, Role::ControlPlane | Role::SpareControlPlane));
    others.map(|machine| machine_path(&layout.site, &machine.name))
}

/// The site's world is fast, but its control plane keeps the limits and the looks that it has for real hardware.
fn live_in_real_time(site_file: &Path) -> io::Result<()> {
    let text = std::fs::read_to_string(site_file)?;
    let lines = text.lines().map(|line| if line.starts_with("speed = ") { "speed = 1.0" } else { line });
    std::fs::write(site_file, lines.collect::<Vec<_>>().join("\n"))
}
