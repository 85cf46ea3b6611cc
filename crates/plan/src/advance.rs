//! A machine's operation is moved on, step by step, as far as what was seen allows.

use model::{
    Action, Answer, DeviceAsk, Entry, Fact, Failure, Limits, LookAt, Machine, Management, Observation, Operation, StepKind, Timestamp,
    Wait, WaitKind,
};

use crate::draft::{Draft, ErrandStep, LookStep, Step};
use crate::install::clean_up;
use crate::operate::{Bench, Finding, effect_wait, examine, is_known, settle_of, step_for, steps_of};
use crate::sight::Sight;
use crate::snapshot::Snapshot;
use crate::{control_plane, converge, ending, evacuate, install};

/// What an operation's turn comes to, beside what it leaves in its journal.
#[derive(Default)]
struct Turn {
    asked: Option<(DeviceAsk, u32)>,
    errands: Vec<ErrandStep>,
    look: Option<LookAt>,
    revisit: Option<Timestamp>,
}

/// What a look at a step comes to, and what its operation may do about it.
struct Judged {
    step: StepKind,
    finding: Finding,
    is_overdue: bool,
    /// From when on nothing that was asked can take effect any more.
    safe_at: Option<Timestamp>,
}

/// What all steps of a turn look at.
struct Scene<'a> {
    snapshot: &'a Snapshot,
    sight: &'a Sight<'a>,
    limits: &'a Limits,
    /// What the operation waited for before.
    waited: Option<Wait>,
    now: Timestamp,
}

impl<'a> Scene<'a> {
    fn bench(&self, operation: &'a Operation, machine: &'a Machine) -> Bench<'a> {
        Bench {
            snapshot: self.snapshot,
            operation,
            machine,
            sight: self.sight,
            limits: self.limits,
            keeper_started_at: self.snapshot.keeper_started_at,
            now: self.now,
        }
    }
}

/// Moves an operation as far as what was seen allows. Returns when to look again if nothing else happens.
pub(crate) fn advance(draft: &mut Draft, machine: &mut Machine, mut operation: Operation, now: Timestamp) -> Option<Timestamp> {
    let snapshot = draft.after.clone();
    let sight = Sight::of(&snapshot, machine);
    let waited = operation.wait.take();
    let known = operation.journal.len();
    ending::resume(&mut operation, snapshot.keeper_started_at, now);
    note_answer(&mut operation, &sight.observation);
    evacuate::note_faults(&snapshot.tenants, &mut operation);
    let scene = Scene { snapshot: &snapshot, sight: &sight, limits: &snapshot.cluster.limits, waited, now };
    let Turn { asked, errands, look, mut revisit } = take_steps(&scene, machine, &mut operation);
    machine.waits = operation.wait.iter().cloned().collect();
    if !operation.is_running() {
        revisit = converge::plan_holds(draft, machine, now);
    } else if operation.deadline_at > now {
        // A deadline that has passed is judged at the next look, which comes by itself.
        revisit = sooner(revisit, Some(operation.deadline_at));
    }
    if let Some((ask, attempt)) = asked {
        let with = install::particulars(&snapshot, &operation, ask);
        draft.plan.steps.push(Step { with, ..step_for(machine, Some(&operation), ask, attempt) });
    }
    draft.plan.looks.extend(look.map(|at| LookStep { machine: (at != LookAt::Etcd).then(|| machine.name.clone()), at }));
    draft.plan.errands.extend(errands);
    let validation = install::validation_since(&snapshot, machine, &operation, known, now);
    let validation = validation.or_else(|| install::note_login(&snapshot, machine, &operation, now));
    draft.plan.changes.validations.extend(validation.map(|validation| (machine.name.clone(), validation)));
    draft.save_operation(operation);
    revisit.map(|at| at.max(now))
}

