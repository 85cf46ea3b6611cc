//! Secrets that nothing refers to any more once a plan is committed.

use std::collections::BTreeSet;

use model::{Ask, Machine, SecretRef, VmName};

use crate::draft::{Changes, Plan};
use crate::snapshot::Snapshot;

impl Plan {
    /// Those of virtual machines that are gone or are described anew, of BMCs whose login is another one now, and the new logins
    /// that came with a replace which was refused, or ended without them.
    pub fn abandoned_secrets(&self, before: &Snapshot) -> Vec<SecretRef> {
        let mut abandoned = self.secrets_of_vms(before);
        abandoned.extend(self.logins(before));
        abandoned
    }

    fn secrets_of_vms(&self, before: &Snapshot) -> Vec<SecretRef> {
        let Changes { vms, forgotten_vms, .. } = &self.changes;
        let touched = vms.keys().chain(forgotten_vms).filter_map(|name| before.vms.get(name));
        let is_kept = |name: &VmName, secret: &SecretRef| vms.get(name).is_some_and(|vm| vm.spec.secrets().any(|kept| kept == secret));
        touched.flat_map(|vm| vm.spec.secrets().filter(|secret| !is_kept(&vm.name, secret))).cloned().collect()
    }

    fn logins(&self, before: &Snapshot) -> BTreeSet<SecretRef> {
        let mut left = self.left_logins(before);
        if !left.is_empty() {
            for secret in self.kept_logins(before) {
                left.remove(secret);
            }
        }
        left.into_iter().cloned().collect()
    }

    /// Logins that somebody ceases to refer to. Most plans have none.
    fn left_logins<'a>(&'a self, before: &'a Snapshot) -> BTreeSet<&'a SecretRef> {
        let Changes { machines, operations, requests, forgotten_requests, .. } = &self.changes;
        let of_machines = machines.iter().filter_map(|(name, after)| {
            let known = &before.machines.get(name)?.hardware.credentials;
            (*known != after.hardware.credentials).then_some(known)
        });
        let of_operations = operations.values().filter(|operation| !operation.is_running()).filter_map(|operation| {
            let replacement = operation.replacement.as_ref()?;
            replacement.credentials.as_ref()
        });
        let judged = requests.values().filter(|request| request.verdict.is_some());
        let forgotten = forgotten_requests.iter().filter_map(|id| before.requests.get(id)).map(AsRef::as_ref);
        let of_requests = judged.chain(forgotten).filter_map(|request| match &request.ask {
            Ask::Act { replacement: Some(replacement), .. } => replacement.credentials.as_ref(),
            _ => None,
        });
        of_machines.chain(of_operations).chain(of_requests).collect()
    }

    /// Logins that machines have, that the site file would give them, and that running operations are to try.
    fn kept_logins<'a>(&'a self, before: &'a Snapshot) -> impl Iterator<Item = &'a SecretRef> {
        let Changes { machines, operations, .. } = &self.changes;
        let untouched = before.machines.iter().filter(|(name, _)| !machines.contains_key(*name)).map(|(_, machine)| machine.as_ref());
        let of_machines = untouched.chain(machines.values()).flat_map(Machine::logins);
        let untouched = before.operations.iter().filter(|(id, _)| !operations.contains_key(*id)).map(|(_, operation)| operation.as_ref());
        let running = untouched.chain(operations.values()).filter(|operation| operation.is_running());
        let tried = running.filter_map(|operation| operation.replacement.as_ref()?.credentials.as_ref());
        of_machines.chain(tried)
    }
}

#[cfg(test)]
mod tests;
