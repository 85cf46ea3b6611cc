//! Counting, and the table of what an eviction is told.

use super::*;

fn pod(name: &str, ready: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": {"app": "db"}},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]},
    })
}

fn budget(spec: &Value) -> Value {
    let mut budget = json!({"metadata": {"name": "db", "generation": 1}, "spec": spec});
    budget["spec"]["selector"] = json!({"matchLabels": {"app": "db"}});
    budget
}

#[test]
fn a_budget_counts_what_it_may_lose() {
    let pods = [pod("a", "True"), pod("b", "True"), pod("c", "True"), pod("d", "False")];
    for (spec, desired, allowed) in [
        (json!({"minAvailable": 2}), 2, 1),
        (json!({"minAvailable": 3}), 3, 0),
        (json!({"minAvailable": "50%"}), 2, 1),
        (json!({"minAvailable": "51%"}), 3, 0),
        (json!({"maxUnavailable": 1}), 3, 0),
        (json!({"maxUnavailable": 2}), 2, 1),
        (json!({"maxUnavailable": "30%"}), 2, 1),
        (json!({"maxUnavailable": 9}), 0, 3),
    ] {
        let status = &with_status(&budget(&spec), &pods, |_| None, DISRUPTION_TIMEOUT, Instant(0))["status"];
        assert_eq!((&status["expectedPods"], &status["currentHealthy"]), (&json!(4), &json!(3)), "{spec}");
        assert_eq!((&status["desiredHealthy"], &status["disruptionsAllowed"]), (&json!(desired), &json!(allowed)), "{spec}");
        assert_eq!(status["observedGeneration"], 1);
    }
}

#[test]
fn a_spent_disruption_counts_as_a_loss_for_two_minutes() {
    let pods = [pod("a", "True"), pod("b", "True"), pod("c", "True")];
    let counted = with_status(&budget(&json!({"minAvailable": 1})), &pods, |_| None, DISRUPTION_TIMEOUT, Instant(0));
    let spent = with_spent(&counted, "a", Instant(0));
    assert_eq!(spent["status"]["disruptionsAllowed"], 1);
    let allowed = |seconds: i64| {
        with_status(&spent, &pods, |_| None, DISRUPTION_TIMEOUT, Instant(seconds * 1_000))["status"]["disruptionsAllowed"].clone()
    };
    assert_eq!((allowed(1), allowed(119), allowed(120)), (json!(1), json!(1), json!(2)));
    assert_eq!(next_return_at(&spent, DISRUPTION_TIMEOUT), Some(Instant(120_000)));
}

#[test]
fn an_eviction_is_judged_by_pod_and_budgets() {
    let spend = Verdict::Spend { budget: "db".to_owned() };
    let exhausted = Verdict::Exhausted { budget: "db".to_owned(), needed: 2, healthy: 2 };
    let status = |allowed: i64, healthy: i64| {
        let mut budget = budget(&json!({"minAvailable": 2}));
        budget["status"] = json!({"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": healthy, "desiredHealthy": 2});
        budget
    };
    let (open, closed, short) = (status(1, 3), status(0, 2), status(0, 1));
    let mut unseen = open.clone();
    unseen["metadata"]["generation"] = json!(2);
    let mut careless = short.clone();
    careless["spec"]["unhealthyPodEvictionPolicy"] = json!("AlwaysAllow");
    let ready = pod("a", "True");
    let unready = pod("a", "False");
    let mut pending = ready.clone();
    pending["status"]["phase"] = json!("Pending");
    let mut leaving = ready.clone();
    leaving["metadata"]["deletionTimestamp"] = json!("2026-11-15T09:00:00Z");
    let mut stranger = ready.clone();
    stranger["metadata"]["labels"]["app"] = json!("web");
    let cases: [(&str, &Value, &[&Value], Verdict); 12] = [
        ("no budget", &ready, &[], Verdict::Unbudgeted),
        ("a budget of others", &stranger, &[&closed], Verdict::Unbudgeted),
        ("room", &ready, &[&open], spend),
        ("no room", &ready, &[&closed], exhausted),
        ("two budgets", &ready, &[&open, &open], Verdict::Ambiguous),
        ("changed and not counted again", &ready, &[&unseen], Verdict::NotObserved { budget: "db".to_owned() }),
        ("not started", &pending, &[&closed], Verdict::Unbudgeted),
        ("not started, two budgets", &pending, &[&open, &open], Verdict::Unbudgeted),
        ("already leaving", &leaving, &[&closed], Verdict::Unbudgeted),
        ("unready while the rest suffices", &unready, &[&closed], Verdict::Unbudgeted),
        ("unready while the rest is short", &unready, &[&short], Verdict::Exhausted { budget: "db".to_owned(), needed: 2, healthy: 1 }),
        ("unready and always allowed", &unready, &[&careless], Verdict::Unbudgeted),
    ];
    for (case, pod, budgets, expected) in cases {
        assert_eq!(decide_eviction(pod, budgets.iter().copied()), expected, "{case}");
    }
}

#[test]
fn a_budget_that_cannot_be_counted_is_refused() {
    for spec in [json!({"minAvailable": 1, "maxUnavailable": 1}), json!({"minAvailable": "half"}), json!({"maxUnavailable": -1})] {
        assert!(matches!(prepare_new(&mut budget(&spec)), Err(ObjectError::Invalid(_))), "{spec}");
    }
    assert!(prepare_new(&mut budget(&json!({"maxUnavailable": "20%"}))).is_ok());
}
