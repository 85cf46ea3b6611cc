//! What becomes of a machine whose installation is given up while it was set to start the agent: it is switched off, its virtual drive
//! emptied, and it starts from its disk again. As far as that can be done: the installation has failed in any case, and for its first
//! reason.
//!
//! The agent may be at work, and it may be a stranger's; and whoever restarts the machine by hand must not start a dead agent.

use model::{DeviceAsk, Entry, Fact, Failure, Machine, Operation, StepKind, Timestamp};

use super::prepare::installs;
use crate::advance::sooner;
use crate::ending;
use crate::evacuate::counted_from;
use crate::operate::{Bench, Finding};

/// In this order: what is in the drive is not taken from a machine that runs.
const STEPS: [StepKind; 3] = [StepKind::AgentOff, StepKind::EjectMedia, StepKind::BootDisk];

/// What sets a machine up to start the agent.
const SETTING_UP: [DeviceAsk; 5] =
    [DeviceAsk::InsertMedia, DeviceAsk::BootFromMedia, DeviceAsk::BootFromHttp, DeviceAsk::BootFromPxe, DeviceAsk::AgentOn];

/// The end of an operation, put off until its machine is cleaned up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PutOff<'a> {
    pub during: StepKind,
    /// Nothing if somebody cancelled it.
    pub failure: Option<Failure>,
    pub because: &'a str,
    pub since: Timestamp,
}

pub(crate) fn put_off(operation: &Operation) -> Option<PutOff<'_>> {
    operation.journal.iter().rev().find_map(|entry| match &entry.fact {
        Fact::CleaningUp { during, failure, because } => Some(PutOff { during: *during, failure: *failure, because, since: entry.at }),
        _ => None,
    })
}

/// Whether a machine is, or may be, set to start the agent.
pub(crate) fn is_needed(operation: &Operation) -> bool {
    let is_set_up = |entry: &Entry| match entry.fact {
        Fact::Asked { ask, attempt } => SETTING_UP.contains(&ask) && !operation.was_refused(ask, attempt),
        _ => false,
    };
    installs(operation.action)
        && put_off(operation).is_none()
        && operation.done_at(StepKind::BootDisk).is_none()
        && operation.journal.iter().any(is_set_up)
}

/// What is left to do of it.
pub(crate) fn next_step(operation: &Operation) -> Option<StepKind> {
    STEPS.into_iter().find(|step| operation.done_at(*step).is_none())
}

/// The end that was put off.
pub(crate) fn end(operation: &mut Operation, machine: &mut Machine, now: Timestamp) {
    let Some(PutOff { during, failure, because, .. }) = put_off(operation) else { return };
    let because = because.to_owned();
    match failure {
        Some(failure) => ending::fail(operation, machine, failure, &because, now),
        None => ending::cancel(operation, machine, during, now),
    }
}

/// A step that cannot be done, or not in time, is left out.
pub(super) fn best_effort(bench: &Bench<'_>, finding: Finding) -> Finding {
    let Some(PutOff { since, .. }) = put_off(bench.operation) else { return finding };
    let until = counted_from(bench.operation, since) + bench.limits.clean_up_timeout;
    let is_late = bench.now >= until && bench.sight.observation.asking.is_none();
    let in_time = |at| sooner(at, Some(until)).filter(|at| *at > bench.now);
    match finding {
        Finding::Fail { because, .. } => Finding::Skip(because),
        Finding::Ask(_) if is_late => Finding::Skip(format!("it was not done within {}", bench.limits.clean_up_timeout)),
        Finding::Wait { wait, .. } | Finding::Look { wait, .. } if is_late => {
            Finding::Skip(format!("it was not done within {}, waiting for {}", bench.limits.clean_up_timeout, wait.kind))
        }
        Finding::Wait { wait, until } => Finding::Wait { wait, until: in_time(until) },
        Finding::Look { at, wait, until } => Finding::Look { at, wait, until: in_time(until) },
        other => other,
    }
}

/// What could not be cleaned up, for whoever goes to the machine.
pub(crate) fn left_undone(operation: &Operation) -> String {
    put_off(operation).map_or_else(String::new, |_| {
        let is_left = |step| operation.skip_reason(step).is_some();
        let was_inserted = operation.last_asked(DeviceAsk::InsertMedia).is_some();
        let words = [
            (is_left(StepKind::AgentOff), "the agent may still run"),
            (was_inserted && is_left(StepKind::EjectMedia), "its image may be in the virtual drive"),
            (is_left(StepKind::BootDisk), "the machine may not be set to start from its disk"),
        ];
        words.iter().filter(|(is_left, _)| *is_left).map(|(_, words)| format!("; {words}")).collect()
    })
}
