//! A token as it comes: its size, its header, its signature, and its times.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation};
use model::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use super::rejection::Rejection;
use super::{CLOCK_SKEW, TOKEN_MAX, signatures};

/// What is looked at before anything is believed: which key and which algorithm it claims.
pub(super) fn header(token: &str) -> Result<Header, Rejection> {
    if token.len() > TOKEN_MAX {
        return Err(Rejection::Oversized);
    }
    let header = jsonwebtoken::decode_header(token).map_err(|_| unreadable(token))?;
    if header.crit.is_some() || header.enc.is_some() || header.zip.is_some() {
        return Err(Rejection::UnknownExtension);
    }
    Ok(header)
}

/// What is wrong with a header that the library does not take: an algorithm that it does not know, or everything.
fn unreadable(token: &str) -> Rejection {
    #[derive(Deserialize)]
    struct Named {
        alg: String,
    }
    let mut parts = token.split('.');
    let (Some(first), Some(_), Some(_), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Rejection::Malformed;
    };
    let named = URL_SAFE_NO_PAD.decode(first).ok().and_then(|json| serde_json::from_slice::<Named>(&json).ok());
    match named {
        Some(Named { alg }) if alg.eq_ignore_ascii_case("none") => Rejection::Unsigned,
        Some(_) => Rejection::OtherAlgorithm,
        None => Rejection::Malformed,
    }
}

/// The claims, if the key signed them with an algorithm that is taken for it. Nothing is judged of what they say.
pub(super) fn open<T: DeserializeOwned>(token: &str, header: &Header, key: &DecodingKey, taken: &[Algorithm]) -> Result<T, Rejection> {
    if !taken.contains(&header.alg) {
        return Err(Rejection::OtherAlgorithm);
    }
    signatures::install();
    let mut signature_alone = Validation::new(header.alg);
    signature_alone.required_spec_claims.clear();
    signature_alone.validate_exp = false;
    signature_alone.validate_aud = false;
    let opened = jsonwebtoken::decode::<T>(token, key, &signature_alone).map_err(|error| match error.kind() {
        ErrorKind::InvalidSignature => Rejection::Forged,
        ErrorKind::InvalidAlgorithm => Rejection::OtherAlgorithm,
        ErrorKind::Json(_) => Rejection::Claims,
        _ => Rejection::Malformed,
    })?;
    Ok(opened.claims)
}

/// From when to when a token is good, in seconds as JWTs have them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub not_before: Option<i64>,
    pub expires: i64,
}

impl Times {
    pub fn check(self, now: Timestamp) -> Result<(), Rejection> {
        if now >= instant(self.expires) + CLOCK_SKEW {
            return Err(Rejection::Expired);
        }
        if self.not_before.is_some_and(|not_before| now + CLOCK_SKEW < instant(not_before)) {
            return Err(Rejection::NotYetValid);
        }
        Ok(())
    }
}

/// An instant of somebody else's token: seconds, of which there may be parts. Azure's command line sends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seconds(pub i64);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Seconds, D::Error> {
        f64::deserialize(deserializer).map(|seconds| Seconds(seconds.floor() as i64))
    }
}

pub(super) fn instant(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds.saturating_mul(1_000))
}

pub(super) fn seconds(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(1_000)
}

/// Whom a token is meant for: one, or several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Audience {
    pub fn has_any_of(&self, names: &[String]) -> bool {
        match self {
            Audience::One(audience) => names.contains(audience),
            Audience::Several(audiences) => audiences.iter().any(|audience| names.contains(audience)),
        }
    }
}