/// Takes steps until one is not done yet, or the operation ends.
fn take_steps(scene: &Scene<'_>, machine: &mut Machine, operation: &mut Operation) -> Turn {
    let now = scene.now;
    if !is_known(operation) {
        let because = format!("this version knows no {} of machines", operation.action.command());
        ending::fail(operation, machine, Failure::DeviceUnsupported, &because, now);
        return Turn::default();
    }
    loop {
        let Some(step) = next_step(operation) else {
            if operation.is_cleaning_up() {
                clean_up::end(operation, machine, now);
            } else {
                ending::succeed(operation, machine, now);
            }
            return Turn::default();
        };
        if step == StepKind::Uncordon {
            release_own_holds(machine, operation);
        }
        if let Some(notes) = note(&scene.bench(operation, machine), step) {
            notes.write(operation, machine, now);
        }
        if let Some(fact) = note_installing(&scene.bench(operation, machine), step) {
            operation.journal.push(Entry { at: now, fact: fact.clone() });
            install::note_fact(operation, machine, &fact, now);
        }
        let judged = judge(scene, &scene.bench(operation, machine), step);
        match judged.finding {
            Finding::Done => {
                note_boot(operation, step, scene.sight, now);
                operation.journal.push(Entry { at: now, fact: Fact::Seen { step } });
                ending::note_step_done(operation, machine, step);
                install::note_step_done(operation, machine, step);
                evacuate::follow(scene.snapshot, machine, operation, step, now);
            }
            Finding::Skip(reason) => {
                operation.journal.push(Entry { at: now, fact: Fact::Skipped { step, reason } });
                evacuate::follow(scene.snapshot, machine, operation, step, now);
            }
            _ => match put_off(scene, operation, &judged) {
                Some(fact) => operation.journal.push(Entry { at: now, fact }),
                None => return pause_at(scene, machine, operation, judged),
            },
        }
    }
}

fn next_step(operation: &Operation) -> Option<StepKind> {
    if operation.is_cleaning_up() {
        return clean_up::next_step(operation);
    }
    steps_of(operation).into_iter().find(|step| operation.done_at(*step).is_none())
}

/// What is written down instead of the end of an operation that leaves something to be cleaned up first.
fn put_off(scene: &Scene<'_>, operation: &Operation, judged: &Judged) -> Option<Fact> {
    if !clean_up::is_needed(operation) {
        return None;
    }
    let is_safe = judged.safe_at.is_some_and(|at| scene.now >= at);
    let during = judged.step;
    match &judged.finding {
        Finding::Fail { failure, because } => Some(Fact::CleaningUp { during, failure: Some(*failure), because: because.clone() }),
        _ if operation.cancel.is_some() && is_safe => Some(Fact::CleaningUp { during, failure: None, because: "cancelled".into() }),
        finding if judged.is_overdue && is_safe => {
            let wait = finding.clone().into_wait().or_else(|| scene.waited.clone());
            let waited = wait.map(|wait| format!("; it waited for {}", wait.kind)).unwrap_or_default();
            let because = format!("{} did not end in time{waited}", during.title());
            Some(Fact::CleaningUp { during, failure: Some(Failure::DeadlineExceeded), because })
        }
        _ => None,
    }
}

fn judge(scene: &Scene<'_>, bench: &Bench<'_>, step: StepKind) -> Judged {
    let finding = examine(bench, step);
    let finding = spare_the_control_plane(scene.snapshot, bench, finding, scene.waited.as_ref());
    let finding = install::attend(bench, step, finding, scene.waited.as_ref());
    let finding = one_at_a_time(bench, finding);
    Judged { step, finding, is_overdue: ending::is_overdue(bench), safe_at: ending::safe_point_at(bench, step) }
}

/// What becomes of an operation whose step is not done yet.
fn pause_at(scene: &Scene<'_>, machine: &mut Machine, operation: &mut Operation, judged: Judged) -> Turn {
    let Scene { snapshot, limits, now, .. } = *scene;
    let Judged { step, finding, is_overdue, safe_at } = judged;
    // What cleans up has time of its own, and is its end already.
    let is_ending = operation.is_cleaning_up();
    let is_overdue = is_overdue && !is_ending;
    let is_safe = safe_at.is_some_and(|at| now >= at);
    let stop_at = operation.cancel.as_ref().filter(|_| !is_ending).and(safe_at);
    let mut turn = Turn::default();
    match finding {
        Finding::Done | Finding::Skip(_) => {}
        Finding::Fail { failure, because } => ending::fail(operation, machine, failure, &because, now),
        _ if operation.cancel.is_some() && is_safe && !is_ending => ending::cancel(operation, machine, step, now),
        finding if is_overdue => {
            operation.wait = finding.into_wait().or_else(|| scene.waited.clone());
            if is_safe {
                let because = format!("{} did not end in time", step.title());
                ending::fail(operation, machine, Failure::DeadlineExceeded, &because, now);
            } else {
                // Nothing more is asked, but the machine is not free while a request may still take effect.
                turn.revisit = safe_at;
            }
        }
        Finding::Ask(ask) => {
            let attempt = operation.last_asked(ask).map_or(1, |(_, attempt)| attempt + 1);
            operation.journal.push(Entry { at: now, fact: Fact::Asked { ask, attempt } });
            install::note_ask(operation, machine, ask);
            operation.wait = Some(effect_wait(operation, ask, now, limits));
            turn.revisit = sooner(Some(now + settle_of(ask, limits)), stop_at);
            turn.asked = Some((ask, attempt));
        }
        Finding::Errands { errands, wait, until } => {
            turn.errands = evacuate::ask_for(operation, machine, errands, snapshot, now);
            operation.wait = Some(wait);
            turn.revisit = sooner(sooner(until, Some(now + limits.errand_settle)), stop_at);
        }
        Finding::Look { at, wait, until } => {
            operation.wait = Some(wait);
            turn.look = Some(at);
            turn.revisit = sooner(until, stop_at);
        }
        Finding::Wait { wait, until } => {
            operation.wait = Some(wait);
            turn.revisit = sooner(until, stop_at);
        }
    }
    turn
}

