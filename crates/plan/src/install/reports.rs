//! What a machine that is being installed tells of itself, and whether it is believed: it must be of the attempt that is going on,
//! and in its place. A report that comes twice, or late, changes nothing.

use model::{
    Attempt, Entry, Fact, HostInventory, InstallTrouble, Inventoried, MachineReport, Operation, Refusal, Rule, Span, StepKind, Timestamp,
    cleaned,
};

use super::attempt::{Round, current};
use super::missed::is_going_off;
use crate::draft::Draft;
use crate::ending;
use crate::key_sets;
use crate::operate::steps_of;

/// By how much the writing must have come on before it is written down: each is a commit, and people read tens.
const PROGRESS_EVERY: u8 = 10;

/// A slow writer is written down this often all the same, so that its word counts as one: also of one that wipes, and writes nothing yet.
const PROGRESS_AGE: Span = Span::minutes(5);

/// How much of the agent's own words is kept, in characters.
const DETAIL_MAX: usize = 1_500;

pub(crate) fn report(draft: &mut Draft, attempt: &Attempt, report: &MachineReport, now: Timestamp) -> Result<(), Refusal> {
    let operation = draft.after.running_on(&attempt.machine).filter(|operation| operation.id == attempt.operation).cloned();
    let Some(operation) = operation else { return refuse(attempt, vec![ended(draft, attempt)]) };
    if operation.is_cleaning_up() {
        return refuse(attempt, vec![format!("operation {} has given it up", operation.id.short())]);
    }
    let Some(round) = current(&operation).filter(|round| round.number == attempt.round && operation.cluster == attempt.cluster) else {
        return refuse(attempt, vec![format!("attempt {} of operation {} is not going on", attempt.round, operation.id.short())]);
    };
    let mut operation = (*operation).clone();
    let heard = hear(&operation, &round, report, now);
    let (fact, verdict) = match heard {
        Heard::News(report) => (Some(report), Ok(())),
        Heard::Known => (None, Ok(())),
        Heard::Misused(report, evidence) => (report, refuse(attempt, vec![evidence])),
        Heard::OutOfPlace(evidence) => (None, refuse(attempt, vec![evidence])),
    };
    if let Some(MachineReport::PhonedHome { key_sets }) = &fact {
        key_sets::note_installed(draft, &attempt.machine, key_sets);
    }
    if let Some(report) = fact {
        // What a machine has to tell may be the first thing that a new keeper hears: the time that nobody listened does not count.
        ending::resume(&mut operation, draft.after.keeper_started_at, now);
        let fact = match report {
            MachineReport::Inventory { host } => keep_inventory(draft, attempt, *host, now),
            report => Fact::Reported { round: round.number, report },
        };
        operation.journal.push(Entry { at: now, fact });
        draft.save_operation(operation);
    }
    verdict
}

/// An inventory is kept beside its machine; the journal has its numbers.
fn keep_inventory(draft: &mut Draft, attempt: &Attempt, host: HostInventory, now: Timestamp) -> Fact {
    let count = |parts: usize| u64::try_from(parts).unwrap_or(u64::MAX);
    let fact = Fact::Inventoried {
        round: attempt.round,
        disks: count(host.disks.len()),
        nics: count(host.nics.len()),
        memory_bytes: host.memory_bytes,
    };
    let Attempt { cluster, machine, operation, .. } = attempt.clone();
    draft.plan.changes.inventories.insert(machine.clone(), Inventoried { cluster, machine, by: operation, at: now, host });
    fact
}

/// What a report comes to.
enum Heard {
    News(MachineReport),
    /// It was told before, or says nothing that is worth writing down.
    Known,
    /// The token was used by somebody who should not have it, or twice: the attempt is over.
    Misused(Option<MachineReport>, String),
    OutOfPlace(String),
}

