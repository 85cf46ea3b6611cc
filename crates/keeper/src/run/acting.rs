//! From a plan to its effects: committed first, then asked.

use std::collections::BTreeSet;

use model::{Delivery, Fault, FaultClass, KeeperState, MachineName, Party, SecretRef, Span, keys};
use plan::{Plan, Step};
use store::StoreError;
use tokio::time::Instant;
use tracing::{Instrument, debug, field, info_span};

use super::Loop;
use crate::devices::Desk;
use crate::eyes::Event;
use crate::meters::{self, Device, Purpose};
use crate::telling::{self, Behalf, Called};
use crate::{DEVICE_TIMEOUT, KeeperError, devices};

/// How long a request waits for its turn: with the call itself it must fit into what the lease was checked for.
pub(super) const TURN_TIMEOUT: Span = Span::millis(DEVICE_TIMEOUT.as_millis() - kubernetes::CALL_TIMEOUT.as_millis());

impl Loop {
    pub(super) async fn plan_and_act(&mut self) -> Result<(), KeeperError> {
        (self.planned_at, self.turn) = (Some(Instant::now()), None);
        let plan = self.plan()?;
        if !self.commit(&plan).await? {
            return Ok(());
        }
        // A commit may have taken long. What is not sent now is journalled, and whoever keeps next looks first.
        let asks_nothing = plan.steps.is_empty() && plan.errands.is_empty();
        if !asks_nothing && !self.tenure.may_ask() {
            return Err(KeeperError::LeaseTooShort);
        }
        for look in plan.looks.iter().filter(|look| look.machine.is_some()) {
            self.inquire(look);
        }
        self.look_at_etcd(&plan);
        for step in plan.steps {
            self.ask(step);
        }
        for errand in plan.errands {
            self.send(errand);
        }
        self.report_keeping();
        Ok(())
    }

    fn plan(&mut self) -> Result<Plan, KeeperError> {
        let began = Instant::now();
        let plan = info_span!("plan").in_scope(|| self.books.plan(self.now()))?;
        meters::time_plan(&self.keeper.cluster, began);
        Ok(plan)
    }

    /// Only a plan that was carried out shows that keeping goes well.
    fn report_keeping(&self) {
        let since = self.books.snapshot.keeper_started_at;
        self.keeper.state.send_if_modified(|state| {
            let news = !matches!(state, KeeperState::Keeping { .. });
            if news {
                *state = KeeperState::Keeping { since };
            }
            news
        });
    }

    /// Whether the plan was committed. It is not if a request was withdrawn meanwhile; then there is another plan.
    pub(super) async fn commit(&mut self, plan: &Plan) -> Result<bool, KeeperError> {
        let commit = self.books.commit_of(plan, self.now(), self.tenure.fence());
        // What is asked for outside operations may leave no trace but its entry in the log.
        if commit.writes.is_empty() && commit.records.is_empty() {
            self.books.settle(plan, &[], None);
            return Ok(true);
        }
        let keys: Vec<String> = commit.writes.keys().cloned().collect();
        let span = info_span!("commit", writes = keys.len(), revision = field::Empty);
        let began = Instant::now();
        match self.keeper.store.commit(commit).instrument(span.clone()).await {
            Ok(revision) => {
                span.record("revision", revision.0);
                meters::time_commit(&self.keeper.cluster, began);
                telling::note_commit(&self.books.snapshot, plan, self.now());
                self.forget_secrets(plan.abandoned_secrets(&self.books.snapshot));
                self.books.settle(plan, &keys, Some(revision));
                self.rewire(plan);
                self.look_closely(plan);
                Ok(true)
            }
            Err(StoreError::Conflict { key, .. }) if key.starts_with(keys::REQUESTS) => {
                self.books.drop_request(&key);
                self.books.mark_all();
                Ok(false)
            }
            Err(source) => Err(KeeperError::Store { cluster: self.keeper.cluster.clone(), source }),
        }
    }

    pub(super) fn forget_secrets(&mut self, abandoned: Vec<SecretRef>) {
        if abandoned.is_empty() {
            return;
        }
        let secrets = self.keeper.secrets.clone();
        self.tasks.spawn(async move {
            for secret in &abandoned {
                secrets.forget(secret).await;
            }
        });
    }

    /// A machine that has just become busy is looked at at once, not when its idle poll would come. If it is in the
    /// control plane, so are the others there: what is known of them decides whether its power may go.
    ///
    /// A BMC that is asked for something now is looked at when it has answered: a look beside the request would see what
    /// was before, over a second connection, of which a BMC has few.
    pub(super) fn look_closely(&mut self, plan: &Plan) {
        let now = self.now();
        let machines = &self.books.snapshot.machines;
        let is_kcp = |name: &MachineName| machines.get(name).is_some_and(|machine| machine.is_kcp());
        let mut busy: BTreeSet<MachineName> = plan
            .changes
            .operations
            .values()
            .filter(|operation| operation.is_running())
            .filter_map(|operation| operation.machine().cloned())
            .collect();
        if busy.iter().any(is_kcp) {
            busy.extend(self.books.snapshot.control_plane().map(|machine| machine.name.clone()));
        }
        for step in plan.steps.iter().filter(|step| !devices::is_for_node(step.ask)) {
            busy.remove(&step.machine);
        }
        let is_awaited = |machine: &&MachineName| self.books.snapshot.awaiting_look_at(machine).is_some();
        for machine in busy.iter().filter(is_awaited).filter(|machine| self.keeper.bmcs.contains_key(*machine)) {
            let contact = self.books.snapshot.observation(machine).bmc;
            if plan::may_be_hastened(&contact) {
                self.polls.schedule(machine, now);
            }
        }
    }

    pub(super) fn ask(&mut self, step: Step) {
        if step.ask.party() == Party::Etcd {
            return self.ask_etcd(step);
        }
        debug!(cluster = %self.keeper.cluster, machine = %step.machine, ask = %step.ask, attempt = step.attempt, "asking");
        let device = if devices::is_for_node(step.ask) { Device::Undercloud } else { Device::Bmc };
        let behalf = Behalf { snapshot: &self.books.snapshot, machine: Some(&step.machine) };
        let called = Called::new(device, Purpose::Ask(step.ask), behalf);
        self.books.observe(&step.machine, |observation| {
            observation.asking = Some(step.ask);
            false
        });
        self.asks_under_way += 1;
        let bmc = self.keeper.bmcs.get(&step.machine).filter(|_| !devices::is_for_node(step.ask)).cloned();
        let call = bmc.as_ref().and_then(|_| self.calls.begin(&step.machine));
        let (undercloud, install) = (self.keeper.undercloud.clone(), self.keeper.install.clone());
        let desk = Desk { bmc: bmc.clone(), undercloud, install };
        let (events, now) = (self.events.clone(), self.now());
        let turns = devices::is_for_node(step.ask).then(|| self.node_asks.clone());
        self.tasks.spawn(async move {
            let turn = match &turns {
                Some(turns) => tokio::time::timeout(TURN_TIMEOUT.to_std(), turns.acquire()).await.map(|permit| permit.ok()),
                None => Ok(None),
            };
            let result = match &turn {
                Ok(_) => called.during(Box::pin(devices::request(&step, &desk, now))).await,
                Err(_) => Err(Fault::new(FaultClass::Busy, Delivery::No, "it waited too long for its turn at the undercloud")),
            };
            drop((turn, call));
            // The loop is gone only when the keeper is.
            let _ = events.send(Event::Answered { step, bmc, result }).await;
        });
    }
}
