//! How a machine was before a disruptive action, kept with it so that it can be told afterwards what differs.

use model::{Action, Baseline, BaselineNode, BaselineVm, HoldOwner, Machine, OperationId, OperationResult, Readiness, Timestamp, VmSeen};

use crate::snapshot::Snapshot;

/// Recorded in the commit of the acceptance, before anything is stopped. What was recorded while the machine was last in use stays:
/// how a machine is that was emptied, switched off or left half installed is not what people want back.
pub(crate) fn record(snapshot: &Snapshot, machine: &mut Machine, (by, action): (&OperationId, Action), now: Timestamp) {
    if !action.is_disruptive() || (machine.baseline.is_some() && is_out_of_use(snapshot, machine)) {
        return;
    }
    let running = snapshot.vms_on(&machine.name).map(|vm| BaselineVm { vm: vm.name.clone(), state: vm.state });
    let mut vms: Vec<BaselineVm> = running.chain(stopped(snapshot, machine)).collect();
    vms.sort_by(|a, b| a.vm.cmp(&b.vm));
    vms.dedup_by(|a, b| a.vm == b.vm);
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

/// Whether the machine is as an action left it, and not as it was when it was used. One that failed by itself still is: what was last
/// heard of its workloads is newer than any record.
fn is_out_of_use(snapshot: &Snapshot, machine: &Machine) -> bool {
    let is_emptied_or_off = |owner: &HoldOwner| matches!(owner, HoldOwner::Evacuation { .. } | HoldOwner::PoweredOff { .. });
    machine.evacuated.is_some()
        || machine.unhealthy.is_some()
        || machine.holds.iter().any(|hold| is_emptied_or_off(&hold.owner))
        || (!machine.is_ready() && has_failed_action(snapshot, machine))
}

fn has_failed_action(snapshot: &Snapshot, machine: &Machine) -> bool {
    let ends = snapshot.latest_on(&machine.name).filter(|operation| operation.action.is_disruptive());
    let latest = ends.filter_map(|operation| operation.ended.as_ref()).max_by_key(|ended| ended.at);
    latest.is_some_and(|ended| ended.result != OperationResult::Succeeded)
}

/// Those that ran there last, and are stopped: they should be afterwards, too.
fn stopped<'a>(snapshot: &'a Snapshot, machine: &'a Machine) -> impl Iterator<Item = BaselineVm> + 'a {
    let stored = snapshot.vms.values().filter(|vm| vm.machine.as_ref() == Some(&machine.name));
    stored.filter_map(|vm| {
        let seen = snapshot.tenants.vms().get(&vm.name).map(AsRef::as_ref).or(vm.last_seen.as_ref().map(|seen| &seen.what))?;
        (!seen.has_instance()).then(|| BaselineVm { vm: vm.name.clone(), state: seen.state })
    })
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
