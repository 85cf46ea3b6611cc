//! The undercloud's etcd: looks at its members when a plan asks for them, and the changes of membership that plans ask for.
//!
//! Its answers say nothing of the Kubernetes API or of a BMC, and so enter nothing but what is known of etcd itself.

use std::sync::Arc;

use etcd::EtcdCluster;
use model::{Delivery, DeviceAsk, Fault, FaultClass, Found, LookAt, Looked, Timestamp};
use plan::{Plan, Step, With};
use tracing::debug;

use super::Loop;
use crate::books::Books;
use crate::eyes::Event;
use crate::meters::{Device, Purpose};
use crate::telling::{Behalf, Called};

/// What a look at the members came to.
#[derive(Debug)]
pub(crate) struct EtcdLook {
    /// Who was asked: a new description may bring another way to etcd meanwhile.
    etcd: Option<EtcdCluster>,
    began_at: Timestamp,
    found: Result<Found, Fault>,
}

impl Loop {
    /// Looks at the members if the plan asks for it and nobody looks yet.
    pub(super) fn look_at_etcd(&mut self, plan: &Plan) {
        let is_asked_for = plan.looks.iter().any(|look| look.at == LookAt::Etcd);
        if !is_asked_for || self.books.snapshot.is_looking_at_etcd {
            return;
        }
        self.books.snapshot.is_looking_at_etcd = true;
        let (etcd, began_at) = (self.keeper.etcd.clone(), self.now());
        let called = Called::new(Device::Etcd, Purpose::Look, Behalf { snapshot: &self.books.snapshot, machine: None });
        let events = self.events.clone();
        self.tasks.spawn(async move {
            let found = match &etcd {
                Some(etcd) => called.during(etcd.observe_members()).await.map(Found::Etcd),
                None => Err(no_etcd()),
            };
            // The loop is gone only when the keeper is.
            let _ = events.send(Event::Etcd(EtcdLook { etcd, began_at, found })).await;
        });
    }

    pub(super) fn take_etcd_look(&mut self, look: EtcdLook) {
        let now = self.now();
        if let Err(fault) = &look.found {
            debug!(cluster = %self.keeper.cluster, %fault, "etcd does not tell its members");
        }
        let is_current = match (&look.etcd, &self.keeper.etcd) {
            (Some(asked), Some(current)) => asked.is_same_as(current),
            (None, None) => true,
            _ => false,
        };
        // What an etcd told that is no longer ours is not known; whoever needs it asks for another look.
        let looked = is_current.then_some(Looked { began_at: look.began_at, ended_at: now, found: look.found });
        note_members(&mut self.books, looked);
    }

    /// Sends a step whose answer is etcd's.
    pub(super) fn ask_etcd(&mut self, step: Step) {
        debug!(cluster = %self.keeper.cluster, machine = %step.machine, ask = %step.ask, attempt = step.attempt, "asking");
        let behalf = Behalf { snapshot: &self.books.snapshot, machine: Some(&step.machine) };
        let called = Called::new(Device::Etcd, Purpose::Ask(step.ask), behalf);
        self.books.observe(&step.machine, |observation| {
            observation.asking = Some(step.ask);
            false
        });
        self.asks_under_way += 1;
        let (etcd, events) = (self.keeper.etcd.clone(), self.events.clone());
        self.tasks.spawn(async move {
            let result = match &etcd {
                Some(etcd) => called.during(request(&step, etcd)).await,
                None => Err(no_etcd()),
            };
            // The loop is gone only when the keeper is.
            let _ = events.send(Event::Answered { step, bmc: None, result }).await;
        });
    }
}

/// Whoever waits for the members of etcd is planned for again: what runs, and requests that have no verdict yet.
fn note_members(books: &mut Books, looked: Option<Looked>) {
    books.snapshot.is_looking_at_etcd = false;
    if let Some(looked) = looked {
        books.snapshot.etcd = Some(Arc::new(looked));
    }
    books.stir();
    books.mark_running();
}

/// Carries out one change of membership.
async fn request(step: &Step, etcd: &EtcdCluster) -> Result<(), Fault> {
    match (step.ask, &step.with) {
        (DeviceAsk::LeaveEtcd, With::Member { id }) => etcd.request_member_remove(id).await,
        (DeviceAsk::JoinEtcd, With::Learner { peer_url }) => etcd.request_learner_add(peer_url).await,
        (DeviceAsk::PromoteEtcd, With::Member { id }) => etcd.request_promote(id).await,
        (ask, _) => Err(Fault::new(FaultClass::Unsupported, Delivery::No, format!("the {ask} does not say of which member"))),
    }
}

/// The site's description names no etcd.
fn no_etcd() -> Fault {
    Fault::new(FaultClass::Missing, Delivery::No, "the site file does not say how the undercloud's etcd is reached (`etcd` in [cluster])")
}

#[cfg(test)]
#[path = "etcd_tests.rs"]
mod tests;
