//! The authorised line to one BMC: who we are to it, and how a request gets there and back.
//!
//! A session is opened at the first request, shared by all clones, renewed once when the BMC refuses it, and never
//! left behind knowingly, because service processors allow only a handful. A BMC without sessions, or without room for
//! another, gets basic authentication instead.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, IF_MATCH, LOCATION, USER_AGENT};
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::Full;
use model::{Delivery, Fault, FaultClass, Span};
use tokio::time::{Instant, timeout_at};
use zeroize::Zeroizing;

use crate::ask::{Ask, read_document};
use crate::content::{Field, Sent, Words};
use crate::credentials::Credentials;
use crate::document::{self, local_path};
use crate::fault::Asked;
use crate::message;
use crate::root::{ROOT, Root, Sessions};
use crate::transport::{Answer, Reading, Transport};

/// How long one call of the driver may take in all, with finding the System and logging in.
///
/// After this no request of the call is sent any more, so a keeper whose lease outlives it cannot be heard by a
/// device after a successor has taken over.
pub const CALL_TIMEOUT: Span = Span::seconds(30);

const X_AUTH_TOKEN: HeaderName = HeaderName::from_static("x-auth-token");
const ODATA_VERSION: HeaderName = HeaderName::from_static("odata-version");

/// When the present call ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    pub fn of_call() -> Self {
        Deadline(Instant::now() + CALL_TIMEOUT.to_std())
    }
}

pub(crate) struct Line {
    transport: Transport,
    base: Uri,
    credentials: Arc<dyn Credentials>,
    /// Held while logging in, so that clones that start together open one session.
    access: tokio::sync::Mutex<Access>,
    root: Mutex<Option<Root>>,
}

/// How this BMC lets us in, as far as we know.
enum Access {
    Unknown,
    Session(Session),
    /// It offers no sessions.
    Basic,
}

#[derive(Clone)]
struct Session {
    /// Marked sensitive, so that `Debug` hides it.
    token: HeaderValue,
    location: Option<String>,
}

/// What goes with one request.
enum Pass {
    None,
    Session(Session, Age),
    Basic(HeaderValue, Reason),
}

/// Why there is no session.
enum Reason {
    /// The BMC offers none.
    NotOffered,
    /// It has no room for another, which is this fault. Those who crashed before us may have left theirs behind, and a
    /// machine must not stay out of reach until they expire.
    Full(Fault),
}

/// What came of logging in.
enum Opened {
    Session(Session),
    None(Reason),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Age {
    /// Opened for this very request: if it is refused, no newer one will fare better.
    Fresh,
    Reused,
}

impl Line {
    pub fn new(transport: Transport, base: Uri, credentials: Arc<dyn Credentials>) -> Self {
        Line { transport, base, credentials, access: tokio::sync::Mutex::new(Access::Unknown), root: Mutex::new(None) }
    }

    pub fn base(&self) -> &Uri {
        &self.base
    }

    /// The service root, read once and without credentials, which the standard requires to work.
    pub async fn root(&self, deadline: Deadline) -> Result<Root, Fault> {
        if let Some(root) = self.known_root().clone() {
            return Ok(root);
        }
        let ask = Ask::get(ROOT);
        let answer = self.send(&ask, &Pass::None, deadline).await?;
        // Some guard even the root. Then the usual places have to do, since we cannot log in to learn where to log in. It is
        // not remembered, because a BMC that is starting up may guard what it opens a moment later.
        if matches!(answer.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Ok(Root::guarded());
        }
        let root = Root::read(&read_document(&ask.asked, &answer)?);
        *self.known_root() = Some(root.clone());
        Ok(root)
    }

    /// The service may have been rearranged: read its root again next time.
    pub fn forget_root(&self) {
        *self.known_root() = None;
    }

    /// Ends our session, if there is one. It is a courtesy: failing costs the BMC a slot until the session expires.
    pub async fn close(&self) {
        let session = match std::mem::replace(&mut *self.access.lock().await, Access::Unknown) {
            Access::Session(session) => Some(session),
            Access::Unknown | Access::Basic => None,
        };
        if let Some(session) = session {
            self.end(session, Deadline::of_call()).await;
        }
    }

    /// One request with our credentials, and once more if the BMC has forgotten our session.
    pub async fn exchange(&self, ask: &Ask, deadline: Deadline) -> Result<Answer, Fault> {
        let mut pass = self.pass(None, deadline).await?;
        let mut answer = self.send(ask, &pass, deadline).await?;
        if is_session_refused(&answer)
            && let Pass::Session(refused, Age::Reused) = &pass
        {
            pass = self.pass(Some(refused), deadline).await?;
            answer = self.send(ask, &pass, deadline).await?;
        }
        match pass {
            Pass::Session(refused, Age::Fresh) if is_session_refused(&answer) => {
                self.drop_session(&refused).await;
                self.end(refused, deadline).await;
            }
            Pass::Basic(_, Reason::NotOffered) if answer.status.is_success() => self.settle_for_basic().await,
            // It takes nothing but sessions; our password is not what is wrong.
            Pass::Basic(_, Reason::Full(full)) if answer.status == StatusCode::UNAUTHORIZED => return Err(full),
            _ => {}
        }
        Ok(answer)
    }

    /// What to authenticate with, other than the session that was just refused.
    async fn pass(&self, refused: Option<&Session>, deadline: Deadline) -> Result<Pass, Fault> {
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
            Access::Unknown => match self.open_session(deadline).await? {
                Opened::Session(session) => {
                    *access = Access::Session(session.clone());
                    return Ok(Pass::Session(session, Age::Fresh));
                }
                Opened::None(reason) => reason,
            },
        };
        Ok(Pass::Basic(self.basic(deadline).await?, reason))
    }

