//! Holds: who keeps a machine cordoned, and why. A machine is cordoned while it has at least one.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::name::OperationId;
use crate::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hold {
    pub owner: HoldOwner,
    pub reason: String,
    pub since: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum HoldOwner {
    /// A person cordoned the machine.
    User { caller: String },
    /// A running operation keeps new workloads away while it works.
    Operation { id: OperationId },
    /// A person had the machine emptied; until it is uncordoned nothing comes back.
    Evacuation { by: OperationId, caller: String },
    /// The platform found something wrong with the machine.
    Condition { condition: String },
    /// An upgrade is at work on the machine's rack.
    Upgrade { id: OperationId },
    /// The machine was installed anew, or was to be; it is a person's to say that it may be used again.
    Reinstalled { by: OperationId, caller: String },
    /// The machine was switched off by this operation, and is held until `start` has brought it back.
    PoweredOff { by: OperationId },
}

impl HoldOwner {
    pub fn is_user(&self) -> bool {
        matches!(self, HoldOwner::User { .. })
    }

    pub fn is_operation(&self, id: &OperationId) -> bool {
        matches!(self, HoldOwner::Operation { id: own } if own == id)
    }

    /// Whether a person's uncordon releases it: what a person, or a condition, holds. What something at work holds is its own to
    /// release.
    pub fn is_a_persons_to_release(&self) -> bool {
        matches!(self, HoldOwner::User { .. } | HoldOwner::Evacuation { .. } | HoldOwner::Condition { .. } | HoldOwner::Reinstalled { .. })
    }

    /// The stable name of its kind, for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            HoldOwner::User { .. } => "user",
            HoldOwner::Operation { .. } => "operation",
            HoldOwner::Evacuation { .. } => "evacuation",
            HoldOwner::Condition { .. } => "condition",
            HoldOwner::Upgrade { .. } => "upgrade",
            HoldOwner::Reinstalled { .. } => "reinstalled",
            HoldOwner::PoweredOff { .. } => "poweredOff",
        }
    }

    pub fn is_reinstalled(&self) -> bool {
        matches!(self, HoldOwner::Reinstalled { .. })
    }

    pub fn is_powered_off(&self) -> bool {
        matches!(self, HoldOwner::PoweredOff { .. })
    }
}

impl fmt::Display for HoldOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HoldOwner::User { caller } => write!(f, "{caller}"),
            HoldOwner::Operation { id } => write!(f, "operation {}", id.short()),
            HoldOwner::Evacuation { by, caller } => write!(f, "evacuation by {caller}, operation {}", by.short()),
            HoldOwner::Condition { condition } => write!(f, "condition {condition}"),
            HoldOwner::Upgrade { id } => write!(f, "upgrade {}", id.short()),
            HoldOwner::Reinstalled { by, caller } => write!(f, "installation by {caller}, operation {}", by.short()),
            HoldOwner::PoweredOff { by } => write!(f, "power-off by operation {}", by.short()),
        }
    }
}
