//! Locks: what keeps even an owner from deleting or changing something by mistake.
//!
//! A lock holds at its scope and below. Locks themselves are not protected by any, or none could ever be removed.

use model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::permission::Kind;
use crate::scope::Scope;

/// Locks in all: each request that changes something is held against them.
pub const LOCKS_MAX: usize = 1_000;

/// Characters of a lock's notes, as in Azure.
pub const NOTES_MAX: usize = 512;

/// Characters of a lock's name.
pub const LOCK_NAME_MAX: usize = 90;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    /// It may be read and changed, and not deleted.
    CanNotDelete,
    /// It may be read. Actions change something, so they are kept off as well.
    ReadOnly,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lock {
    pub name: String,
    /// What is locked.
    pub scope: Scope,
    pub level: Level,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
    pub created_by: String,
    pub created_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLock {
    #[error("`{0}` cannot be a lock's name: 1 to 90 letters, digits, points, hyphens, underscores and parentheses are meant")]
    Name(String),
    #[error("a lock's notes have at most {NOTES_MAX} characters, all of which can be seen")]
    Notes,
    #[error("a lock cannot be locked")]
    OfLock,
}

impl Lock {
    pub fn check(&self) -> Result<(), InvalidLock> {
        // A slash would make it a place below another lock.
        let is_name = self.name.len() <= LOCK_NAME_MAX && !self.name.contains('/') && self.id().is_ok();
        if !is_name {
            return Err(InvalidLock::Name(model::cleaned(&self.name, LOCK_NAME_MAX)));
        }
        if self.notes.chars().count() > NOTES_MAX || self.notes.chars().any(model::is_unprintable) {
            return Err(InvalidLock::Notes);
        }
        if self.scope.is_lock() { Err(InvalidLock::OfLock) } else { Ok(()) }
    }

    /// The lock's own place.
    pub fn id(&self) -> Result<Scope, crate::scope::InvalidScope> {
        self.scope.resource("Microsoft.Authorization", "locks", &self.name)
    }

    fn stands_in_the_way_of(&self, kind: Kind, scope: &Scope) -> bool {
        match (kind, self.level) {
            (Kind::Read, _) | (Kind::Write | Kind::Action, Level::CanNotDelete) => false,
            (Kind::Write | Kind::Action, Level::ReadOnly) => self.scope.contains(scope),
            // What is deleted takes with it what is in it.
            (Kind::Delete, _) => self.scope.contains(scope) || scope.contains(&self.scope),
        }
    }
}

/// The lock that keeps this from being done here. If several do it is the outermost, so that the answer is always the same and whoever
/// removes it does not meet a wider one next.
pub fn standing<'a>(locks: impl IntoIterator<Item = &'a Lock>, kind: Kind, scope: &Scope) -> Option<&'a Lock> {
    if scope.is_lock() {
        return None;
    }
    let in_the_way = locks.into_iter().filter(|lock| lock.stands_in_the_way_of(kind, scope));
    in_the_way.min_by(|a, b| (&a.scope, &a.name).cmp(&(&b.scope, &b.name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: &str = "/subscriptions/s/resourceGroups/g";
    const VM: &str = "/subscriptions/s/resourceGroups/g/providers/Microsoft.NetworkCloud/virtualMachines/web1";

    fn lock(name: &str, level: Level, scope: &str) -> Lock {
        let scope = Scope::parse(scope).unwrap();
        Lock { name: name.into(), scope, level, notes: String::new(), created_by: "ops".into(), created_at: Timestamp::EPOCH }
    }

    fn found(locks: &[Lock], kind: Kind, scope: &str) -> String {
        standing(locks, kind, &Scope::parse(scope).unwrap()).map_or_else(|| "-".into(), |lock| lock.name.clone())
    }

    #[test]
    fn a_lock_stands_in_the_way_at_its_scope_and_below_and_of_deleting_what_it_is_in() {
        let (group, vm) = (GROUP.to_uppercase(), VM);
        let sibling = VM.replace("web1", "web2");
        let own = format!("{VM}/providers/Microsoft.Authorization/locks/keep");
        let below = format!("{VM}/consoles/c");
        let table = [
            // read, write, action and delete, under a lock of each level on the virtual machine.
            ("/", "---d", "---d"),
            (&group, "---d", "---d"),
            (vm, "---d", "-wad"),
            (&below, "---d", "-wad"),
            (&sibling, "----", "----"),
            (&own, "----", "----"),
        ];
        for (scope, of_can_not_delete, of_read_only) in table {
            for (level, expected) in [(Level::CanNotDelete, of_can_not_delete), (Level::ReadOnly, of_read_only)] {
                let locks = [lock("keep", level, VM)];
                let kinds = [('r', Kind::Read), ('w', Kind::Write), ('a', Kind::Action), ('d', Kind::Delete)];
                let letters = kinds.map(|(letter, kind)| if found(&locks, kind, scope) == "keep" { letter } else { '-' });
                assert_eq!(letters.iter().collect::<String>(), expected, "{level:?} {scope}");
            }
        }
    }

    #[test]
    fn the_outermost_lock_is_told() {
        let locks = [lock("inner", Level::ReadOnly, VM), lock("b", Level::CanNotDelete, GROUP), lock("a", Level::CanNotDelete, GROUP)];
        assert_eq!(found(&locks, Kind::Delete, VM), "a");
        assert_eq!(found(&locks, Kind::Write, VM), "inner");
        assert_eq!(found(&locks, Kind::Write, GROUP), "-");
    }

    #[test]
    fn a_lock_has_a_name_and_short_notes_and_locks_no_lock() {
        let good = lock("keep", Level::ReadOnly, GROUP);
        assert_eq!(good.check(), Ok(()));
        assert_eq!(good.id().unwrap().to_string(), format!("{GROUP}/providers/Microsoft.Authorization/locks/keep"));
        for name in ["", "a/b", "a/b/c", "..", "a b", &"a".repeat(LOCK_NAME_MAX + 1)] {
            assert!(matches!(lock(name, Level::ReadOnly, GROUP).check(), Err(InvalidLock::Name(_))), "{name}");
        }
        assert_eq!(Lock { notes: "a".repeat(NOTES_MAX + 1), ..good.clone() }.check(), Err(InvalidLock::Notes));
        assert_eq!(Lock { scope: good.id().unwrap(), ..good }.check(), Err(InvalidLock::OfLock));
        assert_eq!(serde_json::to_value(Level::CanNotDelete).unwrap(), "CanNotDelete");
    }
}
