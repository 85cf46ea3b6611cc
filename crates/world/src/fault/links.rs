//! The links of a machine's network card: which are up, and how often one has changed lately.

use serde::{Deserialize, Serialize};

use crate::layout::{MachineSpec, Role};
use crate::time::{Instant, Span};

/// How long a change of link is counted, in the site's time: the window of the health agent on the node.
pub(crate) const FLAP_WINDOW: Span = Span::minutes(15);

/// This many changes within the window are flapping.
const FLAPPING: usize = 2;

/// A machine's port, counted from 1, as its operating system names it, which counts from 0. The machine boots from port 1.
pub(crate) fn port_name(spec: &MachineSpec, port: u32) -> String {
    let card = match spec.role {
        Role::Compute => "4b",
        Role::ControlPlane | Role::SpareControlPlane | Role::Management => "8a",
    };
    format!("{card}_p{}", port.saturating_sub(1))
}

/// The port whose link flaps.
pub(crate) const FLAPPING_PORT: u32 = 2;

/// The changes of one link, oldest first, while they are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Flaps {
    changes: Vec<Instant>,
    window: Span,
    /// While it flaps: when it changes next, and every how long.
    next: Option<(Instant, Span)>,
    is_down: bool,
}

impl Flaps {
    pub fn starting(at: Instant, every: Span, window: Span) -> Flaps {
        Flaps { changes: Vec::new(), window, next: Some((at, every)), is_down: false }
    }

    pub fn next_at(&self) -> Option<Instant> {
        let forgotten = self.changes.first().map(|at| *at + self.window);
        self.next.map(|(at, _)| at).into_iter().chain(forgotten).min()
    }

    pub fn step(&mut self, at: Instant) {
        if let Some((due, every)) = self.next.filter(|(due, _)| *due <= at) {
            self.changes.push(due);
            self.is_down = !self.is_down;
            self.next = Some((due + every, every));
        }
        self.changes.retain(|change| *change + self.window > at);
    }

    /// It ends up.
    pub fn stop(&mut self) {
        self.is_down = false;
        self.next = None;
    }

    /// Nothing to tell and nothing to come.
    pub fn is_over(&self) -> bool {
        self.next.is_none() && self.changes.is_empty()
    }

    pub fn is_down(&self) -> bool {
        self.is_down
    }

    /// How often it changed lately, if that is flapping.
    pub fn flapping(&self) -> Option<usize> {
        Some(self.changes.len()).filter(|changes| *changes >= FLAPPING)
    }

    pub fn shift(&mut self, by: Span) {
        self.changes.iter_mut().for_each(|at| *at = *at + by);
        self.next = self.next.map(|(at, every)| (at + by, every));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_flaps_from_its_second_change_until_a_window_after_its_last_but_one() {
        let every = Span::minutes(1);
        let mut flaps = Flaps::starting(Instant(0), every, FLAP_WINDOW);
        flaps.step(Instant(0));
        assert_eq!((flaps.is_down(), flaps.flapping()), (true, None));
        flaps.step(Instant(60_000));
        assert_eq!((flaps.is_down(), flaps.flapping()), (false, Some(2)));
        flaps.stop();
        let mut at = Instant(0);
        while let Some(next) = flaps.next_at() {
            at = next;
            flaps.step(at);
        }
        assert!(flaps.is_over());
        assert_eq!(at, Instant(60_000) + FLAP_WINDOW);
    }
}
