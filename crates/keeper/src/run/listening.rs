//! Listening to BMCs that tell of events: a word of theirs hastens a look, and says nothing else.
//!
//! What an event claims is never believed, because it may be late, repeated or lost; and without any the idle look still comes.

use std::collections::BTreeMap;

use futures::StreamExt;
use model::MachineName;
use plan::Ear;
use redfish::Bmc;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::Loop;
use crate::eyes::Event;

/// Which BMCs are listened to. One that is absent was never asked.
#[derive(Debug, Default)]
pub(super) struct Ears {
    known: BTreeMap<MachineName, Ear>,
    listeners: BTreeMap<MachineName, AbortHandle>,
}

impl Ears {
    /// Ends listening to a BMC that is another one from now on, or gone.
    pub fn forget(&mut self, machine: &MachineName) {
        self.known.remove(machine);
        if let Some(listener) = self.listeners.remove(machine) {
            listener.abort();
        }
    }
}

impl Loop {
    /// Opens the BMC's stream of events, if it is time to.
    pub(super) fn listen_to(&mut self, machine: &MachineName) {
        let now = self.now();
        let contact = self.books.snapshot.observation(machine).bmc;
        let ear = self.ears.known.get(machine).copied();
        let Some(bmc) = self.keeper.bmcs.get(machine) else { return };
        if plan::should_listen(&contact, ear, &self.books.snapshot.cluster.limits, now) {
            self.ears.known.insert(machine.clone(), Ear::Open);
            let (bmc, name, events, clock) = (bmc.clone(), machine.clone(), self.events.clone(), self.keeper.clock.clone());
            let listener = self.tasks.spawn(async move {
                let heard = listen(&bmc, &name, &events).await;
                let at = clock.now();
                let ear = if heard == Heard::NotOffered { Ear::NotOffered { at } } else { Ear::Closed { at } };
                // The loop is gone only when the keeper is.
                let _ = events.send(Event::Ear { machine: name, ear }).await;
            });
            self.ears.listeners.insert(machine.clone(), listener);
        }
    }

    pub(super) fn note_ear(&mut self, machine: MachineName, ear: Ear) {
        self.ears.listeners.remove(&machine);
        // It was taken out of the site in the meantime.
        if self.keeper.bmcs.contains_key(&machine) {
            self.ears.known.insert(machine, ear);
        }
    }

    pub(super) fn hasten_look(&mut self, machine: &MachineName) {
        if self.keeper.bmcs.contains_key(machine) {
            let contact = self.books.snapshot.observation(machine).bmc;
            let at = plan::poll_after_event(&contact, &self.books.snapshot.cluster.limits, self.now());
            self.polls.hasten(machine, at);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    NotOffered,
    Enough,
}

/// Passes on that there was an event, until the stream ends.
async fn listen(bmc: &Bmc, machine: &MachineName, events: &mpsc::Sender<Event>) -> Heard {
    let mut stream = match bmc.watch_events().await {
        Ok(Some(stream)) => Box::pin(stream),
        Ok(None) => return Heard::NotOffered,
        Err(fault) => {
            tracing::debug!(%machine, %fault, "the BMC's events cannot be heard");
            return Heard::Enough;
        }
    };
    while let Some(Ok(_)) = stream.next().await {
        if events.send(Event::Told { machine: machine.clone() }).await.is_err() {
            break;
        }
    }
    Heard::Enough
}
