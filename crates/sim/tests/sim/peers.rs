//! BMCs on sockets for programs that others wrote, and how those are found and run.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use sim::{BmcScheme, MachineSpec, Pace, Site, Vendor};
use store::{MemoryStore, SharedStore, SystemClock};
use tokio_util::sync::CancellationToken;

use crate::harness::spec;

pub const VENDORS: [Vendor; 4] = [Vendor::Dell, Vendor::Hpe, Vendor::Lenovo, Vendor::Supermicro];

/// A site whose BMCs are reached over sockets until it is dropped, and the one BMC that is meant.
pub struct Served {
    pub site: Site,
    pub machine: MachineSpec,
    pub address: SocketAddr,
    scheme: BmcScheme,
    /// Whom to trust, where it speaks https.
    pub ca_pem: Option<String>,
    shutdown: CancellationToken,
}

impl Served {
    /// The first compute machine of the vendor.
    pub async fn start(vendor: Vendor, pace: Pace) -> Served {
        Served::start_with(vendor, pace, BmcScheme::Http).await
    }

    pub async fn start_with(vendor: Vendor, pace: Pace, scheme: BmcScheme) -> Served {
        let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
        let site = Site::open(spec().with_pace(pace), store, Arc::new(SystemClock)).await.unwrap();
        let is_meant = |machine: &&MachineSpec| machine.vendor == vendor && machine.name.contains("compute");
        let machine = site.layout().machines().iter().find(is_meant).unwrap().clone();
        let endpoints = site.listen_with(IpAddr::V4(Ipv4Addr::LOCALHOST), scheme).await.unwrap();
        let address = endpoints.bmcs[&machine.name];
        let shutdown = CancellationToken::new();
        let (running, until) = (site.clone(), shutdown.clone());
        tokio::spawn(async move { running.run(until).await.unwrap() });
        Served { site, machine, address, scheme, ca_pem: endpoints.trust.map(|trust| trust.ca_pem), shutdown }
    }

    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme.as_str(), self.address)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

/// A program of those that `tools/peers` installs.
pub fn peer(program: &str) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/peers");
    let output = Command::new(script).stderr(Stdio::inherit()).output().expect("tools/peers can be run");
    assert!(output.status.success(), "tools/peers must succeed");
    Path::new(String::from_utf8(output.stdout).unwrap().trim()).join(program)
}

/// Runs a program to its end without blocking the BMC it talks to.
pub async fn run(mut command: Command) -> Output {
    command.stdin(Stdio::null());
    tokio::task::spawn_blocking(move || command.output().expect("the program can be run")).await.unwrap()
}

pub fn printed(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
