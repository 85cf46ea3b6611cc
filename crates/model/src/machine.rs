//! A bare-metal machine as it lies in the store: what it is, what it should be, what was last seen of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::account::BmcAccounts;
use crate::baseline::Baseline;
use crate::device_ask::DeviceAsk;
use crate::evacuation::Evacuated;
use crate::fault::Fault;
use crate::hold::Hold;
use crate::install_settings::InstallSettings;
use crate::look::{LookAt, Looked};
use crate::name::{ClusterName, MachineName, OperationId, RackName, RequestKey};
use crate::observation::{Contact, NodeSeen, Power, Readiness, Seen};
use crate::replacement::{Replaced, Unhealthy};
use crate::runtime::Installed;
use crate::secret::SecretRef;
use crate::time::Timestamp;
use crate::validation::ValidationMark;
use crate::wait::Wait;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Machine {
    pub name: MachineName,
    pub cluster: ClusterName,
    pub hardware: Hardware,
    /// How it is installed, as its site file says.
    #[serde(default, skip_serializing_if = "InstallSettings::is_default")]
    pub install: InstallSettings,
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
    pub created_at: Timestamp,
    /// `machineDetails`: free text of the site's people.
    #[serde(default)]
    pub details: String,
    /// Counts the changes of what clients can write, tags and details; it is their ETag. What is observed or decided
    /// about the machine does not count, so that it is no conflict for whoever writes.
    #[serde(default = "first_edition")]
    pub edition: u64,
    /// The latest write of a client that changed something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<Modified>,
    pub role: Role,
    pub provisioning: Provisioning,
    /// Whether the machine should be powered; a person's power-off is the only thing that says otherwise.
    pub desired_power: DesiredPower,
    #[serde(default)]
    pub holds: Vec<Hold>,
    pub management: Management,
    /// Who let the machine be managed again after it was not, and why. It is of interest until it is unmanaged anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub managed_again: Option<ManagedAgain>,
    pub last_seen: LastSeen,
    /// What the node was last asked on behalf of the holds alone, outside any operation. Written before it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_ask: Option<NodeAsk>,
    /// What was stopped and cordoned to empty the machine, until it is back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evacuated: Option<Evacuated>,
    /// What we installed on it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub installed: Option<Installed>,
    /// `hardwareValidationStatus`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validated: Option<ValidationMark>,
    /// That the platform has given it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unhealthy: Option<Unhealthy>,
    /// That its hardware is not what the site file says any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<Box<Replaced>>,
    /// How it was before the latest disruptive action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Box<Baseline>>,
    /// Accounts on its BMC for the users of key sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounts: Option<Box<BmcAccounts>>,
    /// What is being waited for, so that "why is nothing happening?" always has an answer.
    #[serde(default)]
    pub waits: Vec<Wait>,
}

/// The edition of a machine that no client has written to.
pub const FIRST_EDITION: u64 = 1;

fn first_edition() -> u64 {
    FIRST_EDITION
}

/// Who wrote, when, and by which request: the same request sent again changes nothing more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Modified {
    pub by: String,
    pub at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_key: Option<RequestKey>,
}

/// What stands in the rack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hardware {
    pub rack: RackName,
    pub slot: u32,
    pub sku: String,
    pub serial_number: String,
    pub bmc_address: String,
    pub bmc_mac: String,
    pub boot_mac: String,
    pub credentials: SecretRef,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Role {
    ControlPlane,
    Management,
    Compute,
}

/// `detailedStatus` of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Provisioning {
    Preparing,
    Error,
    /// Ready for an operating system. For a control-plane machine: the spare.
    Available,
    Provisioning,
    Provisioned,
    Deprovisioning,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DesiredPower {
    On,
    Off,
}

