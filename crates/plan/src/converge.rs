//! A machine that no operation is at work on: its node follows its holds, and what is not as it should be has a wait.

use model::{
    DesiredPower, DeviceAsk, HoldOwner, Limits, Machine, Management, NodeAsk, NodeSeen, Power, Provisioning, Timestamp, Wait, WaitKind,
};

use crate::draft::Draft;
use crate::operate::{settle_of, step_for};
use crate::sight::{Sight, is_node_ready};

/// Returns when to look again if nothing else happens.
pub(crate) fn plan_holds(draft: &mut Draft, machine: &mut Machine, now: Timestamp) -> Option<Timestamp> {
    if let Management::Unmanaged { since, .. } = &machine.management {
        machine.waits = vec![Wait { kind: WaitKind::Unmanaged, since: *since, expected_by: None }];
        return None;
    }
    let snapshot = draft.after.clone();
    let sight = Sight::of(&snapshot, machine);
    release_after_return(machine, &sight, now);
    let mut waits = Vec::new();
    let mut revisit = None;
    power_waits(machine, &sight, now, &mut waits);
    if let Some(node) = sight.last_node() {
        node_waits(machine, node, now, &mut waits);
    }
    match sight.node(now) {
        // The cluster's own wait tells of a silent undercloud; the machine's says what it cannot get meanwhile.
        Err(wait) if matches!(wait.kind, WaitKind::Device { .. }) => waits.extend(match sight.last_node() {
            None => Some(sight.first_look_at_node()),
            Some(node) => due_ask(machine, node).map(|ask| hold_wait(machine, ask, &snapshot.cluster.limits, now)),
        }),
        Err(wait) => waits.push(wait),
        Ok(node) => revisit = follow_holds(draft, machine, &sight, node, now, &mut waits),
    }
    keep_since(&machine.waits, &mut waits);
    machine.waits = waits;
    revisit
}

/// A power-off's hold has done its work once the machine is back, whoever brought it back: from then on it should be on.
fn release_after_return(machine: &mut Machine, sight: &Sight<'_>, now: Timestamp) {
    let on = sight.power(Timestamp::EPOCH, now) == Ok(Power::On);
    let ready = sight.node(now).is_ok_and(is_node_ready);
    if on && ready && machine.provisioning == Provisioning::Provisioned {
        machine.holds.retain(|hold| !hold.owner.is_powered_off());
        machine.desired_power = DesiredPower::On;
    }
}

fn power_waits(machine: &Machine, sight: &Sight<'_>, now: Timestamp, waits: &mut Vec<Wait>) {
    let since = machine.last_seen.power.as_ref().map_or(now, |power| power.at);
    match sight.power(Timestamp::EPOCH, now) {
        Err(wait) => waits.push(wait),
        Ok(Power::Off) if machine.provisioning == Provisioning::Provisioned => {
            let kind = match machine.desired_power {
                DesiredPower::Off => WaitKind::PoweredOff { by: powered_off_by(machine) },
                DesiredPower::On => WaitKind::UnexpectedlyOff,
            };
            waits.push(Wait { kind, since, expected_by: None });
        }
        Ok(_) => {}
    }
}

fn powered_off_by(machine: &Machine) -> Option<model::OperationId> {
    machine.holds.iter().find_map(|hold| match &hold.owner {
        HoldOwner::PoweredOff { by } => Some(by.clone()),
        HoldOwner::User { .. } | HoldOwner::Operation { .. } => None,
    })
}

/// A node that is away while its machine is off is explained by the power; otherwise it is a wait of its own.
fn node_waits(machine: &Machine, node: Option<&NodeSeen>, now: Timestamp, waits: &mut Vec<Wait>) {
    let explained = waits.iter().any(|wait| matches!(wait.kind, WaitKind::PoweredOff { .. } | WaitKind::UnexpectedlyOff));
    if machine.provisioning == Provisioning::Provisioned && !is_node_ready(node) && !explained {
        let since = machine.last_seen.node.as_ref().map_or(now, |node| node.at);
        waits.push(Wait { kind: WaitKind::NodeNotReady, since, expected_by: None });
    }
}

/// What the node would have to be asked so that it follows its machine's holds.
fn due_ask(machine: &Machine, node: Option<&NodeSeen>) -> Option<DeviceAsk> {
    let node = node?;
    match (machine.holds.is_empty(), node.unschedulable) {
        (false, false) => Some(DeviceAsk::Cordon),
        (true, true) if node.cordoned_by_us => Some(DeviceAsk::Uncordon),
        _ => None,
    }
}

fn hold_wait(machine: &Machine, ask: DeviceAsk, limits: &Limits, now: Timestamp) -> Wait {
    let since = machine.node_ask.as_ref().filter(|earlier| earlier.ask == ask).map_or(now, |earlier| earlier.at);
    let kind = WaitKind::HoldApplied { cordon: ask == DeviceAsk::Cordon };
    Wait { kind, since, expected_by: Some(since + limits.expected_cordon) }
}

/// Cordons a held machine's node, and lifts a cordon of ours that nobody holds any more.
fn follow_holds(
    draft: &mut Draft,
    machine: &mut Machine,
    sight: &Sight<'_>,
    node: Option<&NodeSeen>,
    now: Timestamp,
    waits: &mut Vec<Wait>,
) -> Option<Timestamp> {
    let Some(ask) = due_ask(machine, node) else {
        machine.node_ask = None;
        return None;
    };
    let limits = &draft.after.cluster.limits;
    waits.push(hold_wait(machine, ask, limits, now));
    if sight.observation.asking.is_some() {
        // The answer wakes us.
        return None;
    }
    let earlier = machine.node_ask.as_ref().filter(|earlier| earlier.ask == ask).cloned();
    let due_at = earlier
        .as_ref()
        .map_or(now, |earlier| earlier.at.max(sight.observation.ask_ended_at.unwrap_or(earlier.at)) + settle_of(ask, limits));
    if now < due_at {
        return Some(due_at);
    }
    let attempt = earlier.map_or(1, |earlier| earlier.attempt + 1);
    let revisit = now + settle_of(ask, limits);
    machine.node_ask = Some(NodeAsk { ask, attempt, at: now });
    draft.plan.steps.push(step_for(machine, None, ask, attempt));
    Some(revisit)
}

/// A wait that goes on keeps its beginning, so that a keeper's restart does not make it young again.
fn keep_since(before: &[Wait], after: &mut [Wait]) {
    for wait in after {
        let same = before.iter().find(|earlier| is_same_wait(&earlier.kind, &wait.kind));
        if let Some(earlier) = same {
            let longer = wait.since.since(earlier.since);
            wait.since = wait.since.min(earlier.since);
            wait.expected_by = wait.expected_by.map(|by| by - longer);
        }
    }
}

fn is_same_wait(a: &WaitKind, b: &WaitKind) -> bool {
    match (a, b) {
        (WaitKind::FirstLook { eye: a }, WaitKind::FirstLook { eye: b }) => a == b,
        (WaitKind::Device { eye: a, .. }, WaitKind::Device { eye: b, .. }) => a == b,
        (WaitKind::HoldApplied { cordon: a }, WaitKind::HoldApplied { cordon: b }) => a == b,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}
