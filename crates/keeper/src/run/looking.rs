//! Looks at devices: when they begin, and what comes back from them.

use futures::StreamExt;
use kubernetes::NodeEvent;
use model::{MachineName, Request};
use store::Change;
use tracing::error;

use super::{GLANCE_EVERY, Loop};
use crate::devices;
use crate::eyes::{self, Event, Line};
use crate::meters::{Device, Purpose};
use crate::polls::Soon;
use crate::telling::{self, Behalf, Called};
use crate::tenants;

impl Loop {
    pub(super) fn open_eyes(&mut self) {
        let now = self.now();
        for machine in self.books.snapshot.machines.keys().cloned().collect::<Vec<_>>() {
            if self.keeper.bmcs.contains_key(&machine) {
                self.polls.schedule(&machine, now);
            } else {
                eyes::note_power(&mut self.books, &machine, now, Err(devices::no_bmc(&machine)), now);
            }
        }
        self.watch_nodes();
        self.watch_tenants();
    }

    /// Watches the undercloud's nodes, from a fresh listing on; a watch that was there before ends.
    pub(super) fn watch_nodes(&mut self) {
        let mut nodes = Box::pin(self.keeper.undercloud.watch_nodes());
        let events = self.events.clone();
        let watch = self.tasks.spawn(async move {
            while let Some(event) = nodes.next().await {
                if events.send(Event::Node(event)).await.is_err() {
                    return;
                }
            }
        });
        if let Some(before) = self.node_watch.replace(watch) {
            before.abort();
        }
    }

    pub(super) fn start_due_looks(&mut self) {
        let now = self.now();
        for machine in self.polls.take_due(now) {
            let Some(bmc) = self.keeper.bmcs.get(&machine).cloned() else { continue };
            let events = self.events.clone();
            let call = self.calls.begin(&machine);
            let called = Called::new(Device::Bmc, Purpose::Look, Behalf { snapshot: &self.books.snapshot, machine: Some(&machine) });
            let is_busy = self.books.snapshot.awaiting_look_at(&machine).is_some();
            self.tasks.spawn(async move {
                let look = async { if is_busy { bmc.observe_power().await } else { bmc.glance_at_power().await } };
                let result = called.during(look).await;
                drop(call);
                let _ = events.send(Event::Power { machine, bmc, looked_at: now, result }).await;
            });
        }
        if now >= self.contact_due {
            self.contact_due = now + self.books.snapshot.cluster.limits.contact_poll;
            let undercloud = self.keeper.undercloud.clone();
            let events = self.events.clone();
            let called = Called::new(Device::Undercloud, Purpose::Contact, Behalf { snapshot: &self.books.snapshot, machine: None });
            self.tasks.spawn(async move {
                let result = called.during(undercloud.observe_contact()).await;
                let _ = events.send(Event::Contact(result)).await;
            });
        }
    }

    pub(super) fn take_event(&mut self, event: Event) {
        let now = self.now();
        self.glance_at.get_or_insert(self.glanced_at + GLANCE_EVERY.to_std());
        match event {
            Event::Power { machine, bmc, looked_at, result } => {
                let soon = self.polls.answered(&machine);
                // It was taken out of the site while it was looked at.
                if !self.books.snapshot.machines.contains_key(&machine) {
                    return;
                }
                // What a BMC said that was replaced meanwhile says nothing of its successor.
                if !self.is_current(&machine, &bmc) {
                    if self.keeper.bmcs.contains_key(&machine) {
                        self.polls.schedule(&machine, now);
                    }
                    return;
                }
                eyes::note_power(&mut self.books, &machine, looked_at, result, now);
                self.schedule_look(&machine);
                if soon == Soon::Yes {
                    self.hasten_look(&machine);
                }
                self.listen_to(&machine);
            }
            Event::Looked(inquiry) => self.take_inquiry(inquiry),
            Event::Etcd(look) => self.take_etcd_look(look),
            Event::Told { machine } => self.hasten_look(&machine),
            Event::Ear { machine, bmc, ear } => self.note_ear(machine, &bmc, ear),
            Event::Node(event) => {
                self.watch_lost = matches!(event, NodeEvent::Lost(_));
                eyes::note_node(&mut self.books, event, now);
            }
            Event::Tenants(event) => {
                tenants::note_tenants(&mut self.books, event, now);
                self.open_lines();
            }
            Event::Inside { cluster, line, told } => self.take_inside(&cluster, line, told),
            Event::ErrandAnswered { step, result } => self.take_errand_answer(&step, result),
            Event::Contact(Ok(())) if self.watch_lost => {}
            Event::Contact(result) => {
                eyes::note_contact(&mut self.books, result, now);
                if let Some(at) = plan::retry_at(&self.books.snapshot.undercloud, &self.books.snapshot.cluster.limits) {
                    self.contact_due = at;
                }
            }
            Event::Answered { step, bmc, result } => {
                self.asks_under_way = self.asks_under_way.saturating_sub(1);
                if let Err(fault) = &result {
                    telling::note_fault(&self.books.snapshot, &step, fault);
                }
                let line = bmc.map_or(Line::Present, |bmc| self.line_to(&step.machine, &bmc));
                eyes::note_answer(&mut self.books, &step, result, line, now);
                self.schedule_look(&step.machine);
            }
        }
    }

    /// Whether this is the driver by which the machine's BMC is reached now.
    pub(super) fn line_to(&self, machine: &MachineName, bmc: &redfish::Bmc) -> Line {
        if self.is_current(machine, bmc) { Line::Present } else { Line::Replaced }
    }

    fn is_current(&self, machine: &MachineName, bmc: &redfish::Bmc) -> bool {
        self.keeper.bmcs.get(machine).is_some_and(|current| current.is_same_as(bmc))
    }

    pub(super) fn schedule_look(&mut self, machine: &MachineName) {
        let observation = self.books.snapshot.observation(machine);
        let awaiting = self.books.snapshot.awaiting_look_at(machine);
        let busy_since = awaiting.map(|operation| plan::busy_since(operation, observation.ask_ended_at));
        if self.keeper.bmcs.contains_key(machine) {
            let at = plan::next_poll(machine, &observation.bmc, busy_since, &self.books.snapshot.cluster.limits);
            self.polls.schedule(machine, at);
        }
    }

    pub(super) fn take_requests(&mut self, changes: Vec<Change>) {
        for Change { key, value, revision, .. } in changes {
            // What this keeper wrote itself comes back to it as well.
            if self.books.has(&key, revision) {
                continue;
            }
            match value.as_deref().map(serde_json::from_slice::<Request>) {
                Some(Ok(request)) => self.books.take_request(&key, request, revision),
                // One unreadable request must not stop the cluster; it gets no verdict, and its sender is told so.
                Some(Err(error)) => error!(%key, %error, "a request cannot be read and is ignored"),
                None => self.books.drop_request(&key),
            }
        }
    }
}
