//! Label selectors, from Kubernetes' form to ours.

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use model::{LabelExpression, LabelOperator, LabelSelector};

/// A selector as decisions use it; nothing if it asks for something that Kubernetes does not know today.
pub(crate) fn selector_seen(selector: &meta::LabelSelector) -> Option<LabelSelector> {
    let equal = selector.match_labels.clone().unwrap_or_default();
    let expressions = selector.match_expressions.iter().flatten().map(|expression| {
        let values = expression.values.clone().unwrap_or_default();
        Some(LabelExpression { key: expression.key.clone(), operator: operator(&expression.operator)?, values })
    });
    Some(LabelSelector { equal, expressions: expressions.collect::<Option<_>>()?, is_absent: false })
}

fn operator(name: &str) -> Option<LabelOperator> {
    match name {
        "In" => Some(LabelOperator::In),
        "NotIn" => Some(LabelOperator::NotIn),
        "Exists" => Some(LabelOperator::Exists),
        "DoesNotExist" => Some(LabelOperator::DoesNotExist),
        _ => None,
    }
}
