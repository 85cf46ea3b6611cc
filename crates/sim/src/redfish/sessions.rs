//! Sessions: logging in, staying in, logging out. They live in memory, as in a BMC, and a restart ends them.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Value, json};
use world::{Instant, Span};

use super::answer::Answer;
use super::call::{Call, Privilege, text};
use super::document::{self, link};
use super::profile::WhenFull;
use super::{auth, errors};

/// How many sessions a BMC holds.
///
/// Where the one that was unused for longest makes room for a new one, a controller that was killed many times and
/// never logged out can always come back.
const SESSION_LIMIT: usize = 16;

/// What the standard allows for a timeout, in seconds.
const TIMEOUT_RANGE: std::ops::RangeInclusive<i64> = 30..=86_400;

const SESSIONS_PATH: &str = "/redfish/v1/SessionService/Sessions";

#[derive(Debug, Default)]
pub(crate) struct Sessions {
    opened: u64,
    live: BTreeMap<u64, Session>,
    /// The start of the BMC that the sessions belong to.
    restarts: u32,
}

#[derive(Clone, Debug)]
struct Session {
    user: String,
    token: String,
    created_at: Instant,
    used_at: Instant,
}

impl Sessions {
    /// Forgets what has run out, and everything if the BMC has restarted.
    pub fn tidy(&mut self, now: Instant, timeout: Span, restarts: u32) {
        if std::mem::replace(&mut self.restarts, restarts) != restarts {
            self.live.clear();
        }
        self.live.retain(|_, session| session.used_at + timeout > now);
    }

    /// Whose live session the token is; using one keeps it alive.
    pub fn touch(&mut self, token: &str, now: Instant) -> Option<String> {
        let session = self.live.values_mut().find(|session| session.token == token)?;
        session.used_at = now;
        Some(session.user.clone())
    }

    fn open(&mut self, user: &str, now: Instant, when_full: WhenFull) -> Option<(u64, Session)> {
        if self.live.len() >= SESSION_LIMIT {
            if when_full == WhenFull::Refuse {
                return None;
            }
            let idle = self.live.iter().min_by_key(|(_, session)| session.used_at).map(|(number, _)| *number);
            idle.and_then(|number| self.live.remove(&number));
        }
        self.opened += 1;
        let token = format!("{:032x}", rand::random::<u128>());
        let session = Session { user: user.to_owned(), token, created_at: now, used_at: now };
        self.live.insert(self.opened, session.clone());
        Some((self.opened, session))
    }
}

pub(super) fn service(call: &Call<'_>) -> Result<Answer, Answer> {
    let timeout = call.bmc.site.look(|world| world.hardware(call.bmc.index).session_timeout);
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#SessionService.v1_1_8.SessionService",
        "Id": "SessionService",
        "Name": "Session Service",
        "ServiceEnabled": true,
        "SessionTimeout": timeout.0 / 1_000,
        "Status": document::enabled(),
        "Sessions": link(SESSIONS_PATH),
    })))
}

pub(super) fn change_service(call: &Call<'_>) -> Result<Answer, Answer> {
    let changes = call.changes(&["SessionTimeout"])?;
    let asked = &changes["SessionTimeout"];
    let seconds = asked.as_i64().ok_or_else(|| errors::wrong_type(&asked.to_string(), "SessionTimeout"))?;
    if !TIMEOUT_RANGE.contains(&seconds) {
        return Err(errors::property_out_of_range(&asked.to_string(), "SessionTimeout"));
    }
    call.bmc.site.change(|world, now| world.set_session_timeout(call.bmc.index, Span::seconds(seconds), now));
    service(call)
}

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    let numbers: Vec<u64> = call.bmc.site.sessions(call.bmc.index).live.keys().copied().collect();
    let members = numbers.into_iter().map(|number| format!("{SESSIONS_PATH}/{number}"));
    Ok(document::collection(SESSIONS_PATH, "Session", "Session Collection", members))
}

