//! The loop itself: wait for a wake-up, plan, commit, ask.

use futures::StreamExt;
use model::{MachineName, Request, Span, Timestamp, keys};
use plan::{Plan, Step};
use store::{Change, Watch};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

use crate::books::Books;
use crate::eyes::{self, Event, NodeNames};
use crate::lease::Tenure;
use crate::polls::Polls;
use crate::{Keeper, KeeperError, PLAN_EVERY, STOP_TIMEOUT, devices};

/// Events that may wait to be taken in. Their senders wait when it is full.
const EVENT_QUEUE: usize = 1_024;

/// The pause before a keeper that failed begins again: long enough not to fill the log, short enough not to be missed.
const BEGIN_AGAIN_AFTER: Span = Span::seconds(2);

struct Loop {
    keeper: Keeper,
    books: Books,
    tenure: Tenure,
    polls: Polls,
    names: NodeNames,
    events: mpsc::Sender<Event>,
    /// Looks and requests under way; dropped with the loop, so that a keeper that stops asks nothing more.
    tasks: JoinSet<()>,
    asks_under_way: usize,
    planned_at: Option<Instant>,
    contact_due: Timestamp,
}

impl Keeper {
    /// Keeps the cluster until `shutdown`, and begins again from the store whenever that ends early.
    ///
    /// Beginning again is the one cure for everything that can go wrong here: what is known is in the store.
    pub async fn run_for_ever(self, shutdown: CancellationToken) {
        while !shutdown.is_cancelled() {
            if let Err(error) = self.clone().run(shutdown.clone()).await {
                error!(cluster = %self.cluster, error = %chain(&error), "keeping stopped; it begins again shortly");
                tokio::select! {
                    () = shutdown.cancelled() => {}
                    () = tokio::time::sleep(BEGIN_AGAIN_AFTER.to_std()) => {}
                }
            }
        }
    }

    /// Keeps the cluster until `shutdown`, or until it loses its lease or its store.
    pub async fn run(self, shutdown: CancellationToken) -> Result<(), KeeperError> {
        let cluster = self.cluster.clone();
        let failed = |source| KeeperError::Store { cluster: cluster.clone(), source };
        let tenure = tokio::select! {
            biased;
            () = shutdown.cancelled() => return Ok(()),
            tenure = Tenure::begin(&self.store, &self.cluster, &self.holder) => tenure.map_err(failed)?,
        };
        let (books, revision) = Books::open(&self).await?;
        let watch = self.store.watch(&keys::requests_of(&self.cluster), revision).await.map_err(failed)?;
        let (events, inbox) = mpsc::channel(EVENT_QUEUE);
        info!(%cluster, machines = books.snapshot.machines.len(), running = books.snapshot.running_count(), "keeping");
        let mut the_loop = Loop {
            contact_due: self.clock.now(),
            keeper: self,
            books,
            tenure,
            polls: Polls::default(),
            names: NodeNames::default(),
            events,
            tasks: JoinSet::new(),
            asks_under_way: 0,
            planned_at: None,
        };
        the_loop.open_eyes();
        let result = the_loop.turn(inbox, watch, &shutdown).await;
        the_loop.close().await;
        result
    }
}

impl Loop {
    fn now(&self) -> Timestamp {
        self.keeper.clock.now()
    }

    fn open_eyes(&mut self) {
        let now = self.now();
        for machine in self.books.snapshot.machines.keys().cloned().collect::<Vec<_>>() {
            if self.keeper.bmcs.contains_key(&machine) {
                self.polls.schedule(&machine, now);
            } else {
                eyes::note_power(&mut self.books, &machine, now, Err(devices::no_bmc(&machine)), now);
            }
        }
        let mut nodes = Box::pin(self.keeper.undercloud.watch_nodes());
        let events = self.events.clone();
        self.tasks.spawn(async move {
            while let Some(event) = nodes.next().await {
                if events.send(Event::Node(event)).await.is_err() {
                    return;
                }
            }
        });
    }

    async fn turn(
        &mut self,
        mut inbox: mpsc::Receiver<Event>,
        mut watch: Box<dyn Watch>,
        shutdown: &CancellationToken,
    ) -> Result<(), KeeperError> {
        let failed = |cluster: &model::ClusterName, source| KeeperError::Store { cluster: cluster.clone(), source };
        loop {
            self.start_due_looks();
            let sleep = tokio::time::sleep_until(self.next_wake());
            let renew = tokio::time::sleep_until(self.tenure.renew_at());
            tokio::select! {
                biased;
                () = shutdown.cancelled() => {
                    self.drain(inbox).await;
                    return Ok(());
                }
                () = renew => self.tenure.renew(&self.keeper.store).await.map_err(|source| failed(&self.keeper.cluster, source))?,
                changes = watch.next() => {
                    self.take_requests(changes.map_err(|source| failed(&self.keeper.cluster, source))?);
                }
                Some(event) = inbox.recv() => {
                    self.take_event(event);
                    while let Ok(event) = inbox.try_recv() {
                        self.take_event(event);
                    }
                }
                () = sleep => {}
            }
            if self.is_plan_due() {
                self.plan_and_act().await?;
            }
            while self.tasks.try_join_next().is_some() {}
        }
    }

