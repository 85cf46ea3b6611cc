//! What an operation that did not succeed leaves behind, in words: power, holds, what awaits its return, and what became of the
//! machine's member of etcd.

use model::{DeviceAsk, Fact, Machine, Operation, StepKind};

use crate::evacuate;
use crate::install::clean_up;
use crate::words;

pub(crate) fn left_behind(operation: &Operation, machine: &Machine) -> String {
    let power = match (&machine.last_seen.bmc_fault, &machine.last_seen.power) {
        (Some(fault), _) => format!("unknown, {}", words::bmc_trouble(fault.what.class)),
        (None, Some(power)) => format!("{:?}", power.what),
        (None, None) => "unknown".to_owned(),
    };
    let holds = if machine.holds.is_empty() {
        "none".to_owned()
    } else {
        machine.holds.iter().map(|hold| hold.owner.to_string()).collect::<Vec<_>>().join(", ")
    };
    let memory = machine.evacuated.as_ref().and_then(|memory| evacuate::kept_in_memory(operation, memory));
    let etcd = etcd_lacks(operation);
    let more: String = [memory, etcd].into_iter().flatten().map(|words| format!("; {words}")).collect();
    format!("power {power}; holds {holds}{more}{}", clean_up::left_undone(operation))
}

/// That etcd votes without the machine, or may do so: whoever goes on to the next machine of the control plane must know. By the
/// journal alone, which says what was seen, and what was asked without being seen.
fn etcd_lacks(operation: &Operation) -> Option<String> {
    let (_, others) = operation.etcd_peers()?;
    let is_learner = operation.was_seen(StepKind::JoinEtcd);
    let what = if operation.was_seen(StepKind::PromoteEtcd) {
        return None;
    } else if is_learner && may_have_happened(operation, DeviceAsk::PromoteEtcd) {
        "its member of etcd was a learner when it was last seen"
    } else if is_learner {
        "its member of etcd is a learner"
    } else if may_have_happened(operation, DeviceAsk::JoinEtcd) {
        "its member has left etcd, and may be back as a learner"
    } else if operation.done_at(StepKind::LeaveEtcd).is_some() {
        "its member has left etcd"
    } else if may_have_happened(operation, DeviceAsk::LeaveEtcd) {
        "its member may have left etcd"
    } else {
        return None;
    };
    Some(match others.iter().filter(|member| !member.is_learner).count() {
        1 => format!("{what}: 1 other votes"),
        voters => format!("{what}: {voters} others vote"),
    })
}

fn may_have_happened(operation: &Operation, wanted: DeviceAsk) -> bool {
    operation.journal.iter().any(|entry| match entry.fact {
        Fact::Asked { ask, attempt } => ask == wanted && !operation.was_refused(ask, attempt),
        _ => false,
    })
}
