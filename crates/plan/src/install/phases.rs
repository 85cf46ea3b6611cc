//! What people are shown of a reimage or a replace: a few phases, each of several steps.

use model::{Action, StepKind};

use super::prepare::installs;

/// What people are shown as one step of a reimage or a replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Deprovisioning,
    HardwareValidation,
    WaitForDeprovisioning,
    Provisioning,
    CloudInit,
}

impl Phase {
    pub fn title(self) -> &'static str {
        match self {
            Phase::Deprovisioning => "Deprovisioning",
            Phase::HardwareValidation => "Hardware Validation",
            Phase::WaitForDeprovisioning => "Wait for Deprovisioning",
            Phase::Provisioning => "Provisioning",
            Phase::CloudInit => "Cloud Init",
        }
    }
}

/// The phase that a step belongs to; nothing for actions without phases, and for the steps that empty a machine, which are shown
/// by themselves.
pub fn phase_of(action: Action, step: StepKind) -> Option<Phase> {
    if !installs(action) {
        return None;
    }
    match step {
        StepKind::Survey | StepKind::Cordon => Some(Phase::Deprovisioning),
        StepKind::LeaveEtcd | StepKind::PowerOff if matches!(action, Action::Reimage { .. }) => Some(Phase::Deprovisioning),
        StepKind::Login | StepKind::ValidateHardware => Some(Phase::HardwareValidation),
        StepKind::LeaveEtcd | StepKind::PowerOff | StepKind::AwaitOff => Some(Phase::WaitForDeprovisioning),
        StepKind::DiscardVolumes
        | StepKind::MakeOsVolume
        | StepKind::MintJoinToken
        | StepKind::InsertMedia
        | StepKind::BootAgent
        | StepKind::AgentOn
        | StepKind::WriteImage
        | StepKind::AgentOff
        | StepKind::EjectMedia
        | StepKind::BootDisk
        | StepKind::JoinEtcd
        | StepKind::SystemOn => Some(Phase::Provisioning),
        StepKind::PhoneHome | StepKind::Rejoin | StepKind::PromoteEtcd | StepKind::DropJoinToken => Some(Phase::CloudInit),
        _ => None,
    }
}
