//! What the activity log says of a plan, derived from what the plan changes, so that nothing can be forgotten.
//!
//! Requests and their verdicts, holds, everything that an operation's journal gains but what was merely found, requests to
//! devices, and the connection. A power state that was seen, or a wait, is no entry: it changes nothing.

mod accounts;
mod description;
mod tenants;
mod words;

use std::collections::BTreeMap;

use model::{
    ACTIVITY_FORMAT, Activity, ActivityError, ActivityKind, ActivityStatus, Ask, Cluster, Connection, CorrelationId, DeviceAsk, Ended,
    Entry, Fact, Hold, HoldChange, HoldOwner, Machine, MachineName, NodeAsk, OURSELVES, Operation, OperationId, OperationResult, Part,
    Request, Subject, Timestamp, Verdict,
};

use crate::contact;
use crate::draft::Plan;
use crate::snapshot::Snapshot;

pub use description::{chronicle_enrolment, chronicle_objections};

/// The entries of a plan that was made from `before`, in the order in which things happen.
pub fn chronicle(before: &Snapshot, plan: &Plan, now: Timestamp) -> Vec<Activity> {
    let changes = &plan.changes;
    let moved = changes.operations.values().filter_map(|operation| Some((operation.machine()?, operation))).rev().collect();
    let mut scribe = Scribe { before, plan, moved, uncaused: uncaused(&before.cluster, now), entries: Vec::new() };
    if let Some(after) = &changes.cluster {
        scribe.note_connection(after);
    }
    let mut judged: Vec<&Request> = changes.requests.values().collect();
    judged.sort_by_key(|request| (request.received_at, &request.id));
    for request in judged {
        scribe.note_verdict(request);
    }
    for machine in changes.machines.values() {
        scribe.note_holds(machine);
    }
    for operation in changes.operations.values() {
        scribe.note_operation(operation);
    }
    for machine in changes.machines.values() {
        scribe.note_node_ask(machine);
        scribe.note_accounts(machine);
    }
    scribe.note_errands();
    scribe.note_tenants();
    scribe.entries
}

/// What entries have in common that nobody's request led to: the plan that they are from.
fn uncaused(cluster: &Cluster, now: Timestamp) -> CorrelationId {
    CorrelationId::new(format!("{}-{}", cluster.name.key(), now.as_millis()))
}

struct Scribe<'a> {
    before: &'a Snapshot,
    plan: &'a Plan,
    /// The operation of each machine that the plan moves on; the first by its id, if one ends and another begins.
    moved: BTreeMap<&'a MachineName, &'a Operation>,
    uncaused: CorrelationId,
    entries: Vec<Activity>,
}

/// The part of an entry that says what happened and what came of it.
struct Event {
    what: ActivityKind,
    status: ActivityStatus,
    message: String,
    error: Option<ActivityError>,
}

/// Who brought an entry about.
struct Cause<'a> {
    caller: &'a str,
    correlation_id: &'a CorrelationId,
    operation: Option<&'a OperationId>,
}

impl<'a> Scribe<'a> {
    fn write(&mut self, part: Part, cause: &Cause<'_>, event: Event) {
        let cluster = &self.before.cluster;
        self.entries.push(Activity {
            format: ACTIVITY_FORMAT,
            what: event.what,
            subject: Subject::new(&cluster.home, &cluster.name, part),
            operation: cause.operation.cloned(),
            correlation_id: cause.correlation_id.clone(),
            caller: cause.caller.to_owned(),
            status: event.status,
            message: event.message,
            error: event.error,
        });
    }

    fn note_connection(&mut self, after: &Cluster) {
        if after.connection == self.before.cluster.connection {
            return;
        }
        let status = match after.connection {
            Connection::Connected => ActivityStatus::Succeeded,
            Connection::Undefined => ActivityStatus::InProgress,
            Connection::Timeout | Connection::Disconnected => ActivityStatus::Failed,
        };
        let silence = contact::known_silence(after).filter(|_| status == ActivityStatus::Failed);
        let event = Event {
            what: ActivityKind::Connection { connection: after.connection },
            status,
            message: crate::words::cluster_message(after).to_owned(),
            error: silence.map(|silence| ActivityError::Faulted { fault: silence.what }),
        };
        let correlation_id = self.uncaused.clone();
        self.write(Part::Cluster, &Cause { caller: OURSELVES, correlation_id: &correlation_id, operation: None }, event);
    }

