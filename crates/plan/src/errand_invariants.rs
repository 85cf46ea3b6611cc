//! What must stay true of the errands of any plan. Written without looking at how plans are made.

use model::{
    Action, DrainPolicy, Errand, Evacuate, Fact, Machine, Management, Operation, PodRef, Shutdown, TenantClusterName, VmName, VmRef,
};

use crate::draft::{ErrandStep, Plan};
use crate::invariants::Violation;
use crate::snapshot::Snapshot;

pub(crate) fn check(before: &Snapshot, after: &Snapshot, plan: &Plan, violations: &mut Vec<Violation>) {
    for step in &plan.errands {
        let mut object = |what: &str| violations.push(Violation(format!("{}: {what}", step.errand)));
        if !is_recorded(before, after, step) {
            object("it is not recorded as an intent");
        }
        if !is_of_managed(after, step) {
            object("its machine is not managed");
        }
        if !is_forced_by_right(before, after, step) {
            object("nobody asked for force");
        }
        if !is_remembered(after, step) {
            object("what is stopped for a machine's sake is not remembered");
        }
    }
}

/// In the journal of its operation; of a pod, as the drain of its node; and outside of operations with the emptied machine.
fn is_recorded(before: &Snapshot, after: &Snapshot, step: &ErrandStep) -> bool {
    let Some(id) = &step.operation else { return is_of_memory(after, step) };
    let Some(operation) = after.operations.get(id).filter(|operation| operation.is_running()) else { return false };
    match &step.errand {
        Errand::Evict { cluster, pod, .. } | Errand::DeletePod { cluster, pod, .. } => {
            node_of(before, cluster, pod).is_some_and(|node| is_draining(operation, cluster, &node))
        }
        errand => operation.journal.iter().any(
            |entry| matches!(&entry.fact, Fact::ErrandAsked { errand: asked, attempt } if asked == errand && *attempt == step.attempt),
        ),
    }
}

fn node_of(before: &Snapshot, cluster: &TenantClusterName, pod: &PodRef) -> Option<String> {
    let pods = before.tenants.insides.get(cluster)?.pods();
    pods.get(&(pod.namespace.clone(), pod.name.clone())).filter(|seen| seen.pod.uid == pod.uid)?.node.clone()
}

fn is_draining(operation: &Operation, cluster: &TenantClusterName, node: &str) -> bool {
    operation
        .journal
        .iter()
        .any(|entry| matches!(&entry.fact, Fact::Draining { cluster: drained, node: name } if drained == cluster && name == node))
}

fn machine_of<'a>(after: &'a Snapshot, step: &ErrandStep) -> Option<&'a Machine> {
    step.machine.as_ref().and_then(|name| after.machines.get(name)).map(AsRef::as_ref)
}

/// Only what brings back is asked for without an operation, and of what is remembered.
fn is_of_memory(after: &Snapshot, step: &ErrandStep) -> bool {
    let Some(memory) = machine_of(after, step).and_then(|machine| machine.evacuated.as_ref()) else { return false };
    let knows = |cluster: &TenantClusterName, node: &str| memory.nodes.iter().find(|known| known.cluster == *cluster && known.node == node);
    match &step.errand {
        Errand::StartVm { vm } => memory.vms.iter().any(|stopped| stopped.vm == *vm && stopped.start_attempts == step.attempt),
        Errand::StopVm { vm, shutdown: Shutdown::Skip } => {
            memory.vms.iter().any(|stopped| stopped.vm == *vm && stopped.force_attempts == step.attempt)
        }
        Errand::UncordonNode { cluster, node } => knows(cluster, node).is_some_and(|known| known.uncordon_attempts == step.attempt),
        Errand::ResumeRemediation { cluster, node } => knows(cluster, node).is_some_and(|known| known.is_skipped),
        Errand::ClearOutOfService { cluster, node } => knows(cluster, node).is_some_and(|known| known.is_out_of_service),
        _ => false,
    }
}

fn is_of_managed(after: &Snapshot, step: &ErrandStep) -> bool {
    let Some(name) = &step.machine else { return true };
    machine_of(after, step).is_some_and(|machine| machine.management == Management::Managed) && !after.undescribed.contains(name)
}

/// A pod is deleted only where its policy says so, and a node is let go only by a forced evacuation.
fn is_forced_by_right(before: &Snapshot, after: &Snapshot, step: &ErrandStep) -> bool {
    match &step.errand {
        Errand::DeletePod { cluster, pod, .. } => {
            let node = node_of(before, cluster, pod);
            let vm = node.and_then(|node| VmName::new(node).ok()).and_then(|name| before.tenants.vms().get(&name));
            let pool = vm.and_then(|vm| vm.node_of.as_ref()).and_then(|of| of.pool.as_ref());
            after.tenant_clusters.get(cluster).is_some_and(|cluster| cluster.drain_policy(pool) == DrainPolicy::Force)
        }
        Errand::MarkOutOfService { .. } => {
            let operation = step.operation.as_ref().and_then(|id| after.operations.get(id));
            operation.is_some_and(|operation| operation.action == Action::Cordon { evacuate: Evacuate::Forced })
        }
        _ => true,
    }
}

fn is_remembered(after: &Snapshot, step: &ErrandStep) -> bool {
    let remembers = |vm: &VmRef| {
        let memory = machine_of(after, step).and_then(|machine| machine.evacuated.as_ref());
        memory.is_some_and(|memory| memory.vms.iter().any(|stopped| stopped.vm == *vm))
    };
    match &step.errand {
        Errand::StopVm { vm, .. } if step.machine.is_some() => remembers(vm),
        Errand::CordonNode { cluster, node } => {
            let memory = machine_of(after, step).and_then(|machine| machine.evacuated.as_ref());
            memory.is_some_and(|memory| memory.nodes.iter().any(|known| known.cluster == *cluster && known.node == *node))
        }
        _ => true,
    }
}
