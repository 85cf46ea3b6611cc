//! `Microsoft.NetworkCloud/kubernetesClusters` and their `agentPools`: reading.

use axum::response::Response;
use http::StatusCode;
use model::{
    Cluster, MachineName, NodeRole, PoolName, PoolSeen, Readiness, Settings, Target, TenantCluster, TenantClusterName, TenantNode,
    Timestamp,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::machines::render_fault;
use super::resource::{Known, Resource};
use super::vms::{at_work, zone_of};
use super::{Place, clusters_at};
use crate::cache::{Versioned, View};
use crate::call::Call;
use crate::links;
use crate::paging::{PAGE_DEFAULT, Paging};
use crate::reply::{Refused, json_response, resource_response};
use crate::route::Kind;

const GIB: u64 = 1 << 30;

/// The tenant cluster of that name, with its cluster.
pub(crate) fn find<'a>(view: &'a View, place: &Place) -> Result<(&'a Versioned<Cluster>, &'a Versioned<TenantCluster>), Refused> {
    let tenant_name = TenantClusterName::new(place.name.as_str());
    let mut clusters = clusters_at(view, &place.subscription, &place.group)?.into_iter();
    let found = clusters.find_map(|cluster| Some((cluster, view.tenant_cluster(&cluster.document.name, tenant_name.as_ref().ok()?)?)));
    found.ok_or_else(|| Refused::not_found("Kubernetes cluster", &place.name))
}

pub(crate) fn find_pool<'a>(tenant: &'a TenantCluster, name: &str) -> Result<&'a PoolSeen, Refused> {
    let mut pools = tenant.last_seen.pools.iter();
    pools.find(|pool| pool.name.as_str().eq_ignore_ascii_case(name)).ok_or_else(|| Refused::not_found("agent pool", name))
}

pub(crate) fn show(view: &View, place: &Place) -> Result<Response, Refused> {
    let (cluster, tenant) = find(view, place)?;
    Ok(resource_response(StatusCode::OK, &render(view, &cluster.document, &tenant.document)))
}

pub(crate) fn list_pools(view: &View, call: &Call, place: &Place) -> Result<Response, Refused> {
    let (cluster, tenant) = find(view, place)?;
    let paging = Paging::of(call, PAGE_DEFAULT)?;
    let after = paging.after(|token| PoolName::new(token).ok())?;
    let mut pools: Vec<&PoolSeen> = tenant.document.last_seen.pools.iter().collect();
    pools.sort_by(|a, b| a.name.cmp(&b.name));
    let rest = pools.into_iter().filter(|pool| after.as_ref().is_none_or(|after| pool.name > *after));
    let page = paging.page(call, rest, |pool| pool.name.to_string(), |pool| render_pool(&cluster.document, &tenant.document, pool));
    Ok(json_response(StatusCode::OK, &page))
}

pub(crate) fn show_pool(view: &View, place: &Place, pool: &str) -> Result<Response, Refused> {
    let (cluster, tenant) = find(view, place)?;
    let pool = find_pool(&tenant.document, pool)?;
    Ok(resource_response(StatusCode::OK, &render_pool(&cluster.document, &tenant.document, pool)))
}

/// `KubernetesClusterProperties`, in the order of its names. What nobody tells us is left out.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Properties<'a> {
    cluster_id: String,
    control_plane_kubernetes_version: &'a str,
    control_plane_node_configuration: Value,
    detailed_status: String,
    detailed_status_message: String,
    drain_policy: &'static str,
    initial_agent_pool_configurations: Vec<Value>,
    kubernetes_version: &'a str,
    nodes: Vec<Node<'a>>,
    provisioning_state: &'static str,
}

/// `KubernetesClusterNode`, in the order of its names.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Node<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_pool_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    availability_zone: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bare_metal_machine_id: Option<String>,
    cpu_cores: u32,
    detailed_status: String,
    detailed_status_message: String,
    kubernetes_version: &'a str,
    #[serde(rename = "memorySizeGB")]
    memory_size_gb: u64,
    name: &'a str,
    power_state: String,
    role: &'static str,
}

/// What is told beside the model, in the order of its names.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ours<'a> {
    api_fault: Option<Value>,
    drain_policy_from: &'static str,
    nodes: Vec<NodeBeyond<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NodeBeyond<'a> {
    cordoned: bool,
    machine: Option<&'a MachineName>,
    name: &'a str,
    operation: Option<Value>,
    pool: Option<&'a PoolName>,
    ready: Readiness,
    since: Timestamp,
}

pub(crate) fn render<'a>(view: &'a View, cluster: &'a Cluster, tenant: &'a TenantCluster) -> Resource<'a, Properties<'a>, Ours<'a>> {
    let seen = &tenant.last_seen;
    let words = plan::tenant_cluster_status(tenant);
    let control_plane = seen.machines.iter().filter(|machine| machine.role == NodeRole::ControlPlane).count();
    let properties = Properties {
        cluster_id: links::cluster_id(cluster),
        control_plane_kubernetes_version: &seen.version,
        control_plane_node_configuration: json!({ "count": control_plane }),
        detailed_status: words.detailed.to_string(),
        detailed_status_message: words.message,
        drain_policy: tenant.drain_policy(None).as_str(),
        initial_agent_pool_configurations: seen.pools.iter().map(|pool| json!({ "count": pool.count, "name": pool.name })).collect(),
        kubernetes_version: &seen.version,
        nodes: tenant.nodes.iter().map(|(name, node)| render_node(view, cluster, tenant, name, node)).collect(),
        provisioning_state: provisioning_state(tenant),
    };
    let mut resource = shell(cluster, tenant.name.as_str(), tenant, &tenant.settings, properties);
    resource.rackwright = Some(Ours {
        api_fault: tenant.fault.as_ref().map(render_fault),
        drain_policy_from: if tenant.settings.drain_policy.is_some() { "cluster" } else { "default" },
        nodes: tenant.nodes.iter().map(|(name, node)| node_beyond(view, cluster, tenant, name, node)).collect(),
    });
    resource
}

