//! The judge: may a principal do this here?
//!
//! Cedar decides, with the law in `cedar/access.cedar`. It is handed only what can matter: the assignments of this principal at this scope
//! and around it, so that a decision costs the same with ten assignments as with ten thousand.
//!
//! It is asked at the innermost scope at which the principal has a role. Below it the same assignments count, and the law asks for nothing
//! else, so what is said there holds for every machine of a group. What it said is remembered until an assignment comes or goes; what may be
//! seen of a list is found anew each time.

mod court;
mod holdings;
mod memory;
mod visible;

use std::collections::BTreeSet;

use crate::assignment::{ASSIGNMENTS_MAX, ASSIGNMENTS_OF_ONE_MAX, InvalidAssignment, RoleAssignment};
pub use crate::cedar::BrokenRules;
use crate::guid::{AssignmentId, PrincipalId, RoleId};
use crate::permission::Permission;
use crate::scope::Scope;
use court::Court;
use holdings::Holdings;
pub use memory::JUDGEMENTS_MAX;
use memory::{Memory, Question};
pub use visible::Visible;

/// A permission that was asked for and is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{principal} may not perform `{permission}` at `{scope}`; a role that grants it must be assigned there or around it")]
pub struct Missing {
    pub principal: PrincipalId,
    pub permission: Permission,
    pub scope: Scope,
}

/// All assignments, found by who has them and where.
#[derive(Debug)]
pub struct Judge {
    court: Court,
    holdings: Holdings,
    memory: Memory,
}

impl Judge {
    /// Assignments that cannot stand are left out, and so grant nothing: a document that nobody understands must not keep all others
    /// from being judged.
    pub fn new(assignments: impl IntoIterator<Item = RoleAssignment>) -> Result<Judge, BrokenRules> {
        let mut judge = Judge { court: Court::new()?, holdings: Holdings::default(), memory: Memory::default() };
        for assignment in assignments {
            judge.put(assignment);
        }
        Ok(judge)
    }

    /// Whether an assignment may be made beside those that there are.
    pub fn check(&self, assignment: &RoleAssignment) -> Result<(), InvalidAssignment> {
        assignment.check()?;
        let RoleAssignment { id, principal, role, scope, .. } = assignment;
        match self.holdings.find(*principal, scope, *role) {
            Some(same) if same.id == *id => return Ok(()),
            Some(same) => return Err(InvalidAssignment::Exists { principal: *principal, existing: same.id }),
            None if self.holdings.contains(*id) => return Err(InvalidAssignment::Immutable(*id)),
            None => {}
        }
        if self.holdings.len() >= ASSIGNMENTS_MAX {
            return Err(InvalidAssignment::TooMany);
        }
        if self.holdings.of(*principal).count() >= ASSIGNMENTS_OF_ONE_MAX {
            return Err(InvalidAssignment::TooManyOfOne(*principal));
        }
        Ok(())
    }

    /// Takes in an assignment that the store has. One with the same id is replaced.
    pub fn put(&mut self, assignment: RoleAssignment) {
        self.memory.forget_all();
        self.holdings.remove(assignment.id);
        if assignment.check().is_ok() {
            self.holdings.put(assignment);
        }
    }

    /// Forgets an assignment that the store has no more.
    pub fn remove(&mut self, id: AssignmentId) {
        self.memory.forget_all();
        self.holdings.remove(id);
    }

    /// The assignments that hold at a scope or below it.
    pub fn list(&self, scope: &Scope) -> impl Iterator<Item = &RoleAssignment> {
        self.holdings.all().filter(|assignment| scope.contains(&assignment.scope))
    }

    pub fn may(&self, principal: PrincipalId, permission: &Permission, scope: &Scope) -> Result<(), Missing> {
        let candidates = self.holdings.around(principal, scope);
        let is_permitted = candidates.last().is_some_and(|innermost| {
            let question = Question { principal, permission: permission.clone(), scope: innermost.scope.clone() };
            self.memory.recall_or(question, |asked| self.court.permits(principal, permission, &asked.scope, &candidates))
        });
        if is_permitted { Ok(()) } else { Err(Missing { principal, permission: permission.clone(), scope: scope.clone() }) }
    }

    /// Where a principal has a permission, so that a list shows what it may see. A role grants the same everywhere, so Cedar is asked
    /// once for each role and not for each assignment.
    pub fn visible(&self, principal: PrincipalId, permission: &Permission) -> Visible {
        let mut granting: BTreeSet<RoleId> = BTreeSet::new();
        let mut asked: BTreeSet<RoleId> = BTreeSet::new();
        for assignment in self.holdings.of(principal) {
            if asked.insert(assignment.role) && self.court.permits(principal, permission, &assignment.scope, &[assignment]) {
                granting.insert(assignment.role);
            }
        }
        let of_granting = self.holdings.of(principal).filter(|assignment| granting.contains(&assignment.role));
        Visible::new(of_granting.map(|assignment| assignment.scope.clone()))
    }
}

#[cfg(test)]
mod tests;
