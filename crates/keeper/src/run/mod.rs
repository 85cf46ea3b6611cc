//! The loop itself: when it wakes, when it plans, when it ends. What it does then is in `acting`, what it sees in `looking`,
//! and how it takes over a new description of its site in `refitting`.

mod acting;
mod calls;
mod entering;
mod etcd;
mod inquiring;
mod listening;
mod looking;
mod refitting;
mod rewiring;
mod sending;

use std::sync::Arc;

use model::{KeeperState, Looks, Site, Span, Timestamp, keys};
use store::Watch;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, error, info, info_span};

use crate::books::Books;
use crate::eyes::Event;
use crate::inquiries::Inquiries;
use crate::lease::Tenure;
use crate::meters;
use crate::polls::Polls;
use crate::{Keeper, KeeperError, Offer, PLAN_EVERY, STOP_TIMEOUT};
use calls::Calls;
use entering::Lines;
pub(crate) use etcd::EtcdLook;
pub(crate) use inquiring::Inquiry;
use listening::Ears;
use rewiring::Ways;
pub use sending::MAX_ERRANDS;
use sending::Turns;

/// Events that may wait to be taken in. Their senders wait when it is full.
const EVENT_QUEUE: usize = 1_024;

/// The pause before a keeper that failed begins again: long enough not to fill the log, short enough not to be missed.
const BEGIN_AGAIN_AFTER: Span = Span::seconds(2);

struct Loop {
    keeper: Keeper,
    books: Books,
    tenure: Tenure,
    /// The ways to the BMCs: given with the description, or made for hardware that was replaced.
    ways: Ways,
    polls: Polls,
    inquiries: Inquiries,
    ears: Ears,
    events: mpsc::Sender<Event>,
    /// Looks and requests under way; dropped with the loop, so that a keeper that stops asks nothing more.
    tasks: JoinSet<()>,
    node_watch: Option<AbortHandle>,
    tenant_watch: Option<AbortHandle>,
    /// To tenants' clusters.
    lines: Lines,
    /// At the API servers that errands go to.
    turns: Turns,
    /// The description that was refused last.
    refused_site: Option<Site>,
    /// Who is calling each BMC just now.
    calls: Calls,
    asks_under_way: usize,
    /// Requests to the undercloud take turns: one API server serves the whole site.
    node_asks: Arc<Semaphore>,
    planned_at: Option<Instant>,
    /// When it is this keeper's turn to plan; taken once there is something to plan.
    turn: Option<Instant>,
    contact_due: Timestamp,
    /// The node watch is broken: an answer to something else does not make what it told fresh again.
    watch_lost: bool,
    /// When it is to be told next how fresh what is known is; `None` while nothing was seen since it was told.
    glance_at: Option<Instant>,
    glanced_at: Instant,
    /// Wall and monotonic time of the last round; when they part, the clock was set or the machine slept.
    rounded_at: (Timestamp, Instant),
}

/// Cordons and uncordons that may be under way at once.
pub const MAX_NODE_ASKS: usize = 32;

/// How far wall time may run off from monotonic time between two rounds. What was seen before is then of unknown age.
const CLOCK_STEP: Span = Span::seconds(5);

/// How often it is told how fresh what is known is: often enough for whoever asks by hand or every few seconds.
const GLANCE_EVERY: Span = Span::seconds(1);

/// How long ending the sessions with the BMCs may take. One that stays open runs out by itself.
const CLOSE_TIMEOUT: Span = Span::seconds(2);

impl Keeper {
    /// Keeps the cluster until `shutdown`, and begins again from the store whenever that ends early.
    ///
    /// Beginning again is the one cure for everything that can go wrong here: what is known is in the store.
    pub async fn run_for_ever(self, shutdown: CancellationToken) {
        while !shutdown.is_cancelled() {
            if let Err(error) = self.clone().run(shutdown.clone()).await {
                let error = chain(&error);
                error!(cluster = %self.cluster, %error, "keeping stopped; it begins again shortly");
                meters::count_failure(&self.cluster);
                self.report_failure(error);
                tokio::select! {
                    () = shutdown.cancelled() => {}
                    () = tokio::time::sleep(BEGIN_AGAIN_AFTER.to_std()) => {}
                }
            }
        }
    }

    fn report_failure(&self, error: String) {
        let now = self.clock.now();
        self.state.send_modify(|state| {
            let since = if let KeeperState::Failing { since, .. } = state { *since } else { now };
            *state = KeeperState::Failing { since, error };
        });
    }

