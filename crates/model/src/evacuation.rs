//! What is remembered of a machine that was emptied, so that exactly what ran before comes back.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::name::{OperationId, TenantClusterName};
use crate::time::Timestamp;
use crate::vm::{NodeOf, RunStrategy, VmRef};

/// What an operation stopped and cordoned on a machine. It is kept with the machine until all of it is back, or not ours to
/// bring back any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evacuated {
    pub by: OperationId,
    pub since: Timestamp,
    /// Virtual machines that ran, those of tenant nodes among them.
    pub vms: Vec<StoppedVm>,
    /// Tenant nodes that we cordoned, or whose Machines we have left alone. Whether a cordon is ours, the node's own mark tells.
    pub nodes: Vec<CordonedNode>,
}

/// A virtual machine that ran and that we stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoppedVm {
    pub vm: VmRef,
    /// How it was to run before.
    pub ran_as: RunStrategy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_of: Option<NodeOf>,
    /// Whether it has been seen stopped since: one that runs after that was started by somebody else.
    #[serde(default)]
    pub was_seen_stopped: bool,
    /// When it was last asked to start again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_asked_at: Option<Timestamp>,
    #[serde(default)]
    pub start_attempts: u32,
    /// When it was last forced off, so that it can be started: its shutdown came to no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_asked_at: Option<Timestamp>,
    #[serde(default)]
    pub force_attempts: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CordonedNode {
    pub cluster: TenantClusterName,
    pub node: String,
    /// Whether we told Cluster API to leave its Machine alone.
    #[serde(default)]
    pub is_skipped: bool,
    /// Whether we set the out-of-service taint.
    #[serde(default)]
    pub is_out_of_service: bool,
    /// When its uncordon was last asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncordon_asked_at: Option<Timestamp>,
    #[serde(default)]
    pub uncordon_attempts: u32,
}

impl Evacuated {
    pub fn is_empty(&self) -> bool {
        self.vms.is_empty() && self.nodes.is_empty()
    }
}

/// Something that an evacuation went on without.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Leftover {
    /// A pod that was still on its node when the time was up; it ends with the node's virtual machine.
    Pod { cluster: TenantClusterName, pod: String, why: String },
    /// A pod on a node that does not answer: it ended with its machine.
    LostPod { cluster: TenantClusterName, pod: String },
    /// A pod of a StatefulSet on a node that does not answer: it is not made anew elsewhere while it may still run.
    StuckPod { cluster: TenantClusterName, pod: String },
    /// A node that was not drained.
    Node { cluster: TenantClusterName, node: String, why: String },
    /// A virtual machine that was not seen to stop.
    Vm { vm: String, why: String },
    /// A virtual machine that ended with its machine.
    LostVm { vm: String },
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Leftover::Pod { cluster, pod, why } => write!(f, "pod `{pod}` of `{cluster}` ({why})"),
            Leftover::LostPod { cluster, pod } => write!(f, "pod `{pod}` of `{cluster}` was lost with the machine"),
            Leftover::StuckPod { cluster, pod } => write!(f, "pod `{pod}` of `{cluster}` is stuck on a node that does not answer"),
            Leftover::Node { cluster, node, why } => write!(f, "node `{node}` of `{cluster}` was not drained ({why})"),
            Leftover::Vm { vm, why } => write!(f, "virtual machine `{vm}` ({why})"),
            Leftover::LostVm { vm } => write!(f, "virtual machine `{vm}` was lost with the machine"),
        }
    }
}
