//! The ARM face: resources, actions and long-running operations, over HTTP.
//!
//! A request that changes something is written to the store and waits there for its keeper's verdict; nothing here
//! calls a keeper, and nothing here decides. Reads come from a cache that follows the store.

mod activity;
#[cfg(test)]
mod any_input_tests;
mod audit;
mod backup;
mod broom;
mod bundle;
mod cache;
mod call;
mod codes;
mod cross_origin;
mod entry;
mod events;
mod fields;
#[cfg(test)]
mod fixtures;
mod health;
mod hygiene;
mod identity;
mod install;
mod json;
mod links;
mod load;
mod media_type;
mod meters;
mod odata;
mod openapi;
mod operation_log;
mod operations;
mod paging;
mod precondition;
mod process;
mod reply;
mod resources;
mod route;
#[cfg(test)]
mod route_properties;
mod schema;
mod site_status;
mod submit;
mod user_data;
mod wire;

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request as HttpRequest, State};
use axum::response::Response;
use futures::FutureExt;
use gate::Gate;
use http::{Method, StatusCode};
use model::{Clock, ClusterName, Footing, KeeperState, SiteFileRefused};
use serde_json::json;
use store::{SharedStore, Vault};
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{Instrument, debug, field, info_span};

pub use activity::rejections::{REJECTIONS_BURST, REJECTIONS_PER_MINUTE};
pub use activity::{LogReaders, MAX_LOG_READERS, SCAN_MAX};
pub use bundle::{FIRMWARE_MAX, OS_IMAGE_MAX, TEXT_MAX, URL_MAX};
pub use cache::Cache;
pub use call::{BODY_MAX, BODY_TIMEOUT, IDENTITY_MAX, URI_MAX};
pub use codes::error_codes;
pub use events::{HEARTBEAT_EVERY, MAX_LISTENERS, MAX_LISTENERS_OF_CALLER, TAIL_BYTES_MAX, TAIL_EVENTS_MAX};
pub use install::{
    AREA_BYTES, BOOT_IMAGE_MAX, Coming, Depot, FETCH_IDLE_TIMEOUT, Fetch, IMAGE_HOLD, IMAGES_MAX, INVENTORY_MAX, Images, InstallFace,
    LOG_MAX, LOGS_BURST, LOGS_EVERY, MARKER, MAX_IN_FLIGHT, NONCE_MAX, NONCE_MIN, REPORT_BODY_MAX, REPORT_BODY_TIMEOUT, REPORTS_BURST,
    REPORTS_EVERY, Rates, Rest, Unfetched, boot_router, install_router,
};
pub use meters::METERS;
pub use odata::FILTER_MAX;
pub use paging::{PAGE_DEFAULT, PAGE_MAX};
pub use process::{Exposition, Process};
pub use submit::{ANSWER_TIMEOUT, MAX_PENDING};
pub use user_data::{TEMPLATE_MAX, USER_DATA_MAX};
pub use wire::{HANDSHAKE_TIMEOUT, HEADER_BYTES_MAX, HEADERS_MAX, HEADERS_TIMEOUT, MAX_CONNECTIONS, READ_NOTHING_TIMEOUT, Welcome, serve};

use activity::rejections::{Concern, Rejections};
use broom::Broom;
use call::Call;
use reply::{Refused, allow_response, json_response};
use resources::quotas::Reservations;
use route::{Route, Write};
use submit::Queues;

#[derive(Clone)]
pub struct Api {
    store: SharedStore,
    clock: Arc<dyn Clock>,
    cache: Arc<Cache>,
    keepers: Keepers,
    process: Process,
    rejections: Arc<Rejections>,
    vault: Arc<Vault>,
    gate: Arc<Gate>,
    /// How many requests of each cluster wait in this process.
    queues: Queues,
    /// What is judged and not swept away yet.
    broom: Broom,
    answers: Arc<load::Answers>,
    audit: audit::Audit,
    probe: Arc<health::Probe>,
    /// What was let through of quotas and may not be seen yet.
    reservations: Reservations,
}

impl Api {
    pub fn new(store: SharedStore, clock: Arc<dyn Clock>, cache: Arc<Cache>, keepers: Keepers, process: Process, gate: Arc<Gate>) -> Api {
        let vault = Arc::new(Vault::ephemeral(store.clone()));
        Api {
            store,
            clock,
            cache,
            keepers,
            process,
            rejections: Arc::default(),
            vault,
            gate,
            queues: Queues::default(),
            broom: Broom::default(),
            answers: Arc::default(),
            audit: audit::Audit::default(),
            probe: Arc::default(),
            reservations: Reservations::default(),
        }
    }

    /// Where the secrets of what clients describe are kept. Without one they are lost when the process ends.
    #[must_use]
    pub fn with_vault(self, vault: Arc<Vault>) -> Api {
        Api { vault, ..self }
    }
}