fn render_node<'a>(view: &'a View, cluster: &Cluster, tenant: &TenantCluster, name: &'a str, node: &'a TenantNode) -> Node<'a> {
    let machine = node.machine.as_ref().and_then(|machine| view.machine(&cluster.name, machine));
    let words = plan::tenant_node_status(tenant, node, machine.map(|machine| machine.document.as_ref()));
    Node {
        agent_pool_id: node.pool.as_ref().map(|pool| links::pool_id(cluster, &tenant.name, pool)),
        availability_zone: node.machine.as_ref().and_then(|machine| zone_of(view, cluster, machine)),
        bare_metal_machine_id: node.machine.as_ref().map(|machine| links::machine_id(cluster, machine)),
        cpu_cores: node.cpu_cores,
        detailed_status: words.detailed.to_string(),
        detailed_status_message: words.message,
        kubernetes_version: &node.version,
        memory_size_gb: node.memory_bytes / GIB,
        name,
        power_state: words.power.to_string(),
        role: match node.role {
            NodeRole::ControlPlane => "ControlPlane",
            NodeRole::Worker => "Worker",
        },
    }
}

fn node_beyond<'a>(view: &View, cluster: &Cluster, tenant: &TenantCluster, name: &'a str, node: &'a TenantNode) -> NodeBeyond<'a> {
    let target = Target::TenantNode { cluster: tenant.name.clone(), node: name.to_owned() };
    NodeBeyond {
        cordoned: node.is_unschedulable,
        machine: node.machine.as_ref(),
        name,
        operation: at_work(view, cluster, &target),
        pool: node.pool.as_ref(),
        ready: node.ready,
        since: node.since,
    }
}

/// Cluster API's phase in the model's words, which both kinds know.
pub(super) fn provisioning_state(tenant: &TenantCluster) -> &'static str {
    match tenant.last_seen.phase.as_str() {
        "Provisioned" | "Running" => "Succeeded",
        "Deleting" => "Deleting",
        "Failed" => "Failed",
        _ => "InProgress",
    }
}

/// `AgentPoolProperties`, in the order of its names.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PoolProperties<'a> {
    count: u32,
    detailed_status: String,
    detailed_status_message: String,
    drain_policy: &'static str,
    kubernetes_version: &'a str,
    provisioning_state: &'static str,
}

/// What is told of a pool beside the model.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PoolOurs {
    drain_policy_from: &'static str,
    ready_nodes: usize,
}

static UNWRITTEN: Settings =
    Settings { tags: std::collections::BTreeMap::new(), drain_policy: None, edition: model::FIRST_EDITION, modified: None };

pub(crate) fn render_pool<'a>(
    cluster: &'a Cluster,
    tenant: &'a TenantCluster,
    pool: &'a PoolSeen,
) -> Resource<'a, PoolProperties<'a>, PoolOurs> {
    let settings = tenant.pools.get(&pool.name).unwrap_or(&UNWRITTEN);
    let nodes = tenant.nodes.values().filter(|node| node.pool.as_ref() == Some(&pool.name));
    let ready = nodes.filter(|node| node.ready == Readiness::True).count();
    let words = plan::agent_pool_status(tenant, &pool.name);
    let properties = PoolProperties {
        count: pool.count,
        detailed_status: words.detailed.to_string(),
        detailed_status_message: words.message,
        drain_policy: tenant.drain_policy(Some(&pool.name)).as_str(),
        kubernetes_version: &pool.version,
        provisioning_state: provisioning_state(tenant),
    };
    let mut resource = shell(cluster, pool.name.as_str(), tenant, settings, properties);
    resource.id = links::pool_id(cluster, &tenant.name, &pool.name);
    resource.r#type = "Microsoft.NetworkCloud/kubernetesClusters/agentPools";
    let drain_policy_from = match (settings.drain_policy, tenant.settings.drain_policy) {
        (Some(_), _) => "pool",
        (None, Some(_)) => "cluster",
        (None, None) => "default",
    };
    resource.rackwright = Some(PoolOurs { drain_policy_from, ready_nodes: ready });
    resource
}

/// What surrounds the properties of a tenant cluster and of a pool.
fn shell<'a, P, O>(
    cluster: &'a Cluster,
    name: &'a str,
    tenant: &TenantCluster,
    settings: &'a Settings,
    properties: P,
) -> Resource<'a, P, O> {
    let Settings { tags, edition, modified, .. } = settings;
    let known = Known { kind: Kind::TenantClusters, name, created_at: tenant.created_at, edition: *edition, tags };
    let mut resource = Resource::new(cluster, known, properties);
    if let Some(modified) = modified {
        resource.system_data.modified(modified);
    }
    resource
}
