//! Secrets are planted wherever a client, a site or a key can bring one, and everything that the server ever emitted is searched for them:
//! its log at the most talkative, its traces, every answer with its headers, the activity log, metrics, events, the store's files, and a backup.
//!
//! What a handler that panics would tell is not among it, as nothing that a client can send makes one panic: `api/tests/server_errors.rs`
//! makes one.

mod clients;
mod logins;
mod markers;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use clients::Client;
use markers::{Emitted, Markers};

use crate::server::{Server, command, run, until};
use crate::traces::collector;

const GROUP: &str = "/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/site1/providers/Microsoft.NetworkCloud";

/// The machine that is installed anew, with tokens for all that it fetches and tells.
const INSTALLED: &str = "rack2compute01";

/// Thirty-two bytes, as a master key has.
const MASTER_KEY: &[u8; 32] = b"MARKER-master-key-of-32-bytes-xx";

/// What lies in files of the simulated devices, and is read from there.
fn plant_devices(markers: &mut Markers, home: &Path) {
    let simulated = home.join("data/up/sim");
    let logins = fs::read_to_string(simulated.join("site1-bmc-credentials.toml")).expect("the simulator wrote its logins");
    let logins: toml::Table = logins.parse().expect("the logins are TOML");
    for (machine, login) in &logins {
        markers.plant(&format!("the BMC's password of {machine}"), login["password"].as_str().expect("a password"));
    }
    for file in ["site1-kubeconfig.yaml", "site1-naks-01-kubeconfig.yaml"] {
        let kubeconfig = fs::read_to_string(simulated.join(file)).expect("the simulator wrote its kubeconfigs");
        let token = kubeconfig.lines().find_map(|line| line.trim().strip_prefix("token: ")).expect("a kubeconfig has a token");
        markers.plant(&format!("the token in {file}"), token.trim_matches('"'));
    }
}

/// The path of every GET of the document, with names that exist.
fn every_get(server: &Server) -> Vec<String> {
    let document = server.json("/rackwright/v1/openapi.json");
    let operation = server.json("/rackwright/v1/operations")["value"][0]["id"].as_str().expect("an operation").to_owned();
    let log = "/subscriptions/00000000-0000-4000-8000-000000000001/providers/Microsoft.Insights/eventtypes/management/values?api-version=1";
    let entry = server.json(log)["value"][0]["eventDataId"].as_str().expect("an entry").to_owned();
    let runtimes = server.json(&format!("{GROUP}/clusters/site1/runtimes?api-version=1"));
    let version = runtimes["value"][0]["name"].as_str().unwrap_or("4.9.2").to_owned();
    let names = BTreeMap::from([
        ("subscriptionId", "00000000-0000-4000-8000-000000000001"),
        ("resourceGroupName", "site1"),
        ("clusterName", "site1"),
        ("rackName", "rack1"),
        ("bareMetalMachineName", "rack1compute01"),
        ("virtualMachineName", "planted"),
        ("kubernetesClusterName", "naks-01"),
        ("agentPoolName", "agentpool1"),
        ("keySetName", "nobody"),
        ("namespace", "Microsoft.NetworkCloud"),
        ("location", "local"),
        ("operationId", &operation),
        ("eventDataId", &entry),
        ("version", &version),
    ]);
    let paths = document["paths"].as_object().expect("a document has paths").iter();
    let gets = paths.filter(|(path, methods)| !methods["get"].is_null() && !path.ends_with("/events"));
    gets.map(|(path, _)| {
        let segments = path.split('/').map(|segment| {
            let name = segment.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
            name.map_or(segment, |name| names.get(name).copied().unwrap_or("unknown"))
        });
        format!("{}?api-version=1", segments.collect::<Vec<_>>().join("/"))
    })
    .collect()
}