/// How the keepers of this process are doing; those of other processes are not known.
pub type Keepers = Arc<BTreeMap<ClusterName, KeeperWatch>>;

/// Where a keeper says how it is doing.
#[derive(Clone, Debug)]
pub struct KeeperWatch {
    pub state: watch::Receiver<KeeperState>,
    pub footing: watch::Receiver<Footing>,
    /// What is wrong with the newest description of the site, if it was not taken over.
    pub site_file: watch::Receiver<Option<SiteFileRefused>>,
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api").field("cache", &self.cache).finish_non_exhaustive()
    }
}

/// The whole API as one service.
pub fn router(api: Api) -> Router {
    Router::new().fallback(answer).with_state(api)
}

/// What whoever comes without TLS is told.
pub fn https_router() -> Router {
    let audit = audit::Audit::default();
    Router::new().fallback(async move |request: HttpRequest| {
        let (call, _) = Call::begin(request);
        let message = "this server is spoken to with https only, and knows who it speaks to; `rackwright context show` tells its address";
        let response = Refused::new(codes::Code::HttpsRequired, message).into_response();
        call.deny(audit::Grounds::Words { reason: codes::Code::HttpsRequired.name(), words: "the request came without TLS".to_owned() });
        audit.look_at(&call, &response);
        call.finish_in_the_clear(response)
    })
}

async fn answer(State(api): State<Api>, request: HttpRequest) -> Response {
    // A stop waits for the answers that are under way.
    let _answering = api.process.answering.token();
    let began = Instant::now();
    let (call, body) = Call::begin(request);
    let found = Route::find(&call.method, &call.path);
    let kind = found.as_ref().map_or("none", Route::kind_name);
    let span = info_span!(
        parent: None,
        "request",
        method = %call.method,
        route = kind,
        correlation_id = %call.correlation_id,
        status = field::Empty,
    );
    let response = guarded(&api, &call, found, body).instrument(span.clone()).await;
    span.record("status", response.status().as_u16());
    span.in_scope(|| debug!(status = response.status().as_u16(), took_ms = began.elapsed().as_millis(), "answered"));
    meters::count_request(&call.method, kind, response.status(), began);
    response
}

/// An answer even if the handler panics.
async fn guarded(api: &Api, call: &Call, found: Result<Route, Refused>, body: axum::body::Body) -> Response {
    let mut place = None;
    let answered = AssertUnwindSafe(respond(api, call, found, body, &mut place)).catch_unwind().await;
    let result = answered.unwrap_or_else(|panic| {
        tracing::error!(request_id = call.request_id(), panic = panic_text(panic.as_ref()), "a request made its handler panic");
        Err(Refused::internal())
    });
    let response = result.inspect_err(|refused| audit::note_restraint(call, refused)).unwrap_or_else(Refused::into_response);
    api.audit.look_at(call, &response);
    load::hold(call.finish(response), place)
}

/// The answer; a refusal of something that would have changed a known resource goes into the activity log.
async fn respond(
    api: &Api,
    call: &Call,
    found: Result<Route, Refused>,
    body: axum::body::Body,
    place: &mut Option<load::Place>,
) -> Result<Response, Refused> {
    let sender = call.check_sender();
    call.check_address()?;
    if call.method == Method::OPTIONS {
        sender?;
        entry::admit(api, call, None)?;
        return Ok(allow_response(&Route::methods_of(&call.path)?));
    }
    // What a web page sends is nobody's request: whoever shows it must not be able to fill the log.
    // A preview changes nothing, whatever comes of it.
    let asked = sender.as_ref().and(found.as_ref()).ok().filter(|route| !resources::actions::is_preview(call, route));
    let concern = asked.and_then(Concern::of);
    let admitted = sender.and_then(|()| call.check_identity()).and_then(|()| entry::admit(api, call, found.as_ref().ok()));
    let admitted = admitted.and(found).and_then(|route| {
        *place = api.answers.enter(call, &route)?;
        Ok(route)
    });
    let result = match admitted {
        Ok(route) if route.needs_api_version() && call.query("api-version").is_none() => Err(Refused::missing_api_version()),
        Ok(route) => dispatch(api, call, route, body).await,
        Err(refused) => Err(refused),
    };
    // Nor is it written down what somebody wanted who did not say who they are.
    if let (Some(concern), Err(refused), Ok(_)) = (&concern, &result, call.sight()) {
        api.rejections.note(api, call, concern, refused);
    }
    result
}

/// What a panic said, for the log alone.
fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("nothing that can be printed")
}

