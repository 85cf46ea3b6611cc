//! Principals: whoever can be given a role. Service principals are ours, and log in with a secret or a certificate; users are known by
//! what another issuer says of them.

mod certificate;
mod secret;

use model::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Builder;

use crate::guid::{ClientId, PrincipalId, SecretId, TenantId};
pub use certificate::{BadCertificate, CERTIFICATE_MAX, Certificate, PEM_MAX, Thumbprint};
pub use secret::{ClientSecret, KEY_BYTES, SECRET_BYTES, SECRET_LIFE_MAX, SecretKey, StoredSecret};

/// Characters of a display name.
pub const DISPLAY_NAME_MAX: usize = 120;

/// Secrets of one service principal. Two are enough to renew one without a gap.
pub const SECRETS_MAX: usize = 8;

/// Certificates of one service principal.
pub const CERTIFICATES_MAX: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServicePrincipal {
    pub id: PrincipalId,
    pub client_id: ClientId,
    pub tenant: TenantId,
    pub display_name: String,
    #[serde(default)]
    pub secrets: Vec<StoredSecret>,
    #[serde(default)]
    pub certificates: Vec<Certificate>,
    pub created_at: Timestamp,
    /// Since when it may not log in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_at: Option<Timestamp>,
}

/// Names what a service principal logged in with: the id of a secret, or the SHA-256 of a certificate as `x5t#S256` names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CredentialId(String);

impl From<SecretId> for CredentialId {
    fn from(secret: SecretId) -> CredentialId {
        CredentialId(secret.to_string())
    }
}

impl From<&Certificate> for CredentialId {
    fn from(certificate: &Certificate) -> CredentialId {
        CredentialId(certificate.sha256.clone())
    }
}

/// A person, as an issuer knows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    pub issuer: String,
    /// Who they are to the issuer. A name may pass to another person; a subject never does.
    pub subject: String,
    pub name: String,
    pub tenant: TenantId,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPrincipal {
    #[error("a display name has 1 to {DISPLAY_NAME_MAX} characters, all of which can be seen")]
    DisplayName,
    #[error("the display name of a secret has 1 to {DISPLAY_NAME_MAX} characters, all of which can be seen")]
    SecretName,
    #[error("a service principal has at most {SECRETS_MAX} secrets; remove one first")]
    Secrets,
    #[error("a service principal has at most {CERTIFICATES_MAX} certificates; remove one first")]
    Certificates,
}

/// Why a login with a secret was refused. The client reads the same for all of them: which one it is helps only who guesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginRefused {
    #[error("the service principal is disabled")]
    Disabled,
    #[error("the secret is none of the service principal's")]
    WrongSecret,
    #[error("the secret {0} has expired; make a new one")]
    Expired(SecretId),
}

impl ServicePrincipal {
    pub fn check(&self) -> Result<(), InvalidPrincipal> {
        if !is_display_name(&self.display_name) {
            return Err(InvalidPrincipal::DisplayName);
        }
        if self.secrets.iter().filter_map(|secret| secret.display_name.as_deref()).any(|name| !is_display_name(name)) {
            return Err(InvalidPrincipal::SecretName);
        }
        if self.secrets.len() > SECRETS_MAX {
            return Err(InvalidPrincipal::Secrets);
        }
        if self.certificates.len() > CERTIFICATES_MAX { Err(InvalidPrincipal::Certificates) } else { Ok(()) }
    }

    /// Which of its secrets was shown. It is compared with all of them, so that the time tells nothing of which one it was near to.
    pub fn find_secret(&self, key: &SecretKey, shown: &str, now: Timestamp) -> Result<SecretId, LoginRefused> {
        let matching = self.secrets.iter().filter(|stored| key.is_digest_of(self.client_id, stored, shown));
        let found = matching.max_by_key(|stored| stored.expires_at).ok_or(LoginRefused::WrongSecret)?;
        if self.disabled_at.is_some() {
            return Err(LoginRefused::Disabled);
        }
        if now < found.expires_at { Ok(found.id) } else { Err(LoginRefused::Expired(found.id)) }
    }

    /// Whether it still has what somebody logged in with.
    pub fn has(&self, credential: &CredentialId) -> bool {
        let secrets = self.secrets.iter().map(|secret| secret.id.into());
        secrets.chain(self.certificates.iter().map(CredentialId::from)).any(|own: CredentialId| own == *credential)
    }

    /// The certificate that an assertion names.
    pub fn find_certificate(&self, thumbprint: &Thumbprint) -> Option<&Certificate> {
        self.certificates.iter().find(|certificate| certificate.has(thumbprint))
    }
}

fn is_display_name(name: &str) -> bool {
    (1..=DISPLAY_NAME_MAX).contains(&name.chars().count()) && !name.chars().any(model::is_unprintable)
}

impl User {
    /// Derived from issuer and subject, so that a role can be assigned before the person first comes, and nothing is stored of them.
    pub fn id(&self) -> PrincipalId {
        let mut digest = Sha256::new();
        // The length keeps two pairs apart whose texts are the same when joined.
        digest.update((self.issuer.len() as u64).to_be_bytes());
        digest.update(self.issuer.as_bytes());
        digest.update(self.subject.as_bytes());
        let digest = <[u8; 32]>::from(digest.finalize());
        let mut first = [0; 16];
        first.copy_from_slice(&digest[..16]);
        PrincipalId::new(Builder::from_custom_bytes(first).into_uuid())
    }
}

#[cfg(test)]
mod tests;
