//! Signatures with *ring*, which is here already for TLS, as the JWT library wants them.

use std::sync::Once;

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error, Signer, Verifier};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::hmac;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, Ed25519KeyPair, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256, RsaParameters,
    RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};

static PROVIDER: CryptoProvider =
    CryptoProvider { signer_factory: signer, verifier_factory: verifier, key_utils: KeyUtils::new_unimplemented() };

/// The library takes its provider from the process. Nobody else here uses the library, so none is there before.
pub(super) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = PROVIDER.install_default();
    });
}

struct Ed25519Signer(Ed25519KeyPair);

impl Signer<Vec<u8>> for Ed25519Signer {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        Ok(self.0.sign(message).as_ref().to_vec())
    }
}

impl JwtSigner for Ed25519Signer {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

struct HmacSigner(hmac::Key);

impl Signer<Vec<u8>> for HmacSigner {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        Ok(hmac::sign(&self.0, message).as_ref().to_vec())
    }
}

impl JwtSigner for HmacSigner {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

/// The bytes of a key of Ed25519 are its seed.
fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    match (algorithm, key.family()) {
        (Algorithm::HS256, AlgorithmFamily::Hmac) => Ok(Box::new(HmacSigner(hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes())))),
        (Algorithm::EdDSA, AlgorithmFamily::Ed) => {
            let pair = Ed25519KeyPair::from_seed_unchecked(key.as_bytes()).map_err(|_| ErrorKind::InvalidEddsaKey)?;
            Ok(Box::new(Ed25519Signer(pair)))
        }
        _ => Err(ErrorKind::InvalidAlgorithm.into()),
    }
}

struct RingVerifier {
    algorithm: Algorithm,
    key: DecodingKey,
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    if algorithm.family() != key.family() {
        return Err(ErrorKind::InvalidAlgorithm.into());
    }
    Ok(Box::new(RingVerifier { algorithm: *algorithm, key: key.clone() }))
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        let is_good = match self.algorithm {
            Algorithm::HS256 => self.is_sealed(message, signature),
            Algorithm::EdDSA => self.is_signed(&ED25519, message, signature),
            Algorithm::ES256 => self.is_signed(&ECDSA_P256_SHA256_FIXED, message, signature),
            Algorithm::RS256 => self.is_signed_rsa(&RSA_PKCS1_2048_8192_SHA256, message, signature),
            Algorithm::PS256 => self.is_signed_rsa(&RSA_PSS_2048_8192_SHA256, message, signature),
            _ => false,
        };
        if is_good { Ok(()) } else { Err(Error::new()) }
    }
}

impl RingVerifier {
    /// Compared in a time that tells nothing of how far it is right.
    fn is_sealed(&self, message: &[u8], seal: &[u8]) -> bool {
        let DecodingKeyKind::SecretOrDer(secret) = self.key.kind() else { return false };
        hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, secret), message, seal).is_ok()
    }

    fn is_signed(&self, algorithm: &'static dyn VerificationAlgorithm, message: &[u8], signature: &[u8]) -> bool {
        let DecodingKeyKind::SecretOrDer(bytes) = self.key.kind() else { return false };
        UnparsedPublicKey::new(algorithm, bytes).verify(message, signature).is_ok()
    }

    /// Keys of RSA come as PKCS #1 from certificates, and as two numbers from other issuers.
    fn is_signed_rsa(&self, parameters: &'static RsaParameters, message: &[u8], signature: &[u8]) -> bool {
        match self.key.kind() {
            DecodingKeyKind::SecretOrDer(_) => self.is_signed(parameters, message, signature),
            DecodingKeyKind::RsaModulusExponent { n, e } => RsaPublicKeyComponents { n, e }.verify(parameters, message, signature).is_ok(),
        }
    }
}
