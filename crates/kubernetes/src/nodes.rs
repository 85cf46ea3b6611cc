//! The standing look at the undercloud's nodes.

use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::Node;
use kube::Api;
use model::{Fault, NodeSeen};

use crate::node::node_seen;
use crate::source::Source;
use crate::watch::{self, Kind, Told};

/// What the watch has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// All nodes there are. A node seen before and not among them is gone.
    Listed(Vec<NodeSeen>),
    Changed(NodeSeen),
    Gone {
        name: String,
    },
    /// The API server answered, and nothing has changed.
    Heard,
    /// The line is cut for now. What was seen before is getting old.
    Lost(Fault),
}

/// A site has a few thousand machines at most, and a node is small.
const MOST_NODES: usize = usize::MAX;

pub(crate) fn watch(api: Api<Node>) -> impl Stream<Item = NodeEvent> + Send + use<> {
    let kind = Kind { source: Source::BuiltIn(api), plural: "nodes", see: node_seen, most: MOST_NODES };
    watch::follow(kind).map(|told| match told {
        Told::Listed(nodes) => NodeEvent::Listed(nodes),
        Told::Changed(node) => NodeEvent::Changed(node),
        Told::Gone { name, .. } => NodeEvent::Gone { name },
        Told::Heard => NodeEvent::Heard,
        Told::Lost(fault) => NodeEvent::Lost(fault),
    })
}
