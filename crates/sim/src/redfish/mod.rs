//! The Redfish service of one BMC: which resources there are, who may do what to them, and the headers of every answer.
//!
//! Each BMC is its own service with its own root, logins and sessions. The documents are in the files beside this one,
//! one file a resource; `routes.rs` is their table, and `vendors.rs` says how the vendors differ.

mod account_keys;
mod accounts;
mod answer;
mod auth;
mod bios;
mod boot_options;
mod call;
mod chassis;
mod controllers;
mod document;
mod drives;
mod errors;
mod events;
mod firmware;
mod licenses;
mod logs;
mod managers;
mod media;
mod memory;
mod network;
mod nics;
mod power;
mod processors;
mod profile;
mod quirk;
mod resets;
mod roles;
mod root;
mod route;
mod routes;
mod sensors;
mod sessions;
mod storage;
mod systems;
mod tasks;
mod thermal;
mod updates;
mod vendors;
mod volumes;

use axum::Router;
use axum::extract::{Request, State};
use http::{HeaderMap, Method, header};
use world::{Identity, Instant, Inventory, MachineSpec, PowerState};

use crate::site::Site;
use answer::Answer;
use call::{Call, Caller};
use profile::{IfMatch, Profile};
use route::{Handler, Located, locate};

pub(crate) use nics::port_name;
pub use quirk::Quirk;
pub(crate) use quirk::Quirks;
pub(crate) use sessions::Sessions;

/// No request to a BMC has a large body; a larger one is refused.
const BODY_LIMIT: usize = 64 * 1024;

/// One BMC's view of the site.
#[derive(Clone)]
struct Bmc {
    site: Site,
    index: usize,
}

impl Bmc {
    fn spec(&self) -> &MachineSpec {
        &self.site.layout().machines()[self.index]
    }

    fn profile(&self) -> &'static Profile {
        Profile::of(self.spec().vendor)
    }

    /// Who the machine is now: its parts may have been exchanged.
    fn identity(&self) -> Identity {
        self.site.look(|world| world.identity(self.index))
    }

    fn inventory(&self) -> Inventory {
        self.site.look(|world| world.inventory(self.index))
    }

    fn power(&self) -> PowerState {
        self.site.look(|world| world.power_state(self.index))
    }

    fn has(&self, quirk: Quirk) -> bool {
        self.site.inner.quirks[self.index].has(quirk)
    }

    /// An instant as this BMC writes it.
    fn date(&self, at: Instant) -> String {
        let text = at.to_seconds_text();
        if self.has(Quirk::MalformedDates) { text.replace('T', " ").replace('Z', "") } else { text }
    }
}

pub(crate) fn router(site: Site, index: usize) -> Router {
    Router::new().fallback(serve).with_state(Bmc { site, index })
}

async fn serve(State(bmc): State<Bmc>, request: Request) -> axum::response::Response {
    let is_head = request.method() == Method::HEAD;
    let if_none_match = request.headers().get(header::IF_NONE_MATCH).cloned();
    let located = locate(request.method(), request.uri().path(), bmc.profile());
    let mut answer = match respond(&bmc, located.as_ref(), request).await {
        Ok(answer) | Err(answer) => answer,
    };
    if let Some(located) = located {
        answer = answer.with_header("allow", located.route.allow());
    }
    answer.into_response(is_head, if_none_match.as_ref())
}

async fn respond(bmc: &Bmc, located: Option<&Located>, request: Request) -> Result<Answer, Answer> {
    if bmc.site.inner.stopping.is_cancelled() {
        return Err(errors::shutting_down());
    }
    bmc.forget_old_sessions();
    let (parts, body) = request.into_parts();
    if parts.headers.get("odata-version").is_some_and(|version| version != "4.0") {
        return Err(errors::wrong_odata_version());
    }
    let path = parts.uri.path().strip_suffix('/').unwrap_or(parts.uri.path());
    if path == "/redfish" && [Method::GET, Method::HEAD].contains(&parts.method) {
        return Ok(root::versions());
    }
    let is_open = located.is_some_and(|located| located.route.is_open(&parts.method));
    let caller = if is_open { Caller::anybody() } else { auth::authenticate(bmc, &parts.headers)? };
    let located = located.ok_or_else(|| errors::missing(path))?;
    let (privilege, handler) = located.route.handler(&parts.method).ok_or_else(|| errors::method_not_allowed(&parts.method))?;
    if !caller.may(privilege) && !is_open {
        return Err(errors::forbidden());
    }
    check_query(parts.uri.query().unwrap_or_default())?;
    let body = axum::body::to_bytes(body, BODY_LIMIT).await.map_err(|_| errors::too_large())?;
    let call = Call { bmc, caller: &caller, path, id: &located.id, headers: &parts.headers, body: &body };
    let answer = one_at_a_time(&call, located, &parts.method, handler);
    // Nobody is told what could still be lost, not even a refusal, which the BMC's log has noted.
    bmc.site.settle().await.map_err(|_| errors::internal())?;
    answer
}

impl Bmc {
    /// Sessions end by themselves when they are not used, and when the BMC restarts.
    fn forget_old_sessions(&self) {
        let (restarts, timeout, now) =
            self.site.look(|world| (world.bmc_restarts(self.index), world.hardware(self.index).session_timeout, world.now()));
        self.site.sessions(self.index).tidy(now, timeout, restarts);
    }
}

/// Query options are not supported, and the standard wants to be told about those of its own.
fn check_query(query: &str) -> Result<(), Answer> {
    match query.split('&').find(|option| option.starts_with('$') || option.starts_with("%24")) {
        Some(_) => Err(errors::query_not_supported()),
        None => Ok(()),
    }
}

/// Judges a precondition and carries the request out as one step: of two writers who saw the same state, one is too late.
fn one_at_a_time(call: &Call<'_>, located: &Located, method: &Method, handler: Handler) -> Result<Answer, Answer> {
    let _turn = (!method.is_safe()).then(|| call.bmc.site.turn(call.bmc.index));
    check_match(call, located, method)?;
    handler(call)
}

/// Whether the resource still is what the caller means to change.
fn check_match(call: &Call<'_>, located: &Located, method: &Method) -> Result<(), Answer> {
    if ![Method::PATCH, Method::DELETE].contains(method) {
        return Ok(());
    }
    let Some(wanted) = if_match(call.headers) else {
        let is_demanded = *method == Method::PATCH && call.bmc.profile().if_match == IfMatch::Demanded;
        return if is_demanded { Err(errors::precondition_required()) } else { Ok(()) };
    };
    let present = match located.route.get {
        Some(get) => get(call)?,
        None => return Ok(()),
    };
    let is_met = wanted.split(',').map(str::trim).any(|tag| tag == "*" || Some(tag) == present.etag());
    if is_met { Ok(()) } else { Err(errors::precondition_failed()) }
}

fn if_match(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::IF_MATCH).map(|value| value.to_str().unwrap_or_default())
}
