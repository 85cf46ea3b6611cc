//! Making and checking our own tokens.

use jsonwebtoken::Header;
use model::{Span, Timestamp};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::claims::Claims;
use super::envelope::{self, seconds};
use super::keys::{Reader, SIGNED_LIFE_MAX, SigningKeys};
use super::rejection::Rejection;
use super::{TOKEN_LIFE, signatures};
use crate::guid::{ClientId, PrincipalId, TenantId};
use crate::principal::CredentialId;

/// Whom a token is for, once they have shown who they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bearer {
    pub principal: PrincipalId,
    pub client: Option<ClientId>,
    pub tenant: TenantId,
    pub name: String,
    /// When they showed who they are. Whatever is made of that login ends with it, however often it is renewed.
    pub logged_in_at: Timestamp,
    /// What of a service principal's they showed for it. Whatever is made of that login ends when it is taken away.
    pub credential: Option<CredentialId>,
    /// The issuer that vouches for a person.
    pub vouched_by: Option<String>,
}

/// A token, on its way to whom it is for.
#[derive(Clone, PartialEq, Eq)]
pub struct Minted {
    pub text: Zeroizing<String>,
    pub expires_at: Timestamp,
}

/// Who we are as an issuer, what our tokens are good for, and our keys.
#[derive(Clone, Debug)]
pub struct Mint {
    issuer: String,
    /// Clients name what they want a token for in several ways: with a slash at its end, or without.
    audiences: Vec<String>,
    keys: SigningKeys,
    life: Span,
    reader: Reader,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MintError {
    #[error("no key signs yet")]
    NoKey,
    #[error("tokens are given only for this service")]
    WrongAudience,
    #[error("the login is over; log in again")]
    LoginOver,
    #[error("the token could not be signed")]
    NotSigned,
}

impl Mint {
    pub fn new(issuer: impl Into<String>, audiences: Vec<String>, keys: SigningKeys) -> Mint {
        Mint { issuer: issuer.into(), audiences, keys, life: TOKEN_LIFE, reader: Reader::Us }
    }

    /// The same, but what it makes is for others too, who verify it with the public keys.
    #[must_use]
    pub fn for_anybody(self) -> Mint {
        Mint { reader: Reader::Anybody, ..self }
    }

    /// The same keys and the same reader for something else: its tokens are not taken for ours, nor ours for its.
    #[must_use]
    pub fn apart(&self, audience: &str, life: Span) -> Mint {
        Mint { audiences: vec![audience.to_owned()], life, ..self.clone() }
    }

    pub fn keys(&self) -> &SigningKeys {
        &self.keys
    }

    /// From now on tokens are signed and verified with these.
    pub fn set_keys(&mut self, keys: SigningKeys) {
        self.keys = keys;
    }

    /// The token's id must be random.
    pub fn mint(&self, bearer: &Bearer, audience: &str, id: Uuid, now: Timestamp) -> Result<Minted, MintError> {
        if !self.audiences.iter().any(|known| known == audience) {
            return Err(MintError::WrongAudience);
        }
        let key = self.keys.signer(now).ok_or(MintError::NoKey)?;
        let expires_at = (now + self.life).min(bearer.logged_in_at + SIGNED_LIFE_MAX);
        if expires_at <= now {
            return Err(MintError::LoginOver);
        }
        let claims = Claims::new(bearer, &self.issuer, audience, id, (seconds(now), seconds(expires_at)));
        let header = Header { kid: Some(key.id().to_owned()), ..Header::new(self.reader.algorithm()) };
        signatures::install();
        let text = jsonwebtoken::encode(&header, &claims, &key.pair(self.reader).signing).map_err(|_| MintError::NotSigned)?;
        Ok(Minted { text: Zeroizing::new(text), expires_at: claims.expires_at() })
    }

    /// What a token of ours says, if it is good now.
    pub fn check(&self, token: &str, now: Timestamp) -> Result<Claims, Rejection> {
        let header = envelope::header(token)?;
        let algorithm = self.reader.algorithm();
        if header.alg != algorithm {
            return Err(Rejection::OtherAlgorithm);
        }
        let key = header.kid.as_deref().and_then(|id| self.keys.verifier(id, now)).ok_or(Rejection::UnknownKey)?;
        let claims: Claims = envelope::open(token, &header, &key.pair(self.reader).verifying, &[algorithm])?;
        if claims.issuer != self.issuer {
            return Err(Rejection::WrongIssuer);
        }
        if !self.audiences.contains(&claims.audience) {
            return Err(Rejection::WrongAudience);
        }
        claims.check_times(now)?;
        Ok(claims)
    }
}

impl std::fmt::Debug for Minted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Minted").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}
