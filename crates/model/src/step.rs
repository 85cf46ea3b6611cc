//! The steps that operations are made of.

use serde::{Deserialize, Serialize};

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
