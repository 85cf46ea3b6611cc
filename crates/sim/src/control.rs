//! The control face of a simulation: faults by HTTP, for the command line and for people's own tools.
//!
//! It needs a bearer token, so that a web page that somebody looks at cannot reach it. It is no part of what is simulated:
//! the site's own faces know nothing of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use serde::Deserialize;
use serde_json::{Value, json};
use world::{Aim, FaultKind, FaultOrder, Identity, Layout, MachineSpec};

use crate::faults::{FaultRefused, FaultSeen, parse_order, parse_script};
use crate::machines::{SwapRefused, parse_swap};
use crate::site::Site;

/// The sites that one simulation runs, and who may break them.
#[derive(Clone, Debug)]
pub struct Control {
    pub sites: Vec<Site>,
    pub token: String,
}

/// The routes of the control face:
///
/// ```text
/// GET    /v1/kinds                      what faults there are
/// GET    /v1/sites                      which sites, with the names of their machines and racks
/// GET    /v1/faults[?site=]             what is broken and what is planned
/// POST   /v1/sites/{site}/faults        a phrase, as text
/// POST   /v1/sites/{site}/script        a script, as text
/// POST   /v1/sites/{site}/swap          an exchange of a machine's parts, as text
/// DELETE /v1/faults[?site=&id=&target=&kind=&all=true]
/// ```
pub fn control(control: Control) -> Router {
    let state = Arc::new(control);
    Router::new()
        .route("/v1/kinds", get(kinds))
        .route("/v1/sites", get(sites))
        .route("/v1/faults", get(list))
        .route("/v1/faults", delete(clear))
        .route("/v1/sites/{site}/faults", post(add))
        .route("/v1/sites/{site}/script", post(script))
        .route("/v1/sites/{site}/swap", post(swap))
        .layer(axum::middleware::from_fn_with_state(state.clone(), authorize))
        .with_state(state)
}

/// Which faults are meant. Without an id or a target, all of the site must be asked for in so many words.
#[derive(Debug, Default, Deserialize)]
struct Selection {
    site: Option<String>,
    id: Option<String>,
    target: Option<String>,
    kind: Option<String>,
    #[serde(default)]
    all: bool,
}

impl Selection {
    fn is_meant(&self, fault: &FaultSeen, rack_of: impl Fn(&str) -> Option<String>) -> bool {
        let agrees = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|wanted| wanted == is);
        let is_target = |wanted: &str| {
            let is = |name: &str| name.eq_ignore_ascii_case(wanted);
            is(&fault.target) || rack_of(&fault.target).as_deref().is_some_and(is)
        };
        agrees(&self.id, &fault.id) && agrees(&self.kind, fault.kind) && self.target.as_deref().is_none_or(is_target)
    }
}

/// What is wrong with a request, as its caller reads it.
struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: String,
    /// What was asked for that is not there, and what is.
    asked: Option<(String, Vec<String>)>,
}

impl Refusal {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Refusal {
        Refusal { status, code, message: message.into(), asked: None }
    }

    fn of(refused: &FaultRefused, layout: &Layout) -> Refusal {
        let message = refused.to_string();
        if *refused == FaultRefused::NotSaved {
            return Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "NotSaved", message);
        }
        let (code, asked) = match refused.cause() {
            FaultRefused::UnknownKind { asked } => {
                ("UnknownKind", Some((asked.clone(), FaultKind::ALL.iter().map(ToString::to_string).collect())))
            }
            FaultRefused::UnknownTarget { asked } => ("UnknownTarget", Some((asked.clone(), target_names(layout)))),
            _ => ("BadFault", None),
        };
        Refusal { asked, ..Refusal::new(StatusCode::BAD_REQUEST, code, message) }
    }

    fn of_swap(refused: &SwapRefused, layout: &Layout) -> Refusal {
        let message = refused.to_string();
        match refused {
            SwapRefused::UnknownMachine { asked } => {
                let known = layout.machines().iter().map(|machine| machine.name.clone()).collect();
                Refusal { asked: Some((asked.clone(), known)), ..Refusal::new(StatusCode::BAD_REQUEST, "UnknownTarget", message) }
            }
            SwapRefused::Swap(_) | SwapRefused::Malformed(_) => Refusal::new(StatusCode::BAD_REQUEST, "BadSwap", message),
            SwapRefused::NotSaved => Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "NotSaved", message),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some((asked, known)) = self.asked {
            error["asked"] = json!(asked);
            error["known"] = json!(known);
        }
        (self.status, axum::Json(json!({ "error": error }))).into_response()
    }
}

fn target_names(layout: &Layout) -> Vec<String> {
    let racks: BTreeSet<&str> = layout.machines().iter().map(MachineSpec::rack_name).collect();
    let machines = layout.machines().iter().map(|machine| machine.name.clone());
    machines.chain(racks.into_iter().map(str::to_owned)).chain(["api".to_owned()]).collect()
}

async fn authorize(
    State(control): State<Arc<Control>>,
    headers: HeaderMap,
    request: axum::extract::Request,
    next: axum::middleware::Next,
) -> Response {
    let bearer = headers.get("authorization").and_then(|value| value.to_str().ok()).and_then(|value| value.strip_prefix("Bearer "));
    if bearer != Some(control.token.as_str()) {
        return Refusal::new(StatusCode::UNAUTHORIZED, "Unauthorized", "the simulation's control face needs its token").into_response();
    }
    next.run(request).await
}

