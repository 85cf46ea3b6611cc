//! Evictions through the API: the budgets are asked, one disruption is spent, and the pod is deleted.

use serde_json::Value;

use crate::budget::{self, Verdict};
use crate::kube::Kube;
use crate::objects::{DISRUPTION_BUDGETS, Durability, ObjectError, ObjectKey, PODS, Part};
use crate::pod;
use crate::time::Instant;
use crate::writes::DeleteOptions;

/// The mark that the eviction API leaves on what it ends.
const EVICTED: (&str, &str) = ("EvictionByEvictionAPI", "Eviction API: evicting");

/// Why a pod is not evicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvictionRefusal {
    /// The budget allows no more losses now.
    Exhausted {
        budget: String,
        needed: i64,
        healthy: i64,
    },
    /// The budget was changed and its pods are not counted yet.
    NotObserved {
        budget: String,
    },
    /// More than one budget means the pod; trying again never helps.
    Ambiguous,
    Object(ObjectError),
}

impl From<ObjectError> for EvictionRefusal {
    fn from(error: ObjectError) -> EvictionRefusal {
        EvictionRefusal::Object(error)
    }
}

impl Kube {
    /// An eviction through the API. A pod that is already terminating is evicted once more without effect.
    ///
    /// A precondition is checked after the budget has paid, as the real server does: an eviction meant for another pod
    /// burns a disruption until it is given back.
    pub(crate) fn evict(&mut self, key: &ObjectKey, options: &DeleteOptions, at: Instant) -> Result<(), EvictionRefusal> {
        self.check_namespace(&key.namespace)?;
        let pod = self.objects.get(&PODS, key).cloned().ok_or(ObjectError::NotFound)?;
        let budgets = self.objects.list(&DISRUPTION_BUDGETS, Some(&key.namespace)).map(|(_, budget)| budget.as_ref());
        match budget::decide_eviction(&pod, budgets) {
            Verdict::Unbudgeted => {}
            Verdict::Spend { budget } => self.spend(&ObjectKey::namespaced(&key.namespace, &budget), &key.name, at),
            Verdict::Exhausted { budget, needed, healthy } => return Err(EvictionRefusal::Exhausted { budget, needed, healthy }),
            Verdict::NotObserved { budget } => return Err(EvictionRefusal::NotObserved { budget }),
            Verdict::Ambiguous => return Err(EvictionRefusal::Ambiguous),
        }
        self.objects.check(&PODS, key, &options.only_if)?;
        if !pod::is_terminating(&pod) {
            self.change_pod(key, at, |pod| pod::with_disruption_target(pod, EVICTED, at));
        }
        // The mark made a new version, which the check above has already stood for.
        let options = DeleteOptions { grace_seconds: options.grace_seconds, ..DeleteOptions::default() };
        self.delete(&PODS, key, &options, at)?;
        Ok(())
    }

    fn spend(&mut self, budget: &ObjectKey, pod: &str, at: Instant) {
        let spend = |document: &Value| Ok::<_, ObjectError>(budget::with_spent(document, pod, at));
        // The budget was there a moment ago, and nothing else runs in between.
        let _ = self.objects.modify(&DISRUPTION_BUDGETS, budget, Part::Whole, Durability::Kept, spend);
        self.reschedule_budgets();
    }
}
