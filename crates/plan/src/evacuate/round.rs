//! One look at all nodes that are being drained: what is to be asked for, and what is waited for.

use model::{Errand, Fact, Fault, Timestamp, Wait, WaitKind};

use super::drain::BOUND_LATE;
use super::words;
use crate::operate::Bench;

/// What a round over all nodes comes to.
pub(crate) struct Round {
    now: Timestamp,
    pub errands: Vec<Errand>,
    pub pods: usize,
    pub kept: Vec<String>,
    /// What the latest eviction that failed was answered with.
    pub fault: Option<Fault>,
    /// When the last of the nodes counts as empty, if no pod comes.
    pub settled_at: Option<Timestamp>,
    pub waits: Vec<Wait>,
    pub until: Option<Timestamp>,
    pub is_over: bool,
}

impl Round {
    pub fn at(now: Timestamp) -> Round {
        Round {
            now,
            errands: Vec::new(),
            pods: 0,
            kept: Vec::new(),
            fault: None,
            settled_at: None,
            waits: Vec::new(),
            until: None,
            is_over: true,
        }
    }

    /// A time that has passed changes nothing any more, and must not hide one that is to come.
    pub fn revisit(&mut self, at: Timestamp) {
        self.until = [self.until, Some(at).filter(|at| *at > self.now)].into_iter().flatten().min();
    }
}

/// A pod that was bound a moment ago is waited for: nothing is late.
pub(crate) fn settle_wait(until: Timestamp) -> Wait {
    Wait { kind: WaitKind::DrainSettles { until }, since: until - BOUND_LATE, expected_by: Some(until) }
}

pub(crate) fn drain_wait(bench: &Bench<'_>, pods: usize, mut kept: Vec<String>, fault: Option<Fault>) -> Wait {
    let first = bench.operation.journal.iter().find(|entry| matches!(entry.fact, Fact::Draining { .. }));
    let since = first.map_or_else(|| bench.now, |entry| entry.at);
    kept.truncate(words::NAMED);
    let fault = fault.map(|fault| known_fault(bench).filter(|known| known.class == fault.class).unwrap_or(fault));
    Wait { kind: WaitKind::Drain { pods, kept, fault }, since, expected_by: Some(since + bench.limits.expected_drain) }
}

/// What evictions have been answered with so far: the first of a run of faults of a class. The words of two of a kind differ, and
/// say nothing new.
pub(crate) fn known_fault(bench: &Bench<'_>) -> Option<Fault> {
    bench.machine.waits.iter().find_map(|wait| match &wait.kind {
        WaitKind::Drain { fault, .. } => fault.clone(),
        _ => None,
    })
}
