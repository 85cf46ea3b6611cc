//! A cluster (one site) and its racks, as they lie in the store.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::join::JoinFacts;
use crate::limits::Limits;
use crate::name::{ClusterName, RackName};
use crate::sku::Sku;
use crate::time::Timestamp;
use crate::wait::Wait;

/// Where a cluster's resources live in the Azure dialect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Home {
    pub subscription: String,
    pub resource_group: String,
    pub location: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    pub name: ClusterName,
    pub home: Home,
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
    pub created_at: Timestamp,
    /// The runtime version, e.g. `4.7.8`.
    pub version: String,
    pub detailed_status: ClusterStatus,
    pub connection: Connection,
    pub connection_since: Timestamp,
    #[serde(default)]
    pub limits: Limits,
    /// What machines are made of, by the name of their SKU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skus: Vec<Sku>,
    /// How a new node finds the undercloud, as its kubeconfig tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<JoinFacts>,
    /// What is waited for that concerns the whole site.
    #[serde(default)]
    pub waits: Vec<Wait>,
}

/// `detailedStatus` of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClusterStatus {
    PendingDeployment,
    Deploying,
    Running,
    Updating,
    UpdatePaused,
    Degraded,
    Deleting,
    Disconnected,
    Failed,
}

/// `clusterConnectionStatus`: whether the undercloud has been heard from lately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Connection {
    Connected,
    Timeout,
    Disconnected,
    Undefined,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rack {
    pub name: RackName,
    pub cluster: ClusterName,
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
    pub created_at: Timestamp,
    pub availability_zone: String,
    pub location: String,
    pub serial_number: String,
    pub sku: String,
}
