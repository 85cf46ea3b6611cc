//! When each BMC is looked at next. The intervals are `plan`'s; this keeps the calendar and the bound.

use std::collections::{BTreeMap, BTreeSet};

use model::{MachineName, Timestamp};

/// Looks at BMCs that may be under way at once.
///
/// Enough that a thousand slow BMCs do not starve each other, few enough that sockets stay countable.
pub const MAX_POLLS: usize = 128;

/// Whether something happened during a look that it may have missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Soon {
    Yes,
    No,
}

#[derive(Debug, Default)]
pub(crate) struct Polls {
    due: BTreeSet<(Timestamp, MachineName)>,
    at: BTreeMap<MachineName, Timestamp>,
    under_way: BTreeSet<MachineName>,
    /// Due again while a look is under way: what that look sees may be older than what it is due for.
    again: BTreeSet<MachineName>,
}

impl Polls {
    pub fn schedule(&mut self, machine: &MachineName, at: Timestamp) {
        if let Some(before) = self.at.insert(machine.clone(), at) {
            self.due.remove(&(before, machine.clone()));
        }
        self.due.insert((at, machine.clone()));
    }

    /// Looks sooner than planned, if `at` is sooner.
    pub fn hasten(&mut self, machine: &MachineName, at: Timestamp) {
        if self.under_way.contains(machine) {
            self.again.insert(machine.clone());
        } else if self.at.get(machine).is_none_or(|planned| at < *planned) {
            self.schedule(machine, at);
        }
    }

    /// The next look, unless as many as may be are under way: then an answer comes first.
    pub fn next_at(&self) -> Option<Timestamp> {
        if self.under_way.len() >= MAX_POLLS {
            return None;
        }
        self.due.first().map(|(at, _)| *at)
    }

    /// Takes what is due. One look per machine at a time: one that is under way comes back by itself.
    pub fn take_due(&mut self, now: Timestamp) -> Vec<MachineName> {
        let mut taken = Vec::new();
        while self.under_way.len() < MAX_POLLS {
            match self.due.first() {
                Some((at, _)) if *at <= now => {}
                _ => break,
            }
            let Some((_, machine)) = self.due.pop_first() else { break };
            self.at.remove(&machine);
            if self.under_way.insert(machine.clone()) {
                taken.push(machine);
            }
        }
        taken
    }

    /// No more looks at a machine that is gone. One under way still comes back.
    pub fn forget(&mut self, machine: &MachineName) {
        if let Some(at) = self.at.remove(machine) {
            self.due.remove(&(at, machine.clone()));
        }
        self.again.remove(machine);
    }

    /// A look has ended. Says whether another one is wanted soon.
    pub fn answered(&mut self, machine: &MachineName) -> Soon {
        self.under_way.remove(machine);
        if self.again.remove(machine) { Soon::Yes } else { Soon::No }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(n: usize) -> MachineName {
        MachineName::new(format!("m{n}")).unwrap()
    }

    #[test]
    fn looks_are_bounded_and_resume_when_one_is_answered() {
        let mut polls = Polls::default();
        for n in 0..=MAX_POLLS {
            polls.schedule(&machine(n), Timestamp::EPOCH);
        }
        assert_eq!(polls.take_due(Timestamp::EPOCH).len(), MAX_POLLS);
        assert_eq!(polls.next_at(), None);
        polls.answered(&machine(3));
        assert_eq!(polls.take_due(Timestamp::EPOCH), [machine(MAX_POLLS)]);
    }

    #[test]
    fn an_event_hastens_a_look_and_never_delays_it() {
        let mut polls = Polls::default();
        polls.schedule(&machine(1), Timestamp::from_millis(50));
        polls.hasten(&machine(1), Timestamp::from_millis(70));
        assert_eq!(polls.next_at(), Some(Timestamp::from_millis(50)));
        polls.hasten(&machine(1), Timestamp::from_millis(20));
        assert_eq!(polls.take_due(Timestamp::from_millis(20)), [machine(1)]);
    }

    #[test]
    fn what_happens_during_a_look_is_looked_after_when_it_has_ended() {
        let mut polls = Polls::default();
        polls.schedule(&machine(1), Timestamp::EPOCH);
        polls.take_due(Timestamp::EPOCH);
        polls.hasten(&machine(1), Timestamp::EPOCH);
        assert_eq!(polls.next_at(), None);
        assert_eq!(polls.answered(&machine(1)), Soon::Yes);
        assert_eq!(polls.answered(&machine(1)), Soon::No);
    }

    #[test]
    fn scheduling_again_moves_the_look() {
        let mut polls = Polls::default();
        polls.schedule(&machine(1), Timestamp::from_millis(50));
        polls.schedule(&machine(1), Timestamp::from_millis(10));
        assert_eq!(polls.next_at(), Some(Timestamp::from_millis(10)));
        assert_eq!(polls.take_due(Timestamp::from_millis(60)), [machine(1)]);
        assert_eq!(polls.next_at(), None);
    }
}