fn find<'a>(control: &'a Control, name: &str) -> Result<&'a Site, Refusal> {
    control.sites.iter().find(|site| site.layout().site == name).ok_or_else(|| {
        let known = control.sites.iter().map(|site| site.layout().site.clone()).collect();
        let message = format!("there is no simulated site `{name}`");
        Refusal { asked: Some((name.to_owned(), known)), ..Refusal::new(StatusCode::NOT_FOUND, "UnknownSite", message) }
    })
}

/// One site, or all of them.
fn meant<'a>(control: &'a Control, name: Option<&str>) -> Result<Vec<&'a Site>, Refusal> {
    match name {
        Some(name) => Ok(vec![find(control, name)?]),
        None => Ok(control.sites.iter().collect()),
    }
}

async fn kinds() -> axum::Json<Value> {
    let kinds: Vec<Value> = FaultKind::ALL
        .iter()
        .map(|kind| {
            let setting = kind
                .setting()
                .map(|setting| json!({"name": setting.name, "default": setting.default, "least": setting.least, "most": setting.most}));
            let aim = match kind.aim() {
                Aim::Machine => "machine",
                Aim::Api => "api",
                Aim::Tenant => "cluster",
                Aim::Pod => "pod",
                Aim::Vm => "vm",
            };
            json!({"kind": kind.name(), "target": aim, "setting": setting, "about": kind.about()})
        })
        .collect();
    axum::Json(json!({ "value": kinds }))
}

async fn sites(State(control): State<Arc<Control>>) -> axum::Json<Value> {
    let sites: Vec<Value> =
        control.sites.iter().map(|site| json!({"name": site.layout().site, "targets": target_names(site.layout())})).collect();
    axum::Json(json!({ "value": sites }))
}

async fn list(State(control): State<Arc<Control>>, Query(selection): Query<Selection>) -> Result<axum::Json<Value>, Refusal> {
    let sites = meant(&control, selection.site.as_deref())?;
    let faults: Vec<FaultSeen> = sites.into_iter().flat_map(Site::faults).collect();
    Ok(axum::Json(json!({ "value": faults })))
}

async fn add(State(control): State<Arc<Control>>, Path(site): Path<String>, body: Bytes) -> Result<Response, Refusal> {
    take_up(&control, &site, &body, parse_order).await
}

async fn script(State(control): State<Arc<Control>>, Path(site): Path<String>, body: Bytes) -> Result<Response, Refusal> {
    take_up(&control, &site, &body, parse_script).await
}

async fn swap(State(control): State<Arc<Control>>, Path(site): Path<String>, body: Bytes) -> Result<axum::Json<Value>, Refusal> {
    let site = find(&control, &site)?;
    let not_text = |_| Refusal::new(StatusCode::BAD_REQUEST, "BadSwap", "the body is not text");
    let refused = |refused: SwapRefused| Refusal::of_swap(&refused, site.layout());
    let (machine, swap) = parse_swap(std::str::from_utf8(&body).map_err(not_text)?).map_err(refused)?;
    let Identity { serial_number, uuid, bmc_mac, boot_mac } = site.swap(&machine, &swap).await.map_err(refused)?;
    Ok(axum::Json(json!({"machine": machine, "serialNumber": serial_number, "uuid": uuid, "bmcMac": bmc_mac, "bootMac": boot_mac})))
}

type Reading = fn(&str, &Layout) -> Result<Vec<FaultOrder>, FaultRefused>;

async fn take_up(control: &Control, site: &str, body: &[u8], read: Reading) -> Result<Response, Refusal> {
    let site = find(control, site)?;
    let not_text = |_| Refusal::new(StatusCode::BAD_REQUEST, "BadFault", "the body is not text");
    let text = std::str::from_utf8(body).map_err(not_text)?;
    let orders = read(text, site.layout()).map_err(|refused| Refusal::of(&refused, site.layout()))?;
    let faults = site.add_faults(&orders).await.map_err(|refused| Refusal::of(&refused, site.layout()))?;
    Ok((StatusCode::CREATED, axum::Json(json!({ "value": faults, "count": orders.len() }))).into_response())
}

async fn clear(State(control): State<Arc<Control>>, Query(selection): Query<Selection>) -> Result<axum::Json<Value>, Refusal> {
    if selection.id.is_none() && selection.target.is_none() && !selection.all {
        let message = "say which faults: by id, by target, or all of them";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "BadFault", message));
    }
    let mut cleared = Vec::new();
    for site in meant(&control, selection.site.as_deref())? {
        let layout = site.layout();
        let rack_of = |machine: &str| layout.index_of(machine).map(|index| layout.machines()[index].rack_name().to_owned());
        let of_site = site.clear_faults(|fault| selection.is_meant(fault, rack_of)).await;
        cleared.extend(of_site.map_err(|refused| Refusal::of(&refused, layout))?);
    }
    Ok(axum::Json(json!({ "value": cleared })))
}
