//! Sessions: logging in, staying in, logging out. They live in memory, as in a BMC, and a restart ends them.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Value, json};
use world::{Instant, Span};

use super::answer::Answer;
use super::{Bmc, auth, errors, parse_body};

/// How long a session lives without being used. Tokens are never scaled with the site's speed.
const SESSION_TIMEOUT: Span = Span::minutes(30);

/// How many sessions a BMC holds. The one that was unused for longest makes room for a new one, so that a controller
/// that was killed many times and never logged out can always come back.
const SESSION_LIMIT: usize = 16;

const SESSIONS_PATH: &str = "/redfish/v1/SessionService/Sessions";

#[derive(Debug, Default)]
pub(crate) struct Sessions {
    opened: u64,
    live: BTreeMap<u64, Session>,
}

#[derive(Debug)]
struct Session {
    token: String,
    created_at: Instant,
    used_at: Instant,
}

impl Sessions {
    /// Whether the token is a live session's; using one keeps it alive.
    pub fn touch(&mut self, token: &str, now: Instant) -> bool {
        self.expire(now);
        match self.live.values_mut().find(|session| session.token == token) {
            Some(session) => {
                session.used_at = now;
                true
            }
            None => false,
        }
    }

    fn open(&mut self, now: Instant) -> (u64, String) {
        self.expire(now);
        if self.live.len() >= SESSION_LIMIT {
            let idle = self.live.iter().min_by_key(|(_, session)| session.used_at).map(|(number, _)| *number);
            idle.and_then(|number| self.live.remove(&number));
        }
        self.opened += 1;
        let token = format!("{:032x}", rand::random::<u128>());
        self.live.insert(self.opened, Session { token: token.clone(), created_at: now, used_at: now });
        (self.opened, token)
    }

    fn expire(&mut self, now: Instant) {
        self.live.retain(|_, session| session.used_at + SESSION_TIMEOUT > now);
    }
}

pub(super) fn service() -> Answer {
    Answer::ok(&json!({
        "@odata.id": "/redfish/v1/SessionService",
        "@odata.type": "#SessionService.v1_1_8.SessionService",
        "Id": "SessionService",
        "Name": "Session Service",
        "ServiceEnabled": true,
        "SessionTimeout": SESSION_TIMEOUT.0 / 1_000,
        "Status": {"State": "Enabled", "Health": "OK"},
        "Sessions": {"@odata.id": SESSIONS_PATH},
    }))
}

pub(super) fn collection(bmc: &Bmc) -> Answer {
    let mut sessions = bmc.site.sessions(bmc.index);
    sessions.expire(bmc.site.now());
    let members: Vec<Value> = sessions.live.keys().map(|number| json!({"@odata.id": format!("{SESSIONS_PATH}/{number}")})).collect();
    Answer::ok(&json!({
        "@odata.id": SESSIONS_PATH,
        "@odata.type": "#SessionCollection.SessionCollection",
        "Name": "Session Collection",
        "Members@odata.count": members.len(),
        "Members": members,
    }))
}

pub(super) fn show(bmc: &Bmc, id: &str) -> Result<Answer, Answer> {
    let mut sessions = bmc.site.sessions(bmc.index);
    sessions.expire(bmc.site.now());
    let session = id.parse().ok().and_then(|number: u64| sessions.live.get(&number).map(|session| document(bmc, number, session)));
    session.as_ref().map(Answer::ok).ok_or_else(|| errors::missing(&format!("{SESSIONS_PATH}/{id}")))
}

pub(super) fn log_in(bmc: &Bmc, body: &[u8]) -> Result<Answer, Answer> {
    let body = parse_body(body)?;
    let text = |property: &str| body[property].as_str().map(str::to_owned).ok_or_else(|| errors::missing_property(property));
    let (user, password) = (text("UserName")?, text("Password")?);
    if !auth::is_login(bmc, &user, &password) {
        return Err(errors::bad_login(SESSIONS_PATH));
    }
    let mut sessions = bmc.site.sessions(bmc.index);
    let (number, token) = sessions.open(bmc.site.now());
    let document = sessions.live.get(&number).map_or(Value::Null, |session| document(bmc, number, session));
    let location = format!("{SESSIONS_PATH}/{number}");
    Ok(Answer::of(StatusCode::CREATED, &document).with_header("x-auth-token", token).with_header("location", location))
}

pub(super) fn log_out(bmc: &Bmc, id: &str) -> Result<Answer, Answer> {
    let mut sessions = bmc.site.sessions(bmc.index);
    match id.parse().ok().and_then(|number: u64| sessions.live.remove(&number)) {
        Some(_) => Ok(Answer::no_content()),
        None => Err(errors::missing(&format!("{SESSIONS_PATH}/{id}"))),
    }
}

/// The password is never shown, as the standard asks.
fn document(bmc: &Bmc, number: u64, session: &Session) -> Value {
    json!({
        "@odata.id": format!("{SESSIONS_PATH}/{number}"),
        "@odata.type": "#Session.v1_5_0.Session",
        "Id": number.to_string(),
        "Name": format!("User Session {number}"),
        "UserName": bmc.spec().bmc_user,
        "Password": null,
        "CreatedTime": session.created_at.to_seconds_text(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unused_session_runs_out_and_a_used_one_does_not() {
        let mut sessions = Sessions::default();
        let (_, idle) = sessions.open(Instant(0));
        let (_, busy) = sessions.open(Instant(0));
        assert!(sessions.touch(&busy, Instant(20 * 60_000)));
        assert!(!sessions.touch(&idle, Instant(31 * 60_000)));
        assert!(sessions.touch(&busy, Instant(31 * 60_000)));
    }

    #[test]
    fn the_longest_unused_session_makes_room() {
        let mut sessions = Sessions::default();
        let tokens: Vec<String> = (0..17).map(|minute| sessions.open(Instant(minute)).1).collect();
        assert!(!sessions.touch(&tokens[0], Instant(20)));
        assert!(tokens[1..].iter().all(|token| sessions.touch(token, Instant(20))));
    }
}
