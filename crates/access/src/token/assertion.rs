//! Assertions: what a service principal with a certificate signs to log in, as RFC 7523 has it and Azure's clients send it.
//!
//! Whether one was shown before, and by whom, is in `shown`.

use jsonwebtoken::{Algorithm, DecodingKey, Header};
use model::{Span, Timestamp};
use serde::Deserialize;

use super::CLOCK_SKEW;
use super::envelope::{self, Audience, Seconds, Times, instant};
use super::rejection::Rejection;
use super::shown::{JTI_MAX, Proven};
use crate::guid::ClientId;
use crate::principal::{Certificate, ServicePrincipal, Thumbprint};

/// How long an assertion may be good. Azure's clients make them for ten minutes.
pub const ASSERTION_LIFE_MAX: Span = Span::hours(1);

/// What clients sign with: the first towards ADFS and in older versions, the second otherwise.
const TAKEN: [Algorithm; 2] = [Algorithm::RS256, Algorithm::PS256];

/// The names under which our token endpoint is known.
#[derive(Clone, Debug)]
pub struct AssertionAudience(pub Vec<String>);

/// An assertion whose signature is not checked yet: it says only whom it claims to be of.
#[derive(Debug)]
pub struct Assertion<'a> {
    token: &'a str,
    header: Header,
    client: ClientId,
}

#[derive(Deserialize)]
struct AssertionClaims {
    iss: String,
    sub: String,
    aud: Audience,
    exp: Seconds,
    #[serde(default)]
    nbf: Option<Seconds>,
    #[serde(default)]
    iat: Option<Seconds>,
    /// Without one it could not be told from a copy. Azure's clients send it.
    jti: String,
}

#[derive(Deserialize)]
struct Claimed {
    sub: ClientId,
}

impl<'a> Assertion<'a> {
    pub fn read(token: &'a str) -> Result<Assertion<'a>, Rejection> {
        let header = envelope::header(token)?;
        if !TAKEN.contains(&header.alg) {
            return Err(Rejection::OtherAlgorithm);
        }
        let claimed: Claimed = jsonwebtoken::dangerous::insecure_decode_claims(token).map_err(|_| Rejection::Claims)?;
        Ok(Assertion { token, header, client: claimed.sub })
    }

    /// Whose service principal must be looked up to check it.
    pub fn client(&self) -> ClientId {
        self.client
    }

    /// Whether the service principal signed it, for us and for now; then what it is remembered by.
    pub fn check(&self, principal: &ServicePrincipal, audience: &AssertionAudience, now: Timestamp) -> Result<Proven, Rejection> {
        let certificate = self.certificate(principal)?;
        if !certificate.is_valid_at(now) {
            return Err(Rejection::CertificateExpired);
        }
        let key = DecodingKey::from_rsa_der(&certificate.public_key().ok_or(Rejection::UnknownKey)?);
        let claims: AssertionClaims = envelope::open(self.token, &self.header, &key, &TAKEN)?;
        if principal.disabled_at.is_some() {
            return Err(Rejection::Disabled);
        }
        let client = principal.client_id.to_string();
        if !claims.iss.eq_ignore_ascii_case(&client) {
            return Err(Rejection::WrongIssuer);
        }
        if !claims.sub.eq_ignore_ascii_case(&client) {
            return Err(Rejection::WrongSubject);
        }
        if !claims.aud.has_any_of(&audience.0) {
            return Err(Rejection::WrongAudience);
        }
        let expires = claims.exp.0;
        Times { not_before: claims.nbf.or(claims.iat).map(|seconds| seconds.0), expires }.check(now)?;
        if instant(expires) > now + ASSERTION_LIFE_MAX + CLOCK_SKEW {
            return Err(Rejection::LivesTooLong);
        }
        if claims.jti.is_empty() || claims.jti.len() > JTI_MAX {
            return Err(Rejection::Claims);
        }
        Ok(Proven { client: principal.client_id, credential: certificate.into(), id: claims.jti, until: instant(expires) + CLOCK_SKEW })
    }

    fn certificate<'p>(&self, principal: &'p ServicePrincipal) -> Result<&'p Certificate, Rejection> {
        let sha256 = self.header.x5t_s256.clone().map(Thumbprint::Sha256);
        let named = sha256.or_else(|| self.header.x5t.clone().map(Thumbprint::Sha1));
        named.and_then(|thumbprint| principal.find_certificate(&thumbprint)).ok_or(Rejection::UnknownKey)
    }
}
