//! Operations on virtual machines and on tenants' nodes: moved on as far as what was seen allows.

use std::sync::Arc;

use model::{
    Action, Entry, Errand, ErrandState, Fact, Failure, Fault, Limits, MachineName, Operation, OperationId, Seen, StepKind, Target,
    TenantNode, Timestamp, Vm, VmName, VmProvisioning, VmSeen, Wait, WaitKind,
};

use super::{ending, steps};
use crate::contact;
use crate::draft::{Draft, ErrandStep};
use crate::operate::steps_of;
use crate::snapshot::Snapshot;

/// What a look at a step's virtual machine comes to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Finding {
    /// The effect is there.
    Done,
    /// The step is left out, and why.
    Skip(String),
    /// This is to be asked for, now; then there is this to wait for.
    Ask { errand: Errand, wait: Wait },
    /// Nothing to do but wait; `until` is when time alone changes the finding.
    Wait { wait: Wait, until: Option<Timestamp> },
    /// It cannot succeed any more.
    Fail { failure: Failure, because: String },
}

/// What the steps look at.
pub(super) struct Bench<'a> {
    pub operation: &'a Operation,
    /// The virtual machine's name; for a tenant's node it is the node's.
    pub name: &'a VmName,
    /// Nothing for a tenant's node.
    pub vm: Option<&'a Vm>,
    pub snapshot: &'a Snapshot,
    pub limits: &'a Limits,
    /// What the operation waited for before.
    pub waited: Option<&'a Wait>,
    pub now: Timestamp,
}

impl<'a> Bench<'a> {
    /// The virtual machine as it is now; or why that is not known.
    pub fn look(&self) -> Result<Option<&'a VmSeen>, Wait> {
        let known = contact::known_silence(&self.snapshot.cluster);
        if let Some(failing) = contact::run_of_failures(&self.snapshot.undercloud, known.as_ref(), self.now) {
            return Err(self.silence(&failing));
        }
        if let Some(failing) = contact::tenants_silence(self.snapshot, self.now) {
            return Err(contact::tenants_wait(self.limits, failing));
        }
        if self.snapshot.tenants.listed_at.is_none() {
            let since = self.snapshot.keeper_started_at;
            let kind = WaitKind::FirstLook { eye: model::Eye::Tenants };
            return Err(Wait { kind, since, expected_by: Some(since + self.limits.idle_poll) });
        }
        Ok(self.snapshot.tenants.vms().get(self.name).map(AsRef::as_ref))
    }

    fn silence(&self, failing: &Seen<Fault>) -> Wait {
        let kind = WaitKind::Device { eye: model::Eye::Undercloud, fault: failing.what.clone(), retry_every: self.limits.last_retry };
        Wait { kind, since: failing.at, expected_by: Some(failing.at + self.limits.connection_timeout) }
    }

    /// The object that the operation is about, once that is known: one that is made anew under the same name is another.
    pub fn meant_uid(&self) -> Option<&'a str> {
        let stored = self.vm.and_then(|vm| vm.uid.as_deref());
        stored.or_else(|| self.operation.journal.iter().find_map(|entry| uid_of(&entry.fact)))
    }

    /// What is in memory of the latest attempt at an errand of this operation.
    pub fn state_of(&self, errand: &Errand) -> Option<&'a ErrandState> {
        latest_state(self.operation, self.snapshot, errand)
    }

    /// The machine that it runs on, or ran on last.
    pub fn machine(&self) -> Option<&'a MachineName> {
        let seen = self.snapshot.tenants.vms().get(self.name);
        let running = seen.and_then(|seen| seen.node()).and_then(|node| self.snapshot.machine_of_node(node));
        running.or_else(|| self.vm.and_then(|vm| vm.machine.as_ref())).or_else(|| self.tenant_node()?.machine.as_ref())
    }

    fn tenant_node(&self) -> Option<&'a TenantNode> {
        let Target::TenantNode { cluster, node } = &self.operation.target else { return None };
        self.snapshot.tenant_clusters.get(cluster)?.nodes.get(node)
    }

    /// A wait of this kind. It counts from the beginning of the step, whatever was asked and refused since; only what hinders
    /// counts from when it was first seen.
    pub fn wait(&self, kind: WaitKind, usual: model::Span) -> Wait {
        let is_hindered = |kind: &WaitKind| matches!(kind, WaitKind::VmHindered { .. });
        let since = if is_hindered(&kind) {
            self.waited.filter(|wait| is_hindered(&wait.kind)).map_or(self.now, |wait| wait.since)
        } else {
            self.step_began_at()
        };
        Wait { kind, since, expected_by: Some(since + usual) }
    }

    fn step_began_at(&self) -> Timestamp {
        let done = self.operation.journal.iter().rev().find(|entry| matches!(entry.fact, Fact::Seen { .. } | Fact::Skipped { .. }));
        done.map_or(self.operation.accepted_at, |entry| entry.at)
    }
}

