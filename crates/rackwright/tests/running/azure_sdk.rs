//! Azure's own SDK, unchanged, against a running `rackwright up`: `azure_sdk.py` says what it does and what must come of it.

use std::process::Command;

use crate::server::Server;
use crate::tools::{peer, repository};

/// The subscription and the resource group of the site that `up` simulates.
const SUBSCRIPTION: &str = "00000000-0000-4000-8000-000000000001";
const GROUP: &str = "site1";

#[test]
fn azures_sdk_reads_writes_is_refused_and_restarts_a_machine() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let up = Server::up(directory.path(), &[]);
    let script = repository("crates/rackwright/tests/running/azure_sdk.py");
    let address = format!("http://{}", up.address);
    let output = Command::new(peer("venv/bin/python")).arg(script).args([&address, SUBSCRIPTION, GROUP]).output().expect("Python runs");
    let (told, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}\n{wrong}");
    let evacuates = "'Cordon Tenant Nodes', 'Drain', 'Stop Virtual Machines'";
    let returns = "'Start Virtual Machines', 'Uncordon Tenant Nodes'";
    let steps = format!("restarted: ['Cordon', {evacuates}, 'Power Off', 'Power On', 'Rejoin', 'Uncordon', {returns}]");
    assert!(told.contains(&steps), "{told}");
}
