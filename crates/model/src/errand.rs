//! Errands: what the undercloud's KubeVirt and Cluster API, and tenants' own Kubernetes APIs, are asked for.
//!
//! Unlike what a machine's devices are asked, many may be under way for one machine at once. Each is harmless to repeat: it names
//! exactly what it means, and asks for a state.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::action::Shutdown;
use crate::fault::Fault;
use crate::name::{TenantClusterName, VmName};
use crate::pod::{EvictionAnswer, Grace, PodRef};
use crate::time::Timestamp;
use crate::vm::{DiskRef, VmRef};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Errand {
    CordonNode {
        cluster: TenantClusterName,
        node: String,
    },
    UncordonNode {
        cluster: TenantClusterName,
        node: String,
    },
    Evict {
        cluster: TenantClusterName,
        pod: PodRef,
        grace: Grace,
    },
    /// Ends a pod without asking the disruption budgets.
    DeletePod {
        cluster: TenantClusterName,
        pod: PodRef,
        grace: Grace,
    },
    /// Tells Cluster API to leave the node's Machine alone.
    SkipRemediation {
        cluster: TenantClusterName,
        node: String,
    },
    ResumeRemediation {
        cluster: TenantClusterName,
        node: String,
    },
    /// Lets the pods of a node go that is proven to be down.
    MarkOutOfService {
        cluster: TenantClusterName,
        node: String,
    },
    ClearOutOfService {
        cluster: TenantClusterName,
        node: String,
    },
    StopVm {
        vm: VmRef,
        shutdown: Shutdown,
    },
    StartVm {
        vm: VmRef,
    },
    CreateVm {
        vm: VmName,
    },
    DeleteVm {
        vm: VmRef,
    },
    /// Throws exactly this disk with its operating system away; KubeVirt makes it anew from the image.
    DiscardOsDisk {
        vm: VmRef,
        disk: DiskRef,
    },
}

/// What has become of an errand, in the keeper's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrandState {
    pub attempt: u32,
    pub asked_at: Timestamp,
    /// Nothing while it is under way.
    pub answer: Option<ErrandAnswer>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrandAnswer {
    pub at: Timestamp,
    pub outcome: Result<ErrandOutcome, Fault>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrandOutcome {
    /// It was taken. The effect is seen by looking.
    Accepted,
    Eviction(EvictionAnswer),
}

impl Errand {
    /// The tenant cluster whose API is asked; the undercloud's is asked about virtual machines and Machines.
    pub fn asked_of(&self) -> Option<&TenantClusterName> {
        match self {
            Errand::CordonNode { cluster, .. }
            | Errand::UncordonNode { cluster, .. }
            | Errand::Evict { cluster, .. }
            | Errand::DeletePod { cluster, .. }
            | Errand::MarkOutOfService { cluster, .. }
            | Errand::ClearOutOfService { cluster, .. } => Some(cluster),
            Errand::SkipRemediation { .. }
            | Errand::ResumeRemediation { .. }
            | Errand::StopVm { .. }
            | Errand::StartVm { .. }
            | Errand::CreateVm { .. }
            | Errand::DeleteVm { .. }
            | Errand::DiscardOsDisk { .. } => None,
        }
    }

    /// The stable name of its kind, for scripts and meters.
    pub fn code(&self) -> &'static str {
        match self {
            Errand::CordonNode { .. } => "cordonNode",
            Errand::UncordonNode { .. } => "uncordonNode",
            Errand::Evict { .. } => "evict",
            Errand::DeletePod { .. } => "deletePod",
            Errand::SkipRemediation { .. } => "skipRemediation",
            Errand::ResumeRemediation { .. } => "resumeRemediation",
            Errand::MarkOutOfService { .. } => "markOutOfService",
            Errand::ClearOutOfService { .. } => "clearOutOfService",
            Errand::StopVm { .. } => "stopVm",
            Errand::StartVm { .. } => "startVm",
            Errand::CreateVm { .. } => "createVm",
            Errand::DeleteVm { .. } => "deleteVm",
            Errand::DiscardOsDisk { .. } => "discardOsDisk",
        }
    }
}

/// What is asked for, as a person would say it: `the eviction of web/web-1 (naks-01)`.
impl fmt::Display for Errand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Errand::CordonNode { node, .. } => write!(f, "the cordon of node `{node}`"),
            Errand::UncordonNode { node, .. } => write!(f, "the uncordon of node `{node}`"),
            Errand::Evict { cluster, pod, .. } => write!(f, "the eviction of pod `{pod}` of `{cluster}`"),
            Errand::DeletePod { cluster, pod, .. } => write!(f, "the deletion of pod `{pod}` of `{cluster}`"),
            Errand::SkipRemediation { node, .. } => write!(f, "the mark that Cluster API leaves `{node}` alone"),
            Errand::ResumeRemediation { node, .. } => write!(f, "the end of the mark that Cluster API leaves `{node}` alone"),
            Errand::MarkOutOfService { node, .. } => write!(f, "the out-of-service taint of node `{node}`"),
            Errand::ClearOutOfService { node, .. } => write!(f, "the end of the out-of-service taint of node `{node}`"),
            Errand::StopVm { vm, shutdown: Shutdown::Graceful } => write!(f, "the shutdown of `{vm}`"),
            Errand::StopVm { vm, shutdown: Shutdown::Skip } => write!(f, "the forced stop of `{vm}`"),
            Errand::StartVm { vm } => write!(f, "the start of `{vm}`"),
            Errand::CreateVm { vm } => write!(f, "the creation of `{vm}`"),
            Errand::DeleteVm { vm } => write!(f, "the deletion of `{vm}`"),
            Errand::DiscardOsDisk { vm, .. } => write!(f, "the end of the OS disk of `{vm}`"),
        }
    }
}
