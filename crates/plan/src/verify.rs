//! Post-checks: how a machine, and what was on it, is after an action, against how it was before.
//!
//! What nobody tells now is not judged by what was last heard of it.

use model::{
    BaselineNode, BaselineVm, Evacuated, Machine, MachineName, Operation, PostCheck, PostState, Power, Readiness, VmSeen, VmState,
};

use crate::contact;
use crate::snapshot::Snapshot;
use crate::words::{ProvisioningState, provisioning_state, tells_of_machine};

/// Every post-check of a machine; nothing if there is no such machine.
pub fn verify(snapshot: &Snapshot, name: &MachineName) -> Option<Vec<PostCheck>> {
    let machine = snapshot.machines.get(name)?;
    let mut checks = vec![provisioned(snapshot, machine), ready(snapshot, machine), powered(snapshot, machine)];
    match &machine.baseline {
        Some(baseline) => {
            checks.extend(baseline.vms.iter().filter(|vm| !is_node(snapshot, machine, vm)).map(|vm| judge_vm(snapshot, machine, vm)));
            checks.extend(baseline.nodes.iter().map(|node| judge_node(snapshot, machine, node)));
        }
        None => {
            checks.push(check("baseline", PostState::Ok, "", "none", "no disruptive action is on record, so workloads are not compared"));
        }
    }
    Some(checks)
}

fn check(name: impl Into<String>, state: PostState, expected: &str, found: impl Into<String>, words: impl Into<String>) -> PostCheck {
    PostCheck { name: name.into(), state, expected: expected.into(), found: found.into(), words: words.into(), awaits: None }
}

fn unknown(name: impl Into<String>, expected: &str, last: Option<&str>, words: impl Into<String>) -> PostCheck {
    let found = last.map_or_else(|| "unknown".to_owned(), |last| format!("last heard of {last}"));
    check(name, PostState::Unknown, expected, found, words)
}

fn latest<'a>(snapshot: &'a Snapshot, machine: &MachineName) -> Option<&'a Operation> {
    let own = snapshot.operations.values().filter(|operation| operation.machine() == Some(machine) && tells_of_machine(operation));
    own.max_by_key(|operation| (operation.is_running(), operation.accepted_at)).map(AsRef::as_ref)
}

fn provisioned(snapshot: &Snapshot, machine: &Machine) -> PostCheck {
    let latest = latest(snapshot, &machine.name);
    let state = provisioning_state(machine, latest);
    let (post, words) = match state {
        ProvisioningState::Succeeded => (PostState::Ok, String::new()),
        ProvisioningState::Provisioning => {
            let id = latest.map_or("", |operation| operation.id.short());
            (PostState::Waits, format!("operation {id} is at work on it"))
        }
        ProvisioningState::Failed | ProvisioningState::Canceled => {
            let message = latest.and_then(|operation| operation.ended.as_ref()).map(|ended| ended.message.clone());
            (PostState::Differs, message.unwrap_or_default())
        }
    };
    check("provisioningState", post, "Succeeded", format!("{state:?}"), words)
}

fn ready(snapshot: &Snapshot, machine: &Machine) -> PostCheck {
    let found = if machine.is_ready() { "True" } else { "False" };
    if let Some(fault) = contact::undercloud_fault(snapshot) {
        return unknown("readyState", "True", Some(found), format!("the undercloud does not answer: {fault}"));
    }
    if snapshot.observation(&machine.name).node.is_none() {
        return unknown("readyState", "True", Some(found), "its node has not been looked at since the keeper started");
    }
    match (machine.is_ready(), &machine.baseline) {
        (true, _) => check("readyState", PostState::Ok, "True", found, ""),
        (false, Some(baseline)) if !baseline.was_ready => {
            check("readyState", PostState::Differs, "True", found, "it was not ready before the action either")
        }
        (false, _) => {
            let waits = machine.waits.first().map(|wait| format!("it waits for {}", wait.kind)).unwrap_or_default();
            check("readyState", PostState::Differs, "True", found, waits)
        }
    }
}

