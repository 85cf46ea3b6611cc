//! The authority that signs this control plane's own certificates: made at the first start, kept in the vault, the same ever after.
//!
//! Whoever talks to us is given the authority's certificate and no other, so the certificates themselves may be made anew at each
//! start, for the names that we are called by then.

use std::net::IpAddr;
use std::sync::Arc;

use model::SecretRef;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    SanType, date_time_ymd,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::{Deserialize, Serialize};
use store::{Vault, VaultError};
use tokio_rustls::TlsAcceptor;
use zeroize::{Zeroize, Zeroizing};

/// Where the authority is kept.
const SECRET: &str = "authority";

const NAME: &str = "Rackwright authority";

/// From when to when certificates are good, in years. Machines whose clocks have never been set are among those who judge them, and a
/// site whose authority has run out one night can install nothing.
const GOOD_FROM: i32 = 2020;
const GOOD_UNTIL: i32 = 2120;

/// What is spoken. Older versions are not in the library at all.
const TLS_VERSIONS: &[&rustls::SupportedProtocolVersion] = &[&rustls::version::TLS13, &rustls::version::TLS12];

#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    #[error("a certificate cannot be made: {0}")]
    Certificate(String),
    #[error(transparent)]
    Vault(#[from] VaultError),
}

/// As it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    certificate: String,
    key: String,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.key.zeroize();
    }
}

pub struct Authority {
    kept: Kept,
}

impl Authority {
    /// The one in the vault; made and saved first if there is none.
    pub async fn open(vault: &Vault) -> Result<Authority, AuthorityError> {
        let name = SecretRef::new(SECRET);
        let bytes = match vault.load(&name).await {
            // Two that start at once must have the same: what was handed out of the other would be good for nothing.
            Err(VaultError::Missing { .. }) => {
                let made = Authority::make()?;
                let bytes = Zeroizing::new(serde_json::to_vec(&made.kept).map_err(|error| wrong(&error))?);
                vault.save_first(&name, &bytes).await?
            }
            answer => answer?,
        };
        let kept = serde_json::from_slice(&bytes).map_err(|_| VaultError::WrongKey { name })?;
        Ok(Authority { kept })
    }

    fn make() -> Result<Authority, AuthorityError> {
        let key = KeyPair::generate().map_err(|error| wrong(&error))?;
        let certificate = own_params().self_signed(&key).map_err(|error| wrong(&error))?;
        Ok(Authority { kept: Kept { certificate: certificate.pem(), key: key.serialize_pem() } })
    }

    /// What others know us by, in PEM.
    pub fn certificate(&self) -> &str {
        &self.kept.certificate
    }

    /// Answers as these hosts, each a name or an address, with a certificate that is made now.
    pub fn acceptor(&self, hosts: &[&str]) -> Result<TlsAcceptor, AuthorityError> {
        let key = KeyPair::generate().map_err(|error| wrong(&error))?;
        let chain = vec![self.certify(hosts, &key)?];
        let key = Zeroizing::new(key.serialize_pem());
        let private = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|error| wrong(&error))?;
        let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(TLS_VERSIONS)
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private))
            .map_err(|error| wrong(&error))?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Says that whoever has this key is these hosts.
    fn certify(&self, hosts: &[&str], key: &KeyPair) -> Result<CertificateDer<'static>, AuthorityError> {
        let own_key = KeyPair::from_pem(&self.kept.key).map_err(|error| wrong(&error))?;
        let certificate = params_for(hosts)?.signed_by(key, &Issuer::new(own_params(), own_key)).map_err(|error| wrong(&error))?;
        Ok(CertificateDer::from(certificate))
    }
}

