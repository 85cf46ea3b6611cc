//! The conditions of a policy: a field of what is about to be there, and what is asked of it.

use serde::{Deserialize, Serialize};

use crate::pattern::Pattern;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    pub field: Field,
    #[serde(flatten)]
    pub test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Field {
    /// `Microsoft.NetworkCloud/virtualMachines`.
    Type,
    /// The permission that is used: `Microsoft.NetworkCloud/virtualMachines/write`.
    Action,
    Location,
    Name,
    /// The value of a tag.
    Tag(Pattern),
}

/// What is not there is like nothing: `notLike` and `notIn` hold of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Test {
    Like(Pattern),
    NotLike(Pattern),
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists(bool),
}

impl Test {
    /// How many texts a list has.
    pub(super) fn choices(&self) -> Option<usize> {
        match self {
            Test::In(texts) | Test::NotIn(texts) => Some(texts.len()),
            Test::Like(_) | Test::NotLike(_) | Test::Exists(_) => None,
        }
    }
}
