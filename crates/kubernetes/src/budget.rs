//! Disruption budgets as decisions see them.

use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use model::{BudgetSeen, LabelSelector};

use crate::selector::selector_seen;

/// A budget; nothing if it lacks what names it, which no API server should send.
pub fn budget_seen(budget: &PodDisruptionBudget) -> Option<BudgetSeen> {
    let metadata = &budget.metadata;
    let spec = budget.spec.as_ref();
    let status = budget.status.as_ref();
    let count = |count: Option<i32>| count.and_then(|count| u32::try_from(count).ok()).unwrap_or_default();
    let selector = spec.and_then(|spec| spec.selector.as_ref());
    let counted = status.and_then(|status| status.observed_generation);
    Some(BudgetSeen {
        namespace: metadata.namespace.clone()?,
        name: metadata.name.clone()?,
        // One that we do not understand is taken to mean everything: rather a budget too many than one too few.
        selector: selector.map_or_else(LabelSelector::nothing, |selector| selector_seen(selector).unwrap_or_default()),
        allowed: count(status.and_then(|status| status.disruptions_allowed)),
        healthy: count(status.and_then(|status| status.current_healthy)),
        needed: count(status.and_then(|status| status.desired_healthy)),
        is_counted: status.is_some() && counted.unwrap_or_default() >= metadata.generation.unwrap_or_default(),
        spares_unready: spec.and_then(|spec| spec.unhealthy_pod_eviction_policy.as_deref()) == Some("AlwaysAllow"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_budget_is_read_as_it_was_last_counted() {
        let read = |observed: i64| {
            let budget = json!({
                "metadata": {"namespace": "team", "name": "db", "generation": 2},
                "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "db"}}, "unhealthyPodEvictionPolicy": "AlwaysAllow"},
                "status": {"observedGeneration": observed, "disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3},
            });
            budget_seen(&serde_json::from_value(budget).unwrap()).unwrap()
        };
        let seen = read(2);
        assert_eq!((seen.allowed, seen.healthy, seen.needed, seen.is_counted, seen.spares_unready), (1, 3, 2, true, true));
        assert!(!read(1).is_counted, "a form that was not counted yet allows nothing");
    }

    #[test]
    fn a_budget_without_a_selector_means_no_pod() {
        let budget = json!({"metadata": {"namespace": "team", "name": "db"}, "spec": {"minAvailable": 1}});
        let seen = budget_seen(&serde_json::from_value(budget).unwrap()).unwrap();
        assert_eq!((seen.selector, seen.is_counted), (LabelSelector::nothing(), false));
    }
}
