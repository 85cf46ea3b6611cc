//! Label selectors, as Kubernetes understands them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Means the objects whose labels meet every requirement. Without any it means all; see [`LabelSelector::nothing`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelSelector {
    pub equal: BTreeMap<String, String>,
    pub expressions: Vec<LabelExpression>,
    /// It was absent, and means nothing.
    #[serde(default)]
    pub is_absent: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelExpression {
    pub key: String,
    pub operator: LabelOperator,
    pub values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LabelOperator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl LabelSelector {
    pub fn nothing() -> LabelSelector {
        LabelSelector { is_absent: true, ..LabelSelector::default() }
    }

    pub fn admits(&self, labels: &BTreeMap<String, String>) -> bool {
        !self.is_absent
            && self.equal.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.expressions.iter().all(|expression| expression.admits(labels))
    }
}

impl LabelExpression {
    fn admits(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        match self.operator {
            LabelOperator::In => value.is_some_and(|value| self.values.contains(value)),
            LabelOperator::NotIn => value.is_none_or(|value| !self.values.contains(value)),
            LabelOperator::Exists => value.is_some(),
            LabelOperator::DoesNotExist => value.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_means_what_meets_all_of_it() {
        let labels: BTreeMap<String, String> = [("app", "web"), ("tier", "front")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        let expression = |key: &str, operator, values: &[&str]| LabelExpression {
            key: key.to_owned(),
            operator,
            values: values.iter().map(ToString::to_string).collect(),
        };
        let with = |expression| LabelSelector { expressions: vec![expression], ..LabelSelector::default() }.admits(&labels);
        assert!(LabelSelector::default().admits(&labels));
        assert!(!LabelSelector::nothing().admits(&labels));
        assert!(with(expression("app", LabelOperator::In, &["db", "web"])));
        assert!(!with(expression("app", LabelOperator::NotIn, &["web"])));
        assert!(with(expression("zone", LabelOperator::NotIn, &["a"])));
        assert!(with(expression("tier", LabelOperator::Exists, &[])));
        assert!(with(expression("zone", LabelOperator::DoesNotExist, &[])));
        let equal = LabelSelector { equal: [("app".to_owned(), "db".to_owned())].into(), ..LabelSelector::default() };
        assert!(!equal.admits(&labels));
    }
}
