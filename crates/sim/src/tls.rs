//! Certificates for BMCs that speak HTTPS and for the API servers of tenant clusters, which always do: one authority per
//! site and one leaf per service, the same at every start.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, SanType};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio_rustls::TlsAcceptor;
use world::Record;

use crate::error::SimError;
use crate::site::{Site, TLS_KEY, parse};

/// What a caller of the BMCs may trust: the site's authority, or each BMC's own certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BmcTrust {
    pub ca_pem: String,
    /// By machine: the SHA-256 of the certificate, as `openssl x509 -fingerprint -sha256` prints it.
    pub fingerprints: BTreeMap<String, String>,
}

/// A certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Leaf {
    certificate: String,
    key: String,
}

/// All certificates of a site, as they are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    /// The leaves are for this address.
    ip: IpAddr,
    authority: Leaf,
    leaves: BTreeMap<String, Leaf>,
    /// By tenant cluster: the certificate of its API server.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tenants: BTreeMap<String, Leaf>,
}

/// What the listeners need.
pub(crate) struct Certificates {
    pub trust: BmcTrust,
    pub acceptors: BTreeMap<String, TlsAcceptor>,
}

/// What the listeners of tenant clusters need, and what their kubeconfigs say.
pub(crate) struct TenantCertificates {
    pub ca_pem: String,
    pub acceptors: BTreeMap<String, TlsAcceptor>,
    /// With a certificate that nobody trusts, for those who are to meet one.
    pub stray: TlsAcceptor,
}

impl Site {
    /// The certificates of the API servers of tenant clusters at `ip`; made and kept if there are none yet.
    pub(crate) async fn tenant_certificates(&self, ip: IpAddr, clusters: &[String]) -> Result<TenantCertificates, SimError> {
        let before = self.kept_certificates().await?;
        let mut kept = complete(before.clone(), &self.layout().site, &[], ip)?;
        let key = KeyPair::from_pem(&kept.authority.key).map_err(|error| tls(&error))?;
        let issuer = Issuer::new(authority_params(&self.layout().site), key);
        for cluster in clusters {
            if !kept.tenants.contains_key(cluster) {
                kept.tenants.insert(cluster.clone(), new_leaf(&format!("{cluster} API"), ip, &issuer)?);
            }
        }
        self.keep_certificates(before.as_ref(), &kept).await?;
        let mut acceptors = BTreeMap::new();
        for (name, leaf) in &kept.tenants {
            acceptors.insert(name.clone(), acceptor_of(leaf)?);
        }
        let stray = new_authority(&format!("not {}", self.layout().site))?;
        Ok(TenantCertificates { ca_pem: kept.authority.certificate, acceptors, stray: acceptor_of(&stray)? })
    }

    async fn kept_certificates(&self) -> Result<Option<Kept>, SimError> {
        match self.inner.journal.load(TLS_KEY).await? {
            Some(bytes) => Ok(Some(parse(TLS_KEY, &bytes)?)),
            None => Ok(None),
        }
    }

    async fn keep_certificates(&self, before: Option<&Kept>, kept: &Kept) -> Result<(), SimError> {
        if before != Some(kept) {
            self.save_with(vec![Record { key: TLS_KEY.to_owned(), value: Some(json!(kept)) }]).await?;
        }
        Ok(())
    }

    /// The site's certificates for BMCs at `ip`; made and kept if there are none yet.
    pub(crate) async fn certificates(&self, ip: IpAddr) -> Result<Certificates, SimError> {
        let before = self.kept_certificates().await?;
        let names: Vec<&str> = self.layout().machines().iter().map(|machine| machine.name.as_str()).collect();
        let kept = complete(before.clone(), &self.layout().site, &names, ip)?;
        self.keep_certificates(before.as_ref(), &kept).await?;
        let mut fingerprints = BTreeMap::new();
        let mut acceptors = BTreeMap::new();
        for (name, leaf) in &kept.leaves {
            let certificate = CertificateDer::from_pem_slice(leaf.certificate.as_bytes()).map_err(|error| tls(&error))?;
            fingerprints.insert(name.clone(), fingerprint(&certificate));
            acceptors.insert(name.clone(), acceptor(certificate, &leaf.key)?);
        }
        Ok(Certificates { trust: BmcTrust { ca_pem: kept.authority.certificate, fingerprints }, acceptors })
    }
}

/// What was kept, with what is missing. Another address needs other leaves; the authority stays.
fn complete(before: Option<Kept>, site: &str, machines: &[&str], ip: IpAddr) -> Result<Kept, SimError> {
    let mut kept = match before {
        Some(kept) if kept.ip == ip => kept,
        Some(kept) => Kept { ip, leaves: BTreeMap::new(), tenants: BTreeMap::new(), ..kept },
        None => Kept { ip, authority: new_authority(site)?, leaves: BTreeMap::new(), tenants: BTreeMap::new() },
    };
    let key = KeyPair::from_pem(&kept.authority.key).map_err(|error| tls(&error))?;
    let issuer = Issuer::new(authority_params(site), key);
    for machine in machines {
        if !kept.leaves.contains_key(*machine) {
            kept.leaves.insert((*machine).to_owned(), new_leaf(&format!("{machine} BMC"), ip, &issuer)?);
        }
    }
    Ok(kept)
}

/// The same whenever it is asked for: an issuer is known by its name and its key.
fn authority_params(site: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = named(&format!("{site} BMC authority"));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn new_authority(site: &str) -> Result<Leaf, SimError> {
    let key = KeyPair::generate().map_err(|error| tls(&error))?;
    let certificate = authority_params(site).self_signed(&key).map_err(|error| tls(&error))?;
    Ok(Leaf { certificate: certificate.pem(), key: key.serialize_pem() })
}

fn new_leaf(name: &str, ip: IpAddr, issuer: &Issuer<'_, KeyPair>) -> Result<Leaf, SimError> {
    let key = KeyPair::generate().map_err(|error| tls(&error))?;
    let mut params = CertificateParams::default();
    params.distinguished_name = named(name);
    params.subject_alt_names = vec![SanType::IpAddress(ip)];
    params.use_authority_key_identifier_extension = true;
    let certificate = params.signed_by(&key, issuer).map_err(|error| tls(&error))?;
    Ok(Leaf { certificate: certificate.pem(), key: key.serialize_pem() })
}

fn named(name: &str) -> DistinguishedName {
    let mut names = DistinguishedName::new();
    names.push(DnType::CommonName, name);
    names
}

fn acceptor_of(leaf: &Leaf) -> Result<TlsAcceptor, SimError> {
    let certificate = CertificateDer::from_pem_slice(leaf.certificate.as_bytes()).map_err(|error| tls(&error))?;
    acceptor(certificate, &leaf.key)
}

fn acceptor(certificate: CertificateDer<'static>, key: &str) -> Result<TlsAcceptor, SimError> {
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|error| tls(&error))?;
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![certificate], key))
        .map_err(|error| tls(&error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// `3F:9A:…`
fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    Sha256::digest(certificate.as_ref()).iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
}

fn tls(error: &dyn std::error::Error) -> SimError {
    SimError::Certificates { why: error.to_string() }
}
