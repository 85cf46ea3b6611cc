//! How a machine was before a disruptive action, kept with it so that it can be told afterwards what differs.

use model::{Action, Baseline, BaselineNode, BaselineVm, HoldOwner, Machine, OperationId, Readiness, Timestamp, VmSeen};

use crate::snapshot::Snapshot;

/// Recorded in the commit of the acceptance, before anything is stopped. A machine that was emptied before keeps what was recorded
/// then: what is on it now is not what people want back.
pub(crate) fn record(snapshot: &Snapshot, machine: &mut Machine, (by, action): (&OperationId, Action), now: Timestamp) {
    let is_emptied = machine.evacuated.is_some() || machine.holds.iter().any(|hold| matches!(hold.owner, HoldOwner::Evacuation { .. }));
    if !action.is_disruptive() || (is_emptied && machine.baseline.is_some()) {
        return;
    }
    let mut vms: Vec<BaselineVm> = snapshot.vms_on(&machine.name).map(|vm| BaselineVm { vm: vm.name.clone(), state: vm.state }).collect();
    vms.sort_by(|a, b| a.vm.cmp(&b.vm));
    let mut nodes: Vec<BaselineNode> = snapshot.vms_on(&machine.name).filter_map(|vm| node(snapshot, vm)).collect();
    nodes.sort_by(|a, b| (&a.cluster, &a.node).cmp(&(&b.cluster, &b.node)));
    machine.baseline = Some(Box::new(Baseline {
        at: now,
        by: by.clone(),
        action,
        power: machine.last_seen.power.as_ref().map(|power| power.what),
        was_ready: machine.is_ready(),
        was_cordoned: machine.is_cordoned(),
        vms,
        nodes,
    }));
}

fn node(snapshot: &Snapshot, vm: &VmSeen) -> Option<BaselineNode> {
    let of = vm.node_of.as_ref()?;
    let inside = snapshot.tenants.insides.get(&of.cluster);
    let seen = inside.and_then(|inside| inside.nodes.get(vm.name.as_str()));
    Some(BaselineNode {
        cluster: of.cluster.clone(),
        node: vm.name.to_string(),
        was_ready: seen.is_some_and(|node| node.ready == Readiness::True),
        was_schedulable: seen.is_some_and(|node| !node.is_unschedulable),
    })
}
