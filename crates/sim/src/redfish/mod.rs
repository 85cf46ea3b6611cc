//! The Redfish service of one BMC: which resources there are, who may do what to them, and the headers of every answer.
//!
//! Each BMC is its own service with its own root, logins and sessions. The documents are in the files beside this one.

mod answer;
mod auth;
mod chassis;
mod errors;
mod logs;
mod managers;
mod place;
mod profile;
mod root;
mod sessions;
mod systems;

use axum::Router;
use axum::extract::{Request, State};
use http::Method;
use world::MachineSpec;

use crate::site::Site;
use answer::Answer;
use place::Place;
use profile::Profile;

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
}

pub(crate) fn router(site: Site, index: usize) -> Router {
    Router::new().fallback(serve).with_state(Bmc { site, index })
}

async fn serve(State(bmc): State<Bmc>, request: Request) -> axum::response::Response {
    let is_head = request.method() == Method::HEAD;
    let if_none_match = request.headers().get(http::header::IF_NONE_MATCH).cloned();
    let place = Place::locate(request.uri().path(), bmc.profile());
    let mut answer = match respond(&bmc, place.as_ref(), request).await {
        Ok(answer) | Err(answer) => answer,
    };
    if let Some(place) = place {
        answer = answer.with_header("allow", place.allow());
    }
    answer.into_response(is_head, if_none_match.as_ref())
}

async fn respond(bmc: &Bmc, place: Option<&Place>, request: Request) -> Result<Answer, Answer> {
    if bmc.site.inner.stopping.is_cancelled() {
        return Err(errors::shutting_down());
    }
    let version = request.headers().get("odata-version");
    if version.is_some_and(|version| version != "4.0") {
        return Err(errors::wrong_odata_version());
    }
    let path = request.uri().path().to_owned();
    let is_open = place.is_some_and(|place| place.is_open(request.method()));
    if !is_open {
        auth::authenticate(bmc, request.headers())?;
    }
    let place = place.ok_or_else(|| errors::missing(&path))?;
    if !place.methods().contains(request.method()) {
        return Err(errors::method_not_allowed(request.method()));
    }
    let method = request.method().clone();
    let body = axum::body::to_bytes(request.into_body(), BODY_LIMIT).await.map_err(|_| errors::malformed())?;
    let answer = dispatch(bmc, place, &method, &body);
    // Nobody is told what could still be lost, not even a refusal, which the BMC's log has noted.
    bmc.site.settle().await.map_err(|_| errors::internal())?;
    answer
}

fn dispatch(bmc: &Bmc, place: &Place, method: &Method, body: &[u8]) -> Result<Answer, Answer> {
    if *method == Method::POST {
        return match place {
            Place::Sessions => sessions::log_in(bmc, body),
            Place::Reset => systems::reset(bmc, body),
            _ => Err(errors::method_not_allowed(method)),
        };
    }
    if *method == Method::DELETE {
        return match place {
            Place::Session(id) => sessions::log_out(bmc, id),
            _ => Err(errors::method_not_allowed(method)),
        };
    }
    match place {
        Place::Versions => Ok(root::versions()),
        Place::Root => Ok(root::service_root(bmc)),
        Place::Odata => Ok(root::odata()),
        Place::Metadata => Ok(root::metadata()),
        Place::SessionService => Ok(sessions::service()),
        Place::Sessions => Ok(sessions::collection(bmc)),
        Place::Session(id) => sessions::show(bmc, id),
        Place::Systems => Ok(systems::collection(bmc)),
        Place::System => Ok(systems::show(bmc)),
        Place::Managers => Ok(managers::collection(bmc)),
        Place::Manager => Ok(managers::show(bmc)),
        Place::LogServices => Ok(logs::services(bmc)),
        Place::LogService => Ok(logs::service(bmc)),
        Place::Entries => Ok(logs::entries(bmc)),
        Place::Entry(number) => logs::entry(bmc, *number),
        Place::ChassisCollection => Ok(chassis::collection(bmc)),
        Place::Chassis => Ok(chassis::show(bmc)),
        Place::Reset => Err(errors::method_not_allowed(method)),
    }
}

/// A reading of JSON that says what is wrong in Redfish's words.
fn parse_body(body: &[u8]) -> Result<serde_json::Value, Answer> {
    let value: serde_json::Value = serde_json::from_slice(body).map_err(|_| errors::malformed())?;
    if value.is_object() { Ok(value) } else { Err(errors::malformed()) }
}
