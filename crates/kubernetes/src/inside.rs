//! The standing look into a tenant cluster: its nodes, pods and disruption budgets in one stream.

use futures::stream::{self, select_all};
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::Api;
use model::{BudgetSeen, Fault, PodSeen, TenantNodeSeen};

use crate::budget::budget_seen;
use crate::lines::{Line, Lines};
use crate::pod::pod_seen;
use crate::source::Source;
use crate::tenant_cluster::TenantCluster;
use crate::tenant_node::tenant_node_seen;
use crate::watch::{self, Kind, Told};

/// How many pods of one tenant cluster are kept in memory: a third of what Kubernetes itself is built for, in about 50 MB.
pub const MOST_PODS: usize = 50_000;

/// How many nodes and budgets are: what Kubernetes is built for, and a budget for every fifth pod.
pub const MOST_NODES: usize = 5_000;
pub const MOST_BUDGETS: usize = 10_000;

/// What the watch of a tenant cluster has to say. Each kind is listed by itself, at the beginning and whenever the server no
/// longer knows where its watch was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InsideEvent {
    /// All nodes there are; the same for pods and budgets. What was seen before and is not among them is gone.
    Nodes(Vec<TenantNodeSeen>),
    Pods(Vec<PodSeen>),
    Budgets(Vec<BudgetSeen>),
    NodeChanged(TenantNodeSeen),
    NodeGone {
        name: String,
    },
    PodChanged(PodSeen),
    PodGone {
        namespace: String,
        name: String,
    },
    BudgetChanged(BudgetSeen),
    BudgetGone {
        namespace: String,
        name: String,
    },
    /// The API server answers, and no watch is cut.
    Heard,
    /// One of the three watches is cut for now. The others may go on.
    Lost(Fault),
}

impl TenantCluster {
    /// What is in the cluster now and how it changes, for as long as the stream is polled. It never ends.
    pub fn watch(&self) -> impl Stream<Item = InsideEvent> + Send + use<> {
        let nodes: Api<Node> = Api::all(self.client.clone());
        let pods: Api<Pod> = Api::all(self.client.clone());
        let budgets: Api<PodDisruptionBudget> = Api::all(self.client.clone());
        let nodes = Kind { source: Source::BuiltIn(nodes), plural: "nodes", see: tenant_node_seen, most: MOST_NODES };
        let pods = Kind { source: Source::BuiltIn(pods), plural: "pods", see: pod_seen, most: MOST_PODS };
        let budgets = Kind { source: Source::BuiltIn(budgets), plural: "poddisruptionbudgets", see: budget_seen, most: MOST_BUDGETS };
        let told = select_all([
            watch::follow(nodes).map(Piece::Node).boxed(),
            watch::follow(pods).map(Piece::Pod).boxed(),
            watch::follow(budgets).map(Piece::Budget).boxed(),
        ]);
        told.scan(Lines::default(), |lines, piece| std::future::ready(Some(stream::iter(taken(lines, piece))))).flatten()
    }
}

enum Piece {
    Node(Told<TenantNodeSeen>),
    Pod(Told<PodSeen>),
    Budget(Told<BudgetSeen>),
}

/// What a piece of news says, and whether with it all is well again.
fn taken(lines: &mut Lines, piece: Piece) -> Vec<InsideEvent> {
    let (line, event) = match piece {
        Piece::Node(told) => (lines.note(0, &told), of_node(told)),
        Piece::Pod(told) => (lines.note(1, &told), of_pod(told)),
        Piece::Budget(told) => (lines.note(2, &told), of_budget(told)),
    };
    match (line, event) {
        (Line::Cut, InsideEvent::Heard) => Vec::new(),
        (Line::Well, event) | (Line::Cut, event) | (Line::WellAgain, event @ InsideEvent::Heard) => vec![event],
        (Line::WellAgain, event) => vec![event, InsideEvent::Heard],
    }
}

fn of_node(told: Told<TenantNodeSeen>) -> InsideEvent {
    match told {
        Told::Listed(nodes) => InsideEvent::Nodes(nodes),
        Told::Changed(node) => InsideEvent::NodeChanged(node),
        Told::Gone { name, .. } => InsideEvent::NodeGone { name },
        Told::Heard => InsideEvent::Heard,
        Told::Lost(fault) => InsideEvent::Lost(fault),
    }
}

fn of_pod(told: Told<PodSeen>) -> InsideEvent {
    match told {
        Told::Listed(pods) => InsideEvent::Pods(pods),
        Told::Changed(pod) => InsideEvent::PodChanged(pod),
        Told::Gone { namespace, name } => InsideEvent::PodGone { namespace, name },
        Told::Heard => InsideEvent::Heard,
        Told::Lost(fault) => InsideEvent::Lost(fault),
    }
}

fn of_budget(told: Told<BudgetSeen>) -> InsideEvent {
    match told {
        Told::Listed(budgets) => InsideEvent::Budgets(budgets),
        Told::Changed(budget) => InsideEvent::BudgetChanged(budget),
        Told::Gone { namespace, name } => InsideEvent::BudgetGone { namespace, name },
        Told::Heard => InsideEvent::Heard,
        Told::Lost(fault) => InsideEvent::Lost(fault),
    }
}
