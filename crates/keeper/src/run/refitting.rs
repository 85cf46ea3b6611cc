//! Taking over a new description of the site, between two plans: documents first, then the ways to the devices.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::MachineName;
use plan::Enrolment;
use tracing::info;

use super::Loop;
use crate::enroll::{commit_of, load_racks};
use crate::{Equipment, KeeperError, Refitted};

impl Loop {
    /// Takes over the newest description, if there is one.
    pub(super) async fn refit(&mut self) -> Result<(), KeeperError> {
        let Some(equipment) = self.keeper.equipment.borrow_and_update().clone() else { return Ok(()) };
        self.enrol(&equipment).await?;
        self.take_devices(&equipment);
        info!(cluster = %self.keeper.cluster, machines = self.books.snapshot.machines.len(), "a new description was taken over");
        Ok(())
    }

    /// Forgets machines that were kept only for as long as something was to be done for them.
    pub(super) async fn let_go(&mut self) -> Result<(), KeeperError> {
        let snapshot = &self.books.snapshot;
        let is_done = |name: &MachineName| {
            let running = snapshot.running_on(name).map(|operation| &operation.id);
            snapshot.machines.get(name).is_some_and(|machine| plan::why_keep(machine, running).is_none())
        };
        if !self.leaving.iter().any(is_done) {
            return Ok(());
        }
        let Some(equipment) = self.keeper.equipment.borrow().clone() else { return Ok(()) };
        let enrolment = self.enrol(&equipment).await?;
        self.drop_devices(&enrolment.forgotten_machines);
        Ok(())
    }

    async fn enrol(&mut self, equipment: &Arc<Equipment>) -> Result<Enrolment, KeeperError> {
        let (mut stored, mut revisions) = self.books.stored();
        load_racks(&self.keeper.store, &equipment.site, &mut stored, &mut revisions).await?;
        let enrolment = plan::enroll(&stored, &equipment.site, self.now());
        let commit = commit_of(&enrolment, &equipment.site, &revisions).fenced(self.tenure.fence());
        if !commit.writes.is_empty() {
            let committed = self.keeper.store.commit(commit).await;
            let revision = committed.map_err(|source| KeeperError::Store { cluster: self.keeper.cluster.clone(), source })?;
            self.books.take_enrolment(&enrolment, revision);
        }
        let leaving: BTreeSet<MachineName> = enrolment.kept.keys().cloned().collect();
        // What has been said is not said again at every plan.
        if leaving != self.leaving || !enrolment.forgotten_machines.is_empty() {
            let cluster = self.keeper.cluster.clone();
            let told = Refitted { cluster, forgotten: enrolment.forgotten_machines.clone(), kept: enrolment.kept.clone() };
            // Whoever described the site may not wait for the outcome.
            let _ = equipment.refitted.send(told);
        }
        self.leaving = leaving;
        Ok(enrolment)
    }

    fn take_devices(&mut self, equipment: &Equipment) {
        let now = self.now();
        self.keeper.undercloud = equipment.undercloud.clone();
        self.contact_due = now;
        let mut before = std::mem::replace(&mut self.keeper.bmcs, equipment.bmcs.clone());
        for machine in &self.leaving {
            if let Some(bmc) = before.remove(machine) {
                self.keeper.bmcs.insert(machine.clone(), bmc);
            }
        }
        let is_old = |machine: &MachineName, bmc: &redfish::Bmc| before.get(machine).is_some_and(|before| before.is_same_as(bmc));
        let known = |machine: &MachineName| self.books.snapshot.machines.contains_key(machine);
        for (machine, _) in self.keeper.bmcs.iter().filter(|(machine, bmc)| known(machine) && !is_old(machine, bmc)) {
            self.polls.schedule(machine, now);
        }
        before.retain(|machine, bmc| !self.keeper.bmcs.get(machine).is_some_and(|after| after.is_same_as(bmc)));
        for (machine, bmc) in before {
            self.ears.forget(&machine);
            if !self.keeper.bmcs.contains_key(&machine) {
                self.polls.forget(&machine);
            }
            self.tasks.spawn(async move { bmc.close().await });
        }
    }

    fn drop_devices(&mut self, machines: &BTreeSet<MachineName>) {
        for machine in machines {
            self.polls.forget(machine);
            self.ears.forget(machine);
            if let Some(bmc) = self.keeper.bmcs.remove(machine) {
                self.tasks.spawn(async move { bmc.close().await });
            }
        }
    }
}
