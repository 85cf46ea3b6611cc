//! Operations and their journals. A journal holds facts only; which step is current is derived from it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::name::{ClusterName, CorrelationId, MachineName, OperationId, RequestKey};
use crate::time::Timestamp;
use crate::wait::Wait;

/// The version of what an operation's document means. A reader that meets a newer one says so and leaves it alone.
pub const OPERATION_FORMAT: u32 = 1;

/// What a person can ask of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Action {
    PowerOff { shutdown: Shutdown },
    Start,
    Restart,
    Cordon { evacuate: Evacuate },
    Uncordon,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
}

impl Action {
    /// One of each kind, as it is asked for by default.
    pub const KINDS: [Action; 5] = [
        Action::PowerOff { shutdown: Shutdown::Graceful },
        Action::Start,
        Action::Restart,
        Action::Cordon { evacuate: Evacuate::No },
        Action::Uncordon,
    ];

    /// The verb of the ARM action, and the `actionType` of its state.
    pub fn verb(self) -> &'static str {
        match self {
            Action::PowerOff { .. } => "powerOff",
            Action::Start => "start",
            Action::Restart => "restart",
            Action::Cordon { .. } => "cordon",
            Action::Uncordon => "uncordon",
        }
    }

    /// The same verb as the command line says it.
    pub fn command(self) -> &'static str {
        match self {
            Action::PowerOff { .. } => "power-off",
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
        }
    }

    /// Whether workloads or votes stop while it runs.
    pub fn is_disruptive(self) -> bool {
        match self {
            Action::PowerOff { .. } | Action::Restart | Action::Cordon { evacuate: Evacuate::Yes } => true,
            Action::Start | Action::Uncordon | Action::Cordon { evacuate: Evacuate::No } => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    pub format: u32,
    pub id: OperationId,
    pub cluster: ClusterName,
    pub machine: MachineName,
    pub action: Action,
    pub caller: String,
    pub correlation_id: CorrelationId,
    /// Finds this operation again when the same request is sent twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_key: Option<RequestKey>,
    pub accepted_at: Timestamp,
    pub deadline_at: Timestamp,
    #[serde(default)]
    pub journal: Vec<Entry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Cancel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// What it waits for now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cancel {
    pub by: String,
    pub at: Timestamp,
}

/// One fact, and when it became one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub at: Timestamp,
    pub fact: Fact,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Fact {
    /// What the operation found before it touched anything: the boot its node was running.
    Found { boot_id: Option<String> },
    /// A keeper took the operation up again after a restart. What was left of its time is counted from here.
    Resumed,
    /// A device is about to be asked. Written before it is asked.
    Asked { ask: DeviceAsk, attempt: u32 },
    /// The device's answer to an ask was a fault.
    Faulted { ask: DeviceAsk, attempt: u32, fault: Fault },
    /// A step's effect was seen on the device.
    Seen { step: StepKind },
    /// A step was left out, and why. The operation went on without it.
    Skipped { step: StepKind, reason: String },
}

/// What a device can be asked on behalf of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeviceAsk {
    GracefulOff,
    ForceOff,
    PowerOn,
    Cordon,
    Uncordon,
}

/// The steps that operations are made of. Each ends when its effect is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StepKind {
    Cordon,
    PowerOff,
    PowerOn,
    Rejoin,
    Uncordon,
}

impl StepKind {
    /// `stepName`, as `actionStates` shows it.
    pub fn title(self) -> &'static str {
        match self {
            StepKind::Cordon => "Cordon",
            StepKind::PowerOff => "Power Off",
            StepKind::PowerOn => "Power On",
            StepKind::Rejoin => "Rejoin",
            StepKind::Uncordon => "Uncordon",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    pub at: Timestamp,
    pub result: OperationResult,
    pub message: String,
    /// What a person should type next, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OperationResult {
    Succeeded,
    Failed,
    Canceled,
}

impl OperationResult {
    pub const ALL: [OperationResult; 3] = [OperationResult::Succeeded, OperationResult::Failed, OperationResult::Canceled];
}

/// Why an operation failed: a code that somebody would act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// The action's time was up.
    DeadlineExceeded,
    /// The device says that it cannot do this at all.
    DeviceUnsupported,
    /// The device has no such machine or node any more.
    DeviceMissing,
}

impl Operation {
    pub fn is_running(&self) -> bool {
        self.ended.is_none()
    }

    /// When a step's effect was seen, or the step was left out.
    pub fn done_at(&self, step: StepKind) -> Option<Timestamp> {
        self.journal.iter().find_map(|entry| match &entry.fact {
            Fact::Seen { step: done } | Fact::Skipped { step: done, .. } if *done == step => Some(entry.at),
            _ => None,
        })
    }

    pub fn was_seen(&self, step: StepKind) -> bool {
        self.journal.iter().any(|entry| matches!(&entry.fact, Fact::Seen { step: seen } if *seen == step))
    }

    pub fn skip_reason(&self, step: StepKind) -> Option<&str> {
        self.journal.iter().find_map(|entry| match &entry.fact {
            Fact::Skipped { step: skipped, reason } if *skipped == step => Some(reason.as_str()),
            _ => None,
        })
    }

    /// The latest time this was asked, and which attempt that was.
    pub fn last_asked(&self, ask: DeviceAsk) -> Option<(Timestamp, u32)> {
        self.journal.iter().rev().find_map(|entry| match &entry.fact {
            Fact::Asked { ask: asked, attempt } if *asked == ask => Some((entry.at, *attempt)),
            _ => None,
        })
    }

    /// When this was asked for the first time.
    pub fn first_asked_at(&self, ask: DeviceAsk) -> Option<Timestamp> {
        self.journal.iter().find_map(|entry| match &entry.fact {
            Fact::Asked { ask: asked, .. } if *asked == ask => Some(entry.at),
            _ => None,
        })
    }

    /// The fault with which this attempt was answered, if it was.
    pub fn fault_of(&self, ask: DeviceAsk, attempt: u32) -> Option<(Timestamp, &Fault)> {
        self.journal.iter().rev().find_map(|entry| match &entry.fact {
            Fact::Faulted { ask: asked, attempt: tried, fault } if *asked == ask && *tried == attempt => Some((entry.at, fault)),
            _ => None,
        })
    }

    /// The boot that the node was running before its power was touched; the latest word counts.
    pub fn found_boot_id(&self) -> Option<&str> {
        let found = self.journal.iter().rev().find_map(|entry| match &entry.fact {
            Fact::Found { boot_id } => Some(boot_id.as_deref()),
            _ => None,
        });
        found.flatten()
    }
}

impl fmt::Display for DeviceAsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceAsk::GracefulOff => "graceful shutdown",
            DeviceAsk::ForceOff => "forced power-off",
            DeviceAsk::PowerOn => "power-on",
            DeviceAsk::Cordon => "cordon",
            DeviceAsk::Uncordon => "uncordon",
        })
    }
}

impl fmt::Display for OperationResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OperationResult::Succeeded => "Succeeded",
            OperationResult::Failed => "Failed",
            OperationResult::Canceled => "Canceled",
        })
    }
}
