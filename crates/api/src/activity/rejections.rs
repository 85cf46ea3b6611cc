//! Requests that were refused before a keeper saw them, on their way into the activity log.
//!
//! Only what concerns a machine or an operation that is known is written down: what is nobody's has no log. Writing it
//! never delays the answer, and what comes too fast is dropped and counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{ACTIVITY_FORMAT, Activity, ActivityKind, ActivityStatus, Cluster, CorrelationId, OperationId, Part, Request, Subject};
use store::{Commit, NewRecord};
use tokio::sync::Semaphore;
use tracing::warn;

use crate::Api;
use crate::cache::View;
use crate::call::Call;
use crate::operations;
use crate::reply::Refused;
use crate::resources::machines;
use crate::route::Route;

/// Refusals that may be on their way to the store at once. They share its queue with everybody's commits.
pub const MAX_REJECTIONS_UNDER_WAY: usize = 64;

/// The way of refusals into the log.
#[derive(Debug)]
pub(crate) struct Rejections {
    under_way: Arc<Semaphore>,
    dropped: Arc<AtomicU64>,
}

impl Default for Rejections {
    fn default() -> Self {
        Rejections { under_way: Arc::new(Semaphore::new(MAX_REJECTIONS_UNDER_WAY)), dropped: Arc::default() }
    }
}

/// What a request that changes something is about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Concern {
    Machine { subscription: String, group: String, name: String, verb: String },
    Operation { id: String, verb: &'static str },
}

impl Concern {
    fn machine(subscription: &str, group: &str, name: &str, verb: &str) -> Concern {
        Concern::Machine { subscription: subscription.into(), group: group.into(), name: name.into(), verb: verb.into() }
    }

    pub fn of(route: &Route) -> Option<Concern> {
        match route {
            Route::Act { subscription, group, machine, verb } => Some(Concern::machine(subscription, group, machine, verb)),
            Route::Update { subscription, group, name, .. } => Some(Concern::machine(subscription, group, name, "write")),
            Route::Delete { subscription, group, name } => Some(Concern::machine(subscription, group, name, "delete")),
            Route::CancelOperation { id } => Some(Concern::Operation { id: id.clone(), verb: "cancel" }),
            _ => None,
        }
    }

    /// What it is about, if that is known.
    fn find(&self, view: &View) -> Option<Rejected> {
        match self {
            Concern::Machine { subscription, group, name, verb } => {
                let (cluster, machine) = machines::find(view, subscription, group, name).ok()?;
                Some(Rejected::new(&cluster.document, Part::Machine(machine.document.name.clone()), None, verb))
            }
            Concern::Operation { id, verb } => {
                let (operation, cluster) = operations::find(view, id).ok()?;
                Some(Rejected::new(&cluster, Part::Machine(operation.machine.clone()), Some(operation.id.clone()), verb))
            }
        }
    }
}

/// What was refused.
struct Rejected {
    subject: Subject,
    operation: Option<OperationId>,
    verb: String,
}

impl Rejected {
    fn new(cluster: &Cluster, part: Part, operation: Option<OperationId>, verb: &str) -> Self {
        Rejected { subject: Subject::new(&cluster.home, &cluster.name, part), operation, verb: verb.to_owned() }
    }

    fn record(self, caller: &str, correlation_id: &CorrelationId, refused: &Refused) -> NewRecord {
        let what = ActivityKind::request(&self.verb);
        let about = match &self.subject.part {
            Part::Cluster => self.subject.cluster.to_string(),
            Part::Rack(name) => name.to_string(),
            Part::Machine(name) => name.to_string(),
        };
        let message = format!("{} of `{about}` was not taken up", model::shortened(&self.verb));
        let entry = Activity {
            format: ACTIVITY_FORMAT,
            what,
            subject: self.subject,
            operation: self.operation,
            correlation_id: correlation_id.clone(),
            caller: caller.to_owned(),
            status: ActivityStatus::Failed,
            message,
            error: Some(refused.logged()),
        };
        let value = serde_json::to_vec(&entry).expect("an entry has string keys and no failing serializers");
        NewRecord { labels: entry.labels(), value: value.into() }
    }
}

/// The record of a request that is taken back because nobody judged it. It belongs into the commit that takes it back.
pub(crate) fn withdrawn(view: &View, request: &Request, refused: &Refused) -> Option<NewRecord> {
    let cluster = &view.clusters.get(&request.cluster)?.document;
    let operation = request.ask.operation();
    let of_operation = || Some(&view.operations.get(operation?)?.machine);
    let part = request.ask.machine().or_else(of_operation).map_or(Part::Cluster, |machine| Part::Machine(machine.clone()));
    let rejected = Rejected::new(cluster, part, operation.cloned(), request.ask.verb());
    Some(rejected.record(&request.caller, &request.correlation_id, refused))
}

impl Rejections {
    /// How many refusals were not written down, because too many came at once or the store did not take them.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Writes a refusal down in the background, unless it is in the log already.
    pub(crate) fn note(&self, api: &Api, call: &Call, concern: &Concern, refused: &Refused) {
        if refused.is_logged() {
            return;
        }
        let Some(rejected) = concern.find(&api.cache.view()) else { return };
        let Ok(turn) = self.under_way.clone().try_acquire_owned() else {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let record = rejected.record(&call.caller(), &call.correlation_id, refused);
        let (store, dropped) = (api.store.clone(), self.dropped.clone());
        tokio::spawn(async move {
            if let Err(problem) = store.commit(Commit::default().record(record)).await {
                warn!(error = %problem, "a refusal could not be written to the activity log");
                dropped.fetch_add(1, Ordering::Relaxed);
            }
            drop(turn);
        });
    }
}

#[cfg(test)]
mod tests;
