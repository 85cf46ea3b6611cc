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

    pub fn is_powered_off(&self) -> bool {
        matches!(self, HoldOwner::PoweredOff { .. })
    }
}

impl fmt::Display for HoldOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HoldOwner::User { caller } => write!(f, "{caller}"),
            HoldOwner::Operation { id } => write!(f, "operation {}", id.short()),
            HoldOwner::PoweredOff { by } => write!(f, "power-off by operation {}", by.short()),
        }
    }
}
