//! Who comes in, and how refusals read. A machine's program acts on the status; the words are for the person who reads its log.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use model::{ClusterName, RuntimeVersion, Span};
use serde::de::DeserializeOwned;
use serde_json::json;
use ticket::InstallKey;
use tokio::sync::OwnedSemaphorePermit;
use uuid::Uuid;

use super::{InstallFace, REPORT_BODY_MAX, REPORT_BODY_TIMEOUT};
use crate::audit::is_denial;
use crate::call::{Peer, URI_MAX, correlation_of};
use crate::hygiene::{self, Transport};
use crate::meters::count_install_request;
use crate::reply::{RETRY_AFTER, Refused, json_response, set_retry_after};

/// A place among those that are answered. Whoever is still being sent something keeps a copy.
pub(super) type Place = Arc<OwnedSemaphorePermit>;

/// A refusal as a machine reads it.
#[derive(Clone, Debug)]
pub(super) struct Declined {
    status: StatusCode,
    message: String,
    retry_after: Option<Span>,
}

impl Declined {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Declined {
        Declined { status, message: message.into(), retry_after: None }
    }

    pub fn later(status: StatusCode, message: impl Into<String>) -> Declined {
        Declined { retry_after: Some(RETRY_AFTER), ..Declined::new(status, message) }
    }

    /// Nothing is told apart here: what never was, what is over, and what is asked for with a wrong secret.
    pub fn no_such_image() -> Declined {
        Declined::new(StatusCode::NOT_FOUND, "there is no such image, or not any more")
    }

    pub fn wrong_token() -> Declined {
        Declined::new(StatusCode::UNAUTHORIZED, "the token is not the one of this attempt")
    }

    pub fn unknown_runtime(version: RuntimeVersion) -> Declined {
        Declined::new(StatusCode::CONFLICT, format!("runtime {version} is not known"))
    }

    pub fn over() -> Declined {
        Declined::new(StatusCode::CONFLICT, "this attempt is over, or never was")
    }
}

impl From<Refused> for Declined {
    /// What the keeper, or the way to it, says against a report.
    fn from(refused: Refused) -> Declined {
        let message = refused.body()["error"]["message"].as_str().unwrap_or_default().to_owned();
        match refused.status() {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Declined::later(refused.status(), message),
            // A rule that speaks against it, whichever: the attempt cannot go on like this.
            status if status.is_client_error() => Declined::new(StatusCode::CONFLICT, message),
            status => Declined::new(status, message),
        }
    }
}

impl IntoResponse for Declined {
    fn into_response(self) -> Response {
        let mut response = json_response(self.status, &json!({ "error": self.message }));
        if let Some(span) = self.retry_after {
            set_retry_after(response.headers_mut(), span);
        }
        response
    }
}

pub(super) async fn nothing_here() -> Declined {
    Declined::new(StatusCode::NOT_FOUND, "there is nothing here")
}

/// Whoever sends a token in the clear has lost it already; it is not made use of.
pub(super) async fn only_with_tls() -> Declined {
    Declined::new(StatusCode::UPGRADE_REQUIRED, "this is answered over TLS only")
}

/// Lets as many in as there are places, counts everybody, and tells of those who were denied something: by what they asked for, and never by
/// its address, which may have a secret in it.
pub(super) async fn limited(State((face, transport)): State<(InstallFace, Transport)>, request: Request, next: Next) -> Response {
    let _answering = face.api.process.answering.token();
    let what = what_of(request.uri().path());
    let from = Peer::address(request.extensions().get().copied());
    let (request_id, correlation_id) = (Uuid::new_v4().to_string(), correlation_of(request.headers()));
    let mut response = let_in(&face, request, next).await;
    count_install_request(what, response.status());
    if is_denial(response.status()) {
        face.api.audit.note("InstallDenied", what, from, Some(&request_id));
    }
    hygiene::protect(response.headers_mut(), transport);
    hygiene::identify(response.headers_mut(), &request_id, correlation_id.as_str());
    response
}