/// Whether we may send anything to the machine. An unmanaged one is observed, and nothing is sent to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Management {
    Managed,
    Unmanaged { by: String, reason: String, since: Timestamp },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManagedAgain {
    pub by: String,
    pub reason: String,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeAsk {
    pub ask: DeviceAsk,
    pub attempt: u32,
    pub at: Timestamp,
    /// The first fault of its kind that answered it, so that the same one is told once and not with every attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

/// The transitions of what was observed; `at` is when it became so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastSeen {
    pub power: Option<Seen<Power>>,
    pub node: Option<Seen<NodeSeen>>,
    /// The first fault of the present run of failures, if the BMC does not answer.
    pub bmc_fault: Option<Seen<crate::fault::Fault>>,
    /// When the BMC last answered, while it does not: how old what is known of the power is. While it answers every look
    /// would change it, and what is known is fresh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bmc_answered_at: Option<Timestamp>,
    /// The boot that ended when the machine was last seen off. Its node looks ready for a while longer, until the
    /// undercloud misses its kubelet; a node that tells of this boot has not rejoined, whatever it looks like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead_boot_id: Option<String>,
}

impl LastSeen {
    /// Whether a node tells of a boot that is over.
    pub fn is_of_dead_boot(&self, node: &NodeSeen) -> bool {
        self.dead_boot_id.as_ref() == Some(&node.boot_id)
    }
}

/// What the keeper has in memory about a machine: the latest look through each eye.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    pub power: Option<Seen<Power>>,
    pub bmc: Contact,
    /// `None` until the undercloud's nodes were listed; `Some(None)` if this machine had no node then.
    pub node: Option<Seen<Option<NodeSeen>>>,
    /// A request to this machine's BMC or node that has not been answered yet. One at a time.
    pub asking: Option<DeviceAsk>,
    /// When the latest request was answered, one way or the other.
    pub ask_ended_at: Option<Timestamp>,
    /// The fault that the latest request was answered with, if it was.
    pub answer: Option<Answer>,
    /// The latest request that was answered without a fault. What has no other effect to be seen is done by that.
    pub obeyed: Option<Obeyed>,
    /// Looks that were asked for: the latest of each kind, and those under way.
    pub looked: BTreeMap<LookAt, Arc<Looked>>,
    pub looking: BTreeSet<LookAt>,
}

/// A device's refusal or failure to do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub operation: Option<OperationId>,
    pub ask: DeviceAsk,
    pub attempt: u32,
    pub fault: crate::fault::Fault,
    pub at: Timestamp,
}

/// A device's word that it does what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obeyed {
    pub operation: Option<OperationId>,
    pub ask: DeviceAsk,
    pub attempt: u32,
    pub at: Timestamp,
}

impl Observation {
    /// The boot that the machine's node was last seen to run.
    pub fn boot_id(&self) -> Option<String> {
        self.node.as_ref().and_then(|node| node.what.as_ref()).map(|node| node.boot_id.clone())
    }
}

impl Machine {
    /// A control-plane machine that is kept in reserve: it has no operating system and no vote.
    pub fn is_spare(&self) -> bool {
        self.role == Role::ControlPlane && self.provisioning == Provisioning::Available
    }

    /// A control-plane machine that is meant to vote.
    pub fn is_active_kcp(&self) -> bool {
        self.role == Role::ControlPlane && !self.is_spare()
    }

    pub fn is_kcp(&self) -> bool {
        self.role == Role::ControlPlane
    }

    /// `readyState`: powered on, provisioned, and its node has joined, since it was last off, and is ready.
    pub fn is_ready(&self) -> bool {
        self.provisioning == Provisioning::Provisioned
            && self.last_seen.power.as_ref().is_none_or(|power| power.what == Power::On)
            && self.last_seen.node.as_ref().is_some_and(|node| self.is_node_ready(&node.what))
    }

    /// Whether this node of the machine is ready, and by the word of a boot that still runs.
    pub fn is_node_ready(&self, node: &NodeSeen) -> bool {
        node.ready == Readiness::True && !self.last_seen.is_of_dead_boot(node)
    }

    /// The login that its BMC has, and the one that the site file would give it.
    pub fn logins(&self) -> impl Iterator<Item = &SecretRef> {
        let described = self.replaced.as_ref().map(|replaced| &replaced.described.credentials);
        std::iter::once(&self.hardware.credentials).chain(described)
    }

    /// Held by us, or cordoned by somebody else's hand.
    pub fn is_cordoned(&self) -> bool {
        !self.holds.is_empty() || self.last_seen.node.as_ref().is_some_and(|node| node.what.unschedulable)
    }
}
