//! One machine's turn: note what was seen of it, move its operation on or keep its node as its holds say, and say
//! what is waited for.

use model::{
    Action, Answer, Connection, DeviceAsk, Entry, Errand, Fact, Failure, LastSeen, Limits, Machine, MachineName, Management, Observation,
    Operation, Power, Readiness, Seen, StepKind, Target, Timestamp, Wait, WaitKind,
};

use crate::draft::{Draft, Step};
use crate::sight::Sight;
use crate::snapshot::Snapshot;
use crate::{contact, control_plane, converge, ending, evacuate, node_step, power_step};

/// What empties a machine, and what fills it again.
const EVACUATION: [StepKind; 3] = [StepKind::CordonTenants, StepKind::Drain, StepKind::StopVms];
const RETURN: [StepKind; 2] = [StepKind::StartVms, StepKind::UncordonTenants];

/// The steps of an operation, in their order. Those that empty a machine, or fill it again, are among them once its journal says
/// so.
pub fn steps_of(operation: &Operation) -> Vec<StepKind> {
    let steps: &[StepKind] = match (&operation.target, operation.action) {
        (Target::Machine(_), Action::PowerOff { .. }) => &[StepKind::Cordon, StepKind::PowerOff],
        (Target::Machine(_), Action::Start) => &[StepKind::PowerOn, StepKind::Rejoin, StepKind::Uncordon],
        (Target::Machine(_), Action::Restart) => {
            &[StepKind::Cordon, StepKind::PowerOff, StepKind::PowerOn, StepKind::Rejoin, StepKind::Uncordon]
        }
        (Target::Machine(_), Action::Cordon { .. }) => &[StepKind::Cordon],
        (Target::Machine(_), Action::Uncordon) => &[StepKind::Uncordon],
        (_, Action::PowerOff { .. }) => &[StepKind::Stop],
        (_, Action::Start) => &[StepKind::Start],
        (_, Action::Restart | Action::RestartNode) => &[StepKind::Stop, StepKind::Start],
        (_, Action::Reimage) => &[StepKind::Stop, StepKind::DiscardOsDisk, StepKind::Start],
        (_, Action::Create) => &[StepKind::Create, StepKind::Start],
        (_, Action::Delete) => &[StepKind::Delete],
        (_, Action::Cordon { .. } | Action::Uncordon) => &[],
    };
    let has = |fact: &Fact| operation.journal.iter().any(|entry| entry.fact == *fact);
    let (evacuates, returns) = (has(&Fact::Evacuating), has(&Fact::Returning));
    let mut all = Vec::with_capacity(steps.len() + EVACUATION.len() + RETURN.len());
    for step in steps {
        all.push(*step);
        match step {
            StepKind::Cordon if evacuates => all.extend(EVACUATION),
            StepKind::Uncordon if returns => all.extend(RETURN),
            _ => {}
        }
    }
    all
}

/// What a look at a step's device comes to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Finding {
    /// The effect is there.
    Done,
    /// The step is left out, and why.
    Skip(String),
    /// The device is to be asked, now.
    Ask(DeviceAsk),
    /// These are to be asked for, now; what is waited for then, and when time alone changes the finding.
    Errands { errands: Vec<Errand>, wait: Wait, until: Option<Timestamp> },
    /// Nothing to do but wait; `until` is when time alone changes the finding.
    Wait { wait: Wait, until: Option<Timestamp> },
    /// It cannot succeed any more.
    Fail { failure: Failure, because: String },
}

impl Finding {
    pub fn wait(wait: Wait) -> Finding {
        Finding::Wait { until: None, wait }
    }

    /// Until then, or until there is news if that has passed: what time alone no longer changes is not looked at again and again.
    pub fn wait_for_news(wait: Wait, until: Timestamp, now: Timestamp) -> Finding {
        Finding::Wait { wait, until: Some(until).filter(|at| *at > now) }
    }

    pub fn wait_until(wait: Wait, until: Timestamp) -> Finding {
        Finding::Wait { wait, until: Some(until) }
    }

    /// Asks if there is anything to ask for, and waits in any case.
    pub fn errands(errands: Vec<Errand>, wait: Wait, until: Option<Timestamp>) -> Finding {
        if errands.is_empty() { Finding::Wait { wait, until } } else { Finding::Errands { errands, wait, until } }
    }

    fn into_wait(self) -> Option<Wait> {
        match self {
            Finding::Wait { wait, .. } | Finding::Errands { wait, .. } => Some(wait),
            Finding::Done | Finding::Skip(_) | Finding::Ask(_) | Finding::Fail { .. } => None,
        }
    }
}

/// What the steps look at.
pub(crate) struct Bench<'a> {
    pub snapshot: &'a Snapshot,
    pub operation: &'a Operation,
    pub machine: &'a Machine,
    pub sight: &'a Sight<'a>,
    pub limits: &'a Limits,
    pub keeper_started_at: Timestamp,
    pub now: Timestamp,
}

