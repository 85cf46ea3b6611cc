//! Assignments by who has them and where, so that those that can matter to a question are found without looking at the others.

use std::collections::BTreeMap;

use crate::assignment::RoleAssignment;
use crate::guid::{AssignmentId, PrincipalId, RoleId};
use crate::scope::Scope;

/// The assignments of one principal: by the key of their scope, then by id.
type Held = BTreeMap<Box<str>, BTreeMap<AssignmentId, RoleAssignment>>;

#[derive(Debug, Default)]
pub(super) struct Holdings {
    by_principal: BTreeMap<PrincipalId, Held>,
    /// Where each assignment is kept.
    places: BTreeMap<AssignmentId, (PrincipalId, Scope)>,
}

impl Holdings {
    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn contains(&self, id: AssignmentId) -> bool {
        self.places.contains_key(&id)
    }

    pub fn put(&mut self, assignment: RoleAssignment) {
        self.places.insert(assignment.id, (assignment.principal, assignment.scope.clone()));
        let held = self.by_principal.entry(assignment.principal).or_default();
        held.entry(assignment.scope.key().into()).or_default().insert(assignment.id, assignment);
    }

    pub fn remove(&mut self, id: AssignmentId) {
        let Some((principal, scope)) = self.places.remove(&id) else { return };
        let Some(held) = self.by_principal.get_mut(&principal) else { return };
        if let Some(here) = held.get_mut(scope.key()) {
            here.remove(&id);
            if here.is_empty() {
                held.remove(scope.key());
            }
        }
        if held.is_empty() {
            self.by_principal.remove(&principal);
        }
    }

    pub fn find(&self, principal: PrincipalId, scope: &Scope, role: RoleId) -> Option<&RoleAssignment> {
        let here = self.by_principal.get(&principal)?.get(scope.key())?;
        here.values().find(|assignment| assignment.role == role)
    }

    pub fn of(&self, principal: PrincipalId) -> impl Iterator<Item = &RoleAssignment> {
        self.by_principal.get(&principal).into_iter().flat_map(BTreeMap::values).flat_map(BTreeMap::values)
    }

    pub fn all(&self) -> impl Iterator<Item = &RoleAssignment> {
        self.by_principal.values().flat_map(BTreeMap::values).flat_map(BTreeMap::values)
    }

    /// What a principal has at a scope and around it, the innermost last.
    pub fn around(&self, principal: PrincipalId, scope: &Scope) -> Vec<&RoleAssignment> {
        let Some(held) = self.by_principal.get(&principal) else { return Vec::new() };
        scope.levels().filter_map(|level| held.get(level)).flat_map(BTreeMap::values).collect()
    }
}
