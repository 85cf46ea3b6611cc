//! A BMC that is away, refuses, is slow, fails, talks nonsense or forgets who is logged in.

use std::io;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{Method, Request, StatusCode};
use serde_json::json;
use tower::ServiceExt;
use world::{FaultKind, FaultTarget, World};

use super::cut::{Cut, until_cut};
use super::{refused, reset};
use crate::site::Site;

/// No answer of ours is longer than this.
const GARBAGE_LIMIT: usize = 4 * 1024 * 1024;

/// A change of a virtual drive is never longer than this.
const MEDIA_CHANGE_LIMIT: usize = 64 * 1024;

/// What a web server in front of a confused service says.
const NONSENSE: &str = "<html><head><title>";

/// What the face of a BMC remembers between requests.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    requests_in_sessions: u32,
}

/// The faults that one request meets.
struct Met {
    is_reachable: bool,
    denies: bool,
    ignores: bool,
    garbles: bool,
    late_by: Option<Duration>,
    status: Option<StatusCode>,
    forgets_every: Option<u32>,
    refuses_media: bool,
    ignores_media: bool,
}

impl Met {
    fn of(world: &World, index: usize) -> Met {
        let setting = |kind| world.active_fault(kind, FaultTarget::Machine(index)).map(|fault| fault.setting);
        Met {
            is_reachable: world.is_bmc_reachable(index),
            denies: setting(FaultKind::BmcDenies).is_some(),
            ignores: setting(FaultKind::BmcIgnores).is_some(),
            garbles: setting(FaultKind::BmcGarbage).is_some(),
            late_by: setting(FaultKind::BmcSlow).map(|ms| Duration::from_millis(u64::from(ms))),
            status: setting(FaultKind::BmcError).and_then(|status| StatusCode::from_u16(u16::try_from(status).ok()?).ok()),
            forgets_every: setting(FaultKind::BmcForgetsSessions),
            refuses_media: setting(FaultKind::BmcRefusesMedia).is_some(),
            ignores_media: setting(FaultKind::BmcIgnoresMedia).is_some(),
        }
    }
}

pub(super) async fn answer(site: &Site, index: usize, router: Router, request: Request<Body>) -> io::Result<Response> {
    let met = site.look(|world| Met::of(world, index));
    if !met.is_reachable {
        return Err(refused());
    }
    let is_in_session = request.headers().contains_key("x-auth-token");
    if is_in_session && forgets_now(site, index, &met) {
        *site.sessions(index) = crate::redfish::Sessions::default();
    }
    let (request, inserts) = if met.refuses_media || met.ignores_media { insertion(request).await } else { (request, false) };
    let response = match met.status {
        Some(status) => broken(status),
        None if met.denies && !is_root(request.uri().path()) => denied(),
        None if met.ignores && would_change(&request) => StatusCode::NO_CONTENT.into_response(),
        None if inserts && met.refuses_media => no_media(),
        None if inserts => StatusCode::NO_CONTENT.into_response(),
        None => match router.oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        },
    };
    if let Some(late_by) = met.late_by {
        // What was asked has been done; only the answer is late, and a caller that gives up does not undo it.
        tokio::time::sleep(late_by).await;
        if !site.look(|world| world.is_bmc_reachable(index)) {
            return Err(reset());
        }
    }
    let is_stream = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    if !is_stream {
        return Ok(if met.garbles { garbled(response).await } else { response });
    }
    let cut = move |world: &World| (!world.is_bmc_reachable(index)).then_some(Cut::Hard);
    Ok(response.map(|body| until_cut(body, site.clone(), cut)))
}

fn forgets_now(site: &Site, index: usize, met: &Met) -> bool {
    met.forgets_every.is_some_and(|every| {
        let mut memory = site.memory(index);
        memory.requests_in_sessions = memory.requests_in_sessions.wrapping_add(1);
        memory.requests_in_sessions.is_multiple_of(every)
    })
}

/// Whether a request would change anything but who is logged in. A reset is passed on: the BMC notes it in its log, and
/// `world` ignores it.
fn would_change(request: &Request<Body>) -> bool {
    let path = request.uri().path();
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    !is_read && !path.contains("/SessionService/") && !path.ends_with("/ComputerSystem.Reset")
}

/// The root is open to everybody, whatever the BMC thinks of its users.
fn is_root(path: &str) -> bool {
    matches!(path.trim_end_matches('/'), "/redfish" | "/redfish/v1")
}

/// The request, and whether it would insert an image: by the action, or by a change of the drive that names one.
async fn insertion(request: Request<Body>) -> (Request<Body>, bool) {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    let is_action = path.ends_with("/VirtualMedia.InsertMedia");
    let is_change = head.method == Method::PATCH && path.contains("/VirtualMedia/");
    if !is_change {
        return (Request::from_parts(head, body), is_action);
    }
    let whole = axum::body::to_bytes(body, MEDIA_CHANGE_LIMIT).await.unwrap_or_default();
    let names_image = serde_json::from_slice::<serde_json::Value>(&whole).is_ok_and(|change| change["Image"].is_string());
    (Request::from_parts(head, Body::from(whole)), names_image)
}

fn no_media() -> Response {
    error(StatusCode::BAD_REQUEST, "ActionNotSupported", "Virtual media is in use by another remote console and cannot be connected.")
}

fn denied() -> Response {
    let mut response = error(StatusCode::UNAUTHORIZED, "NoValidSession", "There is no valid session established with the implementation.");
    response.headers_mut().insert(WWW_AUTHENTICATE, http::HeaderValue::from_static("Basic realm=\"RedfishService\""));
    response
}

fn broken(status: StatusCode) -> Response {
    if status == StatusCode::SERVICE_UNAVAILABLE {
        return error(status, "ServiceTemporarilyUnavailable", "The service is temporarily unavailable. Retry in 30 seconds.");
    }
    error(status, "InternalError", "The request failed due to an internal service error. The service is still operational.")
}

fn error(status: StatusCode, id: &str, message: &str) -> Response {
    let body = json!({"error": {"code": format!("Base.1.18.{id}"), "message": message}});
    (status, [(CONTENT_TYPE, "application/json; charset=utf-8")], body.to_string()).into_response()
}

/// The first half of the answer, and then something else. An answer without a body stays as it is.
async fn garbled(response: Response) -> Response {
    let (mut head, body) = response.into_parts();
    head.headers.remove(CONTENT_LENGTH);
    let whole = axum::body::to_bytes(body, GARBAGE_LIMIT).await.unwrap_or_default();
    if whole.is_empty() {
        return Response::from_parts(head, Body::empty());
    }
    let mut text = whole[..whole.len() / 2].to_vec();
    text.extend_from_slice(NONSENSE.as_bytes());
    Response::from_parts(head, Body::from(text))
}
