//! The keys of our tokens. One signs; those that signed what may still be good verify.
//!
//! Each is a pair of two: one of Ed25519, whose public half others know, and a secret that is derived from the same seed and never leaves us.
//!
//! A key has a time from which on it signs. It verifies before, so that all replicas know it when the first signs with it, and after its
//! successor took over until the last token that it signed has expired.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use model::{Span, Timestamp};
use ring::hmac;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::CLOCK_SKEW;

/// Random bytes that make a key.
pub const SEED_BYTES: usize = 32;

/// The longest life of anything that a key signs.
pub const SIGNED_LIFE_MAX: Span = Span::hours(12);

/// How long a key verifies after its successor signs: as long as what it signed last is taken, by a replica whose clock is late.
const VERIFIES_FOR: Span = Span::millis(SIGNED_LIFE_MAX.as_millis() + 2 * CLOCK_SKEW.as_millis());

/// What the secret is derived for, so that it is nothing else's.
const DERIVED_FOR: &[u8] = b"rackwright tokens that only rackwright reads, 1";

/// Who reads a token, which decides how it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// We alone. Whoever may verify it could have made it, so a secret does; it takes a small part of the time of a public key.
    Us,
    /// Others too, who know our public keys.
    Anybody,
}

#[derive(Clone)]
pub struct SigningKey {
    /// The thumbprint of the public key, as RFC 7638 has it.
    id: String,
    signs_from: Timestamp,
    for_us: Pair,
    for_anybody: Pair,
    public: String,
}

/// What signs, and what verifies it.
#[derive(Clone)]
pub(super) struct Pair {
    pub signing: EncodingKey,
    pub verifying: DecodingKey,
}

impl Reader {
    /// The one that is taken for this reader.
    pub(super) fn algorithm(self) -> Algorithm {
        match self {
            Reader::Us => Algorithm::HS256,
            Reader::Anybody => Algorithm::EdDSA,
        }
    }
}

/// The keys by the time from which on they sign. The latest that has come signs.
#[derive(Clone, Debug, Default)]
pub struct SigningKeys(BTreeMap<Timestamp, SigningKey>);

impl SigningKey {
    /// Nothing if the seed is not [`SEED_BYTES`] long. It must be random, and is kept in the vault.
    pub fn from_seed(seed: &[u8], signs_from: Timestamp) -> Option<SigningKey> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
        let public = URL_SAFE_NO_PAD.encode(pair.public_key());
        let secret = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, seed), DERIVED_FOR);
        // The members in the order of the alphabet and without spaces, as RFC 7638 wants them.
        let members = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{public}"}}"#);
        Some(SigningKey {
            id: URL_SAFE_NO_PAD.encode(Sha256::digest(members)),
            signs_from,
            for_us: Pair { signing: EncodingKey::from_secret(secret.as_ref()), verifying: DecodingKey::from_secret(secret.as_ref()) },
            for_anybody: Pair { signing: EncodingKey::from_ed_der(seed), verifying: DecodingKey::from_ed_der(pair.public_key().as_ref()) },
            public,
        })
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn signs_from(&self) -> Timestamp {
        self.signs_from
    }

    pub(super) fn pair(&self, reader: Reader) -> &Pair {
        match reader {
            Reader::Us => &self.for_us,
            Reader::Anybody => &self.for_anybody,
        }
    }
}

impl SigningKeys {
    /// A key that begins to sign at the same instant as another takes its place.
    pub fn add(&mut self, key: SigningKey) {
        self.0.insert(key.signs_from, key);
    }

    /// The first, if none has come: a clock that was ahead when it was made would else shut everybody out.
    pub(super) fn signer(&self, now: Timestamp) -> Option<&SigningKey> {
        self.0.range(..=now).next_back().or_else(|| self.0.first_key_value()).map(|(_, key)| key)
    }

    pub(super) fn verifier(&self, id: &str, now: Timestamp) -> Option<&SigningKey> {
        self.verifying(now).find(|key| key.id == id)
    }

    /// Those that what was signed with them may still be good.
    fn verifying(&self, now: Timestamp) -> impl Iterator<Item = &SigningKey> {
        let successors = self.0.keys().skip(1).map(Some).chain([None]);
        let is_good = move |successor: Option<&Timestamp>| successor.is_none_or(|signs_from| now < *signs_from + VERIFIES_FOR);
        self.0.values().zip(successors).filter(move |(_, successor)| is_good(*successor)).map(|(key, _)| key)
    }

    /// Forgets the keys that verify nothing any more, and names them, so that their seeds can be removed from the vault.
    pub fn forget_spent(&mut self, now: Timestamp) -> Vec<String> {
        let good: Vec<Timestamp> = self.verifying(now).map(|key| key.signs_from).collect();
        let spent: Vec<Timestamp> = self.0.keys().filter(|signs_from| !good.contains(signs_from)).copied().collect();
        spent.iter().filter_map(|signs_from| self.0.remove(signs_from)).map(|key| key.id).collect()
    }

    /// The public keys, as a JWKS that others verify with what is for them.
    pub fn jwks(&self, now: Timestamp) -> Value {
        let key =
            |key: &SigningKey| json!({ "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": key.id, "x": key.public });
        json!({ "keys": self.verifying(now).map(key).collect::<Vec<Value>>() })
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.id).field("signs_from", &self.signs_from).finish_non_exhaustive()
    }
}
