//! Making and checking our own tokens.

use jsonwebtoken::{Algorithm, Header};
use model::Timestamp;
use uuid::Uuid;
use zeroize::Zeroizing;

use super::claims::Claims;
use super::envelope::{self, Times, seconds};
use super::keys::{SigningKey, SigningKeys};
use super::rejection::Rejection;
use super::{TOKEN_LIFE, signatures};
use crate::guid::{ClientId, PrincipalId, TenantId};

/// Whom a token is for, once they have shown who they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bearer {
    pub principal: PrincipalId,
    pub client: Option<ClientId>,
    pub tenant: TenantId,
    pub name: String,
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MintError {
    #[error("no key signs yet")]
    NoKey,
    #[error("tokens are given only for this service")]
    WrongAudience,
    #[error("the token could not be signed")]
    NotSigned,
}

impl Mint {
    pub fn new(issuer: impl Into<String>, audiences: Vec<String>, keys: SigningKeys) -> Mint {
        Mint { issuer: issuer.into(), audiences, keys }
    }

    pub fn keys(&self) -> &SigningKeys {
        &self.keys
    }

    pub fn add_key(&mut self, key: SigningKey) {
        self.keys.add(key);
    }

    /// The keys that verify nothing any more, which are forgotten.
    pub fn forget_spent_keys(&mut self, now: Timestamp) -> Vec<String> {
        self.keys.forget_spent(now)
    }

    /// The token's id must be random.
    pub fn mint(&self, bearer: &Bearer, audience: &str, id: Uuid, now: Timestamp) -> Result<Minted, MintError> {
        if !self.audiences.iter().any(|known| known == audience) {
            return Err(MintError::WrongAudience);
        }
        let key = self.keys.signer(now).ok_or(MintError::NoKey)?;
        let expires_at = now + TOKEN_LIFE;
        let claims = Claims::new(bearer, &self.issuer, audience, id, (seconds(now), seconds(expires_at)));
        let header = Header { kid: Some(key.id().to_owned()), ..Header::new(Algorithm::EdDSA) };
        signatures::install();
        let text = jsonwebtoken::encode(&header, &claims, key.signing()).map_err(|_| MintError::NotSigned)?;
        Ok(Minted { text: Zeroizing::new(text), expires_at: claims.expires_at() })
    }

    /// What a token of ours says, if it is good now.
    pub fn check(&self, token: &str, now: Timestamp) -> Result<Claims, Rejection> {
        let header = envelope::header(token)?;
        if header.alg != Algorithm::EdDSA {
            return Err(Rejection::OtherAlgorithm);
        }
        let key = header.kid.as_deref().and_then(|id| self.keys.verifier(id, now)).ok_or(Rejection::UnknownKey)?;
        let claims: Claims = envelope::open(token, &header, key.verifying(), &[Algorithm::EdDSA])?;
        if claims.issuer != self.issuer {
            return Err(Rejection::WrongIssuer);
        }
        if !self.audiences.contains(&claims.audience) {
            return Err(Rejection::WrongAudience);
        }
        Times { not_before: Some(claims.not_before), expires: claims.expires }.check(now)?;
        Ok(claims)
    }
}

impl std::fmt::Debug for Minted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Minted").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}
