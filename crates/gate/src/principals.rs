//! Service principals: made, given secrets and certificates, disabled and removed.

use access::principal::{Certificate, ClientSecret, InvalidPrincipal, SECRET_LIFE_MAX, ServicePrincipal};
use access::{ClientId, PrincipalId, SecretId};
use model::Span;
use store::{Commit, Expected, Revision, StoreError};

use crate::administrator::encode;
use crate::{Gate, GateError, TENANT, documents, random, random_id};

/// How long a secret is good unless somebody says otherwise.
pub(crate) const SECRET_LIFE: Span = SECRET_LIFE_MAX;

/// A secret that is good for less is most likely a mistake.
pub const SECRET_LIFE_MIN: Span = Span::hours(1);

const DAY: Span = Span::hours(24);

/// Service principals in all.
pub const PRINCIPALS_MAX: usize = 10_000;

#[derive(Debug, thiserror::Error)]
pub enum PrincipalError {
    #[error("there is no service principal {0}")]
    Unknown(PrincipalId),
    #[error("there is a service principal `{0}` already; what it does is logged under that name, so no other can have it")]
    NameTaken(String),
    #[error("there are {PRINCIPALS_MAX} service principals already, which is the most")]
    TooMany,
    #[error("it has no secret {0}")]
    UnknownSecret(SecretId),
    #[error("it has that certificate already")]
    CertificateTaken,
    #[error("it has no certificate with the thumbprint {0}")]
    UnknownCertificate(String),
    #[error("a secret is good for one hour to {} days", SECRET_LIFE_MAX.as_millis() / DAY.as_millis())]
    Life,
    #[error("it is the last that owns everything; without it nobody could give roles again")]
    LastOwner,
    #[error(transparent)]
    Invalid(#[from] InvalidPrincipal),
    #[error("somebody else changed it at the same time; look at it again")]
    Conflict,
    #[error(transparent)]
    Gate(#[from] GateError),
}

impl From<StoreError> for PrincipalError {
    fn from(problem: StoreError) -> Self {
        match problem {
            StoreError::Conflict { .. } => PrincipalError::Conflict,
            other => PrincipalError::Gate(other.into()),
        }
    }
}

impl Gate {
    pub async fn create_principal(&self, name: &str) -> Result<ServicePrincipal, PrincipalError> {
        let _alone = self.writing.lock().await;
        let principal = self.new_principal(name)?;
        principal.check()?;
        let is_taken = self.directory().principals().any(|other| other.display_name.to_lowercase() == name.to_lowercase());
        if is_taken {
            return Err(PrincipalError::NameTaken(name.to_owned()));
        }
        if self.directory().principals().count() >= PRINCIPALS_MAX {
            return Err(PrincipalError::TooMany);
        }
        self.put(&principal, Expected::Absent).await?;
        Ok(principal)
    }

    /// A secret that nobody can read again.
    pub async fn add_secret(
        &self,
        id: PrincipalId,
        life: Option<Span>,
        display_name: Option<String>,
    ) -> Result<(ServicePrincipal, ClientSecret), PrincipalError> {
        let _alone = self.writing.lock().await;
        let (mut principal, revision) = self.known(id)?;
        let life = life.unwrap_or(SECRET_LIFE);
        if !(SECRET_LIFE_MIN..=SECRET_LIFE_MAX).contains(&life) {
            return Err(PrincipalError::Life);
        }
        let secret = self.new_secret(&mut principal, life, display_name)?;
        principal.check()?;
        self.put(&principal, Expected::At(revision)).await?;
        Ok((principal, secret))
    }

    pub async fn remove_secret(&self, id: PrincipalId, secret: SecretId) -> Result<ServicePrincipal, PrincipalError> {
        self.change_principal(id, |principal| {
            let before = principal.secrets.len();
            principal.secrets.retain(|stored| stored.id != secret);
            if principal.secrets.len() < before { Ok(()) } else { Err(PrincipalError::UnknownSecret(secret)) }
        })
        .await
    }

    pub async fn add_certificate(&self, id: PrincipalId, certificate: Certificate) -> Result<ServicePrincipal, PrincipalError> {
        self.change_principal(id, |principal| {
            if principal.certificates.contains(&certificate) {
                return Err(PrincipalError::CertificateTaken);
            }
            principal.certificates.push(certificate);
            Ok(principal.check()?)
        })
        .await
    }

    /// `thumbprint` is its SHA-256, as it is shown.
    pub async fn remove_certificate(&self, id: PrincipalId, thumbprint: &str) -> Result<ServicePrincipal, PrincipalError> {
        self.change_principal(id, |principal| {
            let before = principal.certificates.len();
            principal.certificates.retain(|certificate| certificate.sha256 != thumbprint);
            let is_gone = principal.certificates.len() < before;
            if is_gone { Ok(()) } else { Err(PrincipalError::UnknownCertificate(model::cleaned(thumbprint, 64))) }
        })
        .await
    }

    /// Whether it may come in. Its tokens are good for nothing while it may not.
    pub async fn set_disabled(&self, id: PrincipalId, disabled: bool) -> Result<ServicePrincipal, PrincipalError> {
        let now = self.now();
        self.change_principal(id, |principal| {
            // Judged while nobody else writes: two owners could else shut each other out.
            if disabled && self.is_last_owner(id) {
                return Err(PrincipalError::LastOwner);
            }
            principal.disabled_at = disabled.then(|| principal.disabled_at.unwrap_or(now));
            Ok(())
        })
        .await
    }

    /// Removes it with all its roles.
    pub async fn remove_principal(&self, id: PrincipalId) -> Result<(), PrincipalError> {
        let _alone = self.writing.lock().await;
        let (_, revision) = self.known(id)?;
        if self.is_last_owner(id) {
            return Err(PrincipalError::LastOwner);
        }
        let mut commit = Commit::default().expect(documents::principal(id), Expected::At(revision)).delete(documents::principal(id));
        for assignment in self.directory().judge().list(&access::Scope::root()).filter(|assignment| assignment.principal == id) {
            commit = commit.delete(documents::assignment(assignment.id));
        }
        Ok(self.write(commit).await?)
    }

    pub async fn change_principal(
        &self,
        id: PrincipalId,
        change: impl FnOnce(&mut ServicePrincipal) -> Result<(), PrincipalError>,
    ) -> Result<ServicePrincipal, PrincipalError> {
        let _alone = self.writing.lock().await;
        let (mut principal, revision) = self.known(id)?;
        change(&mut principal)?;
        self.put(&principal, Expected::At(revision)).await?;
        Ok(principal)
    }

    pub(crate) fn new_principal(&self, name: &str) -> Result<ServicePrincipal, GateError> {
        Ok(ServicePrincipal {
            id: PrincipalId::new(random_id()?),
            client_id: ClientId::new(random_id()?),
            tenant: TENANT,
            display_name: name.to_owned(),
            secrets: Vec::new(),
            certificates: Vec::new(),
            created_at: self.now(),
            disabled_at: None,
        })
    }

    pub(crate) fn new_secret(
        &self,
        principal: &mut ServicePrincipal,
        life: Span,
        display_name: Option<String>,
    ) -> Result<ClientSecret, GateError> {
        let secret = ClientSecret::new(&random()?);
        let now = self.now();
        let mut stored = self.secret_key.store(principal.client_id, SecretId::new(random_id()?), &secret, now, now + life);
        stored.display_name = display_name;
        principal.secrets.push(stored);
        Ok(secret)
    }

    fn known(&self, id: PrincipalId) -> Result<(ServicePrincipal, Revision), PrincipalError> {
        self.directory().versioned(id).ok_or(PrincipalError::Unknown(id))
    }

    async fn put(&self, principal: &ServicePrincipal, expected: Expected) -> Result<(), StoreError> {
        let key = documents::principal(principal.id);
        self.write(Commit::default().expect(key.clone(), expected).put(key, encode(principal))).await
    }

    /// Commits, and knows what was committed before anybody asks.
    pub(crate) async fn write(&self, commit: Commit) -> Result<(), StoreError> {
        let writes = commit.writes.clone();
        let revision = self.store.commit(commit).await?;
        let mut directory = self.change();
        for (key, value) in &writes {
            directory.apply(key, value.as_deref(), revision);
        }
        Ok(())
    }
}