fn powered(snapshot: &Snapshot, machine: &Machine) -> PostCheck {
    let last = machine.last_seen.power.as_ref().map(|power| power.what);
    let heard = last.map(|power| format!("{power:?}"));
    if let Some(fault) = &machine.last_seen.bmc_fault {
        let words = format!("its BMC does not tell since {}: {}", fault.at.clock(), fault.what);
        return unknown("powerState", "On", heard.as_deref(), words);
    }
    match last.filter(|_| snapshot.observation(&machine.name).power.is_some()) {
        Some(Power::On) => check("powerState", PostState::Ok, "On", "On", ""),
        Some(Power::PoweringOn) => check("powerState", PostState::Waits, "On", "PoweringOn", "it is going on"),
        Some(power) => {
            check("powerState", PostState::Differs, "On", format!("{power:?}"), format!("rackwright bmm start {}", machine.name))
        }
        None => unknown("powerState", "On", heard.as_deref(), "its BMC has not been looked at since the keeper started"),
    }
}

/// The virtual machines of tenant nodes are judged as nodes.
fn is_node(snapshot: &Snapshot, machine: &Machine, vm: &BaselineVm) -> bool {
    let is_listed = machine.baseline.as_ref().is_some_and(|baseline| baseline.nodes.iter().any(|node| node.node == vm.vm.as_str()));
    is_listed || snapshot.tenants.vms().get(&vm.vm).is_some_and(|seen| seen.node_of.is_some())
}

fn remembers(memory: Option<&Evacuated>, vm: &str) -> bool {
    memory.is_some_and(|memory| memory.vms.iter().any(|stopped| stopped.vm.name.as_str() == vm))
}

fn judge_vm(snapshot: &Snapshot, machine: &Machine, before: &BaselineVm) -> PostCheck {
    let name = format!("virtual machine `{}`", before.vm);
    let expected = if is_up(before.state) { "running" } else { before.state.in_words() };
    let seen = snapshot.tenants.vms().get(&before.vm);
    if !contact::are_tenants_heard(snapshot) {
        return unknown(name, expected, seen.map(|seen| seen.state.in_words()), "nothing is heard of virtual machines now");
    }
    let Some(seen) = seen else { return check(name, PostState::Differs, expected, "gone", "it was deleted meanwhile") };
    // KubeVirt goes on saying what it last heard of a machine that has fallen silent.
    let is_here = seen.node().and_then(|node| snapshot.machine_of_node(node)) == Some(&machine.name);
    if is_here && seen.has_instance() && !machine.is_ready() && snapshot.running_on(&machine.name).is_none() {
        let found = format!("last heard of {}", seen.state.in_words());
        return check(name, PostState::Differs, expected, found, "its machine is not ready");
    }
    let was_stopped = matches!(before.state, VmState::Stopped | VmState::Stopping);
    let (state, words) = match (is_up(before.state), seen.state) {
        (true, VmState::Running | VmState::Migrating) => (PostState::Ok, String::new()),
        (false, VmState::Stopped) if was_stopped => (PostState::Ok, String::new()),
        // What was being made or failing before is expected to be better now.
        (false, VmState::Running) if !was_stopped => (PostState::Ok, String::new()),
        (false, _) if seen.state == before.state => (PostState::Ok, format!("it was {} before", before.state.in_words())),
        (_, VmState::Provisioning | VmState::Starting) if !was_stopped => (PostState::Waits, "it is still starting".into()),
        (true, _) if remembers(machine.evacuated.as_ref(), before.vm.as_str()) => {
            return coming_back(snapshot, machine, check(name, PostState::Waits, expected, seen.state.in_words(), ""));
        }
        (true, VmState::Stopped) => (PostState::Differs, format!("nobody is about to start it: rackwright vm start {}", before.vm)),
        (false, VmState::Running) => (PostState::Differs, "somebody has started it meanwhile".into()),
        _ => (PostState::Differs, told(seen)),
    };
    check(name, state, expected, seen.state.in_words(), words)
}