    /// Logs in, if this BMC offers sessions and has room for one.
    async fn open_session(&self, deadline: Deadline) -> Result<Opened, Fault> {
        let sessions = self.root(deadline).await?.sessions;
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
            StatusCode::UNAUTHORIZED if matches!(sessions, Sessions::Assumed(_)) => not_offered,
            status if status.is_success() => read_session(&ask.asked, &answer).map(Opened::Session),
            _ if says(&answer, message::SESSION_LIMIT_EXCEEDED) => {
                Ok(Opened::None(Reason::Full(ask.asked.refused(&answer, Words::Withhold))))
            }
            _ => Err(ask.asked.refused(&answer, Words::Withhold)),
        }
    }

    async fn basic(&self, deadline: Deadline) -> Result<HeaderValue, Fault> {
        let login = self.login(deadline).await?;
        let pair = Zeroizing::new(format!("{}:{}", login.user, login.password.as_str()));
        let encoded = Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())));
        let mut value =
            HeaderValue::from_str(&encoded).map_err(|_| Fault::new(FaultClass::Denied, Delivery::No, "the login does not fit a header"))?;
        value.set_sensitive(true);
        Ok(value)
    }

    async fn login(&self, deadline: Deadline) -> Result<crate::Login, Fault> {
        let late = |_| Fault::new(FaultClass::Busy, Delivery::No, "our own credentials for this BMC were not at hand in time");
        timeout_at(deadline.0, self.credentials.login()).await.map_err(late)?
    }

    /// Forgets a session, unless a clone has already replaced it.
    async fn drop_session(&self, refused: &Session) {
        let mut access = self.access.lock().await;
        if matches!(&*access, Access::Session(known) if known.token == refused.token) {
            *access = Access::Unknown;
        }
    }

    /// Remembers that this BMC has no sessions, but only once it has let us in without: a BMC that is starting up may
    /// answer 404 to everything.
    async fn settle_for_basic(&self) {
        let mut access = self.access.lock().await;
        if matches!(&*access, Access::Unknown) {
            *access = Access::Basic;
        }
    }

    async fn end(&self, session: Session, deadline: Deadline) {
        let Some(path) = session.location.clone() else { return };
        let outcome = self.send(&Ask::observing(Method::DELETE, &path), &Pass::Session(session, Age::Reused), deadline).await;
        tracing::debug!(base = %self.base, outcome = ?outcome.map(|answer| answer.status), "ended a session");
    }

    async fn send(&self, ask: &Ask, pass: &Pass, deadline: Deadline) -> Result<Answer, Fault> {
        let asked = &ask.asked;
        let Ok(place) = asked.path.parse() else {
            return Err(Fault::new(FaultClass::Missing, Delivery::No, format!("{asked}: this is not a path")));
        };
        let request = self.request(ask, place, pass).map_err(|error| {
            tracing::debug!(%asked, base = %self.base, %error, "a request cannot be built");
            Fault::new(FaultClass::Unreachable, Delivery::No, format!("{asked}: `{}` is not an address", self.base))
        })?;
        // A future under an expired timer is still polled once, which would be enough to send.
        if Instant::now() >= deadline.0 {
            return Err(Fault::new(FaultClass::Unreachable, Delivery::No, format!("{asked}: not sent, the call took over {CALL_TIMEOUT}")));
        }
        self.transport.send(request, ask.reading, deadline.0).await.map_err(|error| asked.unanswered(&error))
    }

    fn request(&self, ask: &Ask, place: PathAndQuery, pass: &Pass) -> Result<Request<Full<Bytes>>, http::Error> {
        let mut parts = http::uri::Parts::default();
        parts.scheme = self.base.scheme().cloned();
        parts.authority = self.base.authority().cloned();
        parts.path_and_query = Some(place);
        let accepted = match ask.reading {
            Reading::Whole => "application/json",
            Reading::Stream => "text/event-stream",
        };
        let mut request = Request::builder()
            .method(ask.asked.method.clone())
            .uri(Uri::from_parts(parts)?)
            .header(ACCEPT, accepted)
            .header(ODATA_VERSION, "4.0")
            .header(USER_AGENT, "rackwright");
        match pass {
            Pass::None => {}
            Pass::Session(session, _) => request = request.header(X_AUTH_TOKEN, session.token.clone()),
            Pass::Basic(value, _) => request = request.header(AUTHORIZATION, value.clone()),
        }
        if let Some(etag) = &ask.if_match {
            request = request.header(IF_MATCH, etag.clone());
        }
        match &ask.sent {
            None => request.body(Full::default()),
            Some(sent) => request.header(CONTENT_TYPE, "application/json").body(Full::new(sent.text())),
        }
    }

    fn known_root(&self) -> MutexGuard<'_, Option<Root>> {
        self.root.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A BMC that has forgotten our session says so by its status, or by a message under another.
fn is_session_refused(answer: &Answer) -> bool {
    answer.status == StatusCode::UNAUTHORIZED || (answer.status.is_client_error() && says(answer, message::NO_VALID_SESSION))
}

fn says(answer: &Answer, message: &str) -> bool {
    document::message_keys(&answer.body).iter().any(|key| key == message)
}

fn read_session(asked: &Asked, answer: &Answer) -> Result<Session, Fault> {
    let Some(token) = answer.headers.get(X_AUTH_TOKEN) else {
        return Err(asked.garbled("the new session has no X-Auth-Token"));
    };
    let mut token = token.clone();
    token.set_sensitive(true);
    let told = answer.headers.get(LOCATION).and_then(|value| value.to_str().ok()).and_then(local_path);
    let location = told.or_else(|| document::text(&document::parse(&answer.body)?, "@odata.id").as_deref().and_then(local_path));
    Ok(Session { token, location })
}