async fn dispatch(api: &Api, call: &Call, route: Route, body: axum::body::Body) -> Result<Response, Refused> {
    let view = api.cache.view();
    match route {
        Route::Health => Ok(json_response(StatusCode::OK, &json!({ "status": "ok" }))),
        Route::Ready => Ok(health::ready(api, call).await),
        Route::Metrics => Ok(meters::show(api).await),
        Route::Metadata => Ok(identity::metadata(call)),
        Route::OpenIdConfiguration => Ok(identity::openid_configuration(call)),
        Route::SigningKeys => Ok(identity::signing_keys(api)),
        Route::Token => identity::token(api, call, body).await,
        Route::Subscriptions => resources::subscriptions::list(api, &view, call),
        Route::Subscription { subscription } => resources::subscriptions::show(api, &view, &subscription),
        Route::Tenants => Ok(resources::subscriptions::tenants()),
        Route::ResourceGroups { subscription } => resources::groups::list(&view, call, &subscription),
        Route::ResourceGroup { subscription, group } => resources::groups::show(&view, &subscription, &group),
        Route::ResourceGroupExists { subscription, group } => resources::groups::exists(&view, &subscription, &group),
        Route::Resources { subscription, group } => resources::generic::list(&view, call, &subscription, group.as_deref()),
        Route::Providers { subscription } => resources::providers::list(api, call, &subscription),
        Route::Provider { subscription, namespace } => resources::providers::show(api, call, &subscription, &namespace),
        Route::ProviderOperations => Ok(resources::providers::operations()),
        Route::List { kind, subscription, group } => resources::list(&view, call, kind, &subscription, group.as_deref(), api.clock.now()),
        Route::Show { kind, subscription, group, name } => {
            resources::show(&view, kind, &resources::Place { subscription, group, name }, api.clock.now())
        }
        Route::Pools { subscription, group, tenant } => {
            resources::tenant_clusters::list_pools(&view, call, &resources::Place { subscription, group, name: tenant })
        }
        Route::Pool { subscription, group, tenant, pool } => {
            resources::tenant_clusters::show_pool(&view, &resources::Place { subscription, group, name: tenant }, &pool)
        }
        Route::UpdateVm { .. }
        | Route::DeleteVm { .. }
        | Route::ActOnVm { .. }
        | Route::UpdateTenantCluster { .. }
        | Route::ActOnTenantCluster { .. }
        | Route::UpdatePool { .. } => change_workload(api, call, route, body).await,
        Route::Update { how, subscription, group, name } => {
            let body = entry::read_body(api, call, body).await?;
            resources::machine_update::update(api, call, how, &resources::Place { subscription, group, name }, &body).await
        }
        Route::Delete { subscription, group, name } => {
            resources::machine_update::delete(&view, &resources::Place { subscription, group, name })
        }
        Route::Act { subscription, group, machine, verb } => {
            let body = entry::read_body(api, call, body).await?;
            resources::actions::act(api, call, &resources::actions::Target { subscription, group, machine, verb }, &body).await
        }
        Route::Validation { subscription, group, machine } => {
            resources::validations::show(&view, &resources::Place { subscription, group, name: machine })
        }
        Route::Advise { subscription, group, machine } => {
            resources::advice::advise(api, call, &resources::Place { subscription, group, name: machine }).await
        }
        Route::Verify { subscription, group, machine } => {
            resources::advice::verify(api, call, &resources::Place { subscription, group, name: machine }).await
        }
        Route::ActOnCluster { subscription, group, cluster, verb } => {
            let body = entry::read_body(api, call, body).await?;
            resources::cluster_actions::act(api, call, &resources::Place { subscription, group, name: cluster }, &verb, &body).await
        }
        Route::Runtimes { subscription, group, cluster } => {
            resources::runtimes::list(&view, call, &resources::Place { subscription, group, name: cluster })
        }
        Route::Runtime { subscription, group, cluster, version } => {
            resources::runtimes::show(&view, &resources::Place { subscription, group, name: cluster }, &version)
        }
        Route::PutRuntime { subscription, group, cluster, version } => {
            let body = entry::read_body(api, call, body).await?;
            resources::runtimes::put(api, call, &resources::Place { subscription, group, name: cluster }, &version, &body).await
        }
        Route::DeleteRuntime { subscription, group, cluster, version } => {
            resources::runtimes::delete(api, call, &resources::Place { subscription, group, name: cluster }, &version).await
        }
        route @ (Route::KeySets { .. } | Route::KeySet { .. } | Route::WriteKeySet { .. } | Route::DeleteKeySet { .. }) => {
            key_sets(api, call, route, body).await
        }
        Route::OperationStatus { subscription, id } => operations::status(&view, call, &subscription, &id),
        Route::OperationResult { subscription, id } => operations::result(&view, call, &subscription, &id),
        Route::ActivityLog { subscription } => activity::list(api, call, &subscription).await,
        Route::ActivityEntry { id } => activity::show(api, call, &id).await,
        Route::OpenApi => Ok(json_response(StatusCode::OK, &openapi::document())),
        Route::SiteStatus => site_status::show(&view, call, &api.keepers, api.clock.now()),
        Route::Operations => operations::list(&view, call, api.clock.now()),
        Route::Operation { id } => operations::show(&view, call, &id, api.clock.now()),
        Route::OperationLog { id } => operation_log::show(api, call, &id).await,
        Route::Events => events::listen(api, call),
        Route::CancelOperation { id } => operations::cancel(api, call, &id).await,
        Route::Backup => backup::send(api).await,
        route => administer(api, call, route, body).await,
    }
}

