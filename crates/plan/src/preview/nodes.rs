//! What becomes of the tenant nodes on a machine.

use model::{CordonedNode, DrainPolicy, NodeFate, NodeOf, NodeOutcome, Readiness, Span, TenantClusterName};

use super::{Effect, Scene};

pub(super) fn fates(scene: &Scene<'_>) -> Vec<NodeFate> {
    let here = scene.snapshot.vms_on(&scene.machine.name).filter_map(|vm| Some((vm.name.as_str(), vm.node_of.as_ref()?)));
    let mut fates: Vec<NodeFate> = match scene.effect {
        Effect::LeavesAlone => Vec::new(),
        Effect::Empties => here.map(|(node, of)| fate(scene, of, node, drained_or_not(scene, &of.cluster, node))).collect(),
        Effect::Fells => here.map(|(node, of)| fate(scene, of, node, felled())).collect(),
        Effect::Fills => {
            let others = here.filter(|(node, of)| is_held_by_others(scene, &of.cluster, node));
            let others = others.map(|(node, of)| fate(scene, of, node, NodeOutcome::StaysCordoned));
            let remembered = scene.machine.evacuated.iter().flat_map(|evacuated| &evacuated.nodes);
            let ours = remembered.filter(|_| scene.frees_machine()).filter_map(|node| returned(scene, node));
            others.chain(ours).collect()
        }
    };
    fates.sort_by(|a, b| (&a.cluster, &a.node).cmp(&(&b.cluster, &b.node)));
    fates.dedup_by(|a, b| (&a.cluster, &a.node) == (&b.cluster, &b.node));
    fates
}

fn fate(scene: &Scene<'_>, of: &NodeOf, node: &str, outcome: NodeOutcome) -> NodeFate {
    let stored = scene.snapshot.tenant_clusters.get(&of.cluster);
    let policy = stored.map_or(DrainPolicy::default(), |cluster| cluster.drain_policy(of.pool.as_ref()));
    NodeFate { cluster: of.cluster.clone(), node: node.to_owned(), policy, outcome }
}

/// Whoever cuts the power waits for nobody.
fn felled() -> NodeOutcome {
    NodeOutcome::PassedOver { why: "the power is cut, and nothing is drained before".into(), after: Span::ZERO }
}

fn drained_or_not(scene: &Scene<'_>, cluster: &TenantClusterName, node: &str) -> NodeOutcome {
    let after = scene.snapshot.cluster.limits.unreachable_timeout;
    let inside = scene.snapshot.tenants.insides.get(cluster);
    let Some(inside) = inside.filter(|inside| inside.listed_at.is_some()) else {
        return NodeOutcome::PassedOver { why: format!("the API of `{cluster}` has not answered yet"), after };
    };
    if let Some(fault) = &inside.contact.fault {
        return NodeOutcome::PassedOver { why: format!("the API of `{cluster}` does not answer ({fault})"), after };
    }
    match inside.nodes.get(node) {
        // There is nothing to wait for.
        None => NodeOutcome::PassedOver { why: format!("`{cluster}` has no such node"), after: Span::ZERO },
        Some(seen) if seen.ready == Readiness::Unknown => {
            let since = seen.ready_since.map(|at| format!(" since {}", at.clock())).unwrap_or_default();
            NodeOutcome::PassedOver { why: format!("its kubelet does not answer{since}"), after }
        }
        Some(_) if scene.is_host_gone() => NodeOutcome::PassedOver { why: "its machine does not answer".into(), after },
        Some(_) => NodeOutcome::Drained,
    }
}

fn is_held_by_others(scene: &Scene<'_>, cluster: &TenantClusterName, node: &str) -> bool {
    let seen = scene.snapshot.tenants.insides.get(cluster).and_then(|inside| inside.nodes.get(node));
    seen.is_some_and(|node| node.is_unschedulable && !node.is_cordoned_by_us)
}

/// A node that we cordoned is uncordoned, unless somebody made the cordon theirs or lifted it since.
fn returned(scene: &Scene<'_>, remembered: &CordonedNode) -> Option<NodeFate> {
    let CordonedNode { cluster, node, .. } = remembered;
    let seen = scene.snapshot.tenants.insides.get(cluster).and_then(|inside| inside.nodes.get(node));
    let outcome = match seen {
        Some(seen) if !seen.is_unschedulable => return None,
        Some(seen) if !seen.is_cordoned_by_us => NodeOutcome::StaysCordoned,
        _ => NodeOutcome::Uncordoned,
    };
    let stored = scene.machine.evacuated.iter().flat_map(|evacuated| &evacuated.vms);
    let of = stored.filter(|vm| vm.vm.name.as_str() == node).find_map(|vm| vm.node_of.clone());
    Some(fate(scene, &of.unwrap_or(NodeOf { cluster: cluster.clone(), pool: None }), node, outcome))
}
