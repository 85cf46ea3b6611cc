//! How long an action is expected to take: as long as it took here lately, or as its parts usually take.

use model::{Action, ExpectedDuration, Fact, Limits, Operation, OperationResult, Role, Span, Target};

use super::Scene;
use crate::requests::deadline;

/// How many operations of the same kind are learned from: the latest, since sites change.
pub const LEARNED_FROM_MAX: usize = 20;

/// How many ended operations are looked through for them, so that a busy day costs a preview nothing.
const LOOKED_THROUGH_MAX: usize = 2_000;

/// What makes an action longer than its own steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub drains: bool,
    pub longest_grace: Span,
    pub is_blocked: bool,
    /// How long silent nodes are waited for.
    pub passes_over: Option<Span>,
    pub stops_vms: bool,
    pub starts_vms: bool,
}

impl Work {
    fn evacuates(&self) -> bool {
        self.drains || self.stops_vms || self.passes_over.is_some()
    }
}

pub(super) fn expect(scene: &Scene<'_>, work: &Work) -> ExpectedDuration {
    let limits = &scene.snapshot.cluster.limits;
    let at_most = deadline(scene.action, limits);
    // A budget that blocks makes this time unlike the others.
    let learned = if work.is_blocked { None } else { learned(scene, work) };
    let (expected, basis) = learned.unwrap_or_else(|| assumed(scene.action, work, limits));
    ExpectedDuration { expected: expected.min(at_most), at_most, basis }
}

/// The median of the latest of the same kind that succeeded, of machines of the same role if there are any.
fn learned(scene: &Scene<'_>, work: &Work) -> Option<(Span, String)> {
    let latest = scene.snapshot.ended().rev().take(LOOKED_THROUGH_MAX).filter_map(|(_, id)| scene.snapshot.operations.get(id));
    let alike: Vec<(&Operation, Span)> = latest
        .filter(|operation| is_alike(operation, scene.action, work))
        .filter_map(|operation| Some((&**operation, took(operation)?)))
        .collect();
    let role_of = |operation: &Operation| Some(operation.machine().and_then(|name| scene.snapshot.machines.get(name))?.role);
    let of_role: Vec<(&Operation, Span)> =
        alike.iter().filter(|(operation, _)| role_of(operation) == Some(scene.machine.role)).take(LEARNED_FROM_MAX).copied().collect();
    let (samples, of_whom) =
        if of_role.is_empty() { (alike.into_iter().take(LEARNED_FROM_MAX).collect(), None) } else { (of_role, Some(scene.machine.role)) };
    let (latest, _) = samples.first()?;
    let ended_at = latest.ended.as_ref()?.at;
    let mut spans: Vec<Span> = samples.iter().map(|(_, span)| *span).collect();
    spans.sort_unstable();
    let median = spans[spans.len() / 2];
    let (kind, ended_at) = (singular(scene.action), ended_at.clock());
    let basis = match (spans.len(), of_whom.map(word)) {
        (1, None) => format!("as long as the only {kind} here took, at {ended_at}"),
        (1, Some(role)) => format!("as long as the only {kind} of a {role} machine here took, at {ended_at}"),
        (count, None) => format!("median of {count} {kind}s here, the latest at {ended_at}"),
        (count, Some(role)) => format!("median of {count} {kind}s of {role} machines here, the latest at {ended_at}"),
    };
    Some((median, basis))
}

fn is_alike(operation: &Operation, action: Action, work: &Work) -> bool {
    let evacuated = operation.journal.iter().any(|entry| entry.fact == Fact::Evacuating);
    matches!(operation.target, Target::Machine(_))
        && operation.action.verb() == action.verb()
        && operation.action.is_disruptive() == action.is_disruptive()
        && evacuated == work.evacuates()
}

fn took(operation: &Operation) -> Option<Span> {
    let ended = operation.ended.as_ref().filter(|ended| ended.result == OperationResult::Succeeded)?;
    Some(ended.at.since(operation.accepted_at))
}

fn word(role: Role) -> &'static str {
    match role {
        Role::ControlPlane => "control-plane",
        Role::Management => "management",
        Role::Compute => "compute",
    }
}

/// What the parts usually take, one after the other.
fn assumed(action: Action, work: &Work, limits: &Limits) -> (Span, String) {
    let own = match action {
        Action::PowerOff { .. } => limits.expected_cordon + limits.expected_power_off,
        Action::Start => limits.expected_power_on + limits.expected_rejoin + limits.expected_cordon,
        Action::Restart => {
            limits.expected_cordon + limits.expected_power_off + limits.expected_power_on + limits.expected_rejoin + limits.expected_cordon
        }
        Action::Reimage { .. } | Action::Replace { .. } => installation(action, limits),
        _ => limits.expected_cordon,
    };
    let drain_timeout = match action {
        Action::Cordon { .. } | Action::Reimage { .. } | Action::Replace { .. } => limits.drain_timeout,
        _ => limits.power_drain_timeout,
    };
    let drain = match work {
        Work { is_blocked: true, .. } => drain_timeout,
        Work { drains: true, .. } => limits.expected_drain.max(work.longest_grace).min(drain_timeout),
        _ => Span::ZERO,
    };
    let drain = drain.max(work.passes_over.unwrap_or(Span::ZERO));
    let stop = if work.stops_vms { limits.expected_vm_stop } else { Span::ZERO };
    // A restart brings back what it stopped.
    let returns = work.starts_vms || work.stops_vms && action == Action::Restart;
    let start = if returns { limits.expected_vm_start } else { Span::ZERO };
    let basis = if work.is_blocked {
        format!("assumed: while a budget blocks it the drain takes its full {drain_timeout}")
    } else {
        format!("assumed: no such {} has ended here yet", singular(action))
    };
    (own + drain + stop + start, basis)
}

/// Off, on for the agent, written, off, on for the new system, and back.
fn installation(action: Action, limits: &Limits) -> Span {
    let powers = limits.expected_power_off + limits.expected_power_on.times(2);
    let work = limits.expected_agent + limits.expected_write + limits.expected_phone_home + limits.expected_rejoin;
    let validation = if matches!(action, Action::Replace { .. }) { limits.expected_validation } else { Span::ZERO };
    limits.expected_cordon + powers + work + validation
}

fn singular(action: Action) -> &'static str {
    match action {
        Action::PowerOff { .. } => "power-off",
        Action::Start => "start",
        Action::Restart => "restart",
        Action::Cordon { .. } if action.is_disruptive() => "evacuation",
        Action::Cordon { .. } => "cordon",
        Action::Uncordon => "uncordon",
        other => other.command(),
    }
}
