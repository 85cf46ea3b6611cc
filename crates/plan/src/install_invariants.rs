//! What must stay true of any plan that installs a machine. Written without looking at how such plans are made.

use model::{Action, DeviceAsk, Fact, Found, Operation, Power, StepKind, StoragePolicy};

use crate::draft::{Plan, Step, With};
use crate::invariants::{Violation, has_vote};
use crate::membership;
use crate::snapshot::Snapshot;

pub(crate) fn check(before: &Snapshot, after: &Snapshot, plan: &Plan, violations: &mut Vec<Violation>) {
    for step in &plan.steps {
        let operation = step.operation.as_ref().and_then(|id| after.operations.get(id)).map(AsRef::as_ref);
        nothing_changes_under_a_running_machine(before, step, violations);
        volumes_go_only_where_all_is_discarded(operation, step, violations);
        etcd_can_spare_whoever_leaves(before, step, violations);
        nothing_is_written_before_etcd_has_let_go(before, operation, step, violations);
    }
}

/// What the machine starts from, and the agent itself, are for a machine that is seen off.
fn nothing_changes_under_a_running_machine(before: &Snapshot, step: &Step, violations: &mut Vec<Violation>) {
    let concerns = matches!(
        step.ask,
        DeviceAsk::InsertMedia | DeviceAsk::BootFromMedia | DeviceAsk::BootFromHttp | DeviceAsk::BootFromPxe | DeviceAsk::AgentOn
    );
    let observation = before.observation(&step.machine);
    let is_off = observation.bmc.fault.is_none() && observation.power.is_some_and(|power| power.what != Power::On);
    if concerns && !is_off {
        violations.push(Violation(format!("{}: the {} is sent to a machine that is not seen off", step.machine, step.ask)));
    }
}

fn volumes_go_only_where_all_is_discarded(operation: Option<&Operation>, step: &Step, violations: &mut Vec<Violation>) {
    let discards_all =
        operation.is_some_and(|operation| matches!(operation.action, Action::Replace { storage: StoragePolicy::DiscardAll, .. }));
    // One that is made takes drives that may hold data as well.
    if matches!(step.ask, DeviceAsk::DeleteVolume | DeviceAsk::MakeOsVolume) && !discards_all {
        violations.push(Violation(format!("{}: the {} is sent, and nobody said that data may be lost", step.machine, step.ask)));
    }
}

/// The voters that stay can agree without the one that goes.
fn etcd_can_spare_whoever_leaves(before: &Snapshot, step: &Step, violations: &mut Vec<Violation>) {
    let (DeviceAsk::LeaveEtcd, With::Member { id }) = (step.ask, &step.with) else { return };
    let Some(Ok(Found::Etcd(seen))) = before.etcd.as_ref().map(|looked| &looked.found) else {
        violations.push(Violation(format!("{}: a member leaves an etcd that nobody has looked at", step.machine)));
        return;
    };
    let voters = || seen.members.iter().filter(|member| !member.is_learner);
    if !voters().any(|member| member.id == *id) {
        return;
    }
    let staying: Vec<_> = voters().filter(|member| member.id != *id).collect();
    let votes = |member| before.control_plane().any(|machine| membership::is_of(before, member, machine) && has_vote(before, machine));
    let able = staying.iter().filter(|member| votes(member)).count();
    if able < staying.len() / 2 + 1 {
        violations.push(Violation(format!("{}: {able} of {} would be left voting in etcd", step.machine, staying.len())));
    }
}

fn nothing_is_written_before_etcd_has_let_go(
    before: &Snapshot,
    operation: Option<&Operation>,
    step: &Step,
    violations: &mut Vec<Violation>,
) {
    if step.ask != DeviceAsk::AgentOn {
        return;
    }
    let has_left = operation.is_some_and(|operation| {
        operation
            .journal
            .iter()
            .any(|entry| matches!(entry.fact, Fact::Seen { step: StepKind::LeaveEtcd } | Fact::Skipped { step: StepKind::LeaveEtcd, .. }))
    });
    let listed = match (before.etcd.as_ref().map(|looked| &looked.found), before.machines.get(&step.machine)) {
        (Some(Ok(Found::Etcd(seen))), Some(machine)) => membership::member_of(before, seen, machine, None).is_some(),
        _ => false,
    };
    if !has_left || listed {
        violations.push(Violation(format!("{}: it is written anew before etcd has let its member go", step.machine)));
    }
}
