//! Disruption budgets: how many pods one still allows to lose, and whether the eviction of a pod may go on.
//!
//! Both are decided here from documents alone. A budget's status is computed in the same instant as what it depends on; a client
//! meets one that is not yet observed only while a fault holds the disruption controller up.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::label_selector;
use crate::objects::ObjectError;
use crate::pod;
use crate::time::{Instant, Span};

/// How long an eviction that was allowed counts as a loss while its pod is still there, in the site's time: the disruption
/// controller's.
pub(crate) const DISRUPTION_TIMEOUT: Span = Span::minutes(2);

/// What the budgets say about the eviction of one pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No budget has a say: none is meant, or the pod is of no use to any.
    Unbudgeted,
    /// Allowed, and it costs the named budget one disruption.
    Spend {
        budget: String,
    },
    Exhausted {
        budget: String,
        needed: i64,
        healthy: i64,
    },
    NotObserved {
        budget: String,
    },
    /// More than one budget means the pod, which the eviction API does not support.
    Ambiguous,
}

pub(crate) fn means(budget: &Value, pod: &Value) -> bool {
    label_selector::admits(&budget["spec"]["selector"], &pod["metadata"]["labels"])
}

/// What the eviction API makes of a pod and the budgets of its namespace.
pub(crate) fn decide_eviction<'a>(pod: &Value, budgets: impl IntoIterator<Item = &'a Value>) -> Verdict {
    if pod::is_finished(pod) || pod::phase(pod) == "Pending" || pod::is_terminating(pod) {
        return Verdict::Unbudgeted;
    }
    let mut meant = budgets.into_iter().filter(|budget| means(budget, pod));
    let Some(budget) = meant.next() else { return Verdict::Unbudgeted };
    if meant.next().is_some() {
        return Verdict::Ambiguous;
    }
    let name = budget["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let status = |field: &str| budget["status"][field].as_i64().unwrap_or(0);
    let (healthy, needed) = (status("currentHealthy"), status("desiredHealthy"));
    if !pod::is_ready(pod) {
        // An unready pod is no loss to an application that has what it needs, or that would rather lose it.
        let is_always_allowed = budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow";
        if is_always_allowed || (healthy >= needed && needed > 0) {
            return Verdict::Unbudgeted;
        }
    }
    if status("observedGeneration") < budget["metadata"]["generation"].as_i64().unwrap_or(0) {
        Verdict::NotObserved { budget: name }
    } else if status("disruptionsAllowed") > 0 {
        Verdict::Spend { budget: name }
    } else {
        Verdict::Exhausted { budget: name, needed, healthy }
    }
}

/// Refuses a budget that cannot be counted.
pub(crate) fn prepare_new(budget: &mut Value) -> Result<(), ObjectError> {
    let spec = &budget["spec"];
    let given = ["minAvailable", "maxUnavailable"].into_iter().filter(|field| !spec[*field].is_null());
    let given: Vec<&str> = given.collect();
    match given[..] {
        [field] => drop(Amount::read(field, &spec[field])?),
        [] => {}
        _ => return Err(ObjectError::Invalid("spec: Invalid value: minAvailable and maxUnavailable cannot be both set".to_owned())),
    }
    budget["status"] = json!({"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0});
    Ok(())
}

/// A number of pods, or a share of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Amount {
    Pods(i64),
    Percent(i64),
}

impl Amount {
    fn read(field: &str, value: &Value) -> Result<Amount, ObjectError> {
        let percent = value.as_str().and_then(|text| text.strip_suffix('%')).and_then(|text| text.parse().ok());
        match (value.as_i64(), percent) {
            (Some(pods @ 0..), _) => Ok(Amount::Pods(pods)),
            (_, Some(percent @ 0..=100)) => Ok(Amount::Percent(percent)),
            _ => Err(ObjectError::Invalid(format!("spec.{field}: Invalid value: {value}: must be a number of pods or a percentage"))),
        }
    }

    /// Shares are rounded up, as the disruption controller rounds both of them.
    fn of(self, all: i64) -> i64 {
        match self {
            Amount::Pods(pods) => pods,
            Amount::Percent(percent) => (all * percent + 99) / 100,
        }
    }
}

/// The budget with the status that these pods give it.
///
/// `scale_of` tells a pod's workload and how many pods that asks for. How many an application should have is then the sum
/// of these, and bare pods are as many as there are; for a budget that names a number it is how many pods there are.
pub(crate) fn with_status<'a>(
    budget: &Value,
    pods: impl IntoIterator<Item = &'a Value>,
    scale_of: impl Fn(&Value) -> Option<(String, i64)>,
    timeout: Span,
    at: Instant,
) -> Value {
    let spec = &budget["spec"];
    let disrupted = budget["status"]["disruptedPods"].as_object();
    let is_disrupted = |pod: &Value| {
        let since = disrupted.and_then(|disrupted| disrupted.get(pod["metadata"]["name"].as_str()?)?.as_str());
        since.and_then(Instant::parse).filter(|since| *since + timeout > at).map(|since| json!(since.to_seconds_text()))
    };
    let is_by_number = spec["minAvailable"].is_i64();
    let mut scales: BTreeMap<String, i64> = BTreeMap::new();
    let (mut bare, mut healthy, mut still_disrupted) = (0, 0, Map::new());
    for pod in pods.into_iter().filter(|pod| means(budget, pod)) {
        match scale_of(pod).filter(|_| !is_by_number) {
            Some((workload, wanted)) => drop(scales.insert(workload, wanted)),
            None => bare += 1,
        }
        if pod::is_terminating(pod) {
            continue;
        }
        match is_disrupted(pod) {
            Some(since) => drop(still_disrupted.insert(pod["metadata"]["name"].as_str().unwrap_or_default().to_owned(), since)),
            None => healthy += i64::from(pod::is_ready(pod)),
        }
    }
    let expected = bare + scales.values().sum::<i64>();
    let amount = |field: &str| Amount::read(field, &spec[field]).ok().map(|amount| amount.of(expected));
    let desired = match (amount("minAvailable"), amount("maxUnavailable")) {
        (Some(least), _) => least,
        (None, Some(most)) => (expected - most).max(0),
        (None, None) => 0,
    };
    let allowed = if expected > 0 { (healthy - desired).max(0) } else { 0 };
    let mut new = budget.clone();
    new["status"] = json!({
        "conditions": [condition(budget, allowed, at)],
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": allowed,
        "expectedPods": expected,
        "observedGeneration": budget["metadata"]["generation"],
    });
    if !still_disrupted.is_empty() {
        new["status"]["disruptedPods"] = Value::Object(still_disrupted);
    }
    new
}

fn condition(budget: &Value, allowed: i64, at: Instant) -> Value {
    let (status, reason) = if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    let before = &budget["status"]["conditions"][0];
    let since = if before["status"] == status { before["lastTransitionTime"].clone() } else { json!(at.to_seconds_text()) };
    json!({
        "type": "DisruptionAllowed",
        "status": status,
        "reason": reason,
        "message": "",
        "lastTransitionTime": since,
        "observedGeneration": budget["metadata"]["generation"],
    })
}

/// The budget after one of its disruptions was spent on a pod.
pub(crate) fn with_spent(budget: &Value, pod: &str, at: Instant) -> Value {
    let mut new = budget.clone();
    let status = &mut new["status"];
    if status["disruptedPods"].is_null() {
        status["disruptedPods"] = json!({});
    }
    status["disruptedPods"][pod] = json!(at.to_seconds_text());
    status["disruptionsAllowed"] = json!(status["disruptionsAllowed"].as_i64().unwrap_or(0) - 1);
    new
}

/// When the first of the budget's spent disruptions is given back.
pub(crate) fn next_return_at(budget: &Value, timeout: Span) -> Option<Instant> {
    let disrupted = budget["status"]["disruptedPods"].as_object()?;
    disrupted.values().filter_map(|since| since.as_str().and_then(Instant::parse)).map(|since| since + timeout).min()
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
