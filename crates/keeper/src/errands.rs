//! What has become of errands, for as long as somebody may ask.

use std::sync::Arc;

use model::{Errand, ErrandAnswer, ErrandOutcome, ErrandState, Fault, MachineName, OperationId, Timestamp, VmName};
use plan::{ErrandStep, Plan};

use crate::books::Books;

impl Books {
    /// Notes that an errand is sent now.
    pub fn note_errand(&mut self, step: &ErrandStep, now: Timestamp) {
        let state = ErrandState { attempt: step.attempt, asked_at: now, answer: None };
        self.snapshot.tenants.errands.insert(step.errand.clone(), Arc::new(state));
        self.errands.insert(step.errand.clone(), Sender { machine: step.machine.clone(), operation: step.operation.clone() });
    }

    /// Notes what was said to an errand. Whoever waits for it is visited.
    pub fn note_errand_answer(&mut self, step: &ErrandStep, outcome: Result<ErrandOutcome, Fault>, now: Timestamp) {
        if let Some(state) = self.snapshot.tenants.errands.get_mut(&step.errand) {
            let answer = Some(ErrandAnswer { at: now, outcome });
            *state = Arc::new(ErrandState { answer, ..(**state).clone() });
        }
        if let Some(machine) = &step.machine {
            self.mark(machine.clone());
        }
        if let Some(vm) = vm_of(&step.errand) {
            self.mark_vm(vm);
        }
    }

    /// Forgets errands that nobody will ask about again: their operation has ended, and no machine's memory needs them.
    pub(crate) fn prune_errands(&mut self, plan: &Plan) {
        let changes = &plan.changes;
        let may_have_ended = !changes.operations.is_empty() || !changes.machines.is_empty() || !changes.forgotten_operations.is_empty();
        if self.errands.is_empty() || !may_have_ended {
            return;
        }
        let Books { snapshot, errands, emptied, .. } = self;
        let known = std::mem::take(errands);
        for (errand, sender) in known {
            let is_under_way = snapshot.tenants.errands.get(&errand).is_some_and(|state| state.answer.is_none());
            let runs = sender.operation.as_ref().and_then(|id| snapshot.operations.get(id)).is_some_and(|operation| operation.is_running());
            let is_remembered = sender.machine.as_ref().is_some_and(|machine| emptied.contains(machine));
            if is_under_way || runs || is_remembered {
                errands.insert(errand, sender);
            } else {
                snapshot.tenants.errands.remove(&errand);
            }
        }
    }
}

/// On whose behalf an errand was sent.
#[derive(Debug)]
pub(crate) struct Sender {
    machine: Option<MachineName>,
    operation: Option<OperationId>,
}

/// The virtual machine that an errand is about; a tenant node's has the node's name.
fn vm_of(errand: &Errand) -> Option<VmName> {
    match errand {
        Errand::StopVm { vm, .. } | Errand::StartVm { vm } | Errand::DeleteVm { vm } | Errand::DiscardOsDisk { vm, .. } => {
            Some(vm.name.clone())
        }
        Errand::CreateVm { vm } => Some(vm.clone()),
        Errand::CordonNode { node, .. }
        | Errand::UncordonNode { node, .. }
        | Errand::SkipRemediation { node, .. }
        | Errand::ResumeRemediation { node, .. }
        | Errand::MarkOutOfService { node, .. }
        | Errand::ClearOutOfService { node, .. } => VmName::new(node.as_str()).ok(),
        Errand::Evict { .. } | Errand::DeletePod { .. } => None,
    }
}