/// The same whenever it is asked for: an issuer is known by its name and its key.
fn own_params() -> CertificateParams {
    let mut params = bare_params(NAME);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn params_for(hosts: &[&str]) -> Result<CertificateParams, AuthorityError> {
    let mut params = bare_params("Rackwright");
    params.subject_alt_names = hosts.iter().map(|host| alternative(host)).collect::<Result<_, _>>()?;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    // Newer clients refuse a certificate that does not name its issuer's key.
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

fn bare_params(name: &str) -> CertificateParams {
    let mut names = DistinguishedName::new();
    names.push(DnType::CommonName, name);
    let mut params = CertificateParams::default();
    params.distinguished_name = names;
    params.not_before = date_time_ymd(GOOD_FROM, 1, 1);
    params.not_after = date_time_ymd(GOOD_UNTIL, 1, 1);
    params
}

fn alternative(host: &str) -> Result<SanType, AuthorityError> {
    match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        Ok(address) => Ok(SanType::IpAddress(address)),
        Err(_) => host.try_into().map(SanType::DnsName).map_err(|_| AuthorityError::Certificate(format!("`{host}` is no host"))),
    }
}

fn wrong(error: &dyn std::error::Error) -> AuthorityError {
    AuthorityError::Certificate(error.to_string())
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::ServerName;
    use store::{MemoryStore, SystemClock};
    use tokio_rustls::TlsConnector;
    use x509_parser::certificate::X509Certificate;
    use x509_parser::extensions::{GeneralName, ParsedExtension};
    use x509_parser::prelude::FromDer;

    use super::*;

    /// Whether a client that trusts `authority` takes our certificate for that of `host`.
    async fn is_known_as(acceptor: TlsAcceptor, authority: &Authority, host: &'static str) -> bool {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(authority.certificate().as_bytes()).unwrap()).unwrap();
        let config = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let answering = tokio::spawn(async move { acceptor.accept(ours).await.is_ok() });
        // The line is held until both have come to an end.
        let line = TlsConnector::from(Arc::new(config)).connect(ServerName::try_from(host).unwrap(), theirs).await;
        line.is_ok() && answering.await.unwrap()
    }

    /// The beginning of a handshake of a client that knows nothing newer than a version of TLS, and all else that we want.
    fn hello(version: [u8; 2]) -> Vec<u8> {
        let signatures = [0, 13, 0, 4, 0, 2, 4, 3];
        let groups = [0, 10, 0, 6, 0, 4, 0, 29, 0, 23];
        let points = [0, 11, 0, 2, 1, 0];
        let extensions = [&signatures[..], &groups, &points].concat();
        // Its version, 32 random bytes, no session, two cipher suites, no compression.
        let body = [&version[..], &[7; 32], &[0], &[0, 4, 0xc0, 0x2b, 0xc0, 0x09], &[1, 0], &[0, 24], &extensions].concat();
        let length = u8::try_from(body.len()).unwrap();
        [&[0x16, 3, 1, 0, length + 4, 1, 0, 0, length], &body[..]].concat()
    }

    /// Python 3.13 and others refuse a chain in which any of this is missing.
    #[test]
    fn the_certificates_say_all_that_strict_clients_look_for() {
        let authority = Authority::make().unwrap();
        let own = CertificateDer::from_pem_slice(authority.certificate().as_bytes()).unwrap();
        let (_, own) = X509Certificate::from_der(&own).unwrap();
        let constraints = own.basic_constraints().unwrap().unwrap();
        assert!(constraints.critical && constraints.value.ca);
        let usage = own.key_usage().unwrap().unwrap();
        assert!(usage.critical && usage.value.key_cert_sign() && usage.value.crl_sign());
        assert!(!usage.value.digital_signature(), "it signs certificates and nothing else");

        let leaf = authority.certify(&["localhost", "127.0.0.1"], &KeyPair::generate().unwrap()).unwrap();
        let (_, leaf) = X509Certificate::from_der(&leaf).unwrap();
        assert!(leaf.basic_constraints().unwrap().is_none_or(|constraints| !constraints.value.ca));
        let names = &leaf.subject_alternative_name().unwrap().unwrap().value.general_names;
        assert_eq!(*names, [GeneralName::DNSName("localhost"), GeneralName::IPAddress(&[127, 0, 0, 1])]);
        let purposes = leaf.extended_key_usage().unwrap().unwrap().value;
        assert!(purposes.server_auth && !purposes.client_auth && !purposes.any);
        assert_eq!(signer_of(&leaf), known_as(&own).expect("the authority has an id of its key"));
    }

    /// The id of a certificate's own key.
    fn known_as(certificate: &X509Certificate<'_>) -> Option<Vec<u8>> {
        certificate.extensions().iter().find_map(|extension| match extension.parsed_extension() {
            ParsedExtension::SubjectKeyIdentifier(id) => Some(id.0.to_vec()),
            _ => None,
        })
    }

    /// The id of the key that signed a certificate.
    fn signer_of(certificate: &X509Certificate<'_>) -> Vec<u8> {
        let named = certificate.extensions().iter().find_map(|extension| match extension.parsed_extension() {
            ParsedExtension::AuthorityKeyIdentifier(id) => id.key_identifier.as_ref().map(|id| id.0.to_vec()),
            _ => None,
        });
        named.expect("a certificate names the key that signed it")
    }

    #[tokio::test]
    async fn nothing_older_than_tls_1_2_is_spoken() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let versions: Vec<_> = TLS_VERSIONS.iter().map(|version| version.version).collect();
        assert_eq!(versions, [rustls::ProtocolVersion::TLSv1_3, rustls::ProtocolVersion::TLSv1_2]);
        let acceptor = Authority::make().unwrap().acceptor(&["localhost"]).unwrap();
        // The kind of the answer's record: a handshake that goes on, or an alert.
        for (version, record) in [([3, 3], 0x16), ([3, 2], 0x15), ([3, 1], 0x15), ([3, 0], 0x15)] {
            let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
            let accepted = tokio::spawn(acceptor.accept(ours));
            theirs.write_all(&hello(version)).await.unwrap();
            let mut begin = [0; 6];
            theirs.read_exact(&mut begin).await.unwrap();
            assert_eq!(begin[0], record, "{version:?}");
            drop(theirs);
            assert!(accepted.await.unwrap().is_err());
        }
    }

    #[tokio::test]
    async fn the_authority_stays_and_its_certificates_are_for_the_hosts_that_were_meant() {
        let store: store::SharedStore = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
        let vault = Vault::ephemeral(store.clone());
        let first = Authority::open(&vault).await.unwrap();
        let again = Authority::open(&vault).await.unwrap();
        assert_eq!(first.certificate(), again.certificate());
        let late = serde_json::to_vec(&Authority::make().unwrap().kept).unwrap();
        let kept = vault.save_first(&SecretRef::new(SECRET), &late).await.unwrap();
        assert_ne!(*kept, late, "whoever comes second takes what the first one made");
        let acceptor = again.acceptor(&["10.0.2.2", "install.example", "::1"]).unwrap();
        for host in ["10.0.2.2", "install.example", "::1"] {
            assert!(is_known_as(acceptor.clone(), &first, host).await, "{host}");
        }
        assert!(!is_known_as(acceptor.clone(), &first, "10.0.2.3").await);
        let stranger = Authority::make().unwrap();
        assert!(!is_known_as(acceptor, &stranger, "10.0.2.2").await);
    }
}
