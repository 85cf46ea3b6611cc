//! Refusals that explain themselves: the rule, the evidence, and what would make it pass.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    pub rule: Rule,
    /// What cannot be done: "`rack1control01` cannot be restarted".
    pub message: String,
    /// The facts that the rule was judged on.
    pub evidence: Vec<String>,
    /// The smallest change that would make it pass.
    pub remedy: String,
}

/// The rules that can refuse a request. Each has a page under `docs/errors/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Rule {
    /// The request waited too long for its verdict and was not carried out.
    RequestExpired,
    /// Whoever judges the request knows no such action of what it is meant for.
    ActionKnown,
    ClusterRunning,
    ClusterConnected,
    /// There is no such machine (any more).
    MachineExists,
    MachineManaged,
    MachineProvisioned,
    OneActionPerMachine,
    KcpOneAtATime,
    KcpOthersHealthy,
    KcpQuorum,
    KcpSoleVoter,
    /// There is no such virtual machine (any more).
    VmExists,
    /// The virtual machine is still being made.
    VmProvisioning,
    /// Something of a virtual machine cannot be changed once it is made.
    VmImmutable,
    /// The name is that of a tenant cluster's node.
    VmNodeOfTenant,
    /// A placement hint names what is not there.
    VmPlacement,
    OneActionPerVm,
    /// There is no such tenant cluster, or no such pool of it.
    TenantClusterExists,
    /// The tenant cluster has no such node.
    TenantNodeExists,
    /// Pods are let go by force only where it is proven that they no longer run.
    ForceUnproven,
    /// An operation holds the machine; only it, or its end, lifts the cordon.
    HeldByOperation,
    OperationExists,
    /// The operation has already ended.
    OperationRunning,
    /// The machine is no longer the edition that the request is meant for.
    PreconditionFailed,
    /// A replace is for a machine that is not well.
    MachineHealthy,
    /// Workloads run on the machine, and nobody said that they may be moved.
    MachineHasWorkloads,
    /// The machine was given up: only a replace brings it back.
    MachineUnhealthy,
    /// The BMC has a firmware job in its queue.
    FirmwareJob,
    /// The cluster does not know the runtime that is to be installed.
    RuntimeExists,
    /// The runtime is installed, or is being installed, somewhere.
    RuntimeInUse,
    /// A runtime of that version is known already, and it is another one.
    RuntimeImmutable,
    /// The members of the undercloud's etcd cannot be asked about.
    EtcdKnown,
    /// What machines need of this server to be installed is not there.
    InstallReady,
    /// The machine tells of an installation that is not going on.
    AttemptRunning,
    /// The hardware is being inspected already.
    InspectRunning,
    /// A replaced machine keeps its name.
    MachineNameKept,
    /// There is no such key set.
    KeySetExists,
    /// More users than a BMC has room for.
    KeySetLimit,
    /// Something of a key set cannot be changed once it is made.
    KeySetImmutable,
    /// A user is in one key set of a kind at a time.
    KeySetUserTaken,
    /// Too many operations are running in this cluster.
    QueueFull,
}

