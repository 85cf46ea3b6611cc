//! A request as it lies in the store between the API that took it and the keeper that judges it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::activity::Sent;
use crate::name::{ClusterName, CorrelationId, MachineName, OperationId, RequestId, RequestKey};
use crate::operation::Action;
use crate::refusal::Refusal;
use crate::time::{Span, Timestamp};

/// A request without a verdict is never executed after this.
///
/// Five seconds is longer than a busy keeper needs, and shorter than a person's patience or a client's own retry.
pub const REQUEST_LIFE: Span = Span::seconds(5);

/// A judged request is swept away after this, if the one who asked has not done so: it crashed.
pub const VERDICT_LIFE: Span = Span::seconds(60);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    pub id: RequestId,
    pub cluster: ClusterName,
    pub ask: Ask,
    pub caller: String,
    pub correlation_id: CorrelationId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<RequestKey>,
    /// How it came, for the activity log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Sent>,
    pub received_at: Timestamp,
    pub expires_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Ask {
    Act {
        machine: MachineName,
        action: Action,
        outage: Outage,
    },
    Cancel {
        operation: OperationId,
    },
    Unmanage {
        machine: MachineName,
        reason: String,
    },
    Manage {
        machine: MachineName,
        reason: String,
    },
    /// Writes what clients can write of a machine. What is `None` stays as it is.
    Update {
        machine: MachineName,
        tags: Option<BTreeMap<String, String>>,
        details: Option<String>,
        #[serde(default)]
        conditions: Conditions,
    },
}

/// Which editions of a machine a write is meant for. They are held against the machine's own in the commit that writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conditions {
    /// The machine must be at one of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Editions>,
    /// The machine must be at none of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<Editions>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Editions {
    /// Whichever there is.
    Any,
    Listed(Vec<u64>),
}

impl Editions {
    pub fn contain(&self, edition: u64) -> bool {
        match self {
            Editions::Any => true,
            Editions::Listed(editions) => editions.contains(&edition),
        }
    }
}

impl Ask {
    /// The machine that it names. Whoever cancels names an operation.
    pub fn machine(&self) -> Option<&MachineName> {
        match self {
            Ask::Act { machine, .. } | Ask::Unmanage { machine, .. } | Ask::Manage { machine, .. } | Ask::Update { machine, .. } => {
                Some(machine)
            }
            Ask::Cancel { .. } => None,
        }
    }

    /// The operation that it names.
    pub fn operation(&self) -> Option<&OperationId> {
        match self {
            Ask::Cancel { operation } => Some(operation),
            Ask::Act { .. } | Ask::Unmanage { .. } | Ask::Manage { .. } | Ask::Update { .. } => None,
        }
    }

    /// The last word of what it is called in the activity log: that of the ARM action.
    pub fn verb(&self) -> &'static str {
        match self {
            Ask::Act { action, .. } => action.verb(),
            Ask::Cancel { .. } => "cancel",
            Ask::Unmanage { .. } => "unmanage",
            Ask::Manage { .. } => "manage",
            Ask::Update { .. } => "write",
        }
    }
}

/// Whether the caller accepts that the control plane goes away: the one exception to the quorum rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outage {
    #[default]
    Refused,
    Accepted,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Verdict {
    /// The operation that carries it out: a new one, or the one that the same request began before.
    Accepted {
        operation: OperationId,
    },
    /// It was done on the spot.
    Done,
    Refused {
        refusal: Refusal,
    },
}
