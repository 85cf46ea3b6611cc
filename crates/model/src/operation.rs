//! Operations and their journals. A journal holds facts only; which step is current is derived from it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::errand::Errand;
use crate::etcd::EtcdMember;
use crate::evacuation::Leftover;
use crate::fault::Fault;
use crate::install::{BootWay, MachineReport, OsTarget};
use crate::machine::Provisioning;
use crate::name::{ClusterName, CorrelationId, MachineName, OperationId, RequestKey, TenantClusterName, VmName};
use crate::observation::PowerRequest;
use crate::replacement::Replacement;
use crate::runtime::{Digest, RuntimeVersion};
use crate::time::Timestamp;
use crate::validation::ValidationResult;
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

/// One fact, and when it became one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub at: Timestamp,
    pub fact: Fact,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Fact {
    /// What the operation found before it touched anything: the boot its node was running; and, where the machine is to be installed,
    /// the state that it goes back to if nothing of it is undone.
    Found {
        boot_id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provisioning: Option<Provisioning>,
    },
    /// Whoever asked for it was warned, and it was accepted all the same.
    Warned {
        words: String,
    },
    /// A keeper took the operation up again after a restart. What was left of its time is counted from here.
    Resumed,
    /// A device is about to be asked. Written before it is asked.
    Asked {
        ask: DeviceAsk,
        attempt: u32,
    },
    /// The device's answer to an ask was a fault.
    Faulted {
        ask: DeviceAsk,
        attempt: u32,
        fault: Fault,
    },
    /// A step's effect was seen on the device.
    Seen {
        step: StepKind,
    },
    /// A step was left out, and why. The operation went on without it.
    Skipped {
        step: StepKind,
        reason: String,
    },
    /// There are workloads on the machine, or may be while nobody can tell: from here on emptying it is part of the operation.
    Evacuating,
    /// Workloads of before wait to come back: from here on that is part of the operation.
    Returning,
    /// Pods of this node are about to be evicted, again and again until they are gone. Written before the first is.
    Draining {
        cluster: TenantClusterName,
        node: String,
    },
    /// Something other than an eviction is about to be asked for. Written before it is.
    ErrandAsked {
        errand: Errand,
        attempt: u32,
    },
    ErrandFaulted {
        errand: Errand,
        attempt: u32,
        fault: Fault,
    },
    /// A disruption budget keeps a pod on its node: the first time that it says so.
    Kept {
        cluster: TenantClusterName,
        pod: String,
        why: String,
    },
    /// The operation goes on without this.
    Left {
        what: Leftover,
    },
    /// This member of etcd is about to be removed, because its machine is to be wiped. Written before it is asked.
    LeavingEtcd {
        member: EtcdMember,
        /// Those that stay: the machine finds them again by them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<EtcdMember>,
    },
    /// Etcd has no member of the machine, such as after an installation that failed: how it becomes one with its new system.
    OutOfEtcd {
        peer_url: String,
        /// Those that there are.
        others: Vec<EtcdMember>,
    },
    /// The disk that the system goes to, as it was found before anything was touched.
    SystemDisk {
        disk: OsTarget,
    },
    /// An installation begins: from here on its tokens are good, and those of the round before are not.
    Installing {
        round: u32,
        way: BootWay,
        version: RuntimeVersion,
        image: Digest,
    },
    /// The machine that is being installed told this of itself.
    Reported {
        round: u32,
        report: MachineReport,
    },
    /// The installation is given up, and its machine, which may be set to start the agent, is cleaned up before the operation ends so.
    /// From here on its tokens are not good any more.
    CleaningUp {
        during: StepKind,
        /// Nothing if somebody cancelled it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
        because: String,
    },
    /// This volume is about to be deleted. Written before it is asked.
    Discarding {
        path: String,
        name: String,
    },
    /// These machines of the site are validated; those that are left out are named with the reason.
    Inspecting {
        machines: Vec<MachineName>,
        left_out: Vec<String>,
    },
    /// What the inspection of a site came to.
    Inspected {
        passed: usize,
        failed: Vec<MachineName>,
        /// Those that could not be validated.
        unknown: Vec<MachineName>,
    },
    /// Hardware validation came to this.
    Validated {
        result: ValidationResult,
        /// What failed, in one line each.
        failures: Vec<String>,
    },
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
    /// Members of the undercloud's etcd.
    LeaveEtcd,
    JoinEtcd,
    PromoteEtcd,
    /// The token by which a node joins the undercloud.
    MintJoinToken,
    DropJoinToken,
    /// Virtual media, and what the machine starts from.
    InsertMedia,
    EjectMedia,
    BootFromMedia,
    BootFromHttp,
    BootFromPxe,
    BootFromDisk,
    /// Power, in the course of an installation.
    AgentOn,
    AgentOff,
    SystemOn,
    /// The controller's volumes.
    DeleteVolume,
    MakeOsVolume,
    /// Accounts of the BMC, for users of key sets.
    WriteAccount,
    DropAccount,
}