fn uid_of(fact: &Fact) -> Option<&str> {
    match fact {
        Fact::ErrandAsked {
            errand: Errand::StopVm { vm, .. } | Errand::StartVm { vm } | Errand::DeleteVm { vm } | Errand::DiscardOsDisk { vm, .. },
            ..
        } => Some(&vm.uid),
        _ => None,
    }
}

/// An errand's state by its name may be that of an earlier operation: it counts only from when this one asked.
fn latest_state<'a>(operation: &Operation, snapshot: &'a Snapshot, errand: &Errand) -> Option<&'a ErrandState> {
    let (asked_at, attempt) = operation.errand_asked(errand)?;
    let state = snapshot.tenants.errands.get(errand)?;
    (state.attempt == attempt && state.asked_at >= asked_at).then_some(state)
}

/// The name of the virtual machine that an operation is at work on.
pub(crate) fn vm_of(target: &Target) -> Option<VmName> {
    match target {
        Target::Machine(_) | Target::Site(_) => None,
        Target::Vm(name) => Some(name.clone()),
        Target::TenantNode { node, .. } => VmName::new(node.as_str()).ok(),
    }
}

/// Moves an operation as far as what was seen allows. Returns when to look again if nothing else happens.
pub(super) fn advance(draft: &mut Draft, id: &OperationId, now: Timestamp) -> Option<Timestamp> {
    let snapshot = draft.after.clone();
    let mut operation = (**snapshot.operations.get(id)?).clone();
    let name = vm_of(&operation.target)?;
    let mut vm = operation.target.vm().and_then(|name| snapshot.vms.get(name)).map(|vm| (**vm).clone());
    let waited = operation.wait.take();
    crate::ending::resume(&mut operation, snapshot.keeper_started_at, now);
    note_answers(&mut operation, &snapshot);
    let mut revisit = None;
    let asked = loop {
        let Some(step) = next_step(&operation) else {
            ending::succeed(&mut operation, vm.as_mut(), now);
            break None;
        };
        let limits = &snapshot.cluster.limits;
        let bench =
            Bench { operation: &operation, name: &name, vm: vm.as_ref(), snapshot: &snapshot, limits, waited: waited.as_ref(), now };
        let finding = steps::examine(&bench, step);
        let safe_at = ending::safe_point_at(&bench);
        let left = ending::left_behind(&bench);
        let is_overdue = ending::is_overdue(&bench);
        let is_cancelled = operation.cancel.is_some() && safe_at.is_some_and(|at| now >= at);
        match finding {
            Finding::Done => {
                operation.journal.push(Entry { at: now, fact: Fact::Seen { step } });
                note_made(vm.as_mut(), step, &snapshot, &name);
            }
            Finding::Skip(reason) => operation.journal.push(Entry { at: now, fact: Fact::Skipped { step, reason } }),
            Finding::Fail { failure, because } => {
                ending::fail(&mut operation, vm.as_mut(), (failure, &because), &left, now);
                break None;
            }
            _ if is_cancelled => {
                ending::cancel(&mut operation, vm.as_mut(), step, &left, now);
                break None;
            }
            Finding::Ask { wait, .. } | Finding::Wait { wait, .. } if is_overdue => {
                operation.wait = Some(wait);
                if safe_at.is_some_and(|at| now >= at) {
                    ending::fail_late(&mut operation, vm.as_mut(), step, &left, now);
                } else {
                    // Nothing more is asked, but it is not free while a request may still take effect.
                    revisit = safe_at;
                }
                break None;
            }
            Finding::Ask { errand, wait } => {
                let attempt = operation.errand_asked(&errand).map_or(1, |(_, attempt)| attempt + 1);
                operation.wait = Some(wait);
                revisit = Some(now + limits.errand_settle);
                note_asked(vm.as_mut(), &errand);
                operation.journal.push(Entry { at: now, fact: Fact::ErrandAsked { errand: errand.clone(), attempt } });
                break Some((errand, attempt));
            }
            Finding::Wait { wait, until } => {
                operation.wait = Some(wait);
                revisit = [until, safe_at.filter(|_| operation.cancel.is_some())].into_iter().flatten().min();
                break None;
            }
        }
    };
    if operation.is_running() && operation.deadline_at > now {
        revisit = [revisit, Some(operation.deadline_at)].into_iter().flatten().min();
    }
    settle(draft, operation, vm, asked);
    revisit.map(|at| at.max(now))
}

