//! The ledger that readers see, and the bell that rings when it changes.
//!
//! One lock and one `Notify`: waiters are woken in the order in which they began to wait, so that a simulation on
//! one thread takes the same course every time. (`tokio::sync::watch` spreads its waiters at random.)

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::StoreError;
use crate::ledger::Ledger;

#[derive(Debug, Default)]
pub(crate) struct Published {
    /// `None` once the store is closed.
    ledger: Mutex<Option<Ledger>>,
    changed: Notify,
}

impl Published {
    pub fn new(ledger: Ledger) -> Self {
        Published { ledger: Mutex::new(Some(ledger)), changed: Notify::new() }
    }

    /// The ledger as it is now, for whoever reads much of it; cheap, because copies share structure.
    pub fn snapshot(&self) -> Result<Ledger, StoreError> {
        self.lock().clone().ok_or(StoreError::Closed)
    }

    /// What the ledger says now. Others wait meanwhile, so this is for short questions.
    pub fn ask<T>(&self, question: impl FnOnce(&Ledger) -> T) -> Result<T, StoreError> {
        self.lock().as_ref().map(question).ok_or(StoreError::Closed)
    }

    pub fn publish(&self, ledger: Ledger) {
        let previous = self.lock().replace(ledger);
        self.changed.notify_waiters();
        // Freeing the last copy of old documents takes time that no reader should wait for.
        drop(previous);
    }

    /// Changes the ledger in place, or leaves it as it was if `change` refuses.
    pub fn update<T>(&self, change: impl FnOnce(&mut Ledger) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut current = self.lock();
        let mut draft = current.clone().ok_or(StoreError::Closed)?;
        let answer = change(&mut draft)?;
        *current = Some(draft);
        drop(current);
        self.changed.notify_waiters();
        Ok(answer)
    }

    pub fn close(&self) {
        *self.lock() = None;
        self.changed.notify_waiters();
    }

    /// Completes at the next publication after this call, even if it is first polled later.
    pub fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// A panic cannot leave a half-made ledger behind, because it is only ever replaced whole.
    fn lock(&self) -> MutexGuard<'_, Option<Ledger>> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
