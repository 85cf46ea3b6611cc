//! What must be so after every plan, said once more in the tests' own words.

use std::collections::BTreeSet;

use model::{DeviceAsk, HoldOwner, Machine, MachineName, Power, Readiness};
use plan::{Plan, Snapshot};

use crate::desk::DeadBoots;

/// Every running operation says what it waits for, and so does its machine.
pub fn running_operations_wait(snapshot: &Snapshot) {
    for (machine, id) in snapshot.running() {
        let operation = &snapshot.operations[id];
        let Some(machine) = snapshot.machines.get(machine) else { continue };
        assert!(operation.wait.is_some(), "operation {id} neither waits nor has ended");
        assert_eq!(machine.waits, operation.wait.iter().cloned().collect::<Vec<_>>());
    }
}

pub fn one_control_plane_machine_is_disrupted(snapshot: &Snapshot) {
    let disrupted: Vec<&Machine> = snapshot
        .machines
        .values()
        .filter(|machine| machine.is_kcp() && snapshot.running_on(&machine.name).is_some_and(|operation| operation.action.is_disruptive()))
        .map(AsRef::as_ref)
        .collect();
    assert!(disrupted.len() <= 1, "{:?} are disrupted together", disrupted.iter().map(|machine| &machine.name).collect::<Vec<_>>());
}

/// An operation's hold ends with it.
pub fn holds_have_living_owners(snapshot: &Snapshot) {
    for machine in snapshot.machines.values() {
        for hold in &machine.holds {
            if let HoldOwner::Operation { id } = &hold.owner {
                assert!(snapshot.operations[id].is_running(), "{} is held by {id}, which has ended", machine.name);
            }
        }
    }
}

/// A vote is taken, by an action that begins or a request that is sent, only while every other member was seen
/// healthy; but for the only member there is.
/// `dead_boots` were all seen to end; those in `surely_dead` so lately that no plan may doubt it.
pub fn votes_are_taken_safely(before: &Snapshot, plan: &Plan, dead_boots: &DeadBoots, surely_dead: &DeadBoots) {
    for name in taken_down(before, plan) {
        let machine = &before.machines[name];
        if !machine.is_active_kcp() || was_seen_without_vote(before, machine, dead_boots) {
            continue;
        }
        for other in other_members(before, name) {
            assert!(was_seen_healthy(before, other, surely_dead), "{name} is taken down though {} was not seen healthy", other.name);
        }
    }
}

/// The same, judged by what the devices know of themselves: `down` are the machines whose system does not run.
pub fn no_vote_is_taken_while_another_host_is_down(before: &Snapshot, plan: &Plan, down: &BTreeSet<MachineName>) {
    for name in taken_down(before, plan) {
        if !before.machines[name].is_active_kcp() || down.contains(name) || has_no_ready_node(before, &before.machines[name]) {
            continue;
        }
        for other in other_members(before, name) {
            assert!(!down.contains(&other.name), "{name} is taken down though the system of {} does not run", other.name);
        }
    }
}

fn taken_down<'a>(before: &'a Snapshot, plan: &'a Plan) -> impl Iterator<Item = &'a MachineName> {
    let new = plan.changes.operations.values().filter(|operation| !before.operations.contains_key(&operation.id));
    let begun = new.filter(|operation| operation.action.is_disruptive()).map(|operation| &operation.machine);
    let sent = plan.steps.iter().filter(|step| matches!(step.ask, DeviceAsk::GracefulOff | DeviceAsk::ForceOff)).map(|step| &step.machine);
    begun.chain(sent)
}

fn other_members<'a>(snapshot: &'a Snapshot, name: &'a MachineName) -> impl Iterator<Item = &'a Machine> {
    snapshot.machines.values().map(AsRef::as_ref).filter(move |other| other.is_active_kcp() && other.name != *name)
}

fn was_seen_healthy(snapshot: &Snapshot, machine: &Machine, dead_boots: &DeadBoots) -> bool {
    let seen = snapshot.observation(&machine.name);
    let off = seen.bmc.fault.is_none() && seen.power.is_some_and(|power| power.what == Power::Off);
    let ready = seen.node.and_then(|node| node.what).is_some_and(|node| {
        let is_dead = dead_boots.get(&machine.name) == Some(&node.boot_id);
        node.ready == Readiness::True && !is_dead
    });
    !off && ready && snapshot.undercloud.fault.is_none()
}

fn was_seen_without_vote(snapshot: &Snapshot, machine: &Machine, dead_boots: &DeadBoots) -> bool {
    let seen = snapshot.observation(&machine.name);
    let off = seen.bmc.fault.is_none() && seen.power.as_ref().is_some_and(|power| power.what == Power::Off);
    let is_dead = seen.boot_id().is_some_and(|boot_id| dead_boots.get(&machine.name) == Some(&boot_id));
    off || is_dead || has_no_ready_node(snapshot, machine)
}

fn has_no_ready_node(snapshot: &Snapshot, machine: &Machine) -> bool {
    let stored = machine.last_seen.node.clone().filter(|_| snapshot.undercloud.fault.is_some()).map(|node| node.what.ready);
    let ready = match snapshot.observation(&machine.name).node {
        Some(node) => Some(node.what.map_or(Readiness::Unknown, |node| node.ready)),
        None => stored,
    };
    ready.is_some_and(|ready| ready != Readiness::True)
}
