//! Tokens of other issuers, by which people are known. Their keys are passed in; who fetches them, and when, is not decided here.

use std::collections::BTreeMap;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use model::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::envelope::{self, Audience, Seconds, Times};
use super::rejection::Rejection;
use crate::guid::TenantId;
use crate::principal::User;

/// Keys of one issuer. Entra has about ten.
pub const JWKS_KEYS_MAX: usize = 64;

/// Bytes of an issuer's keys.
pub const JWKS_MAX: usize = 256 * 1024;

/// The members of a JWK that only its owner should have: of private keys, and of shared secrets.
const PRIVATE: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// Characters that are kept of a person's name.
const NAME_MAX: usize = 120;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadKeys {
    #[error("the issuer's keys have more than {JWKS_MAX} bytes, or are more than {JWKS_KEYS_MAX}")]
    TooMany,
    #[error("the issuer's keys are no JWKS")]
    Garbled,
    #[error("the issuer's keys have private parts, which nobody here should have; give the public ones alone")]
    Private,
    #[error("none of the issuer's keys can sign a token that is taken here; RSA, P-256 and Ed25519 are")]
    NoneUsable,
}

/// An issuer that we trust to know people.
#[derive(Clone, Debug)]
pub struct ForeignIssuer {
    issuer: String,
    /// As the issuer calls us.
    audiences: Vec<String>,
    /// The tenant of its people where its tokens name none.
    tenant: TenantId,
    keys: BTreeMap<String, ForeignKey>,
}

#[derive(Clone, Debug)]
struct ForeignKey {
    key: DecodingKey,
    taken: Vec<Algorithm>,
}

/// What another issuer says of somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignClaims {
    pub user: User,
    pub expires_at: Timestamp,
}

#[derive(Deserialize)]
struct Told {
    iss: String,
    sub: String,
    aud: Audience,
    exp: Seconds,
    #[serde(default)]
    nbf: Option<Seconds>,
    #[serde(default)]
    tid: Option<TenantId>,
    #[serde(default)]
    preferred_username: Option<String>,
    #[serde(default)]
    upn: Option<String>,
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    name: Option<String>,
}

impl ForeignIssuer {
    pub fn new(issuer: impl Into<String>, audiences: Vec<String>, tenant: TenantId, jwks: &str) -> Result<ForeignIssuer, BadKeys> {
        let mut made = ForeignIssuer { issuer: issuer.into(), audiences, tenant, keys: BTreeMap::new() };
        made.replace_keys(jwks)?;
        Ok(made)
    }

    /// Takes the issuer's keys as they are now. If they cannot be used, those that were known stay.
    pub fn replace_keys(&mut self, jwks: &str) -> Result<(), BadKeys> {
        if jwks.len() > JWKS_MAX {
            return Err(BadKeys::TooMany);
        }
        let told: Value = serde_json::from_str(jwks).map_err(|_| BadKeys::Garbled)?;
        // They would be kept as they come, and lie in every backup.
        let mut keys = told["keys"].as_array().into_iter().flatten();
        if keys.any(|key| PRIVATE.iter().any(|part| key.get(part).is_some())) {
            return Err(BadKeys::Private);
        }
        let set: JwkSet = serde_json::from_value(told).map_err(|_| BadKeys::Garbled)?;
        if set.keys.len() > JWKS_KEYS_MAX {
            return Err(BadKeys::TooMany);
        }
        let usable = |jwk: &Jwk| Some((jwk.common.key_id.clone()?, ForeignKey::of(jwk)?));
        let keys: BTreeMap<String, ForeignKey> = set.keys.iter().filter_map(usable).collect();
        if keys.is_empty() {
            return Err(BadKeys::NoneUsable);
        }
        self.keys = keys;
        Ok(())
    }

    /// Who a token says has made it. Nothing is proven by that: it tells whose keys to check it with.
    pub fn claimed_by(token: &str) -> Result<String, Rejection> {
        #[derive(Deserialize)]
        struct Claimed {
            iss: String,
        }
        envelope::header(token)?;
        let claimed: Claimed = jsonwebtoken::dangerous::insecure_decode_claims(token).map_err(|_| Rejection::Claims)?;
        Ok(claimed.iss)
    }

    pub fn check(&self, token: &str, now: Timestamp) -> Result<ForeignClaims, Rejection> {
        let header = envelope::header(token)?;
        let known = header.kid.as_ref().and_then(|id| self.keys.get(id)).ok_or(Rejection::UnknownKey)?;
        let told: Told = envelope::open(token, &header, &known.key, &known.taken)?;
        if told.iss != self.issuer {
            return Err(Rejection::WrongIssuer);
        }
        if !told.aud.has_any_of(&self.audiences) {
            return Err(Rejection::WrongAudience);
        }
        if told.sub.is_empty() {
            return Err(Rejection::Claims);
        }
        Times { not_before: told.nbf.map(|seconds| seconds.0), expires: told.exp.0 }.check(now)?;
        Ok(ForeignClaims { expires_at: envelope::instant(told.exp.0), user: self.user(told) })
    }

    fn user(&self, told: Told) -> User {
        let named = told.preferred_username.or(told.upn).or(told.email).or(told.name);
        User {
            name: model::cleaned(&named.unwrap_or_else(|| told.sub.clone()), NAME_MAX),
            issuer: told.iss,
            subject: told.sub,
            tenant: told.tid.unwrap_or(self.tenant),
        }
    }
}

impl ForeignKey {
    /// Nothing for a key that is not for signatures, or of a kind that is not taken. A shared secret is none: whoever verifies with it
    /// could sign.
    fn of(jwk: &Jwk) -> Option<ForeignKey> {
        if !matches!(jwk.common.public_key_use, None | Some(PublicKeyUse::Signature)) {
            return None;
        }
        let of_kind: &[(Algorithm, KeyAlgorithm)] = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => &[(Algorithm::RS256, KeyAlgorithm::RS256), (Algorithm::PS256, KeyAlgorithm::PS256)],
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => &[(Algorithm::ES256, KeyAlgorithm::ES256)],
            AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => &[(Algorithm::EdDSA, KeyAlgorithm::EdDSA)],
            _ => return None,
        };
        let is_meant = |named: &KeyAlgorithm| jwk.common.key_algorithm.as_ref().is_none_or(|meant| meant == named);
        let taken: Vec<Algorithm> = of_kind.iter().filter(|(_, named)| is_meant(named)).map(|(taken, _)| *taken).collect();
        let key = DecodingKey::from_jwk(jwk).ok()?;
        (!taken.is_empty()).then_some(ForeignKey { key, taken })
    }
}
