//! Looks that a plan asks for: begun when they have their turn, and noted with the time at which they began.

use model::{Fault, Found, LookAt, MachineName, Timestamp};
use plan::LookStep;
use redfish::Bmc;

use super::Loop;
use crate::eyes::{self, Event, Line};
use crate::meters::{Device, Purpose};
use crate::telling::{Behalf, Called};
use crate::{devices, looks};

/// What came back from one.
#[derive(Debug)]
pub(crate) struct Inquiry {
    pub machine: MachineName,
    pub at: LookAt,
    /// Which driver looked.
    pub bmc: Bmc,
    pub began_at: Timestamp,
    pub result: Result<Found, Fault>,
}

impl Loop {
    /// Takes up a look. It changes nothing, so no lease has to outlive it. What belongs to no machine has no BMC to be asked.
    pub(super) fn inquire(&mut self, look: &LookStep) {
        let Some(machine) = &look.machine else { return };
        if !self.keeper.bmcs.contains_key(machine) {
            let now = self.now();
            eyes::note_look(&mut self.books, machine, look.at, now, Err(devices::no_bmc(machine)), now);
            return;
        }
        self.books.observe(machine, |observation| {
            observation.looking.insert(look.at);
            false
        });
        self.inquiries.add(machine, look.at);
    }

    pub(super) fn start_inquiries(&mut self) {
        for (machine, at) in self.inquiries.take() {
            let Some(bmc) = self.keeper.bmcs.get(&machine).cloned() else {
                self.let_go(&machine, at);
                continue;
            };
            let called = Called::new(Device::Bmc, Purpose::LookAt(at), Behalf { snapshot: &self.books.snapshot, machine: Some(&machine) });
            let call = self.calls.begin(&machine);
            let (events, began_at) = (self.events.clone(), self.now());
            self.tasks.spawn(async move {
                // Some take far more room than others, and the task would keep it for all of them.
                let result = called.during(Box::pin(looks::look(&bmc, at))).await;
                drop(call);
                // The loop is gone only when the keeper is.
                let _ = events.send(Event::Looked(Inquiry { machine, at, bmc, began_at, result })).await;
            });
        }
    }

    pub(super) fn take_inquiry(&mut self, inquiry: Inquiry) {
        let Inquiry { machine, at, bmc, began_at, result } = inquiry;
        // What a BMC said that was replaced meanwhile says nothing of its successor.
        if self.line_to(&machine, &bmc) == Line::Replaced {
            self.let_go(&machine, at);
            return;
        }
        self.inquiries.ended(&machine);
        if let Err(fault) = &result {
            tracing::debug!(cluster = %self.keeper.cluster, %machine, look = Purpose::LookAt(at).name(), %fault, "a look failed");
        }
        let now = self.now();
        eyes::note_look(&mut self.books, &machine, at, began_at, result, now);
    }

    /// A look that came to nothing: whoever still needs it asks for it again.
    fn let_go(&mut self, machine: &MachineName, at: LookAt) {
        self.inquiries.ended(machine);
        if self.books.snapshot.machines.contains_key(machine) {
            self.books.observe(machine, |observation| observation.looking.remove(&at));
        }
    }
}

#[cfg(test)]
mod tests;
