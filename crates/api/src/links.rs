//! Resource ids and the addresses that clients are sent to.

use model::{Cluster, MachineName, Operation, PoolName, RackName, Target, TenantClusterName, VmName};

use crate::call::Call;

pub(crate) const PROVIDER: &str = "Microsoft.NetworkCloud";

/// The version that links carry. Clients send any; the newest they know is this.
const LINK_API_VERSION: &str = "2026-07-01";

pub(crate) fn resource_id(subscription: &str, group: &str, kind: &str, name: &str) -> String {
    format!("/subscriptions/{subscription}/resourceGroups/{group}/providers/{PROVIDER}/{kind}/{name}")
}

pub(crate) fn id_of(cluster: &Cluster, kind: &str, name: &str) -> String {
    resource_id(&cluster.home.subscription, &cluster.home.resource_group, kind, name)
}

pub(crate) fn cluster_id(cluster: &Cluster) -> String {
    id_of(cluster, "clusters", cluster.name.as_str())
}

pub(crate) fn rack_id(cluster: &Cluster, rack: &RackName) -> String {
    id_of(cluster, "racks", rack.as_str())
}

pub(crate) fn machine_id(cluster: &Cluster, machine: &MachineName) -> String {
    id_of(cluster, "bareMetalMachines", machine.as_str())
}

pub(crate) fn vm_id(cluster: &Cluster, vm: &VmName) -> String {
    id_of(cluster, "virtualMachines", vm.as_str())
}

pub(crate) fn tenant_cluster_id(cluster: &Cluster, tenant: &TenantClusterName) -> String {
    id_of(cluster, "kubernetesClusters", tenant.as_str())
}

pub(crate) fn pool_id(cluster: &Cluster, tenant: &TenantClusterName, pool: &PoolName) -> String {
    format!("{}/agentPools/{pool}", tenant_cluster_id(cluster, tenant))
}

/// What an operation is at work on.
pub(crate) fn target_id(cluster: &Cluster, target: &Target) -> String {
    match target {
        Target::Machine(name) => machine_id(cluster, name),
        Target::Vm(name) => vm_id(cluster, name),
        Target::TenantNode { cluster: tenant, .. } => tenant_cluster_id(cluster, tenant),
        Target::Site(_) => cluster_id(cluster),
    }
}

fn operation_path(cluster: &Cluster, operation: &Operation, collection: &str) -> String {
    let home = &cluster.home;
    format!("/subscriptions/{}/providers/{PROVIDER}/locations/{}/{collection}/{}", home.subscription, home.location, operation.id)
}

pub(crate) fn operation_status_id(cluster: &Cluster, operation: &Operation) -> String {
    operation_path(cluster, operation, "operationStatuses")
}

/// The address of an operation's status, and of its result.
pub(crate) fn operation_links(call: &Call, cluster: &Cluster, operation: &Operation) -> (String, String) {
    let version = call.query("api-version").unwrap_or(LINK_API_VERSION);
    let link = |collection| {
        let path = operation_path(cluster, operation, collection);
        format!("{}{path}?api-version={}", call.origin(), encode(version))
    };
    (link("operationStatuses"), link("operationResults"))
}

pub(crate) fn encode(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
