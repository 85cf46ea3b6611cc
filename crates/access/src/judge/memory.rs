//! What Cedar was asked before, and what it said. It is the judge's, who forgets everything when an assignment comes or goes, so no
//! judgement outlives what it was made from.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::guid::PrincipalId;
use crate::permission::Permission;
use crate::scope::Scope;

/// Judgements that are remembered: what some hundred callers ask for in some dozen places, and some megabytes at most.
pub const JUDGEMENTS_MAX: usize = 10_000;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Question {
    pub principal: PrincipalId,
    pub permission: Permission,
    pub scope: Scope,
}

#[derive(Debug, Default)]
pub(super) struct Memory(Mutex<BTreeMap<Question, bool>>);

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
    fn judgements(&self) -> MutexGuard<'_, BTreeMap<Question, bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.judgements().len()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use uuid::Uuid;

    use super::*;

    fn question(kind: usize) -> Question {
        let permission = Permission::new(&format!("Microsoft.NetworkCloud/kind{kind}/read")).unwrap();
        Question { principal: PrincipalId::new(Uuid::from_u128(1)), permission, scope: Scope::root() }
    }

    #[test]
    fn a_question_is_judged_once_until_all_is_forgotten() {
        let (mut memory, judged) = (Memory::default(), Cell::new(0));
        let ask = |memory: &Memory, kind, says| {
            memory.recall_or(question(kind), |_| {
                judged.set(judged.get() + 1);
                says
            })
        };
        assert!(ask(&memory, 1, true) && ask(&memory, 1, false), "what was said first counts");
        assert!(!ask(&memory, 2, false) && !ask(&memory, 2, true), "and so does a no");
        assert_eq!(judged.get(), 2);
        memory.forget_all();
        assert!(!ask(&memory, 1, false));
        assert_eq!(judged.get(), 3);
    }

    #[test]
    fn what_is_remembered_has_a_bound() {
        let memory = Memory::default();
        for kind in 0..=JUDGEMENTS_MAX {
            memory.recall_or(question(kind), |_| true);
        }
        assert_eq!(memory.len(), 1, "all was forgotten when there was no room for one more");
        assert!(!memory.recall_or(question(0), |_| false));
    }
}
