//! Reimage and replace: a machine is taken down, gets an operating system, and joins again.
//!
//! What people are shown as one step is several here, each with one effect that is looked for: [`phase_of`] tells which belong
//! together.

use model::{
    Action, Attempt, Bundle, Failure, Machine, MachineName, MachineReport, Operation, RackName, Refusal, Request, RuntimeVersion, StepKind,
    Timestamp, Verdict,
};

use crate::draft::Draft;
use crate::operate::{Bench, Finding};

/// The steps of a reimage.
pub(crate) const REIMAGE: [StepKind; 17] = [
    StepKind::Survey,
    StepKind::Cordon,
    StepKind::LeaveEtcd,
    StepKind::PowerOff,
    StepKind::MintJoinToken,
    StepKind::InsertMedia,
    StepKind::BootAgent,
    StepKind::AgentOn,
    StepKind::WriteImage,
    StepKind::AgentOff,
    StepKind::EjectMedia,
    StepKind::BootDisk,
    StepKind::JoinEtcd,
    StepKind::SystemOn,
    StepKind::PhoneHome,
    StepKind::Rejoin,
    StepKind::PromoteEtcd,
];

/// The steps of a replace.
pub(crate) const REPLACE: [StepKind; 22] = [
    StepKind::Survey,
    StepKind::Cordon,
    StepKind::LeaveEtcd,
    StepKind::Login,
    StepKind::ValidateHardware,
    StepKind::PowerOff,
    StepKind::AwaitOff,
    StepKind::DiscardVolumes,
    StepKind::MakeOsVolume,
    StepKind::MintJoinToken,
    StepKind::InsertMedia,
    StepKind::BootAgent,
    StepKind::AgentOn,
    StepKind::WriteImage,
    StepKind::AgentOff,
    StepKind::EjectMedia,
    StepKind::BootDisk,
    StepKind::JoinEtcd,
    StepKind::SystemOn,
    StepKind::PhoneHome,
    StepKind::Rejoin,
    StepKind::PromoteEtcd,
];

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
    if !matches!(action, Action::Reimage { .. } | Action::Replace { .. }) {
        return None;
    }
    match step {
        StepKind::Survey | StepKind::Cordon | StepKind::LeaveEtcd => Some(Phase::Deprovisioning),
        StepKind::PowerOff if matches!(action, Action::Reimage { .. }) => Some(Phase::Deprovisioning),
        StepKind::Login | StepKind::ValidateHardware => Some(Phase::HardwareValidation),
        StepKind::PowerOff | StepKind::AwaitOff => Some(Phase::WaitForDeprovisioning),
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

pub(crate) fn examine(_bench: &Bench<'_>, step: StepKind) -> Finding {
    Finding::Fail { failure: Failure::InstallFailed, because: format!("{} is not built yet", step.title()) }
}

/// What changes about the machine in the same commit as the acceptance.
pub(crate) fn prepare(_machine: &mut Machine, _operation: &Operation, _now: Timestamp) {}

/// What a machine that is being installed tells of itself.
pub(crate) fn report(_draft: &mut Draft, _attempt: &Attempt, _report: &MachineReport, _now: Timestamp) -> Result<(), Refusal> {
    Ok(())
}

pub(crate) fn import_runtime(_draft: &mut Draft, _bundle: &Bundle) -> Result<(), Refusal> {
    Ok(())
}

pub(crate) fn forget_runtime(_draft: &mut Draft, _version: RuntimeVersion) -> Result<(), Refusal> {
    Ok(())
}

pub(crate) fn inspect(
    _draft: &mut Draft,
    _request: &Request,
    _machines: &[MachineName],
    _racks: &[RackName],
    _now: Timestamp,
) -> Result<Verdict, Refusal> {
    Ok(Verdict::Done)
}
