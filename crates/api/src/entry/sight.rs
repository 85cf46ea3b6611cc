//! What a caller may see. Lists, events and the log leave out the rest.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use access::judge::Visible;
use access::{Missing, Permission, Scope};
use gate::{Caller, Gate};

use super::rules::{cancel_permission, collection_permission, group_permission, log_permission, read_permission};
use super::{permission_of, scope_of};
use crate::route::authorization::Collection;

/// One caller's eyes, for the length of a request: a list looks where a role holds once, and not for each item.
pub(crate) struct Sight {
    gate: Arc<Gate>,
    caller: Caller,
    /// The edition of the directory from which the caller was let in.
    edition: u64,
    known: Mutex<BTreeMap<String, Arc<Visible>>>,
}

impl Sight {
    pub fn new(gate: Arc<Gate>, edition: u64, caller: Caller) -> Sight {
        Sight { gate, caller, edition, known: Mutex::default() }
    }

    /// The same caller's, who may have been given or lost a role meanwhile.
    pub fn afresh(&self) -> Sight {
        Sight::new(self.gate.clone(), self.gate.edition(), self.caller.clone())
    }

    /// Whether nothing has changed of what it was judged from that the caller may come in.
    pub fn is_fresh(&self) -> bool {
        self.edition == self.gate.edition()
    }

    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Whether the caller may read the resource with this id.
    pub fn sees(&self, id: &str) -> bool {
        self.has(&read_permission(id), || scope_of(id))
    }

    /// The caller's eyes for resources of one type, for whoever looks at many: `Microsoft.NetworkCloud/bareMetalMachines`.
    pub fn of_type(&self, full_type: &str) -> Eyes {
        Eyes(self.visible(&permission_of(&format!("{full_type}/read"))))
    }

    /// Whether the caller may read what the log says about the resource: it tells more of it than the resource itself.
    pub fn sees_log_of(&self, id: &str) -> bool {
        self.has(&log_permission(), || scope_of(id)) && self.sees(id)
    }

    /// Whether there is anything in a subscription or a resource group that the caller may see.
    pub fn sees_into(&self, scope: &Scope) -> bool {
        self.visible(&group_permission()).reaches(scope)
    }

    /// Whether the caller may see what is administered at a scope.
    pub fn sees_administered(&self, of: Collection, scope: &Scope) -> bool {
        self.has(&collection_permission(of), || scope.clone())
    }

    pub fn may_cancel(&self, id: &str) -> Result<(), Missing> {
        self.gate.may(&self.caller, &cancel_permission(id), &scope_of(id))
    }

    fn has(&self, permission: &Permission, scope: impl FnOnce() -> Scope) -> bool {
        is_in(&self.visible(permission), scope)
    }

    fn visible(&self, permission: &Permission) -> Arc<Visible> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = known.entry(permission.as_str().to_ascii_lowercase());
        entry.or_insert_with(|| Arc::new(self.gate.visible(&self.caller, permission))).clone()
    }
}

/// Where somebody may read resources of one type.
#[derive(Debug)]
pub(crate) struct Eyes(Arc<Visible>);

impl Eyes {
    /// Whether they may read the resource with this id, which is made only for those who do not see everything.
    pub fn see(&self, id: impl FnOnce() -> String) -> bool {
        is_in(&self.0, || scope_of(&id()))
    }
}

fn is_in(visible: &Visible, scope: impl FnOnce() -> Scope) -> bool {
    visible.is_everything() || (!visible.is_nothing() && visible.contains(&scope()))
}

impl std::fmt::Debug for Sight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sight").field("caller", &self.caller).finish_non_exhaustive()
    }
}
