//! Who listens: how many there are, and how many of them one caller is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use access::PrincipalId;

/// Who may listen at once: each one keeps a connection. More are told to come back.
pub const MAX_LISTENERS: usize = 256;

/// How many of them one caller may be, so that nobody keeps everybody else from listening: it takes no role to listen.
///
/// A person has a few terminals, and a service a few processes.
pub const MAX_LISTENERS_OF_CALLER: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Seats(Mutex<BTreeMap<PrincipalId, usize>>);

/// Why somebody cannot listen just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Full {
    #[error("{MAX_LISTENERS} clients are listening to events")]
    All,
    #[error("{MAX_LISTENERS_OF_CALLER} clients of this caller are listening to events")]
    OfCaller,
}

/// One seat, until it is dropped.
#[derive(Debug)]
pub(crate) struct Taken {
    seats: Arc<Seats>,
    by: PrincipalId,
}

impl Seats {
    fn taken(&self) -> MutexGuard<'_, BTreeMap<PrincipalId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn take(self: &Arc<Self>, by: PrincipalId) -> Result<Taken, Full> {
        let mut taken = self.taken();
        if taken.values().sum::<usize>() >= MAX_LISTENERS {
            return Err(Full::All);
        }
        let own = taken.entry(by).or_default();
        if *own >= MAX_LISTENERS_OF_CALLER {
            return Err(Full::OfCaller);
        }
        *own += 1;
        Ok(Taken { seats: Arc::clone(self), by })
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut taken = self.seats.taken();
        if let Some(own) = taken.get_mut(&self.by) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.by);
            }
        }
    }
}
