//! An installed system that is up for the first time: it phones home, and joins the cluster with its bootstrap token.

use super::{Errand, Outcome};
use crate::hardware::{FirstBoot, Setup};
use crate::machine::{Host, Membership};
use crate::site::World;
use crate::time::Instant;

impl World {
    /// A system that has not joined is up: its first-boot configuration begins, or goes on.
    pub(crate) fn first_boot_begins(&mut self, index: usize, at: Instant) {
        if let Some(Setup::PhoningHome(_) | Setup::Joining(_)) = self.setup(index) {
            self.states[index].machine.calls_at = Some(at + self.pace.first_boot);
        }
    }

    fn setup(&self, index: usize) -> Option<&Setup> {
        self.states[index].hardware.volumes.system().map(|system| &system.setup)
    }

    fn set_setup(&mut self, index: usize, setup: Setup) {
        if let Some(system) = self.hardware_mut(index).volumes.system_mut() {
            system.setup = setup;
        }
    }

    pub(super) fn first_boot_errand(&self, index: usize) -> Option<Errand> {
        let Some(Setup::PhoningHome(first_boot)) = self.setup(index) else { return None };
        Some(Errand::PhoneHome { home: first_boot.phone_home.clone()?, ca: first_boot.ca.clone() })
    }

    pub(super) fn first_boot_goes_on(&mut self, index: usize, at: Instant) {
        match self.setup(index).cloned() {
            Some(Setup::PhoningHome(_)) => {
                self.calling.insert(index);
            }
            Some(Setup::Joining(first_boot)) => self.host_joins(index, &first_boot, at),
            Some(Setup::Joined | Setup::Outside { .. }) | None => {}
        }
    }

    pub(super) fn first_boot_hears(&mut self, index: usize, outcome: &Outcome, at: Instant) {
        let Some(Setup::PhoningHome(first_boot)) = self.setup(index).cloned() else { return };
        let next = match outcome {
            Outcome::Silence { .. } => at + self.pace.call_again,
            // Who is sent away at home still has a cluster to join.
            _ => {
                self.set_setup(index, Setup::Joining(first_boot));
                at
            }
        };
        self.states[index].machine.calls_at = Some(next);
    }

    fn host_joins(&mut self, index: usize, first_boot: &FirstBoot, at: Instant) {
        if !self.undercloud.is_available() {
            self.states[index].machine.calls_at = Some(at + self.pace.call_again);
            return;
        }
        let joined = match &first_boot.join {
            None => Err("nobody said which cluster to join".to_owned()),
            Some(join) => self.check_bootstrap_token(&join.token, at),
        };
        if let Err(why) = joined {
            return self.set_setup(index, Setup::Outside { why });
        }
        self.set_setup(index, Setup::Joined);
        if let Host::Up { membership, .. } = &mut self.states[index].machine.host {
            *membership = Membership::Member;
        }
        self.unsaved.machines.insert(index);
        if self.reaches_api(index) {
            self.virt.disturb(&self.layout.machines()[index].name);
            self.kubelet_speaks(index, at);
        }
    }
}
