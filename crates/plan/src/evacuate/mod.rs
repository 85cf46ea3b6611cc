//! Emptying a machine of tenants' workloads, and filling it again.
//!
//! Each step comes in two parts: what is worth writing down is noted first (`note_*`: facts for the journal, and what is remembered
//! with the machine), and then the step is examined as any other. So whatever is asked for has been remembered in the same commit.

mod cordon_tenants;
mod dead;
mod drain;
mod errand;
mod eviction;
mod homecoming;
mod memory;
mod quarters;
mod round;
mod spell;
mod stop_vms;
mod told;
mod words;

use model::{Action, Entry, Evacuate, Evacuated, Fact, Machine, Operation, Shutdown, StepKind, Timestamp};

use crate::operate::{Bench, Finding};
use crate::snapshot::Snapshot;

pub(crate) use dead::proof_of_death;
pub(crate) use errand::{ask_for, is_under_way, note_faults};
pub(crate) use homecoming::{converge, is_returning};
pub use memory::forget_vm;
pub(crate) use memory::{is_given_up, note_doings, remember_running};
pub(crate) use spell::counted_from;
pub(crate) use words::{brought_back, emptied, kept_in_memory, left_words};

/// What a step finds worth writing down before anything is asked.
#[derive(Clone, Debug)]
pub(crate) struct Notes {
    pub facts: Vec<Fact>,
    /// What is remembered with the machine from now on.
    pub memory: Option<Evacuated>,
}

impl Notes {
    fn of(bench: &Bench<'_>) -> Notes {
        Notes { facts: Vec::new(), memory: bench.machine.evacuated.clone() }
    }

    pub fn write(self, operation: &mut Operation, machine: &mut Machine, now: Timestamp) {
        operation.journal.extend(self.facts.into_iter().map(|fact| Entry { at: now, fact }));
        machine.evacuated = self.memory.filter(|memory| !memory.is_empty());
    }
}

/// What a step that empties or fills a machine notes; nothing for any other.
pub(crate) fn note(bench: &Bench<'_>, step: StepKind) -> Option<Notes> {
    match step {
        StepKind::CordonTenants => Some(cordon_tenants::note(bench)),
        StepKind::Drain => Some(drain::note(bench)),
        StepKind::StopVms => Some(stop_vms::note(bench)),
        StepKind::StartVms => Some(homecoming::note_starts(bench)),
        StepKind::UncordonTenants => Some(homecoming::note_uncordons(bench)),
        _ => None,
    }
}

pub(crate) fn examine(bench: &Bench<'_>, step: StepKind) -> Finding {
    match step {
        StepKind::CordonTenants => cordon_tenants::examine(bench),
        StepKind::Drain => drain::examine(bench),
        StepKind::StopVms => stop_vms::examine(bench),
        StepKind::StartVms => homecoming::start_vms(bench),
        StepKind::UncordonTenants => homecoming::uncordon_tenants(bench),
        _ => Finding::Skip("it is no part of emptying a machine".into()),
    }
}

/// What an action that has just been accepted finds on its machine.
pub(crate) fn begin(snapshot: &Snapshot, machine: &mut Machine, operation: &mut Operation, now: Timestamp) {
    let now_fact = |fact| Entry { at: now, fact };
    match operation.action {
        Action::Cordon { evacuate: Evacuate::Yes | Evacuate::Forced } => operation.journal.push(now_fact(Fact::Evacuating)),
        // Whoever cuts the power waits for nobody; but what ran comes back with the machine.
        Action::PowerOff { shutdown: Shutdown::Skip } => remember_running(snapshot, machine, &operation.id, now),
        // What runs is remembered while it can be seen: the power may go although the undercloud has fallen silent by then.
        Action::PowerOff { shutdown: Shutdown::Graceful } | Action::Restart | Action::Reimage { .. } | Action::Replace { .. }
            if is_occupied(snapshot, machine) =>
        {
            operation.journal.push(now_fact(Fact::Evacuating));
            remember_running(snapshot, machine, &operation.id, now);
        }
        Action::Uncordon if is_returning(machine) => operation.journal.push(now_fact(Fact::Returning)),
        _ => {}
    }
}

/// What the end of a step makes part of its operation: a virtual machine may have come before the cordon was seen, and what
/// was stopped before comes back once nobody holds the machine any more.
pub(crate) fn follow(snapshot: &Snapshot, machine: &mut Machine, operation: &mut Operation, step: StepKind, now: Timestamp) {
    let has = |fact: &Fact| operation.journal.iter().any(|entry| entry.fact == *fact);
    let fact = match (step, operation.action) {
        (
            StepKind::Cordon,
            Action::PowerOff { shutdown: Shutdown::Graceful } | Action::Restart | Action::Reimage { .. } | Action::Replace { .. },
        ) if may_be_occupied(snapshot, machine) => {
            remember_running(snapshot, machine, &operation.id, now);
            Fact::Evacuating
        }
        (StepKind::Uncordon, _) if is_returning(machine) => Fact::Returning,
        _ => return,
    };
    if !has(&fact) {
        operation.journal.push(Entry { at: now, fact });
    }
}

/// What was listed before the watches were cut proves nothing. Where the undercloud itself is silent, nobody waits for workloads that
/// it could not stop.
fn may_be_occupied(snapshot: &Snapshot, machine: &Machine) -> bool {
    let is_blind = snapshot.tenants.contact.fault.is_some() || snapshot.tenants.listed_at.is_none();
    is_occupied(snapshot, machine) || (is_blind && snapshot.undercloud.fault.is_none())
}

fn is_occupied(snapshot: &Snapshot, machine: &Machine) -> bool {
    snapshot.vms_on(&machine.name).any(|vm| vm.has_instance())
}
