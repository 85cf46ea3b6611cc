//! Locks, policies, quotas and the states of subscriptions: made, changed and removed.

use access::Scope;
use access::deny::{DenyPolicy, InvalidPolicy};
use access::lock::{InvalidLock, LOCKS_MAX, Level, Lock};
use access::quota::{InvalidQuota, Quota};
use access::subscription::Subscription;
use store::{Commit, StoreError};

use crate::administrator::encode;
use crate::{Caller, Gate, GateError, documents};

#[derive(Debug, thiserror::Error)]
pub enum RestraintError {
    #[error(transparent)]
    Lock(#[from] InvalidLock),
    #[error("there are {LOCKS_MAX} locks already, which is the most; remove one first")]
    TooManyLocks,
    #[error(transparent)]
    Policy(#[from] InvalidPolicy),
    #[error(transparent)]
    Quota(#[from] InvalidQuota),
    #[error(transparent)]
    Gate(#[from] GateError),
}

impl From<StoreError> for RestraintError {
    fn from(problem: StoreError) -> Self {
        RestraintError::Gate(problem.into())
    }
}

/// Whether something was there before it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Was {
    Absent,
    There,
}

impl Gate {
    /// Makes a lock, or writes its level and notes anew. Who made it, and when, stays.
    pub async fn put_lock(
        &self,
        by: &Caller,
        scope: Scope,
        name: &str,
        level: Level,
        notes: String,
    ) -> Result<(Lock, Was), RestraintError> {
        let _alone = self.writing.lock().await;
        let known = self.directory().restraints().lock(&scope, name).cloned();
        let was = if known.is_some() { Was::There } else { Was::Absent };
        let made = Lock { name: name.to_owned(), scope, level, notes: String::new(), created_by: by.name.clone(), created_at: self.now() };
        let lock = Lock { level, notes, ..known.unwrap_or(made) };
        lock.check()?;
        if was == Was::Absent && self.directory().restraints().locks().count() >= LOCKS_MAX {
            return Err(RestraintError::TooManyLocks);
        }
        self.write(Commit::default().put(documents::lock(&lock.scope, &lock.name), encode(&lock))).await?;
        Ok((lock, was))
    }

    /// Whether there was one to remove.
    pub async fn remove_lock(&self, scope: &Scope, name: &str) -> Result<bool, RestraintError> {
        let _alone = self.writing.lock().await;
        if self.directory().restraints().lock(scope, name).is_none() {
            return Ok(false);
        }
        self.write(Commit::default().delete(documents::lock(scope, name))).await?;
        Ok(true)
    }

    /// Makes a policy, or writes it anew.
    pub async fn put_policy(&self, policy: DenyPolicy) -> Result<(DenyPolicy, Was), RestraintError> {
        let _alone = self.writing.lock().await;
        self.directory().restraints().policies().check(&policy)?;
        let was = if self.directory().restraints().policies().get(&policy.key()).is_some() { Was::There } else { Was::Absent };
        self.write(Commit::default().put(documents::policy(&policy.scope, &policy.id), encode(&policy))).await?;
        Ok((policy, was))
    }

    /// Whether there was one to remove; also one that nobody understands.
    pub async fn remove_policy(&self, scope: &Scope, id: &str) -> Result<bool, RestraintError> {
        let _alone = self.writing.lock().await;
        let key = DenyPolicy::key_of(scope, id);
        let is_there = self.directory().restraints().policies().get(&key).is_some() || self.directory().restraints().is_obscure(&key);
        if is_there {
            self.write(Commit::default().delete(documents::policy(scope, id))).await?;
        }
        Ok(is_there)
    }

    /// Sets the limits of a subscription, all of them.
    pub async fn set_quota(&self, quota: Quota) -> Result<Quota, RestraintError> {
        let _alone = self.writing.lock().await;
        quota.check()?;
        self.write(Commit::default().put(documents::quota(&quota.subscription), encode(&quota))).await?;
        Ok(quota)
    }

    /// Whether anything may be changed in a subscription.
    pub async fn set_subscription_disabled(&self, id: &str, disabled: bool) -> Result<Subscription, RestraintError> {
        let now = self.now();
        self.change_subscription(id, |subscription| {
            subscription.disabled_at = disabled.then(|| subscription.disabled_at.unwrap_or(now));
        })
        .await
    }

    /// Whether a subscription uses a provider.
    pub async fn set_registered(&self, id: &str, namespace: &str, registered: bool) -> Result<Subscription, RestraintError> {
        self.change_subscription(id, |subscription| {
            let namespace = namespace.to_ascii_lowercase();
            if registered {
                subscription.unregistered.remove(&namespace);
            } else {
                subscription.unregistered.insert(namespace);
            }
        })
        .await
    }

    async fn change_subscription(&self, id: &str, change: impl FnOnce(&mut Subscription)) -> Result<Subscription, RestraintError> {
        let _alone = self.writing.lock().await;
        let mut subscription = self.directory().restraints().subscription(id);
        change(&mut subscription);
        self.write(Commit::default().put(documents::subscription(id), encode(&subscription))).await?;
        Ok(subscription)
    }
}
