//! Which attempt a request is about, and whether it is the current one.

use std::sync::Arc;

use model::{Attempt, BootWay, Cluster, ClusterName, Fact, Machine, MachineReport, Operation, OperationId, RuntimeVersion, Span, keys};
use serde::Deserialize;
use ticket::Purpose;

use super::InstallFace;
use super::door::Declined;
use crate::cache::View;

/// How long somebody waits for what is stored to be known here: some commits of a busy store.
const NEWS_PATIENCE: Span = Span::seconds(2);

/// The attempt that a path names.
#[derive(Debug, Deserialize)]
pub(super) struct Named {
    pub cluster: String,
    pub operation: String,
    pub round: u32,
}

/// An attempt of an operation that there is; it may be over.
pub(super) struct Known {
    pub attempt: Attempt,
    pub cluster: Arc<Cluster>,
    pub operation: Arc<Operation>,
    pub machine: Arc<Machine>,
}

/// What an operation is installing now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Installing {
    pub round: u32,
    pub way: BootWay,
    pub version: RuntimeVersion,
}

impl Installing {
    /// The latest attempt of a running operation.
    pub fn of(operation: &Operation) -> Option<Installing> {
        if !operation.is_running() || operation.is_cleaning_up() {
            return None;
        }
        operation.installing().map(|model::Installing { round, way, version, .. }| Installing { round, way, version })
    }
}

impl Named {
    pub fn find(&self, view: &View) -> Option<Known> {
        let cluster = view.clusters.get(&ClusterName::new(self.cluster.as_str()).ok()?)?.document.clone();
        let operation = view.operations.get(&OperationId::new(self.operation.as_str()))?.clone();
        let machine = operation.machine().filter(|_| operation.cluster == cluster.name)?.clone();
        let document = view.machine(&cluster.name, &machine)?.document.clone();
        let attempt = Attempt { cluster: cluster.name.clone(), machine, operation: operation.id.clone(), round: self.round };
        Some(Known { attempt, cluster, operation, machine: document })
    }
}

impl Known {
    /// What is being installed, if this attempt is the current one.
    pub fn current(&self) -> Option<Installing> {
        Installing::of(&self.operation).filter(|installing| installing.round == self.attempt.round)
    }

    /// Whether the agent has traded its token.
    pub fn is_exchanged(&self) -> bool {
        let exchange =
            |fact: &Fact| matches!(fact, Fact::Reported { round, report: MachineReport::Exchange { .. } } if *round == self.attempt.round);
        self.operation.journal.iter().any(|entry| exchange(&entry.fact))
    }
}

impl InstallFace {
    pub(super) fn verifies(&self, purpose: Purpose, attempt: &Attempt, token: &str) -> bool {
        self.key_of(&attempt.cluster).is_some_and(|key| key.verify(purpose, attempt, token))
    }

    /// The current attempt that a path names, to whoever has its token. The token is judged first: without it nothing is learnt.
    ///
    /// Nobody is turned away for what is not known yet: a machine may come for what was committed a moment ago, and firmware that was told
    /// no does not ask again.
    pub(super) async fn admit(&self, named: &Named, purpose: Purpose, token: &str) -> Result<(Known, Installing), Declined> {
        let admitted = self.judge(named.find(&self.api.cache.view()), purpose, token);
        if admitted.is_ok() || !self.hears_news_of(named).await {
            return admitted;
        }
        self.judge(named.find(&self.api.cache.view()), purpose, token)
    }

    /// Waits for what is stored of the operation, if it is newer than what is known. Says whether there was something to wait for.
    async fn hears_news_of(&self, named: &Named) -> bool {
        let Ok(cluster) = ClusterName::new(named.cluster.as_str()) else { return false };
        let key = keys::operation(&cluster, &OperationId::new(named.operation.as_str()));
        let Ok(Some(stored)) = self.api.store.get(&key).await else { return false };
        let mut known = self.api.cache.changes();
        if *known.borrow() >= stored.revision {
            return false;
        }
        let heard = known.wait_for(|revision| *revision >= stored.revision);
        tokio::time::timeout(NEWS_PATIENCE.to_std(), heard).await.is_ok()
    }

    fn judge(&self, known: Option<Known>, purpose: Purpose, token: &str) -> Result<(Known, Installing), Declined> {
        let known = known.ok_or_else(Declined::over)?;
        if !self.verifies(purpose, &known.attempt, token) {
            return Err(Declined::wrong_token());
        }
        let installing = known.current().ok_or_else(Declined::over)?;
        Ok((known, installing))
    }
}
