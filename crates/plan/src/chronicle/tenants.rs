//! Virtual machines and tenant clusters that came or went past us. What somebody asked of us is told by the request and its
//! operation.

use model::{Action, ActivityKind, ActivityStatus, DescriptionChange, OURSELVES, Part, Vm, VmName};

use super::{Cause, Event, Scribe};

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
