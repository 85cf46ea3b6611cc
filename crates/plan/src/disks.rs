//! Whose disks are on a machine, and whether that can be told. What is not known is never taken for nothing: it is other people's data.

use std::collections::BTreeSet;

use model::{Machine, MachineName, OsDiskSeen, VmName, VmSeen};

use crate::contact;
use crate::snapshot::Snapshot;

/// Most virtual machines that a sentence names.
const NAMED_MAX: usize = 5;

/// Virtual machines whose disks are on the machine, or may be: those that run there or ran there last, those that are to come back to it,
/// and those that were on it before the latest action and are nowhere else since.
pub(crate) fn owners(snapshot: &Snapshot, machine: &Machine) -> BTreeSet<VmName> {
    let mut owners: BTreeSet<VmName> = snapshot.vms_on(&machine.name).map(|vm| vm.name.clone()).collect();
    owners.extend(snapshot.vms.values().filter(|vm| vm.machine.as_ref() == Some(&machine.name)).map(|vm| vm.name.clone()));
    let to_come_back = machine.evacuated.iter().flat_map(|memory| &memory.vms).map(|stopped| &stopped.vm.name);
    let of_before = machine.baseline.iter().flat_map(|baseline| &baseline.vms).map(|before| &before.vm);
    owners.extend(to_come_back.chain(of_before).filter(|name| !is_elsewhere(snapshot, machine, name)).cloned());
    for inside in snapshot.tenants.insides.values() {
        let here = inside.nodes.values().filter(|node| node.machine.as_deref() == Some(machine.name.as_str()));
        owners.extend(here.filter_map(|node| VmName::new(node.name.clone()).ok()).filter(|name| !is_elsewhere(snapshot, machine, name)));
    }
    owners
}

/// Whether it is known to have gone, or to be on another machine.
fn is_elsewhere(snapshot: &Snapshot, machine: &Machine, name: &VmName) -> bool {
    if !contact::are_tenants_heard(snapshot) {
        return false;
    }
    let Some(seen) = snapshot.tenants.vms().get(name) else { return true };
    let runs_on = seen.node().and_then(|node| snapshot.machine_of_node(node));
    let ran_on = || snapshot.vms.get(name).and_then(|vm| vm.machine.as_ref());
    runs_on.or_else(ran_on).is_some_and(|on| *on != machine.name)
}

/// Why there may be owners that nobody can name.
pub(crate) fn unseen(snapshot: &Snapshot) -> Option<String> {
    if !contact::are_tenants_heard(snapshot) {
        return Some("nothing is heard of virtual machines now".into());
    }
    let lost: Vec<&VmName> = snapshot.tenants.vms().values().filter(|vm| is_nowhere(snapshot, vm)).map(|vm| &vm.name).collect();
    (!lost.is_empty()).then(|| format!("nobody has seen where the disk of {} is", named(lost)))
}

/// One that was stopped before anybody saw it run: its disk is on some machine.
fn is_nowhere(snapshot: &Snapshot, vm: &VmSeen) -> bool {
    let has_disk = matches!(vm.os_disk, Some(OsDiskSeen::There { .. }));
    has_disk && vm.node().is_none() && place_of(snapshot, vm).is_none()
}

fn place_of<'a>(snapshot: &'a Snapshot, vm: &VmSeen) -> Option<&'a MachineName> {
    let ran_on = snapshot.vms.get(&vm.name).and_then(|stored| stored.machine.as_ref());
    let labelled = || {
        let inside = snapshot.tenants.insides.get(&vm.node_of.as_ref()?.cluster)?;
        let label = inside.nodes.get(vm.name.as_str())?.machine.as_deref()?;
        snapshot.machines.keys().find(|name| name.as_str() == label)
    };
    let remembered = || {
        let remembers = |machine: &&std::sync::Arc<Machine>| {
            machine.evacuated.as_ref().is_some_and(|memory| memory.vms.iter().any(|stopped| stopped.vm.name == vm.name))
        };
        snapshot.machines.values().find(remembers).map(|machine| &machine.name)
    };
    ran_on.or_else(labelled).or_else(remembered)
}

/// The first few of them, and how many more there are.
pub(crate) fn named<'a>(names: impl IntoIterator<Item = &'a VmName>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    let mut said = names.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > NAMED_MAX {
        said.push_str(&format!(" and {} more", names.len() - NAMED_MAX));
    }
    said
}
