//! How far an operation has come, derived from its journal: for `actionStates`, `operationStatuses` and people.

use model::{Fact, Operation, OperationResult, StepKind, Timestamp};

use crate::operate::steps_of;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    pub percent: u32,
    pub steps: Vec<StepProgress>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepProgress {
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
            (None, None) => {
                StepProgress { step: *step, status: StepStatus::NotStarted, started_at: None, ended_at: None, message: String::new() }
            }
        };
        started_at = done_at;
        steps.push(step);
    }
    Progress { percent: percent(operation, &steps), steps }
}

fn over(operation: &Operation, step: StepKind, started_at: Option<Timestamp>, at: Timestamp) -> StepProgress {
    let (status, message) = match operation.skip_reason(step) {
        Some(reason) => (StepStatus::Skipped, format!("left out: {reason}")),
        None => (StepStatus::Completed, String::new()),
    };
    StepProgress { step, status, started_at, ended_at: Some(at), message }
}

/// The step that an operation is in, or was in when it ended.
fn unfinished(operation: &Operation, step: StepKind, started_at: Option<Timestamp>) -> StepProgress {
    match &operation.ended {
        Some(ended) => {
            StepProgress { step, status: StepStatus::Failed, started_at, ended_at: Some(ended.at), message: ended.message.clone() }
        }
        None => {
            let message = operation.wait.as_ref().map(|wait| format!("waiting for {}", wait.kind)).unwrap_or_default();
            StepProgress { step, status: StepStatus::InProgress, started_at, ended_at: None, message }
        }
    }
}

/// Whole steps, and half of one whose device has been asked. Never 100 before the end.
fn percent(operation: &Operation, steps: &[StepProgress]) -> u32 {
    if operation.ended.as_ref().is_some_and(|ended| ended.result == OperationResult::Succeeded) {
        return 100;
    }
    let done = steps.iter().filter(|step| matches!(step.status, StepStatus::Completed | StepStatus::Skipped)).count();
    let latest = operation.journal.iter().rev().find(|entry| entry.fact != Fact::Resumed);
    let asked = latest.is_some_and(|entry| matches!(entry.fact, Fact::Asked { .. } | Fact::Faulted { .. }));
    let halves = u32::try_from(2 * done + usize::from(asked)).unwrap_or(0);
    let all = u32::try_from(2 * steps.len()).unwrap_or(1).max(1);
    (halves * 100 / all).min(99)
}
