//! What of tenants is on a machine, and how well it can be seen.

use std::sync::Arc;

use model::{
    DrainPolicy, Eye, Fault, FaultClass, Leftover, NodeSeen, PodSeen, PoolName, Power, Readiness, Span, StepKind, TenantClusterName,
    TenantMachineSeen, TenantNodeSeen, Timestamp, VmName, VmSeen, Wait, WaitKind,
};

use super::memory::is_given_up;
use super::spell::counted_from;
use crate::contact;
use crate::operate::Bench;
use crate::pods::{Part, Reach, part_in_drain};
use crate::snapshot::Snapshot;
use crate::tenants::Inside;

/// A node of a tenant cluster that is on the machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lodger {
    pub cluster: TenantClusterName,
    pub node: String,
    pub pool: Option<PoolName>,
}

/// How the machine itself is, as far as it matters to what runs on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Alive,
    /// Its kubelet has been silent since then; it may still run.
    Silent {
        since: Timestamp,
    },
    /// Its BMC says so, and nothing runs on it.
    Off,
}

/// Why a tenant cluster cannot be looked into, and since when.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Silence {
    pub fault: Fault,
    pub since: Timestamp,
}

/// Virtual machines that run on the machine, or may. What was given up on a machine that answers does not.
pub(crate) fn vms_here<'a>(bench: &Bench<'a>) -> impl Iterator<Item = &'a Arc<VmSeen>> + use<'a> {
    let is_alive = host(bench) == Host::Alive;
    bench.snapshot.vms_on(&bench.machine.name).filter(move |vm| vm.has_instance() && !(is_alive && is_given_up(vm)))
}

/// Nodes of tenant clusters whose virtual machines run on the machine, or may.
pub(crate) fn lodgers(bench: &Bench<'_>) -> Vec<Lodger> {
    let mut lodgers: Vec<Lodger> = vms_here(bench).filter_map(|vm| lodger_of(vm)).collect();
    lodgers.sort();
    lodgers
}

fn lodger_of(vm: &VmSeen) -> Option<Lodger> {
    let of = vm.node_of.as_ref()?;
    Some(Lodger { cluster: of.cluster.clone(), node: vm.name.to_string(), pool: of.pool.clone() })
}

/// Nodes of tenant clusters that say of themselves that they are on the machine, though their virtual machines do not run.
pub(crate) fn ghosts(snapshot: &Snapshot, machine: &model::MachineName) -> Vec<Lodger> {
    let runs = |node: &str| VmName::new(node).ok().and_then(|name| snapshot.tenants.vms().get(&name)).is_some_and(|vm| vm.has_instance());
    let mut ghosts = Vec::new();
    for (cluster, inside) in &snapshot.tenants.insides {
        let here = inside.nodes.values().filter(|node| node.machine.as_deref() == Some(machine.as_str()));
        ghosts.extend(here.filter(|node| node.ready == Readiness::Unknown && !runs(&node.name)).map(|node| Lodger {
            cluster: cluster.clone(),
            node: node.name.clone(),
            pool: None,
        }));
    }
    ghosts
}

/// Whether the undercloud can be seen: without it nothing is known of virtual machines.
pub(crate) fn see_undercloud(bench: &Bench<'_>) -> Result<(), Wait> {
    bench.sight.node(bench.now)?;
    if let Some(failing) = contact::tenants_silence(bench.snapshot, bench.now) {
        return Err(contact::tenants_wait(bench.limits, failing));
    }
    if bench.snapshot.tenants.listed_at.is_none() {
        let since = bench.keeper_started_at;
        return Err(Wait { kind: WaitKind::FirstLook { eye: Eye::Tenants }, since, expected_by: Some(since + bench.limits.idle_poll) });
    }
    Ok(())
}

pub(crate) fn host(bench: &Bench<'_>) -> Host {
    if bench.sight.power(Timestamp::EPOCH, bench.now) == Ok(Power::Off) {
        return Host::Off;
    }
    let is_silent = |node: Option<&NodeSeen>| node.is_some_and(|node| node.ready == Readiness::Unknown);
    match bench.sight.node(bench.now) {
        Ok(node) if is_silent(node) => Host::Silent { since: bench.machine.last_seen.node.as_ref().map_or(bench.now, |node| node.at) },
        _ => Host::Alive,
    }
}

