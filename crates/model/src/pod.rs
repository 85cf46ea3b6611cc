//! Pods of the undercloud as its API server reports them, and what it says to an eviction.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::observation::Readiness;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
