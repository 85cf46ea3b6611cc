//! What was seen of a machine, when, and through which eye. Never what is assumed.

use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::time::Timestamp;

/// Power as a BMC reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Power {
    On,
    Off,
    /// Asked to go on, not there yet.
    PoweringOn,
    /// Asked to go off, not there yet.
    PoweringOff,
}

/// What a BMC can be asked to do about power. Restart is not among them: it is off, seen off, on, seen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PowerRequest {
    /// Ask the operating system to shut down.
    GracefulOff,
    ForceOff,
    On,
}

/// A node of the undercloud, as its API server reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeSeen {
    pub name: String,
    pub ready: Readiness,
    pub unschedulable: bool,
    /// Whether the node carries our cordon mark: then the cordon is ours to lift.
    pub cordoned_by_us: bool,
    /// Changes with each boot of the operating system.
    pub boot_id: String,
    pub kubelet_version: String,
    pub os_image: String,
    /// The machine this node runs on, from the label `topology.kubernetes.io/baremetalmachine`; the node's name if the label is absent.
    pub machine: String,
    pub internal_ip: Option<String>,
    /// What an agent on the node has found wrong, one of a kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<NodeProblem>,
}

/// Something wrong with a machine that its node tells, beside being ready or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeProblem {
    pub kind: ProblemKind,
    /// The agent's own words. They may change while the problem stays, as a count does.
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProblemKind {
    ReadOnlyRoot,
    PortDown,
    PortFlapping,
}

impl NodeSeen {
    /// Whether the two say the same of the node, whatever they say of its problems.
    pub fn is_same_node(&self, other: &NodeSeen) -> bool {
        let bare = |node: &NodeSeen| NodeSeen { problems: Vec::new(), ..node.clone() };
        bare(self) == bare(other)
    }

    /// Whether the two have the same problems, in whatever words.
    pub fn has_same_problems(&self, other: &NodeSeen) -> bool {
        let known = |node: &NodeSeen| node.problems.iter().map(|problem| (problem.kind, problem.since)).collect::<Vec<_>>();
        known(self) == known(other)
    }
}

/// The node's `Ready` condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Readiness {
    True,
    False,
    /// Its kubelet has stopped reporting.
    Unknown,
}

/// Something seen, and when it was last seen so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen<T> {
    pub what: T,
    pub at: Timestamp,
}

/// How the line to a device has been lately.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Contact {
    pub answered_at: Option<Timestamp>,
    pub tried_at: Option<Timestamp>,
    /// The fault of the latest try, if it failed.
    pub fault: Option<Fault>,
    /// Failures since the last answer.
    pub failures: u32,
    /// When the present run of failures began.
    pub failing_since: Option<Timestamp>,
}

impl Contact {
    pub fn answered(&mut self, at: Timestamp) {
        *self = Contact { answered_at: Some(at), tried_at: Some(at), ..Contact::default() };
    }

    pub fn failed(&mut self, at: Timestamp, fault: Fault) {
        self.tried_at = Some(at);
        self.fault = Some(fault);
        self.failures = self.failures.saturating_add(1);
        self.failing_since.get_or_insert(at);
    }
}
