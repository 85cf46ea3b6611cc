//! What a journal holds: facts, one after the other.

use serde::{Deserialize, Serialize};

use crate::device_ask::DeviceAsk;
use crate::errand::Errand;
use crate::etcd::EtcdMember;
use crate::evacuation::Leftover;
use crate::fault::Fault;
use crate::install::{BootWay, MachineReport, OsTarget};
use crate::install_settings::AgentNetwork;
use crate::machine::Provisioning;
use crate::name::{MachineName, TenantClusterName};
use crate::operation::Failure;
use crate::runtime::{Digest, RuntimeVersion};
use crate::step::StepKind;
use crate::time::Timestamp;
use crate::validation::ValidationResult;

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
        /// Data disks that the agent wipes before it writes, each by serial number or WWN.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        wipe: Vec<String>,
    },
    /// An installation begins: from here on its tokens are good, and those of the round before are not.
    Installing {
        round: u32,
        way: BootWay,
        version: RuntimeVersion,
        image: Digest,
        /// Nothing if the agent asks for its network by DHCP.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        network: Option<AgentNetwork>,
    },
    /// The machine that is being installed told this of itself.
    Reported {
        round: u32,
        report: MachineReport,
    },
    /// The agent told what it has found in the machine. All of it is kept with the machine.
    Inventoried {
        round: u32,
        disks: u64,
        nics: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        memory_bytes: Option<u64>,
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
