//! Virtual machines: as clients describe them, as they lie in the store, and as the undercloud's KubeVirt reports them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::machine::Modified;
use crate::name::{ClusterName, MachineName, PoolName, RackName, TenantClusterName, VmName};
use crate::observation::{Readiness, Seen};
use crate::resources::Amount;
use crate::secret::SecretRef;
use crate::time::{Span, Timestamp};
use crate::wait::Wait;

/// A virtual machine of a tenant, as it lies in the store. The virtual machines that nodes of tenant clusters run on are not
/// among them: they are told of with their clusters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Vm {
    pub name: VmName,
    pub cluster: ClusterName,
    pub spec: VmSpec,
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
    pub created_at: Timestamp,
    /// As a machine's: counts the writes of clients, and is their ETag.
    pub edition: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<Modified>,
    pub provisioning: VmProvisioning,
    /// Its object in the undercloud; nothing before that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// What was last seen of it: transitions only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Seen<VmSeen>>,
    /// Where it runs, or ran last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineName>,
    #[serde(default)]
    pub waits: Vec<Wait>,
}

/// `provisioningState` of a virtual machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VmProvisioning {
    Accepted,
    Provisioning,
    Succeeded,
    Failed,
    Canceled,
}

/// What a client asked for; of one that was made past us, what can be read of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VmSpec {
    pub cpu_cores: u32,
    pub memory_gb: u32,
    pub image: String,
    pub admin_username: String,
    pub boot_method: Option<BootMethod>,
    pub device_model: Option<DeviceModel>,
    pub virtio_interface: Option<VirtioInterface>,
    pub isolate_emulator_thread: Option<bool>,
    pub os_disk: OsDisk,
    pub volume_attachments: Vec<String>,
    pub cloud_services_network: Option<NetworkAttachment>,
    pub networks: Vec<NetworkAttachment>,
    pub placement_hints: Vec<PlacementHint>,
    pub ssh_public_keys: Vec<String>,
    pub user_data: Option<SecretRef>,
    pub network_data: Option<SecretRef>,
    pub registry: Option<Registry>,
}

impl VmSpec {
    /// The secrets in the vault that it refers to.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretRef> {
        let password = self.registry.as_ref().map(|registry| &registry.password);
        [self.user_data.as_ref(), self.network_data.as_ref(), password].into_iter().flatten()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BootMethod {
    #[serde(rename = "BIOS")]
    Bios,
    #[serde(rename = "UEFI")]
    Uefi,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceModel {
    T1,
    T2,
    T3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VirtioInterface {
    Modern,
    Transitional,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OsDisk {
    pub size_gb: u32,
    pub storage: DiskStorage,
}

/// Whether the disk outlives a stop. A persistent one lies on the machine where it was made, and binds its virtual machine to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DiskStorage {
    Ephemeral,
    #[default]
    Persistent,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkAttachment {
    pub network_id: String,
    pub ip_allocation: IpAllocation,
    #[serde(default)]
    pub default_gateway: Option<bool>,
    #[serde(default)]
    pub ipv4_address: Option<String>,
    #[serde(default)]
    pub ipv6_address: Option<String>,
    #[serde(default)]
    pub name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IpAllocation {
    Dynamic,
    Static,
    Disabled,
}

/// Where to find the image, with a login whose password is in the vault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Registry {
    pub url: String,
    pub username: String,
    pub password: SecretRef,
}

/// Near what a virtual machine should run, or away from what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlacementHint {
    pub kind: HintKind,
    pub execution: HintExecution,
    pub scope: HintScope,
    pub target: HintTarget,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HintKind {
    Affinity,
    AntiAffinity,
}

/// Whether a hint that cannot be met keeps the virtual machine from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HintExecution {
    Hard,
    Soft,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HintScope {
    Machine,
    Rack,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind", content = "name")]
pub enum HintTarget {
    Vm(VmName),
    Machine(MachineName),
    Rack(RackName),
}

/// One virtual machine of the undercloud and no other: one that is made anew under the same name has another uid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VmRef {
    pub name: VmName,
    pub uid: String,
}

impl fmt::Display for VmRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}

/// A virtual machine as KubeVirt reports it: the object that lasts, and its instance if it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VmSeen {
    pub name: VmName,
    pub uid: String,
    pub run: RunStrategy,
    pub state: VmState,
    /// KubeVirt's own words about a state that is not well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<InstanceSeen>,
    pub cpu_cores: u32,
    pub memory_bytes: u64,
    /// How long its system is given to shut down, if nobody says otherwise.
    pub grace: Span,
    /// The node of a tenant cluster that it is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_of: Option<NodeOf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// The disk that it boots from; nothing if none of its own outlives a stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os_disk: Option<OsDiskSeen>,
}

/// The disk that a virtual machine boots from, of those that KubeVirt makes for it from an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum OsDiskSeen {
    /// KubeVirt has yet to make it.
    Absent,
    There {
        disk: DiskRef,
        /// Whether it was told to end.
        is_ending: bool,
    },
}

/// One disk of the undercloud and no other: one that is made anew under the same name has another uid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiskRef {
    pub name: String,
    pub uid: String,
}

