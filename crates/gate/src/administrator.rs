//! The first administrator: made once, so that there is somebody who can make others.

use access::assignment::InvalidAssignment;
use access::principal::{ClientSecret, ServicePrincipal};
use access::roles::OWNER;
use access::{AssignmentId, RoleAssignment, Scope};
use store::{Commit, Expected, StoreError};
use tracing::warn;

use crate::principals::{PrincipalError, SECRET_LIFE};
use crate::{Gate, GateError, documents, random_id};

/// What the first administrator is called.
pub const ADMINISTRATOR: &str = "administrator";

impl Gate {
    /// Makes the administrator of a store that never had one, with a secret that nobody can read again.
    pub async fn make_administrator(&self) -> Result<Option<(ServicePrincipal, ClientSecret)>, GateError> {
        let _alone = self.writing.lock().await;
        if self.store.get(documents::ADMINISTRATOR).await?.is_some() {
            return Ok(None);
        }
        let mut principal = self.new_principal(ADMINISTRATOR)?;
        let secret = self.new_secret(&mut principal, SECRET_LIFE, None)?;
        let assignment = RoleAssignment {
            id: AssignmentId::new(random_id()?),
            principal: principal.id,
            role: OWNER.id,
            scope: Scope::root(),
            created_by: ADMINISTRATOR.to_owned(),
            created_at: self.now(),
        };
        let commit = Commit::default()
            .expect(documents::ADMINISTRATOR, Expected::Absent)
            .put(documents::ADMINISTRATOR, encode(&principal.id))
            .put(documents::principal(principal.id), encode(&principal))
            .put(documents::assignment(assignment.id), encode(&assignment));
        match self.write(commit).await {
            Ok(()) => Ok(Some((principal, secret))),
            // Another process was first.
            Err(StoreError::Conflict { .. }) => Ok(None),
            Err(problem) => Err(problem.into()),
        }
    }

    /// The first administrator, if there still is one.
    pub async fn administrator(&self) -> Result<Option<ServicePrincipal>, GateError> {
        let Some(document) = self.store.get(documents::ADMINISTRATOR).await? else { return Ok(None) };
        let id = serde_json::from_slice(&document.value).map_err(|_| GateError::Keys)?;
        Ok(self.directory().principal(id).cloned())
    }

    /// A new secret for the first administrator in the place of all secrets and certificates that it had; the principal and its role too, if somebody removed them.
    pub async fn renew_administrator(&self) -> Result<(ServicePrincipal, ClientSecret), PrincipalError> {
        let existing = self.administrator().await?;
        let _alone = self.writing.lock().await;
        let mut principal = match existing {
            Some(principal) => principal,
            None => self.new_principal(ADMINISTRATOR)?,
        };
        principal.secrets.clear();
        principal.certificates.clear();
        principal.disabled_at = None;
        let secret = self.new_secret(&mut principal, SECRET_LIFE, None)?;
        let mut commit = Commit::default()
            .put(documents::ADMINISTRATOR, encode(&principal.id))
            .put(documents::principal(principal.id), encode(&principal));
        let id = AssignmentId::new(random_id()?);
        let assignment = RoleAssignment {
            id,
            principal: principal.id,
            role: OWNER.id,
            scope: Scope::root(),
            created_by: ADMINISTRATOR.to_owned(),
            created_at: self.now(),
        };
        match self.directory().judge().check(&assignment) {
            Ok(()) => commit = commit.put(documents::assignment(id), encode(&assignment)),
            Err(InvalidAssignment::Exists { .. }) => {}
            // Whoever has lost the way in needs it more than a limit needs to be kept.
            Err(problem) => {
                warn!(%problem, "the administrator's role is made all the same");
                commit = commit.put(documents::assignment(id), encode(&assignment));
            }
        }
        self.write(commit).await?;
        Ok((principal, secret))
    }
}

pub(crate) fn encode(document: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(document).expect("documents of access have string keys")
}
