//! A secret's name. The secret itself is in the vault, and nowhere else.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Points to a secret in the vault, e.g. `bmc/site1/rack1compute01`. Safe to store, log and show.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretRef(String);

impl SecretRef {
    pub fn new(name: impl Into<String>) -> Self {
        SecretRef(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
