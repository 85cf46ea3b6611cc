//! What has to be visited by the next plan: what changed, and what is due.

use std::collections::{BTreeMap, BTreeSet};

use model::{MachineName, TenantClusterName, Timestamp, VmName};
use plan::{Plan, Visit, Visited};

#[derive(Debug, Default)]
pub(crate) struct Agenda {
    changed: Visited,
    all: bool,
    /// Something that belongs to no machine has changed: a request came, or the line to the undercloud did.
    stirred: bool,
    machines: Calendar<MachineName>,
    vms: Calendar<VmName>,
    wake_at: Option<Timestamp>,
}

/// When each one is to be visited, should nothing else happen to it.
#[derive(Debug)]
struct Calendar<K> {
    at: BTreeMap<K, Timestamp>,
    due: BTreeSet<(Timestamp, K)>,
}

impl<K> Default for Calendar<K> {
    fn default() -> Self {
        Calendar { at: BTreeMap::new(), due: BTreeSet::new() }
    }
}

impl<K: Ord + Clone> Calendar<K> {
    fn set(&mut self, key: &K, at: Option<Timestamp>) {
        if let Some(before) = self.at.remove(key) {
            self.due.remove(&(before, key.clone()));
        }
        if let Some(at) = at {
            self.at.insert(key.clone(), at);
            self.due.insert((at, key.clone()));
        }
    }

    fn first(&self) -> Option<Timestamp> {
        self.due.first().map(|(at, _)| *at)
    }

    fn take(&mut self, now: Timestamp, into: &mut BTreeSet<K>) {
        while self.first().is_some_and(|at| at <= now) {
            if let Some((_, key)) = self.due.pop_first() {
                self.at.remove(&key);
                into.insert(key);
            }
        }
    }
}

impl Agenda {
    /// A keeper that begins visits everything.
    pub fn of_beginning() -> Agenda {
        Agenda { all: true, stirred: true, ..Agenda::default() }
    }

    pub fn mark(&mut self, machine: MachineName) {
        self.changed.machines.insert(machine);
    }

    pub fn mark_vm(&mut self, vm: VmName) {
        self.changed.vms.insert(vm);
    }

    pub fn mark_tenant_cluster(&mut self, cluster: TenantClusterName) {
        self.changed.tenant_clusters.insert(cluster);
    }

    pub fn mark_all(&mut self) {
        self.all = true;
    }

    pub fn stir(&mut self) {
        self.stirred = true;
    }

    pub fn is_pressing(&self) -> bool {
        self.all || self.stirred || self.changed != Visited::default()
    }

    /// When planning is due without anything happening.
    pub fn next_wake(&self) -> Option<Timestamp> {
        [self.wake_at, self.machines.first(), self.vms.first()].into_iter().flatten().min()
    }

    /// What the plan of this moment is to visit. It is no longer pressing then.
    pub fn take(&mut self, now: Timestamp) -> Visit {
        let mut visited = std::mem::take(&mut self.changed);
        self.stirred = false;
        if std::mem::take(&mut self.all) {
            return Visit::All;
        }
        self.machines.take(now, &mut visited.machines);
        self.vms.take(now, &mut visited.vms);
        Visit::Only(visited)
    }

    /// Takes over from a committed plan when to visit what again.
    pub fn settle(&mut self, plan: &Plan) {
        self.wake_at = plan.wake_at;
        for (machine, revisit) in &plan.revisits {
            self.machines.set(machine, *revisit);
        }
        for (vm, revisit) in &plan.vm_revisits {
            self.vms.set(vm, *revisit);
        }
    }

    pub fn forget_machine(&mut self, machine: &MachineName) {
        self.changed.machines.remove(machine);
        self.machines.set(machine, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_is_visited_once_and_what_was_planned_anew_at_its_new_time() {
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
        let name = |name: &str| MachineName::new(name).unwrap();
        let mut agenda = Agenda::default();
        let revisits = [(name("a"), Some(at(10))), (name("b"), Some(at(20)))].into();
        agenda.settle(&Plan { revisits, ..Plan::default() });
        agenda.settle(&Plan { revisits: [(name("a"), Some(at(30)))].into(), ..Plan::default() });
        assert_eq!(agenda.next_wake(), Some(at(20)));
        let Visit::Only(visited) = agenda.take(at(25)) else { panic!("nothing asks for all") };
        assert_eq!(visited, Visited::machines([name("b")]));
        assert_eq!(agenda.next_wake(), Some(at(30)));
        agenda.forget_machine(&name("a"));
        assert_eq!((agenda.next_wake(), agenda.is_pressing()), (None, false));
    }

    #[test]
    fn a_virtual_machine_presses_as_a_machine_does() {
        let mut agenda = Agenda::default();
        agenda.mark_vm(VmName::new("a").unwrap());
        assert!(agenda.is_pressing());
        assert!(matches!(agenda.take(Timestamp::EPOCH), Visit::Only(visited) if visited.vms.len() == 1));
        assert!(!agenda.is_pressing());
    }
}
