//! A machine as agents see it: `/sys` as a folder, and files for disks, full of old data.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent::clock::{Clock, MachineClock};
use agent::configuration::Configuration;
use agent::home::{Home, Pauses};
use agent::http::{Client, Timeouts};
use agent::life::{Ending, Machine, Settling, draw_nonce, install};
use agent::log::Log;
use serde_json::json;

use crate::control_plane::{ControlPlane, TOKEN};

/// Disks are not waited for, since none comes later.
const SETTLED: Settling = Settling { quiet: Duration::ZERO, timeout: Duration::ZERO, looked_every: Duration::ZERO };
const IMPATIENT: Pauses = Pauses { first: Duration::from_millis(1), longest: Duration::from_millis(3) };
const TIMEOUTS: Timeouts = Timeouts { connect: Duration::from_secs(5), answer: Duration::from_secs(5), stall: Duration::from_secs(5) };

pub struct TestMachine {
    root: tempfile::TempDir,
    pub log: Arc<Log>,
}

impl TestMachine {
    /// Disks by name, serial number and MiB.
    pub fn with(disks: &[(&str, &str, u64)]) -> TestMachine {
        let machine = TestMachine { root: tempfile::tempdir().unwrap(), log: Arc::new(Log::kept()) };
        fs::create_dir(machine.path("dev")).unwrap();
        for (number, (name, serial, mib)) in disks.iter().enumerate() {
            let folder = machine.path("sys/block").join(name);
            fs::create_dir_all(folder.join("device")).unwrap();
            fs::write(folder.join("size"), format!("{}\n", mib * 2048)).unwrap();
            fs::write(folder.join("serial"), serial).unwrap();
            let old = noise(number as u64 + 100, (mib << 20) as usize);
            fs::write(machine.disk(name), old).unwrap();
        }
        machine
    }

    pub fn path(&self, of: &str) -> PathBuf {
        self.root.path().join(of)
    }

    pub fn disk(&self, name: &str) -> PathBuf {
        self.path("dev").join(name)
    }

    pub fn content(&self, name: &str) -> Vec<u8> {
        fs::read(self.disk(name)).unwrap()
    }

    pub fn configuration(&self, control_plane: &ControlPlane, ca: Option<&str>) -> Configuration {
        let configuration = json!({"url": control_plane.url, "ca": ca, "cluster": "c1", "machine": "m1", "operation": "o1", "round": 1,
            "token": TOKEN});
        serde_json::from_value(configuration).unwrap()
    }

    /// Runs an agent on it.
    pub fn install(&self, control_plane: &ControlPlane) -> Ending {
        self.install_as(&self.configuration(control_plane, None), Clock::new(MachineClock::Foreign))
    }

    pub fn install_as(&self, configuration: &Configuration, clock: Clock) -> Ending {
        let client = Client::new(configuration.ca.as_deref(), Arc::new(clock), TIMEOUTS).unwrap();
        let mut home = Home::new(client, self.log.clone(), IMPATIENT, configuration);
        install(&mut Machine::observe(self.root.path(), SETTLED), &mut home, &draw_nonce().unwrap())
    }
}

/// Bytes that look like nothing and are always the same.
pub fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// An image of an operating system: a partition table of sgdisk's, some data, and gaps. sgdisk takes a second for it, so each is made once.
pub fn os_image(mib: u64) -> Vec<u8> {
    static MADE: Mutex<BTreeMap<u64, Vec<u8>>> = Mutex::new(BTreeMap::new());
    MADE.lock().unwrap().entry(mib).or_insert_with(|| make_os_image(mib)).clone()
}

fn make_os_image(mib: u64) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("os.raw");
    fs::File::create(&file).unwrap().set_len(mib << 20).unwrap();
    let ids = ["--disk-guid=6f1e8a8e-1d0f-4f59-9a0f-5d1c8f0a0001", "--partition-guid=1:6f1e8a8e-1d0f-4f59-9a0f-5d1c8f0a0002"];
    run("/sbin/sgdisk", &["--new=1:2048:+1M", "--change-name=1:root", ids[0], ids[1]], &file);
    let mut image = fs::read(&file).unwrap();
    let data = noise(1, 300_000);
    image[1 << 20..(1 << 20) + data.len()].copy_from_slice(&data);
    image
}

/// Runs a tool on a file, and gives back what it says.
pub fn run(tool: &str, words: &[&str], on: &Path) -> String {
    let out = Command::new(tool).args(words).arg(on).output().unwrap_or_else(|error| panic!("{tool} cannot be run: {error}"));
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{tool} {words:?}: {said}");
    said
}
