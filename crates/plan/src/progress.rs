//! How far an operation has come, derived from its journal: for `actionStates`, `operationStatuses` and people.

use model::{Fact, Operation, OperationResult, StepKind, Timestamp};

use crate::install::{current, installs, phase_of};
use crate::operate::steps_of;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    pub percent: u32,
    pub steps: Vec<StepProgress>,
}

/// A step as people are shown it. Of a reimage or a replace it is a whole phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepProgress {
    /// What it is called.
    pub title: &'static str,
    /// The step; of a phase, the one that it is in, or its last.
    pub step: StepKind,
    pub status: StepStatus,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepStatus {
    NotStarted,
    InProgress,
    Completed,
    /// The operation went on without it; the message says why.
    Skipped,
    Failed,
}

pub fn progress_of(operation: &Operation) -> Progress {
    let kinds = steps_of(operation);
    let mut started_at = Some(operation.accepted_at);
    let mut steps = Vec::with_capacity(kinds.len());
    for step in &kinds {
        let done_at = operation.done_at(*step);
        let step = match (done_at, started_at) {
            (Some(at), _) => over(operation, *step, started_at, at),
            (None, Some(_)) => unfinished(operation, *step, started_at),
            (None, None) => not_started(*step),
        };
        started_at = done_at;
        steps.push(step);
    }
    let percent = if installs(operation.action) { mark(operation) } else { share(operation, &steps) };
    Progress { percent: bounded(operation, percent), steps: in_phases(operation, steps) }
}

fn not_started(step: StepKind) -> StepProgress {
    StepProgress { title: step.title(), step, status: StepStatus::NotStarted, started_at: None, ended_at: None, message: String::new() }
}

fn over(operation: &Operation, step: StepKind, started_at: Option<Timestamp>, at: Timestamp) -> StepProgress {
    let (status, message) = match operation.skip_reason(step) {
        Some(reason) => (StepStatus::Skipped, format!("left out: {reason}")),
        None => (StepStatus::Completed, String::new()),
    };
    StepProgress { status, started_at, ended_at: Some(at), message, ..not_started(step) }
}

/// The step that an operation is in, or was in when it ended.
fn unfinished(operation: &Operation, step: StepKind, started_at: Option<Timestamp>) -> StepProgress {
    match &operation.ended {
        Some(ended) => StepProgress {
            status: StepStatus::Failed,
            started_at,
            ended_at: Some(ended.at),
            message: ended.message.clone(),
            ..not_started(step)
        },
        None => {
            let message = operation.wait.as_ref().map(|wait| format!("waiting for {}", wait.kind)).unwrap_or_default();
            StepProgress { status: StepStatus::InProgress, started_at, message, ..not_started(step) }
        }
    }
}

/// Steps of one phase become one. Those that empty a machine stand between two steps of the first phase, and before it.
fn in_phases(operation: &Operation, steps: Vec<StepProgress>) -> Vec<StepProgress> {
    let mut shown: Vec<StepProgress> = Vec::with_capacity(steps.len());
    let (own, phased): (Vec<_>, Vec<_>) = steps.into_iter().partition(|step| phase_of(operation.action, step.step).is_none());
    shown.extend(own);
    for step in phased {
        let Some(phase) = phase_of(operation.action, step.step) else { continue };
        match shown.last_mut().filter(|last| last.title == phase.title()) {
            Some(last) => join(last, step),
            None => shown.push(StepProgress { title: phase.title(), ..as_part(step) }),
        }
    }
    shown
}

/// That a part was left out is nothing that a phase is shown as.
fn as_part(step: StepProgress) -> StepProgress {
    match step.status {
        StepStatus::Skipped => StepProgress { status: StepStatus::Completed, message: String::new(), ..step },
        _ => step,
    }
}

fn join(phase: &mut StepProgress, step: StepProgress) {
    let step = as_part(step);
    match (phase.status, step.status) {
        (StepStatus::Completed, StepStatus::NotStarted) => phase.status = StepStatus::InProgress,
        (StepStatus::Completed, status) => phase.status = status,
        _ => return,
    }
    phase.step = step.step;
    phase.started_at = phase.started_at.or(step.started_at);
    phase.ended_at = step.ended_at;
    phase.message = step.message;
}

/// Never 100 before the end.
fn bounded(operation: &Operation, percent: u32) -> u32 {
    let succeeded = operation.ended.as_ref().is_some_and(|ended| ended.result == OperationResult::Succeeded);
    if succeeded { 100 } else { percent.min(99) }
}

/// Whole steps, and half of one whose device has been asked.
fn share(operation: &Operation, steps: &[StepProgress]) -> u32 {
    let done = steps.iter().filter(|step| matches!(step.status, StepStatus::Completed | StepStatus::Skipped)).count();
    let latest = operation.journal.iter().rev().find(|entry| entry.fact != Fact::Resumed);
    let asked = latest.is_some_and(|entry| matches!(entry.fact, Fact::Asked { .. } | Fact::Faulted { .. }));
    let halves = u32::try_from(2 * done + usize::from(asked)).unwrap_or(0);
    let all = u32::try_from(2 * steps.len()).unwrap_or(1).max(1);
    halves * 100 / all
}

/// How much of an image's writing counts for how much of the whole.
const WRITING: (u32, u32) = (34, 68);

/// The highest mark that has been passed: an installation's steps take very unlike times, and emptying a machine may turn out to be
/// part of it on the way, so that counting steps could fall.
fn mark(operation: &Operation) -> u32 {
    // What cleans up after a failure brings the installation no further.
    let on_its_way = operation.journal.iter().take_while(|entry| !matches!(entry.fact, Fact::CleaningUp { .. }));
    let done = on_its_way.filter_map(|entry| match &entry.fact {
        Fact::Seen { step } | Fact::Skipped { step, .. } => Some(mark_of(*step)),
        _ => None,
    });
    let written = current(operation).and_then(|round| round.percent(operation)).map(|(_, percent)| u32::from(percent.min(100)));
    let written = written.map(|percent| WRITING.0 + (WRITING.1 - WRITING.0 - 1) * percent / 100);
    done.chain(written).max().unwrap_or(0)
}

fn mark_of(step: StepKind) -> u32 {
    match step {
        StepKind::Survey => 1,
        StepKind::Cordon => 2,
        StepKind::CordonTenants => 4,
        StepKind::Drain => 8,
        StepKind::StopVms => 12,
        StepKind::LeaveEtcd => 14,
        StepKind::Login => 15,
        StepKind::ValidateHardware => 18,
        StepKind::PowerOff => 20,
        StepKind::AwaitOff => 21,
        StepKind::DiscardVolumes => 24,
        StepKind::MakeOsVolume => 26,
        StepKind::InsertMedia => 28,
        StepKind::BootAgent => 30,
        StepKind::AgentOn => 33,
        StepKind::WriteImage => WRITING.1,
        StepKind::AgentOff => 70,
        StepKind::EjectMedia => 72,
        StepKind::BootDisk => 74,
        StepKind::JoinEtcd => 76,
        StepKind::MintJoinToken => 77,
        StepKind::SystemOn => 79,
        StepKind::PhoneHome => 88,
        StepKind::Rejoin => 95,
        StepKind::PromoteEtcd => 98,
        StepKind::DropJoinToken => 99,
        _ => 0,
    }
}
