//! The driver over TLS: whom it trusts, and whom etcd lets in.

use std::sync::Arc;

use etcd::{EtcdCluster, Tls, Transport};
use model::{Delivery, Fault, FaultClass};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use zeroize::Zeroizing;

type Issuer = CertifiedIssuer<'static, KeyPair>;

fn ca(name: &str) -> Issuer {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate and its key, in PEM.
fn signed(host: &str, issuer: &Issuer) -> (rcgen::Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    (CertificateParams::new([host.to_owned()]).unwrap().signed_by(&key, issuer).unwrap(), key)
}

fn tls(trusted: &Issuer, (certificate, key): &(rcgen::Certificate, KeyPair)) -> Tls {
    let key = Zeroizing::new(key.serialize_pem().into_bytes());
    Tls::new(trusted.pem().as_bytes(), certificate.pem().as_bytes(), key).unwrap()
}

/// A member that asks for a client's certificate, and answers every request with an empty list of members.
async fn listen(issuer: &Issuer, host: &str) -> String {
    let (certificate, key) = signed(host, issuer);
    let mut roots = RootCertStore::empty();
    roots.add(issuer.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build().unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut read = [0; 4096];
            if stream.read(&mut read).await.is_ok_and(|count| count > 0) {
                let body = r#"{"header":{"member_id":"1"},"version":"3.5.1","raftIndex":"1","members":[]}"#;
                let answer = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                let _ = stream.write_all(answer.as_bytes()).await;
            }
            let _ = stream.shutdown().await;
        }
    });
    address
}

async fn members(tls: &Tls, address: &str) -> Result<usize, Fault> {
    let cluster = EtcdCluster::new(Transport::tls(tls).unwrap(), [address.parse().unwrap()]);
    cluster.observe_members().await.map(|seen| seen.members.len())
}

#[tokio::test]
async fn both_sides_know_each_other_by_their_certificates() {
    let issuer = ca("etcd-ca");
    let address = listen(&issuer, "127.0.0.1").await;
    assert_eq!(members(&tls(&issuer, &signed("rackwright", &issuer)), &address).await, Ok(0));
}

#[tokio::test]
async fn nothing_is_sent_to_a_stranger() {
    let (issuer, stranger) = (ca("etcd-ca"), ca("another"));
    let ours = signed("rackwright", &issuer);
    let fault = members(&tls(&issuer, &ours), &listen(&stranger, "127.0.0.1").await).await.unwrap_err();
    assert_eq!((fault.class, fault.delivery), (FaultClass::Untrusted, Delivery::No));
    assert!(fault.detail.ends_with("the certificate is not trusted (it is not signed by the CA given for etcd)"), "{fault}");
    let fault = members(&tls(&issuer, &ours), &listen(&issuer, "10.9.9.9").await).await.unwrap_err();
    assert!(fault.detail.ends_with("(it is for another host than the one asked)"), "{fault}");
}

#[tokio::test]
async fn etcd_lets_in_only_whom_its_ca_vouches_for() {
    let (issuer, stranger) = (ca("etcd-ca"), ca("another"));
    let address = listen(&issuer, "127.0.0.1").await;
    let fault = members(&tls(&issuer, &signed("rackwright", &stranger)), &address).await.unwrap_err();
    assert_eq!((fault.class, fault.delivery), (FaultClass::Denied, Delivery::No), "{fault}");
    assert!(fault.detail.contains("our certificate is refused"), "{fault}");
}

#[test]
fn certificates_and_keys_that_cannot_be_used_are_told_in_words() {
    let issuer = ca("etcd-ca");
    let (certificate, key) = signed("rackwright", &issuer);
    let (_, other) = signed("rackwright", &issuer);
    let pem = |key: &KeyPair| key.serialize_pem();
    let told = |ca: &str, certificate: &str, key: String| {
        Tls::new(ca.as_bytes(), certificate.as_bytes(), Zeroizing::new(key.into_bytes())).unwrap_err().to_string()
    };
    let (ca, certificate) = (issuer.pem(), certificate.pem());
    assert_eq!(told("", &certificate, pem(&key)), "there is no certificate in the PEM text");
    assert_eq!(told(&ca, "", pem(&key)), "there is no certificate in the PEM text");
    assert_eq!(told(&ca, &certificate, certificate.clone()), "there is no private key in the PEM text");
    assert_eq!(
        told(&ca, &certificate, pem(&other)),
        "the certificate and the key do not belong together, or the key is of a kind that is not supported"
    );
    let shown = format!("{:?}", Tls::new(ca.as_bytes(), certificate.as_bytes(), Zeroizing::new(pem(&key).into_bytes())).unwrap());
    assert_eq!(shown, "Tls { roots: 1, chain: 1, .. }", "a key is never shown");
}