/// A virtual machine that is a tenant cluster's node. The node has the virtual machine's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeOf {
    pub cluster: TenantClusterName,
    /// Nothing for a node of the control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolName>,
}

/// `spec.runStrategy`: when KubeVirt runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunStrategy {
    Always,
    Halted,
    Manual,
    RerunOnFailure,
    Once,
}

/// `status.printableStatus`, in the few kinds that decisions tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VmState {
    Stopped,
    /// Its disks are being made.
    Provisioning,
    /// Its instance has no node yet, or does not run there yet.
    Starting,
    Running,
    Paused,
    Migrating,
    Stopping,
    /// It is being deleted.
    Terminating,
    /// No node can take it; the message says why.
    Unschedulable,
    /// It cannot run; the message says why.
    Failing,
    Unknown,
}

impl VmState {
    /// As people say it.
    pub fn in_words(self) -> &'static str {
        match self {
            VmState::Stopped => "stopped",
            VmState::Provisioning => "being provisioned",
            VmState::Starting => "starting",
            VmState::Running => "running",
            VmState::Paused => "paused",
            VmState::Migrating => "migrating",
            VmState::Stopping => "stopping",
            VmState::Terminating => "being deleted",
            VmState::Unschedulable => "without a machine that can take it",
            VmState::Failing => "failing",
            VmState::Unknown => "unknown",
        }
    }
}

/// What runs of a virtual machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstanceSeen {
    pub uid: String,
    /// The undercloud's node that it is on, once it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    pub phase: InstancePhase,
    pub ready: Readiness,
    /// Whether it was told to end.
    pub is_ending: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InstancePhase {
    Pending,
    Scheduling,
    Scheduled,
    Running,
    Succeeded,
    Failed,
    Unknown,
}

impl VmSeen {
    /// The object, and no later one of the same name.
    pub fn reference(&self) -> VmRef {
        VmRef { name: self.name.clone(), uid: self.uid.clone() }
    }

    /// The undercloud's node that it runs on.
    pub fn node(&self) -> Option<&str> {
        self.instance.as_ref()?.node.as_deref()
    }

    /// Whether something of it runs or may still: an instance that has not ended. One that KubeVirt calls failed may run all the
    /// same, where its machine is only silent, until it is taken away.
    pub fn has_instance(&self) -> bool {
        self.instance.as_ref().is_some_and(|instance| instance.phase != InstancePhase::Succeeded)
    }

    pub fn needs(&self) -> Amount {
        Amount { cpu_millis: u64::from(self.cpu_cores) * 1_000, memory_bytes: self.memory_bytes }
    }
}