/// Who a device ask goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Party {
    Bmc,
    /// The undercloud's Kubernetes API.
    Undercloud,
    /// The undercloud's etcd.
    Etcd,
}

impl DeviceAsk {
    pub const ALL: [DeviceAsk; 23] = [
        DeviceAsk::GracefulOff,
        DeviceAsk::ForceOff,
        DeviceAsk::PowerOn,
        DeviceAsk::Cordon,
        DeviceAsk::Uncordon,
        DeviceAsk::LeaveEtcd,
        DeviceAsk::JoinEtcd,
        DeviceAsk::PromoteEtcd,
        DeviceAsk::MintJoinToken,
        DeviceAsk::DropJoinToken,
        DeviceAsk::InsertMedia,
        DeviceAsk::EjectMedia,
        DeviceAsk::BootFromMedia,
        DeviceAsk::BootFromHttp,
        DeviceAsk::BootFromPxe,
        DeviceAsk::BootFromDisk,
        DeviceAsk::AgentOn,
        DeviceAsk::AgentOff,
        DeviceAsk::SystemOn,
        DeviceAsk::DeleteVolume,
        DeviceAsk::MakeOsVolume,
        DeviceAsk::WriteAccount,
        DeviceAsk::DropAccount,
    ];

    pub fn party(self) -> Party {
        match self {
            DeviceAsk::Cordon | DeviceAsk::Uncordon | DeviceAsk::MintJoinToken | DeviceAsk::DropJoinToken => Party::Undercloud,
            DeviceAsk::LeaveEtcd | DeviceAsk::JoinEtcd | DeviceAsk::PromoteEtcd => Party::Etcd,
            DeviceAsk::GracefulOff
            | DeviceAsk::ForceOff
            | DeviceAsk::PowerOn
            | DeviceAsk::InsertMedia
            | DeviceAsk::EjectMedia
            | DeviceAsk::BootFromMedia
            | DeviceAsk::BootFromHttp
            | DeviceAsk::BootFromPxe
            | DeviceAsk::BootFromDisk
            | DeviceAsk::AgentOn
            | DeviceAsk::AgentOff
            | DeviceAsk::SystemOn
            | DeviceAsk::DeleteVolume
            | DeviceAsk::MakeOsVolume
            | DeviceAsk::WriteAccount
            | DeviceAsk::DropAccount => Party::Bmc,
        }
    }

    /// What it asks of the power, if anything.
    pub fn power(self) -> Option<PowerRequest> {
        match self {
            DeviceAsk::GracefulOff => Some(PowerRequest::GracefulOff),
            DeviceAsk::ForceOff | DeviceAsk::AgentOff => Some(PowerRequest::ForceOff),
            DeviceAsk::PowerOn | DeviceAsk::AgentOn | DeviceAsk::SystemOn => Some(PowerRequest::On),
            _ => None,
        }
    }
}

