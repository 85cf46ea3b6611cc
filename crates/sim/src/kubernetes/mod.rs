//! The Kubernetes API of one of the site's clusters: paths, who may use it, and which file answers.

mod auth;
mod delete;
mod discovery;
mod eviction;
mod joining;
mod list;
mod openapi;
mod patch;
mod protobuf;
mod rows;
mod selector;
mod status;
mod subresource;
mod table;
mod target;
mod watch;
mod write;

use std::collections::BTreeMap;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use serde_json::Value;

use world::{ClusterName, Instant, Kube, Resource};

use crate::site::Site;
use auth::Caller;
pub(crate) use joining::Claims;
use status::Failure;
use target::{Name, Target};

/// etcd's own limit on an object is smaller.
const BODY_LIMIT: usize = 3 * 1024 * 1024;

pub(crate) fn router(site: Site, cluster: ClusterName) -> Router {
    Router::new().fallback(serve).with_state(Server { site, cluster })
}

/// The API server of one cluster.
#[derive(Clone)]
struct Server {
    site: Site,
    cluster: ClusterName,
}

impl Server {
    /// Looks at the cluster as it is now. One that is gone, as a tenant's may be, has nothing to say any more.
    fn look<T>(&self, look: impl FnOnce(&Kube) -> T) -> Result<T, Failure> {
        self.site.look(|world| world.kube(&self.cluster).map(look)).ok_or_else(Failure::unavailable)
    }

    /// Waits until everything that has happened is durable.
    async fn settle(&self) -> Result<(), Failure> {
        self.site.settle().await.map_err(|_| Failure::not_saved())
    }

    fn token(&self) -> String {
        self.site.layout().token_of(&self.cluster)
    }

    fn now(&self) -> Instant {
        self.site.now()
    }

    /// The kinds that the cluster serves, while it does.
    fn served(&self) -> Result<&'static [&'static Resource], Failure> {
        let served = self.look(|kube| kube.is_available().then(|| kube.flavour().resources()))?;
        served.filter(|_| !self.site.inner.stopping.is_cancelled()).ok_or_else(Failure::unavailable)
    }
}

/// A request with its parts read.
struct Call {
    method: Method,
    path: String,
    query: BTreeMap<String, String>,
    headers: HeaderMap,
    body: Bytes,
}

impl Call {
    fn parameter(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    fn is_set(&self, name: &str) -> bool {
        matches!(self.parameter(name), Some("true" | "1"))
    }

    fn json(&self) -> Result<Value, Failure> {
        serde_json::from_slice(&self.body).map_err(|error| Failure::bad_request(format!("the body is not JSON: {error}")))
    }

    async fn read(request: Request) -> Result<Call, Failure> {
        let (parts, body) = request.into_parts();
        let Query(query) = Query::try_from_uri(&parts.uri).map_err(|error| Failure::bad_request(error.to_string()))?;
        let body = axum::body::to_bytes(body, BODY_LIMIT).await.map_err(|_| Failure::too_large())?;
        Ok(Call { method: parts.method, path: parts.uri.path().to_owned(), query, headers: parts.headers, body })
    }
}

async fn serve(State(server): State<Server>, request: Request) -> Response {
    match respond(&server, request).await {
        Ok(response) => response,
        Err(failure) => failure.into_response(),
    }
}

async fn respond(server: &Server, request: Request) -> Result<Response, Failure> {
    let served = server.served()?;
    let call = Call::read(request).await?;
    if let Some(answer) = open_to_all(server, &call)? {
        return Ok(answer);
    }
    let caller = auth::authenticate(server, &call.headers)?;
    if let Some(answer) = discovery::answer(&call, served).or_else(|| openapi::answer(&call, served)) {
        return Ok(answer);
    }
    if let Caller::Administrator = caller
        && let Some(answer) = subresource::answer(server, &call).await
    {
        return answer;
    }
    let target = Target::locate(&call.path, served).ok_or_else(Failure::no_such_path)?;
    if let Caller::Joiner(joiner) = caller {
        joiner.admit(server, &call, &target)?;
    }
    dispatch(server, &call, &target).await
}

/// What a real API server tells everybody.
fn open_to_all(server: &Server, call: &Call) -> Result<Option<Response>, Failure> {
    Ok(match call.path.as_str() {
        "/healthz" | "/livez" | "/readyz" => Some("ok".into_response()),
        "/version" => Some(json_response(StatusCode::OK, &discovery::version(&server.look(|kube| kube.version().to_owned())?))),
        _ => None,
    })
}

async fn dispatch(server: &Server, call: &Call, target: &Target) -> Result<Response, Failure> {
    match (&call.method, &target.name) {
        (&Method::GET, Name::All) if call.is_set("watch") => watch::start(server, call, target).await,
        (&Method::GET, Name::All) => list::list(server, call, target).await,
        (&Method::GET, Name::One { .. }) if call.is_set("watch") => watch::start(server, call, target).await,
        (&Method::GET, Name::One { key, .. }) => list::get(server, call, target, key).await,
        (&Method::POST, Name::All) => write::create(server, call, target).await,
        (&Method::PUT, Name::One { key, part }) => write::replace(server, call, target, key, *part).await,
        (&Method::PATCH, Name::One { key, part }) => write::patch(server, call, target, key, *part).await,
        (&Method::DELETE, Name::One { key, .. }) => delete::delete(server, call, target, key).await,
        (&Method::DELETE, Name::All) => delete::delete_all(server, call, target).await,
        (&Method::POST, Name::Eviction { key }) => eviction::evict(server, call, key).await,
        _ => Err(Failure::method_not_allowed()),
    }
}

fn json_response(status: StatusCode, value: &Value) -> Response {
    (status, [(http::header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

#[cfg(test)]
mod tenant_tests;
