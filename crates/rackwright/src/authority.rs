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
        match vault.load(&name).await {
            Ok(bytes) => {
                let kept = serde_json::from_slice(&bytes).map_err(|_| VaultError::WrongKey { name })?;
                Ok(Authority { kept })
            }
            Err(VaultError::Missing { .. }) => {
                let authority = Authority::make()?;
                let bytes = Zeroizing::new(serde_json::to_vec(&authority.kept).map_err(|error| wrong(&error))?);
                vault.save(&name, &bytes).await?;
                Ok(authority)
            }
            Err(error) => Err(error.into()),
        }
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
        let own_key = KeyPair::from_pem(&self.kept.key).map_err(|error| wrong(&error))?;
        let key = KeyPair::generate().map_err(|error| wrong(&error))?;
        let certificate = params_for(hosts)?.signed_by(&key, &Issuer::new(own_params(), own_key)).map_err(|error| wrong(&error))?;
        let key = Zeroizing::new(key.serialize_pem());
        let private = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|error| wrong(&error))?;
        let chain = vec![CertificateDer::from(certificate)];
        let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private))
            .map_err(|error| wrong(&error))?;
        Ok(TlsAcceptor::from(Arc::new(config)))
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

    #[tokio::test]
    async fn the_authority_stays_and_its_certificates_are_for_the_hosts_that_were_meant() {
        let store: store::SharedStore = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
        let vault = Vault::ephemeral(store.clone());
        let first = Authority::open(&vault).await.unwrap();
        let again = Authority::open(&vault).await.unwrap();
        assert_eq!(first.certificate(), again.certificate());
        let acceptor = again.acceptor(&["10.0.2.2", "install.example", "::1"]).unwrap();
        for host in ["10.0.2.2", "install.example", "::1"] {
            assert!(is_known_as(acceptor.clone(), &first, host).await, "{host}");
        }
        assert!(!is_known_as(acceptor.clone(), &first, "10.0.2.3").await);
        let stranger = Authority::make().unwrap();
        assert!(!is_known_as(acceptor, &stranger, "10.0.2.2").await);
    }
}
