//! Waits: why nothing is happening, since when, what ends it, and whether it is late.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::device_ask::DeviceAsk;
use crate::errand::Errand;
use crate::fault::{Fault, FaultClass};
use crate::limits::Limits;
use crate::look::LookAt;
use crate::name::{OperationId, TenantClusterName, VmName};
use crate::time::{Span, Timestamp};
use crate::vm::VmState;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wait {
    pub kind: WaitKind,
    pub since: Timestamp,
    /// When it should be over. `None` where only a person can end it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_by: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum WaitKind {
    /// The keeper has just started and has not looked at the device yet; nothing is decided before it has.
    FirstLook { eye: Eye },
    /// The device was asked; its effect has not been seen.
    Effect { of: DeviceAsk, attempt: u32 },
    /// The machine is off, but was asked for it more than once: the other request may still be obeyed, after a power-on.
    LateOff { until: Timestamp },
    /// The machine is powered; its node has not come back.
    Rejoin,
    /// The device does not answer, or refuses. It is tried again by itself, first often, then every `retry_every`: the
    /// moment of the next try would make every failed look a change worth storing.
    Device {
        eye: Eye,
        /// The first of the present run of faults of its class.
        fault: Fault,
        #[serde(rename = "retryEvery", default = "usual_retry")]
        retry_every: Span,
    },
    /// The machine may not be taken down just now: the control plane could not bear it.
    ControlPlane { because: String },
    /// The machine is off because a person switched it off.
    PoweredOff {
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<OperationId>,
    },
    /// The machine is off though it should be on, and nobody is doing anything about it.
    UnexpectedlyOff,
    /// The machine is powered and provisioned, but its node is not ready, and no operation is at work.
    NodeNotReady,
    /// Nothing is sent to the machine until it is managed again.
    Unmanaged,
    /// The site's description no longer names the machine, so there is no way to its BMC.
    Undescribed,
    /// A hold is to be applied to the node, or lifted from it, outside any operation.
    HoldApplied { cordon: bool },
    /// Pods are to leave the tenant nodes on the machine. Those that a budget keeps are named, the first few of them.
    Drain {
        pods: usize,
        kept: Vec<String>,
        /// What evictions are answered with, where that is no budget's doing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Fault>,
    },
    /// No pod is left on the tenant nodes; one that was bound to a node a moment ago may still be listed until then.
    DrainSettles { until: Timestamp },
    /// A tenant cluster's own API does not answer. It is passed over then.
    TenantApi { cluster: TenantClusterName, fault: Fault, until: Option<Timestamp> },
    /// A tenant node does not answer. It is passed over then.
    UnreachableNode { cluster: TenantClusterName, node: String, until: Timestamp },
    /// Virtual machines are to stop; they are forced off then.
    VmsStop { vms: Vec<VmName>, forced_at: Option<Timestamp> },
    /// A virtual machine on the machine is being acted on by its own operation, which ends first; it is forced off then.
    VmBusy { vm: VmName, by: OperationId, until: Timestamp },
    /// Virtual machines that ran before are to run again.
    VmsReturn { vms: Vec<VmName> },
    /// Tenant nodes that were cordoned are to be uncordoned, and ready.
    NodesReturn { nodes: Vec<String> },
    /// Something was asked for; its effect has not been seen.
    ErrandEffect { of: Box<Errand>, attempt: u32 },
    /// A virtual machine is to be in this state.
    VmState { vm: VmName, wanted: VmState },
    /// A look that a decision needs.
    Look { at: LookAt },
    /// The machine is to be switched off, and its BMC has firmware to write.
    FirmwareJob { job: String },
    /// The machine was started to be installed; its agent has not called.
    AgentCall,
    /// The agent has called; it has said that it has written so much of the image.
    Writing { percent: Option<u8> },
    /// The new system was started; it has not said that it runs.
    PhoneHome,
    /// The machine's new member of etcd has not caught up with the others, so it may not vote yet.
    EtcdCatchUp,
    /// So many machines of the site are still to be validated.
    Validations { left: usize },
    /// The machine has no system that could be relied on: its installation failed.
    Uninstalled,
    /// Users of key sets are yet to be made, changed or removed on the BMC.
    Accounts,
    /// A virtual machine is meant to run, and cannot: no machine can take it, or it fails, or its machine does not answer.
    VmHindered { vm: VmName, because: String },
}

