//! `detailedStatus`, `powerState` and their message, as people read them. Only what was seen, and of a machine that answers.

use std::fmt;

use model::{Action, Machine, Operation, Power, Readiness, Vm, VmProvisioning, VmSeen, VmState};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VmStatusWords {
    pub detailed: VmDetail,
    pub power: VmPower,
    pub message: String,
}

/// `detailedStatus` of a virtual machine, and of a tenant cluster's node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VmDetail {
    Available,
    Error,
    Provisioning,
    Running,
    Scheduling,
    Stopped,
    Terminating,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VmPower {
    On,
    Off,
    Unknown,
}

impl fmt::Display for VmDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl fmt::Display for VmPower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl VmStatusWords {
    pub(crate) fn new(detailed: VmDetail, power: VmPower, message: impl Into<String>) -> Self {
        VmStatusWords { detailed, power, message: message.into() }
    }
}

/// Of a virtual machine; `machine` is the one that it is on, `running` the operation that is at work on it.
pub fn vm_status(vm: &Vm, machine: Option<&Machine>, running: Option<&Operation>) -> VmStatusWords {
    if running.is_some_and(|running| running.action == Action::Delete) {
        return VmStatusWords::new(VmDetail::Terminating, power_of(vm), "The virtual machine is being deleted");
    }
    let Some(seen) = vm.last_seen.as_ref().map(|seen| &seen.what) else { return unseen(vm.provisioning) };
    // One that waits for a place is on no machine, wherever it was before.
    if seen.has_instance()
        && seen.node().is_some()
        && let Some(silent) = machine.filter(|machine| is_silent(machine))
    {
        let message = format!("Machine {}; the virtual machine was last seen {}", trouble_of(silent), seen.state.in_words());
        return VmStatusWords::new(VmDetail::Unknown, VmPower::Unknown, message);
    }
    words_of_state(seen.state, seen.has_instance(), seen.message.as_deref())
}

fn power_of(vm: &Vm) -> VmPower {
    match vm.last_seen.as_ref().map(|seen| &seen.what) {
        Some(seen) if seen.has_instance() => VmPower::On,
        Some(VmSeen { state: VmState::Unknown, .. }) => VmPower::Unknown,
        _ => VmPower::Off,
    }
}

fn unseen(provisioning: VmProvisioning) -> VmStatusWords {
    match provisioning {
        VmProvisioning::Accepted | VmProvisioning::Provisioning => {
            VmStatusWords::new(VmDetail::Provisioning, VmPower::Off, "The virtual machine is being created")
        }
        VmProvisioning::Failed => {
            VmStatusWords::new(VmDetail::Error, VmPower::Off, "The creation of the virtual machine failed; there is none")
        }
        VmProvisioning::Canceled => {
            VmStatusWords::new(VmDetail::Error, VmPower::Off, "The creation of the virtual machine was cancelled; there is none")
        }
        VmProvisioning::Succeeded => VmStatusWords::new(VmDetail::Unknown, VmPower::Unknown, "The virtual machine has not been seen yet"),
    }
}

/// What KubeVirt says, in the words of the public model. Its own words stand behind where something is wrong.
pub(crate) fn words_of_state(state: VmState, has_instance: bool, own_words: Option<&str>) -> VmStatusWords {
    let power = if has_instance { VmPower::On } else { VmPower::Off };
    let because = own_words.map(|words| format!(": {words}")).unwrap_or_default();
    let (detailed, power, message) = match state {
        VmState::Stopped => (VmDetail::Stopped, VmPower::Off, "The virtual machine is stopped".to_owned()),
        VmState::Provisioning => (VmDetail::Provisioning, VmPower::Off, "The disks of the virtual machine are being made".to_owned()),
        VmState::Starting => (VmDetail::Scheduling, VmPower::Off, "The virtual machine is being started".to_owned()),
        VmState::Running => (VmDetail::Running, VmPower::On, "The virtual machine is running".to_owned()),
        VmState::Paused => (VmDetail::Running, VmPower::On, "The virtual machine is paused".to_owned()),
        VmState::Migrating => (VmDetail::Running, VmPower::On, "The virtual machine is moving to another machine".to_owned()),
        VmState::Stopping => (VmDetail::Running, power, "The virtual machine is shutting down".to_owned()),
        VmState::Terminating => (VmDetail::Terminating, power, "The virtual machine is being deleted".to_owned()),
        VmState::Unschedulable => (VmDetail::Error, VmPower::Off, format!("No machine can take the virtual machine{because}")),
        VmState::Failing => (VmDetail::Error, power, format!("The virtual machine cannot run{because}")),
        VmState::Unknown => (VmDetail::Unknown, VmPower::Unknown, format!("The state of the virtual machine is not known{because}")),
    };
    VmStatusWords::new(detailed, power, message)
}

/// Whether nobody can know what runs on a machine: its node has fallen silent, or it has gone off since.
pub(crate) fn is_silent(machine: &Machine) -> bool {
    let node = machine.last_seen.node.as_ref().map(|node| &node.what);
    is_off(machine) || node.is_none_or(|node| node.ready == Readiness::Unknown || machine.last_seen.is_of_dead_boot(node))
}

fn is_off(machine: &Machine) -> bool {
    machine.last_seen.power.as_ref().is_some_and(|power| power.what == Power::Off)
}

/// Why nobody can know what runs on it.
pub(crate) fn trouble_of(machine: &Machine) -> String {
    format!("`{}` {}", machine.name, if is_off(machine) { "is off" } else { "does not answer" })
}
