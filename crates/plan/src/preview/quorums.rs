//! Control planes of tenant clusters: whether enough of their nodes are left to go on.
//!
//! Nothing is refused on that account, since the cluster is its tenant's. But without a quorum its API does not answer, so that neither
//! the drain nor the tenant can do anything there until the nodes are back.

use std::collections::BTreeSet;

use model::{NodeRole, QuorumFate, Readiness, TenantClusterName, TenantClusterSeen, TenantQuorumFate, VmName, VmState};

use crate::evacuate::is_given_up;
use crate::snapshot::Snapshot;

/// What becomes of the control planes that have a node among those that go. `is_gone` says whether they are gone already.
pub(super) fn fates(snapshot: &Snapshot, leaving: &[(&TenantClusterName, &str)], is_gone: bool) -> Vec<TenantQuorumFate> {
    let clusters: BTreeSet<&TenantClusterName> = leaving.iter().map(|(cluster, _)| *cluster).collect();
    let seen = clusters.into_iter().filter_map(|cluster| snapshot.tenants.clusters.get(cluster));
    seen.filter_map(|cluster| fate(snapshot, cluster, leaving, is_gone)).collect()
}

fn fate(
    snapshot: &Snapshot,
    cluster: &TenantClusterSeen,
    leaving: &[(&TenantClusterName, &str)],
    is_gone: bool,
) -> Option<TenantQuorumFate> {
    let leaves = |node: &str| leaving.iter().any(|(of, name)| **of == cluster.name && *name == node);
    let control_plane = cluster.machines.iter().filter(|machine| machine.role == NodeRole::ControlPlane);
    let members: Vec<&str> = control_plane.map(|machine| machine.name.as_str()).collect();
    if !members.iter().any(|node| leaves(node)) {
        return None;
    }
    let voting: Vec<&str> =
        members.iter().copied().filter(|node| !(is_gone && leaves(node)) && runs(snapshot, &cluster.name, node)).collect();
    let voting_after = voting.iter().filter(|node| !leaves(node)).count();
    let needed = members.len() / 2 + 1;
    let votes = QuorumFate { members: members.len(), needed, voting_before: voting.len(), voting_after };
    Some(TenantQuorumFate { cluster: cluster.name.clone(), votes })
}

/// By its virtual machine's word, and its own where that is heard: an API that does not answer says nothing against its nodes.
fn runs(snapshot: &Snapshot, cluster: &TenantClusterName, node: &str) -> bool {
    let vm = VmName::new(node).ok().and_then(|name| snapshot.tenants.vms().get(&name));
    let is_up = vm.is_some_and(|vm| vm.has_instance() && !is_given_up(vm) && matches!(vm.state, VmState::Running | VmState::Migrating));
    let inside = snapshot.tenants.insides.get(cluster).filter(|inside| inside.contact.fault.is_none());
    is_up && inside.and_then(|inside| inside.nodes.get(node)).is_none_or(|node| node.ready == Readiness::True)
}
