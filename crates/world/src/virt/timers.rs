//! What the controllers wait for. A timer is set when what it is for begins, and forgotten when that is over.

use std::collections::{BTreeMap, BTreeSet};

use crate::objects::ObjectKey;
use crate::time::{Instant, Span};

/// What takes time in the life of a virtual machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Awaited {
    /// A disk is being filled.
    Disk,
    /// The guest boots.
    Boot,
    /// A node has not been heard of.
    LostNode,
    /// One that crashed is not started again at once.
    Retry,
}

#[derive(Clone, Copy, Debug)]
struct Timer {
    due: Instant,
    has_rung: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    timers: BTreeMap<(ObjectKey, Awaited), Timer>,
    agenda: BTreeSet<(Instant, ObjectKey, Awaited)>,
}

impl Timers {
    /// Whether what began is over. It begins when this is first asked.
    pub fn is_over(&mut self, key: &ObjectKey, awaited: Awaited, span: Span, at: Instant) -> bool {
        let name = (key.clone(), awaited);
        if let Some(timer) = self.timers.get(&name) {
            return timer.has_rung;
        }
        let timer = Timer { due: at + span, has_rung: span <= Span::ZERO };
        if !timer.has_rung {
            self.agenda.insert((timer.due, key.clone(), awaited));
        }
        self.timers.insert(name, timer);
        timer.has_rung
    }

    /// What was waited for is no longer under way.
    pub fn forget(&mut self, key: &ObjectKey, awaited: Awaited) {
        if let Some(timer) = self.timers.remove(&(key.clone(), awaited)) {
            self.agenda.remove(&(timer.due, key.clone(), awaited));
        }
    }

    pub fn forget_all(&mut self, key: &ObjectKey) {
        for awaited in [Awaited::Disk, Awaited::Boot, Awaited::LostNode, Awaited::Retry] {
            self.forget(key, awaited);
        }
    }

    pub fn next_at(&self) -> Option<Instant> {
        self.agenda.first().map(|(due, ..)| *due)
    }

    /// Lets everything ring that is due, and tells whom it concerns.
    pub fn ring(&mut self, at: Instant) -> Vec<ObjectKey> {
        let mut concerned = Vec::new();
        while let Some((due, key, awaited)) = self.agenda.first().cloned().filter(|(due, ..)| *due <= at) {
            self.agenda.remove(&(due, key.clone(), awaited));
            if let Some(timer) = self.timers.get_mut(&(key.clone(), awaited)) {
                timer.has_rung = true;
            }
            concerned.push(key);
        }
        concerned
    }
}
