//! The driver over TLS: whom it trusts, and that it tells nothing to others.

use std::sync::Arc;

use expect_test::{Expect, expect};
use model::{Delivery, FaultClass, Power};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use redfish::{CaBundle, Fingerprint, Transport, Trust};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, SupportedProtocolVersion, version};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::fake::bmc;
use crate::socket::serve;

/// A key of the kind that service processors have; *ring* makes none.
const RSA_KEY: &str = include_str!("rsa-key.pem");

type Issuer = CertifiedIssuer<'static, KeyPair>;

struct Identity {
    certificate: rcgen::Certificate,
    key: KeyPair,
}

fn ca(name: &str) -> Issuer {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn signed(host: &str, issuer: &Issuer) -> Identity {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new([host.to_owned()]).unwrap().signed_by(&key, issuer).unwrap();
    Identity { certificate, key }
}

/// What a BMC has in its flash: signed by itself, for nobody, and long expired.
fn factory(key: KeyPair) -> Identity {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.not_before = date_time_ymd(2011, 1, 1);
    params.not_after = date_time_ymd(2012, 1, 1);
    Identity { certificate: params.self_signed(&key).unwrap(), key }
}

fn trust_ca(issuer: &Issuer) -> Trust {
    Trust::Ca(CaBundle::from_pem(issuer.pem().as_bytes()).unwrap())
}

fn pin(identity: &Identity) -> Trust {
    Trust::Fingerprint(Fingerprint::of(identity.certificate.der()))
}

/// A BMC behind TLS that shows a certificate and signs with `key`; gives its address and, when the peer has gone,
/// how many requests it heard.
async fn listen(identity: &Identity, key: &KeyPair, versions: &[&'static SupportedProtocolVersion]) -> (String, JoinHandle<usize>) {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let chain = vec![identity.certificate.der().clone()];
    let builder = ServerConfig::builder_with_provider(provider.clone()).with_protocol_versions(versions).unwrap().with_no_client_auth();
    let certified = rustls::sign::CertifiedKey::new(chain, provider.key_provider.load_private_key(key).unwrap());
    let config = builder.with_cert_resolver(Arc::new(rustls::sign::SingleCertAndKey::from(certified)));
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        match acceptor.accept(stream).await {
            Ok(stream) => serve(stream).await,
            Err(_) => 0,
        }
    });
    (base, server)
}

