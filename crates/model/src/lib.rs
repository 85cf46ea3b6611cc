//! The nouns of Rackwright. Pure: no I/O, no clock, no randomness.

mod account;
mod action;
mod activity;
mod advice;
mod baseline;
mod cluster;
mod device_ask;
mod endpoint;
mod errand;
mod etcd;
mod evacuation;
mod fault;
mod hold;
mod host_inventory;
mod inspection;
mod install;
mod install_settings;
mod join;
mod journal;
mod keeper_state;
pub mod keys;
mod keyset;
mod limits;
mod look;
mod machine;
mod meter;
mod name;
mod observation;
mod operation;
mod pod;
mod preview;
mod refusal;
mod replacement;
mod request;
mod resources;
mod runtime;
mod secret;
mod selector;
mod site;
mod sku;
mod step;
mod tenant_cluster;
mod text;
mod time;
mod validation;
mod vm;
mod wait;

pub use account::{AccountAsk, AppliedUser, BmcAccounts, BmcUser};
pub use action::{Action, Evacuate, Shutdown};
pub use activity::{
    ACTIVITY_FORMAT, ACTIVITY_TEXT_MAX, ACTIVITY_VERB_MAX, Activity, ActivityError, ActivityKind, ActivityStatus, DescriptionChange,
    HoldChange, OURSELVES, Part, PartKind, Sent, Subject, labels,
};
pub use advice::{
    Advice, AdvisedCommand, DataRisk, PartAdvice, PostCheck, PostState, Remedy, RepairedPart, ReplaceNeed, StorageAdvice, Symptom, Tried,
};
pub use baseline::{Baseline, BaselineNode, BaselineVm};
pub use cluster::{Cluster, ClusterStatus, Connection, Home, Rack};
pub use device_ask::{DeviceAsk, Party};
pub use endpoint::Endpoint;
pub use errand::{Errand, ErrandAnswer, ErrandOutcome, ErrandState};
pub use etcd::{EtcdMember, EtcdSeen};
pub use evacuation::{CordonedNode, Evacuated, Leftover, StoppedVm};
pub use fault::{DETAIL_LIMIT, Delivery, Fault, FaultClass, MESSAGE_LIMIT, shortened};
pub use hold::{Hold, HoldOwner};
pub use host_inventory::{
    HostCpus, HostDisk, HostFirmware, HostInventory, HostNic, INVENTORY_PARTS_MAX, Inventoried, InventoryCount, size_in_words,
};
pub use inspection::{
    AlarmSeen, BootDeviceSeen, DriveSeen, FirmwareSeen, Inspection, LicenseSeen, LogSeen, PartHealth, PortSeen, SensorKind, SensorSeen,
    SystemSeen, Told,
};
pub use install::{Attempt, BootWay, InstallTrouble, Installing, MachineReport, OS_VOLUME, OsTarget};
pub use install_settings::{AgentNetwork, DATA_DISKS_MAX, DISK_ID_MAX, DNS_MAX, InstallNetwork, InstallSettings, is_same_disk};
pub use join::JoinFacts;
pub use journal::{Entry, Fact};
pub use keeper_state::{Footing, HeldLease, KeeperState, Looks, SiteFileRefused};
pub use keyset::{
    BMC_EXPIRATION_MAX, BMC_USERS_MAX, JUMP_HOSTS_MAX, KEY_SET_TEXT_MAX, KEY_SET_USER_MAX, KEY_SETS_MAX, KeySet, KeySetChange, KeySetKind,
    KeySetUser, MACHINE_KEYS_MAX, MACHINE_USERS_MAX, OS_GROUP_MAX, Privilege, SSH_KEY_MAX,
};
pub use limits::{Limits, SHORTEST_DEADLINE, SHORTEST_POLL};
pub use look::{AccountSeen, BootSeen, Found, JobSeen, LookAt, Looked, SourceSeen, Survey, VolumeSeen, VolumesSeen};
pub use machine::{
    Answer, DesiredPower, FIRST_EDITION, Hardware, LastSeen, Machine, ManagedAgain, Management, Modified, NodeAsk, Obeyed, Observation,
    Provisioning, Role,
};
pub use meter::{Meter, MeterKind};
pub use name::{
    ClusterName, CorrelationId, InvalidName, KEY_SET_NAME_MAX, KeySetName, MachineName, NAME_MAX, OperationId, PoolName, RackName,
    RequestId, RequestKey, TenantClusterName, VmName, natural_cmp,
};
pub use observation::{Contact, NodeProblem, NodeSeen, Power, PowerRequest, ProblemKind, Readiness, Seen};
pub use operation::{Cancel, Ended, Failure, OPERATION_FORMAT, Operation, OperationResult, Target};
pub use pod::{BudgetSeen, EvictionAnswer, Grace, Neighbourhood, PodDemands, PodOwner, PodPhase, PodRef, PodSeen, Termination, Toleration};
pub use preview::{
    BudgetFate, ExpectedDuration, NodeFate, NodeOutcome, PodFate, PodOutcome, Preview, QuorumFate, TenantQuorumFate, VmFate, VmOutcome,
};
pub use refusal::{Refusal, Rule};
pub use replacement::{Replaced, Replacement, Safeguard, StoragePolicy, Unhealthy};
pub use request::{Ask, Conditions, Editions, Outage, REQUEST_LIFE, Request, VERDICT_LIFE, Verdict};
pub use resources::Amount;
pub use runtime::{
    Artefact, BootArtefacts, Bundle, Digest, FirmwareFloor, Installed, InvalidDigest, InvalidVersion, OsImage, Packed, Packing,
    RuntimeVersion, firmware_cmp,
};
pub use secret::SecretRef;
pub use selector::{LabelExpression, LabelOperator, LabelSelector};
pub use site::{Site, SiteMachine, SiteRack, Standing};
pub use sku::{Sku, SkuDrive, SkuPort};
pub use step::StepKind;
pub use tenant_cluster::{
    DrainPolicy, NodeRole, PoolSeen, Settings, Taint, TenantCluster, TenantClusterSeen, TenantMachineSeen, TenantNode, TenantNodeSeen,
};
pub use text::{cleaned, is_unprintable};
pub use time::{Clock, Span, Timestamp};
pub use validation::{Category, CategoryResult, Comparison, FieldResult, Judged, Validation, ValidationMark, ValidationResult};
pub use vm::{
    BootMethod, DeviceModel, DiskRef, DiskStorage, HintExecution, HintKind, HintScope, HintTarget, InstancePhase, InstanceSeen,
    IpAllocation, NetworkAttachment, NodeOf, OsDisk, OsDiskSeen, PlacementHint, Registry, RunStrategy, VirtioInterface, Vm, VmProvisioning,
    VmRef, VmSeen, VmSpec, VmState,
};
pub use wait::{Eye, Wait, WaitKind};
