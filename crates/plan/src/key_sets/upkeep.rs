//! Keeping what is known of key sets true: they are checked anew from time to time, and a machine that was installed tells which of
//! them it has.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{KeySet, KeySetKind, KeySetName, MachineName, Timestamp};

use crate::draft::Draft;

/// Checks those that have changed, have expired, or were not checked for long.
pub(crate) fn plan_upkeep(draft: &mut Draft, now: Timestamp) {
    let every = draft.after.cluster.limits.key_sets_every;
    let sets: Vec<Arc<KeySet>> = draft.after.key_sets.values().cloned().collect();
    for set in sets {
        let mut set = (*set).clone();
        let is_due = set.validated_at.is_none_or(|at| {
            let has_expired = at < set.expires_at && set.expires_at <= now;
            at < set.changed_at() || has_expired || now >= at + every
        });
        if is_due {
            set.validated_at = Some(now);
            let machines = &draft.after.machines;
            set.applied.retain(|machine, _| machines.contains_key(machine));
        }
        let checked_at = set.validated_at.unwrap_or(now);
        draft.wake_at(checked_at + every);
        if set.expires_at > now {
            draft.wake_at(set.expires_at);
        }
        draft.save_key_set(set);
    }
}

/// A machine was installed, and these key sets for machines came with it; what it had before is gone.
pub(crate) fn note_installed(draft: &mut Draft, machine: &MachineName, key_sets: &BTreeMap<KeySetName, u64>) {
    let sets: Vec<Arc<KeySet>> = draft.after.key_sets.values().filter(|set| set.kind == KeySetKind::Machine).cloned().collect();
    for set in sets {
        let mut set = (*set).clone();
        match key_sets.get(&set.name) {
            Some(edition) => set.applied.insert(machine.clone(), *edition),
            None => set.applied.remove(machine),
        };
        draft.save_key_set(set);
    }
}
