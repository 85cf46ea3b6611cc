//! Azure's own SDK, unchanged, against a running `rackwright up`: `azure_sdk.py` says what it does and what must come of it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The subscription and the resource group of the site that `up` simulates.
const SUBSCRIPTION: &str = "00000000-0000-4000-8000-000000000001";
const GROUP: &str = "site1";

/// A server that runs until it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a simulated site; returns it with the address of its API.
fn start(home: &Path) -> (Running, String) {
    let child = Command::new(env!("CARGO_BIN_EXE_rackwright"))
        .args(["up", "--listen", "127.0.0.1:0", "--speed", "600", "--racks", "4", "--machines-per-rack", "3"])
        .env("RACKWRIGHT_HOME", home)
        .env_remove("RUST_LOG")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut running = Running(child);
    let mut lines = BufReader::new(running.0.stdout.take().expect("stdout is piped")).lines().map_while(Result::ok);
    let mut address = None;
    for line in lines.by_ref() {
        if let Some(found) = line.trim().strip_prefix("API") {
            address = Some(found.trim().to_owned());
        }
        if line.starts_with("Ctrl-C stops it") {
            // Whatever is said later must find a reader.
            std::thread::spawn(move || lines.for_each(drop));
            return (running, address.expect("the greeting names the API"));
        }
    }
    panic!("`up` ended early");
}

/// The Python that has the SDK; the script installs it if it is not there.
fn python() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/peers");
    let output = Command::new(script).stderr(Stdio::inherit()).output().expect("tools/peers runs");
    assert!(output.status.success(), "tools/peers failed");
    PathBuf::from(String::from_utf8(output.stdout).expect("a path").trim()).join("venv/bin/python")
}

#[test]
fn azures_sdk_reads_writes_is_refused_and_restarts_a_machine() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (_up, address) = start(directory.path());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/azure_sdk.py");
    let output = Command::new(python()).arg(script).args([&address, SUBSCRIPTION, GROUP]).output().expect("Python runs");
    let (told, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}\n{wrong}");
    assert!(told.contains("restarted: ['Cordon', 'Power Off', 'Power On', 'Rejoin', 'Uncordon']"), "{told}");
}