pub(crate) fn plan_machine(draft: &mut Draft, name: &MachineName, now: Timestamp) {
    let Some(machine) = draft.after.machines.get(name) else { return };
    let mut machine = (**machine).clone();
    note_seen(&mut machine, &draft.after.observation(name), now);
    let doubt_at = doubt_dead_boot(&draft.after, &mut machine, now);
    evacuate::note_doings(&draft.after, &mut machine);
    if draft.after.undescribed.contains(name) {
        leave_alone(draft, &mut machine, now);
        draft.save_machine(machine);
        draft.plan.revisits.insert(name.clone(), None);
        return;
    }
    let revisit = match draft.after.running_on(name).cloned() {
        Some(operation) => advance(draft, &mut machine, (*operation).clone(), now),
        None => converge::plan_holds(draft, &mut machine, now),
    };
    draft.save_machine(machine);
    draft.plan.revisits.insert(name.clone(), sooner(revisit, doubt_at));
}

/// A machine that is no longer described has no BMC that could be asked or looked at: its operation has failed, since
/// no time that passes brings it on, and its holds stay for whoever puts it back.
fn leave_alone(draft: &mut Draft, machine: &mut Machine, now: Timestamp) {
    if let Some(operation) = draft.after.running_on(&machine.name) {
        let mut operation = (**operation).clone();
        ending::fail_undescribed(&mut operation, machine, now);
        draft.save_operation(operation);
    }
    let same = machine.waits.iter().find(|wait| wait.kind == WaitKind::Undescribed).cloned();
    machine.waits = vec![same.unwrap_or(Wait { kind: WaitKind::Undescribed, since: now, expected_by: None })];
}

/// A BMC can say Off by mistake, for instance while it restarts itself. If the machine is seen on, and the undercloud
/// goes on calling the same boot Ready far longer than a dead one could seem so, the boot never ended. Returns when
/// that will be known, if the suspicion still stands.
fn doubt_dead_boot(snapshot: &Snapshot, machine: &mut Machine, now: Timestamp) -> Option<Timestamp> {
    let on_since = machine.last_seen.power.as_ref().filter(|power| power.what == Power::On)?.at;
    let node = machine.last_seen.node.as_ref()?;
    let claims_life = node.what.ready == Readiness::True && machine.last_seen.is_of_dead_boot(&node.what);
    let heard = snapshot.undercloud.fault.is_none() && snapshot.cluster.connection == Connection::Connected;
    if !(claims_life && heard) {
        return None;
    }
    let watched_since = on_since.max(node.at).max(snapshot.cluster.connection_since).max(snapshot.keeper_started_at);
    let known_at = watched_since + snapshot.cluster.limits.dead_boot_doubt;
    if now < known_at {
        return Some(known_at);
    }
    machine.last_seen.dead_boot_id = None;
    None
}

/// Carries transitions from what was observed over to the machine, each with the moment it was first seen so.
fn note_seen(machine: &mut Machine, observation: &Observation, now: Timestamp) {
    note_boots(&mut machine.last_seen, observation);
    let LastSeen { power, node, bmc_fault, bmc_answered_at, dead_boot_id: _ } = &mut machine.last_seen;
    if let Some(seen) = &observation.power
        && power.as_ref().is_none_or(|before| before.what != seen.what)
    {
        *power = Some(seen.clone());
    }
    if let Some(seen) = &observation.node {
        match &seen.what {
            None => *node = None,
            Some(current) => match node {
                // A problem that comes or goes does not make what is known of the node itself any younger.
                Some(before) if before.what.is_same_node(current) => {
                    if !before.what.has_same_problems(current) {
                        before.what = current.clone();
                    }
                }
                _ => *node = Some(Seen { what: current.clone(), at: seen.at }),
            },
        }
    }
    // Not tried yet is no answer: what the last keeper knew stands.
    if observation.bmc.tried_at.is_some() {
        *bmc_fault = contact::run_of_failures(&observation.bmc, bmc_fault.as_ref(), now);
        let answered_at = observation.bmc.answered_at.or(*bmc_answered_at);
        *bmc_answered_at = answered_at.filter(|_| bmc_fault.is_some());
    }
}

