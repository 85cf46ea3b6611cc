//! Tenants' virtual machines: their documents follow what KubeVirt reports, and people's actions on them are carried out.
//!
//! The virtual machines of tenant nodes have no documents; they are told of with their clusters. Emptying a machine and
//! filling it again is `evacuate`'s.

mod adopt;
mod asking;
mod ending;
mod guard;
mod operate;
mod requests;
mod spec;
mod steps;
mod words;

use std::collections::BTreeSet;

use model::{MachineName, OperationId, Target, Timestamp, VmName, WaitKind};

use crate::draft::Draft;
use crate::snapshot::Snapshot;
use crate::{Visit, Visited};

pub(crate) use ending::may_have_arrived;
pub(crate) use operate::vm_of;
pub(crate) use requests::{act, deadline, put, restart_node, update};
pub use spec::{SpecFlaw, VM_CORES_MAX, VM_CORES_MIN, VM_MEMORY_GB_MAX, VM_MEMORY_GB_MIN, check_vm_spec};
pub use words::{VmDetail, VmPower, VmStatusWords, vm_status};
pub(crate) use words::{is_silent, trouble_of, words_of_state};

/// What is to be visited of tenants: what the caller says, what runs on the machines that are visited, and whatever an
/// operation is at work on.
pub(crate) fn visited(snapshot: &Snapshot, visit: &Visit, machines: &BTreeSet<MachineName>) -> Visited {
    let tenants = &snapshot.tenants;
    let mut visited = match visit {
        Visit::All => Visited {
            machines: BTreeSet::new(),
            vms: snapshot.vms.keys().chain(tenants.vms().keys()).cloned().collect(),
            tenant_clusters: snapshot.tenant_clusters.keys().chain(tenants.clusters.keys()).cloned().collect(),
        },
        Visit::Only(only) => Visited { machines: BTreeSet::new(), ..only.clone() },
    };
    visited.vms.extend(snapshot.running_for_tenants().filter_map(|(target, _)| vm_of(target)));
    if !tenants.vms().is_empty() {
        // Which machine a node of the undercloud is may have become known.
        let moved = machines.iter().flat_map(|machine| snapshot.vms_on(machine).map(move |vm| (machine, vm)));
        visited.vms.extend(moved.filter(|(machine, vm)| machine_told(snapshot, vm) != Some(machine)).map(|(_, vm)| vm.name.clone()));
    }
    let clusters = visited.vms.iter().filter_map(|name| cluster_of(snapshot, name));
    let clusters: Vec<_> = clusters.collect();
    visited.tenant_clusters.extend(clusters);
    visited
}

/// The machine that the documents say a virtual machine is on.
fn machine_told<'a>(snapshot: &'a Snapshot, vm: &model::VmSeen) -> Option<&'a MachineName> {
    match &vm.node_of {
        None => snapshot.vms.get(&vm.name)?.machine.as_ref(),
        Some(node_of) => snapshot.tenant_clusters.get(&node_of.cluster)?.nodes.get(vm.name.as_str())?.machine.as_ref(),
    }
}

/// The tenant cluster whose node a virtual machine is, or was.
fn cluster_of(snapshot: &Snapshot, vm: &VmName) -> Option<model::TenantClusterName> {
    let seen = snapshot.tenants.vms().get(vm).and_then(|seen| seen.node_of.as_ref());
    let of_gone = || {
        let mut clusters = snapshot.tenant_clusters.values().filter(|_| !snapshot.vms.contains_key(vm));
        clusters.find(|cluster| cluster.nodes.contains_key(vm.as_str())).map(|cluster| cluster.name.clone())
    };
    seen.map(|node_of| node_of.cluster.clone()).or_else(of_gone)
}

pub(crate) fn plan_vms(draft: &mut Draft, vms: &BTreeSet<VmName>, now: Timestamp) {
    for name in vms {
        if let Some(id) = running(&draft.after, name) {
            let revisit = operate::advance(draft, &id, now);
            draft.plan.vm_revisits.insert(name.clone(), revisit);
        }
        adopt::note_seen(draft, name, now);
    }
}

/// Machines whose operation has waited for one on a virtual machine there, which has ended in this plan: machines are planned first.
pub(crate) fn awaited_on(draft: &Draft) -> Vec<MachineName> {
    let ended = draft.plan.changes.operations.values().filter(|operation| !operation.is_running());
    let ended: BTreeSet<VmName> = ended.filter_map(|operation| vm_of(&operation.target)).collect();
    if ended.is_empty() {
        return Vec::new();
    }
    // All that this step asks for is in its journal, and is not asked for twice.
    let is_stopping = |id: &OperationId| {
        let wait = draft.after.operations.get(id).and_then(|operation| operation.wait.as_ref());
        wait.is_some_and(|wait| matches!(wait.kind, WaitKind::VmBusy { .. } | WaitKind::VmsStop { .. }))
    };
    let waiting = draft.after.running().filter(|(_, id)| is_stopping(id)).map(|(machine, _)| machine);
    waiting.filter(|machine| draft.after.vms_on(machine).any(|vm| ended.contains(&vm.name))).cloned().collect()
}

/// The operation that is at work on a virtual machine, or on the tenant node that it is.
fn running(snapshot: &Snapshot, name: &VmName) -> Option<OperationId> {
    let of_node = || {
        let node_of = snapshot.tenants.vms().get(name).and_then(|seen| seen.node_of.as_ref());
        let known =
            node_of.and_then(|of| snapshot.running_for(&Target::TenantNode { cluster: of.cluster.clone(), node: name.to_string() }));
        // It may be gone from the undercloud, or not listed yet.
        let searched = || snapshot.running_for_tenants().find(|(target, _)| vm_of(target).as_ref() == Some(name)).map(|(_, id)| id);
        known.map(|operation| &operation.id).or_else(searched)
    };
    snapshot.running_for(&Target::Vm(name.clone())).map(|operation| &operation.id).or_else(of_node).cloned()
}
