//! What stands in the way of somebody who may: a closed subscription, then a lock.
//!
//! Neither hinders reading, nor stopping an operation: whoever cancels one takes nothing up. What is administered for all, at no scope in
//! particular, is under no lock either.

use access::permission::Kind;
use access::subscription::Closed;
use access::{Permission, Scope};

use crate::Api;
use crate::codes::Code;
use crate::reply::Refused;

pub(super) fn check(api: &Api, permission: &Permission, scope: &Scope) -> Result<(), Refused> {
    let kind = permission.kind();
    if kind == Kind::Read || scope.is_root() {
        return Ok(());
    }
    let directory = api.gate.directory();
    let restraints = directory.restraints();
    restraints.admit(permission, scope).map_err(|closed| {
        let code = match closed {
            Closed::Disabled(_) => Code::ReadOnlyDisabledSubscription,
            Closed::Unregistered(_) => Code::MissingSubscriptionRegistration,
        };
        Refused::new(code, closed.to_string()).target(scope.as_str())
    })?;
    let Some(lock) = restraints.standing(kind, scope) else { return Ok(()) };
    let what = match kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Delete => "delete",
        Kind::Action => "action",
    };
    let message = format!(
        "The scope '{scope}' cannot perform {what} operation because following scope(s) are locked: '{}', by the {:?} lock `{}`. Please remove the lock and try again.",
        lock.scope, lock.level, lock.name
    );
    Err(Refused::new(Code::ScopeLocked, message).target(lock.scope.as_str()))
}
