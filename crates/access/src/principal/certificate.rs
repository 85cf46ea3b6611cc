//! Certificates of service principals, with whose keys they sign what they log in with.
//!
//! Whoever registers a certificate vouches for it, so neither its issuer nor its purposes are looked at; its key and its dates are.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use model::Timestamp;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use serde::{Deserialize, Serialize};
use x509_parser::pem::Pem;
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey;

/// Bytes of a certificate: four times as many as one with a key of 8,192 bits needs.
pub const CERTIFICATE_MAX: usize = 16 * 1024;

/// Bytes of a file with a certificate, which may have its private key and those who vouch for it as well.
pub const PEM_MAX: usize = 4 * CERTIFICATE_MAX;

/// Bits of an RSA key. Fewer can be broken, and more take our time.
const KEY_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCertificate {
    #[error("the certificate has more than {CERTIFICATE_MAX} bytes, or its file more than {PEM_MAX}")]
    TooLarge,
    #[error("there is no certificate in it")]
    Garbled,
    #[error("the certificate's key is none of RSA with 2048 to 8192 bits, which Azure's clients sign with")]
    Key,
}

/// What is kept of a certificate. Nothing of it is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Certificate {
    /// In base64url, as `x5t` of a token names it. Older clients know no other; it only finds the key, and proves nothing.
    pub sha1: String,
    /// As `x5t#S256` names it.
    pub sha256: String,
    /// The RSA key as PKCS #1 has it, in base64.
    public_key: String,
    pub not_before: Timestamp,
    pub not_after: Timestamp,
}

/// By which a token names a certificate.
#[derive(Clone, PartialEq, Eq)]
pub enum Thumbprint {
    Sha1(String),
    Sha256(String),
}

impl Certificate {
    /// The first certificate of a PEM file. What else is in it is not looked at: Azure's clients keep certificate and key in one file.
    pub fn from_pem(file: &[u8]) -> Result<Certificate, BadCertificate> {
        if file.len() > PEM_MAX {
            return Err(BadCertificate::TooLarge);
        }
        let mut blocks = Pem::iter_from_buffer(file).filter_map(Result::ok);
        let found = blocks.find(|block| block.label == "CERTIFICATE").ok_or(BadCertificate::Garbled)?;
        Certificate::from_der(&found.contents)
    }

    pub fn from_der(der: &[u8]) -> Result<Certificate, BadCertificate> {
        if der.len() > CERTIFICATE_MAX {
            return Err(BadCertificate::TooLarge);
        }
        let (rest, parsed) = X509Certificate::from_der(der).map_err(|_| BadCertificate::Garbled)?;
        if !rest.is_empty() {
            return Err(BadCertificate::Garbled);
        }
        let Ok(PublicKey::RSA(key)) = parsed.public_key().parsed() else { return Err(BadCertificate::Key) };
        if !KEY_BITS.contains(&key.key_size()) {
            return Err(BadCertificate::Key);
        }
        let instant = |seconds: i64| Timestamp::from_millis(seconds.saturating_mul(1_000));
        Ok(Certificate {
            sha1: URL_SAFE_NO_PAD.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, der)),
            sha256: URL_SAFE_NO_PAD.encode(digest(&SHA256, der)),
            public_key: STANDARD.encode(&parsed.public_key().subject_public_key.data),
            not_before: instant(parsed.validity().not_before.timestamp()),
            not_after: instant(parsed.validity().not_after.timestamp()),
        })
    }

    /// Azure's clients fill thumbprints up with `=`, which base64url does not need.
    pub fn has(&self, thumbprint: &Thumbprint) -> bool {
        match thumbprint {
            Thumbprint::Sha1(text) => self.sha1 == text.trim_end_matches('='),
            Thumbprint::Sha256(text) => self.sha256 == text.trim_end_matches('='),
        }
    }

    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.not_before <= now && now < self.not_after
    }

    /// The RSA key as PKCS #1 has it; nothing if what was stored is spoilt.
    pub(crate) fn public_key(&self) -> Option<Vec<u8>> {
        STANDARD.decode(&self.public_key).ok()
    }
}

impl fmt::Debug for Thumbprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Thumbprint::Sha1(text) | Thumbprint::Sha256(text)) = self;
        fmt::Debug::fmt(text, f)
    }
}