fn find(call: &Call<'_>) -> Result<(u64, Session), Answer> {
    let sessions = call.bmc.site.sessions(call.bmc.index);
    let found = document::numbered("", call.id).map(u64::from).and_then(|number| Some((number, sessions.live.get(&number)?.clone())));
    found.ok_or_else(|| call.missing())
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let (number, session) = find(call)?;
    Ok(Answer::ok(&document(number, &session)))
}

pub(super) fn log_in(call: &Call<'_>) -> Result<Answer, Answer> {
    let bmc = call.bmc;
    if call.body.is_empty() {
        return Err(errors::malformed());
    }
    let fields = call.parameters()?;
    let required = |property: &str| text(&fields, property)?.ok_or_else(|| errors::missing_property(property));
    let (user, password) = (required("UserName")?, required("Password")?);
    if auth::log_in(bmc, user, password).is_none() {
        return Err(errors::bad_login(SESSIONS_PATH));
    }
    let opened = bmc.site.sessions(bmc.index).open(user, bmc.site.now(), bmc.profile().when_full);
    let (number, session) = opened.ok_or_else(errors::too_many_sessions)?;
    let location = format!("{SESSIONS_PATH}/{number}");
    let answer = Answer::of(StatusCode::CREATED, &document(number, &session));
    Ok(answer.with_header("x-auth-token", session.token).with_header("location", location))
}

/// One's own session is one's own to end; another's takes an administrator.
pub(super) fn log_out(call: &Call<'_>) -> Result<Answer, Answer> {
    let (number, session) = find(call)?;
    if session.user != call.caller.user && !call.caller.may(Privilege::ConfigureManager) {
        return Err(errors::forbidden());
    }
    call.bmc.site.sessions(call.bmc.index).live.remove(&number);
    Ok(Answer::no_content())
}

/// The password is never shown, as the standard asks.
fn document(number: u64, session: &Session) -> Value {
    json!({
        "@odata.id": format!("{SESSIONS_PATH}/{number}"),
        "@odata.type": "#Session.v1_5_0.Session",
        "Id": number.to_string(),
        "Name": format!("User Session {number}"),
        "UserName": session.user,
        "Password": null,
        "CreatedTime": session.created_at.to_seconds_text(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Span = Span::minutes(30);

    fn open(sessions: &mut Sessions, at: i64) -> String {
        sessions.open("root", Instant(at), WhenFull::EndOldest).unwrap().1.token
    }

    #[test]
    fn an_unused_session_runs_out_and_a_used_one_does_not() {
        let mut sessions = Sessions::default();
        let (idle, busy) = (open(&mut sessions, 0), open(&mut sessions, 0));
        assert!(sessions.touch(&busy, Instant(20 * 60_000)).is_some());
        sessions.tidy(Instant(31 * 60_000), TIMEOUT, 0);
        assert!(sessions.touch(&idle, Instant(31 * 60_000)).is_none());
        assert!(sessions.touch(&busy, Instant(31 * 60_000)).is_some());
    }

    #[test]
    fn the_longest_unused_session_makes_room_or_the_new_one_is_refused() {
        let mut sessions = Sessions::default();
        let tokens: Vec<String> = (0..17).map(|minute| open(&mut sessions, minute)).collect();
        assert!(sessions.touch(&tokens[0], Instant(20)).is_none());
        assert!(tokens[1..].iter().all(|token| sessions.touch(token, Instant(20)).is_some()));
        assert!(sessions.open("root", Instant(21), WhenFull::Refuse).is_none());
    }

    #[test]
    fn a_restart_ends_every_session() {
        let mut sessions = Sessions::default();
        let token = open(&mut sessions, 0);
        sessions.tidy(Instant(1), TIMEOUT, 1);
        assert!(sessions.touch(&token, Instant(1)).is_none());
    }
}
