//! The way to a machine's BMC when its hardware is not what the site file says: while it is being replaced, and afterwards until the
//! file says the same.
//!
//! The new driver is another one from its first call on: the session of the old one is ended, and nothing that it still tells is
//! believed.

use std::collections::{BTreeMap, BTreeSet};

use model::{Hardware, MachineName};
use plan::{Plan, Snapshot};
use redfish::Bmc;
use tracing::{info, warn};

use super::Loop;
use crate::Keeper;

/// The ways that the site's description gave, and those that were made instead.
#[derive(Debug, Default)]
pub(super) struct Ways {
    given: BTreeMap<MachineName, Bmc>,
    made: BTreeMap<MachineName, (Way, Bmc)>,
}

/// What a driver is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Way {
    address: String,
    serial_number: String,
    credentials: model::SecretRef,
}

impl Way {
    fn of(hardware: &Hardware) -> Way {
        let Hardware { bmc_address, serial_number, credentials, .. } = hardware;
        Way { address: bmc_address.clone(), serial_number: serial_number.clone(), credentials: credentials.clone() }
    }
}

/// The hardware by which a machine is to be reached, if it is not the described one.
fn other_hardware(snapshot: &Snapshot, machine: &MachineName) -> Option<Hardware> {
    let document = snapshot.machines.get(machine)?;
    let replacement = snapshot.running_on(machine).and_then(|operation| operation.replacement.as_ref());
    let hardware = replacement.map_or_else(|| document.hardware.clone(), |replacement| replacement.applied_to(&document.hardware));
    let is_described = document.replaced.is_none() && Way::of(&hardware) == Way::of(&document.hardware);
    (!is_described).then_some(hardware)
}

impl Ways {
    pub fn of(keeper: &Keeper) -> Ways {
        Ways { given: keeper.bmcs.clone(), made: BTreeMap::new() }
    }

    /// Takes over what another description gave. What was made for a machine whose given way is another one is made anew.
    pub fn take(&mut self, given: &BTreeMap<MachineName, Bmc>) {
        let is_kept = |machine: &MachineName| match (self.given.get(machine), given.get(machine)) {
            (Some(before), Some(after)) => before.is_same_as(after),
            _ => false,
        };
        let kept: BTreeSet<MachineName> = self.made.keys().filter(|machine| is_kept(machine)).cloned().collect();
        self.made.retain(|machine, _| kept.contains(machine));
        self.given = given.clone();
    }

    /// The way to a machine as it is now. Nothing leads to one that is not described.
    fn to(&mut self, machine: &MachineName, keeper: &Keeper, snapshot: &Snapshot) -> Option<Bmc> {
        let given = self.given.get(machine)?;
        let Some(hardware) = other_hardware(snapshot, machine) else {
            self.made.remove(machine);
            return Some(given.clone());
        };
        let way = Way::of(&hardware);
        if let Some((_, made)) = self.made.get(machine).filter(|(known, _)| *known == way) {
            return Some(made.clone());
        }
        match keeper.maker.make(machine, &hardware) {
            Ok(bmc) => {
                self.made.insert(machine.clone(), (way, bmc.clone()));
                Some(bmc)
            }
            // The described one recognizes its machine by its serial number, and touches no other.
            Err(fault) => {
                warn!(cluster = %keeper.cluster, %machine, %fault, "there is no way to the BMC of replaced hardware");
                Some(given.clone())
            }
        }
    }
}

impl Loop {
    /// The ways to all machines, as they are now.
    pub(super) fn present_ways(&mut self) -> BTreeMap<MachineName, Bmc> {
        let machines: Vec<MachineName> = self.ways.given.keys().cloned().collect();
        let mut ways = BTreeMap::new();
        for machine in machines {
            if let Some(bmc) = self.ways.to(&machine, &self.keeper, &self.books.snapshot) {
                ways.insert(machine, bmc);
            }
        }
        ways
    }

    /// Follows what a plan that was just committed changes about the hardware of machines.
    pub(super) fn rewire(&mut self, plan: &Plan) {
        let replacing = plan.changes.operations.values().filter(|operation| operation.replacement.is_some());
        let touched: BTreeSet<MachineName> =
            replacing.filter_map(|operation| operation.machine().cloned()).chain(plan.changes.machines.keys().cloned()).collect();
        for machine in touched {
            let Some(bmc) = self.ways.to(&machine, &self.keeper, &self.books.snapshot) else { continue };
            if self.keeper.bmcs.get(&machine).is_some_and(|present| !present.is_same_as(&bmc)) {
                info!(cluster = %self.keeper.cluster, %machine, "its BMC is reached in another way from now on");
                self.exchange(&machine, bmc);
            }
        }
    }

    fn exchange(&mut self, machine: &MachineName, bmc: Bmc) {
        if let Some(before) = self.keeper.bmcs.insert(machine.clone(), bmc) {
            self.leave(machine, before);
        }
        self.begin_anew(machine);
    }

    /// Ends what goes over a way that is used no more.
    pub(super) fn leave(&mut self, machine: &MachineName, bmc: Bmc) {
        self.ears.forget(machine);
        self.polls.forget(machine);
        self.tasks.spawn(self.calls.end_session(machine, bmc));
    }

    /// What its predecessor told says nothing of this BMC.
    pub(super) fn begin_anew(&mut self, machine: &MachineName) {
        self.books.observe(machine, |observation| {
            observation.bmc = model::Contact::default();
            observation.power = None;
            observation.looked.clear();
            true
        });
        let now = self.now();
        self.polls.hasten(machine, now);
    }
}

#[cfg(test)]
mod tests;