/// A boot is dead if the machine was seen off after the boot was seen: a look at the power that is older than a boot
/// says nothing about it. Only another boot makes the dead one forgotten, since nothing brings it back.
fn note_boots(last_seen: &mut LastSeen, observation: &Observation) {
    let stored = last_seen.node.as_ref().map(|node| (&node.what, node.at));
    let current = match &observation.node {
        Some(node) => node.what.as_ref().map(|what| (what, node.at)),
        None => stored,
    };
    let Some((node, seen_at)) = current else { return };
    let known_since = stored.filter(|(before, _)| before.boot_id == node.boot_id).map_or(seen_at, |(_, at)| at.min(seen_at));
    let off_at = observation.power.as_ref().filter(|power| power.what == Power::Off).map(|power| power.at);
    if off_at.is_some_and(|at| known_since <= at) {
        last_seen.dead_boot_id = Some(node.boot_id.clone()).filter(|id| !id.is_empty());
    } else if !last_seen.is_of_dead_boot(node) {
        last_seen.dead_boot_id = None;
    }
}

/// Moves an operation as far as what was seen allows. Returns when to look again if nothing else happens.
fn advance(draft: &mut Draft, machine: &mut Machine, mut operation: Operation, now: Timestamp) -> Option<Timestamp> {
    let limits = draft.after.cluster.limits.clone();
    let keeper_started_at = draft.after.keeper_started_at;
    let snapshot = draft.after.clone();
    let sight = Sight::of(&snapshot, machine);
    let mut revisit = None;
    let waited = operation.wait.take();
    ending::resume(&mut operation, keeper_started_at, now);
    note_answer(&mut operation, &sight.observation);
    evacuate::note_faults(&snapshot.tenants, &mut operation);
    let mut errands = Vec::new();
    let asked = loop {
        let Some(step) = steps_of(&operation).into_iter().find(|step| operation.done_at(*step).is_none()) else {
            ending::succeed(&mut operation, machine, now);
            break None;
        };
        if step == StepKind::Uncordon {
            release_own_holds(machine, &operation);
        }
        let bench = Bench { snapshot: &snapshot, operation: &operation, machine, sight: &sight, limits: &limits, keeper_started_at, now };
        if let Some(notes) = note(&bench, step) {
            notes.write(&mut operation, machine, now);
        }
        let bench = Bench { snapshot: &snapshot, operation: &operation, machine, sight: &sight, limits: &limits, keeper_started_at, now };
        let finding = examine(&bench, step);
        let finding = spare_the_control_plane(&snapshot, &bench, finding, waited.as_ref());
        let finding = one_at_a_time(&bench, finding);
        let overdue = ending::is_overdue(&bench);
        let safe_at = ending::safe_point_at(&bench, step);
        let stop_at = operation.cancel.as_ref().and(safe_at);
        match finding {
            Finding::Done => {
                note_boot(&mut operation, step, &sight, now);
                operation.journal.push(Entry { at: now, fact: Fact::Seen { step } });
                ending::note_step_done(&operation, machine, step);
                evacuate::follow(&snapshot, machine, &mut operation, step, now);
            }
            Finding::Skip(reason) => {
                operation.journal.push(Entry { at: now, fact: Fact::Skipped { step, reason } });
                evacuate::follow(&snapshot, machine, &mut operation, step, now);
            }
            Finding::Fail { failure, because } => {
                ending::fail(&mut operation, machine, failure, &because, now);
                break None;
            }
            _ if stop_at.is_some_and(|at| now >= at) => {
                ending::cancel(&mut operation, machine, step, now);
                break None;
            }
            Finding::Ask(_) | Finding::Wait { .. } | Finding::Errands { .. } if overdue => {
                operation.wait = finding.into_wait().or(waited);
                if safe_at.is_some_and(|at| now >= at) {
                    let because = format!("{} did not end in time", step.title());
                    ending::fail(&mut operation, machine, Failure::DeadlineExceeded, &because, now);
                } else {
                    // Nothing more is asked, but the machine is not free while a request may still take effect.
                    revisit = safe_at;
                }
                break None;
            }
            Finding::Ask(ask) => {
                let attempt = operation.last_asked(ask).map_or(1, |(_, attempt)| attempt + 1);
                operation.journal.push(Entry { at: now, fact: Fact::Asked { ask, attempt } });
                operation.wait = Some(effect_wait(&operation, ask, now, &limits));
                revisit = sooner(Some(now + settle_of(ask, &limits)), stop_at);
                break Some((ask, attempt));
            }
            Finding::Errands { errands: wanted, wait, until } => {
                errands = evacuate::ask_for(&mut operation, machine, wanted, &snapshot, now);
                operation.wait = Some(wait);
                revisit = sooner(sooner(until, Some(now + limits.errand_settle)), stop_at);
                break None;
            }
            Finding::Wait { wait, until } => {
                operation.wait = Some(wait);
                revisit = sooner(until, stop_at);
                break None;
            }
        }
    };
    machine.waits = operation.wait.iter().cloned().collect();
    if !operation.is_running() {
        revisit = converge::plan_holds(draft, machine, now);
    } else if operation.deadline_at > now {
        // A deadline that has passed is judged at the next look, which comes by itself.
        revisit = sooner(revisit, Some(operation.deadline_at));
    }
    if let Some((ask, attempt)) = asked {
        draft.plan.steps.push(step_for(machine, Some(&operation), ask, attempt));
    }
    draft.plan.errands.extend(errands);
    draft.save_operation(operation);
    revisit.map(|at| at.max(now))
}