/// The steps that operations are made of. Each ends when its effect is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StepKind {
    Cordon,
    /// Keeps pods away from the tenant nodes on the machine.
    CordonTenants,
    Drain,
    StopVms,
    PowerOff,
    PowerOn,
    Rejoin,
    Uncordon,
    StartVms,
    UncordonTenants,
    /// Of one virtual machine.
    Create,
    Stop,
    DiscardOsDisk,
    Start,
    Delete,
    /// Of the installation of a machine. Several of them make one step that people are shown.
    Survey,
    LeaveEtcd,
    Login,
    ValidateHardware,
    AwaitOff,
    DiscardVolumes,
    MakeOsVolume,
    MintJoinToken,
    JoinEtcd,
    InsertMedia,
    BootAgent,
    AgentOn,
    WriteImage,
    AgentOff,
    EjectMedia,
    BootDisk,
    SystemOn,
    PhoneHome,
    PromoteEtcd,
    DropJoinToken,
    /// Of a whole site: each machine's validation.
    InspectMachines,
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
            StepKind::CordonTenants => "Cordon Tenant Nodes",
            StepKind::Drain => "Drain",
            StepKind::StopVms => "Stop Virtual Machines",
            StepKind::StartVms => "Start Virtual Machines",
            StepKind::UncordonTenants => "Uncordon Tenant Nodes",
            StepKind::Create => "Create",
            StepKind::Stop => "Stop",
            StepKind::DiscardOsDisk => "Discard OS Disk",
            StepKind::Start => "Start",
            StepKind::Delete => "Delete",
            StepKind::Survey => "Survey",
            StepKind::LeaveEtcd => "Leave etcd",
            StepKind::Login => "BMC Login",
            StepKind::ValidateHardware | StepKind::InspectMachines => "Hardware Validation",
            StepKind::AwaitOff => "Wait for Deprovisioning",
            StepKind::DiscardVolumes => "Discard Volumes",
            StepKind::MakeOsVolume => "Make OS Volume",
            StepKind::MintJoinToken => "Mint Join Token",
            StepKind::JoinEtcd => "Join etcd",
            StepKind::InsertMedia => "Insert Media",
            StepKind::BootAgent => "Boot Agent",
            StepKind::AgentOn => "Agent On",
            StepKind::WriteImage => "Write Image",
            StepKind::AgentOff => "Agent Off",
            StepKind::EjectMedia => "Eject Media",
            StepKind::BootDisk => "Boot Disk",
            StepKind::SystemOn => "System On",
            StepKind::PhoneHome => "Phone Home",
            StepKind::PromoteEtcd => "Promote in etcd",
            StepKind::DropJoinToken => "Drop Join Token",
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

    /// The disk that the system goes to, once it is settled.
    pub fn system_disk(&self) -> Option<&OsTarget> {
        self.journal.iter().rev().find_map(|entry| if let Fact::SystemDisk { disk } = &entry.fact { Some(disk) } else { None })
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

impl fmt::Display for DeviceAsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceAsk::GracefulOff => "graceful shutdown",
            DeviceAsk::ForceOff => "forced power-off",
            DeviceAsk::PowerOn => "power-on",
            DeviceAsk::Cordon => "cordon",
            DeviceAsk::Uncordon => "uncordon",
            DeviceAsk::LeaveEtcd => "removal from etcd",
            DeviceAsk::JoinEtcd => "addition to etcd",
            DeviceAsk::PromoteEtcd => "promotion in etcd",
            DeviceAsk::MintJoinToken => "join token",
            DeviceAsk::DropJoinToken => "removal of the join token",
            DeviceAsk::InsertMedia => "insertion of the agent's image",
            DeviceAsk::EjectMedia => "ejection of the agent's image",
            DeviceAsk::BootFromMedia => "boot from virtual media",
            DeviceAsk::BootFromHttp => "boot over HTTP",
            DeviceAsk::BootFromPxe => "boot over PXE",
            DeviceAsk::BootFromDisk => "boot from disk",
            DeviceAsk::AgentOn => "power-on for the agent",
            DeviceAsk::AgentOff => "power-off after the agent",
            DeviceAsk::SystemOn => "power-on of the new system",
            DeviceAsk::DeleteVolume => "deletion of a volume",
            DeviceAsk::MakeOsVolume => "making of the OS volume",
            DeviceAsk::WriteAccount => "account for a user",
            DeviceAsk::DropAccount => "removal of a user's account",
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