    /// When the loop must run although nothing has happened.
    fn next_wake(&self) -> Instant {
        let now = self.now();
        let instant_of = |at: Timestamp| Instant::now() + at.since(now).to_std();
        let plan = if self.books.needs_plan() { Some(now) } else { self.books.next_wake() };
        let plan = plan.map(|at| instant_of(at).max(self.planned_at.map_or_else(Instant::now, |at| at + PLAN_EVERY.to_std())));
        let plan = plan.map(|at| if self.tenure.may_ask() { at } else { at.max(self.tenure.ask_again_at()) });
        let poll = self.polls.next_at().map(instant_of);
        let contact = instant_of(self.contact_due);
        [plan, poll, Some(contact)].into_iter().flatten().min().unwrap_or(contact)
    }

    fn is_plan_due(&self) -> bool {
        let rested = self.planned_at.is_none_or(|at| Instant::now() >= at + PLAN_EVERY.to_std());
        let wanted = self.books.needs_plan() || self.books.next_wake().is_some_and(|at| at <= self.now());
        rested && wanted && self.tenure.may_ask()
    }

    async fn plan_and_act(&mut self) -> Result<(), KeeperError> {
        self.planned_at = Some(Instant::now());
        let plan = self.books.plan(self.now())?;
        self.commit(&plan).await?;
        for step in plan.steps {
            self.ask(step);
        }
        Ok(())
    }

    async fn commit(&mut self, plan: &Plan) -> Result<(), KeeperError> {
        if plan.changes.is_empty() {
            self.books.settle(plan, &[], None);
            return Ok(());
        }
        let commit = self.books.commit_of(plan, self.tenure.fence());
        let keys: Vec<String> = commit.writes.keys().cloned().collect();
        let cluster = &self.keeper.cluster;
        let revision = self.keeper.store.commit(commit).await.map_err(|source| KeeperError::Store { cluster: cluster.clone(), source })?;
        self.books.settle(plan, &keys, Some(revision));
        self.look_closely(plan);
        Ok(())
    }

    /// A machine that has just become busy is looked at at once, not when its idle poll would come.
    fn look_closely(&mut self, plan: &Plan) {
        let now = self.now();
        for operation in plan.changes.operations.values().filter(|operation| operation.is_running()) {
            self.polls.schedule(&operation.machine, now);
        }
    }

    fn ask(&mut self, step: Step) {
        debug!(machine = %step.machine, ask = %step.ask, attempt = step.attempt, "asking");
        self.books.observe(&step.machine, |observation| {
            observation.asking = Some(step.ask);
            false
        });
        self.asks_under_way += 1;
        let bmc = self.keeper.bmcs.get(&step.machine).cloned();
        let undercloud = self.keeper.undercloud.clone();
        let events = self.events.clone();
        self.tasks.spawn(async move {
            let result = devices::request(&step, bmc.as_ref(), &undercloud).await;
            // The loop is gone only when the keeper is.
            let _ = events.send(Event::Answered { step, result }).await;
        });
    }

    fn start_due_looks(&mut self) {
        let now = self.now();
        for machine in self.polls.take_due(now) {
            let Some(bmc) = self.keeper.bmcs.get(&machine).cloned() else { continue };
            let events = self.events.clone();
            self.tasks.spawn(async move {
                let result = bmc.observe_power().await;
                let _ = events.send(Event::Power { machine, looked_at: now, result }).await;
            });
        }
        if now >= self.contact_due {
            self.contact_due = now + self.books.snapshot.cluster.limits.contact_poll;
            let undercloud = self.keeper.undercloud.clone();
            let events = self.events.clone();
            self.tasks.spawn(async move {
                let result = undercloud.observe_contact().await;
                let _ = events.send(Event::Contact(result)).await;
            });
        }
    }

    fn take_event(&mut self, event: Event) {
        let now = self.now();
        match event {
            Event::Power { machine, looked_at, result } => {
                self.polls.answered(&machine);
                eyes::note_power(&mut self.books, &machine, looked_at, result, now);
                self.schedule_look(&machine);
            }
            Event::Node(event) => eyes::note_node(&mut self.books, &mut self.names, event, now),
            Event::Contact(result) => {
                eyes::note_contact(&mut self.books, result, now);
                if let Some(at) = plan::retry_at(&self.books.snapshot.undercloud, &self.books.snapshot.cluster.limits) {
                    self.contact_due = at;
                }
            }
            Event::Answered { step, result } => {
                self.asks_under_way = self.asks_under_way.saturating_sub(1);
                if let Err(fault) = &result {
                    warn!(machine = %step.machine, ask = %step.ask, %fault, "a device did not do what it was asked");
                }
                eyes::note_answer(&mut self.books, &step, result, now);
                self.schedule_look(&step.machine);
            }
        }
    }

    fn schedule_look(&mut self, machine: &MachineName) {
        let observation = self.books.snapshot.observation(machine);
        let busy_since = self.books.snapshot.running_on(machine).map(|operation| {
            let asked_at = operation.journal.last().map_or(operation.accepted_at, |entry| entry.at);
            observation.ask_ended_at.unwrap_or(asked_at).max(asked_at)
        });
        let at = plan::next_poll(machine, &observation.bmc, busy_since, &self.books.snapshot.cluster.limits);
        self.polls.schedule(machine, at);
    }

    fn take_requests(&mut self, changes: Vec<Change>) {
        for Change { key, value, .. } in changes {
            match value.as_deref().map(serde_json::from_slice::<Request>) {
                Some(Ok(request)) => self.books.take_request(request),
                // One unreadable request must not stop the cluster; it gets no verdict, and its sender is told so.
                Some(Err(error)) => error!(%key, %error, "a request cannot be read and is ignored"),
                None => self.books.drop_request(&key),
            }
        }
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
        self.tenure.end(&self.keeper.store).await;
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
