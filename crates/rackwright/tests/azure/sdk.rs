//! Azure's SDK for Python: `sdk/` says what it does and what must come of it.

use std::fs;

use crate::house::{House, client, repository};
use crate::said::Said;

#[test]
fn azures_sdk_reads_writes_acts_and_finds_every_answer_as_its_models_say() {
    let house = House::open();
    let (id, secret) = house.login();
    let secret_file = house.home.path().join("secret");
    fs::write(&secret_file, secret).expect("the secret can be handed on");
    let mut python = house.command(&client("venv/bin/python"));
    // The SDK is told whom to trust by its own option.
    python.env_remove("REQUESTS_CA_BUNDLE").arg("-B").arg(repository("crates/rackwright/tests/azure/sdk"));
    python.args(["--base", &house.address, "--client", &id, "--rackwright", env!("CARGO_BIN_EXE_rackwright")]);
    python.arg("--ca").arg(house.profile().join("ca.pem")).arg("--secret-file").arg(secret_file);
    let said = Said::of(&mut python);
    println!("{}", said.out);
    assert_eq!(said.code, 0, "{}\n{}", said.out, said.err);
}
