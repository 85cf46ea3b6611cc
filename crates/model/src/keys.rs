//! Where each kind of document lies in the store.

use crate::name::{ClusterName, MachineName, OperationId, RackName, RequestId, TenantClusterName, VmName};

pub const CLUSTERS: &str = "clusters/";
pub const RACKS: &str = "racks/";
pub const MACHINES: &str = "machines/";
pub const VMS: &str = "vms/";
pub const TENANT_CLUSTERS: &str = "tenantclusters/";
pub const OPERATIONS: &str = "operations/";
pub const REQUESTS: &str = "requests/";

pub fn cluster(name: &ClusterName) -> String {
    format!("{CLUSTERS}{}", name.key())
}

pub fn racks_of(cluster: &ClusterName) -> String {
    format!("{RACKS}{}/", cluster.key())
}

pub fn rack(cluster: &ClusterName, name: &RackName) -> String {
    format!("{}{}", racks_of(cluster), name.key())
}

pub fn machines_of(cluster: &ClusterName) -> String {
    format!("{MACHINES}{}/", cluster.key())
}

pub fn machine(cluster: &ClusterName, name: &MachineName) -> String {
    format!("{}{}", machines_of(cluster), name.key())
}

pub fn vms_of(cluster: &ClusterName) -> String {
    format!("{VMS}{}/", cluster.key())
}

pub fn vm(cluster: &ClusterName, name: &VmName) -> String {
    format!("{}{}", vms_of(cluster), name.key())
}

pub fn tenant_clusters_of(cluster: &ClusterName) -> String {
    format!("{TENANT_CLUSTERS}{}/", cluster.key())
}

pub fn tenant_cluster(cluster: &ClusterName, name: &TenantClusterName) -> String {
    format!("{}{}", tenant_clusters_of(cluster), name.key())
}

pub fn operations_of(cluster: &ClusterName) -> String {
    format!("{OPERATIONS}{}/", cluster.key())
}

pub fn operation(cluster: &ClusterName, id: &OperationId) -> String {
    format!("{}{id}", operations_of(cluster))
}

pub fn requests_of(cluster: &ClusterName) -> String {
    format!("{REQUESTS}{}/", cluster.key())
}

pub fn request(cluster: &ClusterName, id: &RequestId) -> String {
    format!("{}{id}", requests_of(cluster))
}

/// The lease under which one keeper owns a cluster.
pub fn keeper_lease(cluster: &ClusterName) -> String {
    format!("keeper/{}", cluster.key())
}
