//! DMTF's service validator against every vendor's BMC: each document follows its schema.

use std::path::Path;
use std::process::Command;

use sim::{Pace, Vendor};

use crate::peers::{Served, VENDORS, peer, printed, run};

/// The validator reads the schemas from one folder.
fn copy_schemas(folder: &Path) {
    // Where both publish a file, DMTF's is taken: its ServiceRoot is the newer one.
    let files = nv_redfish_schema::glob_swordfish_xml().into_iter().chain(nv_redfish_schema::glob_redfish_xml());
    for file in files {
        std::fs::copy(&file, folder.join(Path::new(&file).file_name().unwrap())).unwrap();
    }
}

/// What the validator says at its end: how many checks passed and how many failed.
///
/// It prints a table of one row under the heads PASS, WARN, FAIL and NOT TESTED.
fn totals(text: &str) -> Option<(u64, u64)> {
    let mut lines = text.lines().skip_while(|line| !(line.starts_with('|') && line.contains("PASS") && line.contains("FAIL")));
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<String>>();
    let heads = cells(lines.next()?);
    let numbers = cells(lines.nth(1)?);
    let under = |head: &str| numbers.get(heads.iter().position(|cell| cell == head)?)?.parse().ok();
    Some((under("PASS")?, under("FAIL")?))
}

async fn validate(vendor: Vendor, schemas: &Path) {
    let served = Served::start(vendor, Pace::REAL).await;
    let logs = tempfile::tempdir().unwrap();
    let mut command = Command::new(peer("venv/bin/rf_service_validator"));
    command.args(["--authtype", "Session", "--skipschema", "--user", &served.machine.bmc_user, "--password", &served.machine.bmc_password]);
    // Modules of memory differ in nothing but their numbers, and the report costs more than the checks.
    command.args(["--collectionlimit", "Memory", "2", "LogEntry", "20"]);
    command.args(["--rhost", &served.url()]).arg("--schema_directory").arg(schemas).arg("--logdir").arg(logs.path());
    command.current_dir(logs.path());
    let output = run(command).await;
    let text = printed(&output);
    let (passed, failed) = totals(&text).unwrap_or_else(|| panic!("{vendor:?}: no totals in\n{text}"));
    assert!(output.status.success() && passed > 1_000 && failed == 0, "{vendor:?}\n{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_document_of_every_vendor_follows_its_schema() {
    let schemas = tempfile::tempdir().unwrap();
    copy_schemas(schemas.path());
    let [first, second, third, fourth] = VENDORS.map(|vendor| validate(vendor, schemas.path()));
    tokio::join!(first, second, third, fourth);
}
