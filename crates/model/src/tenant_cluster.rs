//! Tenants' Kubernetes clusters: as they lie in the store, as Cluster API reports them, and their nodes as their own API does.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::machine::Modified;
use crate::name::{ClusterName, MachineName, PoolName, TenantClusterName};
use crate::observation::{Readiness, Seen};
use crate::resources::Amount;
use crate::time::Timestamp;

/// A tenant's Kubernetes cluster, as it lies in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantCluster {
    pub name: TenantClusterName,
    pub cluster: ClusterName,
    #[serde(default)]
    pub settings: Settings,
    #[serde(default)]
    pub pools: BTreeMap<PoolName, Settings>,
    pub created_at: Timestamp,
    /// What was last seen of it: transitions only.
    pub last_seen: TenantClusterSeen,
    /// Its nodes, by name.
    #[serde(default)]
    pub nodes: BTreeMap<String, TenantNode>,
    /// The first fault of the present run of failures, if its API does not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Seen<Fault>>,
}

/// What clients can write of a tenant cluster, or of one of its pools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
    /// Nothing for a pool that follows its cluster, and for a cluster that follows the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_policy: Option<DrainPolicy>,
    #[serde(default = "first_edition")]
    pub edition: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<Modified>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { tags: BTreeMap::new(), drain_policy: None, edition: first_edition(), modified: None }
    }
}

fn first_edition() -> u64 {
    crate::machine::FIRST_EDITION
}

/// What an evacuation does about pods that a disruption budget keeps on their node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DrainPolicy {
    /// Waits for the budget for as long as a drain may take; then the node goes with what is left on it, which is named.
    #[default]
    Wait,
    /// Never goes on against a budget: the evacuation stops and says so.
    Hold,
    /// Deletes what the budget keeps, at once.
    Force,
}

impl DrainPolicy {
    pub const ALL: [DrainPolicy; 3] = [DrainPolicy::Wait, DrainPolicy::Hold, DrainPolicy::Force];

    pub fn as_str(self) -> &'static str {
        match self {
            DrainPolicy::Wait => "wait",
            DrainPolicy::Hold => "hold",
            DrainPolicy::Force => "force",
        }
    }
}

impl fmt::Display for DrainPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A node of a tenant cluster, as it is shown: where it runs and how it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantNode {
    pub role: NodeRole,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolName>,
    /// Where its virtual machine runs, or ran last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineName>,
    /// The state of its virtual machine; nothing if there is none of that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vm: Option<crate::vm::VmState>,
    pub ready: Readiness,
    pub is_unschedulable: bool,
    pub version: String,
    pub cpu_cores: u32,
    pub memory_bytes: u64,
    /// When it became so.
    pub since: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeRole {
    ControlPlane,
    Worker,
}

/// A tenant cluster as Cluster API reports it in the undercloud.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantClusterSeen {
    pub name: TenantClusterName,
    pub uid: String,
    /// `Provisioning`, `Provisioned`, `Deleting`, `Failed`: Cluster API's phase.
    pub phase: String,
    pub version: String,
    pub pools: Vec<PoolSeen>,
    /// Its machines; each is a node of the same name.
    pub machines: Vec<TenantMachineSeen>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
}

/// A MachineDeployment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolSeen {
    pub name: PoolName,
    pub count: u32,
    pub version: String,
}

/// A Machine of Cluster API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantMachineSeen {
    pub name: String,
    pub uid: String,
    pub role: NodeRole,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolName>,
    pub version: String,
    /// Whether Cluster API was told to leave it alone.
    pub is_skipped: bool,
}

/// A node as its tenant cluster's own API reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantNodeSeen {
    pub name: String,
    pub uid: String,
    pub ready: Readiness,
    /// Since when it is that ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_since: Option<Timestamp>,
    pub is_unschedulable: bool,
    /// Whether the node carries our cordon mark: then the cordon is ours to lift.
    pub is_cordoned_by_us: bool,
    /// Whether it carries the taint that lets its pods go although nobody has seen them end.
    pub is_out_of_service: bool,
    pub version: String,
    pub boot_id: String,
    /// The label `topology.kubernetes.io/baremetalmachine`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    pub allocatable: Amount,
    /// How many pods it may run.
    pub pod_limit: u32,
    pub taints: Vec<Taint>,
    pub labels: Arc<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Taint {
    pub key: String,
    #[serde(default)]
    pub value: String,
    pub effect: String,
}

impl TenantCluster {
    /// What holds for the nodes of a pool, or of the control plane.
    pub fn drain_policy(&self, pool: Option<&PoolName>) -> DrainPolicy {
        let of_pool = pool.and_then(|pool| self.pools.get(pool)).and_then(|settings| settings.drain_policy);
        of_pool.or(self.settings.drain_policy).unwrap_or_default()
    }
}
