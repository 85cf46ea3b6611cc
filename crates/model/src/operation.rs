//! Operations and their journals. A journal holds facts only; which step is current is derived from it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::device_ask::DeviceAsk;
use crate::errand::Errand;
use crate::etcd::EtcdMember;
use crate::evacuation::Leftover;
use crate::fault::{Delivery, Fault};
use crate::install::{Installing, OsTarget};
use crate::journal::{Entry, Fact};
use crate::machine::Provisioning;
use crate::name::{ClusterName, CorrelationId, MachineName, OperationId, RequestKey, TenantClusterName, VmName};
use crate::replacement::Replacement;
use crate::step::StepKind;
use crate::time::Timestamp;
use crate::wait::Wait;

/// The version of what an operation's document means. A reader that meets a newer one says so and leaves it alone.
pub const OPERATION_FORMAT: u32 = 1;

/// What an operation is at work on. There is at most one operation at work on each.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Target {
    #[serde(rename = "machine")]
    Machine(MachineName),
    #[serde(rename = "virtualMachine")]
    Vm(VmName),
    #[serde(rename = "tenantNode")]
    TenantNode { cluster: TenantClusterName, node: String },
    /// The whole site, named by its cluster.
    #[serde(rename = "site")]
    Site(ClusterName),
}

impl Target {
    pub fn machine(&self) -> Option<&MachineName> {
        if let Target::Machine(name) = self { Some(name) } else { None }
    }

    pub fn vm(&self) -> Option<&VmName> {
        if let Target::Vm(name) = self { Some(name) } else { None }
    }

    /// Its name as people say it.
    pub fn name(&self) -> &str {
        match self {
            Target::Machine(name) => name.as_str(),
            Target::Vm(name) => name.as_str(),
            Target::TenantNode { node, .. } => node,
            Target::Site(name) => name.as_str(),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    pub format: u32,
    pub id: OperationId,
    pub cluster: ClusterName,
    /// A document of before there were others says `machine`, and so does one of a machine now.
    #[serde(flatten)]
    pub target: Target,
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
    /// Of a replace: the hardware that stands in the slot now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement: Option<Box<Replacement>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cancel {
    pub by: String,
    pub at: Timestamp,
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
    /// A disruption budget did not let pods go, and the drain policy is not to go on against one.
    HeldByBudget,
    /// The virtual machine cannot run, or no machine can take it.
    VmFailed,
    /// The operating system could not be installed; the message says why.
    InstallFailed,
    /// The hardware is not what it should be.
    ValidationFailed,
    /// The BMC does not accept the login that it was to have.
    BmcLoginFailed,
    /// The controller's volumes could not be discarded, or the new one not made.
    StorageFailed,
    /// The member of etcd could not be removed, added or promoted.
    EtcdFailed,
}

impl Operation {
    pub fn is_running(&self) -> bool {
        self.ended.is_none()
    }

    /// The machine that it is at work on, if it is one.
    pub fn machine(&self) -> Option<&MachineName> {
        self.target.machine()
    }

    /// The latest time this errand was asked for, and which attempt that was.
    pub fn errand_asked(&self, errand: &Errand) -> Option<(Timestamp, u32)> {
        self.journal.iter().rev().find_map(|entry| match &entry.fact {
            Fact::ErrandAsked { errand: asked, attempt } if asked == errand => Some((entry.at, *attempt)),
            _ => None,
        })
    }

    /// The fault with which this attempt at an errand was answered, if it was.
    pub fn errand_fault(&self, errand: &Errand, attempt: u32) -> Option<(Timestamp, &Fault)> {
        self.journal.iter().rev().find_map(|entry| match &entry.fact {
            Fact::ErrandFaulted { errand: asked, attempt: tried, fault } if asked == errand && *tried == attempt => Some((entry.at, fault)),
            _ => None,
        })
    }

    /// What it went on without.
    pub fn leftovers(&self) -> impl Iterator<Item = &Leftover> {
        self.journal.iter().filter_map(|entry| if let Fact::Left { what } = &entry.fact { Some(what) } else { None })
    }

    /// What whoever asked for it should know.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.journal.iter().filter_map(|entry| if let Fact::Warned { words } = &entry.fact { Some(words.as_str()) } else { None })
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

    /// Whether this attempt at an ask certainly had no effect.
    pub fn was_refused(&self, ask: DeviceAsk, attempt: u32) -> bool {
        self.fault_of(ask, attempt).is_some_and(|(_, fault)| fault.delivery == Delivery::No)
    }

    /// The latest attempt to install the machine; those before it are over.
    pub fn installing(&self) -> Option<Installing<'_>> {
        self.journal.iter().rev().find_map(|entry| match &entry.fact {
            Fact::Installing { round, way, version, image, network } => {
                let (round, way, version, network) = (*round, *way, *version, network.as_ref());
                Some(Installing { round, way, version, image, network, began_at: entry.at })
            }
            _ => None,
        })
    }

    /// The disk that the system goes to, once it is settled.
    pub fn system_disk(&self) -> Option<&OsTarget> {
        self.disks().map(|(disk, _)| disk)
    }

    /// The disk that the system goes to, and the data disks that are wiped before; the latest word counts.
    pub fn disks(&self) -> Option<(&OsTarget, &[String])> {
        self.journal.iter().rev().find_map(|entry| match &entry.fact {
            Fact::SystemDisk { disk, wipe } => Some((disk, wipe.as_slice())),
            _ => None,
        })
    }

    /// The attempts that there were, by their numbers.
    pub fn rounds(&self) -> impl Iterator<Item = u32> {
        self.journal.iter().filter_map(|entry| if let Fact::Installing { round, .. } = entry.fact { Some(round) } else { None })
    }

    /// Whether its end is settled, and only its machine is still to be cleaned up.
    pub fn is_cleaning_up(&self) -> bool {
        self.journal.iter().any(|entry| matches!(entry.fact, Fact::CleaningUp { .. }))
    }

    /// How the machine becomes a member of etcd again: the URL by which the others reach it, and those others.
    pub fn etcd_peers(&self) -> Option<(&str, &[EtcdMember])> {
        self.journal.iter().rev().find_map(|entry| match &entry.fact {
            Fact::LeavingEtcd { member, others } => Some((member.peer_urls.first()?.as_str(), others.as_slice())),
            Fact::OutOfEtcd { peer_url, others } => Some((peer_url.as_str(), others.as_slice())),
            _ => None,
        })
    }

    /// The boot that the node was running before its power was touched; the latest word counts.
    pub fn found_boot_id(&self) -> Option<&str> {
        let found = self.journal.iter().rev().find_map(|entry| match &entry.fact {
            Fact::Found { boot_id, .. } => Some(boot_id.as_deref()),
            _ => None,
        });
        found.flatten()
    }

    /// The state that the machine was in when the operation was accepted.
    pub fn found_provisioning(&self) -> Option<Provisioning> {
        self.journal.iter().find_map(|entry| if let Fact::Found { provisioning, .. } = &entry.fact { *provisioning } else { None })
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
