//! Actions: what a person can ask for that becomes an operation.

use serde::{Deserialize, Serialize};

use crate::replacement::{Safeguard, StoragePolicy};

/// What a person can ask of a machine, or of a tenant's virtual machine or node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Action {
    PowerOff {
        shutdown: Shutdown,
    },
    Start,
    Restart,
    Cordon {
        evacuate: Evacuate,
    },
    Uncordon,
    /// The operating system's disk is made anew from the image.
    Reimage {
        /// Of a machine.
        #[serde(default)]
        safeguard: Safeguard,
    },
    /// Of a machine whose hardware was repaired or exchanged.
    Replace {
        storage: StoragePolicy,
        safeguard: Safeguard,
    },
    /// Of a machine: its hardware is compared with what it should be.
    Validate,
    /// Of a whole site: the same for its machines.
    Inspect,
    /// Of a virtual machine.
    Create,
    /// Of a virtual machine.
    Delete,
    /// Of a tenant cluster's node: its virtual machine is stopped without a shutdown and started again.
    RestartNode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Shutdown {
    Graceful,
    Skip,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Evacuate {
    No,
    Yes,
    /// As `Yes`; and where nodes are proven to be down, their pods are let go so that they move.
    Forced,
}

impl Action {
    /// One of each kind that machines know, as it is asked for by default.
    pub const KINDS: [Action; 8] = [
        Action::PowerOff { shutdown: Shutdown::Graceful },
        Action::Start,
        Action::Restart,
        Action::Cordon { evacuate: Evacuate::No },
        Action::Uncordon,
        Action::Reimage { safeguard: Safeguard::All },
        Action::Replace { storage: StoragePolicy::DiscardAll, safeguard: Safeguard::All },
        Action::Validate,
    ];

    /// The verb of the ARM action, and the `actionType` of its state.
    pub fn verb(self) -> &'static str {
        match self {
            Action::PowerOff { .. } => "powerOff",
            Action::Start => "start",
            Action::Restart => "restart",
            Action::Cordon { .. } => "cordon",
            Action::Uncordon => "uncordon",
            Action::Reimage { .. } => "reimage",
            Action::Replace { .. } => "replace",
            Action::Validate => "validateHardware",
            Action::Inspect => "inspect",
            Action::Create => "write",
            Action::Delete => "delete",
            Action::RestartNode => "restartNode",
        }
    }

    /// The same verb as the command line says it.
    pub fn command(self) -> &'static str {
        match self {
            Action::PowerOff { .. } => "power-off",
            Action::Create => "create",
            Action::RestartNode => "restart-node",
            Action::Validate => "validate",
            other => other.verb(),
        }
    }

    /// `rack1kcp01 cannot be powered off`.
    pub fn participle(self) -> &'static str {
        match self {
            Action::PowerOff { .. } => "powered off",
            Action::Start => "started",
            Action::Restart => "restarted",
            Action::Cordon { .. } => "cordoned",
            Action::Uncordon => "uncordoned",
            Action::Reimage { .. } => "reimaged",
            Action::Replace { .. } => "replaced",
            Action::Validate => "validated",
            Action::Inspect => "inspected",
            Action::Create => "created",
            Action::Delete => "deleted",
            Action::RestartNode => "restarted",
        }
    }

    /// Whether workloads or votes stop while it runs.
    pub fn is_disruptive(self) -> bool {
        match self {
            Action::PowerOff { .. }
            | Action::Restart
            | Action::Cordon { evacuate: Evacuate::Yes | Evacuate::Forced }
            | Action::Reimage { .. }
            | Action::Replace { .. }
            | Action::Delete
            | Action::RestartNode => true,
            Action::Start
            | Action::Uncordon
            | Action::Create
            | Action::Cordon { evacuate: Evacuate::No }
            | Action::Validate
            | Action::Inspect => false,
        }
    }
}
