//! Pods as an API server reports them, and what it says to an eviction.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::observation::Readiness;
use crate::resources::Amount;
use crate::selector::LabelSelector;
use crate::time::{Span, Timestamp};

/// One pod and no other: a pod that is made anew under the same name has another uid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodRef {
    pub namespace: String,
    pub name: String,
    pub uid: String,
}

impl fmt::Display for PodRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// A pod with what decides whether and how it can leave its node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodSeen {
    pub pod: PodRef,
    pub phase: PodPhase,
    pub ready: Readiness,
    /// What would make it anew; nothing for a pod that nobody watches over.
    pub owner: Option<PodOwner>,
    /// Whether it only mirrors what its kubelet runs from a file: ending it in the API ends nothing.
    pub is_mirror: bool,
    /// Whether it keeps data on its node that its end would delete.
    pub has_local_storage: bool,
    pub termination: Option<Termination>,
    /// How long it asks for to end.
    pub grace: Span,
    /// The node that it is bound to; nothing while no node has room for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Whether something has to happen before its object may go, although it has ended.
    #[serde(default)]
    pub has_finalizers: bool,
    /// What it asks its node to keep for it.
    #[serde(default)]
    pub requests: Amount,
    #[serde(default)]
    pub labels: Arc<BTreeMap<String, String>>,
    /// What a node must be like for it.
    #[serde(default)]
    pub demands: Arc<PodDemands>,
}

/// What a pod asks of the node that is to run it, beside room.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodDemands {
    /// `nodeSelector`, and required node affinity that is one term of plain equalities: labels that the node must have.
    pub node_labels: BTreeMap<String, String>,
    pub tolerations: Vec<Toleration>,
    /// Required anti-affinity: no pod that the selector means may run where the pod does.
    pub apart_from: Vec<Neighbourhood>,
    /// Required affinity: such a pod must run there already.
    pub together_with: Vec<Neighbourhood>,
    /// Whether it asks for something that is not understood here, so that where it fits cannot be told.
    pub has_more: bool,
}

/// Pods of the same namespace within one value of a node label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Neighbourhood {
    pub selector: LabelSelector,
    /// The label whose value is the place: `kubernetes.io/hostname` for one node.
    pub topology_key: String,
}

/// A taint that a pod bears. What is `None` matches everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Toleration {
    pub key: Option<String>,
    pub value: Option<String>,
    pub effect: Option<String>,
}

/// A disruption budget, as its controller last counted it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetSeen {
    pub namespace: String,
    pub name: String,
    pub selector: LabelSelector,
    /// How many pods may be lost now.
    pub allowed: u32,
    pub healthy: u32,
    pub needed: u32,
    /// Whether its present form has been counted yet; until then no eviction is allowed.
    pub is_counted: bool,
    /// Whether pods that are not ready may go in any case.
    pub spares_unready: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PodPhase {
    Pending,
    Running,
    Succeeded,
    Failed,
    Unknown,
}

/// The controller of a pod, such as `DaemonSet fluentd`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodOwner {
    pub kind: String,
    pub name: String,
}

/// When a pod was told to end, and by when it should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Termination {
    pub since: Timestamp,
    pub until: Timestamp,
}

/// How long a pod is given to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Grace {
    /// As long as it asks for itself.
    Own,
    Within(Span),
}

/// What the API server says to the eviction of one pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EvictionAnswer {
    /// The pod is terminating now, or was already. It has ended only when its uid is gone.
    Accepted,
    AlreadyGone,
    /// A pod of that name is there, and it is not the one that was meant.
    AnotherPod,
    /// A disruption budget does not allow it now.
    Blocked {
        why: String,
        retry_after: Option<Span>,
    },
    /// Several disruption budgets mean the pod: it will not be evicted before a person changes them.
    Misconfigured {
        why: String,
    },
    /// The pod's namespace is being deleted, and the pod with it.
    NamespaceTerminating,
}