/// What a listener hears from the first event that is kept on, for a moment.
fn events(server: &Server) -> Vec<u8> {
    let mut line = server.door().connect().expect("a connection");
    let head = server.door().head("GET", "/rackwright/v1/events", 0).expect("a login").replacen("Host:", "Last-Event-ID: 1\r\nHost:", 1);
    write!(line, "{head}").expect("it is heard");
    line.sock.set_read_timeout(Some(Duration::from_secs(2))).expect("a socket waits");
    let (mut heard, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(length @ 1..) = line.read(&mut piece) {
        heard.extend_from_slice(&piece[..length]);
    }
    heard
}

/// What commands tell of everything in which a secret had a part.
const COMMANDS: [&[&str]; 9] = [
    &["status"],
    &["-o", "json", "operation", "list"],
    &["-o", "json", "activity-log", "list"],
    &["context", "show"],
    &["-o", "json", "context", "list"],
    &["-o", "json", "sp", "list"],
    &["sp", "show", "pipeline"],
    &["-o", "json", "issuer", "list"],
    &["-o", "json", "signing-key", "rotate"],
];

/// Every answer to a read, the events, a backup and what commands say.
fn read_all(emitted: &mut Emitted, home: &Path, server: &Server) {
    let mut answers = 0;
    for path in every_get(server) {
        let answer = server.door().whole("GET", &path, "", "").expect("the server answers");
        answers += usize::from(answer.starts_with("HTTP/1.1 200"));
        emitted.hear(format!("the answer to {path}"), answer);
    }
    assert!(answers > 30, "most of what can be read was read: {answers}");
    let heard = events(server);
    assert!(heard.len() > 200, "events were heard");
    emitted.hear("the events", heard);
    let backup = home.join("backup.db");
    assert!(run(home, &["backup", backup.to_str().expect("a path is text")]).status.success());
    emitted.hear("the backup", fs::read(&backup).expect("the backup is there"));
    for command in COMMANDS {
        let said = run(home, command);
        assert!(said.status.success(), "{command:?}: {said:?}");
        emitted.hear(format!("{command:?}"), [said.stdout, said.stderr].concat());
    }
}

/// The administrator's secret, which the first start shows, and keeps in the contexts of whoever started it.
fn administrators_secret(home: &Path) -> String {
    let contexts = fs::read_to_string(home.join("contexts.toml")).expect("there are contexts");
    let contexts: toml::Table = contexts.parse().expect("contexts are TOML");
    contexts["contexts"]["local"]["login"]["client_secret"].as_str().expect("a secret").to_owned()
}

#[test]
fn no_secret_is_in_anything_that_is_ever_emitted() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let (collector, endpoint) = collector();
    let mut up = command(home);
    up.env("RUST_LOG", "trace").env("RACKWRIGHT_MASTER_KEY", STANDARD.encode(MASTER_KEY));
    up.args(["up", "--listen", "127.0.0.1:0", "--speed", "600", "--racks", "2", "--machines-per-rack", "3", "--otlp-endpoint", &endpoint]);
    let server = Server::start(up);
    server.until_ready();
    let (mut markers, mut emitted) = (Markers::default(), Emitted::default());
    markers.plant("the master key", MASTER_KEY);
    plant_devices(&mut markers, home);
    Client { server: &server, markers: &mut markers, emitted: &mut emitted }.plant_all();
    logins::principals(&mut markers, home);
    logins::people(&mut markers, home, &server);
    until("the virtual machine's secrets to be at work", || {
        let seen = server.json(&format!("{GROUP}/virtualMachines/planted?api-version=1"));
        (seen["properties"]["provisioningState"] == "Succeeded").then_some(())
    });
    assert!(run(home, &["bmm", "restart", INSTALLED]).status.success());
    let installation = Client { server: &server, markers: &mut markers, emitted: &mut emitted }.reinstall(INSTALLED);
    until("the machine to be installed", || {
        let seen = server.json(&format!("/rackwright/v1/operations/{installation}"));
        assert_ne!(seen["status"], "Failed", "{seen}");
        (seen["status"] == "Succeeded").then_some(())
    });
    read_all(&mut emitted, home, &server);

    let secret = administrators_secret(home);
    markers.plant("the administrator's secret", &secret);
    let (out, log) = (server.out(), server.err());
    assert_eq!(server.stop(), Some(0));
    assert!(log.contains("TRACE") && log.contains("rack1compute01"), "the log tells a lot");
    assert_eq!(out.matches(&secret).count(), 1, "the administrator's secret is shown once");
    emitted.hear("what the server printed", out.replacen(&secret, "", 1));
    emitted.hear("the log", log);
    let traces = collector.lock().expect("nobody panicked").bytes.clone();
    assert!(traces.len() > 1_000, "traces were sent");
    emitted.hear("the traces", traces);
    let control = home.join("data/up/control");
    for file in fs::read_dir(&control).expect("the data directory").map(|file| file.expect("a file").path()) {
        if file.is_file() {
            emitted.hear(file.display().to_string(), fs::read(&file).expect("the file can be read"));
        }
    }
    logins::own_keys(&mut markers, &control, MASTER_KEY, (INSTALLED, &installation));
    emitted.assert_without(&markers);
}
