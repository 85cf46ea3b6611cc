//! How a machine and what is on it were before a disruptive action, so that it can be told afterwards what differs.

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::name::{OperationId, TenantClusterName, VmName};
use crate::observation::Power;
use crate::time::Timestamp;
use crate::vm::VmState;

/// Recorded when the latest disruptive action was accepted that found the machine in use: neither emptied, nor switched off, nor given
/// up, nor left half done by an action before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Baseline {
    pub at: Timestamp,
    pub by: OperationId,
    pub action: Action,
    pub power: Option<Power>,
    pub was_ready: bool,
    pub was_cordoned: bool,
    pub vms: Vec<BaselineVm>,
    pub nodes: Vec<BaselineNode>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BaselineVm {
    pub vm: VmName,
    pub state: VmState,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BaselineNode {
    pub cluster: TenantClusterName,
    pub node: String,
    pub was_ready: bool,
    pub was_schedulable: bool,
}