/// What must become so for a device to be of use again. One that refuses us answers well enough: people must mend that.
fn mended(eye: Eye, class: FaultClass) -> String {
    match class {
        FaultClass::Unreachable => format!("the {eye} answers"),
        FaultClass::Busy => format!("the {eye} is no longer busy"),
        FaultClass::Denied => format!("the {eye} accepts our credentials, which a person must mend"),
        FaultClass::Untrusted => format!("the {eye} shows a certificate that we trust, which a person must mend"),
        FaultClass::OtherMachine => format!("the {eye}'s address leads to this machine again, which a person must mend"),
        FaultClass::NoLogin => format!("our own login for the {eye} can be read, which a person must mend"),
        FaultClass::Garbled => format!("the {eye} answers in words that make sense"),
        FaultClass::Unsupported | FaultClass::Missing => format!("the {eye} has what it is asked for"),
    }
}

/// For a wait that was stored without it.
fn usual_retry() -> Span {
    Limits::default().last_retry
}

/// Through what a machine is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Eye {
    Bmc,
    Undercloud,
    /// The undercloud's API, as far as KubeVirt and Cluster API are concerned. It may be cut while nodes are heard of, as where a
    /// right is missing.
    Tenants,
    /// The undercloud's etcd.
    Etcd,
}

impl Wait {
    pub fn is_late(&self, now: Timestamp) -> bool {
        self.expected_by.is_some_and(|by| by < now)
    }