fn hear(operation: &Operation, round: &Round, report: &MachineReport, now: Timestamp) -> Heard {
    let step = steps_of(operation).into_iter().find(|step| operation.done_at(*step).is_none());
    let agent_runs = matches!(step, Some(StepKind::AgentOn | StepKind::WriteImage));
    let is_begun = agent_runs || matches!(step, Some(StepKind::InsertMedia | StepKind::BootAgent));
    let out_of_place = || {
        let step = step.map_or("its end", StepKind::title);
        Heard::OutOfPlace(format!("operation {} is at {step}", operation.id.short()))
    };
    let has_exchanged = round.has_exchanged(operation);
    match report {
        // The answer to it was lost on its way, as when we died before it was sent.
        MachineReport::Exchange { nonce } if round.exchanged(operation) == Some(nonce) => Heard::Known,
        MachineReport::Exchange { .. } if has_exchanged => misused(operation, round, now),
        MachineReport::Exchange { .. } if is_going_off(operation) => Heard::OutOfPlace("it is being started again".into()),
        MachineReport::Exchange { .. } if agent_runs => Heard::News(report.clone()),
        MachineReport::PhonedHome { .. } if round.has_phoned_home(operation) => Heard::Known,
        MachineReport::PhonedHome { .. } if matches!(step, Some(StepKind::SystemOn | StepKind::PhoneHome)) => Heard::News(report.clone()),
        MachineReport::Exchange { .. } | MachineReport::PhonedHome { .. } => out_of_place(),
        // Nobody has a session to say so yet: it is the install face that cannot have an image, or saw a token in wrong hands.
        MachineReport::Failed { trouble, detail } if !has_exchanged && is_begun => {
            Heard::News(MachineReport::Failed { trouble: *trouble, detail: cleaned(detail, DETAIL_MAX) })
        }
        _ if !has_exchanged => Heard::OutOfPlace("no agent has called in this attempt".into()),
        MachineReport::Inventory { .. } if round.is_inventoried(operation) => Heard::Known,
        MachineReport::Inventory { .. } if agent_runs && round.written(operation).is_none() => Heard::News(report.clone()),
        MachineReport::Inventory { .. } => out_of_place(),
        MachineReport::Written { digest } => match round.written(operation) {
            Some(known) if known == digest => Heard::Known,
            Some(known) => Heard::OutOfPlace(format!("it has told another digest before: {}", known.short())),
            None if agent_runs => Heard::News(report.clone()),
            None => out_of_place(),
        },
        MachineReport::Progress { percent } => match round.written(operation) {
            Some(_) => Heard::Known,
            None if agent_runs => progress(operation, round, *percent, now),
            None => out_of_place(),
        },
        MachineReport::Failed { trouble, detail } if agent_runs && round.written(operation).is_none() => {
            Heard::News(MachineReport::Failed { trouble: *trouble, detail: cleaned(detail, DETAIL_MAX) })
        }
        MachineReport::Failed { .. } => out_of_place(),
    }
}

/// The attempt fails, if it is still at the agent; after that the token opens nothing any more.
fn misused(operation: &Operation, round: &Round, now: Timestamp) -> Heard {
    let is_over = round.written(operation).is_some();
    let detail = format!("its token was shown for the second time at {}", now.clock());
    let report = (!is_over).then_some(MachineReport::Failed { trouble: InstallTrouble::TokenMisused, detail });
    Heard::Misused(report, "its token was used before".into())
}

fn progress(operation: &Operation, round: &Round, percent: u8, now: Timestamp) -> Heard {
    let percent = percent.min(100);
    let is_news = match round.percent(operation) {
        None => true,
        Some((at, known)) => percent >= known.saturating_add(PROGRESS_EVERY) || (percent >= known && now >= at + PROGRESS_AGE),
    };
    if is_news { Heard::News(MachineReport::Progress { percent }) } else { Heard::Known }
}

fn ended(draft: &Draft, attempt: &Attempt) -> String {
    let id = attempt.operation.short();
    match draft.after.operations.get(&attempt.operation).and_then(|operation| operation.ended.as_ref()) {
        Some(ended) => format!("operation {id} ended at {}: {}", ended.at.clock(), ended.result),
        None => format!("no operation {id} is at work on `{}`", attempt.machine),
    }
}

fn refuse(attempt: &Attempt, evidence: Vec<String>) -> Result<(), Refusal> {
    Err(Refusal {
        rule: Rule::AttemptRunning,
        message: format!("what `{}` tells of its installation is not heard", attempt.machine),
        evidence,
        remedy: format!("nothing to do for the machine; a person reads `rackwright operation show {}`", attempt.operation.short()),
    })
}
