//! What tenants have on a site before anybody looks: virtual machines, and clusters with what runs in them.
//!
//! A description that a person may write. What is made of it is in `tenancy_made.rs`.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::layout::{Layout, Role};

/// A virtual machine's processors and memory fit on one machine: more could never run.
const CORES_MAX: u32 = 96;
const MEMORY_GIB_MAX: u32 = 480;

/// How many virtual machines and tenants' nodes a site may begin with.
const VMS_MAX: usize = 20_000;

/// How many copies of a workload there may be.
const REPLICAS_MAX: u32 = 20_000;

/// The longest name: it becomes a label's value.
const NAME_LENGTH_MAX: usize = 63;

/// Everything that tenants have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tenancy {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vms: Vec<TenantVm>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<TenantCluster>,
}

/// Whether a virtual machine is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VmPower {
    Running,
    Stopped,
}

/// Whether what a virtual machine has on its disk outlives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VmDisk {
    Persistent,
    Ephemeral,
}

/// What a guest makes of a request to shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VmManner {
    Obedient,
    Stubborn,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantVm {
    pub name: String,
    pub machine: String,
    pub cores: u32,
    pub memory_gib: u32,
    pub power: VmPower,
    pub disk: VmDisk,
    pub manner: VmManner,
}

impl TenantVm {
    /// A running one with a persistent disk.
    pub fn new(name: &str, machine: &str, cores: u32, memory_gib: u32) -> TenantVm {
        let (power, disk, manner) = (VmPower::Running, VmDisk::Persistent, VmManner::Obedient);
        TenantVm { name: name.to_owned(), machine: machine.to_owned(), cores, memory_gib, power, disk, manner }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantCluster {
    pub name: String,
    /// As Kubernetes writes it: `v1.32.4`.
    pub version: String,
    pub nodes: Vec<ClusterNode>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<Workload>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterNode {
    pub name: String,
    pub machine: String,
    /// The agent pool of a worker; a node without one is of the control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    pub cores: u32,
    pub memory_gib: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WorkloadKind {
    Deployment,
    StatefulSet,
    DaemonSet,
    /// Pods that nobody makes again.
    Bare,
}

/// Something that runs in a tenant cluster, in its namespace `default`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Workload {
    pub kind: WorkloadKind,
    pub name: String,
    /// One for each node, for a daemon set, whatever is said here.
    pub replicas: u32,
    pub cpu_millis: u32,
    pub memory_mib: u32,
    /// How many pods a disruption budget wants available; no budget, if nobody says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_available: Option<u32>,
}

impl Workload {
    /// One without a budget, of a tenth of a processor and 128 MiB a pod.
    pub fn new(kind: WorkloadKind, name: &str, replicas: u32) -> Workload {
        Workload { kind, name: name.to_owned(), replicas, cpu_millis: 100, memory_mib: 128, min_available: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TenancyError {
    Name { name: String },
    Twice { name: String },
    NoMachine { name: String, machine: String },
    NotCompute { name: String, machine: String },
    Cores { name: String, asked: u32 },
    Memory { name: String, asked: u32 },
    NoControlPlane { cluster: String },
    Version { cluster: String, version: String },
    Replicas { name: String, asked: u32 },
    TooMany { asked: usize },
}

impl fmt::Display for TenancyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TenancyError::Name { name } => {
                write!(
                    f,
                    "`{name}` is no name; one has 1 to {NAME_LENGTH_MAX} small letters, digits and hyphens, and begins and ends without a hyphen"
                )
            }
            TenancyError::Twice { name } => write!(f, "`{name}` is there twice"),
            TenancyError::NoMachine { name, machine } => write!(f, "`{name}` is on `{machine}`, which is no machine of the site"),
            TenancyError::NotCompute { name, machine } => write!(f, "`{name}` is on `{machine}`, which is no compute machine"),
            TenancyError::Cores { name, asked } => write!(f, "`{name}` has 1 to {CORES_MAX} cores, not {asked}"),
            TenancyError::Memory { name, asked } => write!(f, "`{name}` has 1 to {MEMORY_GIB_MAX} GiB of memory, not {asked}"),
            TenancyError::NoControlPlane { cluster } => write!(f, "`{cluster}` has no control-plane node"),
            TenancyError::Version { cluster, version } => {
                write!(f, "`{version}` is no version of Kubernetes for `{cluster}`; one is written like v1.32.4")
            }
            TenancyError::Replicas { name, asked } => write!(f, "`{name}` has at most {REPLICAS_MAX} replicas, not {asked}"),
            TenancyError::TooMany { asked } => write!(f, "a site begins with at most {VMS_MAX} virtual machines, not {asked}"),
        }
    }
}

impl std::error::Error for TenancyError {}

impl Tenancy {
    pub fn is_empty(&self) -> bool {
        self.vms.is_empty() && self.clusters.is_empty()
    }

    /// Whether all of it can be on such a site.
    pub fn check(&self, layout: &Layout) -> Result<(), TenancyError> {
        let mut names = Names::default();
        for vm in &self.vms {
            names.take(&vm.name)?;
            check_size(layout, &vm.name, &vm.machine, vm.cores, vm.memory_gib)?;
        }
        let mut clusters = Names::default();
        for cluster in &self.clusters {
            clusters.take(&cluster.name)?;
            for node in &cluster.nodes {
                names.take(&node.name)?;
                node.pool.as_deref().map_or(Ok(()), check_tenant_name)?;
                check_size(layout, &node.name, &node.machine, node.cores, node.memory_gib)?;
            }
            check_cluster(cluster)?;
        }
        if names.0.len() > VMS_MAX { Err(TenancyError::TooMany { asked: names.0.len() }) } else { Ok(()) }
    }
}

#[derive(Default)]
struct Names<'a>(BTreeSet<&'a str>);

impl<'a> Names<'a> {
    fn take(&mut self, name: &'a str) -> Result<(), TenancyError> {
        check_tenant_name(name)?;
        if self.0.insert(name) { Ok(()) } else { Err(TenancyError::Twice { name: name.to_owned() }) }
    }
}

/// Whether it is a name that Kubernetes takes for objects and labels alike.
pub fn check_tenant_name(name: &str) -> Result<(), TenancyError> {
    let is_sound = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_name =
        !name.is_empty() && name.len() <= NAME_LENGTH_MAX && name.bytes().all(is_sound) && !name.starts_with('-') && !name.ends_with('-');
    if is_name { Ok(()) } else { Err(TenancyError::Name { name: name.to_owned() }) }
}

fn check_size(layout: &Layout, name: &str, machine: &str, cores: u32, memory_gib: u32) -> Result<(), TenancyError> {
    let owned = || (name.to_owned(), machine.to_owned());
    let Some(index) = layout.index_of(machine) else {
        let (name, machine) = owned();
        return Err(TenancyError::NoMachine { name, machine });
    };
    if layout.machines()[index].role != Role::Compute {
        let (name, machine) = owned();
        return Err(TenancyError::NotCompute { name, machine });
    }
    if !(1..=CORES_MAX).contains(&cores) {
        return Err(TenancyError::Cores { name: name.to_owned(), asked: cores });
    }
    if !(1..=MEMORY_GIB_MAX).contains(&memory_gib) {
        return Err(TenancyError::Memory { name: name.to_owned(), asked: memory_gib });
    }
    Ok(())
}

fn check_cluster(cluster: &TenantCluster) -> Result<(), TenancyError> {
    if !cluster.nodes.iter().any(|node| node.pool.is_none()) {
        return Err(TenancyError::NoControlPlane { cluster: cluster.name.clone() });
    }
    let numbers: Vec<&str> = cluster.version.strip_prefix('v').unwrap_or_default().split('.').collect();
    if numbers.len() != 3 || !numbers.iter().all(|number| number.parse::<u32>().is_ok()) {
        return Err(TenancyError::Version { cluster: cluster.name.clone(), version: cluster.version.clone() });
    }
    let mut names = Names::default();
    for workload in &cluster.workloads {
        names.take(&workload.name)?;
        if workload.replicas > REPLICAS_MAX {
            return Err(TenancyError::Replicas { name: workload.name.clone(), asked: workload.replicas });
        }
    }
    Ok(())
}
