//! A machine that no operation is at work on: its node follows its holds, and what is not as it should be has a wait.

use model::{
    Answer, DesiredPower, DeviceAsk, Eye, Fault, HoldOwner, Limits, Machine, Management, NodeAsk, NodeSeen, Power, Provisioning, Span,
    Timestamp, Wait, WaitKind,
};

use crate::cadence::backoff;
use crate::draft::Draft;
use crate::evacuate;
use crate::fault::{Reaction, react};
use crate::key_sets;
use crate::operate::{settle_of, step_for};
use crate::sight::Sight;

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
        node_waits(machine, node, &snapshot.cluster.limits, now, &mut waits);
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
    let accounts = key_sets::converge(draft, machine, &sight.observation, now, &mut waits);
    let homecoming = evacuate::converge(draft, machine, now, &mut waits);
    revisit = [revisit, accounts, homecoming].into_iter().flatten().min();
    keep_since(&machine.waits, &mut waits);
    if let Some(late_at) = late_first_look_at(machine, &waits, now).filter(|_| snapshot.undercloud.fault.is_none()) {
        return [revisit, Some(late_at)].into_iter().flatten().min();
    }
    machine.waits = waits;
    revisit
}

/// A machine that was well when the last keeper ended stays so in the books until it is looked at, or should have been: that
/// its first look is about to come is no news, and a restart would write a whole site twice to say it. Returns when it is late.
fn late_first_look_at(machine: &Machine, waits: &[Wait], now: Timestamp) -> Option<Timestamp> {
    let was_well = machine.last_seen.power.is_some()
        && machine.waits.is_empty()
        && (machine.provisioning != Provisioning::Provisioned || machine.is_ready());
    let is_about_to_come = |wait: &Wait| matches!(wait.kind, WaitKind::FirstLook { .. }) && !wait.is_late(now);
    if !was_well || !waits.iter().all(is_about_to_come) {
        return None;
    }
    waits.iter().filter_map(|wait| wait.expected_by).min().map(|by| by + Span::millis(1))
}

/// A power-off's hold has done its work once the machine is back with a new boot, whoever brought it back: from then on
/// it should be on.
fn release_after_return(machine: &mut Machine, sight: &Sight<'_>, now: Timestamp) {
    let on = sight.power(Timestamp::EPOCH, now) == Ok(Power::On);
    let ready = sight.node(now).is_ok_and(|node| node.is_some_and(|node| machine.is_node_ready(node)));
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
    if machine.provisioning == Provisioning::Error {
        let hold = machine.holds.iter().find(|hold| hold.owner.is_reinstalled());
        waits.push(Wait { kind: WaitKind::Uninstalled, since: hold.map_or(since, |hold| hold.since), expected_by: None });
    }
}

fn powered_off_by(machine: &Machine) -> Option<model::OperationId> {
    machine.holds.iter().find_map(|hold| match &hold.owner {
        HoldOwner::PoweredOff { by } => Some(by.clone()),
        _ => None,
    })
}