/// Whether nothing that is asked of the machine's workloads can have an effect any more.
pub(crate) fn is_gone(bench: &Bench<'_>) -> bool {
    match host(bench) {
        Host::Off => true,
        Host::Silent { since } => bench.now >= since + bench.limits.unreachable_timeout,
        Host::Alive => false,
    }
}

/// When a machine that is silent counts as gone.
pub(crate) fn gone_at(bench: &Bench<'_>) -> Option<Timestamp> {
    match host(bench) {
        Host::Silent { since } => Some(since + bench.limits.unreachable_timeout),
        Host::Off | Host::Alive => None,
    }
}

/// What a tenant cluster's own API says, if it can be asked.
pub(crate) fn inside<'a>(snapshot: &'a Snapshot, cluster: &TenantClusterName, asked_since: Timestamp) -> Result<&'a Inside, Silence> {
    let unlisted = || Silence { fault: Fault::new(FaultClass::Unreachable, model::Delivery::No, "not listed yet"), since: asked_since };
    let inside = snapshot.tenants.insides.get(cluster).ok_or_else(unlisted)?;
    if let Some(fault) = &inside.contact.fault {
        let stored = snapshot.tenant_clusters.get(cluster).and_then(|cluster| cluster.fault.as_ref());
        let known = stored.filter(|known| known.what.class == fault.class).map(|known| known.what.clone());
        let since = inside.contact.failing_since.unwrap_or(asked_since).max(asked_since);
        return Err(Silence { fault: known.unwrap_or_else(|| fault.clone()), since });
    }
    if inside.listed_at.is_none() { Err(unlisted()) } else { Ok(inside) }
}

/// When emptying the machine began: its own cordon was seen, or left out.
pub(crate) fn began_at(bench: &Bench<'_>) -> Timestamp {
    counted_from(bench.operation, bench.operation.done_at(StepKind::Cordon).unwrap_or(bench.operation.accepted_at))
}

pub(crate) fn node_of<'a>(inside: &'a Inside, lodger: &Lodger) -> Option<&'a Arc<TenantNodeSeen>> {
    inside.nodes.get(&lodger.node)
}

/// The Machine that Cluster API has for the node.
pub(crate) fn capi_machine<'a>(snapshot: &'a Snapshot, cluster: &TenantClusterName, node: &str) -> Option<&'a TenantMachineSeen> {
    snapshot.tenants.clusters.get(cluster)?.machines.iter().find(|machine| machine.name == node)
}

pub(crate) fn policy(snapshot: &Snapshot, lodger: &Lodger) -> DrainPolicy {
    snapshot.tenant_clusters.get(&lodger.cluster).map(|cluster| cluster.drain_policy(lodger.pool.as_ref())).unwrap_or_default()
}

/// Whether the operation has gone on without the node.
pub(crate) fn is_passed_over(bench: &Bench<'_>, lodger: &Lodger) -> bool {
    bench
        .operation
        .leftovers()
        .any(|left| matches!(left, Leftover::Node { cluster, node, .. } if *cluster == lodger.cluster && *node == lodger.node))
}

/// The time for a drain, and for virtual machines to shut down.
pub(crate) fn drain_span(bench: &Bench<'_>) -> Span {
    if has_time(bench) { bench.limits.drain_timeout } else { bench.limits.power_drain_timeout }
}

pub(crate) fn stop_span(bench: &Bench<'_>) -> Span {
    if has_time(bench) { bench.limits.vm_stop_timeout } else { bench.limits.power_vm_stop_timeout }
}

/// An action that has hours gives workloads the time that emptying a machine alone gives them.
fn has_time(bench: &Bench<'_>) -> bool {
    use model::Action::{Cordon, Reimage, Replace};
    matches!(bench.operation.action, Cordon { .. } | Reimage { .. } | Replace { .. })
}

/// Pods that have to leave a node before it may go, those that are on their way among them.
pub(crate) fn pods_to_leave<'a>(inside: &'a Inside, node: &str) -> impl Iterator<Item = &'a Arc<PodSeen>> + use<'a> {
    let pods: Vec<&'a Arc<PodSeen>> = inside.pods_on(node).collect();
    pods.into_iter().filter(|pod| matches!(part_in_drain(pod, Reach::Answers), Part::Leaves | Part::Leaving))
}