    /// Keeps the cluster until `shutdown`, or until it loses its lease or its store.
    pub async fn run(mut self, shutdown: CancellationToken) -> Result<(), KeeperError> {
        self.take_newest_devices();
        let cluster = self.cluster.clone();
        let failed = |source| KeeperError::Store { cluster: cluster.clone(), source };
        let awaiting = KeeperState::AwaitingLease { since: self.clock.now() };
        // A keeper that failed says so until it keeps again, not while it tries.
        self.state.send_if_modified(|state| {
            let fresh = *state == KeeperState::Starting;
            if fresh {
                *state = awaiting;
            }
            fresh
        });
        let tenure = tokio::select! {
            biased;
            () = shutdown.cancelled() => return Ok(()),
            tenure = Tenure::begin(&self.store, &self.cluster, &self.holder, &self.footing) => tenure.map_err(failed)?,
        };
        let started_at = self.clock.now();
        let (mut books, revision) = Books::open(&self.store, &self.cluster, tenure.fence(), self.clock.now()).await?;
        books.snapshot.install_url = self.install.as_ref().map(|desk| desk.urls.agents.clone());
        let watch = self.store.watch(&keys::requests_of(&self.cluster), revision).await.map_err(failed)?;
        let (events, inbox) = mpsc::channel(EVENT_QUEUE);
        info!(%cluster, machines = books.snapshot.machines.len(), running = books.snapshot.running_count(), "keeping");
        let mut the_loop = Loop::new(self, books, tenure, events, started_at);
        let result = match the_loop.begin().await {
            Ok(()) => the_loop.turn(inbox, watch, &shutdown).await,
            Err(error) => Err(error),
        };
        the_loop.close().await;
        result
    }
}

impl Loop {
    fn new(keeper: Keeper, books: Books, tenure: Tenure, events: mpsc::Sender<Event>, started_at: Timestamp) -> Loop {
        let mut the_loop = Loop {
            contact_due: started_at,
            ways: Ways::of(&keeper),
            keeper,
            books,
            tenure,
            polls: Polls::default(),
            inquiries: Inquiries::default(),
            ears: Ears::default(),
            events,
            tasks: JoinSet::new(),
            node_watch: None,
            tenant_watch: None,
            lines: Lines::default(),
            turns: Turns::default(),
            refused_site: None,
            calls: Calls::default(),
            asks_under_way: 0,
            node_asks: Arc::new(Semaphore::new(MAX_NODE_ASKS)),
            planned_at: None,
            turn: None,
            watch_lost: false,
            glance_at: Some(Instant::now()),
            glanced_at: Instant::now(),
            rounded_at: (started_at, Instant::now()),
        };
        the_loop.keeper.bmcs = the_loop.present_ways();
        the_loop.note_undescribed();
        the_loop
    }

    /// Plans with what is stored before any device is called: a first look at every device of many sites takes all there is of
    /// the processor for a while, and whoever waits for this keeper should not wait for that.
    async fn begin(&mut self) -> Result<(), KeeperError> {
        self.refit().await?;
        if self.tenure.may_ask() {
            self.round().await?;
        }
        self.open_eyes();
        Ok(())
    }

    fn now(&self) -> Timestamp {
        self.keeper.clock.now()
    }

    async fn turn(
        &mut self,
        mut inbox: mpsc::Receiver<Event>,
        mut watch: Box<dyn Watch>,
        shutdown: &CancellationToken,
    ) -> Result<(), KeeperError> {
        let failed = |cluster: &model::ClusterName, source| KeeperError::Store { cluster: cluster.clone(), source };
        loop {
            meters::count_wakeup(&self.keeper.cluster);
            self.start_due_looks();
            self.start_inquiries();
            self.tell_freshness();
            self.take_turn();
            let sleep = tokio::time::sleep_until(self.next_wake());
            let renew = tokio::time::sleep_until(self.tenure.renew_at());
            tokio::select! {
                biased;
                () = shutdown.cancelled() => {
                    self.drain(inbox).await;
                    return Ok(());
                }
                () = renew => self.tenure.renew(&self.keeper.store, &self.keeper.footing).await.map_err(|source| failed(&self.keeper.cluster, source))?,
                changes = watch.next() => {
                    self.take_requests(changes.map_err(|source| failed(&self.keeper.cluster, source))?);
                }
                () = described_anew(&mut self.keeper.offers) => self.refit().await?,
                Some(event) = inbox.recv() => {
                    self.take_event(event);
                    for event in waiting(&mut inbox) {
                        self.take_event(event);
                    }
                }
                () = sleep => {}
            }
            self.check_clock()?;
            if self.is_plan_due() {
                self.round().await?;
            }
            self.reap()?;
        }
    }

    async fn round(&mut self) -> Result<(), KeeperError> {
        let round = info_span!(parent: None, "round", cluster = %self.keeper.cluster);
        self.plan_and_act().instrument(round).await
    }

    /// After a clock that was set, or a sleep of the computer, nothing that was seen has a known age: begin again.
    fn check_clock(&mut self) -> Result<(), KeeperError> {
        let (now, instant) = (self.now(), Instant::now());
        let (wall_before, monotonic_before) = self.rounded_at;
        self.rounded_at = (now, instant);
        let monotonic = Span::millis(u64::try_from((instant - monotonic_before).as_millis()).unwrap_or(u64::MAX));
        let expected = wall_before + monotonic;
        let step = if now > expected { now.since(expected) } else { expected.since(now) };
        if step > CLOCK_STEP { Err(KeeperError::ClockStepped { step }) } else { Ok(()) }
    }

