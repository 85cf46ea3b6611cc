//! BMCs on https: whom the file says to trust.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use redfish::Fingerprint;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::Site;
use crate::server::text;

/// A line of TLS in front of a simulated BMC, which speaks plain http here; returns its address.
fn encrypt(runtime: &tokio::runtime::Runtime, bmc: &str, certificate: &rcgen::Certificate, key: &KeyPair) -> String {
    let bmc = bmc.strip_prefix("http://").expect("the simulator speaks http").to_owned();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key))
        .expect("the certificate and its key fit");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port is free");
    let address = format!("https://{}", listener.local_addr().expect("it listens"));
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, bmc) = (acceptor.clone(), bmc.clone());
            tokio::spawn(async move {
                // A client that does not trust us hangs up, which is what the test is about.
                let (Ok(mut near), Ok(mut far)) = (acceptor.accept(stream).await, TcpStream::connect(bmc).await) else { return };
                let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    address
}

#[test]
fn a_bmc_on_https_is_recognized_by_its_ca_or_by_its_fingerprint() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let site = Site::start();
    let mut params = CertificateParams::new(Vec::new()).expect("no names are fine");
    params.distinguished_name.push(DnType::CommonName, "the CA of the site");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("a CA");
    std::fs::write(site.path("ca.pem"), ca.pem()).expect("the file can be written");
    let params = || CertificateParams::new(["127.0.0.1".to_owned()]).expect("a name");
    let (one, two) = (KeyPair::generate().expect("a key"), KeyPair::generate().expect("a key"));
    let signed = params().signed_by(&one, &ca).expect("a certificate");
    let own = params().self_signed(&two).expect("a certificate");
    let print = Fingerprint::of(own.der()).to_string();
    for (machine, certificate, key) in [("rack1compute01", &signed, &one), ("rack2compute01", &own, &two)] {
        let file = site.read("site1.toml");
        let machines = file["machine"].as_array().expect("machines");
        let described = machines.iter().find(|entry| entry["name"].as_str() == Some(machine)).expect("the machine is described");
        let address = encrypt(&runtime, described["bmc"].as_str().expect("an address"), certificate, key);
        site.change_machine(machine, "bmc", &address);
    }
    let refused = site.check(&[]);
    assert!(text(&refused.stderr).contains("cannot be used: 2 problems"), "nothing says whom to trust: {refused:?}");

    site.change("site1.toml", |file| drop(file["cluster"].as_table_mut().expect("a table").insert("bmc-ca".to_owned(), "ca.pem".into())));
    let untrusted = site.check(&[]);
    let out = text(&untrusted.stdout);
    assert_eq!(untrusted.status.code(), Some(1), "{untrusted:?}");
    let problems: Vec<&str> = out.lines().filter(|line| line.starts_with("problem: ")).collect();
    assert!(matches!(problems[..], [one] if one.contains("`rack2compute01`") && one.contains("not signed by the CA")), "{out}");

    site.change_machine("rack2compute01", "bmc-fingerprint", &"00".repeat(32));
    let out = text(&site.check(&[]).stdout);
    assert!(out.contains("untrusted") && out.contains(&format!("its fingerprint is {print}, not 00:00:")), "{out}");
    site.change_machine("rack2compute01", "bmc-fingerprint", &print);
    let well = site.check(&[]);
    assert_eq!(well.status.code(), Some(0), "{well:?}");
}
