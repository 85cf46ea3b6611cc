//! Who we are to one BMC: sessions, and basic authentication where there are none.
//!
//! A session is opened at the first request, shared by all clones, and never left behind knowingly, because service
//! processors allow only a handful. When to use which is here; when to try again is `line`'s.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::LOCATION;
use http::{HeaderValue, Method, StatusCode};
use model::{Delivery, Fault, FaultClass};
use tokio::time::timeout_at;
use zeroize::Zeroizing;

use crate::ask::Ask;
use crate::content::{Field, Sent, Words};
use crate::document::{self, local_path};
use crate::fault::{Asked, not_yet};
use crate::line::{Deadline, Line, X_AUTH_TOKEN};
use crate::message;
use crate::root::Sessions;
use crate::transport::Answer;

/// How this BMC lets us in, as far as we know.
pub(crate) enum Access {
    Unknown,
    Session(Session),
    /// It offers no sessions.
    Basic,
    /// It lets us in neither with a session nor without. Which of the two it would take cannot be told before our login is
    /// right, and each try counts towards locking the account: so they take turns, one a call.
    Shut {
        next: Way,
    },
}

#[derive(Clone, Copy)]
pub(crate) enum Way {
    Session,
    Basic,
}

#[derive(Clone)]
pub(crate) struct Session {
    /// Marked sensitive, so that `Debug` hides it.
    pub token: HeaderValue,
    location: Option<String>,
}

/// What goes with one request.
pub(crate) enum Pass {
    None,
    Session(Session, Age),
    Basic(HeaderValue, Reason),
}

/// Why there is no session.
pub(crate) enum Reason {
    /// The BMC offers none.
    NotOffered,
    /// It may offer none: it refused to open one where the root does not say that there are any.
    Guarded,
    /// It has no room for another, which is this fault. Those who crashed before us may have left theirs behind, and a
    /// machine must not stay out of reach until they expire.
    Full(Fault),
}

/// What came of logging in.
enum Opened {
    Session(Session),
    None(Reason),
    /// Refused with this fault, in a place that may be no place for sessions.
    Guarded(Fault),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Age {
    /// Opened for this very request: if it is refused, no newer one will fare better.
    Fresh,
    Reused,
}

impl Line {
    /// Ends our session, if there is one. It is a courtesy: failing costs the BMC a slot until the session expires.
    pub async fn close(&self) {
        let session = match std::mem::replace(&mut *self.access.lock().await, Access::Unknown) {
            Access::Session(session) => Some(session),
            Access::Unknown | Access::Basic | Access::Shut { .. } => None,
        };
        if let Some(session) = session {
            self.end(session, Deadline::of_call()).await;
        }
    }

    /// What to authenticate with, other than the session that was just refused.
    pub(crate) async fn pass(&self, refused: Option<&Session>, deadline: Deadline) -> Result<Pass, Fault> {
        let Ok(mut access) = timeout_at(deadline.0, self.access.lock()).await else {
            return Err(Fault::new(FaultClass::Unreachable, Delivery::No, "another request is still logging in"));
        };
        if let (Access::Session(known), Some(refused)) = (&*access, refused)
            && known.token == refused.token
        {
            *access = Access::Unknown;
        }
        let reason = match &*access {
            Access::Session(session) => return Ok(Pass::Session(session.clone(), Age::Reused)),
            Access::Basic => Reason::NotOffered,
            Access::Shut { next: Way::Basic } => Reason::Guarded,
            Access::Unknown | Access::Shut { next: Way::Session } => match self.open_session(deadline).await? {
                Opened::Session(session) => {
                    *access = Access::Session(session.clone());
                    return Ok(Pass::Session(session, Age::Fresh));
                }
                Opened::None(reason) => reason,
                Opened::Guarded(refusal) if matches!(&*access, Access::Shut { .. }) => {
                    *access = Access::Shut { next: Way::Basic };
                    return Err(refusal);
                }
                Opened::Guarded(_) => Reason::Guarded,
            },
        };
        Ok(Pass::Basic(self.basic(deadline).await?, reason))
    }

    /// Logs in, if this BMC offers sessions and has room for one.
    async fn open_session(&self, deadline: Deadline) -> Result<Opened, Fault> {
        let sessions = self.root(deadline).await.map_err(not_yet)?.sessions;
        let (Sessions::Told(path) | Sessions::Assumed(path)) = &sessions;
        let login = self.login(deadline).await?;
        let fields = BTreeMap::from([("Password", Field::Text(login.password.as_str())), ("UserName", Field::Text(&login.user))]);
        let ask = Ask { sent: Some(Sent::secret(&fields)), ..Ask::observing(Method::POST, path) };
        let answer = self.send(&ask, &Pass::None, deadline).await?;
        let not_offered = Ok(Opened::None(Reason::NotOffered));
        match answer.status {
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED => not_offered,
            // A service without sessions may guard even the places where it has nothing. If it was the password that is
            // wrong, basic authentication fails too.
            StatusCode::UNAUTHORIZED if matches!(sessions, Sessions::Assumed(_)) => {
                Ok(Opened::Guarded(ask.asked.refused(&answer, Words::Withhold)))
            }
            status if status.is_success() => read_session(&ask.asked, &answer).map(Opened::Session),
            _ if says(&answer, message::SESSION_LIMIT_EXCEEDED) => {
                Ok(Opened::None(Reason::Full(ask.asked.refused(&answer, Words::Withhold))))
            }
            // Whoever is not let in has not asked yet for what they came for.
            _ => Err(not_yet(ask.asked.refused(&answer, Words::Withhold))),
        }
    }

