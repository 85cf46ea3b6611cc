//! `LabelSelector` documents: which objects a budget means by its labels.

use serde_json::Value;

/// Whether the labels are meant. No selector means nothing, an empty one means everything, as in `policy/v1`.
pub(crate) fn admits(selector: &Value, labels: &Value) -> bool {
    if selector.is_null() {
        return false;
    }
    let equal = selector["matchLabels"].as_object().into_iter().flatten();
    let rules = selector["matchExpressions"].as_array().into_iter().flatten();
    equal.into_iter().all(|(key, value)| labels[key] == *value) && rules.into_iter().all(|rule| rule_admits(rule, labels))
}

fn rule_admits(rule: &Value, labels: &Value) -> bool {
    let label = rule["key"].as_str().and_then(|key| labels.get(key));
    let is_listed = |label: &Value| rule["values"].as_array().is_some_and(|values| values.contains(label));
    match rule["operator"].as_str() {
        Some("In") => label.is_some_and(is_listed),
        Some("NotIn") => !label.is_some_and(is_listed),
        Some("Exists") => label.is_some(),
        Some("DoesNotExist") => label.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_mean_what_kubernetes_means() {
        let labels = json!({"app": "db", "tier": "gold"});
        let rule = |key: &str, operator: &str, values: &[&str]| json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
        for (selector, expected) in [
            (Value::Null, false),
            (json!({}), true),
            (json!({"matchLabels": {"app": "db"}}), true),
            (json!({"matchLabels": {"app": "web"}}), false),
            (rule("tier", "In", &["gold", "silver"]), true),
            (rule("tier", "NotIn", &["gold"]), false),
            (rule("rack", "NotIn", &["r1"]), true),
            (rule("tier", "Exists", &[]), true),
            (rule("tier", "DoesNotExist", &[]), false),
            (rule("tier", "Sideways", &[]), false),
        ] {
            assert_eq!(admits(&selector, &labels), expected, "{selector}");
        }
    }
}
