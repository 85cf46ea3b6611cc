//! DMTF's protocol validator against every vendor's BMC: it fails exactly where `docs/protocol-validator.md` says, and why.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use sim::{BmcScheme, Pace, Vendor};

use crate::peers::{Served, VENDORS, peer, printed, run};

/// The assertions in the first column of the table of failures, each with a reason beside it.
fn documented() -> BTreeSet<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol-validator.md");
    let text = std::fs::read_to_string(page).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| {
        let (assertion, reason) = row.split_once("` |").unwrap_or_else(|| panic!("a row without a reason: {row}"));
        assert!(reason.trim_matches([' ', '|']).len() > 20, "{assertion} has no reason");
        assertion.to_owned()
    })
    .collect()
}

/// The assertions that failed, with the validator's own words.
async fn failures(vendor: Vendor) -> BTreeSet<(String, String)> {
    let served = Served::start_with(vendor, Pace::REAL, BmcScheme::Https).await;
    let reports = tempfile::tempdir().unwrap();
    let ca = reports.path().join("ca.pem");
    std::fs::write(&ca, served.ca_pem.as_ref().unwrap()).unwrap();
    let mut command = Command::new(peer("venv/bin/rf_protocol_validator"));
    command.args(["--user", &served.machine.bmc_user, "--password", &served.machine.bmc_password, "--rhost", &served.url()]);
    // Some of its requests mind only the variable.
    command.arg("--avoid-http-redirect").arg("--ca-bundle").arg(&ca).env("REQUESTS_CA_BUNDLE", &ca);
    command.args(["--report-type", "tsv", "--report-dir"]).arg(reports.path()).current_dir(reports.path());
    let output = run(command).await;
    let files = std::fs::read_dir(reports.path()).unwrap().map(|file| file.unwrap().path());
    let report = files.into_iter().find(|file| file.extension().is_some_and(|end| end == "tsv"));
    let report = report.unwrap_or_else(|| panic!("no report of {vendor:?}\n{}", printed(&output)));
    let text = std::fs::read_to_string(report).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    let with = |result: &'static str| rows.iter().filter(move |row| row.get(4) == Some(&result));
    assert!(with("PASS").count() > 300, "{vendor:?}\n{}", printed(&output));
    with("FAIL").map(|row| (row[0].to_owned(), row[5].to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_protocol_validator_fails_only_where_a_reason_is_given() {
    let documented = documented();
    let [first, second, third, fourth] = VENDORS.map(failures);
    let all = tokio::join!(first, second, third, fourth);
    for (vendor, failures) in VENDORS.into_iter().zip([all.0, all.1, all.2, all.3]) {
        let failed: BTreeSet<String> = failures.iter().map(|(assertion, _)| assertion.clone()).collect();
        assert_eq!(failed, documented, "{vendor:?} {failures:#?}");
    }
}
