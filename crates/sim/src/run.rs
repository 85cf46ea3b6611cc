//! Drives the physics: sleeps until something is due, lets it happen, saves it.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use world::{Instant, Span};

use crate::error::SimError;
use crate::machines::Errands;
use crate::site::Site;

/// How often the present instant is saved while hardware is between two states.
///
/// After a crash the site goes on from the last saved instant, so this is the most that a boot under way can lose.
const PROGRESS_EVERY: Span = Span::seconds(5);

/// How long a failing store is left alone before the next attempt.
const SAVE_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// How long open connections may take to end when the site stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// How long machines may wait for answers to what they have asked when the site stops.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

impl Site {
    /// Lets time pass until `shutdown`, then refuses requests, ends streams, closes listeners, and saves.
    ///
    /// Requests are answered correctly without it; what happens by itself is then only noticed at the next request.
    pub async fn run(&self, shutdown: CancellationToken) -> Result<(), SimError> {
        let mut saved_at = self.now();
        let mut errands = Errands::new();
        loop {
            let (now, next, moving) = self.change(|world, now| (now, world.next_event_at(), world.is_moving()));
            let progress_at = saved_at + PROGRESS_EVERY;
            if moving && progress_at <= now {
                self.change(|world, _| world.mark_progress());
                saved_at = now;
            }
            let wake_at = if moving { next.into_iter().chain([saved_at + PROGRESS_EVERY]).min() } else { next };
            let mut pause = wake_at.map(|at| until(at, now));
            if let Err(error) = self.settle().await {
                tracing::error!(site = self.layout().site, error = &error as &dyn std::error::Error, "the simulated site cannot be saved");
                pause = Some(SAVE_AGAIN_AFTER);
            } else {
                errands.start(self);
            }
            tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                () = self.inner.sooner.notified() => {}
                () = errands.ended() => {}
                () = sleep(pause) => {}
            }
        }
        // What was asked and not heard would be asked again, and a token counts once.
        let _ = tokio::time::timeout(LAST_ANSWERS, errands.all_ended()).await;
        self.stop().await
    }

    async fn stop(&self) -> Result<(), SimError> {
        self.inner.stopping.cancel();
        self.inner.listeners.close();
        if tokio::time::timeout(STOP_TIMEOUT, self.inner.listeners.wait()).await.is_err() {
            tracing::warn!(site = self.layout().site, "connections to the simulated site were cut");
        }
        self.change(|world, _| world.mark_progress());
        Ok(self.settle().await?)
    }
}

/// At least a millisecond, which is the world's tick: a clock that rounds down must not make the loop spin.
fn until(at: Instant, now: Instant) -> Duration {
    Duration::from_millis(u64::try_from((at - now).0).unwrap_or(0).max(1))
}

async fn sleep(pause: Option<Duration>) {
    match pause {
        Some(pause) => tokio::time::sleep(pause).await,
        None => std::future::pending().await,
    }
}
