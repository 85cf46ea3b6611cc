//! What callers see of each fault: in this process, where time is virtual, and over sockets.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use sim::{BmcScheme, Endpoints, Pace, Site};
use store::{MemoryStore, SharedStore, SystemClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::harness::{Harness, failure, pass, send, spec};

const MACHINE: &str = "rack1compute01";
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Logs in and returns the session's token.
async fn log_in(harness: &Harness) -> String {
    let machine = harness.machine(MACHINE);
    let body = format!(r#"{{"UserName":"{}","Password":"{}"}}"#, machine.bmc_user, machine.bmc_password);
    let reply = send(harness.site.redfish(MACHINE).unwrap(), "POST", "/redfish/v1/SessionService/Sessions", &[], &body).await;
    assert_eq!(reply.status, StatusCode::CREATED, "{}", reply.body);
    reply.headers["x-auth-token"].to_str().unwrap().to_owned()
}

async fn status_in_session(harness: &Harness, token: &str) -> u16 {
    let wire = harness.site.redfish(MACHINE).unwrap();
    send(wire, "GET", "/redfish/v1/Systems", &[("x-auth-token", token)], "").await.status.as_u16()
}

#[tokio::test(start_paused = true)]
async fn a_bmc_that_is_away_refuses_connections_until_it_is_back() {
    let harness = Harness::start().await;
    harness.fault("bmc-unreachable rack1compute01 for 10m").await;
    assert_eq!(failure(harness.site.redfish(MACHINE).unwrap()).await, ErrorKind::ConnectionRefused);
    assert_eq!(harness.power("rack1compute02").await, "On", "its neighbour answers");
    pass(600).await;
    assert_eq!(harness.power(MACHINE).await, "On");
}

#[tokio::test(start_paused = true)]
async fn a_restarted_bmc_has_lost_its_sessions() {
    let harness = Harness::start().await;
    let token = log_in(&harness).await;
    assert_eq!(status_in_session(&harness, &token).await, 200);
    harness.fault("bmc-restart rack1compute01").await;
    assert_eq!(failure(harness.site.redfish(MACHINE).unwrap()).await, ErrorKind::ConnectionRefused);
    pass(180).await;
    assert_eq!(status_in_session(&harness, &token).await, 401);
    let token = log_in(&harness).await;
    assert_eq!(status_in_session(&harness, &token).await, 200);
}

#[tokio::test(start_paused = true)]
async fn a_bmc_that_denies_everybody_still_shows_its_root() {
    let harness = Harness::start().await;
    harness.fault("bmc-401 rack1compute01").await;
    assert_eq!(harness.bmc(MACHINE, "GET", "/redfish/v1/", "").await.status, StatusCode::OK);
    assert_eq!(harness.bmc(MACHINE, "GET", "/redfish/v1/Systems", "").await.status, StatusCode::UNAUTHORIZED);
    let login = harness.bmc(MACHINE, "POST", "/redfish/v1/SessionService/Sessions", "{}").await;
    assert_eq!(login.status, StatusCode::UNAUTHORIZED);
    harness.mend().await;
    assert_eq!(harness.power(MACHINE).await, "On");
}

#[tokio::test(start_paused = true)]
async fn a_slow_bmc_has_done_what_it_was_asked_before_it_says_so() {
    let harness = Harness::start().await;
    let path = format!("{}/Actions/ComputerSystem.Reset", harness.system_path(MACHINE).await);
    harness.fault("bmc-slow rack1compute01 ms=20000").await;
    let began = tokio::time::Instant::now();
    let asked = harness.bmc(MACHINE, "POST", &path, r#"{"ResetType":"ForceOff"}"#);
    assert!(tokio::time::timeout(Duration::from_secs(15), asked).await.is_err(), "the caller gives up");
    assert_eq!(harness.site.witness(MACHINE).unwrap().counters().powered_off, 1);
    assert_eq!(harness.bmc(MACHINE, "GET", "/redfish/v1/", "").await.status, StatusCode::OK);
    assert_eq!(began.elapsed(), Duration::from_secs(35));
}

#[tokio::test(start_paused = true)]
async fn a_bmc_in_error_answers_so_and_does_nothing() {
    let harness = Harness::start().await;
    let path = format!("{}/Actions/ComputerSystem.Reset", harness.system_path(MACHINE).await);
    for status in [500, 503] {
        harness.fault(&format!("bmc-error rack1compute01 status={status}")).await;
        let reply = harness.bmc(MACHINE, "POST", &path, r#"{"ResetType":"ForceOff"}"#).await;
        assert_eq!(reply.status.as_u16(), status);
        assert!(reply.body["error"]["message"].is_string());
    }
    assert_eq!(harness.site.witness(MACHINE).unwrap().counters().resets_requested, 0);
}

#[tokio::test(start_paused = true)]
async fn a_bmc_that_talks_nonsense_is_no_json_but_acts() {
    let harness = Harness::start().await;
    let path = format!("{}/Actions/ComputerSystem.Reset", harness.system_path(MACHINE).await);
    harness.fault("bmc-garbage rack1compute01").await;
    let reply = harness.bmc(MACHINE, "GET", "/redfish/v1/", "").await;
    assert!(reply.status == StatusCode::OK && reply.body.as_str().unwrap().ends_with("<html><head><title>"), "{}", reply.body);
    assert_eq!(harness.bmc(MACHINE, "POST", &path, r#"{"ResetType":"ForceOff"}"#).await.status, StatusCode::NO_CONTENT);
    pass(10).await;
    assert_eq!(harness.site.witness(MACHINE).unwrap().counters().powered_off, 1);
}

#[tokio::test(start_paused = true)]
async fn a_bmc_that_ignores_requests_says_yes_to_every_change_and_makes_none() {
    let harness = Harness::start().await;
    let system = harness.system_path(MACHINE).await;
    harness.fault("bmc-ignores rack1compute01").await;
    let patch = r#"{"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideTarget":"Pxe"}}"#;
    assert_eq!(harness.bmc(MACHINE, "PATCH", &system, patch).await.status, StatusCode::NO_CONTENT);
    let manager = harness.read(MACHINE, "/redfish/v1/Managers").await["Members"][0]["@odata.id"].as_str().unwrap().to_owned();
    let reset = format!("{manager}/Actions/Manager.Reset");
    assert_eq!(harness.bmc(MACHINE, "POST", &reset, r#"{"ResetType":"GracefulRestart"}"#).await.status, StatusCode::NO_CONTENT);
    assert_eq!(harness.read(MACHINE, &system).await["Boot"]["BootSourceOverrideEnabled"], "Disabled");
}

#[tokio::test(start_paused = true)]
async fn nonsense_does_not_hold_up_a_stream_of_events() {
    let harness = Harness::start().await;
    let machine = harness.of(sim::Vendor::Dell);
    let events = harness.read(&machine, "/redfish/v1/EventService").await["ServerSentEventUri"].as_str().unwrap().to_owned();
    harness.fault(&format!("bmc-garbage {machine}")).await;
    let opened = tokio::time::timeout(Duration::from_secs(5), harness.begins(&machine, &events)).await;
    assert_eq!(opened.expect("the stream begins"), StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_forgetful_bmc_loses_its_sessions_at_every_third_request() {
    let harness = Harness::start().await;
    let token = log_in(&harness).await;
    harness.fault("bmc-forgets-sessions rack1compute01 every=3").await;
    let mut told = Vec::new();
    for _ in 0..4 {
        told.push(status_in_session(&harness, &token).await);
    }
    assert_eq!(told, [200, 200, 401, 401]);
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_is_down_refuses_and_breaks_watches() {
    let harness = Harness::start().await;
    let mut lines = harness.watch("/api/v1/nodes?watch=true").await;
    for _ in 0..15 {
        assert!(lines.next().await.is_some());
    }
    harness.fault("api-down api for 1m").await;
    assert_eq!(failure(harness.site.kubernetes()).await, ErrorKind::ConnectionRefused);
    assert!(lines.ends_broken().await);
    pass(60).await;
    assert_eq!(harness.ready(MACHINE).await, "True");
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_forgets_watches_ends_them_and_refuses_to_resume() {
    let harness = Harness::start().await;
    let version = harness.get("/api/v1/nodes").await.body["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/nodes?watch=true&resourceVersion={version}");
    let mut lines = harness.watch(&path).await;
    harness.fault("api-forgets-watches api").await;
    assert_eq!(lines.next().await, None);
    let again = harness.get(&path).await;
    assert_eq!((again.status, again.body["reason"].as_str()), (StatusCode::GONE, Some("Expired")));
    assert_eq!(harness.get("/api/v1/nodes").await.status, StatusCode::OK, "listing works");
    harness.mend().await;
    let mut lines = harness.watch(&path).await;
    harness.merge_patch("/api/v1/nodes/rack1compute01", r#"{"spec":{"unschedulable":true}}"#).await;
    assert_eq!(lines.next_brief().await.as_deref(), Some("MODIFIED rack1compute01"));
}

#[tokio::test(start_paused = true)]
async fn a_slow_api_server_answers_late() {
    let harness = Harness::start().await;
    harness.fault("api-slow api ms=7000").await;
    let began = tokio::time::Instant::now();
    assert_eq!(harness.get("/api/v1/nodes").await.status, StatusCode::OK);
    assert_eq!(began.elapsed(), Duration::from_secs(7));
}

#[tokio::test(start_paused = true)]
async fn faults_outlive_the_simulator() {
    let harness = Harness::start().await;
    harness.fault("bmc-unreachable rack1compute01 for 10m").await;
    pass(300).await;
    let harness = harness.crash_and_reopen(Duration::from_secs(3600)).await;
    assert_eq!(failure(harness.site.redfish(MACHINE).unwrap()).await, ErrorKind::ConnectionRefused);
    pass(310).await;
    assert_eq!(harness.power(MACHINE).await, "On");
}

async fn open(store: &SharedStore) -> Site {
    Site::open(spec().with_pace(Pace::instant()), store.clone(), Arc::new(SystemClock)).await.unwrap()
}

fn memory_store() -> SharedStore {
    Arc::new(MemoryStore::new(Arc::new(SystemClock)))
}

fn run(site: &Site) -> (tokio::task::JoinHandle<()>, CancellationToken) {
    let (site, shutdown) = (site.clone(), CancellationToken::new());
    let until = shutdown.clone();
    (tokio::spawn(async move { site.run(until).await.unwrap() }), shutdown)
}

async fn connect(address: SocketAddr) -> Result<TcpStream, ErrorKind> {
    TcpStream::connect(address).await.map_err(|error| error.kind())
}

/// Waits for a condition over sockets, in wall time.
async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    for _ in 0..200 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{what} did not come about");
}

#[tokio::test]
async fn over_sockets_a_bmc_that_is_away_refuses_and_cuts_and_comes_back_on_its_port() {
    let site = open(&memory_store()).await;
    let endpoints = site.listen(LOOPBACK).await.unwrap();
    let (task, shutdown) = run(&site);
    for (address, break_it) in [(endpoints.bmcs[MACHINE], "bmc-unreachable rack1compute01"), (endpoints.kubernetes, "api-down api")] {
        let mut open = connect(address).await.unwrap();
        open.write_all(b"GET /redfish/v1/ HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        assert!(open.read(&mut [0; 64]).await.unwrap() > 0);
        let orders = sim::parse_order(break_it, site.layout()).unwrap();
        site.add_faults(&orders).await.unwrap();
        until("a refusal", async || connect(address).await.err() == Some(ErrorKind::ConnectionRefused)).await;
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(Duration::from_secs(5), open.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "an open connection is cut");
        site.clear_faults(|_| true).await.unwrap();
        until("a connection", async || connect(address).await.is_ok()).await;
    }
    shutdown.cancel();
    task.await.unwrap();
}

/// A request over TLS to a machine's BMC, trusting what is given.
async fn over_tls(endpoints: &Endpoints, machine: &str, ca_pem: &str) -> Result<String, std::io::Error> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca_pem.as_bytes()).unwrap()).unwrap();
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(endpoints.bmcs[machine]).await?;
    let name = ServerName::IpAddress(LOOPBACK.into());
    let mut stream = tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    stream.write_all(b"GET /redfish/v1/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[tokio::test]
async fn bmcs_over_tls_have_one_authority_and_keep_their_certificates() {
    let store = memory_store();
    let site = open(&store).await;
    let endpoints = site.listen_with(LOOPBACK, BmcScheme::Https).await.unwrap();
    let (task, shutdown) = run(&site);
    let trust = endpoints.trust.clone().unwrap();
    for machine in [MACHINE, "rack2control01"] {
        let answer = over_tls(&endpoints, machine, &trust.ca_pem).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    assert_eq!(trust.fingerprints[MACHINE].len(), 32 * 3 - 1);
    assert_ne!(trust.fingerprints[MACHINE], trust.fingerprints["rack2control01"]);
    let stranger = open(&memory_store()).await.listen_with(LOOPBACK, BmcScheme::Https).await.unwrap().trust.unwrap();
    assert!(over_tls(&endpoints, MACHINE, &stranger.ca_pem).await.is_err(), "another site's authority is not trusted");
    shutdown.cancel();
    task.await.unwrap();
    let again = open(&store).await.listen_with(LOOPBACK, BmcScheme::Https).await.unwrap();
    assert_eq!(again.trust, Some(trust));
}
