//! What a pod says about nodes, and nodes about pods: cordons, taints, selectors and node affinity.

use serde_json::Value;

use crate::node;

/// The scheduler's words if the node is ruled out by what it is.
pub(super) fn objection(pod: &Value, node: &Value) -> Option<String> {
    let unschedulable = serde_json::json!({"key": node::UNSCHEDULABLE, "effect": "NoSchedule"});
    let taints = node["spec"]["taints"].as_array().map_or(&[][..], Vec::as_slice);
    let is_closed = node::is_unschedulable(node) || taints.iter().any(|taint| taint["key"] == node::UNSCHEDULABLE);
    if is_closed && !tolerates(pod, &unschedulable) {
        return Some("node(s) were unschedulable".to_owned());
    }
    let mut hard = taints.iter().filter(|taint| taint["effect"] == "NoSchedule" || taint["effect"] == "NoExecute");
    if let Some(taint) = hard.find(|taint| !tolerates(pod, taint)) {
        let text = |field: &str| taint[field].as_str().unwrap_or_default();
        return Some(format!("node(s) had untolerated taint {{{}: {}}}", text("key"), text("value")));
    }
    (!is_selected(pod, node)).then(|| "node(s) didn't match Pod's node affinity/selector".to_owned())
}

/// Whether the pod's selector and its required node affinity admit the node.
pub(super) fn is_selected(pod: &Value, node: &Value) -> bool {
    let labels = &node["metadata"]["labels"];
    let selected = pod["spec"]["nodeSelector"].as_object().into_iter().flatten().all(|(key, value)| labels[key] == *value);
    let required = &pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
    let affine = required.as_array().is_none_or(|terms| terms.iter().any(|term| term_admits(term, node)));
    selected && affine
}

/// How much the pod would like the node for what it is.
pub(super) fn liking(pod: &Value, node: &Value) -> i64 {
    let preferred = pod["spec"]["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"].as_array();
    let likes: i64 = preferred
        .into_iter()
        .flatten()
        .filter(|wish| term_admits(&wish["preference"], node))
        .map(|wish| wish["weight"].as_i64().unwrap_or(1))
        .sum();
    let taints = node["spec"]["taints"].as_array().into_iter().flatten();
    let dislikes = taints.filter(|taint| taint["effect"] == "PreferNoSchedule" && !tolerates(pod, taint)).count();
    likes - i64::try_from(dislikes).unwrap_or(i64::MAX)
}

/// Whether the pod puts up with a taint.
fn tolerates(pod: &Value, taint: &Value) -> bool {
    super::tolerations(pod).iter().any(|toleration| super::tolerates(toleration, taint))
}

/// A term with no rule at all admits no node.
fn term_admits(term: &Value, node: &Value) -> bool {
    let list = |field: &str| term[field].as_array().map_or(&[][..], Vec::as_slice);
    let (by_label, by_field) = (list("matchExpressions"), list("matchFields"));
    let labels = &node["metadata"]["labels"];
    (!by_label.is_empty() || !by_field.is_empty())
        && by_label.iter().all(|rule| rule_admits(rule, rule["key"].as_str().and_then(|key| labels.get(key))))
        // The name is the only field that nodes are selected by.
        && by_field.iter().all(|rule| rule["key"] == "metadata.name" && rule_admits(rule, node["metadata"].get("name")))
}

fn rule_admits(rule: &Value, label: Option<&Value>) -> bool {
    let is_listed = |label: &Value| rule["values"].as_array().is_some_and(|values| values.contains(label));
    let number = |value: &Value| value.as_str().and_then(|text| text.parse::<i64>().ok());
    let compared = |is: fn(i64, i64) -> bool| {
        let numbers = label.and_then(number).zip(number(&rule["values"][0]));
        numbers.is_some_and(|(own, other)| is(own, other))
    };
    match rule["operator"].as_str() {
        Some("In") => label.is_some_and(is_listed),
        Some("NotIn") => !label.is_some_and(is_listed),
        Some("Exists") => label.is_some(),
        Some("DoesNotExist") => label.is_none(),
        Some("Gt") => compared(|a, b| a > b),
        Some("Lt") => compared(|a, b| a < b),
        _ => false,
    }
}
