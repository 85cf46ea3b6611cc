//! A simulated site and its control plane as two processes, as a user runs them, with the world's clock ten thousand times
//! faster and the control plane's as it is for real hardware.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use sim::{Layout, Role};
use tempfile::TempDir;

use crate::acting::{import_runtime, machine_path};
use crate::client::Client;
use crate::process::Process;

/// The fastest there is: a shutdown takes 6 ms, a boot 24 ms, and a change of power two at most.
pub const FASTEST: f64 = 10_000.0;

/// What is simulated.
#[derive(Clone, Copy)]
pub struct Shape {
    pub clusters: u32,
    pub racks: u32,
    pub machines_per_rack: u32,
}

pub struct Pair {
    pub world: Process,
    pub plane: Process,
    pub address: SocketAddr,
    /// Paths of the machines that may be switched off all at once: those outside the control planes.
    pub machines: Vec<String>,
    clusters: u32,
    directory: TempDir,
}

impl Pair {
    pub fn start(shape: Shape) -> io::Result<Pair> {
        Pair::start_with(shape, &[])
    }

    /// With nothing on the machines. Tenants' budgets would let only some of them be emptied at once.
    pub fn start_without_tenants(shape: Shape) -> io::Result<Pair> {
        Pair::start_with(shape, &["--without-tenants"])
    }

    fn start_with(shape: Shape, options: &[&str]) -> io::Result<Pair> {
        let directory = tempfile::tempdir()?;
        let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        let (world_dir, plane_dir) = (path("sim"), path("serve"));
        let [clusters, racks, machines_per_rack] = [shape.clusters, shape.racks, shape.machines_per_rack].map(|number| number.to_string());
        let speed = FASTEST.to_string();
        let mut world = vec!["sim", "serve", "--speed", &speed, "--data-dir", &world_dir];
        world.extend(["--clusters", &clusters, "--racks", &racks, "--machines-per-rack", &machines_per_rack]);
        world.extend(options);
        let world = Process::start(&world, "A control plane for them")?;
        let mut plane = vec!["serve".to_owned(), "--data-dir".to_owned(), plane_dir];
        let mut machines = Vec::new();
        for cluster in 1..=shape.clusters {
            let name = format!("site{cluster}");
            let file = Path::new(&world_dir).join(format!("{name}.toml"));
            live_in_real_time(&file)?;
            plane.extend(["--config".to_owned(), file.to_string_lossy().into_owned()]);
            let layout = Layout::new(&name, shape.racks, shape.machines_per_rack, u64::from(cluster)).map_err(io::Error::other)?;
            machines.extend(workers(&layout));
        }
        let address = free_address()?;
        plane.extend(["--listen".to_owned(), address.to_string()]);
        let plane: Vec<&str> = plane.iter().map(String::as_str).collect();
        let plane = Process::start(&plane, "Context")?;
        Ok(Pair { world, plane, address, machines, clusters: shape.clusters, directory })
    }

    pub async fn clients(&self, count: usize) -> io::Result<Vec<Client>> {
        let mut clients = Vec::new();
        for _ in 0..count {
            clients.push(Client::connect(self.address).await?);
        }
        Ok(clients)
    }

    /// Makes the version that all sites run known to them, with the simulator's images.
    pub async fn import_runtimes(&self) -> io::Result<()> {
        let images = self.images()?;
        let mut client = Client::connect(self.address).await?;
        for cluster in 1..=self.clusters {
            import_runtime(&mut client, &format!("site{cluster}"), &images).await?;
        }
        Ok(())
    }

    /// Where the simulator serves its images, as the files of its runtimes say.
    fn images(&self) -> io::Result<String> {
        let file = std::fs::read_dir(self.directory.path().join("sim/runtimes"))?.next();
        let text = std::fs::read_to_string(file.ok_or_else(|| io::Error::other("the simulator comes with no runtime"))??.path())?;
        let url = text.split_once("http://").and_then(|(_, rest)| rest.split('/').next());
        url.map(|authority| format!("http://{authority}")).ok_or_else(|| io::Error::other("a runtime names no image"))
    }

    /// How many commits the store has had, as the control plane's metrics tell.
    pub async fn commits(&self) -> io::Result<f64> {
        let (_, metrics) = Client::connect(self.address).await?.get("/metrics").await?;
        let metrics = String::from_utf8_lossy(&metrics).into_owned();
        let revision = metrics.lines().find_map(|line| line.strip_prefix("rackwright_store_revision ")?.trim().parse().ok());
        revision.ok_or_else(|| io::Error::other("the metrics tell no revision of the store"))
    }

    /// Where both keep their stores.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }
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

/// A port that was free a moment ago.
fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0")?.local_addr()
}