/// What is administered: who comes in, what they may, and what a subscription may have.
async fn administer(api: &Api, call: &Call, route: Route, body: axum::body::Body) -> Result<Response, Refused> {
    use resources::{principals, quotas};
    match route {
        Route::DeviceCode => identity::device_code(api, call, body).await,
        Route::ApproveDevice { code } => identity::approve_device(api, call, &code),
        Route::Issuers => Ok(identity::issuers::list(api)),
        Route::PutIssuer { name } => {
            let body = entry::read_body(api, call, body).await?;
            identity::issuers::put(api, call, &name, &body).await
        }
        Route::DeleteIssuer { name } => identity::issuers::delete(api, call, &name).await,
        Route::Authorization { scope, of, errand } => resources::authorization::answer(api, call, &scope, of, errand, body).await,
        Route::Register { subscription, namespace } => quotas::set_registered(api, call, &subscription, &namespace, true).await,
        Route::Unregister { subscription, namespace } => quotas::set_registered(api, call, &subscription, &namespace, false).await,
        Route::Quota { subscription } => quotas::show(api, &subscription),
        Route::SetQuota { subscription } => {
            let body = entry::read_body(api, call, body).await?;
            quotas::set(api, call, &subscription, &body).await
        }
        Route::DisableSubscription { subscription } => quotas::set_disabled(api, call, &subscription, true).await,
        Route::EnableSubscription { subscription } => quotas::set_disabled(api, call, &subscription, false).await,
        route => principals::answer(api, call, route, body).await,
    }
}

/// What concerns who may log in.
async fn key_sets(api: &Api, call: &Call, route: Route, body: axum::body::Body) -> Result<Response, Refused> {
    use resources::key_set_write::{self, Named};
    use resources::{Place, key_sets};
    let (view, now) = (api.cache.view(), api.clock.now());
    match route {
        Route::KeySets { set, subscription, group, cluster } => {
            key_sets::list(&view, call, &Place { subscription, group, name: cluster }, set, now)
        }
        Route::KeySet { set, subscription, group, cluster, name } => {
            key_sets::show(&view, &Place { subscription, group, name: cluster }, set, &name, now)
        }
        Route::WriteKeySet { how, set, subscription, group, cluster, name } => {
            let body = entry::read_body(api, call, body).await?;
            let named = Named { place: &Place { subscription, group, name: cluster }, kind: set, name: &name };
            match how {
                Write::Whole => key_set_write::put(api, call, &named, &body).await,
                Write::Part => key_set_write::update(api, call, &named, &body).await,
            }
        }
        Route::DeleteKeySet { set, subscription, group, cluster, name } => {
            let place = Place { subscription, group, name: cluster };
            key_set_write::delete(api, call, &Named { place: &place, kind: set, name: &name }).await
        }
        _ => Err(Refused::internal()),
    }
}

/// What changes a tenant's virtual machine or cluster.
async fn change_workload(api: &Api, call: &Call, route: Route, body: axum::body::Body) -> Result<Response, Refused> {
    use resources::{Place, tenant_write, vm_write};
    let body = entry::read_body(api, call, body).await?;
    match route {
        Route::UpdateVm { how: Write::Whole, subscription, group, name } => {
            vm_write::put(api, call, &Place { subscription, group, name }, &body).await
        }
        Route::UpdateVm { how: Write::Part, subscription, group, name } => {
            vm_write::update(api, call, &Place { subscription, group, name }, &body).await
        }
        Route::DeleteVm { subscription, group, name } => vm_write::delete(api, call, &Place { subscription, group, name }).await,
        Route::ActOnVm { subscription, group, name, verb } => {
            vm_write::act(api, call, &Place { subscription, group, name }, &verb, &body).await
        }
        Route::UpdateTenantCluster { subscription, group, name } => {
            tenant_write::update(api, call, &Place { subscription, group, name }, &body).await
        }
        Route::ActOnTenantCluster { subscription, group, name, verb } => {
            tenant_write::act(api, call, &Place { subscription, group, name }, &verb, &body).await
        }
        Route::UpdatePool { subscription, group, tenant, pool } => {
            tenant_write::update_pool(api, call, &Place { subscription, group, name: tenant }, &pool, &body).await
        }
        _ => Err(Refused::internal()),
    }
}