    async fn basic(&self, deadline: Deadline) -> Result<HeaderValue, Fault> {
        let login = self.login(deadline).await?;
        // Of its full length at once: a text that grows leaves copies behind.
        let pair = Zeroizing::new([login.user.as_str(), ":", login.password.as_str()].concat());
        let encoded = Zeroizing::new(STANDARD.encode(pair.as_bytes()));
        let encoded = Zeroizing::new(["Basic ", encoded.as_str()].concat());
        let mut value = HeaderValue::from_str(&encoded)
            .map_err(|_| Fault::new(FaultClass::NoLogin, Delivery::No, "our login does not fit a header"))?;
        value.set_sensitive(true);
        Ok(value)
    }

    async fn login(&self, deadline: Deadline) -> Result<crate::Login, Fault> {
        let late = |_| Fault::new(FaultClass::NoLogin, Delivery::No, "our own credentials for this BMC were not at hand in time");
        timeout_at(deadline.0, self.credentials.login()).await.map_err(late)?
    }

    /// Forgets a session, unless a clone has already replaced it.
    pub(crate) async fn drop_session(&self, refused: &Session) {
        let mut access = self.access.lock().await;
        if matches!(&*access, Access::Session(known) if known.token == refused.token) {
            *access = Access::Unknown;
        }
    }

    /// Remembers that this BMC has no sessions, but only once it has let us in without: a BMC that is starting up may
    /// answer 404 to everything.
    pub(crate) async fn settle_for_basic(&self) {
        let mut access = self.access.lock().await;
        if matches!(&*access, Access::Unknown | Access::Shut { .. }) {
            *access = Access::Basic;
        }
    }

    /// Remembers that this BMC let us in neither way.
    pub(crate) async fn note_shut(&self) {
        let mut access = self.access.lock().await;
        if matches!(&*access, Access::Unknown | Access::Shut { .. }) {
            *access = Access::Shut { next: Way::Session };
        }
    }

    pub(crate) async fn end(&self, session: Session, deadline: Deadline) {
        let Some(path) = session.location.clone() else { return };
        let outcome = self.send(&Ask::observing(Method::DELETE, &path), &Pass::Session(session, Age::Reused), deadline).await;
        tracing::debug!(base = %self.base(), outcome = ?outcome.map(|answer| answer.status), "ended a session");
    }
}

/// A BMC that has forgotten our session says so by its status, or by a message under another.
pub(crate) fn is_session_refused(answer: &Answer) -> bool {
    answer.status == StatusCode::UNAUTHORIZED || (answer.status.is_client_error() && says(answer, message::NO_VALID_SESSION))
}

fn says(answer: &Answer, message: &str) -> bool {
    document::message_keys(&answer.body).iter().any(|key| key == message)
}

fn read_session(asked: &Asked, answer: &Answer) -> Result<Session, Fault> {
    let Some(token) = answer.headers.get(X_AUTH_TOKEN) else {
        return Err(asked.garbled("the new session has no X-Auth-Token"));
    };
    // A copy: the header is a piece of the buffer that the answer was read into, and would keep all of it for as long as the
    // session lasts, which is eight kibibytes for each BMC.
    let mut token = HeaderValue::from_bytes(token.as_bytes()).map_err(|_| asked.garbled("the new session's X-Auth-Token is no text"))?;
    token.set_sensitive(true);
    let told = answer.headers.get(LOCATION).and_then(|value| value.to_str().ok()).and_then(local_path);
    let location = told.or_else(|| document::text(&document::parse(&answer.body)?, "@odata.id").as_deref().and_then(local_path));
    Ok(Session { token, location })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderMap;

    use super::*;
    use crate::fault::Purpose;

    #[test]
    fn a_session_keeps_its_token_and_not_the_buffer_that_it_came_in() {
        let buffer = Bytes::from(b"X-Auth-Token: 8f3c".repeat(500));
        let token = HeaderValue::from_maybe_shared(buffer.slice(14..18)).unwrap();
        let headers = HeaderMap::from_iter([(X_AUTH_TOKEN, token)]);
        let answer = Answer { status: StatusCode::CREATED, headers, body: Bytes::new(), stream: None };
        let asked = Asked { method: Method::POST, path: "/".to_owned(), purpose: Purpose::Observe };
        let session = read_session(&asked, &answer).unwrap();
        drop(answer);
        assert_eq!(session.token, "8f3c");
        assert!(buffer.is_unique(), "the session still holds the buffer");
    }
}
