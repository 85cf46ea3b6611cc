//! Where a principal has a permission.

use std::collections::BTreeMap;

use crate::scope::Scope;

/// Scopes without those that others contain already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visible {
    scopes: BTreeMap<Box<str>, Scope>,
}

impl Visible {
    pub(super) fn new(scopes: impl Iterator<Item = Scope>) -> Visible {
        let mut all: BTreeMap<Box<str>, Scope> = scopes.map(|scope| (scope.key().into(), scope)).collect();
        let is_inner = |scope: &Scope| scope.levels().rev().skip(1).any(|outer| all.contains_key(outer));
        let inner: Vec<Box<str>> = all.values().filter(|scope| is_inner(scope)).map(|scope| scope.key().into()).collect();
        for key in inner {
            all.remove(&key);
        }
        Visible { scopes: all }
    }

    /// Whether the permission is there at this scope.
    pub fn contains(&self, scope: &Scope) -> bool {
        scope.levels().any(|level| self.scopes.contains_key(level))
    }

    /// Whether it is there at this scope or somewhere below: whether a list of what is in it may show anything at all.
    pub fn reaches(&self, scope: &Scope) -> bool {
        self.contains(scope) || self.scopes.values().any(|seen| scope.contains(seen))
    }

    pub fn scopes(&self) -> impl Iterator<Item = &Scope> {
        self.scopes.values()
    }

    /// Whether everything is seen, so that nothing need be filtered.
    pub fn is_everything(&self) -> bool {
        self.scopes.contains_key("")
    }

    pub fn is_nothing(&self) -> bool {
        self.scopes.is_empty()
    }
}
