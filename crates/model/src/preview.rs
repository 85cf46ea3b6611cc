//! Previews: what an action would do, said without doing any of it.

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::hold::Hold;
use crate::name::{TenantClusterName, VmName};
use crate::operation::Target;
use crate::refusal::Refusal;
use crate::resources::Amount;
use crate::runtime::RuntimeVersion;
use crate::tenant_cluster::DrainPolicy;
use crate::time::Span;
use crate::vm::VmState;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// What the action is asked of.
    #[serde(flatten)]
    pub target: Target,
    pub action: Action,
    /// Why it would be refused, if it would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    pub vms: Vec<VmFate>,
    pub nodes: Vec<NodeFate>,
    pub pods: Vec<PodFate>,
    /// How many more pods there are than are listed.
    pub more_pods: usize,
    pub budgets: Vec<BudgetFate>,
    /// Of a control-plane machine only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum: Option<QuorumFate>,
    /// Control planes of tenant clusters that lose a node to it, for a while or for good.
    #[serde(default)]
    pub tenant_quorums: Vec<TenantQuorumFate>,
    pub holds: Vec<Hold>,
    /// Of what installs a machine only: what it would be installed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<RuntimeVersion>,
    pub duration: ExpectedDuration,
    /// What whoever asks for it should know before it is done.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// What is not known and would matter: an API that does not answer, pods that were not listed yet.
    pub unknowns: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VmFate {
    pub name: VmName,
    pub state: VmState,
    /// The tenant cluster whose node it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_of: Option<TenantClusterName>,
    pub outcome: VmOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VmOutcome {
    /// It is shut down, and started again when the machine is back, or uncordoned.
    Stopped,
    /// It does not run, and will not.
    StaysStopped,
    /// It ran before and is started.
    Started,
    /// Its machine does not answer: it is gone already.
    Lost,
    /// Nothing happens to it.
    Untouched,
    /// It is stopped, and started again.
    Restarted,
    /// The same, with the disk of its system made anew.
    Reimaged,
    /// It is deleted with its disks.
    Deleted,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeFate {
    pub cluster: TenantClusterName,
    pub node: String,
    pub policy: DrainPolicy,
    pub outcome: NodeOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum NodeOutcome {
    Drained,
    /// It does not answer, and is passed over when its time is up.
    PassedOver {
        why: String,
        after: Span,
    },
    Uncordoned,
    /// Somebody else cordoned it, and it stays so.
    StaysCordoned,
    /// Its virtual machine is stopped without a shutdown and started again, and nothing is drained before.
    Restarted,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodFate {
    pub cluster: TenantClusterName,
    /// `namespace/name`.
    pub pod: String,
    pub node: String,
    pub outcome: PodOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum PodOutcome {
    /// It is evicted, and made anew on a node that has room.
    Moves { to: String },
    /// It is evicted, and its successor finds no room; `missing` is the least that any node lacks for it.
    Pending { missing: Amount, why: String },
    /// It is evicted, and nothing makes it anew.
    Ends,
    /// It stays, and ends with its node: a DaemonSet's, or one that its kubelet runs from a file.
    StaysWithNode { why: String },
    /// A disruption budget keeps it; `to` is where it would find room once it is let go.
    Blocked {
        budget: String,
        why: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    },
    /// It ended with its machine.
    Lost,
    /// It ended with its machine, and its successor waits until that is certain.
    Stuck,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetFate {
    pub cluster: TenantClusterName,
    /// `namespace/name`.
    pub budget: String,
    /// How many pods it allows to lose now, and how many would have to go.
    pub allowed: u32,
    pub affected: u32,
    pub is_blocking: bool,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuorumFate {
    pub members: usize,
    pub needed: usize,
    pub voting_before: usize,
    pub voting_after: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantQuorumFate {
    pub cluster: TenantClusterName,
    #[serde(flatten)]
    pub votes: QuorumFate,
}

impl QuorumFate {
    /// Whether those who are left could not go on.
    pub fn is_lost(&self) -> bool {
        self.voting_after < self.needed
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExpectedDuration {
    pub expected: Span,
    /// When the operation would be given up.
    pub at_most: Span,
    /// Where the expectation comes from, in one sentence.
    pub basis: String,
}