/// What the operation and its virtual machine have come to goes into the plan.
fn settle(draft: &mut Draft, operation: Operation, vm: Option<Vm>, asked: Option<(Errand, u32)>) {
    if let Some((errand, attempt)) = asked {
        let reason = format!("{} by {}", operation.action.command(), operation.caller);
        draft.plan.errands.push(ErrandStep {
            machine: None,
            operation: Some(operation.id.clone()),
            errand,
            // A person means the virtual machine, wherever it is.
            node: None,
            attempt,
            reason,
        });
    }
    if let Some(vm) = vm {
        let is_deleted = operation.action == Action::Delete && operation.was_seen(StepKind::Delete);
        if is_deleted || ending::is_of_another(&operation) {
            draft.forget_vm(&vm.name);
        } else {
            draft.save_vm(Vm { waits: operation.wait.iter().cloned().collect(), ..vm });
        }
    }
    draft.save_operation(operation);
}

fn next_step(operation: &Operation) -> Option<StepKind> {
    steps_of(operation).into_iter().find(|step| operation.done_at(*step).is_none())
}

/// A fault that answered the latest attempt at an errand becomes a fact, once.
fn note_answers(operation: &mut Operation, snapshot: &Snapshot) {
    let errands: Vec<Errand> = operation
        .journal
        .iter()
        .filter_map(|entry| if let Fact::ErrandAsked { errand, .. } = &entry.fact { Some(errand.clone()) } else { None })
        .collect();
    for errand in errands {
        let Some(state) = latest_state(operation, snapshot, &errand) else { continue };
        if let Some(answer) = &state.answer
            && let Err(fault) = &answer.outcome
            && operation.errand_fault(&errand, state.attempt).is_none()
        {
            let fact = Fact::ErrandFaulted { errand, attempt: state.attempt, fault: fault.clone() };
            operation.journal.push(Entry { at: answer.at, fact });
        }
    }
}

fn note_asked(vm: Option<&mut Vm>, errand: &Errand) {
    if let (Some(vm), Errand::CreateVm { .. }) = (vm, errand) {
        vm.provisioning = VmProvisioning::Provisioning;
    }
}

/// From when its object was seen the document is of that object and no other.
fn note_made(vm: Option<&mut Vm>, step: StepKind, snapshot: &Snapshot, name: &VmName) {
    if let (Some(vm), StepKind::Create) = (vm, step) {
        let seen: Option<&Arc<VmSeen>> = snapshot.tenants.vms().get(name);
        vm.uid = seen.map(|seen| seen.uid.clone());
    }
}
