//! Which certificate proves that a BMC is the one we mean.
//!
//! A BMC is trusted because a CA of the site vouches for it, or because its very certificate was written down. The
//! roots of the public web vouch for no BMC, and "accept anything" is not offered: our passwords go over this line.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore, SignatureScheme};
use sha2::{Digest, Sha256};

/// How a BMC's certificate is judged.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Signed by one of these, in date, and for the host that is asked.
    Ca(CaBundle),
    /// Exactly the certificate with this fingerprint, whatever its name and dates: BMCs leave the factory with
    /// certificates that expired years ago and name nobody.
    Fingerprint(Fingerprint),
}

/// The CA certificates of a PEM file.
#[derive(Clone)]
pub struct CaBundle(Arc<RootCertStore>);

/// The SHA-256 of a certificate, as `openssl x509 -fingerprint -sha256` and browsers show it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; Fingerprint::BYTES]);

/// Why trust cannot be put in what was given.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("a SHA-256 fingerprint has 64 hexadecimal digits, not {0}")]
    FingerprintLength(usize),
    #[error("`{0}` is not a hexadecimal digit; a fingerprint looks like 3F:9A:… or 3f9a…")]
    FingerprintDigit(char),
    #[error("the colons of a fingerprint stand between every two digits or nowhere")]
    FingerprintColons,
    #[error("there is no certificate in the PEM text")]
    NoCertificate,
    #[error("the PEM text is broken")]
    Pem(#[source] rustls::pki_types::pem::Error),
    #[error("certificate {number} of the PEM text cannot be used as a CA")]
    Certificate { number: usize, source: rustls::Error },
    #[error("TLS cannot be set up")]
    Setup(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl CaBundle {
    pub fn from_pem(pem: &[u8]) -> Result<CaBundle, TrustError> {
        let mut roots = RootCertStore::empty();
        for (index, certificate) in CertificateDer::pem_slice_iter(pem).enumerate() {
            let certificate = certificate.map_err(TrustError::Pem)?;
            roots.add(certificate).map_err(|source| TrustError::Certificate { number: index + 1, source })?;
        }
        if roots.is_empty() { Err(TrustError::NoCertificate) } else { Ok(CaBundle(Arc::new(roots))) }
    }
}

impl fmt::Debug for CaBundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CaBundle({} certificates)", self.0.len())
    }
}

impl Fingerprint {
    const BYTES: usize = 32;

    /// The fingerprint of a certificate in DER.
    pub fn of(certificate: &[u8]) -> Fingerprint {
        Fingerprint(Sha256::digest(certificate).into())
    }
}

impl FromStr for Fingerprint {
    type Err = TrustError;

    fn from_str(text: &str) -> Result<Fingerprint, TrustError> {
        let text = text.trim();
        if text.contains(':') && text.split(':').any(|pair| pair.chars().count() != 2) {
            return Err(TrustError::FingerprintColons);
        }
        let mut digits = Vec::with_capacity(2 * Fingerprint::BYTES);
        for c in text.chars().filter(|c| *c != ':') {
            let digit = c.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            digits.push(digit.ok_or(TrustError::FingerprintDigit(c))?);
        }
        let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        let whole = digits.len() == 2 * Fingerprint::BYTES;
        let bytes = bytes.try_into().ok().filter(|_| whole);
        bytes.map(Fingerprint).ok_or(TrustError::FingerprintLength(digits.len()))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            let colon = if index == 0 { "" } else { ":" };
            write!(f, "{colon}{byte:02X}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl Trust {
    /// TLS 1.2 and 1.3 with the suites of *ring*, which service processors of the last decade speak.
    pub(crate) fn client_config(&self) -> Result<ClientConfig, TrustError> {
        let provider = Arc::new(ring::default_provider());
        let verifier: Arc<dyn ServerCertVerifier> = match self {
            Trust::Ca(CaBundle(roots)) => WebPkiServerVerifier::builder_with_provider(roots.clone(), provider.clone())
                .build()
                .map_err(|error| TrustError::Setup(error.into()))?,
            Trust::Fingerprint(pinned) => Arc::new(Pin { pinned: *pinned, provider: provider.clone() }),
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| TrustError::Setup(error.into()))?;
        Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
    }
}

/// Accepts one certificate. That the peer holds its key is verified all the same: a certificate is no secret.
#[derive(Debug)]
struct Pin {
    pinned: Fingerprint,
    provider: Arc<CryptoProvider>,
}

#[derive(Debug, thiserror::Error)]
#[error("its fingerprint is {found}, not {pinned}")]
pub(crate) struct WrongFingerprint {
    pub found: Fingerprint,
    pub pinned: Fingerprint,
}

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _host: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let found = Fingerprint::of(leaf);
        if found == self.pinned {
            return Ok(ServerCertVerified::assertion());
        }
        let wrong = WrongFingerprint { found, pinned: self.pinned };
        Err(CertificateError::Other(OtherError(Arc::new(wrong))).into())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, leaf, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, leaf, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// What is wrong with a certificate, in words that say what to do about it.
pub(crate) fn describe(error: &CertificateError) -> String {
    match error {
        CertificateError::UnknownIssuer => "it is not signed by the CA given for this BMC".to_owned(),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is for another host than the one asked".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired".to_owned(),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "it is not valid yet".to_owned(),
        CertificateError::BadSignature => {
            "a signature does not verify: its issuer only bears the name of our CA, or the peer does not hold its key".to_owned()
        }
        CertificateError::Other(OtherError(wrong)) => wrong.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn a_fingerprint_is_read_with_and_without_colons_and_shown_with() {
        let plain: Fingerprint = DIGITS.parse().unwrap();
        assert_eq!(plain, Fingerprint::of(b""));
        let shown = plain.to_string();
        assert!(shown.starts_with("E3:B0:C4:42:"), "{shown}");
        assert_eq!(format!(" {shown}\n").parse::<Fingerprint>().unwrap(), plain);
    }

    #[test]
    fn a_bad_fingerprint_is_refused_in_words() {
        let cases = [
            ("", "a SHA-256 fingerprint has 64 hexadecimal digits, not 0"),
            (&DIGITS[1..], "a SHA-256 fingerprint has 64 hexadecimal digits, not 63"),
            (&DIGITS[24..], "a SHA-256 fingerprint has 64 hexadecimal digits, not 40"),
            ("zz", "`z` is not a hexadecimal digit; a fingerprint looks like 3F:9A:… or 3f9a…"),
            ("e3:b:0c", "the colons of a fingerprint stand between every two digits or nowhere"),
            (":", "the colons of a fingerprint stand between every two digits or nowhere"),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse::<Fingerprint>().unwrap_err().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn a_bad_ca_file_is_refused_in_words() {
        let told = |pem: &str| CaBundle::from_pem(pem.as_bytes()).unwrap_err().to_string();
        assert_eq!(told(""), "there is no certificate in the PEM text");
        assert_eq!(told("hello"), "there is no certificate in the PEM text");
        assert_eq!(told("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"), "the PEM text is broken");
        let empty = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert_eq!(told(empty), "certificate 1 of the PEM text cannot be used as a CA");
    }
}
