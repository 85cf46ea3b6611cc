//! Documents of virtual machines: they follow what KubeVirt reports, whoever made them. Transitions only.

use model::{
    FIRST_EDITION, Limits, RunStrategy, Seen, Target, Timestamp, Vm, VmName, VmProvisioning, VmSeen, VmSpec, VmState, Wait, WaitKind,
};

use crate::draft::Draft;

/// How much of a gigabyte a remainder of memory counts: a whole one, since that is what it needs.
const GIB: u64 = 1 << 30;

pub(super) fn note_seen(draft: &mut Draft, name: &VmName, now: Timestamp) {
    // Before the first listing, what is absent may be there.
    if draft.after.tenants.listed_at.is_none() {
        return;
    }
    let is_busy = draft.after.running_for(&Target::Vm(name.clone())).is_some();
    let seen = draft.after.tenants.vms().get(name).filter(|seen| seen.node_of.is_none()).cloned();
    let stored = draft.after.vms.get(name).cloned();
    match (seen, stored) {
        (None, None) => {}
        // One that an operation is at work on is the operation's to judge.
        (None, Some(stored)) => {
            if !is_busy && stored.uid.is_some() {
                draft.forget_vm(name);
            }
        }
        (Some(seen), None) => {
            let vm = adopted(draft, &seen, now);
            draft.save_vm(vm);
        }
        (Some(seen), Some(stored)) => match &stored.uid {
            Some(uid) if *uid != seen.uid && !is_busy => {
                let vm = adopted(draft, &seen, now);
                draft.save_vm(vm);
            }
            Some(uid) if *uid != seen.uid => {}
            None if is_busy => {}
            // A creation that was given up has come to something after all.
            _ => follow(draft, &stored, &seen, is_busy, now),
        },
    }
}

/// One that was made past us: what can be read of it.
fn adopted(draft: &Draft, seen: &VmSeen, now: Timestamp) -> Vm {
    let memory_gb = u32::try_from(seen.memory_bytes.div_ceil(GIB)).unwrap_or(u32::MAX);
    let mut vm = Vm {
        name: seen.name.clone(),
        cluster: draft.after.cluster.name.clone(),
        spec: VmSpec { cpu_cores: seen.cpu_cores, memory_gb, ..VmSpec::default() },
        tags: std::collections::BTreeMap::new(),
        created_at: seen.created_at.unwrap_or(now),
        edition: FIRST_EDITION,
        modified: None,
        provisioning: VmProvisioning::Provisioning,
        uid: Some(seen.uid.clone()),
        last_seen: None,
        machine: None,
        waits: Vec::new(),
    };
    note(draft, &mut vm, seen, false, now);
    vm
}

fn follow(draft: &mut Draft, stored: &Vm, seen: &VmSeen, is_busy: bool, now: Timestamp) {
    let mut vm = stored.clone();
    note(draft, &mut vm, seen, is_busy, now);
    draft.save_vm(vm);
}

fn note(draft: &Draft, vm: &mut Vm, seen: &VmSeen, is_busy: bool, now: Timestamp) {
    vm.uid = Some(seen.uid.clone());
    if vm.last_seen.as_ref().is_none_or(|known| known.what != *seen) {
        vm.last_seen = Some(Seen { what: seen.clone(), at: now });
    }
    if let Some(machine) = seen.node().and_then(|node| draft.after.machine_of_node(node)) {
        vm.machine = Some(machine.clone());
    }
    if !is_busy {
        vm.provisioning = provisioned(vm.provisioning, seen.state);
        vm.waits = idle_waits(vm, seen, &draft.after.cluster.limits, now);
    }
}

/// One that nobody here is making: it is being made past us for as long as its disks are; and one whose creation was given up
/// has come up after all once it runs.
fn provisioned(known: VmProvisioning, state: VmState) -> VmProvisioning {
    match (known, state) {
        (VmProvisioning::Accepted | VmProvisioning::Provisioning, VmState::Provisioning) => VmProvisioning::Provisioning,
        (VmProvisioning::Accepted | VmProvisioning::Provisioning, _) | (_, VmState::Running) => VmProvisioning::Succeeded,
        (other, _) => other,
    }
}

/// What KubeVirt has yet to do about it, if nobody is doing anything to it.
fn idle_waits(vm: &Vm, seen: &VmSeen, limits: &Limits, now: Timestamp) -> Vec<Wait> {
    let runs = matches!(seen.state, VmState::Running | VmState::Paused | VmState::Migrating);
    let name = vm.name.clone();
    let (kind, usual) = match (seen.run, seen.state) {
        (_, VmState::Terminating) => return Vec::new(),
        (RunStrategy::Always, VmState::Unschedulable | VmState::Failing) => {
            let because = seen.message.clone().unwrap_or_else(|| format!("it is {}", seen.state.in_words()));
            (WaitKind::VmHindered { vm: name, because }, limits.expected_vm_start)
        }
        (RunStrategy::Always, _) if !runs => (WaitKind::VmState { vm: name, wanted: VmState::Running }, limits.expected_vm_start),
        (RunStrategy::Halted, _) if seen.has_instance() => {
            (WaitKind::VmState { vm: name, wanted: VmState::Stopped }, limits.expected_vm_stop)
        }
        _ => return Vec::new(),
    };
    let same = vm.waits.iter().find(|wait| std::mem::discriminant(&wait.kind) == std::mem::discriminant(&kind));
    let since = same.map_or(now, |wait| wait.since);
    vec![Wait { kind, since, expected_by: Some(since + usual) }]
}
