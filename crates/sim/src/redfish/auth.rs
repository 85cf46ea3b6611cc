//! Who may use a BMC: holders of a live session, or of its user name and password.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::answer::Answer;
use super::{Bmc, errors};

pub(super) fn authenticate(bmc: &Bmc, headers: &HeaderMap) -> Result<(), Answer> {
    let token = headers.get("x-auth-token").and_then(|token| token.to_str().ok());
    let is_known = match token {
        Some(token) => bmc.site.sessions(bmc.index).touch(token, bmc.site.now()),
        None => basic_login(headers).is_some_and(|(user, password)| is_login(bmc, &user, &password)),
    };
    if is_known { Ok(()) } else { Err(errors::unauthorized()) }
}

pub(super) fn is_login(bmc: &Bmc, user: &str, password: &str) -> bool {
    bmc.spec().bmc_user == user && bmc.spec().bmc_password == password
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