    /// A task that panicked took its answer with it; without the answer its machine would wait for ever.
    fn reap(&mut self) -> Result<(), KeeperError> {
        while let Some(result) = self.tasks.try_join_next() {
            match result {
                Err(error) if error.is_panic() => return Err(KeeperError::TaskPanicked),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Tells how old what is known is, but not at every turn: it asks every machine.
    fn tell_freshness(&mut self) {
        if self.glance_at.is_none_or(|at| at > Instant::now()) {
            return;
        }
        (self.glance_at, self.glanced_at) = (None, Instant::now());
        let snapshot = &self.books.snapshot;
        let described = snapshot.machines.keys().filter(|name| !snapshot.undescribed.contains(*name));
        let mut looks = Looks::default();
        for name in described {
            let answered_at = snapshot.observations.get(name).and_then(|observation| observation.bmc.answered_at);
            looks.unseen += usize::from(answered_at.is_none());
            // What a keeper before us stored was seen then or later: it is at most that old.
            let stored_at = || snapshot.machines.get(name)?.last_seen.power.as_ref().map(|power| power.at);
            if let Some(at) = answered_at.or_else(stored_at) {
                looks.oldest_at = Some(looks.oldest_at.map_or(at, |oldest| oldest.min(at)));
                looks.newest_at = Some(looks.newest_at.map_or(at, |newest| newest.max(at)));
            }
        }
        self.keeper.footing.send_modify(|footing| footing.looks = looks);
    }

    /// When the loop must run although nothing has happened.
    fn next_wake(&self) -> Instant {
        let now = self.now();
        let instant_of = |at: Timestamp| Instant::now() + at.since(now).to_std();
        let plan = if self.is_plan_wanted() { Some(self.plans_from()) } else { self.books.next_wake().map(instant_of) };
        let plan = plan.map(|at| if self.tenure.may_ask() { at } else { at.max(self.tenure.ask_again_at()) });
        let poll = self.polls.next_at().map(instant_of);
        let contact = instant_of(self.contact_due);
        [plan, poll, self.glance_at, Some(contact)].into_iter().flatten().min().unwrap_or(contact)
    }

    fn is_plan_wanted(&self) -> bool {
        self.books.needs_plan() || self.books.next_wake().is_some_and(|at| at <= self.now())
    }

    /// Before that it rests, or another keeper of this process has its turn.
    fn plans_from(&self) -> Instant {
        let rested_at = self.planned_at.map(|at| at + PLAN_EVERY.to_std());
        [rested_at, self.turn].into_iter().flatten().max().unwrap_or_else(Instant::now)
    }

    fn take_turn(&mut self) {
        if self.turn.is_none() && self.is_plan_wanted() {
            self.turn = Some(self.keeper.rota.take());
        }
    }

    fn is_plan_due(&mut self) -> bool {
        self.take_turn();
        self.is_plan_wanted() && Instant::now() >= self.plans_from() && self.tenure.may_ask()
    }

    /// Waits a little for the answers to what was sent: a request that is cut off has to be looked after later.
    async fn drain(&mut self, mut inbox: mpsc::Receiver<Event>) {
        let end = Instant::now() + STOP_TIMEOUT.to_std();
        while self.asks_under_way > 0 {
            match tokio::time::timeout_at(end, inbox.recv()).await {
                Ok(Some(event)) => self.take_event(event),
                Ok(None) | Err(_) => return,
            }
        }
    }

    async fn close(mut self) {
        self.tasks.shutdown().await;
        // BMCs have few places for sessions; those that do not answer now free ours when it runs out.
        let sessions = futures::future::join_all(self.keeper.bmcs.values().map(redfish::Bmc::close));
        let _ = tokio::time::timeout(CLOSE_TIMEOUT.to_std(), sessions).await;
        self.tenure.end(&self.keeper.store, &self.keeper.footing).await;
        info!(cluster = %self.keeper.cluster, "no longer keeping; the lease is given back");
    }
}

/// What has arrived by now, and no more than fits the queue: whoever goes on sending must not keep the loop from its plan,
/// its looks and its lease.
fn waiting<T>(inbox: &mut mpsc::Receiver<T>) -> impl Iterator<Item = T> {
    std::iter::from_fn(|| inbox.try_recv().ok()).take(EVENT_QUEUE)
}

/// Waits for another description; for ever, if nobody is left who could give one.
async fn described_anew(offers: &mut watch::Receiver<Option<Arc<Offer>>>) {
    if offers.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// An error and its causes on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod stand;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_never_cease_do_not_keep_the_loop() {
        let (sender, mut inbox) = mpsc::channel(EVENT_QUEUE);
        sender.try_send(()).unwrap();
        let taken = waiting(&mut inbox).inspect(|()| sender.try_send(()).unwrap()).count();
        assert_eq!(taken, EVENT_QUEUE);
        assert_eq!(waiting(&mut inbox).count(), 1);
    }
}
