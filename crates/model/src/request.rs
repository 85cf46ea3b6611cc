//! A request as it lies in the store between the API that took it and the keeper that judges it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::activity::{Part, Sent};
use crate::advice::{Advice, PostCheck, RepairedPart, Symptom};
use crate::install::{Attempt, MachineReport};
use crate::keyset::{KeySet, KeySetChange, KeySetKind};
use crate::name::{
    ClusterName, CorrelationId, KeySetName, MachineName, OperationId, PoolName, RackName, RequestId, RequestKey, TenantClusterName, VmName,
};
use crate::operation::Target;
use crate::preview::Preview;
use crate::refusal::Refusal;
use crate::replacement::Replacement;
use crate::runtime::{Bundle, RuntimeVersion};
use crate::tenant_cluster::DrainPolicy;
use crate::time::{Span, Timestamp};
use crate::vm::VmSpec;

/// A request without a verdict is never executed after this.
///
/// Five seconds is longer than a busy keeper needs, and shorter than a person's patience or a client's own retry.
pub const REQUEST_LIFE: Span = Span::seconds(5);

/// A judged request is swept away after this, if the one who asked has not done so: it crashed.
pub const VERDICT_LIFE: Span = Span::seconds(60);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    pub id: RequestId,
    pub cluster: ClusterName,
    pub ask: Ask,
    pub caller: String,
    pub correlation_id: CorrelationId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<RequestKey>,
    /// How it came, for the activity log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Sent>,
    pub received_at: Timestamp,
    pub expires_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Ask {
    Act {
        machine: MachineName,
        action: Action,
        outage: Outage,
        /// Of a replace.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replacement: Option<Box<Replacement>>,
    },
    /// A machine that is being installed tells something of itself. Its token was checked by whoever took the request.
    Report {
        attempt: Attempt,
        report: MachineReport,
    },
    /// A runtime is made known to the cluster.
    ImportRuntime {
        bundle: Box<Bundle>,
    },
    ForgetRuntime {
        version: RuntimeVersion,
    },
    /// The hardware of these machines, and of those in these racks, is to be validated; of all, if none is named.
    Inspect {
        machines: Vec<MachineName>,
        racks: Vec<RackName>,
    },
    /// Makes a key set, or writes all of it anew.
    PutKeySet {
        key_set: Box<KeySet>,
        #[serde(default)]
        conditions: Conditions,
    },
    UpdateKeySet {
        set: KeySetKind,
        name: KeySetName,
        change: Box<KeySetChange>,
        #[serde(default)]
        conditions: Conditions,
    },
    DeleteKeySet {
        set: KeySetKind,
        name: KeySetName,
        #[serde(default)]
        conditions: Conditions,
    },
    Cancel {
        operation: OperationId,
    },
    Unmanage {
        machine: MachineName,
        reason: String,
    },
    Manage {
        machine: MachineName,
        reason: String,
    },
    /// Writes what clients can write of a machine. What is `None` stays as it is.
    Update {
        machine: MachineName,
        tags: Option<BTreeMap<String, String>>,
        details: Option<String>,
        #[serde(default)]
        conditions: Conditions,
    },
    /// What an action would do. Nothing is done.
    Preview {
        machine: MachineName,
        action: Action,
        outage: Outage,
        /// Of a replace; without a login, since nobody logs in for a preview.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replacement: Option<Box<Replacement>>,
    },
    /// What to do about a machine that is not well. Nothing is done.
    Advise {
        machine: MachineName,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        symptom: Option<Symptom>,
        #[serde(default)]
        repaired: Vec<RepairedPart>,
    },
    /// How a machine, and what was on it, is after an action. Nothing is done.
    Verify {
        machine: MachineName,
    },
    /// The same of an action on a virtual machine, or of the restart of a tenant's node.
    PreviewForTenant {
        target: Target,
        action: Action,
    },
    /// An action on a virtual machine that there is.
    ActOnVm {
        vm: VmName,
        action: Action,
        #[serde(default)]
        conditions: Conditions,
    },
    /// Makes a virtual machine, or says the same of one that there is.
    PutVm {
        vm: VmName,
        spec: Box<VmSpec>,
        tags: BTreeMap<String, String>,
        #[serde(default)]
        conditions: Conditions,
    },
    UpdateVm {
        vm: VmName,
        tags: Option<BTreeMap<String, String>>,
        #[serde(default)]
        conditions: Conditions,
    },
    RestartNode {
        cluster: TenantClusterName,
        node: String,
    },
    /// Writes what clients can write of a tenant cluster, or of one of its pools. What is `None` stays as it is.
    UpdateTenantCluster {
        cluster: TenantClusterName,
        pool: Option<PoolName>,
        tags: Option<BTreeMap<String, String>>,
        drain_policy: Option<DrainPolicy>,
        #[serde(default)]
        conditions: Conditions,
    },
}