/// What is worth writing down before a step is examined. Of a machine that is not managed nothing is.
fn note(bench: &Bench<'_>, step: StepKind) -> Option<evacuate::Notes> {
    if bench.machine.management == Management::Managed { evacuate::note(bench, step) } else { None }
}

fn note_installing(bench: &Bench<'_>, step: StepKind) -> Option<Fact> {
    (bench.machine.management == Management::Managed).then(|| install::note(bench, step)).flatten()
}

/// The boot to be left behind is the one that ran when the power went, which may not be the one found at acceptance:
/// then the keeper had perhaps not looked yet.
fn note_boot(operation: &mut Operation, step: StepKind, sight: &Sight<'_>, now: Timestamp) {
    let boot_id = sight.observation.boot_id();
    if step == StepKind::PowerOff && boot_id.is_some() && boot_id.as_deref() != operation.found_boot_id() {
        operation.journal.push(Entry { at: now, fact: Fact::Found { boot_id, provisioning: None } });
    }
}

/// A member of the control plane is not switched off, nor taken out of etcd, while the others could not carry on without it.
fn spare_the_control_plane(snapshot: &Snapshot, bench: &Bench<'_>, finding: Finding, waited: Option<&Wait>) -> Finding {
    let because = match finding {
        Finding::Ask(DeviceAsk::GracefulOff | DeviceAsk::ForceOff) => control_plane::objection(snapshot, bench.machine, bench.operation),
        Finding::Ask(DeviceAsk::LeaveEtcd) => control_plane::objection_to_leaving(snapshot, bench.machine, bench.operation),
        _ => None,
    };
    let Some(because) = because else { return finding };
    let same = waited.filter(|wait| matches!(wait.kind, WaitKind::ControlPlane { .. }));
    let since = same.map_or(bench.now, |wait| wait.since);
    let expected_by = Some(since + bench.limits.expected_rejoin);
    Finding::wait(Wait { kind: WaitKind::ControlPlane { because }, since, expected_by })
}

/// A machine's devices are asked one thing at a time: whatever is under way is waited for first.
fn one_at_a_time(bench: &Bench<'_>, finding: Finding) -> Finding {
    match (&finding, bench.sight.observation.asking) {
        (Finding::Ask(_), Some(under_way)) => {
            // Asked for the holds, if this operation did not.
            let asked_at = bench.machine.node_ask.as_ref().map_or(bench.operation.accepted_at, |ask| ask.at);
            Finding::wait(effect_wait(bench.operation, under_way, asked_at, bench.limits))
        }
        _ => finding,
    }
}

/// A fault that answered the latest ask becomes a fact, once.
fn note_answer(operation: &mut Operation, observation: &Observation) {
    let Some(answer) = &observation.answer else { return };
    let Answer { operation: asked_by, ask, attempt, fault, at } = answer;
    if asked_by.as_ref() == Some(&operation.id) && operation.fault_of(*ask, *attempt).is_none() {
        operation.journal.push(Entry { at: *at, fact: Fact::Faulted { ask: *ask, attempt: *attempt, fault: fault.clone() } });
    }
}

pub(crate) fn sooner(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    [a, b].into_iter().flatten().min()
}

/// A restart lifts its own hold at the end; a start lifts the one that the power-off left.
fn release_own_holds(machine: &mut Machine, operation: &Operation) {
    machine.holds.retain(|hold| {
        let own = hold.owner.is_operation(&operation.id);
        let left_by_power_off = hold.owner.is_powered_off() && matches!(operation.action, Action::Start | Action::Restart);
        !own && !left_by_power_off
    });
}
