//! Which attempt a request is about, and whether it is the current one.

use std::sync::Arc;

use model::{Attempt, BootWay, Cluster, ClusterName, Fact, Machine, MachineReport, Operation, OperationId, RuntimeVersion};
use serde::Deserialize;
use ticket::Purpose;

use super::InstallFace;
use super::door::Declined;
use crate::cache::View;

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
    pub(super) fn admit(&self, named: &Named, purpose: Purpose, token: &str) -> Result<(Known, Installing), Declined> {
        let known = named.find(&self.api.cache.view()).ok_or_else(Declined::over)?;
        if !self.verifies(purpose, &known.attempt, token) {
            return Err(Declined::wrong_token());
        }
        let installing = known.current().ok_or_else(Declined::over)?;
        Ok((known, installing))
    }
}
