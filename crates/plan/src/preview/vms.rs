//! What becomes of the virtual machines of a machine.

use std::collections::BTreeMap;

use model::{StoppedVm, VmFate, VmName, VmOutcome, VmSeen, VmState};

use super::{Effect, Scene};
use crate::evacuate::is_given_up;

/// Those that run there, those that are stopped there, and those that an earlier operation stopped and remembers. By name.
pub(super) fn fates(scene: &Scene<'_>) -> Vec<VmFate> {
    let mut fates: BTreeMap<VmName, VmFate> = BTreeMap::new();
    for vm in scene.snapshot.vms_on(&scene.machine.name) {
        fates.insert(vm.name.clone(), fate(vm, outcome_here(scene, vm)));
    }
    for stopped in scene.machine.evacuated.iter().flat_map(|evacuated| &evacuated.vms) {
        if let Some(vm) = still_there(scene, stopped) {
            let outcome = if scene.frees_machine() { VmOutcome::Started } else { VmOutcome::StaysStopped };
            fates.entry(vm.name.clone()).or_insert_with(|| fate(vm, outcome));
        }
    }
    let stored = scene.snapshot.vms.values().filter(|vm| vm.machine.as_ref() == Some(&scene.machine.name));
    let seen = stored.filter_map(|vm| scene.snapshot.tenants.vms().get(&vm.name)).filter(|vm| !vm.has_instance());
    for vm in seen {
        fates.entry(vm.name.clone()).or_insert_with(|| fate(vm, VmOutcome::StaysStopped));
    }
    fates.into_values().collect()
}

fn fate(vm: &VmSeen, outcome: VmOutcome) -> VmFate {
    VmFate { name: vm.name.clone(), state: vm.state, node_of: vm.node_of.as_ref().map(|node| node.cluster.clone()), outcome }
}

fn outcome_here(scene: &Scene<'_>, vm: &VmSeen) -> VmOutcome {
    match scene.effect {
        _ if !vm.has_instance() => VmOutcome::StaysStopped,
        _ if is_given_up(vm) && !scene.is_host_gone() => VmOutcome::StaysStopped,
        Effect::Empties | Effect::Fells if scene.is_host_gone() => VmOutcome::Lost,
        Effect::Empties | Effect::Fells => VmOutcome::Stopped,
        Effect::Fills | Effect::LeavesAlone => VmOutcome::Untouched,
    }
}

/// The very object that was stopped, if nobody has made another of it or started it since.
fn still_there<'a>(scene: &Scene<'a>, stopped: &StoppedVm) -> Option<&'a VmSeen> {
    let vm = scene.snapshot.tenants.vms().get(&stopped.vm.name)?;
    (vm.uid == stopped.vm.uid && !vm.has_instance() && vm.state != VmState::Terminating).then_some(vm)
}