impl Rule {
    /// The name as people read it: `kcp-one-at-a-time`.
    pub fn name(self) -> &'static str {
        match self {
            Rule::RequestExpired => "request-expired",
            Rule::ActionKnown => "action-known",
            Rule::ClusterRunning => "cluster-running",
            Rule::ClusterConnected => "cluster-connected",
            Rule::MachineExists => "machine-exists",
            Rule::MachineManaged => "machine-managed",
            Rule::MachineProvisioned => "machine-provisioned",
            Rule::OneActionPerMachine => "one-action-per-machine",
            Rule::KcpOneAtATime => "kcp-one-at-a-time",
            Rule::KcpOthersHealthy => "kcp-others-healthy",
            Rule::KcpQuorum => "kcp-quorum",
            Rule::KcpSoleVoter => "kcp-sole-voter",
            Rule::VmExists => "vm-exists",
            Rule::VmProvisioning => "vm-provisioning",
            Rule::VmImmutable => "vm-immutable",
            Rule::VmNodeOfTenant => "vm-node-of-tenant",
            Rule::VmPlacement => "vm-placement",
            Rule::OneActionPerVm => "one-action-per-vm",
            Rule::TenantClusterExists => "tenant-cluster-exists",
            Rule::TenantNodeExists => "tenant-node-exists",
            Rule::ForceUnproven => "force-unproven",
            Rule::HeldByOperation => "held-by-operation",
            Rule::OperationExists => "operation-exists",
            Rule::OperationRunning => "operation-running",
            Rule::PreconditionFailed => "precondition-failed",
            Rule::MachineHealthy => "machine-healthy",
            Rule::MachineHasWorkloads => "machine-has-workloads",
            Rule::MachineUnhealthy => "machine-unhealthy",
            Rule::FirmwareJob => "firmware-job",
            Rule::RuntimeExists => "runtime-exists",
            Rule::RuntimeInUse => "runtime-in-use",
            Rule::RuntimeImmutable => "runtime-immutable",
            Rule::EtcdKnown => "etcd-known",
            Rule::InstallReady => "install-ready",
            Rule::AttemptRunning => "attempt-running",
            Rule::InspectRunning => "inspect-running",
            Rule::MachineNameKept => "machine-name-kept",
            Rule::KeySetExists => "key-set-exists",
            Rule::KeySetLimit => "key-set-limit",
            Rule::KeySetImmutable => "key-set-immutable",
            Rule::KeySetUserTaken => "key-set-user-taken",
            Rule::QueueFull => "queue-full",
        }
    }

    /// The code of the ARM error: `KcpOneAtATime`.
    pub fn code(self) -> &'static str {
        match self {
            Rule::RequestExpired => "RequestExpired",
            Rule::ActionKnown => "ActionKnown",
            Rule::ClusterRunning => "ClusterRunning",
            Rule::ClusterConnected => "ClusterConnected",
            Rule::MachineExists => "MachineExists",
            Rule::MachineManaged => "MachineManaged",
            Rule::MachineProvisioned => "MachineProvisioned",
            Rule::OneActionPerMachine => "OneActionPerMachine",
            Rule::KcpOneAtATime => "KcpOneAtATime",
            Rule::KcpOthersHealthy => "KcpOthersHealthy",
            Rule::KcpQuorum => "KcpQuorum",
            Rule::KcpSoleVoter => "KcpSoleVoter",
            Rule::VmExists => "VmExists",
            Rule::VmProvisioning => "VmProvisioning",
            Rule::VmImmutable => "VmImmutable",
            Rule::VmNodeOfTenant => "VmNodeOfTenant",
            Rule::VmPlacement => "VmPlacement",
            Rule::OneActionPerVm => "OneActionPerVm",
            Rule::TenantClusterExists => "TenantClusterExists",
            Rule::TenantNodeExists => "TenantNodeExists",
            Rule::ForceUnproven => "ForceUnproven",
            Rule::HeldByOperation => "HeldByOperation",
            Rule::OperationExists => "OperationExists",
            Rule::OperationRunning => "OperationRunning",
            Rule::PreconditionFailed => "PreconditionFailed",
            Rule::MachineHealthy => "MachineHealthy",
            Rule::MachineHasWorkloads => "MachineHasWorkloads",
            Rule::MachineUnhealthy => "MachineUnhealthy",
            Rule::FirmwareJob => "FirmwareJob",
            Rule::RuntimeExists => "RuntimeExists",
            Rule::RuntimeInUse => "RuntimeInUse",
            Rule::RuntimeImmutable => "RuntimeImmutable",
            Rule::EtcdKnown => "EtcdKnown",
            Rule::InstallReady => "InstallReady",
            Rule::AttemptRunning => "AttemptRunning",
            Rule::InspectRunning => "InspectRunning",
            Rule::MachineNameKept => "MachineNameKept",
            Rule::KeySetExists => "KeySetExists",
            Rule::KeySetLimit => "KeySetLimit",
            Rule::KeySetImmutable => "KeySetImmutable",
            Rule::KeySetUserTaken => "KeySetUserTaken",
            Rule::QueueFull => "QueueFull",
        }
    }

    pub const ALL: [Rule; 42] = [
        Rule::RequestExpired,
        Rule::ActionKnown,
        Rule::ClusterRunning,
        Rule::ClusterConnected,
        Rule::MachineExists,
        Rule::MachineManaged,
        Rule::MachineProvisioned,
        Rule::OneActionPerMachine,
        Rule::KcpOneAtATime,
        Rule::KcpOthersHealthy,
        Rule::KcpQuorum,
        Rule::KcpSoleVoter,
        Rule::VmExists,
        Rule::VmProvisioning,
        Rule::VmImmutable,
        Rule::VmNodeOfTenant,
        Rule::VmPlacement,
        Rule::OneActionPerVm,
        Rule::TenantClusterExists,
        Rule::TenantNodeExists,
        Rule::ForceUnproven,
        Rule::HeldByOperation,
        Rule::OperationExists,
        Rule::OperationRunning,
        Rule::PreconditionFailed,
        Rule::MachineHealthy,
        Rule::MachineHasWorkloads,
        Rule::MachineUnhealthy,
        Rule::FirmwareJob,
        Rule::RuntimeExists,
        Rule::RuntimeInUse,
        Rule::RuntimeImmutable,
        Rule::EtcdKnown,
        Rule::InstallReady,
        Rule::AttemptRunning,
        Rule::InspectRunning,
        Rule::MachineNameKept,
        Rule::KeySetExists,
        Rule::KeySetLimit,
        Rule::KeySetImmutable,
        Rule::KeySetUserTaken,
        Rule::QueueFull,
    ];
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: rule {}: {}", self.message, self.rule.name(), self.evidence.join("; "))
    }
}
