//! What keeps even those who may from doing something: locks, policies, quotas and the states of subscriptions, as the store has them.

use std::collections::{BTreeMap, BTreeSet};

use access::deny::{DenyPolicy, Policies, Proposal};
use access::lock::{self, Level, Lock};
use access::permission::Kind;
use access::quota::Quota;
use access::subscription::Subscription;
use access::{Permission, Scope};
use model::Timestamp;
use tracing::error;

use crate::directory::decode;
use crate::{GateError, documents};

/// All of it, by what follows the prefix of each in the store.
#[derive(Debug)]
pub struct Restraints {
    locks: BTreeMap<String, Lock>,
    policies: Policies,
    /// Policies that are stored and cannot be understood. While there is one nothing is changed: to pass it over would permit what it
    /// denies.
    obscure: BTreeSet<String>,
    quotas: BTreeMap<String, Quota>,
    subscriptions: BTreeMap<String, Subscription>,
}

/// Why a proposal is denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    ByPolicy(Box<DenyPolicy>),
    /// This policy cannot be understood.
    Obscure(String),
}

impl Restraints {
    pub(crate) fn new() -> Result<Restraints, GateError> {
        let policies = Policies::new([]).map_err(|broken| GateError::Rules(broken.to_string()))?;
        let (locks, quotas, subscriptions) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Ok(Restraints { locks, policies, obscure: BTreeSet::new(), quotas, subscriptions })
    }

    /// All locks, those at the outermost scopes first.
    pub fn locks(&self) -> impl Iterator<Item = &Lock> {
        self.locks.values()
    }

    pub fn lock(&self, scope: &Scope, name: &str) -> Option<&Lock> {
        self.locks.get(&documents::lock_place(scope, name))
    }

    /// The lock that keeps this from being done here.
    pub fn standing(&self, kind: Kind, scope: &Scope) -> Option<&Lock> {
        lock::standing(self.locks.values(), kind, scope)
    }

    pub fn policies(&self) -> &Policies {
        &self.policies
    }

    pub(crate) fn is_obscure(&self, key: &str) -> bool {
        self.obscure.contains(key)
    }

    /// What denies a proposal to everybody.
    pub fn find_denial(&self, proposal: &Proposal<'_>) -> Option<Denial> {
        if let Some(key) = self.obscure.first() {
            return Some(Denial::Obscure(key.clone()));
        }
        self.policies.find_denial(proposal).map(|policy| Denial::ByPolicy(Box::new(policy.clone())))
    }

    /// Whether there is any policy at all, so that a proposal need not be made for none.
    pub fn has_policies(&self) -> bool {
        !self.obscure.is_empty() || self.policies.iter().next().is_some()
    }

    /// The limits of a subscription, if any were set.
    pub fn quota(&self, subscription: &str) -> Option<&Quota> {
        self.quotas.get(&subscription.to_ascii_lowercase())
    }

    /// What is known of a subscription.
    pub fn subscription(&self, id: &str) -> Subscription {
        let known = self.subscriptions.get(&id.to_ascii_lowercase()).cloned();
        known.unwrap_or_else(|| Subscription { id: id.to_owned(), ..Subscription::default() })
    }

    /// Whether the subscription of a scope keeps a permission from being used in it.
    pub fn admit(&self, permission: &Permission, scope: &Scope) -> Result<(), access::subscription::Closed> {
        match scope.subscription_id() {
            Some(id) if !self.subscriptions.is_empty() => self.subscription(id).admit(permission),
            _ => Ok(()),
        }
    }

    /// Takes in what the store has of a document. One that is there and cannot be understood restrains as much as it can: a newer version
    /// may have written it, and to pass it over would permit what it forbids.
    pub(crate) fn apply(&mut self, key: &str, value: Option<&[u8]>) {
        if let Some(place) = key.strip_prefix(documents::LOCKS) {
            put(&mut self.locks, place, value.and_then(|value| decode(key, value).or_else(|| obscure_lock(place))));
        } else if let Some(place) = key.strip_prefix(documents::POLICIES) {
            self.apply_policy(key, place, value);
        } else if let Some(id) = key.strip_prefix(documents::QUOTAS) {
            put(&mut self.quotas, id, value.map(|value| decode(key, value).unwrap_or_else(|| Quota::nothing(id))));
        } else if let Some(id) = key.strip_prefix(documents::SUBSCRIPTIONS) {
            let closed = || Subscription { id: id.to_owned(), disabled_at: Some(Timestamp::from_millis(0)), ..Subscription::default() };
            put(&mut self.subscriptions, id, value.map(|value| decode(key, value).unwrap_or_else(closed)));
        }
    }

    fn apply_policy(&mut self, key: &str, place: &str, value: Option<&[u8]>) {
        let place = format!("/{place}");
        self.obscure.remove(&place);
        let Some(value) = value else { return self.policies.remove(&place) };
        let taken = decode::<DenyPolicy>(key, value).filter(|policy| policy.key() == place).map(|policy| self.policies.put(policy));
        if let Some(Err(problem)) = &taken {
            error!(%key, error = %problem, "a policy that is stored cannot stand; nothing is changed until it is deleted");
        }
        if !matches!(taken, Some(Ok(()))) {
            self.policies.remove(&place);
            self.obscure.insert(place);
        }
    }
}

fn put<T>(all: &mut BTreeMap<String, T>, place: &str, value: Option<T>) {
    match value {
        Some(value) => all.insert(place.to_owned(), value),
        None => all.remove(place),
    };
}

/// A lock of which only its place is understood.
fn obscure_lock(place: &str) -> Option<Lock> {
    let (scope, name) = place.rsplit_once("providers/microsoft.authorization/locks/")?;
    let scope = Scope::parse(&format!("/{}", scope.trim_end_matches('/'))).ok()?;
    let notes = "what is stored of this lock cannot be understood".to_owned();
    let created_at = Timestamp::from_millis(0);
    Some(Lock { name: name.to_owned(), scope, level: Level::ReadOnly, notes, created_by: String::new(), created_at })
}