    fn note_verdict(&mut self, request: &Request) {
        let Some(verdict) = &request.verdict else { return };
        // A preview changes nothing, whatever it says.
        if request.ask.is_preview() {
            return;
        }
        // What a machine tells of its installation stands in its operation's journal, if it is worth it.
        if matches!((&request.ask, verdict), (Ask::Report { .. }, Verdict::Done)) {
            return;
        }
        let (status, message, error) = match verdict {
            Verdict::Accepted { operation } => {
                let is_new = !self.before.operations.contains_key(operation);
                (ActivityStatus::Accepted, words::accepted(&request.ask, operation, is_new), None)
            }
            // What is done at a later point, the next safe one, has only been accepted.
            Verdict::Done if request.ask.operation().is_some() => (ActivityStatus::Accepted, words::done(&request.ask), None),
            Verdict::Done | Verdict::Previewed { .. } | Verdict::Advised { .. } | Verdict::Verified { .. } => {
                (ActivityStatus::Succeeded, words::done(&request.ask), None)
            }
            Verdict::Refused { refusal } => {
                (ActivityStatus::Failed, refusal.message.clone(), Some(ActivityError::Refused { refusal: refusal.clone() }))
            }
        };
        let operation = match verdict {
            Verdict::Accepted { operation } => Some(operation),
            _ => request.ask.operation(),
        };
        let cause = Cause { caller: &request.caller, correlation_id: &request.correlation_id, operation };
        let event = Event { what: ActivityKind::request(request.ask.verb(), request.sent.as_ref()), status, message, error };
        self.write(self.part_of(&request.ask), &cause, event);
    }

    fn part_of(&self, ask: &Ask) -> Part {
        let of_operation = |id| {
            let known = self.plan.changes.operations.get(id).or_else(|| self.before.operations.get(id).map(AsRef::as_ref));
            known.map(|operation| Part::of(&operation.target))
        };
        ask.part().or_else(|| ask.operation().and_then(of_operation)).unwrap_or(Part::Cluster)
    }

    fn note_holds(&mut self, machine: &Machine) {
        let before: Vec<Hold> = self.before.machines.get(&machine.name).map(|before| before.holds.clone()).unwrap_or_default();
        let released = before.iter().filter(|hold| !machine.holds.contains(hold)).map(|hold| (hold, HoldChange::Released));
        let placed = machine.holds.iter().filter(|hold| !before.contains(hold)).map(|hold| (hold, HoldChange::Placed));
        for (hold, change) in released.chain(placed) {
            let operation = self.behind_hold(&machine.name, hold);
            let caller = match (&hold.owner, change) {
                (HoldOwner::User { caller } | HoldOwner::Evacuation { caller, .. }, HoldChange::Placed) => caller.as_str(),
                _ => OURSELVES,
            };
            let correlation_id = operation.map_or(&self.uncaused, |operation| &operation.correlation_id).clone();
            let event = Event {
                what: ActivityKind::Hold { owner: hold.owner.clone(), change },
                status: ActivityStatus::Succeeded,
                message: words::hold(&machine.name, hold, change),
                error: None,
            };
            let operation = operation.map(|operation| &operation.id);
            self.write(Part::Machine(machine.name.clone()), &Cause { caller, correlation_id: &correlation_id, operation }, event);
        }
    }