/// What brings back what was stopped to empty the machine.
fn coming_back(snapshot: &Snapshot, machine: &Machine, check: PostCheck) -> PostCheck {
    if let Some(running) = snapshot.running_on(&machine.name) {
        return PostCheck { words: format!("operation {} is at work on the machine", running.id.short()), ..check };
    }
    if machine.unhealthy.is_some() {
        let words = format!("the machine was given up: rackwright bmm replace {}", machine.name);
        return PostCheck { state: PostState::Differs, words, ..check };
    }
    let verb = match &machine.holds {
        holds if holds.is_empty() => return PostCheck { words: "it is being brought back".into(), ..check },
        holds if holds.iter().any(|hold| hold.owner.is_powered_off()) => "start",
        _ => "uncordon",
    };
    let command = format!("rackwright bmm {verb} {}", machine.name);
    PostCheck { words: format!("it comes back with {command}"), awaits: Some(command), ..check }
}

fn is_up(state: VmState) -> bool {
    matches!(state, VmState::Running | VmState::Migrating | VmState::Starting | VmState::Paused)
}

fn told(seen: &VmSeen) -> String {
    seen.message.clone().unwrap_or_else(|| "look at its messages".into())
}

fn judge_node(snapshot: &Snapshot, machine: &Machine, before: &BaselineNode) -> PostCheck {
    let name = format!("node `{}` of tenant cluster `{}`", before.node, before.cluster);
    let expected = if before.was_ready { "Ready here" } else { "as before: not Ready" };
    let inside = snapshot.tenants.insides.get(&before.cluster);
    let node = inside.and_then(|inside| inside.nodes.get(before.node.as_str()));
    let is_remembered = remembers(machine.evacuated.as_ref(), &before.node)
        || machine.evacuated.as_ref().is_some_and(|memory| memory.nodes.iter().any(|node| node.node == before.node));
    if !contact::are_tenants_heard(snapshot) {
        return unknown(name, expected, None, "nothing is heard of virtual machines now");
    }
    let Some(inside) = inside.filter(|inside| inside.listed_at.is_some() && inside.contact.fault.is_none()) else {
        return unknown(name, expected, None, "the API of its tenant cluster does not answer");
    };
    let Some(node) = node else {
        let count = inside.nodes.len();
        let words = format!("its tenant cluster has {count} nodes, and not this one: Cluster API may have made another in its place");
        return check(name, PostState::Differs, expected, "gone", words);
    };
    let on = machine_of(snapshot, before);
    let is_elsewhere = on.is_some_and(|on| *on != machine.name);
    let found = match (node.ready, on) {
        (Readiness::True, Some(on)) => format!("Ready on `{on}`"),
        (Readiness::True, None) => "Ready".to_owned(),
        _ => "not Ready".to_owned(),
    };
    match node.ready {
        _ if !before.was_ready && !is_elsewhere => check(name, PostState::Ok, expected, found, ""),
        Readiness::True if is_elsewhere => check(name, PostState::Differs, expected, found, "it runs on another machine now"),
        Readiness::True if node.is_unschedulable && before.was_schedulable && is_remembered => {
            coming_back(snapshot, machine, check(name, PostState::Waits, expected, format!("{found}, cordoned"), ""))
        }
        Readiness::True if node.is_unschedulable && before.was_schedulable => {
            check(name, PostState::Differs, expected, format!("{found}, cordoned"), "it was schedulable before")
        }
        Readiness::True => check(name, PostState::Ok, expected, found, ""),
        _ if is_remembered => coming_back(snapshot, machine, check(name, PostState::Waits, expected, found, "")),
        _ => check(name, PostState::Differs, expected, found, "it was Ready before"),
    }
}

/// The machine that the node's virtual machine runs on; else what the node's own label says.
fn machine_of<'a>(snapshot: &'a Snapshot, before: &BaselineNode) -> Option<&'a MachineName> {
    let vm = model::VmName::new(before.node.clone()).ok()?;
    let seen = snapshot.tenants.vms().get(&vm)?;
    snapshot.machine_of_node(seen.node()?)
}
