//! What has become of an errand, and whether it is time to ask for it (again).

use model::{Delivery, Entry, Errand, Fact, Fault, FaultClass, Limits, Machine, Operation, Timestamp};

use crate::cadence::backoff;
use crate::draft::ErrandStep;
use crate::snapshot::Snapshot;
use crate::tenants::Tenants;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Standing {
    /// It is to be asked for now.
    Due,
    /// Its answer wakes us.
    UnderWay,
    /// It was taken, and may show until then.
    Pending { until: Timestamp },
    /// It was refused, and is asked for again then.
    Refused { fault: Fault, again_at: Timestamp },
}

impl Standing {
    pub fn until(&self) -> Option<Timestamp> {
        match self {
            Standing::Pending { until } | Standing::Refused { again_at: until, .. } => Some(*until),
            Standing::Due | Standing::UnderWay => None,
        }
    }
}

/// What is known of an errand's past.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Past {
    /// When it was last asked for by its document's word, and which attempt that was.
    pub asked: Option<(Timestamp, u32)>,
    /// What was asked for before this was for something else.
    pub since: Timestamp,
    pub keeper_started_at: Timestamp,
}

impl Past {
    /// Which attempt is under way once what is due has been asked for.
    pub fn attempt_after(&self, standing: &Standing) -> u32 {
        let earlier = self.asked.map_or(0, |(_, attempt)| attempt);
        if *standing == Standing::Due { earlier.saturating_add(1) } else { earlier.max(1) }
    }
}

pub(crate) fn standing(tenants: &Tenants, errand: &Errand, past: Past, limits: &Limits, now: Timestamp) -> Standing {
    let state = tenants.errands.get(errand).filter(|state| state.asked_at >= past.since);
    let standing = match (state, past.asked) {
        (Some(state), _) => match &state.answer {
            None => return Standing::UnderWay,
            Some(answer) => match &answer.outcome {
                // What is not there any more is seen to be gone, or there again.
                Ok(_) => Standing::Pending { until: answer.at + limits.errand_settle },
                Err(fault) if fault.class == FaultClass::Missing => Standing::Pending { until: answer.at + limits.errand_settle },
                Err(fault) => {
                    let pause = backoff(state.attempt, limits);
                    let pause = if fault.delivery == Delivery::Maybe { pause.max(limits.errand_settle) } else { pause };
                    Standing::Refused { fault: fault.clone(), again_at: answer.at + pause }
                }
            },
        },
        // Whatever was lost with a keeper is asked for again: a new listing has shown that it had no effect.
        (None, Some((at, _))) if at < past.keeper_started_at => Standing::Due,
        (None, Some((at, _))) => Standing::Pending { until: at + limits.errand_settle },
        (None, None) => Standing::Due,
    };
    if standing.until().is_some_and(|until| now >= until) { Standing::Due } else { standing }
}

/// What the journal of an operation knows of an errand.
pub(crate) fn past_of(operation: &Operation, errand: &Errand, keeper_started_at: Timestamp) -> Past {
    Past { asked: operation.errand_asked(errand), since: operation.accepted_at, keeper_started_at }
}

/// Whether it is covered by its node's `Draining`, and not recorded one by one.
fn is_of_pod(errand: &Errand) -> bool {
    matches!(errand, Errand::Evict { .. } | Errand::DeletePod { .. })
}

/// Each errand with its intent in the journal; those of pods are covered by the drain of their node.
pub(crate) fn ask_for(
    operation: &mut Operation,
    machine: &Machine,
    wanted: Vec<Errand>,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Vec<ErrandStep> {
    let mut steps = Vec::with_capacity(wanted.len());
    for errand in wanted {
        let attempt = if is_of_pod(&errand) {
            snapshot.tenants.errands.get(&errand).map_or(1, |state| state.attempt.saturating_add(1))
        } else {
            let attempt = operation.errand_asked(&errand).map_or(1, |(_, attempt)| attempt.saturating_add(1));
            operation.journal.push(Entry { at: now, fact: Fact::ErrandAsked { errand: errand.clone(), attempt } });
            attempt
        };
        let reason = format!("`{}` is being {} ({})", machine.name, operation.action.participle(), operation.caller);
        let node = place_of(snapshot, &errand);
        let (machine, operation) = (Some(machine.name.clone()), Some(operation.id.clone()));
        steps.push(ErrandStep { machine, operation, errand, node, attempt, reason });
    }
    steps
}

/// Where a virtual machine was seen that is to be stopped.
fn place_of(snapshot: &Snapshot, errand: &Errand) -> Option<String> {
    let Errand::StopVm { vm, .. } = errand else { return None };
    snapshot.tenants.vms().get(&vm.name)?.node().map(str::to_owned)
}

/// Whether something that the operation asked for has not been answered yet. Pods' errands do no harm whenever they arrive.
pub(crate) fn is_under_way(tenants: &Tenants, operation: &Operation) -> bool {
    tenants.errands.iter().any(|(errand, state)| {
        state.answer.is_none() && !is_of_pod(errand) && operation.errand_asked(errand).is_some_and(|(at, _)| state.asked_at >= at)
    })
}

/// Faults that answered what the operation asked for become facts, once each.
pub(crate) fn note_faults(tenants: &Tenants, operation: &mut Operation) {
    let mut facts = Vec::new();
    for (errand, state) in tenants.errands.iter().filter(|(errand, _)| !is_of_pod(errand)) {
        let Some(answer) = &state.answer else { continue };
        let Err(fault) = &answer.outcome else { continue };
        let asked = operation.errand_asked(errand).is_some_and(|(at, attempt)| attempt == state.attempt && state.asked_at >= at);
        if asked && operation.errand_fault(errand, state.attempt).is_none() {
            let fact = Fact::ErrandFaulted { errand: errand.clone(), attempt: state.attempt, fault: fault.clone() };
            facts.push(Entry { at: answer.at, fact });
        }
    }
    facts.sort_by_key(|entry| entry.at);
    operation.journal.extend(facts);
}
