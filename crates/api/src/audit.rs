//! Denials: each is counted, and told in the log under the target `audit`, with who, from where, what, and why. Never with what was shown
//! to prove it. Whoever is told that there is nothing, because they may not know of it, is denied something too.
//!
//! To be denied costs nothing, so that lines are rationed for each caller and each address. What has no line of its own is told a minute
//! later, with who it was and how often; the meter counts them all.

mod ration;

use std::net::IpAddr;
use std::sync::Arc;

use access::attempts::Denied;
use access::{Missing, Permission, Scope};
use axum::response::Response;
use http::StatusCode;
use tracing::info;

use crate::call::Call;
use crate::codes::Code;
use crate::meters;
use crate::reply::{Refused, shortened};
use ration::Ration;

/// What one door says of those whom it denied something.
#[derive(Clone, Debug, Default)]
pub(crate) struct Audit {
    ration: Arc<Ration>,
}

/// What is known of a denial beyond its code, for the log alone.
#[derive(Clone, Debug)]
pub(crate) enum Grounds {
    /// Why a login failed, or a token was not taken.
    Words {
        reason: &'static str,
        words: String,
    },
    Missing {
        permission: Permission,
        scope: Scope,
    },
}

impl From<&Missing> for Grounds {
    fn from(missing: &Missing) -> Grounds {
        Grounds::Missing { permission: missing.permission.clone(), scope: missing.scope.clone() }
    }
}

/// What keeps even those from something who may: locks, policies, quotas and the states of subscriptions.
const RESTRAINTS: [Code; 5] = [
    Code::ScopeLocked,
    Code::RequestDisallowedByPolicy,
    Code::QuotaExceeded,
    Code::ReadOnlyDisabledSubscription,
    Code::MissingSubscriptionRegistration,
];

/// Says why a request was denied by what holds for everybody.
pub(crate) fn note_restraint(call: &Call, refused: &Refused) {
    if let Some(code) = RESTRAINTS.into_iter().find(|code| code.name() == refused.code()) {
        call.deny(Grounds::Words { reason: code.name(), words: refused.message().to_owned() });
    }
}

impl Audit {
    /// Takes note of an answer if it denies something.
    pub fn look_at(&self, call: &Call, response: &Response) {
        if !is_denial(response.status()) && call.grounds().is_none() {
            return;
        }
        let reason = reason_of(call, response);
        let sight = call.sight().ok();
        let denied = sight.map_or(Denied::Address(call.peer()), |sight| Denied::Caller(sight.caller().principal));
        if !self.has_line(denied, reason) {
            return;
        }
        let principal = sight.map(|sight| sight.caller().principal.to_string());
        let (permission, scope, why) = match call.grounds() {
            Some(Grounds::Missing { permission, scope }) => (Some(permission.as_str()), Some(scope.as_str()), None),
            Some(Grounds::Words { words, .. }) => (None, None, Some(words.as_str())),
            None => (None, None, None),
        };
        info!(
            target: "audit",
            reason,
            caller = call.caller(),
            principal,
            from = %call.peer(),
            method = %call.method,
            path = path_of(call),
            permission,
            scope,
            why,
            request_id = call.request_id(),
            correlation_id = call.correlation_id.as_str(),
            "a request was denied",
        );
    }

    /// Takes note of what was denied where no token of a caller is known, by a word for what was asked: an address may be a secret there.
    pub fn note(&self, reason: &'static str, what: &'static str, from: IpAddr, request_id: Option<&str>) {
        if self.has_line(Denied::Address(from), reason) {
            info!(target: "audit", reason, %from, what, request_id, "a request was denied");
        }
    }

    /// Counts a denial, and says whether it has a line of its own.
    fn has_line(&self, denied: Denied, reason: &'static str) -> bool {
        meters::count_denial(reason);
        let has_line = self.ration.take(denied, reason);
        if !has_line {
            meters::count_unnoticed_denial();
        }
        has_line
    }
}

/// Whether a status says that somebody was denied something.
pub(crate) fn is_denial(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS)
}

/// The path of a request. What machines are installed from has a secret in it, and somebody may take us for the install face.
fn path_of(call: &Call) -> String {
    if call.path.to_ascii_lowercase().starts_with(ticket::PREFIX) { format!("{}/…", ticket::PREFIX) } else { shortened(&call.path) }
}

/// The error's code, or the one that would have been told; for logins, which have codes of OAuth, a word of ours.
fn reason_of(call: &Call, response: &Response) -> &'static str {
    let named = response.headers().get("x-ms-error-code").and_then(|code| code.to_str().ok());
    let known = |name: &str| crate::codes::error_codes().map(|(code, _)| code).find(|code| *code == name);
    match (named, call.grounds()) {
        (_, Some(Grounds::Missing { .. })) => Code::AuthorizationFailed.name(),
        (Some(name), _) => known(name).unwrap_or("other"),
        (None, Some(Grounds::Words { reason, .. })) => reason,
        (None, _) => "other",
    }
}

#[cfg(test)]
pub(crate) mod tests;
