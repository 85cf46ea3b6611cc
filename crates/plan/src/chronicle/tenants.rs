//! Virtual machines and tenant clusters that came or went past us, and what is asked for outside any operation to bring a machine's
//! workloads back. What somebody asked of us is told by the request and its operation.

use model::{Action, ActivityError, ActivityKind, ActivityStatus, DescriptionChange, Fault, OURSELVES, Part, Vm, VmName};

use super::{Cause, Event, Scribe, words};
use crate::draft::ErrandStep;

impl Scribe<'_> {
    pub(super) fn note_tenants(&mut self) {
        let changes = &self.plan.changes;
        for vm in changes.vms.values() {
            if let Some(message) = self.found(vm) {
                self.tell(Part::Vm(vm.name.clone()), DescriptionChange::Written, message);
            }
        }
        for name in changes.forgotten_vms.iter().filter(|name| self.before.vms.contains_key(*name)) {
            if !self.is_done_to(name, &[Action::Delete, Action::Create]) {
                let message = format!("virtual machine `{name}` is gone from the undercloud");
                self.tell(Part::Vm(name.clone()), DescriptionChange::Removed, message);
            }
        }
        for name in changes.tenant_clusters.keys().filter(|name| !self.before.tenant_clusters.contains_key(*name)) {
            let message = format!("tenant cluster `{name}` was found in the undercloud");
            self.tell(Part::TenantCluster(name.clone()), DescriptionChange::Written, message);
        }
        for name in changes.forgotten_tenant_clusters.iter().filter(|name| self.before.tenant_clusters.contains_key(*name)) {
            let message = format!("tenant cluster `{name}` is gone from the undercloud");
            self.tell(Part::TenantCluster(name.clone()), DescriptionChange::Removed, message);
        }
    }

    /// What is asked for until it shows is told the first time, and that it failed when it is asked for again: the repetitions would
    /// fill the log and say nothing.
    pub(super) fn note_errands(&mut self) {
        for step in self.plan.errands.iter().filter(|step| step.operation.is_none()) {
            let Some(machine) = &step.machine else { continue };
            let fault = self.first_fault_of(step);
            let (attempt, status, message) = match (step.attempt, &fault) {
                (1, _) => (1, ActivityStatus::Started, words::errand_asked(&step.errand, 1)),
                (2, Some(fault)) => (1, ActivityStatus::Failed, words::errand_faulted(&step.errand, 1, fault)),
                _ => continue,
            };
            let what = ActivityKind::Errand { errand: step.errand.clone(), attempt };
            let error = fault.filter(|_| status == ActivityStatus::Failed).map(|fault| ActivityError::Faulted { fault });
            let correlation_id = self.uncaused.clone();
            let cause = Cause { caller: OURSELVES, correlation_id: &correlation_id, operation: None };
            self.write(Part::Machine(machine.clone()), &cause, Event { what, status, message, error });
        }
    }

    fn first_fault_of(&self, step: &ErrandStep) -> Option<Fault> {
        let state = self.before.tenants.errands.get(&step.errand).filter(|state| state.attempt == 1)?;
        state.answer.as_ref()?.outcome.as_ref().err().cloned()
    }

    fn found(&self, vm: &Vm) -> Option<String> {
        let name = &vm.name;
        match self.before.vms.get(name) {
            None if self.is_done_to(name, &[Action::Create]) => None,
            None => Some(format!("virtual machine `{name}` was found in the undercloud")),
            Some(before) if before.uid.is_some() && before.uid != vm.uid => {
                Some(format!("another virtual machine `{name}` was found in place of the one before"))
            }
            Some(_) => None,
        }
    }

    /// Whether the plan begins such an operation, or ends it.
    fn is_done_to(&self, vm: &VmName, actions: &[Action]) -> bool {
        let mut operations = self.plan.changes.operations.values();
        operations.any(|operation| operation.target.vm() == Some(vm) && actions.contains(&operation.action))
    }

    fn tell(&mut self, part: Part, change: DescriptionChange, message: String) {
        let correlation_id = self.uncaused.clone();
        let cause = Cause { caller: OURSELVES, correlation_id: &correlation_id, operation: None };
        let event = Event { what: ActivityKind::Description { change }, status: ActivityStatus::Succeeded, message, error: None };
        self.write(part, &cause, event);
    }
}
