//! What the store has about access, in memory. Decisions are made from here.

use std::collections::BTreeMap;
use std::time::Duration;

use access::principal::{CredentialId, ServicePrincipal};
use access::token::Rejection;
use access::{AssignmentId, ClientId, Judge, PrincipalId, RoleAssignment};
use serde::de::DeserializeOwned;
use store::{Change, Revision, SharedStore, StoreError};
use tracing::{error, warn};

use crate::restraints::Restraints;
use crate::{Gate, GateError, Issuer, documents};

/// The pause before everything is read again, so that a broken store is not hammered.
const REREAD_AFTER: Duration = Duration::from_millis(200);

/// All of it, as far as the watch has told, and what this process has written since.
#[derive(Debug)]
pub struct Directory {
    /// What the watch has told.
    watched: Revision,
    /// What was written here and is not told yet: until it is, what the watch tells of these documents is older.
    ahead: BTreeMap<String, Revision>,
    judge: Judge,
    principals: BTreeMap<PrincipalId, (ServicePrincipal, Revision)>,
    clients: BTreeMap<ClientId, PrincipalId>,
    /// By the keys of their documents.
    issuers: BTreeMap<String, Issuer>,
    restraints: Restraints,
}

impl Directory {
    pub(crate) async fn load(store: &SharedStore) -> Result<Directory, GateError> {
        let listing = store.list(documents::ALL).await?;
        let judge = Judge::new([]).map_err(|broken| GateError::Rules(broken.to_string()))?;
        let mut directory = Directory {
            watched: listing.revision,
            ahead: BTreeMap::new(),
            judge,
            principals: BTreeMap::new(),
            clients: BTreeMap::new(),
            issuers: BTreeMap::new(),
            restraints: Restraints::new()?,
        };
        for document in listing.documents {
            directory.take_in(&document.key, Some(&document.value), document.revision);
        }
        Ok(directory)
    }

    pub fn judge(&self) -> &Judge {
        &self.judge
    }

    pub fn restraints(&self) -> &Restraints {
        &self.restraints
    }

    pub fn principals(&self) -> impl Iterator<Item = &ServicePrincipal> {
        self.principals.values().map(|(principal, _)| principal)
    }

    pub fn principal(&self, id: PrincipalId) -> Option<&ServicePrincipal> {
        self.principals.get(&id).map(|(principal, _)| principal)
    }

    pub fn client(&self, id: ClientId) -> Option<&ServicePrincipal> {
        self.principal(*self.clients.get(&id)?)
    }

    pub fn issuers(&self) -> impl Iterator<Item = &Issuer> {
        self.issuers.values()
    }

    /// Whether people are let in whom this issuer vouches for.
    pub(crate) fn trusts(&self, issuer: &str) -> bool {
        self.issuers.values().any(|known| known.issuer == issuer)
    }

    pub fn issuer(&self, name: &str) -> Option<&Issuer> {
        self.issuers.get(&documents::issuer(name))
    }

    pub(crate) fn versioned(&self, id: PrincipalId) -> Option<(ServicePrincipal, Revision)> {
        self.principals.get(&id).cloned()
    }

    /// Whether a service principal may come in with what it once logged in with.
    pub(crate) fn check_principal(&self, id: PrincipalId, credential: Option<&CredentialId>) -> Result<(), Rejection> {
        let principal = self.principal(id).filter(|principal| principal.disabled_at.is_none()).ok_or(Rejection::Disabled)?;
        if credential.is_none_or(|credential| principal.has(credential)) { Ok(()) } else { Err(Rejection::CredentialRemoved) }
    }

    /// Takes in what was written here, before the watch tells of it.
    pub(crate) fn apply(&mut self, key: &str, value: Option<&[u8]>, revision: Revision) {
        if revision > self.watched {
            self.ahead.insert(key.to_owned(), revision);
            self.take_in(key, value, revision);
        }
    }

    /// Takes in what the watch tells. What is older than what was written here changes nothing, nor does what is the same.
    pub(crate) fn follow(&mut self, change: &Change) {
        self.watched = self.watched.max(change.revision);
        match self.ahead.get(&change.key) {
            Some(written) if *written > change.revision => {}
            Some(_) => {
                self.ahead.remove(&change.key);
                self.take_in(&change.key, change.value.as_deref(), change.revision);
            }
            None => self.take_in(&change.key, change.value.as_deref(), change.revision),
        }
    }

    /// Whether something was written here that another reading, of this revision, does not have.
    fn is_ahead_of(&self, other: &Directory) -> bool {
        self.ahead.values().any(|written| *written > other.watched)
    }

    fn take_in(&mut self, key: &str, value: Option<&[u8]>, revision: Revision) {
        if let Some(id) = key.strip_prefix(documents::PRINCIPALS).and_then(|id| PrincipalId::parse(id).ok()) {
            self.put_principal(id, value.and_then(|value| decode(key, value)), revision);
        } else if let Some(id) = key.strip_prefix(documents::ASSIGNMENTS).and_then(|id| AssignmentId::parse(id).ok()) {
            match value.and_then(|value| decode::<RoleAssignment>(key, value)) {
                Some(assignment) => self.judge.put(assignment),
                None => self.judge.remove(id),
            }
        } else if key.starts_with(documents::ISSUERS) {
            match value.and_then(|value| decode(key, value)) {
                Some(issuer) => self.issuers.insert(key.to_owned(), issuer),
                None => self.issuers.remove(key),
            };
        } else {
            self.restraints.apply(key, value);
        }
    }

    fn put_principal(&mut self, id: PrincipalId, principal: Option<ServicePrincipal>, revision: Revision) {
        if let Some((old, _)) = self.principals.remove(&id) {
            self.clients.remove(&old.client_id);
        }
        if let Some(principal) = principal {
            self.clients.insert(principal.client_id, id);
            self.principals.insert(id, (principal, revision));
        }
    }
}

/// Follows the store for ever. Falling behind means reading everything again.
pub(crate) async fn follow(gate: &Gate) {
    loop {
        if let Err(problem) = follow_once(gate).await {
            warn!(error = %problem, "the gate lost its watch and reads everything again");
        }
        tokio::time::sleep(REREAD_AFTER).await;
        match Directory::load(&gate.store).await {
            Ok(read) => {
                let mut directory = gate.change();
                // What was written meanwhile would be forgotten; it is read again.
                if !directory.is_ahead_of(&read) {
                    *directory = read;
                }
            }
            Err(problem) => error!(error = %problem, "what is stored about access cannot be read"),
        }
    }
}

async fn follow_once(gate: &Gate) -> Result<(), StoreError> {
    let from = gate.directory().watched;
    let mut watch = gate.store.watch(documents::ALL, from).await?;
    loop {
        let changes = watch.next().await?;
        let mut directory = gate.change();
        for change in &changes {
            directory.follow(change);
        }
    }
}

/// A document that cannot be read grants nothing.
pub(crate) fn decode<T: DeserializeOwned>(key: &str, value: &[u8]) -> Option<T> {
    serde_json::from_slice(value).inspect_err(|problem| error!(%key, error = %problem, "a document of access cannot be read")).ok()
}
