//! Who comes in, and how far: the token of a request, what its route needs, and what of an answer its caller may see.
//!
//! `rules` says what each route needs; `access` decides whether the caller has it.

mod badge;
mod proposal;
mod restraints;
mod rules;
mod sight;

use access::token::Rejection;
use access::{Missing, Permission, Scope};
use axum::body::Body;
use gate::{Caller, Gate};
use http::{HeaderMap, header};
use zeroize::Zeroizing;

use crate::Api;
use crate::audit::Grounds;
use crate::call::Call;
use crate::codes::Code;
use crate::reply::Refused;
use crate::route::Route;
pub(crate) use badge::Badge;
pub(crate) use proposal::check_policies;
use rules::Need;
pub(crate) use sight::Sight;

/// Lets a request in that may come in: nobody need say who they are where anybody may come. Where there is nothing, one must be
/// somebody to be told so.
pub(crate) fn admit(api: &Api, call: &Call, route: Option<&Route>) -> Result<(), Refused> {
    let need = route.map_or(Need::Somebody, rules::need);
    if need == Need::Nothing {
        return Ok(());
    }
    let edition = api.gate.edition();
    let caller = authenticate(&api.gate, call)?;
    api.gate.count(&caller).map_err(|too_many| {
        let message = too_many.to_string();
        // Whose loop it is that went wild must be found in the log, which is told of nobody else here.
        call.deny(Grounds::Words {
            reason: Code::TooManyRequests.name(),
            words: format!("{message} ({}, {})", caller.name, caller.principal),
        });
        Refused::new(Code::TooManyRequests, message).retry_after(too_many.retry_after)
    })?;
    let judged = judge(&api.gate, &caller, &need);
    call.enter(Sight::new(api.gate.clone(), edition, caller));
    judged.map_err(|missing| forbidden(call, &missing))?;
    if let Need::At(permission, scope) = need {
        restraints::check(api, &permission, &scope)?;
        call.want(permission, scope);
    }
    Ok(())
}

/// The body of a request that was let in. It may be a while in coming, and meanwhile a lock may be put, or a role or a login taken away: so
/// if anything changed, it is judged again whether the request may come in, as if all of it had come at once.
pub(crate) async fn read_body(api: &Api, call: &Call, body: Body) -> Result<Zeroizing<Vec<u8>>, Refused> {
    let body = call.read_body(body, &api.process.stopping).await?;
    if call.sight().map_or(true, Sight::is_fresh) {
        return Ok(body);
    }
    let caller = authenticate(&api.gate, call)?;
    if let Some((permission, scope)) = call.wanted() {
        api.gate.may(&caller, permission, scope).map_err(|missing| forbidden(call, &missing))?;
        restraints::check(api, permission, scope)?;
    }
    Ok(body)
}

/// Whether a request that anybody may send comes from somebody who may read metrics. To be nobody is no offence there, and so no denial.
pub(crate) fn may_read_metrics(api: &Api, call: &Call) -> bool {
    let token = bearer(call.headers()).filter(|_| call.headers().get_all(header::AUTHORIZATION).iter().count() == 1);
    let caller = token.and_then(|token| api.gate.authenticate(token).ok());
    caller.is_some_and(|caller| judge(&api.gate, &caller, &rules::need(&Route::Metrics)).is_ok())
}

/// Whether anybody may come, without saying who they are.
pub(crate) fn is_open(route: &Route) -> bool {
    rules::need(route) == Need::Nothing
}

fn judge(gate: &Gate, caller: &Caller, need: &Need) -> Result<(), Missing> {
    match need {
        Need::Nothing | Need::Somebody => Ok(()),
        Need::At(permission, scope) => gate.may(caller, permission, scope),
        Need::Within(permission, scope) if gate.visible(caller, permission).reaches(scope) => Ok(()),
        Need::Within(permission, scope) => gate.may(caller, permission, scope),
    }
}

fn authenticate(gate: &Gate, call: &Call) -> Result<Caller, Refused> {
    if call.headers().get_all(header::AUTHORIZATION).iter().nth(1).is_some() {
        // A proxy might have looked at the other one.
        let message = "the header `Authorization` is there more than once";
        return Err(unauthorized(call, Code::AuthenticationFailed, message, Some("invalid_request")));
    }
    let Some(token) = bearer(call.headers()) else {
        let message = "the header `Authorization` with a bearer token is missing; `rackwright token` prints one";
        return Err(unauthorized(call, Code::AuthenticationFailed, message, None));
    };
    gate.authenticate(token).map_err(|rejection| {
        let code = if rejection == Rejection::Expired { Code::ExpiredAuthenticationToken } else { Code::InvalidAuthenticationToken };
        unauthorized(call, code, &rejection.to_string(), Some("invalid_token"))
    })
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

/// Azure's clients read from the header where a token can be had.
fn unauthorized(call: &Call, code: Code, message: &str, error: Option<&str>) -> Refused {
    call.deny(Grounds::Words { reason: code.name(), words: message.to_owned() });
    let error = error.map(|error| format!(", error=\"{error}\", error_description=\"{message}\"")).unwrap_or_default();
    let challenge = format!("Bearer authorization_uri=\"{}/adfs\"{error}", call.origin());
    Refused::new(code, message).www_authenticate(challenge)
}

/// Says which permission was missing, and where.
pub(crate) fn forbidden(call: &Call, missing: &Missing) -> Refused {
    let Missing { principal, permission, scope } = missing;
    let caller = call.name();
    call.deny(missing.into());
    let message =
        format!("`{caller}` ({principal}) may not perform `{permission}` at `{scope}`: no role assigned there or around it grants that");
    Refused::new(Code::AuthorizationFailed, message).target(scope.as_str())
}

/// Why somebody is told that there is nothing where there is something: they may not read it. For the log alone.
pub(crate) fn unseen(id: &str) -> Grounds {
    Grounds::Missing { permission: rules::read_permission(id), scope: scope_of(id) }
}

/// The same of an entry of the log about it.
pub(crate) fn unseen_log_of(id: &str) -> Grounds {
    Grounds::Missing { permission: rules::log_permission(), scope: scope_of(id) }
}

/// The scope of an id; of one that can be no scope, what it is surely in.
pub(crate) fn scope_of(id: &str) -> Scope {
    let mut text = id.trim_end_matches('/');
    loop {
        if let Ok(scope) = Scope::parse(text) {
            return scope;
        }
        match text.rfind('/') {
            Some(end) if end > 0 => text = &text[..end],
            _ => return Scope::root(),
        }
    }
}

/// A permission that is made of parts of a path. What can be none is asked for as the last resort: nobody has less than all.
pub(crate) fn permission_of(text: &str) -> Permission {
    Permission::new(text).or_else(|_| Permission::new("Rackwright/unknown/action")).expect("a constant permission")
}

#[cfg(test)]
mod neighbour_tests;
#[cfg(test)]
mod pace_tests;
#[cfg(test)]
mod path_tests;
#[cfg(test)]
mod slow_body_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod token_tests;
