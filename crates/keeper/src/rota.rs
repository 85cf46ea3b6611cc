//! Whose turn it is to plan, among the keepers of a process.
//!
//! A keeper plans as soon as there is something to plan, and where many have something at every moment each would plan for the news of one
//! machine. So they take turns: a keeper that is busy alone does not feel it, and of a hundred busy ones each plans less often, for many
//! machines at once.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use tokio::time::Instant;

/// How far apart turns are, for each core that this process may use: a plan and its commit take a millisecond or two.
const TURN_OF_A_CORE: Duration = Duration::from_millis(10);

/// The turns of a process. Clones share them.
#[derive(Clone, Debug)]
pub struct Rota(Arc<Turns>);

#[derive(Debug)]
struct Turns {
    apart: Duration,
    /// When nobody has a turn yet.
    free_at: Mutex<Option<Instant>>,
}

impl Default for Rota {
    fn default() -> Rota {
        let cores = available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX));
        Rota::with_turns(TURN_OF_A_CORE / cores)
    }
}

impl Rota {
    fn with_turns(apart: Duration) -> Rota {
        Rota(Arc::new(Turns { apart, free_at: Mutex::default() }))
    }

    /// Takes the next turn, and says when it is.
    pub(crate) fn take(&self) -> Instant {
        let mut free_at = self.0.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = free_at.map_or_else(Instant::now, |at| at.max(Instant::now()));
        *free_at = Some(turn + self.0.apart);
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn turns_of_busy_keepers_are_apart_and_one_alone_never_waits() {
        let (began, rota) = (Instant::now(), Rota::with_turns(Duration::from_millis(5)));
        let turns: Vec<u128> = (0..4).map(|_| (rota.clone().take() - began).as_millis()).collect();
        assert_eq!(turns, [0, 5, 10, 15]);
        tokio::time::advance(Duration::from_millis(40)).await;
        assert_eq!(rota.take(), Instant::now());
    }
}
