//! Where the documents of access lie in the store.

use access::deny::DenyPolicy;
use access::{AssignmentId, PrincipalId, Scope};

pub const ALL: &str = "access/";
pub const PRINCIPALS: &str = "access/principals/";
pub const ISSUERS: &str = "access/issuers/";
pub const ASSIGNMENTS: &str = "access/assignments/";
pub const LOCKS: &str = "access/locks/";
pub const POLICIES: &str = "access/policies/";
pub const QUOTAS: &str = "access/quotas/";
pub const SUBSCRIPTIONS: &str = "access/subscriptions/";

/// Says that there was an administrator once, and who.
pub const ADMINISTRATOR: &str = "access/administrator";

pub fn principal(id: PrincipalId) -> String {
    format!("{PRINCIPALS}{id}")
}

pub fn issuer(name: &str) -> String {
    format!("{ISSUERS}{}", name.to_ascii_lowercase())
}

pub fn assignment(id: AssignmentId) -> String {
    format!("{ASSIGNMENTS}{id}")
}

/// What follows the prefix of a lock: its own place without case, so that one name stands once at a scope.
pub fn lock_place(scope: &Scope, name: &str) -> String {
    format!("{}/providers/microsoft.authorization/locks/{}", scope.key(), name.to_ascii_lowercase()).trim_start_matches('/').to_owned()
}

pub fn lock(scope: &Scope, name: &str) -> String {
    format!("{LOCKS}{}", lock_place(scope, name))
}

pub fn policy(scope: &Scope, id: &str) -> String {
    format!("{POLICIES}{}", DenyPolicy::key_of(scope, id).trim_start_matches('/'))
}

pub fn quota(subscription: &str) -> String {
    format!("{QUOTAS}{}", subscription.to_ascii_lowercase())
}

pub fn subscription(id: &str) -> String {
    format!("{SUBSCRIPTIONS}{}", id.to_ascii_lowercase())
}
