//! What the server itself makes and gives out once: secrets of principals, what keeps people and devices logged in, and its own keys.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use model::{Attempt, ClusterName, MachineName, OperationId, SecretRef};
use serde_json::Value;
use store::{MasterKeySource, SharedStore, SqliteStore, SystemClock, Vault};
use ticket::{InstallKey, Purpose};

use super::markers::Markers;
use crate::issuer::Issuer;
use crate::people::{by_assertion, granted, trust};
use crate::server::{Server, run};

fn planted(markers: &mut Markers, what: &str, answer: &Value, name: &str) -> String {
    let secret = answer[name].as_str().unwrap_or_else(|| panic!("no {name} in {answer}")).to_owned();
    markers.plant(what, &secret);
    secret
}

/// A service principal's secrets, each of which is shown once.
pub fn principals(markers: &mut Markers, home: &Path) {
    for (what, arguments) in
        [("the secret of `sp create`", ["sp", "create", "pipeline"]), ("that of `sp add-secret`", ["sp", "add-secret", "pipeline"])]
    {
        let made = run(home, &[&arguments[..], &["-o", "json"]].concat());
        assert!(made.status.success(), "{made:?}");
        planted(markers, what, &serde_json::from_slice(&made.stdout).expect("it is JSON"), "secret");
    }
}

/// A person's login, and that of a device which somebody approves.
pub fn people(markers: &mut Markers, home: &Path, server: &Server) {
    let issuer = Issuer::new();
    trust(home, &issuer);
    let assertion = issuer.token("ada@example.com");
    markers.plant("a token of an issuer", &assertion);
    let login = granted(server, &by_assertion(&assertion));
    planted(markers, "a person's token", &login, "access_token");
    let refresh = planted(markers, "a person's refresh token", &login, "refresh_token");
    let renewed = granted(server, &format!("grant_type=refresh_token&refresh_token={refresh}"));
    planted(markers, "a person's next token", &renewed, "access_token");

    let (status, begun) = server.door().post_form("/adfs/oauth2/devicecode", "client_id=device").expect("an answer");
    assert_eq!(status, 200, "{begun}");
    let begun: Value = serde_json::from_str(&begun).expect("it is JSON");
    let device = planted(markers, "a device's code", &begun, "device_code");
    let approved = run(home, &["approve", begun["user_code"].as_str().expect("a code for people")]);
    assert!(approved.status.success(), "{approved:?}");
    let login = granted(server, &format!("grant_type=device_code&device_code={device}"));
    planted(markers, "a device's token", &login, "access_token");
    planted(markers, "a device's refresh token", &login, "refresh_token");
}

/// The server's own keys, which nobody is ever shown: read from its vault, when it has stopped. From one of them the tokens of an
/// installation are made, which is told by its machine and its operation.
pub fn own_keys(markers: &mut Markers, control: &Path, master_key: &[u8], (machine, operation): (&str, &str)) {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    fs::write(file.path(), master_key).expect("the key can be written");
    let source = MasterKeySource::File(file.path().to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store: SharedStore = Arc::new(SqliteStore::open(control, Arc::new(SystemClock)).expect("the server has left its store"));
        let vault = Vault::open(store, &source).await.expect("the master key opens the vault");
        let load = async |name: &str| vault.load(&SecretRef::new(name)).await.expect("the secret is kept").to_vec();
        let authority: Value = serde_json::from_slice(&load("authority").await).expect("it is JSON");
        let key = authority["key"].as_str().expect("the authority has a key");
        // The first line of a key in PEM is the same for all of its kind.
        for line in key.lines().filter(|line| !line.starts_with("-----")).skip(1) {
            markers.plant("the authority's private key", line);
        }
        let seeds: Value = serde_json::from_slice(&load("access/signing-keys").await).expect("it is JSON");
        for seed in seeds.as_array().expect("there are keys") {
            let bytes = seed["seed"].as_array().expect("a key is bytes").iter();
            let bytes: Vec<u8> = bytes.map(|byte| byte.as_u64().and_then(|byte| u8::try_from(byte).ok()).expect("a byte")).collect();
            markers.plant("a key that signs tokens", bytes);
        }
        markers.plant("the key of principals' secrets", load("access/secret-key").await);
        let cluster = ClusterName::new("site1").expect("a name");
        let key = load(InstallKey::secret_of(&cluster).as_str()).await;
        markers.plant("the key of installations", &key);
        let key = InstallKey::from_bytes(&key).expect("a key has its length");
        let (machine, operation) = (MachineName::new(machine).expect("a name"), OperationId::new(operation));
        tokens(markers, &key, &Attempt { cluster, machine, operation, round: 1 });
    });
}

/// What the installed machine was let in by.
fn tokens(markers: &mut Markers, key: &InstallKey, attempt: &Attempt) {
    for purpose in Purpose::ALL {
        markers.plant(&format!("the token of an installation for {purpose:?}"), key.token(purpose, attempt).as_bytes());
    }
    markers.plant("the secret by which a machine joins", key.join_token(attempt).secret.as_bytes());
}
