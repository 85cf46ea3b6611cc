//! How `az` logs in without `az-env`, and what it is told when it may not.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use expect_test::expect;

use crate::house::{House, TENANT, client};

#[test]
fn az_registers_the_cloud_and_logs_in() {
    let house = House::open();
    let (id, secret) = house.login();
    let profile = house.home.path().join("registered");
    let az = |line: &str| house.fresh_az(&profile, line);
    az(&format!("cloud register -n nexus --endpoint-resource-manager {}", house.address)).fine();
    az("cloud set -n nexus").fine();
    let wrong = az(&format!("login --service-principal -u {id} -p wrong --tenant {TENANT}"));
    expect![[r#"
        (exit code 1)
        ERROR: the client id, its secret or its assertion is not right; if they should be, the server's log tells more under the correlation id 8f3c1a2b-0000-4000-8000-000000000000
        Run the command below to authenticate interactively; additional arguments may be added as needed:
        az logout
        az login
    "#]].assert_eq(&wrong.normalised());
    az(&format!("login --service-principal -u {id} -p {secret} --tenant {TENANT}")).fine();
    expect![[r#"
        Rackwright	Enabled	True
    "#]]
    .assert_eq(&az("account list --query '[].[name, state, isDefault]' -o tsv").normalised());
    expect![[r#"
        Name    Location    Status
        ------  ----------  ---------
        site1   local       Succeeded
    "#]]
    .assert_eq(&az("group list -o table").normalised());
    // A cloud that is registered knows where principals are looked up, without which `az role` does nothing.
    expect![[r#"
        https://127.0.0.1:7225/
    "#]]
    .assert_eq(&az("cloud show --query endpoints.microsoftGraphResourceId -o tsv").normalised());
}

#[test]
fn az_logs_in_with_a_certificate_and_as_a_device() {
    let house = House::open();
    let profile = house.home.path().join("certified");
    let az = |line: &str| house.fresh_az(&profile, line);
    az(&format!("cloud register -n nexus --endpoint-resource-manager {}", house.address)).fine();
    az("cloud set -n nexus").fine();
    house.rackwright("sp create pipeline --no-secret").fine();
    let pem = certificate(house.home.path());
    house.rackwright(&format!("sp add-certificate pipeline --certificate {pem}")).fine();
    house.rackwright("role assign --role Reader --assignee pipeline --scope /").fine();
    let shown = house.rackwright("sp show pipeline --query clientId -o tsv");
    let client_id = shown.fine().trim();
    az(&format!("login --service-principal -u {client_id} --certificate {pem} --tenant {TENANT}")).fine();
    expect![[r#"
        Name    Location    Status
        ------  ----------  ---------
        site1   local       Succeeded
    "#]]
    .assert_eq(&az("group list -o table").normalised());
    az("logout").fine();
    log_in_a_device(&house, &profile);
    expect![[r#"
        administrator
        user
    "#]]
    .assert_eq(&az("account show --query '[user.name, user.type]' -o tsv").normalised());
    expect![[r#"
        Name    Location    Status
        ------  ----------  ---------
        site1   local       Succeeded
    "#]]
    .assert_eq(&az("group list -o table").normalised());
}

/// A key and its certificate in one file, as `az` wants them.
fn certificate(home: &std::path::Path) -> String {
    let file = home.join("pipeline.pem");
    let made = std::process::Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=pipeline", "-keyout", "-", "-out", "-"])
        .output()
        .expect("openssl runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    fs::write(&file, made.stdout).expect("the certificate can be written");
    file.to_string_lossy().into_owned()
}

/// Types the code that `az` shows where somebody is logged in already.
fn log_in_a_device(house: &House, profile: &std::path::Path) {
    let mut command = house.command(&client("venv/bin/az"));
    command.env("AZURE_CONFIG_DIR", profile).args(["login", "--use-device-code", "--tenant", TENANT, "-o", "none"]);
    let mut device = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("az starts");
    let lines = BufReader::new(device.stderr.take().expect("stderr is piped")).lines();
    let mut said = String::new();
    for line in lines.map_while(Result::ok) {
        said += &format!("{line}\n");
        if let Some(code) = line.split("rackwright approve ").nth(1).and_then(|rest| rest.get(..9)) {
            house.rackwright(&format!("approve {code}")).fine();
        }
    }
    assert!(device.wait().expect("az ends").success(), "{said}");
}
