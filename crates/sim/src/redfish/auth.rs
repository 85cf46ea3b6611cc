//! Who may use a BMC: holders of a live session, or of an account's user name and password.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use world::Standing;

use super::answer::Answer;
use super::call::Caller;
use super::{Bmc, errors};

pub(super) fn authenticate(bmc: &Bmc, headers: &HeaderMap) -> Result<Caller, Answer> {
    let token = headers.get("x-auth-token").and_then(|token| token.to_str().ok());
    let caller = match token {
        Some(token) => bmc.site.sessions(bmc.index).touch(token, bmc.site.now()).and_then(|user| holder(bmc, user)),
        None => basic_login(headers).and_then(|(user, password)| log_in(bmc, &user, &password)),
    };
    caller.ok_or_else(errors::unauthorized)
}

pub(super) fn log_in(bmc: &Bmc, user: &str, password: &str) -> Option<Caller> {
    bmc.site.look(|world| {
        let account = world.hardware(bmc.index).accounts.log_in(user, password)?;
        Some(Caller { user: account.user.clone(), role: account.role })
    })
}

/// A session is worth what its account is worth now; without one it is worth nothing.
fn holder(bmc: &Bmc, user: String) -> Option<Caller> {
    bmc.site.look(|world| {
        let mut accounts = world.hardware(bmc.index).accounts.iter();
        let account = accounts.find(|account| account.user == user && account.standing == Standing::Enabled)?;
        Some(Caller { role: account.role, user })
    })
}

fn basic_login(headers: &HeaderMap) -> Option<(String, String)> {
    let (scheme, encoded) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (user, password) = decoded.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}
