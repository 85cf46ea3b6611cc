//! The authorised line to one BMC: how a request gets there and back, in time and with the credentials of `access`.
//!
//! A session that the BMC refuses is renewed once, and the request repeated.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_TYPE, IF_MATCH, USER_AGENT};
use http::uri::PathAndQuery;
use http::{HeaderName, Request, StatusCode, Uri};
use http_body_util::Full;
use model::{Delivery, Fault, FaultClass, Span};
use tokio::time::Instant;

use crate::access::{Access, Age, Pass, Reason, is_session_refused};
use crate::ask::{Ask, read_document};
use crate::credentials::Credentials;
use crate::root::{ROOT, Root};
use crate::transport::{Answer, Reading, Transport};

/// How long one call of the driver may take in all, with finding the System and logging in.
///
/// After this no request of the call is sent any more, so a keeper whose lease outlives it cannot be heard by a
/// device after a successor has taken over.
pub const CALL_TIMEOUT: Span = Span::seconds(30);

pub(crate) const X_AUTH_TOKEN: HeaderName = HeaderName::from_static("x-auth-token");
const ODATA_VERSION: HeaderName = HeaderName::from_static("odata-version");

/// When the present call ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(pub Instant);

impl Deadline {
    pub fn of_call() -> Self {
        Deadline(Instant::now() + CALL_TIMEOUT.to_std())
    }
}

pub(crate) struct Line {
    transport: Transport,
    base: Uri,
    pub(crate) credentials: Arc<dyn Credentials>,
    /// Held while logging in, so that clones that start together open one session.
    pub(crate) access: tokio::sync::Mutex<Access>,
    root: Mutex<Option<Root>>,
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
            Pass::Basic(_, Reason::NotOffered | Reason::Guarded) if answer.status.is_success() => self.settle_for_basic().await,
            Pass::Basic(_, Reason::Guarded) if answer.status == StatusCode::UNAUTHORIZED => self.note_shut().await,
            // It takes nothing but sessions; our password is not what is wrong.
            Pass::Basic(_, Reason::Full(full)) if answer.status == StatusCode::UNAUTHORIZED => return Err(full),
            _ => {}
        }
        Ok(answer)
    }

    pub(crate) async fn send(&self, ask: &Ask, pass: &Pass, deadline: Deadline) -> Result<Answer, Fault> {
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
            Reading::Whole | Reading::Once => "application/json",
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
        if ask.reading == Reading::Once {
            request = request.header(CONNECTION, "close");
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
