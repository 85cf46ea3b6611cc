//! Where each kind of document lies in the store.

use crate::keyset::KeySetKind;
use crate::name::{ClusterName, MachineName, OperationId, RackName, RequestId, TenantClusterName, VmName};
use crate::runtime::RuntimeVersion;

pub const CLUSTERS: &str = "clusters/";
pub const RACKS: &str = "racks/";
pub const MACHINES: &str = "machines/";
pub const VMS: &str = "vms/";
pub const TENANT_CLUSTERS: &str = "tenantclusters/";
pub const RUNTIMES: &str = "runtimes/";
pub const VALIDATIONS: &str = "validations/";
pub const INVENTORIES: &str = "inventories/";
pub const INSTALL_LOGS: &str = "installlogs/";
pub const KEYSETS: &str = "keysets/";
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

pub fn runtimes_of(cluster: &ClusterName) -> String {
    format!("{RUNTIMES}{}/", cluster.key())
}

pub fn runtime(cluster: &ClusterName, version: RuntimeVersion) -> String {
    format!("{}{version}", runtimes_of(cluster))
}

pub fn validations_of(cluster: &ClusterName) -> String {
    format!("{VALIDATIONS}{}/", cluster.key())
}

pub fn validation(cluster: &ClusterName, machine: &MachineName) -> String {
    format!("{}{}", validations_of(cluster), machine.key())
}

pub fn inventories_of(cluster: &ClusterName) -> String {
    format!("{INVENTORIES}{}/", cluster.key())
}

pub fn inventory(cluster: &ClusterName, machine: &MachineName) -> String {
    format!("{}{}", inventories_of(cluster), machine.key())
}

/// What the agent of one attempt has told of its work.
pub fn install_log(cluster: &ClusterName, operation: &OperationId, round: u32) -> String {
    format!("{INSTALL_LOGS}{}/{operation}/{round}", cluster.key())
}

pub fn keysets_of(cluster: &ClusterName) -> String {
    format!("{KEYSETS}{}/", cluster.key())
}

/// The two kinds have names of their own.
pub fn keyset(cluster: &ClusterName, kind: KeySetKind, name: &str) -> String {
    let kind = match kind {
        KeySetKind::Machine => "machine",
        KeySetKind::Bmc => "bmc",
    };
    format!("{}{kind}/{}", keysets_of(cluster), name.to_ascii_lowercase())
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