async fn check_trusted(identity: &Identity, trust: &Trust, versions: &[&'static SupportedProtocolVersion]) {
    let (base, _server) = listen(identity, &identity.key, versions).await;
    let transport = Transport::tls(trust).unwrap();
    assert_eq!(bmc(transport, &base).observe_power().await, Ok(Power::PoweringOff));
}

async fn check_denied(identity: &Identity, key: &KeyPair, trust: &Trust, expected: Expect) {
    for versions in [[&version::TLS12], [&version::TLS13]] {
        let (base, server) = listen(identity, key, &versions).await;
        let fault = bmc(Transport::tls(trust).unwrap(), &base).observe_power().await.unwrap_err();
        assert_eq!((fault.class, fault.delivery), (FaultClass::Untrusted, Delivery::No), "{fault}");
        expected.assert_eq(&fault.detail);
        assert_eq!(server.await.unwrap(), 0, "nothing is sent to a peer that is not trusted");
    }
}

#[tokio::test]
async fn a_certificate_from_the_right_ca_for_the_right_host_is_trusted() {
    let issuer = ca("site1");
    let identity = signed("127.0.0.1", &issuer);
    check_trusted(&identity, &trust_ca(&issuer), rustls::ALL_VERSIONS).await;
    check_trusted(&identity, &trust_ca(&issuer), &[&version::TLS12]).await;
}

#[tokio::test]
async fn a_certificate_from_another_ca_is_denied() {
    let identity = signed("127.0.0.1", &ca("site2"));
    let detail = expect!["GET /redfish/v1/: the certificate is not trusted (it is not signed by the CA given for this BMC)"];
    check_denied(&identity, &identity.key, &trust_ca(&ca("site1")), detail).await;
}

#[tokio::test]
async fn a_self_signed_certificate_is_its_own_ca_unless_it_calls_itself_one() {
    let own = |is_ca| {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        params.is_ca = is_ca;
        Identity { certificate: params.self_signed(&key).unwrap(), key }
    };
    let trust = |identity: &Identity| Trust::Ca(CaBundle::from_pem(identity.certificate.pem().as_bytes()).unwrap());
    let plain = own(IsCa::NoCa);
    check_trusted(&plain, &trust(&plain), rustls::ALL_VERSIONS).await;
    let ambitious = own(IsCa::Ca(BasicConstraints::Unconstrained));
    let detail = expect!["GET /redfish/v1/: the certificate is not trusted (it is a CA's own and no host's; trust it by its fingerprint)"];
    check_denied(&ambitious, &ambitious.key, &trust(&ambitious), detail).await;
    check_trusted(&ambitious, &pin(&ambitious), rustls::ALL_VERSIONS).await;
}

#[tokio::test]
async fn a_certificate_for_another_host_is_denied() {
    let issuer = ca("site1");
    let identity = signed("bmc7.example", &issuer);
    let detail = expect!["GET /redfish/v1/: the certificate is not trusted (it is for another host than the one asked)"];
    check_denied(&identity, &identity.key, &trust_ca(&issuer), detail).await;
}

#[tokio::test]
async fn a_pinned_certificate_is_trusted_though_expired_and_for_nobody() {
    let identity = factory(KeyPair::generate().unwrap());
    check_trusted(&identity, &pin(&identity), rustls::ALL_VERSIONS).await;
}

#[tokio::test]
async fn an_old_bmc_with_rsa_and_tls_1_2_is_reached() {
    let identity = factory(KeyPair::from_pem(RSA_KEY).unwrap());
    check_trusted(&identity, &pin(&identity), &[&version::TLS12]).await;
}

#[tokio::test]
async fn another_certificate_than_the_pinned_one_is_denied_and_its_fingerprint_told() {
    let identity = factory(KeyPair::from_pem(RSA_KEY).unwrap());
    let pinned = Trust::Fingerprint("00".repeat(32).parse().unwrap());
    let (base, server) = listen(&identity, &identity.key, rustls::ALL_VERSIONS).await;
    let fault = bmc(Transport::tls(&pinned).unwrap(), &base).observe_power().await.unwrap_err();
    assert_eq!((fault.class, fault.delivery), (FaultClass::Untrusted, Delivery::No));
    let found = Fingerprint::of(identity.certificate.der());
    let told = format!("the certificate is not trusted (its fingerprint is {found}, not 00:00:");
    assert!(fault.detail.contains(&told), "{fault}");
    assert_eq!(server.await.unwrap(), 0, "nothing is sent to a peer that is not trusted");
}

#[tokio::test]
async fn a_peer_that_shows_the_pinned_certificate_without_its_key_is_denied() {
    let identity = factory(KeyPair::generate().unwrap());
    let detail = expect![
        "GET /redfish/v1/: the certificate is not trusted (a signature does not verify: its issuer only bears the name of our CA, or the peer does not hold its key)"
    ];
    check_denied(&identity, &KeyPair::generate().unwrap(), &pin(&identity), detail).await;
}

#[tokio::test]
async fn an_expired_certificate_is_denied_where_a_ca_is_trusted() {
    let issuer = ca("site1");
    let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    params.not_before = date_time_ymd(2011, 1, 1);
    params.not_after = date_time_ymd(2012, 1, 1);
    let key = KeyPair::generate().unwrap();
    let identity = Identity { certificate: params.signed_by(&key, &issuer).unwrap(), key };
    let detail = expect!["GET /redfish/v1/: the certificate is not trusted (it has expired)"];
    check_denied(&identity, &identity.key, &trust_ca(&issuer), detail).await;
}

#[tokio::test]
async fn a_scheme_that_does_not_fit_the_transport_reaches_nobody() {
    let identity = factory(KeyPair::generate().unwrap());
    let (base, _server) = listen(&identity, &identity.key, rustls::ALL_VERSIONS).await;
    let fault = bmc(Transport::tcp(), &base).observe_power().await.unwrap_err();
    assert_eq!((fault.class, fault.delivery), (FaultClass::Unreachable, Delivery::No), "{fault}");
    let plain = base.replace("https", "http");
    let fault = bmc(Transport::tls(&pin(&identity)).unwrap(), &plain).observe_power().await.unwrap_err();
    assert_eq!((fault.class, fault.delivery), (FaultClass::Unreachable, Delivery::No), "{fault}");
}