    /// The operation that a hold comes or goes with: the one that this plan moves on, or else the one that placed it.
    fn behind_hold(&self, machine: &MachineName, hold: &Hold) -> Option<&'a Operation> {
        let owner = || match &hold.owner {
            HoldOwner::Operation { id }
            | HoldOwner::PoweredOff { by: id }
            | HoldOwner::Evacuation { by: id, .. }
            | HoldOwner::Reinstalled { by: id, .. } => self.before.operations.get(id).map(AsRef::as_ref),
            HoldOwner::User { .. } | HoldOwner::Condition { .. } | HoldOwner::Upgrade { .. } => None,
        };
        self.moved.get(machine).copied().or_else(owner)
    }

    /// What the journal has gained, and the end.
    fn note_operation(&mut self, operation: &Operation) {
        let earlier = self.before.operations.get(&operation.id);
        let known = earlier.map_or(0, |earlier| earlier.journal.len());
        for entry in operation.journal.iter().skip(known) {
            self.note_fact(operation, entry);
        }
        if let Some(ended) = operation.ended.as_ref().filter(|_| earlier.is_none_or(|earlier| earlier.is_running())) {
            self.note_end(operation, ended);
        }
    }

    fn note_fact(&mut self, operation: &Operation, entry: &Entry) {
        let Operation { target, action, .. } = operation;
        let action = *action;
        let (what, status, message) = match &entry.fact {
            Fact::Found { .. } | Fact::Evacuating | Fact::Returning => return,
            Fact::Resumed => (ActivityKind::Operation { action }, ActivityStatus::InProgress, words::resumed(operation)),
            Fact::Asked { ask, attempt } => {
                let what = ActivityKind::Device { ask: *ask, attempt: *attempt };
                (what, ActivityStatus::Started, words::asked(target, *ask, *attempt))
            }
            Fact::Faulted { ask, attempt, fault } => {
                let what = ActivityKind::Device { ask: *ask, attempt: *attempt };
                (what, ActivityStatus::Failed, words::faulted(target, *ask, *attempt, fault))
            }
            Fact::Seen { step } => {
                (ActivityKind::Step { action, step: *step }, ActivityStatus::Succeeded, format!("{} of `{target}` is done", step.title()))
            }
            Fact::Skipped { step, reason } => {
                let message = format!("{} of `{target}` was left out: {reason}", step.title());
                (ActivityKind::Step { action, step: *step }, ActivityStatus::Succeeded, message)
            }
            Fact::ErrandAsked { errand, attempt } => {
                let what = ActivityKind::Errand { errand: errand.clone(), attempt: *attempt };
                (what, ActivityStatus::Started, words::errand_asked(errand, *attempt))
            }
            Fact::ErrandFaulted { errand, attempt, fault } => {
                let what = ActivityKind::Errand { errand: errand.clone(), attempt: *attempt };
                (what, ActivityStatus::Failed, words::errand_faulted(errand, *attempt, fault))
            }
            Fact::LeavingEtcd { .. }
            | Fact::OutOfEtcd { .. }
            | Fact::SystemDisk { .. }
            | Fact::CleaningUp { .. }
            | Fact::Installing { .. }
            | Fact::Reported { .. }
            | Fact::Inventoried { .. }
            | Fact::Validated { .. }
            | Fact::Discarding { .. }
            | Fact::Inspecting { .. }
            | Fact::Inspected { .. }
            | Fact::Warned { .. } => match words::installation(operation, &entry.fact) {
                Some((status, message)) => (ActivityKind::Installation { action }, status, message),
                None => return,
            },
            Fact::Draining { .. } | Fact::Kept { .. } | Fact::Left { .. } => match words::workload(&entry.fact) {
                Some(message) => (ActivityKind::Workload { action }, ActivityStatus::InProgress, message),
                None => return,
            },
        };
        let error = match &entry.fact {
            Fact::Faulted { fault, .. } | Fact::ErrandFaulted { fault, .. } => Some(ActivityError::Faulted { fault: fault.clone() }),
            _ => None,
        };
        self.write(Part::of(target), &by_us(operation), Event { what, status, message, error });
    }

    fn note_end(&mut self, operation: &Operation, ended: &Ended) {
        let status = match ended.result {
            OperationResult::Succeeded => ActivityStatus::Succeeded,
            OperationResult::Failed => ActivityStatus::Failed,
            OperationResult::Canceled => ActivityStatus::Canceled,
        };
        let error = (status != ActivityStatus::Succeeded).then(|| ActivityError::Ended { ended: ended.clone() });
        let what = ActivityKind::Operation { action: operation.action };
        let cause = Cause { caller: &operation.caller, ..by_us(operation) };
        self.write(Part::of(&operation.target), &cause, Event { what, status, message: ended.message.clone(), error });
    }

    /// What a node is asked on behalf of its machine's holds alone: the first time, each kind of fault that answers, and the
    /// end. It is asked again until it shows, so that the repetitions would fill the log and say nothing.
    fn note_node_ask(&mut self, machine: &Machine) {
        let before = self.before.machines.get(&machine.name).and_then(|before| before.node_ask.as_ref());
        let after = machine.node_ask.as_ref();
        let earlier = before.filter(|before| after.is_some_and(|after| after.ask == before.ask));
        if let Some(over) = before.filter(|_| earlier.is_none()) {
            self.note_node_ask_over(&machine.name, over);
        }
        let Some(asked) = after else { return };
        if earlier.is_none() {
            let message = words::asked(&machine.name, asked.ask, asked.attempt);
            self.write_node_ask(&machine.name, asked, ActivityStatus::Started, message, None);
        }
        let known = earlier.and_then(|earlier| earlier.fault.as_ref());
        if let Some(fault) = asked.fault.as_ref().filter(|fault| Some(*fault) != known) {
            let message = words::faulted(&machine.name, asked.ask, asked.attempt, fault);
            let error = Some(ActivityError::Faulted { fault: fault.clone() });
            self.write_node_ask(&machine.name, asked, ActivityStatus::Failed, message, error);
        }
    }

    /// It is over when it shows; or when nobody wants it any more, or its node is gone.
    fn note_node_ask_over(&mut self, machine: &MachineName, over: &NodeAsk) {
        let is_cordoned = self.before.observation(machine).node.and_then(|node| node.what).map(|node| node.unschedulable);
        let (status, message) = if is_cordoned == Some(over.ask == DeviceAsk::Cordon) {
            (ActivityStatus::Succeeded, words::shown(machine, over.ask))
        } else {
            (ActivityStatus::Canceled, words::no_longer_asked(machine, over.ask))
        };
        self.write_node_ask(machine, over, status, message, None);
    }

    fn write_node_ask(
        &mut self,
        machine: &MachineName,
        asked: &NodeAsk,
        status: ActivityStatus,
        message: String,
        error: Option<ActivityError>,
    ) {
        let what = ActivityKind::Device { ask: asked.ask, attempt: asked.attempt };
        let correlation_id = self.uncaused.clone();
        let cause = Cause { caller: OURSELVES, correlation_id: &correlation_id, operation: None };
        self.write(Part::Machine(machine.clone()), &cause, Event { what, status, message, error });
    }
}

/// What follows from an operation is our doing, under the correlation id of whoever asked for it.
fn by_us(operation: &Operation) -> Cause<'_> {
    Cause { caller: OURSELVES, correlation_id: &operation.correlation_id, operation: Some(&operation.id) }
}
