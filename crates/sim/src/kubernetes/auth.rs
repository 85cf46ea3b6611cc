//! Who may use the API: whoever holds the cluster's bearer token; and, for what joining takes, a machine outside with a bootstrap token of
//! the undercloud.
//!
//! kubectl sends no bearer token over plain HTTP, but it does send the user and password of the server's URL. The token is
//! therefore also taken as the password of basic authentication, whatever the user.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;

use world::ClusterName;

use super::Server;
use super::joining::Joiner;
use super::status::Failure;

pub(super) enum Caller {
    Administrator,
    Joiner(Joiner),
}

pub(super) fn authenticate(server: &Server, headers: &HeaderMap) -> Result<Caller, Failure> {
    let token = presented_token(headers).ok_or_else(Failure::unauthorized)?;
    if token == server.token() {
        return Ok(Caller::Administrator);
    }
    let joiner = if server.cluster == ClusterName::Undercloud { Joiner::recognize(server, &token) } else { None };
    joiner.map(Caller::Joiner).ok_or_else(Failure::unauthorized)
}

fn presented_token(headers: &HeaderMap) -> Option<String> {
    let (scheme, value) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" => Some(value.trim().to_owned()),
        "basic" => {
            let login = String::from_utf8(STANDARD.decode(value.trim()).ok()?).ok()?;
            login.split_once(':').map(|(_, password)| password.to_owned())
        }
        _ => None,
    }
}