    /// What ends the wait, as a person would say it.
    pub fn ends_when(&self) -> String {
        match &self.kind {
            WaitKind::FirstLook { eye: Eye::Bmc } => "the BMC has answered".into(),
            WaitKind::FirstLook { eye: Eye::Undercloud } => "the undercloud's nodes have been listed once".into(),
            WaitKind::FirstLook { eye: Eye::Etcd } => "etcd has told its members once".into(),
            WaitKind::FirstLook { eye: Eye::Tenants } => "tenants' virtual machines and clusters have been listed once".into(),
            WaitKind::Effect { of, .. } => match of {
                DeviceAsk::GracefulOff => "the machine is seen off; its power is cut if the shutdown takes too long".into(),
                DeviceAsk::ForceOff => "the machine is seen off".into(),
                DeviceAsk::PowerOn => "the machine is seen on".into(),
                DeviceAsk::Cordon => "the node is seen unschedulable".into(),
                DeviceAsk::Uncordon => "the node is seen schedulable".into(),
                DeviceAsk::LeaveEtcd => "etcd no longer lists the member".into(),
                DeviceAsk::JoinEtcd => "etcd lists the member as a learner".into(),
                DeviceAsk::PromoteEtcd => "etcd lists the member as a voter".into(),
                DeviceAsk::MintJoinToken | DeviceAsk::DropJoinToken => "the undercloud has answered".into(),
                DeviceAsk::InsertMedia => "the agent's image is seen in the virtual drive".into(),
                DeviceAsk::EjectMedia => "the virtual drive is seen empty".into(),
                DeviceAsk::BootFromMedia | DeviceAsk::BootFromHttp | DeviceAsk::BootFromPxe | DeviceAsk::BootFromDisk => {
                    "the boot source is seen set".into()
                }
                DeviceAsk::AgentOn | DeviceAsk::SystemOn => "the machine is seen on".into(),
                DeviceAsk::AgentOff => "the machine is seen off".into(),
                DeviceAsk::DeleteVolume => "the volume is seen gone".into(),
                DeviceAsk::MakeOsVolume => "the volume is seen".into(),
                DeviceAsk::WriteAccount => "the account is seen".into(),
                DeviceAsk::DropAccount => "the account is seen gone".into(),
            },
            WaitKind::LateOff { until } => format!("no power-off can be obeyed any more, at {}", until.clock()),
            WaitKind::Rejoin => "the node is Ready after a new boot".into(),
            WaitKind::Device { eye, fault, retry_every } => {
                format!("{}; it is tried again at least every {retry_every}", mended(*eye, fault.class))
            }
            WaitKind::ControlPlane { .. } => "the other control-plane machines are healthy".into(),
            WaitKind::PoweredOff { .. } => "a person starts the machine".into(),
            WaitKind::UnexpectedlyOff => "a person starts the machine, or power comes back".into(),
            WaitKind::NodeNotReady => "the node is Ready, or a person restarts the machine".into(),
            WaitKind::Unmanaged => "a person lets it be managed again".into(),
            WaitKind::Undescribed => "a person puts it back into the site file".into(),
            WaitKind::HoldApplied { cordon: true } => "the node is seen unschedulable".into(),
            WaitKind::HoldApplied { cordon: false } => "the node is seen schedulable".into(),
            WaitKind::Drain { .. } => "the pods have left, or the time for it is up".into(),
            WaitKind::DrainSettles { until } => format!("none has come by {}", until.clock()),
            WaitKind::TenantApi { cluster, until: Some(until), .. } => {
                format!("the API of `{cluster}` answers; it is passed over at {}", until.clock())
            }
            WaitKind::TenantApi { cluster, until: None, .. } => format!("the API of `{cluster}` answers"),
            WaitKind::UnreachableNode { until, .. } => format!("the node answers; it is passed over at {}", until.clock()),
            WaitKind::VmsStop { forced_at: Some(at), .. } => format!("they are seen stopped; they are forced off at {}", at.clock()),
            WaitKind::VmsStop { forced_at: None, .. } => "they are seen stopped".into(),
            WaitKind::VmBusy { until, .. } => format!("that operation has ended; it is forced off at {}", until.clock()),
            WaitKind::VmsReturn { .. } => "they are seen to start".into(),
            WaitKind::NodesReturn { .. } => "they are seen schedulable and ready".into(),
            WaitKind::ErrandEffect { .. } => "its effect is seen".into(),
            WaitKind::VmState { wanted, .. } => format!("it is seen {}", wanted.in_words()),
            WaitKind::Look { .. } => "it has been looked at".into(),
            WaitKind::FirmwareJob { .. } => "the BMC no longer lists the job".into(),
            WaitKind::AgentCall => "the agent has called, and shown its token".into(),
            WaitKind::Writing { .. } => "the agent has told the digest of what it wrote".into(),
            WaitKind::PhoneHome => "the new system has phoned home".into(),
            WaitKind::EtcdCatchUp => "etcd lets it vote; it is asked again at short intervals".into(),
            WaitKind::Validations { .. } => "each of them has been validated".into(),
            WaitKind::Uninstalled => "a person has it reimaged or replaced".into(),
            WaitKind::Accounts => "they are seen there, or a person finds in the key set why not".into(),
            WaitKind::VmHindered { .. } => "it is seen running; what hinders it must be mended".into(),
        }
    }