/// What is asked for, in one of few words.
fn what_of(path: &str) -> &'static str {
    let mut parts = path.strip_prefix(ticket::PREFIX).unwrap_or_default().split('/').skip(1);
    let kinds = ["media", "http", "pxe", "exchange", "image", "report", "inventory", "log", "seed", "phone-home"];
    let named = match parts.next() {
        Some("attempts") => parts.last(),
        first => first,
    };
    named.and_then(|named| kinds.into_iter().find(|kind| *kind == named)).unwrap_or("other")
}

async fn let_in(face: &InstallFace, mut request: Request, next: Next) -> Response {
    if request.uri().path_and_query().is_some_and(|path| path.as_str().len() > URI_MAX) {
        return Declined::new(StatusCode::URI_TOO_LONG, format!("path and query are longer than {URI_MAX} bytes together")).into_response();
    }
    let Ok(place) = face.places.clone().try_acquire_owned() else {
        return Declined::later(StatusCode::SERVICE_UNAVAILABLE, "too many machines are being answered").into_response();
    };
    request.extensions_mut().insert::<Place>(Arc::new(place));
    next.run(request).await
}

/// The token that a request carries.
pub(super) fn bearer(headers: &HeaderMap) -> Result<&str, Declined> {
    let text = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = text.and_then(|text| text.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    token.map(|(_, token)| token.trim()).ok_or_else(|| Declined::new(StatusCode::UNAUTHORIZED, "a bearer token is missing"))
}

/// A body of at most so many bytes.
pub(super) async fn read_bytes(body: Body, limit: usize) -> Result<Bytes, Declined> {
    let reading = Limited::new(body, limit).collect();
    match tokio::time::timeout(REPORT_BODY_TIMEOUT.to_std(), reading).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(problem)) if problem.is::<LengthLimitError>() => {
            Err(Declined::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {limit} bytes")))
        }
        Ok(Err(_)) => Err(Declined::new(StatusCode::BAD_REQUEST, "the body could not be read to its end")),
        Err(_) => Err(Declined::new(StatusCode::REQUEST_TIMEOUT, format!("the body did not arrive within {REPORT_BODY_TIMEOUT}"))),
    }
}

/// A body that is JSON of the kind that is meant here.
pub(super) async fn read<T: DeserializeOwned>(body: Body) -> Result<T, Declined> {
    read_within(body, REPORT_BODY_MAX).await
}

pub(super) async fn read_within<T: DeserializeOwned>(body: Body, limit: usize) -> Result<T, Declined> {
    let bytes = read_bytes(body, limit).await?;
    // The parser's own words would repeat what was sent.
    serde_json::from_slice(&bytes)
        .map_err(|problem| Declined::new(StatusCode::BAD_REQUEST, format!("the body is not understood, at column {}", problem.column())))
}

impl InstallFace {
    pub(super) fn key_of(&self, cluster: &ClusterName) -> Option<&InstallKey> {
        self.keys.get(cluster)
    }
}

#[cfg(test)]
mod tests {
    use super::what_of;

    #[test]
    fn what_is_counted_has_few_names_and_no_secrets() {
        let table = [
            ("/install/v1/media/site1/op/1/secret/agent.iso", "media"),
            ("/install/v1/pxe/aa:bb", "pxe"),
            ("/install/v1/attempts/site1/op/1/exchange", "exchange"),
            ("/install/v1/attempts/site1/op/1/phone-home", "phone-home"),
            ("/install/v1/attempts/site1/op/1/image", "image"),
            ("/install/v1/attempts/site1/op/1/inventory", "inventory"),
            ("/install/v1/attempts/site1/op/1/log", "log"),
            ("/install/v1/attempts/site1/op/1/media", "media"),
            ("/install/v1/secret", "other"),
            ("/install/v1", "other"),
            ("/", "other"),
        ];
        for (path, expected) in table {
            assert_eq!(what_of(path), expected, "{path}");
        }
    }
}
