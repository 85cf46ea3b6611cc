//! The physics of a simulated bare-metal site: what its BMCs, hosts, kubelets and control plane do as time passes.
//!
//! Pure and synchronous: `now` is an argument, and the only randomness is drawn from the site's seed. HTTP, sockets and
//! disks are `sim`'s. The nouns are this crate's own, so that a wrong belief of the drivers about Redfish or Kubernetes
//! shows as a failing test and not as two agreeing mistakes.

mod agent;
mod bmc;
mod bmc_restart;
mod bootstrap;
mod budget;
mod budget_count;
mod clusters;
mod control_plane;
mod etcd;
mod events;
mod eviction;
mod fault;
mod hardware;
mod host;
mod kube;
mod kubelet;
mod label_selector;
mod layout;
mod machine;
mod mirror;
mod namespace;
mod node;
mod objects;
mod pace;
mod persist;
mod persist_kube;
mod placing;
mod pod;
mod pod_gc;
mod pod_work;
mod power;
mod quantity;
mod random;
mod scheduler;
mod secret;
mod site;
mod strangers;
mod taint_manager;
mod tenancy;
mod tenancy_made;
mod time;
mod virt;
mod workloads;
mod writes;

pub use agent::{
    AgentConfig, AgentReport, AgentTrouble, Call, Errand, FoundCpus, FoundDisk, FoundNic, FoundParts, Grant, Outcome, Session, WantedDisk,
    WantedImage,
};
pub use bmc::{BmcLog, Counters, LogEntry, Logged};
pub use clusters::ClusterName;
pub use etcd::{EtcdMember, EtcdRefusal, EtcdStatus};
pub use eviction::EvictionRefusal;
pub use fault::{Aim, FAULT_SPAN_MAX, FAULTS_MAX, Fault, FaultError, FaultId, FaultKind, FaultOrder, FaultTarget, Setting};
pub use hardware::{
    ACCOUNT_KEYS, ACCOUNT_SLOTS, Account, AccountChange, AccountKey, AccountRefusal, AccountRole, Accounts, AfterRestart, BIOS_ATTRIBUTES,
    Bios, BiosAttribute, BiosRange, BiosRefusal, BiosValue, BootEnabled, BootMode, BootOverride, BootSource, BootTarget, Component,
    Contents, Dimm, Drive, DriveProtocol, Firmware, FirmwareRefusal, FirstBoot, Hardware, Identity, InsertedMedia, Inventory, Join,
    KeyRefusal, LastBoot, Link, Media, MediaSlot, MediaWrites, NewVolume, Nic, PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN,
    Part as HardwarePart, Parts, PhoneHome, Processor, RaidLevel, Release, SERIAL_NUMBER_LENGTH_MAX, Setup, SlotOccupied, Standing, Swap,
    SwapRefusal, System, TASKS_KEPT, Task, TaskState, Tasks, USER_NAME_LENGTH_MAX, Volume, VolumeRefusal, Volumes, Work,
};
pub use host::{TenantNode, TenantRole};
pub use kube::{Flavour, Kube};
pub use layout::{DescribedMachine, Layout, LayoutError, MachineSpec, Role, Vendor};
pub use objects::{
    CLAIMS, CLUSTERS, CONFIG_MAPS, Change, ChangeKind, DAEMON_SETS, DATA_VOLUMES, DEPLOYMENTS, DISRUPTION_BUDGETS, Durability, EVENTS,
    Expired, Generation, LEASES, MACHINE_DEPLOYMENTS, MACHINES, NAMESPACES, NODES, ObjectError, ObjectKey, ObjectTable, Offer, PODS, Part,
    Preconditions, REPLICA_SETS, RESOURCES, Resource, SECRETS, SERVICES, STATEFUL_SETS, Scope, StatusPart, TENANT_RESOURCES,
    VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES,
};
pub use pace::Pace;
pub use persist::{Record, RestoreError};
pub use power::{PowerState, ResetAnswer, ResetType};
pub use random::{Random, hash_text};
pub use site::World;
pub use tenancy::{
    ClusterNode, Tenancy, TenancyError, TenantCluster, TenantVm, VmDisk, VmManner, VmPower, Workload, WorkloadKind, check_tenant_name,
};
pub use tenancy_made::{tenant_kubeconfig, tenant_server};
pub use time::{Instant, Span};
pub use virt::{TENANT_NAMESPACE, VmAction, VmRefusal};
pub use writes::{DeleteOptions, Deleted};

/// The version every kubelet and the API server of the site report.
pub const KUBERNETES_VERSION: &str = "v1.33.7";