    /// The stable name of the kind of wait, for scripts.
    pub fn code(&self) -> &'static str {
        match self.kind {
            WaitKind::FirstLook { .. } => "FirstLook",
            WaitKind::Effect { .. } => "Effect",
            WaitKind::LateOff { .. } => "LateOff",
            WaitKind::Rejoin => "Rejoin",
            WaitKind::Device { .. } => "Device",
            WaitKind::ControlPlane { .. } => "ControlPlane",
            WaitKind::PoweredOff { .. } => "PoweredOff",
            WaitKind::UnexpectedlyOff => "UnexpectedlyOff",
            WaitKind::NodeNotReady => "NodeNotReady",
            WaitKind::Unmanaged => "Unmanaged",
            WaitKind::Undescribed => "Undescribed",
            WaitKind::HoldApplied { .. } => "HoldApplied",
            WaitKind::Drain { .. } => "Drain",
            WaitKind::DrainSettles { .. } => "DrainSettles",
            WaitKind::TenantApi { .. } => "TenantApi",
            WaitKind::UnreachableNode { .. } => "UnreachableNode",
            WaitKind::VmsStop { .. } => "VmsStop",
            WaitKind::VmBusy { .. } => "VmBusy",
            WaitKind::VmsReturn { .. } => "VmsReturn",
            WaitKind::NodesReturn { .. } => "NodesReturn",
            WaitKind::ErrandEffect { .. } => "ErrandEffect",
            WaitKind::VmState { .. } => "VmState",
            WaitKind::Look { .. } => "Look",
            WaitKind::FirmwareJob { .. } => "FirmwareJob",
            WaitKind::AgentCall => "AgentCall",
            WaitKind::Writing { .. } => "Writing",
            WaitKind::PhoneHome => "PhoneHome",
            WaitKind::EtcdCatchUp => "EtcdCatchUp",
            WaitKind::Validations { .. } => "Validations",
            WaitKind::Uninstalled => "Uninstalled",
            WaitKind::Accounts => "Accounts",
            WaitKind::VmHindered { .. } => "VmHindered",
        }
    }
}

impl WaitKind {
    /// What is waited for, where there is room for one line only.
    pub fn in_brief(&self) -> String {
        match self {
            WaitKind::Device { eye, fault, .. } => format!("the {eye} ({})", fault.in_brief()),
            other => other.to_string(),
        }
    }
}

/// What is waited for.
impl fmt::Display for WaitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaitKind::FirstLook { eye } => write!(f, "a fresh look at the {eye}"),
            WaitKind::Effect { of, attempt: 1 } => write!(f, "the effect of the {of}"),
            WaitKind::Effect { of, attempt } => write!(f, "the effect of the {of} (attempt {attempt})"),
            WaitKind::LateOff { .. } => write!(f, "an earlier power-off, which the BMC may still obey"),
            WaitKind::Rejoin => write!(f, "the node to rejoin"),
            WaitKind::Device { eye, fault, .. } => write!(f, "the {eye} ({fault})"),
            WaitKind::ControlPlane { because } => write!(f, "the control plane ({because})"),
            WaitKind::PoweredOff { by: Some(by) } => write!(f, "a person: powered off by operation {}", by.short()),
            WaitKind::PoweredOff { by: None } => write!(f, "a person: powered off"),
            WaitKind::UnexpectedlyOff => write!(f, "a person: off, but expected to be on"),
            WaitKind::NodeNotReady => write!(f, "the node to become ready"),
            WaitKind::Unmanaged => write!(f, "a person: unmanaged"),
            WaitKind::Undescribed => write!(f, "a person: no longer described in the site file"),
            WaitKind::HoldApplied { cordon: true } => write!(f, "the node to be cordoned"),
            WaitKind::HoldApplied { cordon: false } => write!(f, "the node to be uncordoned"),
            WaitKind::Drain { pods, kept, fault } => {
                write!(f, "{} to leave", counted(*pods, "pod"))?;
                if !kept.is_empty() {
                    write!(f, "; kept by budgets: {}", kept.join(", "))?;
                }
                fault.as_ref().map_or(Ok(()), |fault| write!(f, "; evictions are answered: {fault}"))
            }
            WaitKind::DrainSettles { .. } => write!(f, "the drained nodes to stay empty for a moment"),
            WaitKind::TenantApi { cluster, fault, .. } => write!(f, "the API of tenant cluster `{cluster}` ({fault})"),
            WaitKind::UnreachableNode { cluster, node, .. } => write!(f, "node `{node}` of `{cluster}`, which does not answer"),
            WaitKind::VmsStop { vms, .. } => write!(f, "{} to stop: {}", counted(vms.len(), "virtual machine"), listed(vms)),
            WaitKind::VmBusy { vm, by, .. } => write!(f, "operation {} on virtual machine `{vm}` to end", by.short()),
            WaitKind::VmsReturn { vms } => write!(f, "{} to start: {}", counted(vms.len(), "virtual machine"), listed(vms)),
            WaitKind::NodesReturn { nodes } => write!(f, "{} to return: {}", counted(nodes.len(), "tenant node"), listed(nodes)),
            WaitKind::ErrandEffect { of, attempt: 1 } => write!(f, "the effect of {of}"),
            WaitKind::ErrandEffect { of, attempt } => write!(f, "the effect of {of} (attempt {attempt})"),
            WaitKind::VmState { vm, wanted } => write!(f, "`{vm}` to be {}", wanted.in_words()),
            WaitKind::Look { at } => write!(f, "a look at {at}"),
            WaitKind::FirmwareJob { job } => write!(f, "the BMC's firmware job `{job}` to end"),
            WaitKind::AgentCall => write!(f, "the agent to call"),
            WaitKind::Writing { percent: Some(percent) } => write!(f, "the image to be written: {percent} %"),
            WaitKind::Writing { percent: None } => write!(f, "the image to be written"),
            WaitKind::PhoneHome => write!(f, "the new system to phone home"),
            WaitKind::EtcdCatchUp => write!(f, "the new member of etcd to catch up"),
            WaitKind::Validations { left } => write!(f, "the validation of {}", counted(*left, "machine")),
            WaitKind::Uninstalled => write!(f, "a person: its installation failed"),
            WaitKind::Accounts => write!(f, "the accounts that key sets want on the BMC"),
            WaitKind::VmHindered { vm, because } => write!(f, "`{vm}` to run ({because})"),
        }
    }
}

