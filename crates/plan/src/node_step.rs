//! The node of a machine: cordoned, back after a boot, uncordoned.

use model::{Action, DeviceAsk, Evacuate, NodeSeen, Power, Provisioning, StepKind, Wait, WaitKind};

use crate::asking::ask_or_wait;
use crate::install;
use crate::operate::{Bench, Finding};

/// Keeps new workloads away. A person's cordon waits for it; an action that stops the machine gives it its usual time
/// and goes on, since an undercloud that cannot be reached schedules nothing either.
pub(crate) fn cordon(bench: &Bench<'_>) -> Finding {
    let is_the_goal = matches!(bench.operation.action, Action::Cordon { .. });
    let empties = is_the_goal && bench.operation.action != Action::Cordon { evacuate: Evacuate::No };
    let finding = match bench.sight.node(bench.now) {
        Err(wait) => Finding::wait(wait),
        Ok(None) if is_the_goal && !empties => Finding::wait(not_ready(bench)),
        Ok(None) => Finding::Skip("the machine has no node".into()),
        Ok(Some(node)) if node.unschedulable => Finding::Done,
        Ok(Some(_)) => ask_or_wait(bench, DeviceAsk::Cordon),
    };
    if is_the_goal {
        return finding;
    }
    let patience_ends_at = install::step_began_at(bench.operation).max(bench.keeper_started_at) + bench.limits.expected_cordon;
    match finding {
        Finding::Wait { .. } | Finding::Ask(_) if bench.now >= patience_ends_at => {
            Finding::Skip("the node could not be cordoned in time".into())
        }
        Finding::Fail { because, .. } => Finding::Skip(because),
        Finding::Wait { wait, until } => Finding::wait_until(wait, until.map_or(patience_ends_at, |until| until.min(patience_ends_at))),
        other => other,
    }
}

/// The node is ready again, and it is a new boot that made it so: a kubelet that died a moment ago still looks ready.
pub(crate) fn rejoin(bench: &Bench<'_>) -> Finding {
    if bench.machine.provisioning != Provisioning::Provisioned && !install::installs(bench.operation.action) {
        return Finding::Skip("the machine has no operating system".into());
    }
    let powered_at = [StepKind::PowerOn, StepKind::PhoneHome].into_iter().find_map(|step| bench.operation.done_at(step));
    let since = powered_at.unwrap_or(bench.now);
    match bench.sight.node(bench.now) {
        Err(wait) => Finding::wait(wait),
        Ok(Some(node)) if bench.machine.is_node_ready(node) && is_new_boot(bench, node) => Finding::Done,
        Ok(_) => {
            // A machine that has gone off since will not come back by waiting; whoever looks should see that.
            let kind = if bench.sight.power(since, bench.now) == Ok(Power::Off) { WaitKind::UnexpectedlyOff } else { WaitKind::Rejoin };
            Finding::wait(Wait { kind, since, expected_by: Some(since + bench.limits.expected_rejoin) })
        }
    }
}

fn is_new_boot(bench: &Bench<'_>, node: &NodeSeen) -> bool {
    let booted_by_us = bench.operation.last_asked(DeviceAsk::PowerOn).is_some() || bench.operation.was_seen(StepKind::PowerOff);
    !booted_by_us || Some(node.boot_id.as_str()) != bench.operation.found_boot_id()
}

/// The operation's own holds are gone by now; the node follows unless somebody else still holds the machine.
pub(crate) fn uncordon(bench: &Bench<'_>) -> Finding {
    let is_the_goal = bench.operation.action == Action::Uncordon;
    if !bench.machine.holds.is_empty() {
        return Finding::Done;
    }
    match bench.sight.node(bench.now) {
        Err(wait) => Finding::wait(wait),
        Ok(None) => Finding::Skip("the machine has no node".into()),
        Ok(Some(node)) if !node.unschedulable => Finding::Done,
        // Somebody cordoned the node by hand: only a person's uncordon lifts that.
        Ok(Some(node)) if !node.cordoned_by_us && !is_the_goal => Finding::Done,
        Ok(Some(_)) => ask_or_wait(bench, DeviceAsk::Uncordon),
    }
}

fn not_ready(bench: &Bench<'_>) -> Wait {
    let since = bench.operation.accepted_at;
    Wait { kind: WaitKind::NodeNotReady, since, expected_by: Some(since + bench.limits.expected_rejoin) }
}
