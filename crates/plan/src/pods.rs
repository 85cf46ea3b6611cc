//! What a drain means for a pod: whether it has to leave its node, and whether a disruption budget has a say in it.
//!
//! One rule for the drain and for its preview, so that what was shown is what happens.

use model::{BudgetSeen, PodPhase, PodSeen, Readiness};

use crate::tenants::Inside;

/// Whether a node's kubelet is heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    Answers,
    /// Whatever ran there ended with it, or cannot be told to end.
    Silent,
}

/// A pod's part in the drain of its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// It is to be evicted.
    Leaves,
    /// It was told to end before; it is waited for.
    Leaving,
    /// It stays, and ends with its node.
    Stays { why: String },
    /// Nothing of it runs any more: it keeps nobody waiting, and its object goes with its node.
    Finished,
    /// It ended with its node, and whoever watches over it makes it anew.
    Lost,
    /// It ended with its node, but its successor has its name and waits until that is certain.
    Stuck,
}

/// kubectl's filters in kubectl's order, with what it refuses to touch unasked: pods with data on the node and pods that nobody
/// makes anew leave too, as in Cluster API, because their node's virtual machine stops in any case.
pub(crate) fn part_in_drain(pod: &PodSeen, reach: Reach) -> Part {
    let kind = pod.owner.as_ref().map_or("", |owner| owner.kind.as_str());
    if pod.is_mirror || kind == "Node" {
        return Part::Stays { why: "its kubelet runs it from a file".into() };
    }
    if matches!(pod.phase, PodPhase::Succeeded | PodPhase::Failed) {
        return Part::Finished;
    }
    if let Some(owner) = pod.owner.as_ref().filter(|_| kind == "DaemonSet") {
        return Part::Stays { why: format!("DaemonSet `{}` runs it on every node", owner.name) };
    }
    match reach {
        Reach::Silent if kind == "StatefulSet" => Part::Stuck,
        Reach::Silent => Part::Lost,
        Reach::Answers if pod.termination.is_some() => Part::Leaving,
        Reach::Answers => Part::Leaves,
    }
}

/// The budgets that are asked when a pod is evicted. With more than one the API server refuses for good.
pub(crate) fn budgets_asked<'a>(inside: &'a Inside, pod: &PodSeen) -> Vec<&'a BudgetSeen> {
    if pod.phase != PodPhase::Running && pod.phase != PodPhase::Unknown || pod.termination.is_some() {
        return Vec::new();
    }
    let namespace = &pod.pod.namespace;
    let of_namespace = inside.budgets.range((namespace.clone(), String::new())..).take_while(|((of, _), _)| of == namespace);
    let meant: Vec<&BudgetSeen> = of_namespace.map(|(_, budget)| &**budget).filter(|budget| budget.selector.admits(&pod.labels)).collect();
    match meant.as_slice() {
        [only] if is_spared(only, pod) => Vec::new(),
        _ => meant,
    }
}

/// A pod that is not ready costs nothing, if its budget says so or is met without it.
fn is_spared(budget: &BudgetSeen, pod: &PodSeen) -> bool {
    let is_met = budget.needed > 0 && budget.healthy >= budget.needed;
    pod.ready != Readiness::True && (budget.spares_unready || is_met)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use model::{LabelSelector, PodOwner, PodRef, Span, Termination, Timestamp};

    use super::*;

    fn pod(kind: &str) -> PodSeen {
        PodSeen {
            pod: PodRef { namespace: "web".into(), name: "web-1".into(), uid: "u1".into() },
            phase: PodPhase::Running,
            ready: Readiness::True,
            owner: (!kind.is_empty()).then(|| PodOwner { kind: kind.into(), name: "web".into() }),
            is_mirror: false,
            has_local_storage: false,
            termination: None,
            grace: Span::seconds(30),
            node: Some("n1".into()),
            has_finalizers: false,
            requests: model::Amount::default(),
            labels: Arc::new(labels()),
            demands: Arc::default(),
        }
    }

    fn labels() -> BTreeMap<String, String> {
        [("app".to_owned(), "web".to_owned())].into()
    }

    fn ending() -> Option<Termination> {
        Some(Termination { since: Timestamp::EPOCH, until: Timestamp::EPOCH })
    }

    #[test]
    fn each_kind_of_pod_has_its_part() {
        let part = |pod: &PodSeen| (part_in_drain(pod, Reach::Answers), part_in_drain(pod, Reach::Silent));
        assert_eq!(part(&pod("ReplicaSet")), (Part::Leaves, Part::Lost));
        assert_eq!(part(&pod("StatefulSet")), (Part::Leaves, Part::Stuck));
        assert_eq!(part(&pod("")), (Part::Leaves, Part::Lost), "a pod that nobody makes anew leaves too");
        assert_eq!(part(&PodSeen { has_local_storage: true, ..pod("ReplicaSet") }), (Part::Leaves, Part::Lost));
        assert_eq!(part(&PodSeen { termination: ending(), ..pod("ReplicaSet") }), (Part::Leaving, Part::Lost));
        let stays = Part::Stays { why: "DaemonSet `web` runs it on every node".into() };
        assert_eq!(part(&pod("DaemonSet")), (stays.clone(), stays));
        let from_file = Part::Stays { why: "its kubelet runs it from a file".into() };
        assert_eq!(part(&PodSeen { is_mirror: true, ..pod("Node") }), (from_file.clone(), from_file));
        for phase in [PodPhase::Succeeded, PodPhase::Failed] {
            assert_eq!(part(&PodSeen { phase, ..pod("Job") }), (Part::Finished, Part::Finished));
            assert_eq!(part(&PodSeen { phase, ..pod("DaemonSet") }), (Part::Finished, Part::Finished));
        }
    }

    #[test]
    fn a_budget_is_asked_about_what_runs_and_would_be_missed() {
        let budget = |name: &str, healthy, needed, spares_unready| BudgetSeen {
            namespace: "web".into(),
            name: name.into(),
            selector: LabelSelector { equal: labels(), ..LabelSelector::default() },
            allowed: 0,
            healthy,
            needed,
            is_counted: true,
            spares_unready,
        };
        let asked = |budgets: &[BudgetSeen], pod: &PodSeen| {
            let mut inside = Inside::default();
            for budget in budgets {
                inside.budgets.insert((budget.namespace.clone(), budget.name.clone()), Arc::new(budget.clone()));
            }
            budgets_asked(&inside, pod).len()
        };
        let unready = PodSeen { ready: Readiness::False, ..pod("ReplicaSet") };
        let tight = budget("a", 1, 2, false);
        assert_eq!(asked(std::slice::from_ref(&tight), &pod("ReplicaSet")), 1);
        assert_eq!(asked(std::slice::from_ref(&tight), &unready), 1, "the budget is not met without it");
        assert_eq!(asked(&[budget("a", 2, 2, false)], &unready), 0, "the budget is met without it");
        assert_eq!(asked(&[budget("a", 1, 2, true)], &unready), 0, "the budget says so");
        assert_eq!(asked(&[tight.clone(), budget("b", 2, 2, true)], &unready), 2, "two never agree");
        assert_eq!(asked(&[BudgetSeen { namespace: "webb".into(), ..tight.clone() }], &pod("ReplicaSet")), 0);
        for phase in [PodPhase::Pending, PodPhase::Succeeded, PodPhase::Failed] {
            assert_eq!(asked(std::slice::from_ref(&tight), &PodSeen { phase, ..pod("ReplicaSet") }), 0, "{phase:?}");
        }
        assert_eq!(asked(&[tight], &PodSeen { termination: ending(), ..pod("ReplicaSet") }), 0);
    }
}