/// A node that is away while its machine is off is explained by the power; otherwise it is a wait of its own, which
/// counts from when both are as they are: a machine that has just come on has its time to boot.
fn node_waits(machine: &Machine, node: Option<&NodeSeen>, limits: &Limits, now: Timestamp, waits: &mut Vec<Wait>) {
    let explained = waits.iter().any(|wait| matches!(wait.kind, WaitKind::PoweredOff { .. } | WaitKind::UnexpectedlyOff));
    let ready = node.is_some_and(|node| machine.is_node_ready(node));
    if machine.provisioning == Provisioning::Provisioned && !ready && !explained {
        let node_since = machine.last_seen.node.as_ref().map_or(now, |node| node.at);
        let since = machine.last_seen.power.as_ref().map_or(node_since, |power| power.at.max(node_since));
        waits.push(Wait { kind: WaitKind::NodeNotReady, since, expected_by: Some(since + limits.expected_rejoin) });
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
    wait_of_ask(WaitKind::HoldApplied { cordon: ask == DeviceAsk::Cordon }, machine, ask, limits, now)
}

/// It counts from the first asking, whether it is the answer or the effect that is missing.
fn wait_of_ask(kind: WaitKind, machine: &Machine, ask: DeviceAsk, limits: &Limits, now: Timestamp) -> Wait {
    let is_of_ask = |wait: &&Wait| match &wait.kind {
        WaitKind::HoldApplied { cordon } => *cordon == (ask == DeviceAsk::Cordon),
        WaitKind::Device { eye, .. } => *eye == Eye::Undercloud,
        _ => false,
    };
    let asked = machine.node_ask.as_ref().filter(|earlier| earlier.ask == ask);
    let since = asked.map_or(now, |earlier| machine.waits.iter().find(is_of_ask).map_or(earlier.at, |wait| wait.since.min(earlier.at)));
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
    if sight.observation.asking.is_some() {
        // The answer wakes us.
        waits.push(hold_wait(machine, ask, limits, now));
        return None;
    }
    let earlier = machine.node_ask.as_ref().filter(|earlier| earlier.ask == ask).cloned();
    let refused = earlier.as_ref().and_then(|earlier| refusal_of(earlier, sight));
    keep_fault(machine, refused);
    let due_at = match (&earlier, refused) {
        (None, _) => now,
        (Some(earlier), None) => earlier.at.max(sight.observation.ask_ended_at.unwrap_or(earlier.at)) + settle_of(ask, limits),
        (Some(earlier), Some(answer)) => answer.at + pause_after(ask, earlier.attempt, &answer.fault, limits),
    };
    if now < due_at {
        let kind = refused.map(|answer| WaitKind::Device {
            eye: Eye::Undercloud,
            fault: answer.fault.clone(),
            retry_every: pause_after(ask, u32::MAX, &answer.fault, limits),
        });
        waits.push(match kind {
            Some(kind) => wait_of_ask(kind, machine, ask, limits, now),
            None => hold_wait(machine, ask, limits, now),
        });
        return Some(due_at);
    }
    waits.push(hold_wait(machine, ask, limits, now));
    let attempt = earlier.as_ref().map_or(1, |earlier| earlier.attempt.saturating_add(1));
    let revisit = now + settle_of(ask, limits);
    let fault = machine.node_ask.take().filter(|earlier| earlier.ask == ask).and_then(|earlier| earlier.fault);
    machine.node_ask = Some(NodeAsk { ask, attempt, at: now, fault });
    draft.plan.steps.push(step_for(machine, None, ask, attempt));
    Some(revisit)
}

/// Remembers what kind of fault answered. The words of two of a kind differ, and say nothing new.
fn keep_fault(machine: &mut Machine, refused: Option<&Answer>) {
    if let (Some(asked), Some(answer)) = (&mut machine.node_ask, refused)
        && asked.fault.as_ref().is_none_or(|known| known.class != answer.fault.class)
    {
        asked.fault = Some(answer.fault.clone());
    }
}

/// The fault that answered this very ask.
fn refusal_of<'a>(earlier: &NodeAsk, sight: &'a Sight<'_>) -> Option<&'a Answer> {
    let answer = sight.observation.answer.as_ref()?;
    (answer.operation.is_none() && answer.ask == earlier.ask && answer.attempt == earlier.attempt).then_some(answer)
}

/// How much rarer than usual an ask is repeated that no repetition can help, such as the patch of a node that is not
/// there: after half an hour instead of a minute in the end. The watch tells us long before that what has become of it.
const HOPELESS_PAUSE: u32 = 30;

fn pause_after(ask: DeviceAsk, attempt: u32, fault: &Fault, limits: &Limits) -> Span {
    let pause = backoff(attempt, limits);
    match react(ask, fault) {
        Reaction::GiveUp(_) => pause.times(HOPELESS_PAUSE),
        Reaction::LookFirst => pause.max(settle_of(ask, limits)),
        Reaction::AskAgain | Reaction::Force => pause,
    }
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
