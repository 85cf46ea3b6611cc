//! The hosts of a Kubernetes cluster: what is known of each, and what its kubelet is about to do.
//!
//! A host of the undercloud is a machine, a host of a tenant cluster a virtual machine. Whether it runs is decided there;
//! here only whether its kubelet can talk to its API server.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use crate::KUBERNETES_VERSION;
use crate::hardware::Release;
use crate::kubelet::NodeState;
use crate::layout::{MachineSpec, Role};
use crate::node::{self, Problem};
use crate::objects::ObjectKey;
use crate::time::Instant;

/// The pods that a control-plane node runs from its own disk.
const CONTROL_PLANE_PODS: [&str; 4] = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/// A host as its kubelet describes it to the API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostFacts {
    pub name: String,
    pub uuid: String,
    pub provider_id: String,
    pub address: Ipv4Addr,
    pub cpu: String,
    pub memory: String,
    pub labels: BTreeMap<String, String>,
    /// Taints by key, all `NoSchedule`, that the node registers with.
    pub taints: BTreeSet<String>,
    /// The Kubernetes that it was installed with. A world that was saved before it was told knows only the site's.
    #[serde(default = "site_version")]
    pub version: String,
    /// Whether the host carries a vote of its cluster's control plane.
    #[serde(default)]
    pub votes: bool,
    /// The pods that the kubelet starts from its own disk, and shows to the API as mirror pods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub static_pods: Vec<String>,
    /// What the host's operating system calls itself; nothing of one that is like all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<Release>,
}

fn site_version() -> String {
    KUBERNETES_VERSION.to_owned()
}

/// What a node of a tenant cluster is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TenantRole {
    ControlPlane,
    /// `mode` is `System` or `User`.
    Worker {
        pool: String,
        mode: String,
    },
}

/// A virtual machine that is a node of a tenant cluster, as it boots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantNode {
    pub name: String,
    pub role: TenantRole,
    /// The machine that the virtual machine runs on.
    pub machine: String,
    /// The machine's rack.
    pub zone: String,
    pub cpu_cores: u32,
    pub memory_mib: u32,
    /// Written into documents, never dialled.
    pub address: Ipv4Addr,
    pub uuid: String,
    /// The Kubernetes that it was installed with.
    pub version: String,
    /// Labels beyond those that follow from the rest.
    pub labels: BTreeMap<String, String>,
}

impl HostFacts {
    pub fn of_machine(spec: &MachineSpec) -> HostFacts {
        let (cpu, memory) = if spec.role == Role::Compute { ("96", "528280960Ki") } else { ("64", "263856128Ki") };
        let is_voter = spec.role == Role::ControlPlane;
        HostFacts {
            name: spec.name.clone(),
            uuid: spec.uuid.clone(),
            provider_id: format!("rackwright-sim://{}", spec.uuid),
            address: spec.host_address,
            cpu: cpu.to_owned(),
            memory: memory.to_owned(),
            labels: node::machine_labels(spec),
            taints: is_voter.then(|| node::CONTROL_PLANE_ROLE.to_owned()).into_iter().collect(),
            version: site_version(),
            votes: is_voter,
            static_pods: Vec::new(),
            release: None,
        }
    }

    pub fn of_tenant_node(node: &TenantNode) -> HostFacts {
        let is_voter = node.role == TenantRole::ControlPlane;
        let static_pods = if is_voter { CONTROL_PLANE_PODS.map(str::to_owned).to_vec() } else { Vec::new() };
        HostFacts {
            name: node.name.clone(),
            uuid: node.uuid.clone(),
            provider_id: format!("kubevirt://{}", node.name),
            address: node.address,
            cpu: node.cpu_cores.to_string(),
            memory: format!("{}Mi", node.memory_mib),
            labels: node::tenant_labels(node),
            taints: is_voter.then(|| node::CONTROL_PLANE_ROLE.to_owned()).into_iter().collect(),
            version: node.version.clone(),
            votes: is_voter,
            static_pods,
            release: None,
        }
    }
}

/// Everything about one host that changes.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub facts: HostFacts,
    pub node: NodeState,
    /// The boot id of a host whose kubelet runs and can reach the API servers; nothing while it cannot.
    pub kubelet: Option<String>,
    /// What the agent on the node has found.
    pub problems: Vec<Problem>,
    /// The pods that are bound to this host, and when its kubelet next acts on each.
    pub pods: BTreeMap<ObjectKey, Option<Instant>>,
    /// When the kubelet next looks whether all its mirror pods are there.
    pub mirrors_at: Option<Instant>,
}

impl Host {
    pub fn new(facts: HostFacts) -> Host {
        Host { facts, node: NodeState::default(), kubelet: None, problems: Vec::new(), pods: BTreeMap::new(), mirrors_at: None }
    }
}
