//! What Cedar was asked before, and what it said. It is the judge's, who forgets everything when an assignment comes or goes, so no
//! judgement outlives what it was made from.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::guid::PrincipalId;
use crate::permission::Permission;
use crate::scope::Scope;

/// Judgements that are remembered: what some hundred callers ask for in some dozen places, and some megabytes at most.
pub const JUDGEMENTS_MAX: usize = 10_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Question {
    pub principal: PrincipalId,
    pub permission: Permission,
    pub scope: Scope,
}

#[derive(Debug, Default)]
pub(super) struct Memory(Mutex<HashMap<Question, bool>>);

impl Memory {
    /// What was said before, or else what is said now.
    pub fn recall_or(&self, question: Question, judge: impl FnOnce(&Question) -> bool) -> bool {
        if let Some(permitted) = self.judgements().get(&question) {
            return *permitted;
        }
        let permitted = judge(&question);
        let mut judgements = self.judgements();
        if judgements.len() >= JUDGEMENTS_MAX {
            // More than there is room for: each is judged anew once.
            judgements.clear();
        }
        judgements.insert(question, permitted);
        permitted
    }

    pub fn forget_all(&mut self) {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// What a panic left behind in here is whole.
    fn judgements(&self) -> MutexGuard<'_, HashMap<Question, bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.judgements().len()
    }
}
