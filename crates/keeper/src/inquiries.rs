//! Looks that decisions wait for: which are under way, and which wait for their turn. What they are about is `plan`'s.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::{LookAt, MachineName};

/// Such looks that may be under way at once, beside those at the power.
///
/// Each takes some dozen requests. Half as many as there may be looks at the power, so that those are never starved of
/// sockets; a thousand machines that are reimaged at once wait a few seconds for their turn.
pub const MAX_INQUIRIES: usize = 64;

/// One at a time for each machine: its BMC has few connections, and may be asked for its power meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Inquiries {
    waiting: BTreeMap<MachineName, BTreeSet<LookAt>>,
    /// Machines that have something waiting and nothing under way, by who came first.
    ready: VecDeque<MachineName>,
    under_way: BTreeMap<MachineName, LookAt>,
}

impl Inquiries {
    /// Notes that this is to be looked at, unless it is already.
    pub fn add(&mut self, machine: &MachineName, at: LookAt) {
        if self.under_way.get(machine) == Some(&at) {
            return;
        }
        let waiting = self.waiting.entry(machine.clone()).or_default();
        if waiting.is_empty() && !self.under_way.contains_key(machine) {
            self.ready.push_back(machine.clone());
        }
        waiting.insert(at);
    }

    /// Takes what may begin now.
    pub fn take(&mut self) -> Vec<(MachineName, LookAt)> {
        let mut taken = Vec::new();
        while self.under_way.len() < MAX_INQUIRIES {
            let Some(machine) = self.ready.pop_front() else { break };
            let Some(waiting) = self.waiting.get_mut(&machine) else { continue };
            let Some(at) = waiting.pop_first() else { continue };
            if waiting.is_empty() {
                self.waiting.remove(&machine);
            }
            self.under_way.insert(machine.clone(), at);
            taken.push((machine, at));
        }
        taken
    }

    /// A look has ended; the next at the same machine may begin.
    pub fn ended(&mut self, machine: &MachineName) {
        self.under_way.remove(machine);
        if self.waiting.contains_key(machine) {
            self.ready.push_back(machine.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(n: usize) -> MachineName {
        MachineName::new(format!("m{n}")).unwrap()
    }

    #[test]
    fn a_machine_is_looked_at_for_one_thing_at_a_time_and_for_each_once() {
        let mut inquiries = Inquiries::default();
        for at in [LookAt::Survey, LookAt::Survey, LookAt::Boot] {
            inquiries.add(&machine(1), at);
        }
        assert_eq!(inquiries.take(), [(machine(1), LookAt::Survey)]);
        inquiries.add(&machine(1), LookAt::Survey);
        assert_eq!(inquiries.take(), []);
        inquiries.ended(&machine(1));
        assert_eq!(inquiries.take(), [(machine(1), LookAt::Boot)]);
        inquiries.ended(&machine(1));
        assert_eq!(inquiries.take(), []);
        inquiries.add(&machine(1), LookAt::Survey);
        assert_eq!(inquiries.take(), [(machine(1), LookAt::Survey)], "what has ended can be asked about again");
    }

    #[test]
    fn so_many_are_under_way_at_once_and_whoever_came_first_goes_first() {
        let mut inquiries = Inquiries::default();
        for n in 0..MAX_INQUIRIES + 2 {
            inquiries.add(&machine(n), LookAt::Hardware);
        }
        assert_eq!(inquiries.take().len(), MAX_INQUIRIES);
        assert_eq!(inquiries.take(), []);
        inquiries.ended(&machine(5));
        assert_eq!(inquiries.take(), [(machine(MAX_INQUIRIES), LookAt::Hardware)]);
    }
}