/// Which editions of a machine a write is meant for. They are held against the machine's own in the commit that writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conditions {
    /// The machine must be at one of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Editions>,
    /// The machine must be at none of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<Editions>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Editions {
    /// Whichever there is.
    Any,
    Listed(Vec<u64>),
}

impl Editions {
    pub fn contain(&self, edition: u64) -> bool {
        match self {
            Editions::Any => true,
            Editions::Listed(editions) => editions.contains(&edition),
        }
    }
}

impl Ask {
    /// What it names. Whoever cancels names an operation.
    pub fn part(&self) -> Option<Part> {
        match self {
            Ask::Act { machine, .. }
            | Ask::Preview { machine, .. }
            | Ask::Advise { machine, .. }
            | Ask::Verify { machine }
            | Ask::Unmanage { machine, .. }
            | Ask::Manage { machine, .. }
            | Ask::Update { machine, .. } => Some(Part::Machine(machine.clone())),
            Ask::Report { attempt, .. } => Some(Part::Machine(attempt.machine.clone())),
            Ask::ActOnVm { vm, .. } | Ask::PutVm { vm, .. } | Ask::UpdateVm { vm, .. } => Some(Part::Vm(vm.clone())),
            Ask::RestartNode { cluster, .. } | Ask::UpdateTenantCluster { cluster, .. } => Some(Part::TenantCluster(cluster.clone())),
            Ask::PreviewForTenant { target, .. } => Some(Part::of(target)),
            Ask::Cancel { .. }
            | Ask::ImportRuntime { .. }
            | Ask::ForgetRuntime { .. }
            | Ask::Inspect { .. }
            | Ask::PutKeySet { .. }
            | Ask::UpdateKeySet { .. }
            | Ask::DeleteKeySet { .. } => None,
        }
    }

    /// Whether it asks what would be done, and nothing more.
    pub fn is_preview(&self) -> bool {
        matches!(self, Ask::Preview { .. } | Ask::PreviewForTenant { .. } | Ask::Advise { .. } | Ask::Verify { .. })
    }

    /// The operation that it names.
    pub fn operation(&self) -> Option<&OperationId> {
        match self {
            Ask::Cancel { operation } => Some(operation),
            Ask::Report { attempt, .. } => Some(&attempt.operation),
            _ => None,
        }
    }

    /// The last word of what it is called in the activity log: that of the ARM action.
    pub fn verb(&self) -> &'static str {
        match self {
            Ask::Act { action, .. } | Ask::ActOnVm { action, .. } | Ask::Preview { action, .. } | Ask::PreviewForTenant { action, .. } => {
                action.verb()
            }
            Ask::Cancel { .. } => "cancel",
            Ask::Advise { .. } => "advise",
            Ask::Verify { .. } => "verify",
            Ask::Report { .. } => "report",
            Ask::Inspect { .. } => Action::Inspect.verb(),
            Ask::ForgetRuntime { .. } | Ask::DeleteKeySet { .. } => "delete",
            Ask::Unmanage { .. } => "unmanage",
            Ask::Manage { .. } => "manage",
            Ask::RestartNode { .. } => Action::RestartNode.verb(),
            Ask::Update { .. }
            | Ask::PutVm { .. }
            | Ask::UpdateVm { .. }
            | Ask::UpdateTenantCluster { .. }
            | Ask::ImportRuntime { .. }
            | Ask::PutKeySet { .. }
            | Ask::UpdateKeySet { .. } => "write",
        }
    }
}

/// Whether the caller accepts that the control plane goes away: the one exception to the quorum rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outage {
    #[default]
    Refused,
    Accepted,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Verdict {
    /// The operation that carries it out: a new one, or the one that the same request began before.
    Accepted {
        operation: OperationId,
    },
    /// It was done on the spot.
    Done,
    Refused {
        refusal: Refusal,
    },
    /// What it would do; nothing was done.
    Previewed {
        preview: Box<Preview>,
    },
    Advised {
        advice: Box<Advice>,
    },
    Verified {
        checks: Vec<PostCheck>,
    },
}
