//! Simulated sites, all alike, in as many processes as their sockets need.

use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::process::Process;

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub clusters: u32,
    pub racks: u32,
    pub machines_per_rack: u32,
}

/// Clusters of about a hundred machines that one simulator carries: each BMC has a socket that listens, and a process may have only so many.
const CLUSTERS_PER_WORLD: u32 = 40;

pub struct Worlds {
    /// The description of each site, as its simulator wrote it.
    pub site_files: Vec<PathBuf>,
    first: PathBuf,
    processes: Vec<Process>,
    // Dropped last: the processes write to it.
    directory: TempDir,
}

/// Where simulators keep their worlds: in memory, where there is a place for it. Real devices do not wait for the disk of who controls them.
const MEMORY: &str = "/dev/shm";

impl Worlds {
    pub fn start(shape: Shape, speed: &str, options: &[&str]) -> io::Result<Worlds> {
        let directory = if Path::new(MEMORY).is_dir() { TempDir::new_in(MEMORY)? } else { TempDir::new()? };
        let first = directory.path().join("sim1");
        let in_first = shape.clusters.min(CLUSTERS_PER_WORLD);
        let data = first.to_string_lossy().into_owned();
        let [count, racks, machines] = [in_first, shape.racks, shape.machines_per_rack].map(|number| number.to_string());
        let sizes = ["--clusters", &count, "--racks", &racks, "--machines-per-rack", &machines];
        let arguments = [&["sim", "serve", "--speed", speed, "--data-dir", &data], &sizes[..], options].concat();
        let processes = vec![Process::start(&arguments, READY)?];
        let site_files = (1..=in_first).map(|number| first.join(format!("site{number}.toml"))).collect();
        let mut worlds = Worlds { site_files, first, processes, directory };
        let mut next = in_first + 1;
        while next <= shape.clusters {
            let last = shape.clusters.min(next + CLUSTERS_PER_WORLD - 1);
            worlds.add(next..=last, speed)?;
            next = last + 1;
        }
        Ok(worlds)
    }

    /// One more simulator, with more sites like the first. What a site that is described has on its machines, its description says.
    fn add(&mut self, numbers: RangeInclusive<u32>, speed: &str) -> io::Result<()> {
        let directory = self.directory.path();
        let data = directory.join(format!("sim{}", numbers.start()));
        let described = describe_alike(&self.site_files[0], directory, numbers.clone())?;
        let data_dir = data.to_string_lossy().into_owned();
        let mut arguments = vec!["sim", "serve", "--speed", speed, "--data-dir", &data_dir];
        arguments.extend(described.iter().flat_map(|file| ["--config", file]));
        self.processes.push(Process::start(&arguments, READY)?);
        self.site_files.extend(numbers.map(|number| data.join(format!("site{number}.toml"))));
        Ok(())
    }

    /// Stops all of them where they are, until they go on.
    pub fn stop(&self) -> io::Result<()> {
        self.processes.iter().try_for_each(Process::stop)
    }

    pub fn go_on(&self) -> io::Result<()> {
        self.processes.iter().try_for_each(Process::go_on)
    }

    /// Of all of them together.
    pub fn cpu_time(&self) -> io::Result<Duration> {
        self.processes.iter().map(Process::cpu_time).sum()
    }

    /// Where the first simulator serves its images, as the files of its runtimes say. Every site is given this address.
    pub fn images(&self) -> io::Result<String> {
        let file = std::fs::read_dir(self.first.join("runtimes"))?.next();
        let text = std::fs::read_to_string(file.ok_or_else(|| io::Error::other("the simulator comes with no runtime"))??.path())?;
        let url = text.split_once("http://").and_then(|(_, rest)| rest.split('/').next());
        url.map(|authority| format!("http://{authority}")).ok_or_else(|| io::Error::other("a runtime names no image"))
    }
}

/// What a simulator says when it is there.
const READY: &str = "A control plane for them";

/// Descriptions of more sites, each like the first but for its name.
fn describe_alike(first: &Path, directory: &Path, numbers: RangeInclusive<u32>) -> io::Result<Vec<String>> {
    let text = std::fs::read_to_string(first)?;
    let written = numbers.map(|number| {
        let path = directory.join(format!("described-site{number}.toml"));
        std::fs::write(&path, text.replace("\"site1\"", &format!("\"site{number}\"")))?;
        Ok(path.to_string_lossy().into_owned())
    });
    written.collect()
}
