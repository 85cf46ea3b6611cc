//! Roles: what whoever has one may do. They are built in; who has which, and where, is said by assignments.

mod built_in;

use serde::Serialize;
use uuid::Uuid;

pub use built_in::{BUILT_IN, OWNER, READER, TENANT_VM_CONTRIBUTOR};

use crate::guid::RoleId;
use crate::pattern::covers;
use crate::permission::Permission;

/// A role grants what one of its actions covers and none of its exceptions does. An exception is no ban: another role may grant it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Role {
    pub id: RoleId,
    pub name: &'static str,
    pub description: &'static str,
    pub actions: &'static [&'static str],
    pub not_actions: &'static [&'static str],
}

impl Role {
    pub fn grants(&self, permission: &Permission) -> bool {
        let covers_it = |pattern: &&str| covers(pattern, permission.key());
        self.actions.iter().any(covers_it) && !self.not_actions.iter().any(covers_it)
    }
}

/// The role with an id.
pub fn find(id: RoleId) -> Option<&'static Role> {
    BUILT_IN.iter().find(|role| role.id == id)
}

/// The role with a name, in any case, as `az role assignment create --role` gives it.
pub fn find_by_name(name: &str) -> Option<&'static Role> {
    BUILT_IN.iter().find(|role| role.name.eq_ignore_ascii_case(name))
}

const fn id(id: u128) -> RoleId {
    RoleId::new(Uuid::from_u128(id))
}

#[cfg(test)]
mod tests;
