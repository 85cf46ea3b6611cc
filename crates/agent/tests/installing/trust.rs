//! Whom an agent believes: servers that the configured authority vouches for, at the time that it was told.

use std::sync::Arc;

use agent::clock::{Clock, MachineClock};
use agent::home::{Home, Pauses};
use agent::http::{Client, Question, Timeouts};
use agent::life::Ending;
use jiff::{SignedDuration, Timestamp};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use serde_json::json;

use crate::control_plane::{ControlPlane, Plan};
use crate::machine::{TestMachine, os_image};

struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Authority {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Authority { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap() }
    }

    fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// What a server with this name needs, good for the years from `from` to `to`.
    fn server(&self, name: &str, from: i32, to: i32) -> rustls::ServerConfig {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let key = rustls::pki_types::PrivatePkcs8KeyDer::from(key.serialize_der());
        builder.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key.into()).unwrap()
    }
}

fn plan() -> Plan {
    Plan::packed(&os_image(5), &json!({"serial": "OS-1"}))
}

fn machine() -> TestMachine {
    TestMachine::with(&[("sda", "OS-1", 12)])
}

/// Asks a server something, as an agent with this authority and this clock.
fn ask(control_plane: &ControlPlane, ca: &str, clock: Clock) -> Result<u16, String> {
    let client = Client::new(Some(ca), Arc::new(clock), Timeouts::default()).unwrap();
    client.send(Question::get(&control_plane.url, None)).map(|answer| answer.status).map_err(|error| error.to_string())
}

fn in_time() -> Clock {
    Clock::new(MachineClock::Foreign)
}

#[test]
fn a_machine_is_installed_over_tls() {
    let (authority, machine) = (Authority::new(), machine());
    let control_plane = ControlPlane::start_with_tls(plan(), authority.server("127.0.0.1", 2020, 2090));
    let configuration = machine.configuration(&control_plane, Some(&authority.pem()));
    assert_eq!(machine.install_as(&configuration, in_time()), Ending::Written);
}

#[test]
fn a_server_of_another_authority_or_name_is_not_believed() {
    let (authority, other) = (Authority::new(), Authority::new());
    let control_plane = ControlPlane::start_with_tls(plan(), authority.server("127.0.0.1", 2020, 2090));
    assert_eq!(ask(&control_plane, &authority.pem(), in_time()), Ok(401));
    assert!(ask(&control_plane, &other.pem(), in_time()).unwrap_err().contains("invalid peer certificate"));
    let elsewhere = ControlPlane::start_with_tls(plan(), authority.server("127.0.0.2", 2020, 2090));
    assert!(ask(&elsewhere, &authority.pem(), in_time()).unwrap_err().contains("not valid for name"));
    assert_eq!((control_plane.seen().len(), elsewhere.seen().len()), (1, 0));
}

#[test]
fn a_clock_that_is_years_off_is_set_before_a_certificate_is_judged_by_it() {
    let authority = Authority::new();
    let control_plane = ControlPlane::start_with_tls(plan(), authority.server("127.0.0.1", 2026, 2090));
    let years_off = || Clock::off_by(SignedDuration::from_hours(-24 * 365 * 30));
    let refused = ask(&control_plane, &authority.pem(), years_off()).unwrap_err();
    assert!(refused.contains("not valid yet") || refused.contains("NotValidYet"), "{refused}");
    let clock = years_off();
    assert!(clock.heed(Timestamp::now()).is_some());
    assert_eq!(ask(&control_plane, &authority.pem(), clock), Ok(401));
    // And the other way round: a certificate that is over by the time that was told is not good because the machine's clock says so.
    let old = ControlPlane::start_with_tls(plan(), authority.server("127.0.0.1", 2020, 2022));
    let late = Clock::off_by("2021-06-01T00:00:00Z".parse::<Timestamp>().unwrap().duration_since(Timestamp::now()));
    assert!(late.heed(Timestamp::now()).is_some());
    let refused = ask(&old, &authority.pem(), late).unwrap_err();
    assert!(refused.contains("expired") || refused.contains("Expired"), "{refused}");
}

#[test]
fn an_authority_without_a_certificate_is_no_authority() {
    let clock = Arc::new(in_time());
    assert!(Client::new(Some("nothing of use"), clock, Timeouts::default()).is_err());
}

#[test]
fn https_is_not_spoken_without_an_authority() {
    let authority = Authority::new();
    let control_plane = ControlPlane::start_with_tls(plan(), authority.server("127.0.0.1", 2020, 2090));
    let client = Client::new(None, Arc::new(in_time()), Timeouts::default()).unwrap();
    assert!(client.send(Question::get(&control_plane.url, None)).is_err());
    assert!(control_plane.seen().is_empty());
}

#[test]
fn the_session_goes_to_the_configured_server_alone() {
    let machine = machine();
    let control_plane = ControlPlane::start(plan());
    let configuration = machine.configuration(&control_plane, None);
    let client = Client::new(None, Arc::new(in_time()), Timeouts::default()).unwrap();
    let mut home = Home::new(client, machine.log, Pauses::default(), &configuration);
    home.exchange("a-nonce-of-some-length").unwrap();
    let url = &control_plane.url;
    assert!(home.bearer_for(&format!("{url}/install/v1/x")).is_some());
    for other in [format!("{url}0/x"), format!("{url}.evil.example/x"), format!("{url}@evil.example/x"), "http://other/x".to_owned()] {
        assert!(home.bearer_for(&other).is_none(), "{other}");
    }
}
