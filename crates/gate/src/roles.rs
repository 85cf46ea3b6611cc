//! Role assignments: made and removed.

use access::assignment::InvalidAssignment;
use access::{AssignmentId, PrincipalId, RoleAssignment, RoleId, Scope};
use store::{Commit, StoreError};

use crate::administrator::encode;
use crate::restrain::Was;
use crate::{Caller, Gate, GateError, documents};

#[derive(Debug, thiserror::Error)]
pub enum AssignmentError {
    #[error(transparent)]
    Invalid(#[from] InvalidAssignment),
    #[error("there is no role assignment {0}")]
    Unknown(AssignmentId),
    #[error("it is the last that makes anybody owner of everything; without it nobody could give roles again")]
    LastOwner,
    #[error(transparent)]
    Gate(#[from] GateError),
}

/// A role that somebody has, and whether they had it before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assigned {
    pub assignment: RoleAssignment,
    pub was: Was,
}

impl From<StoreError> for AssignmentError {
    fn from(problem: StoreError) -> Self {
        AssignmentError::Gate(problem.into())
    }
}

impl Gate {
    /// Gives a role. Given twice is given once.
    pub async fn assign(
        &self,
        by: &Caller,
        id: AssignmentId,
        principal: PrincipalId,
        role: RoleId,
        scope: Scope,
    ) -> Result<Assigned, AssignmentError> {
        let _alone = self.writing.lock().await;
        let assignment = RoleAssignment { id, principal, role, scope, created_by: by.name.clone(), created_at: self.now() };
        self.directory().judge().check(&assignment)?;
        if let Some(existing) = self.assignment(id) {
            return Ok(Assigned { assignment: existing, was: Was::There });
        }
        self.write(Commit::default().put(documents::assignment(id), encode(&assignment))).await?;
        Ok(Assigned { assignment, was: Was::Absent })
    }

    pub async fn unassign(&self, id: AssignmentId) -> Result<RoleAssignment, AssignmentError> {
        let _alone = self.writing.lock().await;
        let assignment = self.assignment(id).ok_or(AssignmentError::Unknown(id))?;
        if owns_everything(&assignment) && !self.has_owner_without(&assignment) {
            return Err(AssignmentError::LastOwner);
        }
        self.write(Commit::default().delete(documents::assignment(id))).await?;
        Ok(assignment)
    }

    pub fn assignment(&self, id: AssignmentId) -> Option<RoleAssignment> {
        self.directory().judge().list(&Scope::root()).find(|assignment| assignment.id == id).cloned()
    }

    /// Whether this principal owns everything, and nobody else does who can come in.
    pub(crate) fn is_last_owner(&self, principal: PrincipalId) -> bool {
        let owns = self.directory().judge().list(&Scope::root()).any(|one| owns_everything(one) && one.principal == principal);
        owns && !self.has_owner(|one| one.principal != principal)
    }

    fn has_owner_without(&self, assignment: &RoleAssignment) -> bool {
        self.has_owner(|one| one.id != assignment.id)
    }

    /// People do not count: whether one still can come in is not ours to know, and who vouches for them may be removed.
    fn has_owner(&self, counts: impl Fn(&RoleAssignment) -> bool) -> bool {
        let directory = self.directory();
        let can_come = |id| directory.principal(id).is_some_and(|known| known.disabled_at.is_none());
        directory.judge().list(&Scope::root()).any(|one| owns_everything(one) && counts(one) && can_come(one.principal))
    }
}

fn owns_everything(assignment: &RoleAssignment) -> bool {
    assignment.role == access::roles::OWNER.id && assignment.scope.is_root()
}
