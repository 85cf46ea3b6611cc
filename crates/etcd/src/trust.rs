//! How we know etcd, and how it knows us: by certificates, on both sides. Whoever reaches etcd with one has the whole cluster
//! in hand, so that its key is treated as a password is.

use std::fmt;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{AlertDescription, CertificateError, ClientConfig, OtherError, RootCertStore};
use zeroize::Zeroizing;

/// The CA of etcd, and the certificate of ours that it knows us by.
#[derive(Clone)]
pub struct Tls {
    roots: Arc<RootCertStore>,
    chain: Vec<CertificateDer<'static>>,
    /// In PEM, because that is wiped when it is dropped.
    key: Arc<Zeroizing<Vec<u8>>>,
}

/// Why etcd cannot be reached with what was given. It never quotes a key.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("there is no certificate in the PEM text")]
    NoCertificate,
    #[error("there is no private key in the PEM text")]
    NoKey,
    #[error("the PEM text is broken")]
    Pem,
    #[error("certificate {number} of the PEM text cannot be used as a CA")]
    Ca { number: usize },
    #[error("the certificate and the key do not belong together, or the key is of a kind that is not supported")]
    Identity,
    #[error("TLS cannot be set up")]
    Setup,
}

impl Tls {
    /// Trusts the certificates of `ca`, and shows `certificate`, whose private key is `key`; all in PEM.
    pub fn new(ca: &[u8], certificate: &[u8], key: Zeroizing<Vec<u8>>) -> Result<Tls, TlsError> {
        let tls = Tls { roots: Arc::new(read_ca(ca)?), chain: read_chain(certificate)?, key: Arc::new(key) };
        tls.client_config().map(|_| tls)
    }

    /// TLS 1.2 and 1.3 with the suites of *ring*.
    pub(crate) fn client_config(&self) -> Result<ClientConfig, TlsError> {
        let key = PrivateKeyDer::from_pem_slice(&self.key).map_err(|_| TlsError::NoKey)?;
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|_| TlsError::Setup)?;
        builder.with_root_certificates(self.roots.clone()).with_client_auth_cert(self.chain.clone(), key).map_err(|_| TlsError::Identity)
    }
}

/// The certificates of a CA file.
fn read_ca(pem: &[u8]) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for (index, certificate) in read_chain(pem)?.into_iter().enumerate() {
        roots.add(certificate).map_err(|_| TlsError::Ca { number: index + 1 })?;
    }
    Ok(roots)
}

fn read_chain(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().map_err(|_| TlsError::Pem)?;
    if chain.is_empty() { Err(TlsError::NoCertificate) } else { Ok(chain) }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("roots", &self.roots.len()).field("chain", &self.chain.len()).finish_non_exhaustive()
    }
}

/// What is wrong with etcd's certificate, in words that say what to do about it.
pub(crate) fn describe(error: &CertificateError) -> String {
    match error {
        CertificateError::UnknownIssuer => "it is not signed by the CA given for etcd".to_owned(),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is for another host than the one asked".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired".to_owned(),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "it is not valid yet".to_owned(),
        CertificateError::Other(OtherError(wrong)) => wrong.to_string(),
        other => other.to_string(),
    }
}

pub(crate) fn is_about_our_certificate(alert: AlertDescription) -> bool {
    use AlertDescription as Alert;
    matches!(
        alert,
        Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied
            | Alert::CertificateRequired
    )
}