/// How many names a wait says at most; the count before them tells of the others.
const NAMES_SAID: usize = 3;

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn listed(names: &[impl fmt::Display]) -> String {
    let mut said: Vec<String> = names.iter().take(NAMES_SAID).map(ToString::to_string).collect();
    if names.len() > NAMES_SAID {
        said.push("…".to_owned());
    }
    said.join(", ")
}

impl fmt::Display for Eye {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Eye::Bmc => "BMC",
            Eye::Undercloud => "undercloud",
            Eye::Tenants => "undercloud's API for workloads",
            Eye::Etcd => "undercloud's etcd",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_wait_for_a_device_depends_on_what_is_wrong_with_it() {
        let ends_when = |class| {
            let fault = Fault::new(class, crate::fault::Delivery::No, "x");
            let kind = WaitKind::Device { eye: Eye::Bmc, fault, retry_every: Span::minutes(1) };
            Wait { kind, since: Timestamp::EPOCH, expected_by: None }.ends_when()
        };
        assert_eq!(ends_when(FaultClass::Unreachable), "the BMC answers; it is tried again at least every 1m 00s");
        let denied = "the BMC accepts our credentials, which a person must mend; it is tried again at least every 1m 00s";
        assert_eq!(ends_when(FaultClass::Denied), denied);
        let untrusted = "the BMC shows a certificate that we trust, which a person must mend; it is tried again at least every 1m 00s";
        assert_eq!(ends_when(FaultClass::Untrusted), untrusted);
        let no_login = "our own login for the BMC can be read, which a person must mend; it is tried again at least every 1m 00s";
        assert_eq!(ends_when(FaultClass::NoLogin), no_login);
    }

    #[test]
    fn a_wait_that_was_stored_with_the_moment_of_its_retry_is_read() {
        let stored = r#"{ "kind": "device", "eye": "bmc", "retryAt": "2026-01-01T00:00:00.000Z",
            "fault": { "class": "unreachable", "delivery": "no", "detail": "no route" } }"#;
        let WaitKind::Device { retry_every, .. } = serde_json::from_str(stored).unwrap() else { panic!("another kind of wait") };
        assert_eq!(retry_every, Limits::default().last_retry);
    }
}
