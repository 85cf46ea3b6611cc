//! Role assignments: who has which role, and where. Documents of the store.

use model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::guid::{AssignmentId, PrincipalId, RoleId};
use crate::roles;
use crate::scope::Scope;

/// Assignments in all. Azure has 4,000 in a subscription; a decision does not get slower with them.
pub const ASSIGNMENTS_MAX: usize = 20_000;

/// Assignments of one principal: what it may see is looked through as a whole.
pub const ASSIGNMENTS_OF_ONE_MAX: usize = 2_000;

/// Characters of who made an assignment.
pub const CREATED_BY_MAX: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RoleAssignment {
    pub id: AssignmentId,
    pub principal: PrincipalId,
    pub role: RoleId,
    pub scope: Scope,
    pub created_by: String,
    pub created_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAssignment {
    #[error("there is no role {0}; `roleDefinitions` lists those that there are")]
    UnknownRole(RoleId),
    #[error("who made the assignment must be told in 1 to 256 characters that can be seen")]
    CreatedBy,
    #[error("there are {ASSIGNMENTS_MAX} role assignments already, which is the most; remove some, or assign at a wider scope")]
    TooMany,
    #[error("{0} has {ASSIGNMENTS_OF_ONE_MAX} role assignments already, which is the most; assign at a wider scope instead")]
    TooManyOfOne(PrincipalId),
    /// Azure's `RoleAssignmentUpdateNotPermitted`.
    #[error("assignment {0} is of another principal, role or scope, which cannot be changed; remove it and make a new one")]
    Immutable(AssignmentId),
    /// Azure's `RoleAssignmentExists`.
    #[error("{principal} has this role at this scope already, by assignment {existing}")]
    Exists { principal: PrincipalId, existing: AssignmentId },
}

impl RoleAssignment {
    /// Whether it can stand by itself; what stands beside it is judged where it is added.
    pub fn check(&self) -> Result<(), InvalidAssignment> {
        roles::find(self.role).ok_or(InvalidAssignment::UnknownRole(self.role))?;
        let length = self.created_by.chars().count();
        let is_readable = (1..=CREATED_BY_MAX).contains(&length) && !self.created_by.chars().any(model::is_unprintable);
        if is_readable { Ok(()) } else { Err(InvalidAssignment::CreatedBy) }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::roles::find_by_name;

    pub(crate) fn assignment(number: u128, principal: PrincipalId, role: &str, scope: &str) -> RoleAssignment {
        RoleAssignment {
            id: AssignmentId::new(Uuid::from_u128(number)),
            principal,
            role: find_by_name(role).unwrap().id,
            scope: Scope::parse(scope).unwrap(),
            created_by: "ops@example.com".into(),
            created_at: Timestamp::EPOCH,
        }
    }

    fn reader() -> RoleAssignment {
        assignment(1, PrincipalId::new(Uuid::from_u128(7)), "Reader", "/subscriptions/S1")
    }

    #[test]
    fn an_assignment_is_stored_as_one_document() {
        let stored = serde_json::to_value(reader()).unwrap();
        let expected = serde_json::json!({
            "id": "00000000-0000-0000-0000-000000000001",
            "principal": "00000000-0000-0000-0000-000000000007",
            "role": "acdd72a7-3385-48ef-bd42-f606fba81ae7",
            "scope": "/subscriptions/S1",
            "createdBy": "ops@example.com",
            "createdAt": "1970-01-01T00:00:00.000Z",
        });
        assert_eq!(stored, expected);
        assert_eq!(serde_json::from_value::<RoleAssignment>(stored).unwrap(), reader());
    }

    #[test]
    fn an_assignment_names_a_role_and_who_made_it() {
        assert_eq!(reader().check(), Ok(()));
        let unknown = RoleId::new(Uuid::nil());
        assert_eq!(RoleAssignment { role: unknown, ..reader() }.check(), Err(InvalidAssignment::UnknownRole(unknown)));
        for created_by in ["", "a\nb", &"a".repeat(CREATED_BY_MAX + 1)] {
            assert_eq!(
                RoleAssignment { created_by: created_by.into(), ..reader() }.check(),
                Err(InvalidAssignment::CreatedBy),
                "{created_by:?}"
            );
        }
    }
}
