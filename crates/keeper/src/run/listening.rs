//! Listening to BMCs that tell of events: a word of theirs hastens a look, and says nothing else.
//!
//! What an event claims is never believed, because it may be late, repeated or lost; and without any the idle look still comes.

use std::collections::BTreeMap;

use futures::{Stream, StreamExt};
use model::{Fault, MachineName, Span};
use plan::Ear;
use redfish::Bmc;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

use super::Loop;
use crate::eyes::Event;
use crate::meters::{Device, Purpose};
use crate::telling::{Behalf, Called};

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
            let rest = self.books.snapshot.cluster.limits.busy_poll;
            let called = Called::new(Device::Bmc, Purpose::Listen, Behalf { snapshot: &self.books.snapshot, machine: Some(machine) });
            let listener = self.tasks.spawn(async move {
                let heard = listen(&bmc, &name, &events, rest, called).await;
                let at = clock.now();
                let ear = if heard == Heard::NotOffered { Ear::NotOffered { at } } else { Ear::Closed { at } };
                // The loop is gone only when the keeper is.
                let _ = events.send(Event::Ear { machine: name, bmc, ear }).await;
            });
            self.ears.listeners.insert(machine.clone(), listener);
        }
    }

    pub(super) fn note_ear(&mut self, machine: MachineName, bmc: &Bmc, ear: Ear) {
        // Another BMC may have taken its place meanwhile, or none.
        if self.keeper.bmcs.get(&machine).is_some_and(|present| present.is_same_as(bmc)) {
            self.ears.listeners.remove(&machine);
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
async fn listen(bmc: &Bmc, machine: &MachineName, events: &mpsc::Sender<Event>, rest: Span, called: Called) -> Heard {
    // Opening takes far more room than listening, and a task keeps the room of its longest part until it ends: so this part has
    // its own, and gives it back.
    let stream = match Box::pin(called.during(bmc.watch_events())).await {
        Ok(Some(stream)) => stream,
        Ok(None) => return Heard::NotOffered,
        Err(fault) => {
            tracing::debug!(%machine, %fault, "the BMC's events cannot be heard");
            return Heard::Enough;
        }
    };
    pass_on(stream, rest, || async { events.send(Event::Told { machine: machine.clone() }).await.is_ok() }).await;
    Heard::Enough
}

/// Events that count as one if they are there together, as the records of one message are.
const EVENTS_AT_ONCE: usize = 1_024;

/// Tells of what is heard until the stream ends or nobody listens: at once if there was nothing lately, and else when
/// `rest` is over, for all that was heard meanwhile. A BMC is not looked at more often, so a chattering one costs no more;
/// and its last word is never lost, because what it tells of may have come after the latest look.
async fn pass_on<T, Told>(heard: impl Stream<Item = Result<T, Fault>>, rest: Span, tell: impl Fn() -> Told)
where
    Told: Future<Output = bool>,
{
    let mut heard = std::pin::pin!(heard.take_while(|event| std::future::ready(event.is_ok())).ready_chunks(EVENTS_AT_ONCE));
    while heard.next().await.is_some() {
        let mut untold = true;
        while untold {
            if !tell().await {
                return;
            }
            let rested_at = Instant::now() + rest.to_std();
            untold = false;
            while let Ok(more) = timeout_at(rested_at, heard.next()).await {
                if more.is_none() {
                    if untold {
                        tell().await;
                    }
                    return;
                }
                untold = true;
                // One that is never silent would never be timed out.
                if Instant::now() >= rested_at {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures::stream;
    use model::{Delivery, FaultClass};

    use super::*;

    /// When each telling came, in milliseconds, of events that come so many milliseconds after each other.
    async fn told(pauses: &[u64], end: Result<(), Fault>) -> Vec<u128> {
        let began = Instant::now();
        let told = Mutex::new(Vec::new());
        let events = stream::iter(pauses.to_vec()).then(|pause| async move {
            tokio::time::sleep(Span::millis(pause).to_std()).await;
            Ok(())
        });
        let events = events.chain(stream::iter(end.err().map(Err)));
        pass_on(events, Span::seconds(2), || async {
            told.lock().unwrap().push(began.elapsed().as_millis());
            true
        })
        .await;
        told.into_inner().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_bmc_that_chatters_is_heard_once_a_rest_and_its_last_word_is_not_lost() {
        assert_eq!(told(&[500], Ok(())).await, [500]);
        assert_eq!(told(&[500, 3_000], Ok(())).await, [500, 3_500]);
        // An event every 100 ms for five seconds, and then a pause in which the last is told.
        let mut chatter = vec![100; 50];
        chatter.push(60_000);
        assert_eq!(told(&chatter, Ok(())).await, [100, 2_100, 4_100, 6_100, 65_000]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_records_of_one_message_are_one_event() {
        let records = stream::iter(vec![Ok::<_, Fault>(()); 30]).chain(stream::pending());
        let told = Mutex::new(0);
        let listening = pass_on(records, Span::seconds(2), || async {
            *told.lock().unwrap() += 1;
            true
        });
        tokio::time::timeout(Span::minutes(1).to_std(), listening).await.unwrap_err();
        assert_eq!(told.into_inner().unwrap(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_heard_before_the_stream_breaks_is_told() {
        let broken = || Err(Fault::new(FaultClass::Unreachable, Delivery::No, "the event stream broke"));
        assert_eq!(told(&[500, 100], broken()).await, [500, 600]);
        assert_eq!(told(&[], broken()).await, [0_u128; 0]);
    }
}