/// What is worth writing down before a step is examined. Of a machine that is not managed nothing is.
fn note(bench: &Bench<'_>, step: StepKind) -> Option<evacuate::Notes> {
    if bench.machine.management == Management::Managed { evacuate::note(bench, step) } else { None }
}

fn sooner(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    [a, b].into_iter().flatten().min()
}

/// The boot to be left behind is the one that ran when the power went, which may not be the one found at acceptance:
/// then the keeper had perhaps not looked yet.
fn note_boot(operation: &mut Operation, step: StepKind, sight: &Sight<'_>, now: Timestamp) {
    let boot_id = sight.observation.boot_id();
    if step == StepKind::PowerOff && boot_id.is_some() && boot_id.as_deref() != operation.found_boot_id() {
        operation.journal.push(Entry { at: now, fact: Fact::Found { boot_id } });
    }
}

/// A member of the control plane is not switched off while the others could not carry on without it.
fn spare_the_control_plane(snapshot: &Snapshot, bench: &Bench<'_>, finding: Finding, waited: Option<&Wait>) -> Finding {
    let Finding::Ask(DeviceAsk::GracefulOff | DeviceAsk::ForceOff) = finding else { return finding };
    let Some(because) = control_plane::objection(snapshot, bench.machine, bench.operation.accepted_at) else { return finding };
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

fn examine(bench: &Bench<'_>, step: StepKind) -> Finding {
    if let Management::Unmanaged { since, .. } = &bench.machine.management {
        // No operation begins on such a machine; one that meets the state sends nothing.
        return Finding::wait(Wait { kind: WaitKind::Unmanaged, since: *since, expected_by: None });
    }
    match step {
        StepKind::Cordon => node_step::cordon(bench),
        StepKind::PowerOff => power_step::power_off(bench),
        StepKind::PowerOn => power_step::power_on(bench),
        StepKind::Rejoin => node_step::rejoin(bench),
        StepKind::Uncordon => node_step::uncordon(bench),
        StepKind::CordonTenants | StepKind::Drain | StepKind::StopVms | StepKind::StartVms | StepKind::UncordonTenants => {
            evacuate::examine(bench, step)
        }
        StepKind::Create | StepKind::Stop | StepKind::DiscardOsDisk | StepKind::Start | StepKind::Delete => {
            Finding::Skip("it is not part of this version".into())
        }
    }
}

/// A restart lifts its own hold at the end; a start lifts the one that the power-off left.
fn release_own_holds(machine: &mut Machine, operation: &Operation) {
    machine.holds.retain(|hold| {
        let own = hold.owner.is_operation(&operation.id);
        let left_by_power_off = hold.owner.is_powered_off() && matches!(operation.action, Action::Start | Action::Restart);
        !own && !left_by_power_off
    });
}

pub(crate) fn step_for(machine: &Machine, operation: Option<&Operation>, ask: DeviceAsk, attempt: u32) -> Step {
    let reason = machine.holds.first().map_or_else(String::new, |hold| format!("{} ({})", hold.reason, hold.owner));
    Step {
        machine: machine.name.clone(),
        node: machine.last_seen.node.as_ref().map(|node| node.what.name.clone()),
        operation: operation.map(|operation| operation.id.clone()),
        ask,
        attempt,
        reason,
    }
}

/// How long the effect of an ask may stay unseen before anything else is asked.
pub(crate) fn settle_of(ask: DeviceAsk, limits: &Limits) -> model::Span {
    match ask {
        DeviceAsk::GracefulOff => limits.graceful_timeout,
        DeviceAsk::ForceOff | DeviceAsk::PowerOn => limits.power_settle,
        DeviceAsk::Cordon | DeviceAsk::Uncordon => limits.node_settle,
    }
}

/// The wait for an ask's effect. It counts from the first asking: asking again does not make it young.
pub(crate) fn effect_wait(operation: &Operation, ask: DeviceAsk, fallback: Timestamp, limits: &Limits) -> Wait {
    let expected = match ask {
        DeviceAsk::GracefulOff | DeviceAsk::ForceOff => limits.expected_power_off,
        DeviceAsk::PowerOn => limits.expected_power_on,
        DeviceAsk::Cordon | DeviceAsk::Uncordon => limits.expected_cordon,
    };
    let since = operation.first_asked_at(ask).unwrap_or(fallback);
    let attempt = operation.last_asked(ask).map_or(1, |(_, attempt)| attempt);
    Wait { kind: WaitKind::Effect { of: ask, attempt }, since, expected_by: Some(since + expected) }
}
