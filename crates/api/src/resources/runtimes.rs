//! Runtimes of a cluster: what machines can be installed with. A child of the cluster, ours beside Azure's model.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use model::{Ask, Bundle, Cluster, RuntimeVersion};
use serde_json::{Value, json};

use super::{Place, clusters_at};
use crate::Api;
use crate::bundle::{self, Flaw};
use crate::cache::View;
use crate::call::Call;
use crate::fields;
use crate::links;
use crate::paging::{PAGE_DEFAULT, Paging};
use crate::reply::{Refused, json_response};
use crate::schema;
use crate::submit::submit;

fn find_cluster(view: &View, place: &Place) -> Result<Arc<Cluster>, Refused> {
    let mut clusters = clusters_at(view, &place.subscription, &place.group)?.into_iter();
    let found = clusters.find(|cluster| cluster.document.name.as_str().eq_ignore_ascii_case(&place.name));
    found.map(|cluster| cluster.document.clone()).ok_or_else(|| Refused::not_found("cluster", &place.name))
}

fn find(view: &View, cluster: &Cluster, version: &str) -> Result<Arc<Bundle>, Refused> {
    let found = RuntimeVersion::parse(version).ok().and_then(|version| view.runtime(&cluster.name, version));
    found.map(|runtime| runtime.document.clone()).ok_or_else(|| Refused::not_found("runtime", version))
}

pub(crate) fn list(view: &View, call: &Call, place: &Place) -> Result<Response, Refused> {
    let cluster = find_cluster(view, place)?;
    let paging = Paging::of(call, PAGE_DEFAULT)?;
    let after = paging.after(|token| RuntimeVersion::parse(token).ok())?;
    let runtimes = view.runtimes_of(&cluster.name).map(|runtime| runtime.document.as_ref());
    let rest = runtimes.filter(|runtime| after.is_none_or(|after| runtime.version > after));
    let page = paging.page(
        call,
        rest,
        |runtime| runtime.version.to_string(),
        |runtime| {
            let mut shown = render(view, &cluster, runtime);
            if let Some(properties) = shown["properties"].as_object_mut() {
                properties.remove("userData");
            }
            shown
        },
    );
    Ok(json_response(StatusCode::OK, &page))
}

pub(crate) fn show(view: &View, place: &Place, version: &str) -> Result<Response, Refused> {
    let cluster = find_cluster(view, place)?;
    let runtime = find(view, &cluster, version)?;
    Ok(json_response(StatusCode::OK, &render(view, &cluster, &runtime)))
}

pub(crate) async fn put(api: &Api, call: &Call, place: &Place, version: &str, body: &[u8]) -> Result<Response, Refused> {
    let view = api.cache.view();
    let cluster = find_cluster(&view, place)?;
    let described = fields::described(&schema::RUNTIME, body)?;
    let version = RuntimeVersion::parse(version).map_err(|problem| Refused::bad_content(problem.to_string()).target("version"))?;
    let bundle = bundle::read(version, &described["properties"]).map_err(|flaws| unfit(&flaws))?;
    let status = if view.runtime(&cluster.name, version).is_some() { StatusCode::OK } else { StatusCode::CREATED };
    submit(api, call, &cluster.name, Ask::ImportRuntime { bundle: Box::new(bundle) }, body).await?;
    let view = api.cache.view();
    let runtime = find(&view, &cluster, &version.to_string()).map_err(Refused::in_log)?;
    Ok(json_response(status, &render(&view, &cluster, &runtime)))
}

pub(crate) async fn delete(api: &Api, call: &Call, place: &Place, version: &str) -> Result<Response, Refused> {
    let view = api.cache.view();
    let cluster = find_cluster(&view, place)?;
    let version = find(&view, &cluster, version)?.version;
    submit(api, call, &cluster.name, Ask::ForgetRuntime { version }, &[]).await?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

/// All that is wrong, under the name of what is wrong first.
fn unfit(flaws: &[Flaw]) -> Refused {
    let told: Vec<String> = flaws.iter().map(|Flaw { path, why }| format!("`{path}`: {why}")).collect();
    let refused = Refused::bad_content(format!("the runtime is not as it must be: {}", told.join("; ")));
    refused.with_target(flaws.first().map(|flaw| flaw.path.clone()))
}

fn render(view: &View, cluster: &Cluster, runtime: &Bundle) -> Value {
    let machines = view.machines_of(&cluster.name).map(|machine| &machine.document.installed);
    let installed = machines.flatten().filter(|installed| installed.version == runtime.version).count();
    json!({
        "id": format!("{}/runtimes/{}", links::cluster_id(cluster), runtime.version),
        "name": runtime.version,
        "type": "Microsoft.NetworkCloud/clusters/runtimes",
        "properties": runtime,
        "rackwright": { "isClusterVersion": cluster.version == runtime.version.to_string(), "machines": installed },
    })
}

#[cfg(test)]
mod tests;
