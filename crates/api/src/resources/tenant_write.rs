//! `Microsoft.NetworkCloud/kubernetesClusters` and their `agentPools`: tags, drain policies, and the restart of a node.

use axum::response::Response;
use http::StatusCode;
use model::{Action, Ask, DrainPolicy, PoolName, Target};
use serde_json::json;

use super::actions::{self, Verb, respond_with_operation, verb};
use super::{Place, Tags, tags_of, tenant_clusters};
use crate::Api;
use crate::call::Call;
use crate::fields::{self, Written};
use crate::precondition::conditions;
use crate::reply::{Refused, resource_response};
use crate::schema;
use crate::submit::submit;

const DRAIN_POLICY: &str = "properties.drainPolicy";

pub(crate) static TENANT_VERBS: [Verb; 1] =
    [verb("restartNode", &schema::RESTART_NODE, "Stop the virtual machine of a node without a shutdown, and start it again.")];

/// What the client wants to be so. What is `None` stays.
struct Wanted {
    tags: Option<Tags>,
    drain_policy: Option<DrainPolicy>,
}

fn wanted(written: Vec<Written>) -> Result<Wanted, Refused> {
    let (policies, tags): (Vec<Written>, Vec<Written>) = written.into_iter().partition(|written| written.path == DRAIN_POLICY);
    let named = policies.first().and_then(|written| written.value.as_str());
    let drain_policy = named.and_then(|name| DrainPolicy::ALL.into_iter().find(|policy| policy.as_str() == name));
    Ok(Wanted { tags: tags_of(tags)?, drain_policy })
}

pub(crate) async fn update(api: &Api, call: &Call, place: &Place, body: &[u8]) -> Result<Response, Refused> {
    let view = api.cache.view();
    let (cluster, tenant) = tenant_clusters::find(&view, place)?;
    let current = json!(tenant_clusters::render(&view, &cluster.document, &tenant.document));
    let conditions = conditions(call)?;
    let Wanted { tags, drain_policy } = wanted(fields::written(&schema::TENANT_CLUSTER, fields::object(body)?, &current)?)?;
    let ask = Ask::UpdateTenantCluster { cluster: tenant.document.name.clone(), pool: None, tags, drain_policy, conditions };
    submit(api, call, &cluster.document.name, ask, body).await?;
    let view = api.cache.view();
    let (cluster, tenant) = tenant_clusters::find(&view, place).map_err(Refused::in_log)?;
    Ok(resource_response(StatusCode::OK, &tenant_clusters::render(&view, &cluster.document, &tenant.document)))
}

pub(crate) async fn update_pool(api: &Api, call: &Call, place: &Place, pool: &str, body: &[u8]) -> Result<Response, Refused> {
    let view = api.cache.view();
    let (cluster, tenant) = tenant_clusters::find(&view, place)?;
    let found = tenant_clusters::find_pool(&tenant.document, pool)?;
    let name: PoolName = found.name.clone();
    let current = json!(tenant_clusters::render_pool(&cluster.document, &tenant.document, found));
    let conditions = conditions(call)?;
    let Wanted { tags, drain_policy } = wanted(fields::written(&schema::POOL, fields::object(body)?, &current)?)?;
    let ask = Ask::UpdateTenantCluster { cluster: tenant.document.name.clone(), pool: Some(name), tags, drain_policy, conditions };
    submit(api, call, &cluster.document.name, ask, body).await?;
    let view = api.cache.view();
    let (cluster, tenant) = tenant_clusters::find(&view, place).map_err(Refused::in_log)?;
    let found = tenant_clusters::find_pool(&tenant.document, pool).map_err(Refused::in_log)?;
    Ok(resource_response(StatusCode::OK, &tenant_clusters::render_pool(&cluster.document, &tenant.document, found)))
}

pub(crate) async fn act(api: &Api, call: &Call, place: &Place, verb: &str, body: &[u8]) -> Result<Response, Refused> {
    let view = api.cache.view();
    let (cluster, tenant) = tenant_clusters::find(&view, place)?;
    let known = actions::find_verb(&TENANT_VERBS, verb)?;
    let given = fields::given(known.body, body)?;
    let node = actions::text_of(&given, "nodeName").unwrap_or_default();
    if node.is_empty() {
        return Err(fields::missing(&schema::RESTART_NODE, "nodeName"));
    }
    // As it is written where it is known: Kubernetes tells upper and lower case apart, and Azure's clients do not.
    let node = tenant.document.nodes.keys().find(|known| known.eq_ignore_ascii_case(node)).map_or(node, String::as_str);
    let (tenant, node) = (tenant.document.name.clone(), model::shortened(node));
    let ask = match actions::flag_of(call, actions::PREVIEW)? {
        true => Ask::PreviewForTenant { target: Target::TenantNode { cluster: tenant, node }, action: Action::RestartNode },
        false => Ask::RestartNode { cluster: tenant, node },
    };
    let verdict = submit(api, call, &cluster.document.name, ask, body).await?;
    respond_with_operation(api, call, &cluster.document, &verdict)
}
