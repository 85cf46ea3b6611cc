//! Stopping: nobody is left without an answer, nothing is left held, and the service manager knows.

use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use model::Span;
use serde_json::Value;
use store::{SqliteStore, Store, SystemClock};

use crate::door::{Line, read_answer};
use crate::server::{MACHINES, PATIENCE, Server, command, until};

/// Sends a restart but for the end of its body, and waits until the server has begun to answer it.
fn begin_restart(server: &Server) -> Line {
    let head = |path: &str| server.door().head("POST", path, 2).expect("there is a token");
    let mut stream = server.door().connect().expect("the server listens");
    let path = format!("{MACHINES}/rack1compute01/restart?api-version=1");
    write!(stream, "{}{{", head(&path)).expect("half a request is sent");
    until("the request to be under way", || server.get("/metrics").1.contains("rackwright_http_requests_in_flight 2").then_some(()));
    stream
}

#[test]
fn a_request_that_is_under_way_is_judged_and_answered_before_the_keeper_goes() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let mut server = Server::up(home, &[]);
    server.until_ready();
    let mut stream = begin_restart(&server);
    server.signal("-TERM");
    until("the listener to close", || TcpStream::connect(&server.address).is_err().then_some(()));
    stream.write_all(b"}").expect("the connection is open");
    let (status, body) = read_answer(stream).expect("the request is answered");
    assert_eq!(status, 202, "{body}");
    let operation: Value = serde_json::from_str(&body).expect("the answer is JSON");
    assert_eq!(server.ended(), Some(0));
    assert_put_away(home);

    let server = Server::up(home, &[]);
    server.until_ready();
    let path = format!("/rackwright/v1/operations/{}", operation["name"].as_str().expect("an operation has a name"));
    until("the operation to end", || (server.json(&path)["status"] == "Succeeded").then_some(()));
}

/// Shows that the store was put away, and that anybody could keep the cluster at once.
fn assert_put_away(home: &Path) {
    let log = home.join("data/up/control/rackwright.db-wal");
    assert!(!log.exists(), "the store was closed, so its log was folded into the file");
    let store = SqliteStore::open(&home.join("data/up/control"), Arc::new(SystemClock)).expect("the directory is free");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let lease = runtime.block_on(store.acquire_lease("keeper/site1", "somebody else", Span::seconds(1)));
    runtime.block_on(store.release_lease(&lease.expect("the lease was given back"))).expect("it is given back again");
}

#[test]
fn readiness_goes_first_while_requests_are_still_served() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut server = Server::up(directory.path(), &["--stop-delay", "60"]);
    server.until_ready();
    server.signal("-TERM");
    let (status, body) = until("the word that it stops", || server.call("GET", "/readyz", "").filter(|(status, _)| *status == 503));
    assert_eq!(status, 503);
    assert!(body.contains("the process is stopping"), "{body}");
    assert_eq!(server.get("/healthz").0, 200);
    assert_eq!(server.get("/rackwright/v1/status").0, 200);
    server.signal("-TERM");
    assert_eq!(server.ended(), Some(1), "a second signal ends the delay and all else");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut server = Server::up(directory.path(), &["--stop-delay", "300"]);
    server.signal("-INT");
    until("the stop to begin", || server.out().contains("stopping").then_some(()));
    server.signal("-INT");
    assert_eq!(server.ended(), Some(1));
    assert!(server.err().contains("stopped before everything was put away"), "{}", server.err());
}

#[test]
fn the_service_manager_is_told_of_start_reload_life_and_stop() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let mut sim = command(home);
    let sim_dir = home.join("sim");
    sim.args(["sim", "serve", "--racks", "1", "--machines-per-rack", "4", "--speed", "600", "--data-dir"]).arg(&sim_dir);
    let _world = Server::start(sim);
    let path = home.join("notify");
    let manager = UnixDatagram::bind(&path).expect("a socket can be made");
    manager.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
    let mut serve = command(home);
    serve.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(sim_dir.join("site1.toml"));
    serve.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", Duration::from_secs(600).as_micros().to_string());
    let server = Server::start(serve);
    let hear = || {
        let mut word = [0; 256];
        let length = manager.recv(&mut word).expect("the manager is told");
        String::from_utf8_lossy(&word[..length]).trim().to_owned()
    };
    let mut first = [hear(), hear()];
    first.sort();
    assert_eq!(first, ["READY=1", "WATCHDOG=1"]);
    server.signal("-HUP");
    assert_eq!([hear(), hear()], ["RELOADING=1", "READY=1"]);
    assert!(server.err().contains("INFO"), "`serve` tells what it does: {}", server.err());
    assert_eq!(server.stop(), Some(0));
    assert_eq!(hear(), "STOPPING=1");
}
