//! Taking over a new description of the site, between two plans: documents first, then the ways to the devices. What
//! speaks against a description is decided by `plan`; then nothing of it is taken over.

use std::sync::Arc;

use model::{MachineName, Site};
use plan::Objection;
use store::Commit;
use tracing::{debug, info};

use super::Loop;
use crate::enroll::{commit_of, load_racks, record_of};
use crate::{Equipment, Keeper, KeeperError, Offer, Verdict};

impl Keeper {
    /// A keeper that begins again goes on with what was taken over last.
    pub(super) fn take_newest_devices(&mut self) {
        if let Some(newest) = self.taken_over.borrow().clone() {
            self.bmcs = newest.bmcs.clone();
            self.undercloud = newest.undercloud.clone();
            self.maker = newest.maker.clone();
            self.etcd = newest.etcd.clone();
        }
    }
}

impl Loop {
    /// Judges the newest description, unless it was judged, and takes it over if nothing speaks against it.
    pub(super) async fn refit(&mut self) -> Result<(), KeeperError> {
        let Some(offer) = self.keeper.offers.borrow_and_update().clone() else { return Ok(()) };
        if offer.verdict.borrow().is_some() {
            return Ok(());
        }
        let verdict = match self.enrol(&offer).await? {
            Ok(verdict) => {
                self.take_devices(&offer.equipment);
                self.note_undescribed();
                info!(cluster = %self.keeper.cluster, machines = self.books.snapshot.machines.len(), "a new description was taken over");
                verdict
            }
            Err(objections) => {
                self.note_refused(&offer.site, &objections).await?;
                // Whoever offered it says so, once; it may be offered again and again.
                debug!(cluster = %self.keeper.cluster, objections = objections.len(), "a new description was refused");
                Verdict::Refused(objections)
            }
        };
        // Whoever described the site may not wait for it.
        offer.verdict.send_replace(Some(verdict));
        Ok(())
    }

    async fn enrol(&mut self, offer: &Offer) -> Result<Result<Verdict, Vec<Objection>>, KeeperError> {
        let (mut stored, mut revisions) = self.books.stored();
        load_racks(&self.keeper.store, &self.keeper.cluster, &mut stored, &mut revisions).await?;
        let now = self.now();
        let enrolment = match plan::enroll(&stored, &offer.site, now) {
            Ok(enrolment) => enrolment,
            Err(objections) => return Ok(Err(objections)),
        };
        let commit = commit_of(&stored, &offer.site, &enrolment, &revisions, now).fenced(self.tenure.fence());
        if !commit.writes.is_empty() {
            let committed = self.keeper.store.commit(commit).await;
            let revision = committed.map_err(|source| KeeperError::Store { cluster: self.keeper.cluster.clone(), source })?;
            self.books.take_enrolment(&enrolment, revision);
        }
        self.forget_secrets(enrolment.abandoned_logins.into_iter().collect());
        Ok(Ok(Verdict::TakenOver { forgotten: enrolment.forgotten_machines }))
    }

    /// Writes into the activity log that a description was refused, unless it was said of the same one before.
    async fn note_refused(&mut self, site: &Site, objections: &[Objection]) -> Result<(), KeeperError> {
        if self.refused_site.as_ref() == Some(site) {
            return Ok(());
        }
        let entry = plan::chronicle_objections(&self.books.snapshot.cluster, objections, self.now());
        let commit = Commit::default().record(record_of(&entry)).fenced(self.tenure.fence());
        let committed = self.keeper.store.commit(commit).await;
        committed.map_err(|source| KeeperError::Store { cluster: self.keeper.cluster.clone(), source })?;
        self.refused_site = Some(site.clone());
        Ok(())
    }

    /// A machine without a way to its BMC is one that no description names.
    pub(super) fn note_undescribed(&mut self) {
        let snapshot = &mut self.books.snapshot;
        snapshot.undescribed = snapshot.machines.keys().filter(|name| !self.keeper.bmcs.contains_key(*name)).cloned().collect();
        self.books.mark_all();
    }

    pub(super) fn take_devices(&mut self, equipment: &Arc<Equipment>) {
        self.keeper.taken_over.send_replace(Some(equipment.clone()));
        self.keeper.undercloud = equipment.undercloud.clone();
        self.keeper.etcd = equipment.etcd.clone();
        self.keeper.maker = equipment.maker.clone();
        self.ways.take(&equipment.bmcs);
        let after = self.present_ways();
        let before = std::mem::replace(&mut self.keeper.bmcs, after.clone());
        let is_kept = |machine: &MachineName, bmc: &redfish::Bmc| before.get(machine).is_some_and(|before| before.is_same_as(bmc));
        let new: Vec<MachineName> =
            after.iter().filter(|(machine, bmc)| !is_kept(machine, bmc)).map(|(machine, _)| machine.clone()).collect();
        for (machine, bmc) in before {
            if !after.get(&machine).is_some_and(|after| after.is_same_as(&bmc)) {
                self.leave(&machine, bmc);
            }
        }
        for machine in &new {
            self.begin_anew(machine);
        }
        self.contact_due = self.now();
        self.watch_nodes();
        self.watch_tenants();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::Replaced;
    use plan::{Changes, Plan};
    use store::VaultError;

    use super::super::stand::{Stand, new_login};
    use super::*;
    use crate::books::tests::{machine, name, site};

    #[tokio::test(start_paused = true)]
    async fn a_login_that_a_replace_brought_goes_when_the_description_has_a_new_one() {
        let mut stand = Stand::build().await;
        stand.vault.save(&new_login(), b"root\ncalvin").await.unwrap();
        let mut replaced = (*stand.the_loop.books.snapshot.machines[&name(1)]).clone();
        let described = replaced.hardware.clone();
        replaced.hardware.serial_number = "S9".to_owned();
        replaced.hardware.credentials = new_login();
        replaced.replaced = Some(Box::new(Replaced { at: replaced.created_at, described: described.clone() }));
        let changes = Changes { machines: [(name(1), replaced)].into(), ..Changes::default() };
        stand.the_loop.books.settle(&Plan { changes, ..Plan::default() }, &[], None);
        for (new_logins, is_kept) in [(BTreeSet::new(), true), (BTreeSet::from([name(1)]), false)] {
            let described_again = Site { new_logins, ..site(vec![machine(1)]) };
            let (offer, _) = Offer::new(described_again, stand.equipment(stand.described.driver("S1")));
            stand.the_loop.enrol(&offer).await.unwrap().unwrap();
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            let hardware = &stand.the_loop.books.snapshot.machines[&name(1)].hardware;
            assert_eq!((hardware.serial_number.as_str(), hardware.credentials == described.credentials), ("S9", !is_kept));
            let kept = stand.vault.load(&new_login()).await;
            assert_eq!(is_kept, !matches!(kept, Err(VaultError::Missing { .. })));
        }
    }
}
